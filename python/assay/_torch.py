"""PyTorch modules as models: predictions and gradients from torch, layers from an export."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._callables import (
    Codec,
    dataset_encoder,
    names_of_outputs,
    shape_of_rows,
)
from ._codec import codec_for
from ._models import Bound, Model
from ._probe import COARSE_TOLERANCE, check_rows_alone, probe_rows
from ._text import in_quotes, joined
from ._torch_calls import Calls
from ._torch_export import ExportedGraphs

# Most numbers in the rows of one call. For a gradient, layers keep many times as much.
_MOST_NUMBERS = 1 << 22
_NO_EXPORT = "its layers were not asked for (export=False)"


class Module(Model):
    """A torch.nn.Module; see `assay.wrap`."""

    def __init__(
        self,
        module: Any,
        name: str,
        features: Sequence[str] | None,
        classes: Sequence[str] | None,
        value: str | None,
        returns: str | None,
        example: Any,
        export: bool,
        batch: int,
    ) -> None:
        if value == "value" and classes is not None:
            raise ValueError("value: expected margin, probability or log_odds of the classes, found 'value'")
        torch = sys.modules["torch"]
        if example is not None and (not isinstance(example, torch.Tensor) or example.ndim < 2):
            raise ValueError("example: expected a tensor of rows as the module takes them, found something else")
        self.name = name
        self._module = module
        self._features = features
        self._classes = classes
        self._value = value
        self._returns = returns
        self._shape = None if example is None else tuple(example.shape[1:])
        self._dtype = None if example is None else example.dtype
        self._graphs = ExportedGraphs(module, name) if export else None
        self._batch = batch

    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        codec = codec_for(tables, self._features, nearest=True)
        _require_numbers(codec, self.name)
        shape = self._shape_of_rows(codec)
        probe = probe_rows(codec, tables)
        calls = Calls(self._module, self.name, shape, self._dtype)
        raw = check_rows_alone(
            self.name, lambda rows: calls.outputs(rows, lambda scores: scores), probe, tolerance=COARSE_TOLERANCE
        )
        gives = self._returns or _kind_of_scores(raw, calls, probe)
        if gives == "probability":
            _require_probabilities(raw, self.name)
        unit, classes = self._unit(value or self._value, raw.shape[1], gives)
        margins = None
        if unit in ("probability", "log_odds") and gives == "margin":
            margins = self._core_model(codec, calls, "margin", classes, gives, raw.shape[1], probe, export=False)
        model = self._core_model(codec, calls, unit, classes, gives, raw.shape[1], probe, export=True)
        encode = dataset_encoder(codec, shape)
        exact = calls.dtype == calls.torch.float64 or calls.whole
        return Bound(model, margins, self._exact_encoder(codec, encode, calls) if exact else encode)

    def _exact_encoder(
        self, codec: Codec, encode: Callable[[str, Any], _core.Dataset], calls: Calls
    ) -> Callable[[str, Any], _core.Dataset]:
        """For modules that take what float32 may not hold: cells that are rounded are refused, or noted."""

        def checked(argument: str, table: Any) -> _core.Dataset:
            dataset = encode(argument, table)
            for column in codec.rounded(argument, table):
                raise ValueError(
                    f"{argument}: column {in_quotes(column)} holds numbers beyond 2^24, which float32 rows round; "
                    f"{self.name} takes them exactly, as {calls.dtype}"
                )
            if calls.dtype.is_floating_point:
                dataset.note_lost_digits(self.name)
            return dataset

        return checked

    def _shape_of_rows(self, codec: Codec) -> tuple[int, ...]:
        """What one row is for the module."""
        found = shape_of_rows(codec)
        if self._shape is None:
            return found
        if math.prod(self._shape) != len(codec.names):
            raise ValueError(f"X: expected rows of shape {self._shape}, as those of example, found shape {found}")
        return self._shape

    def _unit(self, wanted: str | None, columns: int, gives: str) -> tuple[str, list[str]]:
        """The explained unit and the names of the classes. gives: the unit of the module's output, or empty."""
        classes = list(self._classes or ())
        if wanted == "value" or (wanted is None and self._returns is None and columns == 1 and not classes):
            if classes:
                raise _core.UnsupportedError(f"value: {self.name} gives scores of classes, found 'value'")
            return "value", []
        if not classes:
            if columns == 1:
                raise ValueError(
                    f"classes: expected the names of the two classes that {self.name} gives a {wanted or gives} of"
                )
            classes = [str(column) for column in range(columns)]
        if not gives:
            other = "" if self._classes else "; value='value' explains them as values of no class"
            raise _core.UnsupportedError(
                f"returns: expected 'margin' (raw scores) or 'probability' in assay.wrap, for all that {self.name} "
                f"returned lies from 0 to 1, and may be either, found None{other}"
            )
        if wanted == "margin" and gives == "probability":
            raise _core.UnsupportedError(
                f"value: {self.name} gives probabilities; a module without its softmax or sigmoid has margins"
            )
        return wanted or gives, classes

    def _core_model(
        self,
        codec: Codec,
        calls: Calls,
        unit: str,
        classes: list[str],
        gives: str,
        columns: int,
        probe: NDArray[np.float32],
        *,
        export: bool,
    ) -> _core.Model:
        link = _link(unit, gives, columns)
        found = calls.outputs(probe, link)
        outputs = names_of_outputs(self.name, found.shape[1], classes)
        no_gradient = calls.why_no_gradient(probe, link)
        graphs = self._graphs if export else None
        return _core.Model.from_functions(
            name=self.name,
            feature_names=codec.names,
            output_names=outputs,
            class_names=classes,
            unit=unit,
            predict=lambda rows: calls.outputs(rows, link, found.shape[1]),
            gradient=None if no_gradient else lambda rows, weights: calls.gradient(rows, weights, link),
            no_gradient=no_gradient,
            graph=None if graphs is None else lambda: graphs.of(calls, unit, link, probe, found),
            no_layers=_NO_EXPORT if export and graphs is None else "",
            most_rows=max(1, min(self._batch, _MOST_NUMBERS // len(codec.names))),
        )

    def __repr__(self) -> str:
        what = f" -> classes {joined(list(self._classes))}" if self._classes else ""
        return f"<assay.Model {self.name}: a PyTorch module{what}>"


def _require_numbers(codec: Codec, name: str) -> None:
    for column, kind in zip(codec.names, codec.kinds, strict=True):
        if kind is not None:
            raise ValueError(f"X, column {in_quotes(column)}: expected numbers, which {name} takes, found a category")


def _kind_of_scores(scores: NDArray[np.float32], calls: Calls, rows: NDArray[np.float32]) -> str:
    """What the module returns: "probability" if it ends in a softmax or sigmoid, which must not be applied twice, else
    "margin"; empty if it cannot be told."""
    if not _within_one(scores):
        return "margin"
    if scores.shape[1] > 1 and np.allclose(scores.sum(axis=1, dtype=np.float64), 1, rtol=0, atol=1e-5):
        return "probability"
    last = calls.last_operation(rows)
    if last in ("Sigmoid", "Softmax"):
        return "probability"
    # Outputs of a linear layer with a bias lie from 0 to 1 only by chance.
    return "margin" if last == "Addmm" else ""


def _within_one(scores: NDArray[np.float32]) -> bool:
    known = scores[~np.isnan(scores)]
    # An average of probabilities may be rounded to more than 1.
    return known.size > 0 and bool(((known >= 0) & (known <= 1 + 1e-6)).all())


def _require_probabilities(scores: NDArray[np.float32], name: str) -> None:
    outside = scores[(scores < 0) | (scores > 1 + 1e-6)]
    if outside.size:
        raise ValueError(f"outputs of {name}: expected probabilities, as returns= says, found {outside[0]:g}")


def _link(unit: str, gives: str, columns: int) -> Callable[[Any], Any]:
    """The torch function from the module's output to what is explained. columns: given, as a tracer must not ask."""
    if unit == "log_odds" and gives == "probability":
        return lambda probabilities: probabilities.log() - (-probabilities).log1p()
    if unit == "log_odds" and columns > 1:
        return _log_odds
    if unit == "probability" and gives == "margin":
        return (lambda scores: scores.softmax(dim=1)) if columns > 1 else (lambda scores: scores.sigmoid())
    return lambda scores: scores


def _log_odds(scores: Any) -> Any:
    """z_c - ln sum over other classes of exp z."""
    # ln(1 - p) is exact enough, except for the largest class, whose p may round to 1: there the others are summed.
    largest = scores.argmax(dim=1, keepdim=True)
    of_all = scores.logsumexp(dim=1, keepdim=True)
    of_rest = scores.scatter(1, largest, -math.inf).logsumexp(dim=1, keepdim=True)
    shares = (scores - of_all).exp().scatter(1, largest, 0.0)
    return scores - (of_all + (-shares).log1p()).scatter(1, largest, of_rest)
