"""What users hand in as rows: data sets, files, frames of pandas, Arrow tables and arrays of any kind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, check_numeric, check_rows, is_instance, rounded_columns, rounded_numbers, to_float32
from ._files import path_text
from ._frames import (
    column_labels,
    dense,
    engine_column,
    import_pandas,
    index_labels,
    is_truth,
    numbers_of,
    whole_texts,
)
from ._html import escaped, html_block, html_table
from ._indexing import chosen_rows
from ._labels import labels_of
from ._optional import named_index
from ._run import run_of, text_of
from ._text import in_quotes, one_line, plural, short
from ._text import table as aligned_lines

__all__ = [
    "Table",
    "as_matrix",
    "column_names",
    "core_table",
    "dataset",
    "kind_of",
    "labels_of",
    "row_count",
    "row_names",
    "select_rows",
    "to_float32",
]

Kind = Literal["table", "frame", "arrow", "array"]

_MOST_ROWS = 6
_MOST_COLUMNS = 8


class Table:
    """Rows of named columns, numbers or categories, as a data set or a file holds them. `assay.dataset` opens one.

    >>> table = assay.dataset("iris")
    >>> table.columns, len(table), table.label
    >>> table[:10], table[[3, 1]], table[table["petal_width"] > 1]     # tables of those rows
    """

    def __init__(self, core: _core.Table, doubles: _core.Doubles | None = None) -> None:
        self._core = core
        # The columns that float32 rounds, as doubles: for models that compare doubles.
        self._doubles = _core.Doubles() if doubles is None else doubles

    @property
    def columns(self) -> list[str]:
        """The names of all columns, the label's too."""
        return self._core.names

    @property
    def features(self) -> list[str]:
        """The names of the columns without the label."""
        return [name for name in self._core.names if name != self._core.label]

    @property
    def label(self) -> str | None:
        """The name of the column that models predict, where one was named."""
        return self._core.label

    @property
    def labels(self) -> NDArray[Any] | None:
        """The label of each row: texts of categories (missing: None), float64 of numbers (missing: NaN)."""
        return None if self._core.label is None else self._column(self._core.label)

    @property
    def ids(self) -> list[str] | None:
        """The name of each row, where a column of names was given."""
        return self._core.ids if self._core.id_name else None

    def __reduce__(self) -> tuple[Any, ...]:
        core = self._core
        columns = (
            core.source,
            core.names,
            core.values,
            core.levels,
            core.label,
            core.id_name,
            core.ids,
            core.item_shape,
            core.rounded,
            core.truth,
        )
        return _restored, (columns, {name: np.array(cells) for name, cells in self._doubles.columns.items()})

    def __len__(self) -> int:
        return self._core.rows

    def __getitem__(self, which: Any) -> Any:
        """A Table of the rows that an index, a slice, a list of indices or a mask says; the array of a named column."""
        if isinstance(which, str):
            return self._column(which)
        rows = np.atleast_1d(chosen_rows(which, len(self), self.ids)).tolist()
        return Table(self._core.select(rows), self._doubles.selected(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The features as a matrix, where all of them are numbers."""
        matrix: NDArray[Any] = _feature_matrix(self._core, "table")
        wanted = matrix.dtype if dtype is None else np.dtype(dtype)
        wide = self._doubles.columns if wanted.itemsize > matrix.dtype.itemsize else {}
        if any(name in wide for name in self.features):
            shape = matrix.shape
            matrix = matrix.reshape(len(self), -1).astype(np.float64)
            for j, name in enumerate(self.features):
                if name in wide:
                    matrix[:, j] = wide[name]
            matrix = matrix.reshape(shape)
        return matrix.astype(wanted, copy=copy is not False)

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self._core.names:
            raise KeyError(name)
        position = self._core.names.index(name)
        values = self._core.values[:, position]
        levels = self._core.levels[position]
        if levels is None:
            wide = self._doubles.columns.get(name)
            return values.astype(np.float64) if wide is None else np.array(wide)
        texts = np.array([*levels, None], object)
        # NaN is not the code of a level; the last entry stands for it.
        return texts[np.where(np.isnan(values), len(levels), values).astype(np.intp)]

    def to_pandas(self) -> Any:
        """A DataFrame: numbers are float32, categories pandas' category of their texts, names of rows the index."""
        return self._frame(doubles=False)

    def _frame(self, doubles: bool) -> Any:
        """doubles: columns that float32 rounds are float64, with the numbers of the file."""
        pandas = import_pandas("Table.to_pandas")
        values = self._core.values
        columns: dict[str, Any] = {}
        wide = self._doubles.columns if doubles else {}
        for j, (name, levels) in enumerate(zip(self._core.names, self._core.levels, strict=True)):
            if levels is None:
                columns[name] = np.array(wide[name]) if name in wide else values[:, j].copy()
                continue
            codes = np.where(np.isnan(values[:, j]), -1, values[:, j]).astype(np.intp)
            columns[name] = pandas.Categorical.from_codes(codes, categories=levels)
        ids, id_name = self._core.ids, self._core.id_name
        index = named_index("Table.to_pandas", ids, id_name) if id_name else None
        return pandas.DataFrame(columns, index=index, copy=False)

    def _head(self) -> tuple[list[str], list[list[str]], list[int]]:
        """Header, cells of the first rows, and which columns are texts."""
        shown = range(min(len(self._core.names), _MOST_COLUMNS))
        header = [self._core.id_name or "row", *(self._core.names[j] for j in shown)]
        first = self._core.select(range(min(len(self), _MOST_ROWS)))
        levels = first.levels
        lines = []
        wide = self._doubles.columns
        for i, row in enumerate(first.values):
            name = first.ids[i] if first.id_name else str(i)
            cells = [float(wide[of][i]) if (of := self._core.names[j]) in wide else float(row[j]) for j in shown]
            lines.append([name, *(_cell(cell, levels[j]) for j, cell in zip(shown, cells, strict=True))])
        texts = [0, *(j + 1 for j in shown if levels[j] is not None)]
        return [short(each) for each in header], [[short(cell) for cell in line] for line in lines], texts

    def _title(self) -> str:
        words = f"{one_line(self._core.source)}: {plural(len(self), 'row')} x {plural(len(self.columns), 'column')}"
        if self._core.label is None:
            return words
        levels = self._core.levels[self._core.names.index(self._core.label)]
        classes = "" if levels is None else f" ({len(levels)} {'class' if len(levels) == 1 else 'classes'})"
        return f"{words}, label {in_quotes(self._core.label)}{classes}"

    def _remarks(self) -> list[str]:
        said = []
        if len(self) > _MOST_ROWS:
            said.append(f"... {plural(len(self) - _MOST_ROWS, 'more row')}")
        if len(self.columns) > _MOST_COLUMNS:
            said.append(f"... {plural(len(self.columns) - _MOST_COLUMNS, 'more column')}")
        return said

    def __repr__(self) -> str:
        header, lines, texts = self._head()
        return "\n".join([self._title(), *aligned_lines([header, *lines], texts), *self._remarks()])

    def _repr_html_(self) -> str:
        header, lines, texts = self._head()
        cells = [[escaped(cell) for cell in line] for line in lines]
        return html_block(self._title(), html_table([escaped(name) for name in header], cells, texts), self._remarks())


def _restored(columns: Sequence[Any], wide: Mapping[str, NDArray[np.float64]]) -> Table:
    doubles = _core.Doubles()
    for name, cells in wide.items():
        doubles.set(name, cells)
    return Table(_core.Table.from_columns(*columns), doubles)


def _cell(value: Any, levels: list[str] | None) -> str:
    if np.isnan(value):
        return "missing"
    return _core.short_number(float(value)) if levels is None else levels[int(value)]


def dataset(
    what: str | os.PathLike[str],
    *,
    split: str = "all",
    label: str | None = None,
    id: str | None = None,
    seed: int = 0,
    folders: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
) -> Table:
    """A data set by its name, or the table in a file (CSV, Parquet, NPY, NPZ, IDX).

    split: "all", "train" or "test". label: the column that models predict. id: the column that names the rows.
    folders: where to look for data sets, before the usual places. seed: of splits that are drawn.

    >>> assay.dataset("adult", split="test")
    >>> assay.dataset("patients.csv", label="died", id="case")
    """
    places = [folders] if isinstance(folders, (str, os.PathLike)) else folders
    files = [path_text("folders", each, "folder") for each in places]
    label = None if label is None else text_of("label", label)
    id = None if id is None else text_of("id", id)
    name = path_text("what", what, "data set or file")
    doubles = _core.Doubles()
    core = _core.Table.open(name, text_of("split", split), label, id, files, run_of(seed, 0, False), doubles)
    return Table(core, doubles)


def kind_of(obj: Any, argument: str = "X") -> Kind:
    """What a table is: "table" (assay's), "frame" (pandas), "arrow" (pyarrow, polars, ...) or "array"."""
    named = named_kind(obj, argument)
    if named is None:
        check_rows(as_array(obj, argument), argument, obj)
    return named or "array"


def named_kind(obj: Any, argument: str) -> Kind | None:
    """As kind_of, but None for anything without named columns."""
    if isinstance(obj, Table):
        return "table"
    if is_instance(obj, "pandas", "DataFrame"):
        return "frame"
    # Single columns of pyarrow and polars are Arrow objects too, but without a schema.
    if not hasattr(obj, "__arrow_c_stream__") or not (hasattr(obj, "schema") or hasattr(obj, "columns")):
        return None
    if hasattr(obj, "num_rows") or hasattr(obj, "__len__"):
        return "arrow"
    raise ValueError(
        f"{argument}: expected a table that can be read more than once, found a {type(obj).__name__}; "
        f"pyarrow.table({argument}) makes one of it"
    )


def row_count(obj: Any) -> int:
    """How many rows a table of any kind has."""
    if kind_of(obj) == "arrow":
        return int(obj.num_rows) if hasattr(obj, "num_rows") else len(obj)
    return len(obj)


def select_rows(obj: Any, rows: Sequence[int]) -> Any:
    """These rows of a table, in this order, in the same kind of table."""
    chosen = np.asarray(rows, dtype=np.intp)
    kind = kind_of(obj)
    if kind == "frame":
        return obj.iloc[chosen]
    if kind == "table":
        return obj[chosen]
    if kind == "arrow":
        numbers = chosen.tolist()
        return obj.take(numbers) if hasattr(obj, "take") else obj[numbers]
    return as_array(obj, "X")[chosen]


def column_names(obj: Any, argument: str = "X") -> list[str] | None:
    """The names of a table's columns as text; None for arrays, which have none."""
    kind = kind_of(obj, argument)
    if kind == "table":
        return cast("list[str]", obj.columns)
    if kind == "frame":
        return column_labels(obj, argument)
    if kind == "arrow":
        names = obj.column_names if hasattr(obj, "column_names") else obj.columns
        return whole_texts(f"{argument}, names of columns", [str(name) for name in names])
    return None


def row_names(obj: Any) -> tuple[list[str], str] | None:
    """The name of each row and what the names are called; None where rows are only counted."""
    kind = kind_of(obj)
    if kind == "frame":
        return index_labels(obj)
    if kind == "table" and obj._core.id_name:
        return obj._core.ids, obj._core.id_name
    return None


def as_matrix(obj: Any, argument: str) -> NDArray[Any]:
    """A numeric array of at least two dimensions, dtype as it is; tables give their features if all are numbers."""
    kind = kind_of(obj, argument)
    if kind != "array":
        return _feature_matrix(core_table(obj, argument), argument)
    array = as_array(obj, argument)
    check_numeric(array, argument)
    return array


def _feature_matrix(table: _core.Table, argument: str) -> NDArray[np.float32]:
    for name, levels in zip(table.names, table.levels, strict=True):
        if levels is not None and name != table.label:
            raise ValueError(f"{argument}, column {in_quotes(name)}: expected numbers, found texts")
    values = table.values
    if table.label is not None:
        values = np.delete(values, table.names.index(table.label), axis=1)
    return values.reshape(len(values), *table.item_shape) if table.item_shape else values


def core_table(
    obj: Any,
    argument: str,
    *,
    names: Sequence[str] = (),
    label: str | None = None,
    doubles: _core.Doubles | None = None,
    used: Sequence[str] | None = None,
) -> _core.Table:
    """Any table as the engine's raw table. names: of the columns of arrays, else "0", "1", ...; label: a column.
    doubles: takes the columns that float32 rounds, for a model that compares doubles. used: the columns that a model
    takes by name; others may be of types that no table holds (dates), and are left out then."""
    kind = kind_of(obj, argument)
    if kind == "table":
        if doubles is not None:
            for name, cells in obj._doubles.columns.items():
                doubles.set(name, cells)
        return cast("_core.Table", obj._core) if label in (None, obj.label) else _relabelled(obj._core, argument, label)
    if kind == "arrow":
        return _core.Table.from_arrow(obj, argument, label, None, doubles, used)
    if kind == "frame":
        return _table_of_frame(obj, argument, label, doubles, used)
    array = as_array(obj, argument)
    columns = int(np.prod(array.shape[1:]))
    if names and len(names) != columns:
        raise ValueError(f"{argument}: expected {plural(len(names), 'column')}, found {columns}")
    values = to_float32(array, argument, names or None)
    texts = list(names) or [str(j) for j in range(columns)]
    if doubles is not None:
        keep_rounded(doubles, array.reshape(len(array), columns), texts)
    rounded = rounded_numbers(array.reshape(len(array), columns))
    return _core.Table.from_columns(argument, texts, values, [None] * columns, label, rounded=rounded)


def keep_rounded(doubles: _core.Doubles, matrix: NDArray[Any], names: Sequence[str]) -> None:
    """Keeps the columns of numbers that float32 rounds."""
    for column, cells in rounded_columns(matrix).items():
        doubles.set(names[column], cells)


def _table_of_frame(
    frame: Any, argument: str, label: str | None, doubles: _core.Doubles | None, used: Sequence[str] | None
) -> _core.Table:
    pandas = import_pandas(argument)
    names = column_labels(frame, argument)
    if used is not None:
        kept = [j for j, name in enumerate(names) if _is_used(name, used, label) or _can_be_read(pandas, frame, j)]
        names, frame = [names[j] for j in kept], frame.iloc[:, kept]
    values = np.empty((len(frame), len(names)), np.float32)
    levels: list[list[str] | None] = []
    rounded = [0] * len(names)
    truth = []
    for j, name in enumerate(names):
        where = f"{argument}, column {in_quotes(name)}"
        values[:, j], texts = engine_column(pandas, frame.iloc[:, j], where)
        levels.append(texts)
        if texts is None and is_truth(pandas, frame.iloc[:, j], where):
            truth.append(name)
        if texts is None:
            cells = numbers_of(dense(frame.iloc[:, j]), where)[:, np.newaxis]
            rounded[j] = rounded_numbers(cells)[0]
            if doubles is not None:
                keep_rounded(doubles, cells, [name])
    ids, id_name = index_labels(frame) or ([], "")
    whole_texts(f"{argument}, index", [*ids, id_name])
    return _core.Table.from_columns(argument, names, values, levels, label, id_name, ids, rounded=rounded, truth=truth)


def _is_used(name: str, used: Sequence[str], label: str | None) -> bool:
    # LightGBM writes underscores for spaces.
    return name == label or name in used or name.replace(" ", "_") in used


def _can_be_read(pandas: Any, frame: Any, column: int) -> bool:
    try:
        engine_column(pandas, frame.iloc[:, column], "column")
    except ValueError:
        return False
    return True


def _relabelled(table: _core.Table, argument: str, label: str | None) -> _core.Table:
    if label not in table.names:
        raise ValueError(f"{argument}: expected a column {in_quotes(label)} for the label, found none")
    return _core.Table.from_columns(
        table.source,
        table.names,
        table.values,
        table.levels,
        label,
        table.id_name,
        table.ids,
        rounded=table.rounded,
        truth=table.truth,
    )
