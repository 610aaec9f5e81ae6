"""Anything that NumPy or DLPack can turn into an array: checked, and converted to the engine's float32."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._text import in_quotes


def is_instance(obj: object, module: str, name: str) -> bool:
    """Whether `obj` is of a class of an optional package, without importing that package."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(obj, kind)


def is_sparse(obj: object) -> bool:
    """Whether `obj` is a sparse matrix or array of SciPy."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(obj))


def as_array(obj: Any, argument: str) -> NDArray[Any]:
    """Any array-like as a NumPy array of any dtype and dimension, without a copy if possible."""
    if is_sparse(obj):
        raise ValueError(f"{argument}: expected dense rows, found a sparse matrix; {argument}.toarray() makes it dense")
    if isinstance(obj, (str, bytes)):
        raise ValueError(
            f"{argument}: expected rows x columns, found the text {in_quotes(obj)}; assay.dataset opens files"
        )
    if is_instance(obj, "torch", "Tensor"):
        obj = obj.detach().cpu()
        # NumPy has no bfloat16; every value of it is a float32.
        obj = obj.float() if str(obj.dtype) == "torch.bfloat16" else obj
    if isinstance(obj, np.ma.MaskedArray):
        return _without_mask(obj)
    try:
        if hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__"):
            return np.from_dlpack(obj)
        return np.asarray(obj)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        words = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        expected = "rows of equal length" if isinstance(obj, (list, tuple)) else "what NumPy can make an array of"
        raise ValueError(f"{argument}: expected {expected}, found {type(obj).__name__} ({words})") from error


def _without_mask(array: Any) -> NDArray[Any]:
    if array.dtype.kind not in "fiub":
        return np.asarray(array.filled())
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    return np.asarray(array.filled(np.nan))


def check_rows(array: NDArray[Any], argument: str, obj: object = None) -> None:
    """Refuses an array that is not rows x columns. obj: what it was made from, for the message."""
    if array.ndim == 0:
        if array.dtype == object and array.item() is not None:
            raise ValueError(f"{argument}: expected rows x columns, found {type(array.item()).__name__}")
        raise ValueError(f"{argument}: expected rows x columns, found a single value")
    if array.ndim == 1:
        advice = f"{argument}.reshape(1, -1) is one row"
        found = "one dimension"
        if is_instance(obj, "pandas", "Series"):
            found, advice = "a Series", f"{argument}.to_frame().T is one row, {argument}.to_frame() one column"
        elif array.dtype.names is not None:
            found, advice = "a structured array", f"pandas.DataFrame({argument}) makes a table of it"
        elif array.dtype == object and all(isinstance(row, Mapping) for row in array):
            found, advice = "a list of dicts", f"pandas.DataFrame({argument}) makes a table of it"
        elif isinstance(obj, (list, tuple)):
            found, advice = f"one {type(obj).__name__} of values", f"[{argument}] is one row"
        raise ValueError(f"{argument}: expected rows x columns, found {found}; {advice}")


def check_numeric(array: NDArray[Any], argument: str) -> None:
    """Refuses dtypes other than numbers of 8 to 64 bits."""
    if array.dtype.kind in "fiub" and array.dtype.itemsize <= 8:
        return
    hint = f"; {argument}.astype(float) tries to make numbers of it" if array.dtype.kind in "OSU" else ""
    raise ValueError(f"{argument}: expected numbers of at most 64 bits, found dtype {array.dtype}{hint}")


def to_float32(array: NDArray[Any], argument: str, names: Sequence[str] | None = None) -> NDArray[np.float32]:
    """Rows x columns as the engine stores them: C-contiguous float32, n-D items flattened, no copy where it is so.

    NaN stays (it is missing); infinities and numbers beyond float32 are refused by row and column.
    """
    check_numeric(array, argument)
    columns = int(np.prod(array.shape[1:]))
    matrix = array.reshape(len(array), columns)
    with np.errstate(over="ignore"):
        narrow: NDArray[np.float32] = np.require(matrix, np.float32, ["C", "A"])
    # Only a float64 or an infinity may not fit. Looking at least and largest value is fastest.
    if array.dtype.kind == "f" and narrow.size > 0 and not (np.isfinite(narrow.min()) and np.isfinite(narrow.max())):
        infinite = np.isinf(narrow)
        if infinite.any():
            row, column = divmod(int(np.argmax(infinite)), columns)
            name = f"column {in_quotes(names[column])}" if names is not None else f"column {column}"
            raise not_finite(f"{argument}, row {row} (counted from 0), {name}", matrix[row, column])
    return narrow


def flat_rows(array: NDArray[Any]) -> NDArray[Any]:
    """A row of numbers for each item, however many dimensions it has. NumPy itself cannot tell the width of no rows."""
    return array.reshape(len(array), math.prod(array.shape[1:]))


def rounded_columns(matrix: NDArray[Any]) -> dict[int, NDArray[np.float64]]:
    """The columns that float32 cannot hold exactly, as float64, by their index."""
    if matrix.dtype.itemsize < 4 or matrix.dtype == np.float32 or matrix.dtype.kind not in "fiu":
        return {}
    found = {}
    for column in range(matrix.shape[1]):
        wide = np.ascontiguousarray(matrix[:, column], np.float64)
        if not np.array_equal(wide, wide.astype(np.float32), equal_nan=True):
            found[column] = wide
    return found


def rounded_numbers(matrix: NDArray[Any]) -> list[int]:
    """For each column, how many numbers beyond 2^24 float32 rounds; counted as for files (is_rounded in C++)."""
    if matrix.dtype.itemsize < 4 or matrix.dtype == np.float32 or matrix.dtype.kind not in "fiu":
        return [0] * matrix.shape[1]
    if matrix.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = matrix.astype(np.float32)
            beyond = (np.abs(narrow) >= 2.0**24) & np.isfinite(matrix)
            return [int(count) for count in np.count_nonzero(beyond & (narrow != matrix), axis=0)]
    size = np.where(matrix < 0, np.negative(matrix), matrix).astype(np.uint64)
    odd_part = size // np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    return [int(count) for count in np.count_nonzero(odd_part >= np.uint64(1 << 24), axis=0)]


def not_finite(where: str, value: Any) -> ValueError:
    """The error for a number that float32 cannot hold."""
    expected = "a finite number, or NaN for missing" if np.isinf(value) else "a number within the range of float32"
    return ValueError(f"{where}: expected {expected}, found {float(value):g}")
