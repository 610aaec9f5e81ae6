"""Labels of rows, in whatever form they come, as the engine counts classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_array, is_instance
from ._text import in_quotes


def labels_of(y: Any, argument: str, rows: int, class_names: Sequence[str]) -> tuple[NDArray[np.float32], list[str]]:
    """One label for each row: codes of `class_names`, or numbers where there are none; missing is NaN.

    Labels are matched to classes by their text (1 is "1", True is "True" or "1"). Where some label has no class of its
    name, but all of them are whole numbers from 0 to the number of classes - 1, they count the classes.
    """
    cells = one_column(y, argument)
    if len(cells) != rows:
        raise ValueError(f"{argument}: expected a label for each of {rows} rows, found {len(cells)}")
    missing = where_missing(cells)
    out = np.full(rows, np.nan, np.float32)
    if not class_names:
        out[~missing] = _numbers(cells, ~missing, argument)
        return out, []
    distinct, codes = _distinct(cells[~missing])
    by_name = {name: float(code) for code, name in enumerate(class_names)}
    classes = [_class_of(value, by_name) for value in distinct]
    if None in classes:
        unknown = distinct[classes.index(None)]
        classes = [_position(value, len(class_names)) for value in distinct]
        if None in classes:
            raise ValueError(
                f"{argument}: expected one of the classes {_listed(class_names)}, found {in_quotes(unknown)}"
            )
    out[~missing] = np.asarray(classes, np.float32)[codes]
    return out, list(class_names)


def text_codes(y: Any) -> tuple[list[str], NDArray[np.float32]] | None:
    """The texts of labels, sorted, and for each row the index of its text, NaN where it is missing; None if some label
    is no text."""
    cells = one_column(y, "y")
    missing = where_missing(cells)
    if cells.dtype.kind != "O" or not all(isinstance(value, str) for value in cells[~missing]):
        return None
    levels = sorted(set(cells[~missing]), key=lambda text: text.encode())
    places = {text: place for place, text in enumerate(levels)}
    out = np.full(len(cells), np.nan, np.float32)
    out[~missing] = [places[text] for text in cells[~missing]]
    return levels, out


def one_column(y: Any, argument: str) -> NDArray[Any]:
    """One value for each row, in whatever form they come: an array of numbers, booleans or objects."""
    if is_instance(y, "pandas", "DataFrame"):
        if len(y.columns) != 1:
            raise ValueError(f"{argument}: expected one column of labels, found {len(y.columns)}")
        y = y.iloc[:, 0]
    if is_instance(y, "pandas", "Series") or is_instance(y, "pandas", "Index"):
        numeric = isinstance(y.dtype, np.dtype) and y.dtype.kind in "fiub"
        y = y.to_numpy() if numeric else y.to_numpy(dtype=object)
    elif hasattr(y, "_core") and hasattr(y, "labels"):
        if y.labels is None:
            raise ValueError(f"{argument}: expected a table with a label, found one without")
        y = y.labels
    elif hasattr(y, "to_numpy") and not hasattr(y, "__array__"):
        y = y.to_numpy()
    elif isinstance(y, (list, tuple)):
        # np.asarray would turn the numbers of [1, "a"] and [True, "a"] into texts.
        mixed = any(not isinstance(value, (int, float, np.number)) for value in y)
        y = _objects(y) if mixed and all(np.ndim(value) == 0 for value in y) else y
    cells = as_array(y, argument)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    if cells.ndim != 1:
        raise ValueError(f"{argument}: expected one label for each row, found an array of shape {cells.shape}")
    if cells.dtype.kind in "SU":
        cells = cells.astype(object)
    if cells.dtype.kind not in "fiubO":
        raise ValueError(f"{argument}: expected numbers or texts, found dtype {cells.dtype}")
    return cells


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    out = np.empty(len(values), object)
    out[:] = list(values)
    return out


def where_missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells are None, NaN or pandas' NA."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells))
    if cells.dtype.kind != "O":
        return np.zeros(len(cells), bool)
    # pandas' NA has no truth value; NaN is the only value that differs from itself.
    return np.fromiter(
        (value is None or type(value).__name__ in ("NAType", "NaTType") or value != value for value in cells),
        bool,
        len(cells),
    )


def _numbers(cells: NDArray[Any], there: NDArray[np.bool_], argument: str) -> NDArray[np.float32]:
    try:
        wide = cells[there].astype(np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in cells[there] if not isinstance(value, (int, float, np.number)))
        raise ValueError(f"{argument}: expected numbers, for a model without classes, found {in_quotes(odd)}") from None
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    if np.isinf(narrow).any():
        at = int(np.argmax(np.isinf(narrow)))
        row = int(np.flatnonzero(there)[at])
        raise ValueError(
            f"{argument}, row {row} (counted from 0): expected a number within the range of float32, found {wide[at]:g}"
        )
    return narrow


def _distinct(cells: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    if cells.dtype.kind != "O":
        values, codes = np.unique(cells, return_inverse=True)
        return values.tolist(), codes
    # True == 1 == 1.0 for a dict, so the type is part of the key.
    seen: dict[tuple[type, Any], int] = {}
    numbers = np.fromiter((seen.setdefault((type(v), v), len(seen)) for v in cells), np.intp, len(cells))
    return [value for _, value in seen], numbers


def _class_of(value: Any, by_name: dict[str, float]) -> float | None:
    texts = [str(value)]
    if _is_number(value) and math.isfinite(value):
        texts += [str(int(value))] if value == int(value) else []
        texts += [str(float(value))]
    return next((by_name[text] for text in texts if text in by_name), None)


def _position(value: Any, classes: int) -> float | None:
    whole = _is_number(value) and math.isfinite(value) and value == int(value)
    return float(value) if whole and 0 <= value < classes else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def _listed(names: Sequence[str], most: int = 8) -> str:
    words = ", ".join(in_quotes(name) for name in names[:most])
    return words + (f" and {len(names) - most} more" if len(names) > most else "")
