"""Refuses what belongs to rows and names them in another order, so that positions would mix them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._text import in_quotes

# Every argument that goes with rows: each must be here, and is checked by RowNames.check.
OF_X = ("explanations", "members", "others", "y", "target", "ids", "cohort")
OF_POOL = ("pool_explanations", "pool_members", "pool_y")
_SEVERAL = ("members", "others", "pool_members", "cohort")


@dataclass(frozen=True, eq=False)
class RowNames:
    """The names of the rows of X and of the pool; None where they have none. What goes with rows is compared with them.

    of_x, of_pool: whose names they are, for messages."""

    x: Any = None
    pool: Any = None
    of_x: str = "X"
    of_pool: str = "pool"

    @classmethod
    def of(cls, X: Any, pool: Any) -> RowNames:
        """Of tables as users give them."""
        return cls(_names_of_table(X), _names_of_table(pool))

    def completed(self, **given: Any) -> RowNames:
        """With the names of the first of these that has some, where none are known yet."""
        made = self
        for argument, each in _one_by_one(given):
            names = names_of(each)
            if names is None:
                continue
            if made.x is None and argument.partition("[")[0] in OF_X:
                made = replace(made, x=names, of_x=argument)
            if made.pool is None and argument.partition("[")[0] in OF_POOL:
                made = replace(made, pool=names, of_pool=argument)
        return made

    def check(self, **given: Any) -> None:
        """A ValueError if one of these arguments has the names of its rows in another order."""
        for argument, each in _one_by_one(given):
            if argument.partition("[")[0] in OF_POOL:
                refuse_reordered(argument, names_of(each), self.of_pool, self.pool)
            else:
                refuse_reordered(argument, names_of(each), self.of_x, self.x)


def _one_by_one(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Each argument, and each part of a list or dict of explanations. A name that is not listed above is a bug."""
    made: list[tuple[str, Any]] = []
    for argument, each in given.items():
        if argument not in OF_X + OF_POOL:
            raise AssertionError(argument)
        if argument in _SEVERAL and isinstance(each, (Mapping, list, tuple)):
            parts = each.values() if isinstance(each, Mapping) else each
            made += [(f"{argument}[{place}]", part) for place, part in enumerate(parts)]
        else:
            made.append((argument, each))
    return made


def _names_of_table(table: Any) -> Any:
    core = getattr(table, "_core", None)
    if core is not None:  # an assay.Table
        return core.ids or None if getattr(core, "id_name", "") else None
    return index_of(table)


def names_of(given: Any) -> Any:
    """The names of the rows that something goes with: of Explanations their ids, unless they were given on purpose; of
    a Series or a DataFrame its index; None for anything else."""
    core = getattr(given, "_core", given)
    if hasattr(core, "id_name"):
        return core.ids or None if core.id_name in ("", "index") else None
    return index_of(given)


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
