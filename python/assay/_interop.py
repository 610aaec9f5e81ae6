"""Attributions made elsewhere: arrays, tensors and DataFrames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, check_numeric, to_float32
from ._explanations import Explanations
from ._frames import is_counting
from ._order import index_of, refuse_reordered
from ._run import text_of
from ._text import in_quotes, plural

_UNITS = ("", "margin", "probability", "log_odds", "value", "information")
# Limits targets given by number: a target n needs names for 0 to n.
_MOST_TARGETS = 1_000_000


def as_explanations(obj: Any, argument: str) -> Explanations:
    """Explanations from a shap.Explanation or anything that from_array takes; a ValueError names the argument."""
    if isinstance(obj, Explanations):
        return obj
    from ._shap import from_shap, is_shap

    if is_shap(obj):
        return from_shap(obj, argument=argument)
    if isinstance(obj, (str, bytes)) or hasattr(obj, "__fspath__"):
        raise ValueError(f"{argument}: expected Explanations, found {obj!r}; Explanations.load reads files")
    if isinstance(obj, (list, tuple)) and any(isinstance(each, Explanations) for each in obj):
        raise ValueError(f"{argument}: expected one, found a list of {len(obj)}")
    if obj is None or isinstance(obj, (dict, set, int, float)) or callable(obj):
        raise ValueError(
            f"{argument}: expected Explanations, a shap.Explanation or an array of rows x features, found "
            f"{type(obj).__name__}"
        )
    return from_array(obj, argument=argument)


def are_numbers(names: Sequence[str]) -> bool:
    """Whether the names of targets are only numbers, because they were given by number."""
    return list(names) == [str(k) for k in range(len(names))]


def with_target_names(explanations: Explanations, names: Sequence[str]) -> Explanations:
    """If targets are numbers, replaces them by the model's names; else returns the explanations unchanged.
    A ValueError if the model has no such number."""
    index = explanations.target_index
    numbered = are_numbers(explanations.target_names)
    if index is None or not numbered or explanations.method or explanations.members is not None:
        return explanations
    if explanations.target_names == list(names):
        return explanations
    if len(index) and int(index.max()) >= len(names):
        raise ValueError(f"target: expected a number from 0 to {len(names) - 1}, found {int(index.max())}")
    old = explanations._core
    core = _core.Explanations.from_arrays(
        old.values,
        old.features,
        base=old.base,
        output=old.output,
        target=old.target,
        target_names=list(names),
        standard_error=old.standard_error,
        ids=old.ids,
        id_name=old.id_name,
        unit=explanations.unit,
        model=explanations.provenance["model"],
        data=explanations.provenance["data"],
        players=explanations.provenance["players"],
        notes=old.notes,
    )
    return Explanations._of(core, explanations.data, explanations.item_shape, explanations._row_names)


def from_array(
    values: Any,
    *,
    features: Sequence[Any] | None = None,
    base: Any = None,
    output: Any = None,
    target: Any = None,
    target_names: Sequence[Any] | None = None,
    standard_error: Any = None,
    ids: Sequence[Any] | None = None,
    id_name: str = "",
    data: Any = None,
    method: str = "",
    unit: str = "",
    model: str = "",
    notes: Sequence[str] = (),
    argument: str = "values",
) -> Explanations:
    """Explanations.from_array. argument: the name of the argument for messages."""
    for name, word in (("method", method), ("unit", unit), ("model", model)):
        text_of(name, word)
    if isinstance(notes, str) or not isinstance(notes, Iterable):
        raise ValueError(f"notes: expected a list of texts, found {notes!r}")
    if unit not in _UNITS:
        raise ValueError(f"unit: expected {', '.join(_UNITS[1:])} or nothing, found {in_quotes(unit)}")
    if isinstance(values, tuple) and len(values) and all(np.ndim(each) > 1 for each in values):
        values = _single(values, argument)
    columns = getattr(values, "column_names", None) or getattr(values, "columns", None)
    if columns is not None and not callable(columns):
        features = list(columns) if features is None else features
        if ids is None:
            ids, id_name = _index_of(values)
        matrix = _numbers_of_table(values, argument)
        if ids is None and _is_of_ids(matrix):
            ids, id_name, features = matrix[:, 0].astype(np.int64).tolist(), str(features[0]), features[1:]
            matrix = matrix[:, 1:]
            notes = [
                *notes,
                f"column {in_quotes(id_name)} of whole numbers that all differ is taken for the names of rows, not for "
                "attributions",
            ]
    else:
        matrix = as_array(values, argument)
    if matrix.ndim < 2 or 0 in matrix.shape:
        hint = f"; {argument}.reshape(1, -1) is one row" if matrix.ndim == 1 and matrix.size else ""
        raise ValueError(
            f"{argument}: expected rows x features, at least one of each, found the shape {matrix.shape}{hint}"
        )
    rows, width = matrix.shape[0], int(np.prod(matrix.shape[1:]))
    names = [str(j) for j in range(width)] if features is None else _texts("features", features, width, "feature")
    if features is not None and len(set(names)) < width:
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"features: expected different names, found {in_quotes(twice)} twice")
    beside = {
        "base": base,
        "output": output,
        "target": target,
        "standard_error": standard_error,
        "ids": ids,
        "data": data,
    }
    for name, given in beside.items():
        refuse_reordered(name, index_of(given), argument, index_of(values))
    index, all_names = _targets(target, target_names, rows)
    core = _core.Explanations.from_arrays(
        to_float32(matrix, argument, names),
        names,
        base=None if base is None else _for_each_row("base", base, rows),
        output=None if output is None else _for_each_row("output", output, rows),
        target=index,
        target_names=all_names,
        standard_error=None if standard_error is None else _errors(standard_error, matrix.shape, names),
        ids=[] if ids is None else _texts("ids", ids, rows, "row"),
        id_name=id_name,
        method=method,
        unit=unit,
        model=model,
        notes=[text_of("notes", note) for note in notes],
    )
    return Explanations._of(
        core, None if data is None else _data(data, rows), matrix.shape[1:] if matrix.ndim > 2 else ()
    )


def _single(values: tuple[Any, ...], argument: str) -> Any:
    """Unpacks a tuple of one: Captum returns it for a single input."""
    if len(values) == 1:
        return values[0]
    raise ValueError(
        f"{argument}: expected one array of rows x features, found a tuple of {len(values)}; join those of several "
        "inputs to one array, a row for each item"
    )


def _is_of_ids(matrix: NDArray[Any]) -> bool:
    """Whether the first column of a table names the rows: whole numbers that all differ, beside fractions."""
    if matrix.shape[1] < 2 or len(matrix) < 3 or not np.isfinite(matrix[:, 0]).all():
        return False
    first, others = matrix[:, 0], matrix[:, 1:]
    fractions = np.isfinite(others) & (others != np.trunc(others))
    return bool((first == np.trunc(first)).all() and len(np.unique(first)) == len(first) and fractions.any())


def _numbers_of_table(table: Any, argument: str) -> NDArray[Any]:
    """The numbers of a table of pandas, polars or pyarrow. Errors name the column."""
    frame = hasattr(table, "iloc")
    names = list(getattr(table, "column_names", None) or table.columns)
    columns = []
    for j, name in enumerate(names):
        series = table.iloc[:, j] if frame else table.column(j) if hasattr(table, "column") else table[:, j]
        where = f"{argument}, column {in_quotes(name)}"
        column = (
            series.to_numpy(dtype=object, na_value=np.nan)
            if frame and _is_nullable(series)
            else as_array(series, where)
        )
        try:
            column = column.astype(np.float64) if column.dtype == object else column
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{where}: expected numbers, found {problem}") from None
        check_numeric(column, where)
        columns.append(column)
    return np.column_stack(columns) if columns else np.empty((len(table), 0))


def _is_nullable(series: Any) -> bool:
    """Whether pandas stores it with a mask: NumPy would get pandas.NA."""
    return not isinstance(series.dtype, np.dtype)


def _index_of(table: Any) -> tuple[list[Any] | None, str]:
    """The names of rows and the name of the index. The row numbers that pandas gives by default are not names."""
    index = getattr(table, "index", None)
    if index is None or callable(index) or is_counting(index):
        return None, ""
    return list(index), "" if index.name is None else str(index.name)


def _texts(argument: str, values: Any, count: int, what: str) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise ValueError(f"{argument}: expected {plural(count, 'name')}, one for each {what}, found one text")
    texts = [str(value) for value in values]
    if len(texts) != count:
        raise ValueError(f"{argument}: expected {plural(count, 'name')}, one for each {what}, found {len(texts):,}")
    for text in texts:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError(f"{argument}: expected text of whole characters, found {in_quotes(text)}")
    return texts


def _for_each_row(argument: str, values: Any, rows: int) -> NDArray[np.float64]:
    array = as_array(values, argument)
    check_numeric(array, argument)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape not in ((), (1,), (rows,)):
        raise ValueError(
            f"{argument}: expected one number, or {rows:,}, one for each row, found the shape {array.shape}"
        )
    numbers: NDArray[np.float64] = np.array(np.broadcast_to(array, (rows,)), dtype=np.float64)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(
            f"{argument}, row {row} (counted from 0): expected a finite number or NaN, found {numbers[row]}"
        )
    return numbers


def _errors(values: Any, shape: tuple[int, ...], names: Sequence[str]) -> NDArray[np.float32]:
    argument = "standard_error"
    array = as_array(values, argument)
    if array.shape not in (shape, (shape[0], len(names))):
        raise ValueError(f"{argument}: expected the shape of the values, {shape}, found {array.shape}")
    errors = to_float32(array, argument, names)
    if (errors < 0).any():
        row, column = divmod(int(np.argmax(errors < 0)), len(names))
        where = f"{argument}, row {row} (counted from 0), column {in_quotes(names[column])}"
        raise ValueError(f"{where}: expected 0 or more, or NaN, found {errors[row, column]}")
    return errors


def _data(values: Any, rows: int) -> NDArray[Any]:
    if hasattr(values, "iloc"):
        values = values.to_numpy()
    array = as_array(values, "data")
    if array.ndim < 2 or len(array) != rows:
        raise ValueError(
            f"data: expected {plural(rows, 'row')}, one for each of the values, found the shape {array.shape}"
        )
    return array.reshape(rows, -1)


def _targets(target: Any, names: Sequence[Any] | None, rows: int) -> tuple[NDArray[np.uint32] | None, list[str]]:
    """For each row the index of its target in the names, and the names."""
    known = None if names is None else _texts("target_names", names, len(names), "target")
    if target is None:
        if known is None or len(known) == 0:
            return None, []
        if len(known) > 1:
            raise ValueError(f"target: expected which of {len(known):,} target_names each row has, found none")
        target = 0
    array = as_array([target] if isinstance(target, str) else target, "target")
    if array.ndim > 1 or array.size not in (1, rows):
        raise ValueError(f"target: expected one, or {rows:,}, one for each row, found the shape {array.shape}")
    each = list(np.broadcast_to(array.reshape(-1), (rows,)))
    if all(isinstance(value, str) for value in each):
        known = [text_of("target", name) for name in dict.fromkeys(map(str, each))] if known is None else known
        places = {name: k for k, name in reversed(list(enumerate(known)))}
        for row, value in enumerate(each):
            if value not in places:
                expected = ", ".join(in_quotes(name) for name in known[:8]) + (", ..." if len(known) > 8 else "")
                raise ValueError(
                    f"target, row {row} (counted from 0): expected one of {expected}, found {in_quotes(value)}"
                )
        return np.array([places[value] for value in each], dtype=np.uint32), known
    if array.dtype.kind not in "iu":
        raise ValueError(f"target: expected names or whole numbers, found dtype {array.dtype}")
    most = _MOST_TARGETS if known is None else len(known)
    for row, value in enumerate(each):
        if not 0 <= value < most:
            raise ValueError(
                f"target, row {row} (counted from 0): expected a number from 0 to {most - 1}, found {value}"
            )
    known = [str(k) for k in range(int(max(each)) + 1)] if known is None else known
    return np.array(each, dtype=np.uint32), known
