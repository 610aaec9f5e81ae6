"""Converts the tables of a wrapped model to the engine's float32 matrices, and back without loss.

A wrapped model must see what its user gave: the same columns, dtypes and cells. The engine has one float32 for each raw
column. A codec learns the cells of every table of a call, so that each comes back as exactly the same value. Values
that the engine makes (a mean, noise) are converted to the column's dtype, and rounded if it holds whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_array, check_numeric, check_rows, rounded_numbers, to_float32
from ._columns import LevelColumn, NumberColumn, SparseColumn, column_of, holds
from ._frames import column_labels, frame_of_arrow, import_pandas
from ._images import CENTRES, NumberImages, PoolAt, is_exact
from ._tables import Table, kind_of, named_kind
from ._text import in_quotes, plural

# The name of an argument, for messages, and its table.
Named = tuple[str, Any]


@dataclass
class PoolCentre:
    """Stands among the tables of a codec for one more row: the mean or the median of one of the tables, computed from
    its own cells.

    The engine would take float32 numbers, which is wrong if cells differ by less than float32 can tell.
    """

    # The argument with the table.
    of: str
    # "mean" or "median".
    word: str = "mean"
    # The encoded row; None if float32 holds every cell, because the engine's own is then as good.
    row: NDArray[np.float32] | None = None


def codec_for(tables: Sequence[Named], feature_names: Sequence[str] | None = None, *, nearest: bool = False) -> Codec:
    """The codec for these tables. The first table decides its kind.

    Later ones may also be single rows: a dict, a Series, or an array with one value for each column.
    feature_names: for frames, the columns that the model takes, in its order; for arrays, the names of the columns.
    nearest: each number becomes its nearest float32, for models that are called with the encoded rows themselves.
    If there is a PoolCentre among the tables, its row is filled in.
    """
    centres = [table for _, table in tables if isinstance(table, PoolCentre)]
    tables = [(argument, table) for argument, table in tables if not isinstance(table, PoolCentre)]
    argument, first = tables[0]
    kind = ArrayCodec if kind_of(first, argument) == "array" else FrameCodec
    pool = None
    if centres:
        pool = PoolAt([each for each, _ in tables].index(centres[0].of), CENTRES[centres[0].word])
    codec = kind.fit(tables, feature_names, pool, nearest)
    for centre in centres:
        centre.row = codec.centre
    return codec


class FrameCodec:
    """For models that are called with DataFrames.

    names: of the columns. kinds: for each column None, or the texts of its levels. item_shape: of rows that are images.
    centre: the encoded mean or median of the pool, where it was asked for and float32 does not hold every cell.
    """

    def __init__(self, names: list[str], labels: Any, columns: list[NumberColumn | LevelColumn | SparseColumn]) -> None:
        self.names = names
        self.kinds: list[list[str] | None] = [column.levels for column in columns]
        # Of a row that is an image: a data set's; empty for rows that are just columns.
        self.item_shape: tuple[int, ...] = ()
        self.centre: NDArray[np.float32] | None = None
        self._labels = labels
        self._columns = columns

    @classmethod
    def fit(
        cls,
        tables: Sequence[Named],
        feature_names: Sequence[str] | None = None,
        pool: PoolAt | None = None,
        nearest: bool = False,
    ) -> FrameCodec:
        """The first table decides columns, order and dtypes. Learns the cells of all tables, matched by column name.

        pool: the table whose centre is learnt too, if any. nearest: as in codec_for.

        A dtype that cannot hold another table's cells (whole numbers, but missing cells in the pool) is widened.
        """
        argument, given = tables[0]
        first = _whole_frame(argument, given)
        names = column_labels(first, argument)
        if feature_names is not None:
            first = first.iloc[:, _positions(argument, names, feature_names)]
            names = list(feature_names)
        frames = [(argument, first), *((each, _frame(each, table, names)) for each, table in tables[1:])]
        columns = [
            column_of(
                [(f"{each}, column {in_quotes(name)}", frame.iloc[:, j]) for each, frame in frames], pool, nearest
            )
            for j, name in enumerate(names)
        ]
        codec = cls(names, first.columns, columns)
        if pool is not None and len(frames[pool.table][1]) and not all(column.exact for column in columns):
            codec.centre = np.array([[column.centre for column in columns]], np.float32)
        codec.item_shape = tuple(given._core.item_shape) if isinstance(given, Table) else ()
        return codec

    def encode(self, argument: str, table: Any) -> NDArray[np.float32]:
        """Rows x columns of numbers and codes; missing is NaN."""
        if isinstance(table, PoolCentre) and table.row is not None:
            return table.row
        frame = _frame(argument, table, self.names)
        out = np.empty((len(frame), len(self.names)), np.float32)
        for j, (name, column) in enumerate(zip(self.names, self._columns, strict=True)):
            out[:, j] = column.encode(f"{argument}, column {in_quotes(name)}", frame.iloc[:, j])
        return out

    def rounded(self, argument: str, table: Any) -> list[str]:
        """The columns of a table with numbers beyond 2^24 that float32 does not hold."""
        if isinstance(table, PoolCentre):
            return []
        frame = _frame(argument, table, self.names)
        return [name for j, name in enumerate(self.names) if self._columns[j].rounds(frame.iloc[:, j])]

    def shown(self, rows: NDArray[np.float32]) -> dict[int, NDArray[np.float64]]:
        """The cells behind encoded rows, of the columns that float32 does not hold."""
        columns = enumerate(self._columns)
        return {j: column.cells(np.ascontiguousarray(rows[:, j])) for j, column in columns if not column.exact}

    @property
    def crowded(self) -> list[str]:
        """The columns whose cells lie too close together for float32."""
        return [name for name, column in zip(self.names, self._columns, strict=True) if column.crowded]

    def decode(self, rows: NDArray[np.float32]) -> Any:
        """A DataFrame with the columns, order and dtypes of the first table."""
        pandas = import_pandas("a model that is called with DataFrames")
        by_column = np.asfortranarray(rows)
        cells = {j: column.decode(by_column[:, j]) for j, column in enumerate(self._columns)}
        # Keeps object: pandas would guess another dtype for objects that are texts.
        cells = {
            j: pandas.Series(each, dtype=object, copy=False) if each.dtype == object else each
            for j, each in cells.items()
        }
        frame = pandas.DataFrame(cells, index=pandas.RangeIndex(len(rows)), copy=False)
        frame.columns = self._labels
        return frame


class ArrayCodec:
    """For models that are called with arrays.

    names: of the columns, as they lie in memory. kinds: None for each. item_shape: of rows that are images.
    centre: the encoded mean or median of the pool, where it was asked for and float32 does not hold every cell.
    """

    def __init__(self, names: list[str], dtype: np.dtype[Any], item_shape: tuple[int, ...]) -> None:
        self.names = names
        self.kinds: list[list[str] | None] = [None] * len(names)
        self.dtype = dtype
        # Empty for rows that are just columns.
        self.item_shape = item_shape if len(item_shape) > 1 else ()
        self.centre: NDArray[np.float32] | None = None
        self._shape = item_shape
        # For the columns with numbers that float32 cannot hold.
        self._inexact: dict[int, NumberImages] = {}

    @classmethod
    def fit(
        cls,
        tables: Sequence[Named],
        feature_names: Sequence[str] | None = None,
        pool: PoolAt | None = None,
        nearest: bool = False,
    ) -> ArrayCodec:
        """The first table decides the shape of a row and the dtype, which is widened if another table needs it.

        pool: the table whose centre is learnt too, if any. nearest: as in codec_for.
        """
        argument, first = tables[0]
        array = as_array(first, argument)
        check_rows(array, argument)
        check_numeric(array, argument)
        item_shape = array.shape[1:]
        width = int(np.prod(item_shape))
        if feature_names is not None and len(feature_names) != width:
            raise ValueError(f"{argument}: expected {plural(len(feature_names), 'column')}, found {width}")
        names = [str(j) for j in range(width)] if feature_names is None else list(feature_names)
        arrays = [array, *(_items(each, table, item_shape) for each, table in tables[1:])]
        dtype = array.dtype
        for other in arrays[1:]:
            if not holds(dtype, other):
                dtype = np.result_type(dtype, other.dtype)
        codec = cls(names, dtype.newbyteorder("="), item_shape)
        if not nearest:
            codec._learn([each.reshape(len(each), width).astype(codec.dtype, copy=False) for each in arrays], pool)
        return codec

    def _learn(self, matrices: list[NDArray[Any]], pool: PoolAt | None) -> None:
        if all(is_exact(matrix) for matrix in matrices):
            return
        centres: dict[int, NDArray[Any]] = {}
        for j in range(len(self.names)):
            pieces = [matrix[:, j] for matrix in matrices]
            if not all(is_exact(piece) for piece in pieces):
                finite = [piece[np.isfinite(piece)] for piece in pieces]
                centres[j] = finite[0][:0] if pool is None else pool.centre(finite[pool.table])
                self._inexact[j] = NumberImages([*finite, centres[j]], self.dtype)
        if pool is None or len(matrices[pool.table]) == 0:
            return
        self.centre = np.full((1, len(self.names)), np.nan, np.float32)
        for j, column in enumerate(matrices[pool.table].T):
            # If float32 holds all cells, the engine takes them, without rounding.
            cell = centres[j] if j in centres else pool.centre(column[np.isfinite(column)].astype(np.float64))
            if cell.size:
                self.centre[0, j] = self._inexact[j].encode(cell)[0] if j in centres else cell[0]

    def encode(self, argument: str, table: Any) -> NDArray[np.float32]:
        """Rows x columns; an array that is float32 already is not copied."""
        if isinstance(table, PoolCentre) and table.row is not None:
            return table.row
        array = _items(argument, table, self._shape)
        out = to_float32(array, argument, self.names)
        matrix = array.reshape(len(array), len(self.names))
        if self._inexact and np.shares_memory(out, array):
            out = out.copy()
        for j, images in self._inexact.items():
            out[:, j] = images.encode(matrix[:, j])
        return out

    def rounded(self, argument: str, table: Any) -> list[str]:
        """The columns of a table with numbers beyond 2^24 that float32 does not hold."""
        if isinstance(table, PoolCentre):
            return []
        array = _items(argument, table, self._shape)
        counts = rounded_numbers(array.reshape(len(array), len(self.names)))
        return [name for name, count in zip(self.names, counts, strict=True) if count]

    def shown(self, rows: NDArray[np.float32]) -> dict[int, NDArray[np.float64]]:
        """The cells behind encoded rows, of the columns that float32 does not hold."""
        return {j: images.cells(np.ascontiguousarray(rows[:, j])) for j, images in self._inexact.items()}

    @property
    def crowded(self) -> list[str]:
        """The columns whose cells lie too close together for float32."""
        return [self.names[j] for j, images in self._inexact.items() if images.crowded]

    def decode(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """An array of the first table's dtype and item shape; float32 is passed through."""
        if self.dtype == np.float32:
            return rows.reshape(len(rows), *self._shape)
        out = NumberImages([], self.dtype).decode(rows)
        for j, images in self._inexact.items():
            out[:, j] = images.decode(rows[:, j])
        missing = np.isnan(rows) if self.dtype.kind in "iub" else None
        if missing is not None and missing.any():
            # Integer dtypes have no NaN. Another dtype is better than an invented number.
            out = np.where(missing, np.nan, out.astype(np.float64))
        return out.reshape(len(rows), *self._shape)


