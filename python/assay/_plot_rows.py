"""What plots need of explanations: rows, their names, targets and cells, and texts about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._plot_frame import escaped, number, plain
from ._text import in_quotes, plural

if TYPE_CHECKING:
    from ._explanations import Explanations


def defined_rows(explanations: Explanations) -> NDArray[np.intp]:
    """Indices of the rows whose attributions are all defined; a ValueError if there are none."""
    defined = np.flatnonzero(np.isfinite(explanations.values).all(axis=1))
    if len(defined) == 0:
        found = plural(len(explanations), "row") + ", none of them defined" if len(explanations) else "no rows"
        raise ValueError(f"explanations: expected a row whose attributions are all defined, found {found}")
    return defined


def row_number(explanations: Explanations, row: int | str) -> int:
    """The row's number, from its number (negative: from the end) or its id."""
    rows, ids = len(explanations), explanations.ids
    if isinstance(row, str):
        places = [place for place, each in enumerate(ids or ()) if each == row]
        if not places:
            known = "an id of the explanations" if ids else "a number, for the explanations have no ids"
            raise ValueError(f"row: expected {known}, found {in_quotes(row)}")
        if len(places) > 1:
            raise ValueError(
                f"row: expected the id of one row, found that of {places[0]} and {places[1]}, {in_quotes(row)}"
            )
        return places[0]
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
        raise ValueError(f"row: expected the number or the id of a row, found {type(row).__name__}")
    if not -rows <= row < rows:
        raise IndexError(f"row: expected {-rows} to {rows - 1}, found {row}" if rows else f"row: no rows, found {row}")
    return int(row) % rows


def row_names(explanations: Explanations, rows: Iterable[int]) -> list[str]:
    """Their ids, or "row 3" and the like."""
    ids = explanations.ids
    return [f"row {row}" if ids is None else plain(ids[row], 40) for row in rows]


def row_said(explanations: Explanations, row: int) -> str:
    """The text that says which row a plot shows."""
    (name,) = row_names(explanations, [row])
    return name if explanations.ids is None else f"{name} (row {row})"


def cells(explanations: Explanations) -> NDArray[Any] | None:
    """The explained rows, one column for each attribution; None where there are none or columns were grouped."""
    data = explanations.data
    if data is None or len(data) == 0 or len(data) != len(explanations):
        return None
    flat = data.reshape(len(data), -1)
    return flat if flat.shape == explanations.values.shape else None


def numbers_in(column: NDArray[Any]) -> NDArray[Any] | None:
    """The cells as numbers; None if they are texts."""
    if np.issubdtype(column.dtype, np.number):
        return column
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return None


def cell_said(column: NDArray[Any], row: int) -> str:
    """A cell as text for people."""
    numbers = numbers_in(column[row : row + 1])
    if numbers is None:
        return escaped(column[row], 12)
    return number(float(numbers[0])) if np.isfinite(numbers[0]) else "missing"


def unit_name(explanations: Explanations) -> str:
    return plain(explanations.unit, 30).replace("log_odds", "log-odds") or "output"


def attribution_axis(explanations: Explanations, of: str = "attribution") -> str:
    """The title of the attribution axis with its unit. Aggregates of members scaled to unit norm have no unit."""
    core = getattr(explanations, "_core", None)
    combination = getattr(core, "combination", None)
    relative = bool(combination and combination.get("relative"))
    return f"{of} (relative, without unit)" if relative else f"{of} ({escaped(unit_name(explanations))})"


def targets_of(explanations: Explanations) -> NDArray[np.object_]:
    """For each row its target's name, empty where it is not known."""
    names = explanations.target
    return np.full(len(explanations), "", dtype=object) if names is None else np.asarray(names, dtype=object)


def headline(explanations: Explanations, targets: Sequence[str]) -> str:
    """Method and what it explains."""
    method = plain(explanations.method, 40) or "attributions"
    if len(targets) == 1:
        of = f" of {plain(targets[0], 40)}" if targets[0] and targets[0] != explanations.unit else ""
    else:
        said = plain(explanations.provenance.get("target") or "", 40)
        of = f" of {said}" if said else f" of {len(targets)} targets"
    return f"{method}: {unit_name(explanations)}{of}"


def model_said(explanations: Explanations) -> str:
    model = plain(explanations.provenance.get("model") or "", 40)
    return f"model {model}" if model else ""


def rows_by_target(explanations: Explanations, target: str | int | None) -> dict[str, NDArray[np.intp]]:
    """For each target with defined rows, these rows; in the order of the explanations' targets."""
    defined = defined_rows(explanations)
    names = targets_of(explanations)[defined]
    present = set(names.tolist())
    order = [name for name in dict.fromkeys([*explanations.target_names, *names.tolist()]) if name in present]
    if target is not None:
        if str(target) not in present:
            known = ", ".join(in_quotes(name) for name in order[:8]) + (", ..." if len(order) > 8 else "")
            raise ValueError(f"target: expected one that rows have, {known}, found {in_quotes(target)}")
        order = [str(target)]
    if len(present) == 1:
        return {order[0]: defined}
    return {name: defined[names == name] for name in order}


def values_of(explanations: Explanations, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """The values of these rows, without a copy if they are all rows."""
    return explanations.values if len(rows) == len(explanations) else explanations.values[rows]


def left_out(explanations: Explanations) -> str:
    undefined = len(explanations) - len(defined_rows(explanations))
    return f"{plural(undefined, 'undefined row')} left out" if undefined else ""
