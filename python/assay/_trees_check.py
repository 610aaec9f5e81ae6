"""Checks that a converted model gives the same outputs as its library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._text import plural

_OF_SPREAD = 1e-4
# Libraries that add float32 numbers round them.
_OF_SIZE = 1e-5
_LEAST = 1e-6


@dataclass(frozen=True)
class Agreement:
    """How far a model's outputs are from its library's; `float(agreement)` is the largest difference.

    row, output: where that is, counted from 0. ours, theirs: the two numbers there. rows: how many were compared.
    allowed: what rounding explains, by the spread of the library's numbers.
    """

    largest: float
    row: int
    output: int
    ours: float
    theirs: float
    rows: int
    allowed: float

    def __float__(self) -> float:
        return self.largest

    @property
    def holds(self) -> bool:
        """Whether rounding explains all differences."""
        return self.largest <= self.allowed

    def __str__(self) -> str:
        return (
            f"{plural(self.rows, 'row')}: the largest difference is {self.largest:.3g} in row {self.row} (counted from "
            f"0), {self.ours:.9g} here and {self.theirs:.9g} there"
        )


def agreement(ours: NDArray[Any], theirs: NDArray[Any]) -> Agreement:
    """Compares two matrices of the same shape. NaN in both is no difference; NaN in one is an infinite difference."""
    mine, its = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    # Infinities of the same sign are equal, but their difference is NaN.
    with np.errstate(invalid="ignore"):
        apart = np.where((mine == its) | (np.isnan(mine) & np.isnan(its)), 0.0, np.abs(mine - its))
    apart = np.where(np.isnan(apart), np.inf, apart)
    finite = its[np.isfinite(its)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    size = float(np.abs(finite).max()) if finite.size else 0.0
    row, output = np.unravel_index(int(np.argmax(apart)), apart.shape) if apart.size else (0, 0)
    return Agreement(
        largest=float(apart[row, output]) if apart.size else 0.0,
        row=int(row),
        output=int(output),
        ours=float(mine[row, output]) if apart.size else float("nan"),
        theirs=float(its[row, output]) if apart.size else float("nan"),
        rows=len(mine),
        allowed=_OF_SPREAD * spread + _OF_SIZE * size + _LEAST,
    )


def matched(scores: Any, rows: int, outputs: int, classes: int) -> NDArray[np.float64]:
    """Scores of a library as rows x outputs; a ValueError where they cannot be. Probabilities of both of two classes
    are those of the second one."""
    try:
        found = np.asarray(scores, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores: expected numbers, found {type(scores).__name__}") from error
    if found.ndim == 1:
        found = found[:, np.newaxis]
    if found.ndim == 2 and found.shape[1] == 2 and outputs == 1 and classes == 2:
        found = found[:, 1:]
    if found.shape != (rows, outputs):
        raise ValueError(f"scores: expected {rows:,} x {plural(outputs, 'number')}, found shape {np.shape(scores)}")
    return found
