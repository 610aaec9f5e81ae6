"""Names for the classes of a model, said by the user or told by the labels, where the model only counts its classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from . import _core
from ._labels import text_codes
from ._models import Bound
from ._tables import Table
from ._text import in_quotes


def class_list(classes: Any) -> list[str] | None:
    """The names that a user gave, in a list or as a text joined by commas; None for none."""
    if classes is None:
        return None
    if isinstance(classes, str):
        return [each.strip() for each in classes.split(",")]
    if isinstance(classes, bytes) or not isinstance(classes, Iterable):
        raise ValueError(
            f"classes: expected names in a list, or in a text joined by commas, found {in_quotes(classes)}"
        )
    return [str(each) for each in classes]


def renamed(bound: Bound, names: list[str]) -> Bound:
    """The same model with these names of classes; a ValueError if they do not fit it."""
    margins = None if bound.margins is None else bound.margins.with_class_names(names)
    return replace(bound, model=bound.model.with_class_names(names), margins=margins)


def agreed(bound: Bound, rows: Iterable[tuple[_core.Dataset, Any, Any]], run: _core.Run) -> tuple[Bound, str]:
    """The model with the names that its labels have, if it only counts its classes; a sentence on that, or "".

    rows: encoded rows, the table they are from, and their labels where they were given apart.
    """
    parts: list[tuple[_core.Dataset, list[str], list[float]]] = []
    column = "y"
    for data, table, given in rows:
        labels = given if given is not None else table.labels if isinstance(table, Table) else None
        if labels is None:
            continue
        found = text_codes(labels)
        if found is None or len(found[1]) != data.rows:
            return bound, ""
        if given is None and isinstance(table, Table) and table.label is not None:
            column = table.label
        parts.append((data, found[0], np.asarray(found[1], np.float32).tolist()))
    if not parts or not bound.model.class_names:
        return bound, ""
    names, note = _core.agreed_class_names(bound.model, parts, column, run)
    return (renamed(bound, names) if names else bound), note
