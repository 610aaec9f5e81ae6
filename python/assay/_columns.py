"""Converts one column of a frame to float32 and back: numbers, or codes of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import not_finite, rounded_numbers
from ._frames import (
    NUMBER_TYPES,
    NUMBER_WORDS,
    dense,
    first_odd,
    import_pandas,
    is_categorical,
    is_dictionary,
    is_object,
    is_sparse_dtype,
    is_text_dtype,
    unusable,
    whole_texts,
)
from ._images import NumberImages, PoolAt, is_exact
from ._text import in_quotes

# float32 holds every whole number up to here, so codes beyond it would collide.
_MOST_LEVELS = 2**24

# A column of one table, and the words for it in messages.
Piece = tuple[str, Any]


def column_of(
    pieces: Sequence[Piece], pool: PoolAt | None = None, nearest: bool = False
) -> NumberColumn | LevelColumn | SparseColumn:
    """The kind of a column, decided by the first table that has it. The cells of all tables are learnt.

    pool: the piece whose centre is learnt too, if any. nearest: each number becomes its nearest float32.
    """
    dtype = pieces[0][1].dtype
    column = _dense_column_of([(where, dense(series)) for where, series in pieces], pool, nearest)
    return SparseColumn(column, dtype) if is_sparse_dtype(dtype) else column


def _dense_column_of(pieces: Sequence[Piece], pool: PoolAt | None, nearest: bool) -> NumberColumn | LevelColumn:
    pandas = import_pandas("a model that is called with DataFrames")
    where, series = pieces[0]
    if is_object(series.dtype):
        # A column with only missing cells does not show its kind.
        where, series = next(((w, s) for w, s in pieces if not s.isna().all()), pieces[0])
    dtype = series.dtype
    if is_categorical(dtype) or is_text_dtype(dtype) or is_dictionary(dtype) or dtype.kind == "b":
        return LevelColumn(pandas, pieces, pool)
    if is_object(dtype):
        words = pandas.api.types.infer_dtype(series, skipna=True)
        if words not in NUMBER_WORDS:
            return LevelColumn(pandas, pieces, pool)
        return NumberColumn(pandas, pieces, pool, nearest)
    if dtype.kind in "fiu" and getattr(dtype, "itemsize", 8) <= 8:
        return NumberColumn(pandas, pieces, pool, nearest)
    raise unusable(where, f"dtype {dtype}")


class NumberColumn:
    """Numbers. Every cell that was learnt comes back exactly, others as near as the dtype allows.

    exact: whether float32 holds all cells, or the nearest float32 is good enough. centre: the float32 of the pool's
    mean or median.
    """

    levels: list[str] | None = None

    def __init__(self, pandas: Any, pieces: Sequence[Piece], pool: PoolAt | None = None, nearest: bool = False) -> None:
        self._pandas = pandas
        self._dtype = pieces[0][1].dtype
        learnt = [_numbers(pandas, where, series) for where, series in pieces]
        storage = learnt[0][0].dtype
        for numbers, _ in learnt[1:]:
            if not holds(storage, numbers):
                storage = np.result_type(storage, numbers.dtype)
        plain = isinstance(self._dtype, np.dtype) and self._dtype.kind != "O"
        if plain and storage.kind in "iu" and any(missing.any() for _, missing in learnt):
            storage = np.result_type(storage, np.float64)
        if plain:
            self._dtype = storage
        elif storage != learnt[0][0].dtype and not is_object(self._dtype):
            self._dtype = pandas.Float64Dtype()
        self._missing_cell = _missing_cell(pieces)
        cells = [numbers.astype(storage, copy=False) for numbers, _ in learnt]
        self.exact = nearest or all(is_exact(each) for each in cells)
        centre = cells[0][:0]
        if pool is not None:
            # If float32 holds all cells, the engine takes them, without rounding.
            centre = pool.centre(cells[pool.table].astype(np.float64) if self.exact else cells[pool.table])
        self._images = NumberImages([] if self.exact else [*cells, centre], storage)
        self.crowded = self._images.crowded
        self.cells = self._images.cells
        self.centre = self._images.encode(centre)[0] if centre.size else np.float32(np.nan)

    def rounds(self, series: Any) -> bool:
        """Whether some of the cells are beyond 2^24 and not held by float32."""
        numbers, _ = _numbers(self._pandas, "", dense(series))
        return rounded_numbers(numbers.reshape(-1, 1))[0] > 0

    def encode(self, where: str, series: Any) -> NDArray[np.float32]:
        """The float32 of each cell; missing is NaN."""
        numbers, missing = _numbers(self._pandas, where, dense(series))
        if not missing.any():
            return self._images.encode(numbers)
        out = np.full(len(series), np.nan, np.float32)
        out[~missing] = self._images.encode(numbers)
        return out

    def decode(self, rows: NDArray[np.float32]) -> Any:
        """An array of the column's dtype."""
        missing = np.isnan(rows)
        values = self._images.decode(rows)
        if isinstance(self._dtype, np.dtype):
            if is_object(self._dtype):
                values = values.astype(object)
                values[missing] = self._missing_cell
            elif values.dtype.kind in "iu" and missing.any():
                # Integer dtypes have no NaN. Another dtype is better than an invented number.
                values = values.astype(np.float64)
                values[missing] = np.nan
            return values
        series = self._pandas.Series(values).astype(self._dtype)
        return series.mask(missing).array if missing.any() else series.array


