"""Groups of rows that a study compares: the columns that users name, as the engine takes them."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_array
from ._frames import whole_texts
from ._labels import one_column, where_missing
from ._order import RowNames
from ._tables import Table, column_names, core_table, kind_of
from ._text import in_quotes, joined, plural

WORDS = ("prediction", "label")

Column = tuple[str, list[float], list[str] | None]


@dataclass(frozen=True)
class Cohorts:
    """words: of WORDS. columns: name, then numbers and None, or indices of levels and the levels; NaN: missing."""

    named: bool
    words: list[str]
    columns: list[Column]

    def setting(self) -> list[str]:
        """What decides the results, on one line; nothing where the default is used."""
        if not self.named:
            return []
        hashed = [
            [name, hashlib.sha256(repr((cells, levels)).encode()).hexdigest()] for name, cells, levels in self.columns
        ]
        return [f"cohort={json.dumps([*self.words, *hashed])}"]


def cohorts_of(said: Any, X: Any, features: Sequence[str]) -> Cohorts:
    """said: None, the name of a column or a word, several of them, or a mapping from names to one value for each row.

    features: the names of the columns of X where it is an array."""
    if said is None:
        return Cohorts(False, [], [])
    rows = len(X) if not hasattr(X, "num_rows") else int(X.num_rows)
    if isinstance(said, Mapping):
        RowNames.of(X, None).check(cohort=said)
        columns = [_engine_column(_name(name), values, rows) for name, values in said.items()]
        if not columns:
            raise ValueError("cohort: expected at least one name, or None for the default, found none")
        return Cohorts(True, [], columns)
    names = [said] if isinstance(said, str) else said
    if not isinstance(names, (list, tuple)) or not names:
        raise ValueError(
            "cohort: expected the name of a column, a list of names or a dict of names and values, "
            f"found {'an empty list' if isinstance(names, (list, tuple)) else type(said).__name__}"
        )
    names = list(dict.fromkeys(_name(name) for name in names))
    known = column_names(X)
    if known is None:
        known = list(features) if as_array(X, "X").ndim == 2 else []
    words = [name for name in names if name not in known and name in WORDS]
    for name in names:
        if name not in known and name not in WORDS:
            near = difflib.get_close_matches(name, [*known, *WORDS], 1)
            hint = f" (did you mean {in_quotes(near[0])}?)" if near else ""
            listed = [in_quotes(each) for each in known[:40]] + ([f"{len(known) - 40} more"] if len(known) > 40 else [])
            raise ValueError(
                f"cohort: expected a column of X{f' ({joined(listed)})' if listed else ''}, 'prediction' or 'label', "
                f"found {in_quotes(name)}{hint}"
            )
    return Cohorts(True, words, [_engine_column(name, _cells(X, known, name), rows) for name in names if name in known])


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"cohort: expected names of columns, found {name!r}")
    return whole_texts("cohort", [name])[0]


def _cells(X: Any, names: list[str], name: str) -> Any:
    kind = kind_of(X)
    if kind == "frame":
        return X.iloc[:, names.index(name)]
    if kind in ("table", "arrow"):
        table = X if kind == "table" else Table(core_table(X, "X", used=[name]))
        cells = table[name]
        if name in table._core.truth:
            return np.array([None if np.isnan(cell) else bool(cell) for cell in cells], object)
        return cells
    return as_array(X, "X")[:, names.index(name)]


def _engine_column(name: str, values: Any, rows: int) -> Column:
    where = f"cohort {in_quotes(name)}"
    cells = one_column(values, where)
    if len(cells) != rows:
        raise ValueError(f"{where}: expected one value for each of {plural(rows, 'row')}, found {len(cells)}")
    missing = where_missing(cells)
    numbers = _numbers(cells, missing)
    if numbers is not None:
        return name, numbers.tolist(), None
    texts = [str(cell) for cell in cells[~missing]]
    levels = whole_texts(where, sorted(set(texts), key=lambda text: text.encode()))
    places = {text: place for place, text in enumerate(levels)}
    codes = np.full(rows, np.nan)
    codes[~missing] = [places[text] for text in texts]
    return name, codes.tolist(), levels


def _numbers(cells: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The cells as numbers; None where they are texts or truths, which are levels."""
    if cells.dtype.kind == "b":
        return None
    if cells.dtype.kind == "O":
        plain = (int, float, np.integer, np.floating)
        if not all(isinstance(cell, plain) and not isinstance(cell, (bool, np.bool_)) for cell in cells[~missing]):
            return None
    out = np.full(len(cells), np.nan)
    out[~missing] = cells[~missing].astype(np.float64)
    return out
