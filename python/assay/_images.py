"""Maps numbers that float32 cannot hold to distinct float32 numbers (images), so that each can be mapped back exactly.

The distinct numbers of a column, in order, get strictly increasing float32 images of the same sign: the nearest one or,
if numbers are closer together than float32 numbers, one a few steps away. Numbers that were not learnt are converted
as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = 0x7F7FFFFF  # the rank of float32's largest number among the positive ones
_EXACT_WHOLE = 2**24
# Of the range of a column: images that are further off are told.
_CROWDED = 1e-3
_MOST_SLOT_BITS = 22


def integer_from(rows: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The nearest whole numbers that the dtype can hold; missing becomes 0."""
    limits = np.iinfo(dtype)
    # The largest 64-bit integers, as doubles, are one beyond the range. The next smaller double is within it.
    most = float(limits.max) if dtype.itemsize < 8 else np.nextafter(float(limits.max), 0)
    whole = np.rint(np.nan_to_num(rows.astype(np.float64), nan=0.0))
    return np.clip(whole, float(limits.min), most).astype(dtype)


def is_exact(values: NDArray[Any]) -> bool:
    """Whether float32 holds every one of these numbers."""
    if values.size == 0 or (values.dtype.kind == "f" and values.dtype.itemsize <= 4) or values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        return bool(values.min() >= -_EXACT_WHOLE and values.max() <= _EXACT_WHOLE)
    with np.errstate(over="ignore"):
        return bool(np.all((values.astype(np.float32) == values) | np.isnan(values)))


def mean_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """The mean of these numbers in their dtype, rounded if it is an integer dtype; nothing if there are none."""
    if numbers.size == 0:
        return numbers
    if numbers.dtype.kind in "iu":
        # The sum may overflow any dtype.
        return np.array([round(Fraction(sum(numbers.tolist()), numbers.size))], numbers.dtype)
    return np.array([numbers.mean(dtype=np.float64)], numbers.dtype)


def median_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """As mean_of, but the median."""
    if numbers.size == 0:
        return numbers
    # The mean of the two in the middle, or of the one: exact for whole numbers too.
    lower, upper = (numbers.size - 1) // 2, numbers.size // 2
    return mean_of(np.sort(numbers)[lower : upper + 1])


CENTRES: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {"mean": mean_of, "median": median_of}


@dataclass(frozen=True)
class PoolAt:
    """Which of several tables (or columns of tables) is the pool, and what is computed of its numbers."""

    table: int
    centre: Callable[[NDArray[Any]], NDArray[Any]]


class NumberImages:
    """The float32 images of one column's numbers, all of one dtype, none missing and none infinite.

    crowded: whether float32 has so few numbers there that distances between images are not those of the numbers.
    """

    def __init__(self, pieces: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._originals: NDArray[Any] | None = None
        self.crowded = False
        pieces = [piece.astype(dtype, copy=False) for piece in pieces]
        if all(is_exact(piece) for piece in pieces):
            return
        every = np.concatenate(pieces)
        self._originals = np.unique(every)
        self._images = strictly_increasing(self._originals)
        exact = self._originals.astype(np.float64)
        low, high = np.quantile(exact, [0.1, 0.9])  # a single number far away says nothing of the others
        self.crowded = bool(high > low and np.abs(self._images - exact).max() > _CROWDED * (high - low))
        # 0.0 and -0.0 count as one number; the sign of the image tells them apart.
        self._signed_zero = dtype.kind == "f" and bool(np.any((every == 0) & np.signbit(every)))
        # A hash table finds most images at once. If two share a slot, a search finds them.
        bits = min(max(8, (2 * len(self._images) - 1).bit_length()), _MOST_SLOT_BITS)
        self._shift = np.uint32(32 - bits)
        self._slots = np.zeros(1 << bits, np.int32)
        self._slots[self._slot_of(self._images)] = np.arange(len(self._images), dtype=np.int32)

    def encode(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """The images of these numbers; the nearest float32 for numbers that were not learnt. NaN stays."""
        narrow: NDArray[np.float32] = values.astype(np.float32)
        if self._originals is None:
            return narrow
        known = values.astype(self.dtype)
        position = np.minimum(np.searchsorted(self._originals, known), len(self._originals) - 1)
        found = self._originals[position] == known
        image = self._images[position]
        if self._signed_zero:
            image = np.where(known == 0, np.copysign(image, known), image)
        return np.where(found, image, narrow)

    def cells(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The numbers of these images as float64, for people; NaN stays."""
        out = np.full(len(rows), np.nan)
        known = ~np.isnan(rows)
        out[known] = self.decode(rows[known])
        return out

    def decode(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """The numbers of these images. Others are converted, and rounded if the dtype is an integer one."""
        rows = np.ascontiguousarray(rows, np.float32)
        if self._originals is None:
            return self._converted(rows)
        position = self._slots[self._slot_of(rows)]
        missed = np.flatnonzero(self._images[position] != rows)
        position[missed] = np.minimum(np.searchsorted(self._images, rows[missed]), len(self._images) - 1)
        out = self._originals[position]
        if self._signed_zero:
            out = np.where(out == 0, np.copysign(out, rows), out)
        unseen = missed[self._images[position[missed]] != rows[missed]]
        if len(unseen):
            out[unseen] = self._converted(rows[unseen])
        return out

    def _converted(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        if self.dtype.kind in "iu":
            return integer_from(rows, self.dtype)
        if self.dtype.kind == "b":
            return np.asarray(rows >= 0.5)
        with np.errstate(over="ignore"):
            return rows.astype(self.dtype)

    def _slot_of(self, rows: NDArray[np.float32]) -> NDArray[np.uint32]:
        # Multiplying by 2^32 / golden ratio spreads the numbers over the slots.
        return (rows.view(np.uint32) * np.uint32(2654435769)) >> self._shift


def strictly_increasing(originals: NDArray[Any]) -> NDArray[np.float32]:
    """For numbers in increasing order, finite and within float32: float32 numbers in strictly increasing order.

    Each is the nearest one, or as few steps away as needed to be distinct; signs and zero are kept.
    """
    nearest = originals.astype(np.float32)
    # The bits of a positive float32, read as a whole number, count the float32 numbers up to it.
    rank = np.abs(nearest).view(np.int32).astype(np.int64)
    negative, positive = originals < 0, originals > 0
    rank[positive] = _spread(rank[positive])
    rank[negative] = _spread(rank[negative][::-1])[::-1]
    images = rank.astype(np.int32).view(np.float32)
    images[negative] *= -1
    return images


def _spread(rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Makes increasing ranks distinct, moving them up and down alike, within float32's range."""
    step = np.arange(len(rank))
    room = np.clip(rank - step, 1, _LARGEST - len(rank) + 1)
    upwards = np.maximum.accumulate(room)
    downwards = np.minimum.accumulate(room[::-1])[::-1]
    return np.asarray((upwards + downwards) // 2 + step)