class SparseColumn:
    """A column that pandas stores sparsely."""

    def __init__(self, column: NumberColumn | LevelColumn, dtype: Any) -> None:
        self._column = column
        self._dtype = dtype
        self.levels = column.levels
        self.exact = column.exact
        self.crowded = column.crowded
        self.centre = column.centre
        self.encode = column.encode
        self.rounds = column.rounds
        self.cells = column.cells

    def decode(self, rows: NDArray[np.float32]) -> Any:
        """An array of the column's dtype."""
        pandas = import_pandas("a model that is called with DataFrames")
        return pandas.arrays.SparseArray(self._column.decode(rows), dtype=self._dtype)


class LevelColumn:
    """Categories, texts, booleans and other objects: codes of the distinct cells.

    centre: the most frequent code in the pool; of equally frequent ones the lowest.
    """

    exact = True
    crowded = False

    def __init__(self, pandas: Any, pieces: Sequence[Piece], pool: PoolAt | None = None) -> None:
        self._pandas = pandas
        self._dtype = pieces[0][1].dtype
        if self._dtype == np.bool_ and any(series.isna().any() for _, series in pieces):
            # NumPy's booleans cannot be missing.
            self._dtype = np.dtype(object)
        known = self._dtype.categories if is_categorical(self._dtype) else ()
        found = {self._key(value): value for value in known}
        if self._dtype.kind == "b":
            found = {False: False, True: True}
        else:
            new: dict[Any, Any] = {}
            for where, series in pieces:
                for value in self._occurring(where, series):
                    new.setdefault(self._key(value), value)
            # Categories keep the order of their dtype, all others are in the order of their texts.
            found |= dict(sorted(((k, v) for k, v in new.items() if k not in found), key=lambda kv: _text_order(kv[1])))
        if len(found) > _MOST_LEVELS:
            raise ValueError(f"{pieces[0][0]}: expected at most {_MOST_LEVELS} different values, found {len(found)}")
        self._code = {key: float(code) for code, key in enumerate(found)}
        # A value of a type that was not learnt is coded as the first value that equals it.
        self._equal = {value: float(code) for code, value in reversed(list(enumerate(found.values())))}
        self.levels: list[str] | None = whole_texts(pieces[0][0], _texts(list(found.values())))
        try:
            self._cells = self._cells_of(list(found.values()), _missing_cell(pieces))
        except (TypeError, ValueError) as error:  # texts beside a dictionary of numbers, say
            raise ValueError(f"{pieces[0][0]}: expected cells of {self._dtype} in every table, found {error}") from None
        codes = np.empty(0, np.float32) if pool is None else self.encode(*pieces[pool.table])
        there = codes[~np.isnan(codes)].astype(np.intp)
        self.centre = np.float32(np.bincount(there).argmax() if there.size else np.nan)

    def _key(self, value: Any) -> Any:
        """A key that distinguishes values. For objects it has the type, because 1 == 1.0 == True."""
        return (_family(type(value)), value) if is_object(self._dtype) else value

    def _cells_of(self, levels: list[Any], missing: Any) -> Any:
        """The cell for each code, and last the cell for missing, in the column's dtype."""
        if is_categorical(self._dtype):
            if len(levels) > len(self._dtype.categories):
                self._dtype = self._pandas.CategoricalDtype(levels, ordered=self._dtype.ordered)
            return None
        if isinstance(self._dtype, np.dtype):
            cells = np.empty(len(levels) + 1, object)
            cells[:-1], cells[-1] = levels, missing
            return cells
        return self._pandas.array([*levels, self._dtype.na_value], dtype=self._dtype)

    def cells(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Codes are shown by their levels."""
        return rows.astype(np.float64)

    def rounds(self, series: Any) -> bool:
        """Codes are small."""
        return False

    def encode(self, where: str, series: Any) -> NDArray[np.float32]:
        """The code of each cell; missing is NaN."""
        codes, values = self._factorised(where, dense(series))
        images = np.full(len(values) + 1, np.nan, np.float32)
        for i, value in enumerate(values):
            code = self._code.get(self._key(value), self._equal.get(value))
            if code is not None:
                images[i] = code
            elif np.any(codes == i):  # unused categories may be anything
                raise ValueError(f"{where}: expected a value that X, pool or background has, found {in_quotes(value)}")
        return images[codes]

    def decode(self, rows: NDArray[np.float32]) -> Any:
        """An array of the column's dtype."""
        count = len(self._code)
        missing = np.isnan(rows)
        # Codes should not have noise. If they do, take the nearest level.
        codes = np.clip(np.rint(np.where(missing, 0, rows)), 0, max(count - 1, 0)).astype(np.intp)
        if self._cells is None:
            codes[missing] = -1
            return self._pandas.Categorical.from_codes(codes, dtype=self._dtype)
        codes[missing] = count
        cells = self._cells.take(codes)
        # NumPy's booleans cannot be missing. Another dtype is better than an invented value.
        return cells.astype(bool) if self._dtype == np.bool_ and not missing.any() else cells

    def _occurring(self, where: str, series: Any) -> list[Any]:
        codes, values = self._factorised(where, series)
        return [values[code] for code in np.unique(codes) if code >= 0]

    def _factorised(self, where: str, series: Any) -> tuple[NDArray[np.intp], list[Any]]:
        """For each cell the index of its value, -1 if missing; and the values."""
        if is_categorical(series.dtype):
            return np.asarray(series.cat.codes, np.intp), list(series.dtype.categories)
        try:
            codes, values = self._pandas.factorize(series)
        except TypeError as error:
            raise unusable(where, f"dtype {series.dtype} ({error})") from None
        values = values.tolist()
        if is_object(series.dtype) and len(set(map(type, series)) - {str}) > 1:
            codes, values = _told_apart(series, codes)
        if is_text_dtype(self._dtype):
            odd = first_odd(values, str)
            if odd is not None:
                raise ValueError(f"{where}: expected texts, found {odd}")
        return codes, values


def _family(kind: type) -> type:
    """The type of a value; the same for NumPy's scalars as for Python's."""
    for family, kinds in ((bool, np.bool_), (int, np.integer), (float, np.floating), (str, np.str_)):
        if issubclass(kind, kinds):
            return family
    return kind


def _told_apart(series: Any, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Any]]:
    """Like pandas' factorize, but equal values of different types get different codes."""
    numbers: dict[Any, int] = {}
    values: list[Any] = []
    out = np.full(len(codes), -1, np.intp)
    cells = series.to_numpy()
    for row in np.flatnonzero(codes >= 0):
        number = numbers.setdefault((_family(type(cells[row])), cells[row]), len(values))
        if number == len(values):
            values.append(cells[row])
        out[row] = number
    return out, values


