"""Converts columns of pandas to the engine's: numbers, or codes of texts in byte order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import not_finite
from ._optional import needed
from ._text import in_quotes

NUMBER_TYPES = (int, float, np.number, np.bool_)
# What pandas' infer_dtype calls columns of Python objects that are all numbers, or all missing.
NUMBER_WORDS = ("integer", "floating", "mixed-integer-float", "empty")


def import_pandas(purpose: str) -> Any:
    """The package pandas; an ImportError that says what it is needed for."""
    return needed("pandas", "pandas", purpose)


def frame_of_arrow(obj: Any, argument: str) -> Any:
    """A table of pyarrow, polars or any other producer of Arrow as a DataFrame."""
    pandas = import_pandas(f"{argument}: a model that is called with DataFrames")
    if hasattr(obj, "to_pandas"):
        frame = obj.to_pandas()
    else:
        frame = needed("pyarrow", "arrow", f"{argument}: making a DataFrame of Arrow data").table(obj).to_pandas()
    for name in _rounded_whole_numbers(frame):
        # A column of whole numbers with missing ones becomes float64, which rounds these; pandas' own dtype does not.
        column = needed("pyarrow", "arrow", f"{argument}: large whole numbers").table(obj).column(name)
        if str(column.type) in ("int64", "uint64"):
            dtype = pandas.Int64Dtype() if str(column.type) == "int64" else pandas.UInt64Dtype()
            frame[name] = pandas.array(column.to_pylist(), dtype=dtype)
    return frame


def _rounded_whole_numbers(frame: Any) -> list[Any]:
    """The columns of float64 with missing cells and with whole numbers that may have been rounded."""
    names: list[Any] = []
    if not frame.columns.is_unique:
        return names  # refused elsewhere
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if dtype == np.float64:
            cells = frame[name].to_numpy()
            missing = np.isnan(cells)
            if missing.any() and (np.abs(cells[~missing]) >= 2.0**53).any():
                names.append(name)
    return names


def column_labels(frame: Any, argument: str) -> list[str]:
    """The names of a DataFrame's columns as text; an error where two are the same."""
    names = whole_texts(f"{argument}, names of columns", [str(label) for label in frame.columns])
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{argument}: expected column names that differ, found {in_quotes(twice)} twice")
    return names


def whole_texts(where: str, texts: list[str]) -> list[str]:
    """These texts; an error where one has half a character (a lone surrogate), which no file can hold."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        odd = next(text for text in texts if any("\ud800" <= letter <= "\udfff" for letter in text))
        raise ValueError(f"{where}: expected texts of whole characters, found {in_quotes(odd)}") from None
    return texts


def index_labels(frame: Any) -> tuple[list[str], str] | None:
    """The labels of the rows and the name of the index; None if rows are only numbered."""
    index = frame.index
    if is_counting(index):
        return None
    if index.nlevels > 1:
        name = "/".join("index" if each is None else str(each) for each in index.names)
        return ["/".join(map(str, label)) for label in index], name
    return [str(label) for label in index], "index" if index.name is None else str(index.name)


def is_counting(index: Any) -> bool:
    """Whether an index is pandas' own count of rows, whatever its start."""
    return type(index).__name__ == "RangeIndex" and index.step > 0


def is_text_dtype(dtype: Any) -> bool:
    """Whether a dtype of pandas holds texts alone: str, string of Python or of pyarrow."""
    return not isinstance(dtype, np.dtype) and dtype.type is str


def is_object(dtype: Any) -> bool:
    """Whether a dtype is NumPy's object, which holds anything."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def is_categorical(dtype: Any) -> bool:
    """Whether a dtype is pandas' category."""
    return type(dtype).__name__ == "CategoricalDtype"


def is_dictionary(dtype: Any) -> bool:
    """Whether a dtype of pandas is Arrow's dictionary."""
    return not isinstance(dtype, np.dtype) and str(dtype).startswith("dictionary<")


def is_sparse_dtype(dtype: Any) -> bool:
    """Whether a dtype is one of pandas' sparse ones."""
    return type(dtype).__name__ == "SparseDtype"


