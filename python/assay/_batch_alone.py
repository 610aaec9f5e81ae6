"""Whether what is found for a row depends on the other rows of its batch: a job of such things is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._batch_columns import Found
from ._tables import row_count, select_rows

# So many rows are tried together and each alone.
MOST_TRIED = 8


def rows_to_try(tables: Sequence[Any]) -> Any:
    """Some rows of the first of these tables that has two or more; None if there is no such table."""
    for table in tables:
        if table is not None and not isinstance(table, str) and row_count(table) >= 2:
            count = row_count(table)
            return select_rows(table, sorted({int(i) for i in np.linspace(0, count - 1, min(count, MOST_TRIED))}))
    return None


def check_alone(find: Callable[[Any], list[Found]], rows: Any) -> None:
    """A ValueError that names what finds other values when rows come one at a time.

    It is tried, not looked up: whether a thing looks at other rows depends on its options."""
    together = find(rows)
    alone = [find(select_rows(rows, [i])) for i in range(row_count(rows))]
    for place, found in enumerate(together):
        for j, column in enumerate(found.columns):
            cells = np.concatenate([each[place].columns[j].values for each in alone])
            if _bits(column.values) != _bits(cells):
                raise ValueError(
                    f"{found.argument}: expected what can be told from one row alone, found {found.spec}, which looks "
                    f"at the other rows of a batch, so that results would depend on how rows are parted{_advice(found)}"
                )


def _advice(found: Found) -> str:
    """The options that say what would otherwise be taken from all rows."""
    name = found.spec.partition(":")[0]
    known: list[Any] = [*_core.criteria()] if found.argument == "criteria" else [*_core.aggregators()]
    defaults = next(
        ({option.name: option.default for option in each.options} for each in known if each.name == name), {}
    )
    by_row = ["per=row"] if defaults.get("per") == "all" else []
    if found.argument != "criteria" and not by_row:
        return ""
    helpful = by_row + (["a number for radius"] if defaults.get("radius") == "auto" else [])
    return f"; with {' and '.join(helpful)} it does not" if helpful else ""


def _bits(values: Any) -> Any:
    return list(values) if values.dtype.kind in "OUT" else np.ascontiguousarray(values).tobytes()