def _numbers(pandas: Any, where: str, series: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The numbers of a column without missing ones, as a NumPy array, and which cells are missing."""
    if is_categorical(series.dtype):
        series = series.astype(series.dtype.categories.dtype)
    dtype = series.dtype
    missing = np.asarray(series.isna(), bool)
    there = series[~missing] if missing.any() else series
    storage: Any = dtype
    if is_object(dtype):
        words = pandas.api.types.infer_dtype(there, skipna=False)
        odd = None if words in NUMBER_WORDS else first_odd(there, NUMBER_TYPES)
        if odd is not None:
            raise ValueError(f"{where}: expected numbers, found {odd}")
        storage = np.int64 if words == "integer" else np.float64
    elif dtype.kind not in "fiub":
        raise ValueError(f"{where}: expected numbers, found dtype {dtype}")
    elif not isinstance(dtype, np.dtype):
        storage = getattr(dtype, "numpy_dtype", np.float64)
    try:
        numbers = np.asarray(there.to_numpy(dtype=storage))
    except (OverflowError, TypeError, ValueError) as error:
        raise unusable(where, f"dtype {dtype} ({error})") from None
    if numbers.dtype.kind == "b":
        numbers = numbers.astype(np.uint8)
    if numbers.dtype.kind == "f":
        with np.errstate(over="ignore"):
            beyond = np.isinf(numbers.astype(np.float32))
        if beyond.any():
            at = int(np.argmax(beyond))
            row = int(np.flatnonzero(~missing)[at])
            raise not_finite(f"{where}, row {row} (counted from 0)", numbers[at])
    return numbers, missing


def holds(storage: np.dtype[Any], numbers: NDArray[Any]) -> bool:
    """Whether a dtype can hold these numbers: integer dtypes without loss, floating ones within their range."""
    if numbers.dtype == storage or numbers.size == 0:
        return True
    if storage.kind == "f":
        with np.errstate(over="ignore"):
            return not bool(np.any(np.isinf(numbers.astype(storage)) & np.isfinite(numbers)))
    limits = np.iinfo(storage if storage.kind != "b" else np.uint8)
    least, most = (0, 1) if storage.kind == "b" else (limits.min, limits.max)
    # NaN fails both tests. The largest 64-bit integers, as floats, are one beyond the range.
    inside = bool(numbers.min() >= least and numbers.max() <= most)
    if numbers.dtype.kind == "f":
        inside = inside and bool((numbers == np.rint(numbers)).all()) and int(numbers.max()) <= most
    return inside


def _missing_cell(pieces: Sequence[Piece]) -> Any:
    """The missing value for a column of objects: the first one in the cells, else None."""
    for _, series in pieces:
        missing = np.asarray(series.isna(), bool)
        if is_object(series.dtype) and missing.any():
            return series.iloc[int(np.argmax(missing))]
    return None


def _text_order(value: Any) -> tuple[str, str]:
    return str(value), type(value).__name__


def _texts(levels: list[Any]) -> list[str]:
    """The text of each level; 1 and "1" are told apart by their types."""
    texts = [str(level) for level in levels]
    if len(set(texts)) == len(texts):
        return texts
    return [f"{text} ({type(level).__name__})" for text, level in zip(texts, levels, strict=True)]
