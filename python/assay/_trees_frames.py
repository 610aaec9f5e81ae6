"""Converts tables between tree models and their libraries: categories to codes, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._frames import import_pandas, is_categorical
from ._trees_parts import TreeParts


def plain_frame(
    frame: Any,
    names: Sequence[str],
    features: Mapping[str, int],
    categories: Mapping[int, Sequence[str]],
    values: Mapping[int, Sequence[Any]],
) -> Any:
    """The frame with columns as the engine takes them: categories in the texts that the model knows, or codes where it
    knows codes alone. Other columns stay as they are."""
    pandas = import_pandas("a DataFrame")
    changed: dict[int, Any] = {}
    for position, name in enumerate(names):
        feature = features.get(name)
        series = frame.iloc[:, position]
        if feature is None:
            continue
        if categories.get(feature):
            changed[position] = _in_texts(pandas, series, categories[feature], values.get(feature, ()))
        elif feature in categories and is_categorical(series.dtype):
            changed[position] = np.where(series.cat.codes < 0, np.nan, series.cat.codes).astype(np.float32)
    if not changed:
        return frame
    frame = frame.copy(deep=False)
    for position, column in changed.items():
        frame.isetitem(position, column)
    return frame


def _in_texts(pandas: Any, series: Any, texts: Sequence[str], values: Sequence[Any]) -> Any:
    """A column of categories as the model's texts. Unknown ones keep their own text, for the engine to name."""
    known = dict(zip(values, texts, strict=True)) if len(values) == len(texts) else {}
    if is_categorical(series.dtype):
        codes, found = np.asarray(series.cat.codes), list(series.dtype.categories)
    else:
        codes, found = pandas.factorize(series)
    named = [known.get(each, _text(each)) for each in found]
    distinct = sorted(set(named))
    place = {text: code for code, text in enumerate(distinct)}
    image = np.array([*(place[text] for text in named), -1], np.intp)
    return pandas.Categorical.from_codes(image[codes], categories=distinct)


def _text(value: Any) -> str:
    # Whole numbers are categories without a point, as the engine writes them.
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def coded_array(argument: str, array: NDArray[Any], values: Mapping[int, Sequence[Any]]) -> NDArray[Any]:
    """An array with the codes of its categories in place of their values; a ValueError names what is unknown."""
    out = array.astype(np.float64)
    for feature, known in values.items():
        code = {value: float(place) for place, value in enumerate(known)}
        for row, cell in enumerate(array[:, feature].tolist()):
            if cell != cell:
                continue
            if cell not in code:
                raise ValueError(
                    f"{argument}, row {row} (counted from 0), column {feature}: expected a category that the model "
                    f"knows, found {cell:g}"
                )
            out[row, feature] = code[cell]
    return out


def decoded(rows: NDArray[np.float32], template: Any, texts: Mapping[int, Sequence[str]], parts: TreeParts) -> Any:
    """The engine's rows as the library takes them: in the form, names and dtypes of a table of it."""
    wide = np.asarray(rows, np.float64)
    if isinstance(template, np.ndarray):
        if parts.arrays_hold_values:
            for feature, known in parts.values.items():
                wide[:, feature] = _cells(wide[:, feature], list(known))
        return wide
    pandas = import_pandas("a model that was fitted on a DataFrame")
    columns = {}
    for position in range(template.shape[1]):
        dtype = template.dtypes.iloc[position]
        column = wide[:, position]
        if position in texts:
            known = list(parts.values.get(position, texts[position]))
            codes = np.where(np.isnan(column), -1, column).astype(np.intp)
            columns[position] = pandas.Categorical.from_codes(codes, categories=known)
        elif is_categorical(dtype):
            codes = np.where(np.isnan(column), -1, column).astype(np.intp)
            columns[position] = pandas.Categorical.from_codes(codes, dtype=dtype)
        else:
            columns[position] = column
    frame = pandas.DataFrame(columns, copy=False)
    frame.columns = template.columns
    return frame


def _cells(codes: NDArray[np.float64], known: list[Any]) -> NDArray[np.float64]:
    cells = np.array([*known, np.nan], np.float64)
    return cells[np.where(np.isnan(codes), len(known), codes).astype(np.intp)]