Codec = FrameCodec | ArrayCodec


def _items(argument: str, table: Any, item_shape: tuple[int, ...]) -> NDArray[Any]:
    """The array as rows of this shape; a single row may lack the first dimension."""
    if isinstance(table, Mapping) or named_kind(table, argument) is not None:
        raise _other_kind(argument, table, "an array")
    array = as_array(table, argument)
    if array.shape == item_shape:
        array = array[np.newaxis]
    check_rows(array, argument, table)
    check_numeric(array, argument)
    if array.shape[1:] != item_shape:
        expected = " x ".join(map(str, item_shape))
        found = " x ".join(map(str, array.shape[1:]))
        raise ValueError(f"{argument}: expected rows of {expected} columns as X has, found {found}")
    return array


def _other_kind(argument: str, table: Any, expected: str) -> ValueError:
    return ValueError(
        f"{argument}: expected {expected} as X is, found {type(table).__name__}; both need to be one kind"
    )


def _whole_frame(argument: str, table: Any) -> Any:
    """A table with named columns as a DataFrame. Of an assay.Table only the features, without the label."""
    kind = kind_of(table, argument)
    if kind == "arrow":
        return frame_of_arrow(table, argument)
    return table._frame(doubles=True)[table.features] if kind == "table" else table


def _frame(argument: str, table: Any, names: list[str]) -> Any:
    """A table as a DataFrame of exactly these columns, in this order."""
    frame = _one_row(argument, table, names)
    if frame is None:
        if kind_of(table, argument) == "array":
            raise _other_kind(argument, table, "a table with named columns")
        frame = _whole_frame(argument, table)
    return frame.iloc[:, _positions(argument, column_labels(frame, argument), names)]


