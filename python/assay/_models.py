"""What can be explained: models in files, models trained here, and (in _wrap) those of other libraries."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, flat_rows, rounded_columns, rounded_numbers, to_float32
from ._files import check_folder, path_text, system_errors
from ._run import ProgressLike, run_of, text_of
from ._tables import Table, column_names, core_table, keep_rounded, kind_of
from ._text import in_quotes, plural
from ._trees_check import Agreement, agreement, matched

UNITS = ("margin", "probability", "log_odds", "information")


@dataclass(frozen=True)
class Bound:
    """A model joined to the tables of one call."""

    model: _core.Model
    # The same model in margins, if it has some and another unit is explained.
    margins: _core.Model | None
    # (argument's name, table) -> rows as the model takes them, without labels.
    encode: Callable[[str, Any], _core.Dataset]
    # The same model in probabilities, if it has some and margins are explained that are no logits.
    probabilities: _core.Model | None = None


class Model(ABC):
    """What can be explained. Made by `assay.load`, `assay.wrap` and `assay.train`.

    `predict(X)` gives what is explained. Models that were loaded or trained also have `features`, `outputs`, `classes`,
    `unit` and `capabilities`, and `save("model.onnx")` keeps them; wrapped ones learn theirs from the rows of a call.
    """

    name: str
    """For messages and provenance."""

    @property
    def note(self) -> str:
        """A remark on what is explained, such as why a tree model is a black box here; usually empty."""
        return ""

    @abstractmethod
    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        """The engine's model for these tables (argument's name, table); the explained rows come first.

        Every table that will be encoded must be among them, because the codec learns its cells from them."""

    def predict(
        self, X: Any, *, value: str | None = None, threads: int = 0, progress: ProgressLike = None
    ) -> NDArray[np.float32]:
        """The outputs that are explained, a row for each row of X and a column for each output.

        value: "margin", "probability" or "log_odds"; by default what `assay.explain` explains."""
        check_value(value, information=False)
        bound = self._bind([("X", X)], value)
        rows = bound.encode("X", X)
        for note in rows.notes:
            warnings.warn(note, stacklevel=2)
        return bound.model.predict(rows, run_of(0, threads, progress))


def check_value(value: str | None, *, information: bool) -> None:
    """A ValueError unless `value` is a unit that can be asked for."""
    words = UNITS if information else UNITS[:-1]
    if value is None or value in words or value == "value":
        return
    raise ValueError(f"value: expected one of {', '.join(words)}, found {value!r}")


class GraphModel(Model):
    """A network, pipeline or trees as a graph, run by the engine itself."""

    def __init__(self, name: str, content: str | bytes, value: str | None = None) -> None:
        check_value(value, information=False)
        self.name = name
        self._content = content
        self._kept = content if isinstance(content, bytes) else b""
        self._value = value
        self._opened: dict[tuple[str | None, int | None], _core.Model] = {}
        # Raises here if it cannot be loaded. The number of features may not be known until there are rows.
        self._core = self._open(value, None)
        # Kept, because the file may change before another unit is needed. Boosters are kept as ONNX too.
        self._kept = self._core.onnx_bytes()

    def _open(self, unit: str | None, features: int | None) -> _core.Model:
        unit = None if unit == "value" else unit
        key = (unit, features)
        if key not in self._opened:
            first = next(iter(self._opened.values()), None)
            if self._kept:
                self._opened[key] = _core.Model.from_bytes(self.name, self._kept, unit, features, texts_of=first)
            else:
                self._opened[key] = _core.Model.load(str(self._content), unit, features, self.name, first)
        return self._opened[key]

    @property
    def features(self) -> list[str]:
        """Names of what the model takes, one for each column of its rows."""
        return self._core.feature_names

    @property
    def outputs(self) -> list[str]:
        """Names of what it gives, one for each column of its predictions."""
        return self._core.output_names

    @property
    def classes(self) -> list[str]:
        """Of a classifier; none of a regression."""
        return self._core.class_names

    @property
    def unit(self) -> str:
        """Of the outputs: margin, probability, log_odds or value."""
        return self._core.unit

    @property
    def capabilities(self) -> list[str]:
        """What methods can ask of it: gradient, multipliers, affine_entry, trees, retrain, randomise."""
        return self._core.capabilities

    @property
    def note(self) -> str:
        """A remark on what is explained; usually empty."""
        return self._core.note

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as an ONNX file, which the command line reads; others too, but for the trees of boosters."""
        name = path_text("path", path)
        check_folder(os.path.dirname(name))
        temporary = f"{name}.tmp-{os.getpid()}"
        try:
            with open(temporary, "xb") as file:
                file.write(self._kept)
            os.replace(temporary, name)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise

    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        unit = value or self._value
        argument, table = tables[0]
        plain = self._core.plain_rows and not self._core.categories
        if plain and kind_of(table, argument) == "array":
            return self._bind_arrays(argument, table, unit)
        first, doubles = self._core_table(argument, table)
        model, margins, probabilities = self._in_units(unit, len(first.names) - (1 if first.label is not None else 0))

        def encode(argument: str, table: Any) -> _core.Dataset:
            raw, wide = (first, doubles) if table is tables[0][1] else self._core_table(argument, table)
            return model.features_of(raw, wide)

        return Bound(model, margins, encode, probabilities)

    def _in_units(self, unit: str | None, features: int) -> tuple[_core.Model, _core.Model | None, _core.Model | None]:
        """The engine's model in this unit for rows of so many columns, and the same in margins and in probabilities
        where these are needed beside it."""
        model = self._open(unit, features)
        return model, self._margins(unit, features), self._probabilities(model)

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphModel, (self.name, self._kept, self._value)

    def _bind_arrays(self, argument: str, table: Any, unit: str | None) -> Bound:
        """For arrays of what the graph takes, which need no encoding."""
        width = int(np.prod(as_array(table, argument).shape[1:]))
        model, margins, probabilities = self._in_units(unit, width)
        names = self._names_of_arrays()

        def encode(argument: str, table: Any) -> _core.Dataset:
            if kind_of(table, argument) != "array":
                return model.features_of(*self._core_table(argument, table))
            array = as_array(table, argument)
            width = int(np.prod(array.shape[1:]))
            if width != len(names):
                raise ValueError(f"{argument}: expected {plural(len(names), 'column')}, found {width}")
            narrow = to_float32(array, argument, names)
            rounded = rounded_numbers(array.reshape(len(array), width))
            if (any(rounded) or self._core.takes_doubles) and not self._as_doubles(array):
                # As for a table: the engine refuses or notes them if the graph takes such numbers exactly.
                plain: list[list[str] | None] = [None] * width
                return model.features_of(
                    _core.Table.from_columns(argument, names, narrow, plain, rounded=rounded), None
                )
            if self._as_doubles(array) and narrow.size > 0:
                wide = np.ascontiguousarray(array.reshape(len(array), width), np.float64)
                narrow = model.narrowed(argument, names, wide)
                made = _core.Dataset.from_matrix(narrow, names, argument)
                for column, cells in rounded_columns(wide).items():
                    made.set_shown(column, cells)  # what the numbers stand for
                return made
            return _core.Dataset.from_matrix(narrow, names, argument)

        return Bound(model, margins, encode, probabilities)

    def _as_doubles(self, array: NDArray[Any]) -> bool:
        """Whether the model's library compares an array's numbers as float64, and float32 may not hold them."""
        if not self._core.compares_doubles or array.dtype.itemsize < 4 or array.dtype == np.float32:
            return False
        # LightGBM narrows arrays of whole numbers to float32, though not columns of them.
        return array.dtype.kind == "f" or not self._core.producer.startswith("LightGBM")

    def _margins(self, unit: str | None, features: int) -> _core.Model | None:
        """The same model in margins, if it has some and another unit is explained."""
        if unit not in ("probability", "log_odds"):
            return None
        other = self._open(None, features)
        return other if other.unit == "margin" else None

    def _probabilities(self, model: _core.Model) -> _core.Model | None:
        """The same model in probabilities, if it has some and explains margins that are no logits."""
        if model.unit != "margin" or model.logits or not model.class_names:
            return None
        try:
            found = self._open("probability", len(model.feature_names))
        except ValueError:
            return None
        return found if len(found.output_names) in (1, len(model.class_names)) else None

    def check(self, X: Any, scores: Any, *, value: str | None = None) -> Agreement:
        """Compares the outputs for X with scores of another library, such as the one that wrote the file.

        scores: a row for each row of X, in the unit of `value` (by default what is explained): of a booster its raw
        scores, or its probabilities with value="probability".

        >>> assay.load("model.json").check(X, booster.predict(rows, output_margin=True))
        """
        if scores is None:
            raise ValueError("scores: expected those of the model's library, which a file does not have, found None")
        ours = self.predict(X, value=value, progress=False)
        return agreement(ours, matched(scores, len(ours), ours.shape[1], len(self.classes)))

    def _prepared(self, argument: str, table: Any) -> Any:
        """A table as the engine takes it."""
        return table

    def _codes_of(self, argument: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array, with codes in columns of categories."""
        return array

    def _names_of_arrays(self) -> list[str]:
        """Names for the columns of arrays."""
        return self._core.raw_columns or self._core.feature_names

    def _coded_table(self, argument: str, table: Any) -> tuple[_core.Table, _core.Doubles | None]:
        """A table from an array whose columns of categories hold codes."""
        given = as_array(table, argument)
        array = self._codes_of(argument, flat_rows(given))
        names = self._names_of_arrays()
        if array.shape[1] != len(names):
            raise ValueError(f"{argument}: expected {plural(len(names), 'column')}, found {array.shape[1]}")
        values = to_float32(array, argument, names)
        levels: list[list[str] | None] = [self._core.categories.get(j) or None for j in range(len(names))]
        for j, texts in enumerate(levels):
            if texts is None:
                continue
            cells = values[:, j]
            odd = ~np.isnan(cells) & ~((cells >= 0) & (cells < len(texts)) & (cells == np.floor(cells)))
            if odd.any():
                raise ValueError(
                    f"{argument}, row {int(np.argmax(odd))} (counted from 0), column {in_quotes(names[j])}: expected "
                    f"the code of a category, from 0 to {len(texts) - 1}, found {cells[np.argmax(odd)]:g}"
                )
        doubles = _core.Doubles() if self._as_doubles(given) else None
        if doubles is not None:
            keep_rounded(doubles, array, names)
        rounded = [0 if levels[j] else count for j, count in enumerate(rounded_numbers(array))]
        return _core.Table.from_columns(argument, names, values, levels, rounded=rounded), doubles

    def _core_table(self, argument: str, table: Any) -> tuple[_core.Table, _core.Doubles | None]:
        """The engine's table and, if the model compares doubles, the columns that float32 rounds."""
        if self._core.categories and kind_of(table, argument) == "array":
            return self._coded_table(argument, table)
        table = self._prepared(argument, table)
        # Columns of arrays are those of the raw rows, in order.
        names = self._names_of_arrays()
        label = table.label if isinstance(table, Table) else None
        named = column_names(table, argument) is not None
        wanted = self._core.compares_doubles if named else self._as_doubles(as_array(table, argument))
        doubles = _core.Doubles() if wanted else None
        used = self._core.columns_by_name if named else None
        made = core_table(table, argument, names=() if named else names, label=label, doubles=doubles, used=used)
        return made, doubles

    def __repr__(self) -> str:
        what = "classes" if self.classes else "outputs"
        names = self.classes or self.outputs
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        return f"<assay.Model {self.name}: {len(self.features)} features -> {what} {shown} ({self.unit})>"


def load(path: str | os.PathLike[str], *, value: str | None = None) -> GraphModel:
    """A model from a file: ONNX, XGBoost's .json and .ubj, LightGBM's .txt. Its content says which it is.

    value: what is explained where nobody says otherwise: "margin" (the default where the model has margins),
    "probability" or "log_odds"."""
    text = path_text("path", os.fsdecode(path) if isinstance(path, bytes) else path)
    with system_errors():
        return GraphModel(text, text, value)


def train(
    table: Any,
    *,
    label: str | None = None,
    encode: str = "label:impute=mean",
    unseen: str = "refuse",
    seed: int = 0,
    threads: int = 0,
    progress: ProgressLike = None,
) -> GraphModel:
    """The paper's network (one hidden layer for tables, two convolutions for images), trained on a table. Images that
    are too small for it get smaller convolutions.

    label: the column to predict; of `assay.dataset` it is known. encode: how raw columns become numbers, as the command
    line's --encode. unseen: what the model does with a category that the table does not have: "refuse" the row, or take
    it for "unknown"."""
    if kind_of(table, "table") == "array":
        raise ValueError("table: expected named columns and a label among them, found an array")
    own_label = table.label if isinstance(table, Table) else None
    raw = core_table(table, "table", label=own_label if label is None else text_of("label", label))
    content = _core.train(
        raw, text_of("encode", encode), text_of("unseen", unseen), None, run_of(seed, threads, progress)
    )
    return GraphModel(f"a network trained on {raw.source}", content)
