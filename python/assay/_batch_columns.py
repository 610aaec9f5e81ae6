"""Explanations and scores as columns of a batch's results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._explanations import Explanations
from ._scores import Evaluation


@dataclass(frozen=True)
class Column:
    """One value for each row."""

    name: str
    kind: str  # by Arrow's name: float32, float64 or string
    values: NDArray[Any]


@dataclass(frozen=True)
class Found:
    """The columns of one method, aggregator or criterion. argument: of `job`, that names it; spec: with its options."""

    argument: str
    spec: str
    columns: list[Column]


def columns_of(explanations: Explanations, prefix: str) -> list[Column]:
    """The explained value, its value at the reference, the attributions, and their errors where there are such.

    Names have no blanks or brackets, which some engines refuse."""
    made = [
        Column(prefix + "output", "float64", explanations.output),
        Column(prefix + "base", "float64", explanations.base),
    ]
    if explanations.target is not None and len(explanations.target_names) > 1:
        made.append(Column(prefix + "target", "string", explanations.target))
    parts = [("", explanations.values), ("_stderr", explanations.standard_error)]
    parts.append(("_background_stderr", explanations.background_error))
    for ending, values in parts:
        if values is None:
            continue
        for j, feature in enumerate(explanations.features):
            made.append(Column(f"{prefix}{feature}{ending}", "float32", np.ascontiguousarray(values[:, j])))
    return made


def columns_of_scores(evaluation: Evaluation, criteria: Sequence[str], prefix: str) -> list[Found]:
    """A column for each criterion."""
    made = []
    for name, spec in zip(evaluation, criteria, strict=True):
        scores = evaluation[name]
        if not scores.of_rows:
            raise ValueError(
                f"criteria: expected criteria that score each row, found {name}, which scores all rows together"
            )
        made.append(Found("criteria", spec, [Column(prefix + scores.criterion, "float64", scores.values)]))
    return made