def _one_row(argument: str, table: Any, names: list[str]) -> Any:
    """A single row (a dict, a Series, one row of an array) as a DataFrame. None for anything else."""
    pandas = import_pandas("a model that is called with DataFrames")
    if isinstance(table, pandas.Series):
        by_name = {str(key): value for key, value in table.items()}
        table = by_name if set(names) <= set(by_name) else list(table)
    if isinstance(table, Mapping):
        cells = {str(key): value for key, value in table.items()}
    elif named_kind(table, argument) is None:
        row = _row(argument, table)
        if row is None:
            return None
        if len(row) != len(names):
            raise ValueError(
                f"{argument}: expected {plural(len(names), 'value')}, one for each column, found {len(row)}"
            )
        cells = dict(zip(names, row, strict=True))
    else:
        return None
    # Of dtype object, so that each cell keeps its own type until it is put into its column.
    return pandas.DataFrame({name: pandas.Series([value], dtype=object) for name, value in cells.items()})


def _row(argument: str, table: Any) -> Any:
    """The cells of one row, each with its own type; None if there are several rows."""
    if isinstance(table, (list, tuple)) and not any(isinstance(cell, (list, tuple, np.ndarray)) for cell in table):
        return table
    array = np.asarray(table, dtype=object) if isinstance(table, (list, tuple)) else as_array(table, argument)
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    return array.tolist() if array.ndim == 1 else None


def _positions(argument: str, found: list[str], wanted: Sequence[str]) -> list[int]:
    position = {name: j for j, name in enumerate(found)}
    for name in wanted:
        if name not in position:
            raise ValueError(f"{argument}: expected a column {in_quotes(name)}, found none")
    return [position[name] for name in wanted]
