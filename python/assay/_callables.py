"""Functions as models, and what all wrapped models share: conversion of rows, and checks of what they return."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array
from ._codec import ArrayCodec, FrameCodec, codec_for
from ._models import Bound, Model
from ._order import index_of, refuse_reordered
from ._probe import check_rows_alone, probe_rows
from ._text import in_quotes, joined, plural

Codec = FrameCodec | ArrayCodec


class Function(Model):
    """A function from rows to outputs; see `assay.wrap`."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str,
        features: Sequence[str] | None,
        classes: Sequence[str] | None,
        value: str | None,
        batch: int,
    ) -> None:
        if value == "value" and classes is not None:
            raise ValueError("value: expected margin, probability or log_odds of the classes, found 'value'")
        if value not in (None, "value") and classes is None:
            raise ValueError(f"classes: expected the names of the classes that {name} gives a {value} of, found None")
        self.name = name
        self._function = function
        self._features = features
        self._classes = classes
        self._unit = value or ("value" if classes is None else "probability")
        self._batch = batch

    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        if value not in (None, self._unit):
            raise _core.UnsupportedError(
                f"value: expected {self._unit}, which is what {self.name} gives, found {in_quotes(value)}"
            )
        codec = codec_for(tables, self._features)
        probe = probe_rows(codec, tables)[: self._batch]

        def outputs_of(rows: NDArray[np.float32]) -> NDArray[Any]:
            return output_matrix(self.name, self._function(codec.decode(rows)), len(rows))

        columns = check_rows_alone(self.name, outputs_of, probe, self._batch).shape[1]
        classes = list(self._classes or ())
        outputs = names_of_outputs(self.name, columns, classes)

        def predict(rows: NDArray[np.float32]) -> NDArray[np.float32]:
            return float_matrix(self.name, self._function(codec.decode(rows)), len(rows), columns)

        model = _core.Model.from_functions(
            name=self.name,
            feature_names=codec.names,
            output_names=outputs,
            class_names=classes,
            unit=self._unit,
            predict=predict,
            no_gradient="it is a function that only predicts",
            most_rows=self._batch,
        )
        return Bound(model, None, dataset_encoder(codec))

    def __repr__(self) -> str:
        what = f" -> classes {joined(list(self._classes))}" if self._classes else ""
        return f"<assay.Model {self.name}: a function{what} ({self._unit})>"


def dataset_encoder(codec: Codec, item_shape: Sequence[int] | None = None) -> Callable[[str, Any], _core.Dataset]:
    """Converts tables to the engine's rows. item_shape: the shape of a row, if the codec does not know it."""
    shape = list(item_shape or shape_of_rows(codec))
    shape = shape if len(shape) > 1 else []

    def encode(argument: str, table: Any) -> _core.Dataset:
        rows = codec.encode(argument, table)
        made = _core.Dataset.from_matrix(rows, codec.names, argument, codec.kinds, shape)
        for column, cells in codec.shown(rows).items():
            made.set_shown(column, cells)
        if codec.crowded:
            made.add_note(
                f"{joined([in_quotes(name) for name in codec.crowded])}: cells lie closer together than float32 tells "
                "apart. The model gets them exactly, but distances and noise in such a column, as neighbours and "
                "stability have them, are not to scale; subtract a constant from the column"
            )
        return made

    return encode


def shape_of_rows(codec: Codec) -> tuple[int, ...]:
    """Of what a model is called with."""
    return tuple(codec.item_shape) or (len(codec.names),)


def names_of_outputs(name: str, columns: int, classes: Sequence[str]) -> list[str]:
    """A name for each output column; a ValueError if the number of classes does not fit."""
    if not classes:
        return ["value"] if columns == 1 else [str(column) for column in range(columns)]
    if columns == len(classes):
        return list(classes)
    if columns == 1 and len(classes) == 2:
        return [classes[1]]
    expected = plural(len(classes), "column") + (" or 1 of the positive class" if len(classes) == 2 else "")
    raise ValueError(
        f"outputs of {name}: expected {expected}, for its classes {joined(list(classes))}, found {columns}"
    )


def output_matrix(name: str, found: Any, rows: int, columns: int | None = None) -> NDArray[np.float64 | np.float32]:
    """What a model returned, as rows x columns of floats; a ValueError if that is not possible."""
    refuse_reordered(
        f"outputs of {name}",
        index_of(found),
        "the rows that it was called with",
        range(rows),
        "return them in the order of the rows, as .sort_index() gives them",
    )
    expected = f"{plural(rows, 'row')}" if columns is None else f"{rows:,} x {plural(columns, 'number')}"
    values = as_array(found, f"outputs of {name}")
    if values.dtype == object and values.ndim == 0:
        # NumPy cannot convert it: a generator, a set, None.
        hint = "; return a list of what it yields" if hasattr(found, "__next__") else ""
        raise ValueError(f"outputs of {name}: expected an array of {expected}, found {type(found).__name__}{hint}")
    if values.dtype == object:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"outputs of {name}: expected numbers, found {_first_line(error)}") from error
    if values.dtype.kind not in "fiub":
        raise ValueError(f"outputs of {name}: expected numbers, found an array of {values.dtype}")
    shape = values.shape
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if (
        values.ndim != 2
        or len(values) != rows
        or values.shape[1] == 0
        or values.shape[1] != (columns or values.shape[1])
    ):
        raise ValueError(f"outputs of {name}: expected an array of {expected}, found one of shape {shape}")
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def float_matrix(name: str, found: Any, rows: int, columns: int) -> NDArray[np.float32]:
    """As output_matrix, as the engine takes it."""
    values = output_matrix(name, found, rows, columns)
    narrow = to_float32(values)
    if values.dtype != np.float32 and rows > 1 and np.isfinite(narrow).all():
        warn_where_rounded_away(name, values, narrow)
    return narrow


def warn_where_rounded_away(name: str, values: NDArray[Any], narrow: NDArray[np.float32]) -> None:
    """Warns if outputs differ but are all the same in float32. Smaller losses are noted by the engine."""
    spread = np.ptp(values, axis=0)
    size = np.abs(values).max(axis=0)
    lost = (np.ptp(narrow, axis=0) == 0) & (spread > 1e-12 * size)  # smaller spreads are float64 rounding
    if not lost.any():
        return
    j = int(np.argmax(lost))
    warnings.warn(
        f"outputs of {name} are near {size[j]:.3g} and differ by {spread[j]:.3g}, which is lost: they are kept as "
        "float32; subtract a constant from the output, which changes no attribution",
        stacklevel=2,
    )


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Values beyond float32 become infinite, which the engine counts as undefined."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def _first_line(error: Exception) -> str:
    return f"what is none ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
