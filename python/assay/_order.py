"""Refuses what belongs to rows and names them in another order, so that positions would mix them up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._text import in_quotes


def index_of(given: Any) -> Any:
    """The names of the rows of a Series or a DataFrame; None for anything else."""
    index = getattr(given, "index", None)
    return None if index is None or callable(index) or not hasattr(index, "__len__") else index


def refuse_reordered(
    argument: str,
    index: Any,
    rows_argument: str,
    expected: Any,
    advice: str = "an array (.to_numpy()) is taken by position",
) -> None:
    """A ValueError if `index` has the rows' own names in another order. index: the names that the argument gives, None
    if it gives none. expected: the names of the rows, None if they have none. advice: the end of the message."""
    if index is None or expected is None or len(index) != len(expected) or _same_numbers(index, expected):
        return
    names, wanted = [str(each) for each in index], [str(each) for each in expected]
    if names == wanted or sorted(names) != sorted(wanted):
        return
    row = next(row for row in range(len(names)) if names[row] != wanted[row])
    raise ValueError(
        f"{argument}: expected {in_quotes(wanted[row])} as row {row + 1}, as in {rows_argument}, found "
        f"{in_quotes(names[row])}; {advice}"
    )


def _same_numbers(index: Any, expected: Any) -> bool:
    """Quick for the numbers that most tables have."""
    if not isinstance(expected, range) or getattr(getattr(index, "dtype", None), "kind", "") != "i":
        return False
    return bool(np.array_equal(np.asarray(index), np.arange(expected.start, expected.stop)))