def dense(series: Any) -> Any:
    """The same column without pandas' sparse storage."""
    return series.sparse.to_dense() if is_sparse_dtype(series.dtype) else series


def unusable(where: str, found: object) -> ValueError:
    """The error for a column that holds neither numbers nor categories."""
    return ValueError(f"{where}: expected numbers, booleans, texts or categories, found {found}")


def object_kind(pandas: Any, series: Any, where: str) -> str:
    """What a column of Python objects holds: "numbers", "booleans" or "texts"; an error for anything else."""
    words = pandas.api.types.infer_dtype(series, skipna=True)
    if words in NUMBER_WORDS or words == "decimal":
        return "numbers"
    if words in ("string", "boolean"):
        return "texts" if words == "string" else "booleans"
    there = series[~series.isna()]
    # If types are mixed and some are texts, the column is taken to be of texts.
    meant: Any = str if any(isinstance(value, str) for value in there) else NUMBER_TYPES
    odd = first_odd(there, meant)
    if odd is None:
        return "numbers"
    raise ValueError(f"{where}: expected texts or numbers alone, found {odd}")


def first_odd(values: Any, expected: type | tuple[type, ...]) -> str | None:
    """The first value of another type, and its type, for a message; None where there is none."""
    for value in values:
        if not isinstance(value, expected):
            return f"{in_quotes(value)} of type {type(value).__name__}"
    return None


def numbers_of(series: Any, where: str) -> NDArray[Any]:
    """A column of numbers or booleans as NumPy's: its own dtype where nothing is missing, else float64 with NaN."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub" and dtype.itemsize <= 8:
        return np.asarray(series.to_numpy())
    if not isinstance(dtype, np.dtype) and dtype.kind in "fiub" and not series.isna().any():
        return np.asarray(series.to_numpy(dtype=getattr(dtype, "numpy_dtype", np.float64)))
    if dtype.kind in "fiub" or is_object(dtype):
        try:
            return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError, OverflowError) as error:
            raise unusable(where, f"dtype {dtype} ({error})") from None
    raise unusable(where, f"dtype {dtype}")


def engine_column(pandas: Any, series: Any, where: str) -> tuple[NDArray[np.float32], list[str] | None]:
    """A column as the engine keeps it: float32 numbers and None, or codes and their texts in byte order."""
    series = dense(series)
    if is_categorical(series.dtype):
        categories = series.dtype.categories
        narrow, levels = sorted_levels(np.asarray(series.cat.codes), [str(value) for value in categories])
        return narrow, whole_texts(where, levels)
    texts = is_text_dtype(series.dtype)
    if is_object(series.dtype):
        texts = object_kind(pandas, series, where) == "texts"
    elif is_dictionary(series.dtype):
        return engine_column(pandas, series.astype(object), where)
    if texts:
        codes, values = pandas.factorize(series)
        narrow, levels = sorted_levels(codes, [str(value) for value in values])
        return narrow, whole_texts(where, levels)
    wide = numbers_of(series, where)
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    if np.isinf(narrow).any():
        row = int(np.argmax(np.isinf(narrow)))
        raise not_finite(f"{where}, row {row} (counted from 0)", wide[row])
    return narrow, None


def is_truth(pandas: Any, series: Any, where: str) -> bool:
    """Whether a column is of booleans, some of which may be missing."""
    dtype = dense(series).dtype
    if is_object(dtype):
        return object_kind(pandas, series, where) == "booleans"
    return not is_categorical(dtype) and not is_dictionary(dtype) and dtype.kind == "b"


def sorted_levels(codes: NDArray[Any], texts: list[str]) -> tuple[NDArray[np.float32], list[str]]:
    """New codes, with the levels that occur in byte order; code -1 is missing."""
    occurring = sorted({texts[code] for code in np.unique(codes) if code >= 0})
    rank = {text: float(i) for i, text in enumerate(occurring)}
    # One entry more than there are texts, for the code -1.
    image = np.array([*(rank.get(text, np.nan) for text in texts), np.nan], np.float32)
    return image[codes], occurring
