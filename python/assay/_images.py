"""Numbers that float32 cannot hold, each with a float32 of its own, so that the way back finds the very same number.

The distinct originals of a column, in order, get strictly increasing float32 images of the same sign: the nearest one,
or, where originals are closer together than float32 numbers, one a few steps beside it. Numbers that were never seen
are narrowed and widened as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = 0x7F7FFFFF  # the rank of float32's largest number among the positive ones
_EXACT_WHOLE = 2**24
_MOST_SLOT_BITS = 22


def integer_from(rows: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The nearest whole numbers that the dtype can hold; what is missing becomes 0."""
    limits = np.iinfo(dtype)
    # The largest 64-bit numbers round up to one beyond the range; the double below is within.
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
    """The mean of these numbers in their dtype, rounded where that is whole; nothing where there are none."""
    if numbers.size == 0:
        return numbers
    if numbers.dtype.kind in "iu":
        # Sums of long numbers are beyond any dtype.
        return np.array([round(Fraction(sum(numbers.tolist()), numbers.size))], numbers.dtype)
    return np.array([numbers.mean(dtype=np.float64)], numbers.dtype)


class NumberImages:
    """The float32 images of one column's numbers, all of one dtype, none missing and none infinite."""

    def __init__(self, pieces: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._originals: NDArray[Any] | None = None
        pieces = [piece.astype(dtype, copy=False) for piece in pieces]
        if all(is_exact(piece) for piece in pieces):
            return
        every = np.concatenate(pieces)
        self._originals = np.unique(every)
        self._images = strictly_increasing(self._originals)
        # 0.0 and -0.0 are one number with one image, whose sign tells them apart.
        self._signed_zero = dtype.kind == "f" and bool(np.any((every == 0) & np.signbit(every)))
        # Most cells are found by one look into a table of slots; where two images share one, the search finds them.
        bits = min(max(8, (2 * len(self._images) - 1).bit_length()), _MOST_SLOT_BITS)
        self._shift = np.uint32(32 - bits)
        self._slots = np.zeros(1 << bits, np.int32)
        self._slots[self._slot_of(self._images)] = np.arange(len(self._images), dtype=np.int32)

    def encode(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """The images of these numbers; of those never seen the nearest float32. NaN stays."""
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

    def decode(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """The originals of these images; what is no image is widened, or rounded where the dtype is whole."""
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
        # Multiplication by 2^32 over the golden ratio spreads the bits of the numbers over the slots.
        return (rows.view(np.uint32) * np.uint32(2654435769)) >> self._shift


def strictly_increasing(originals: NDArray[Any]) -> NDArray[np.float32]:
    """For numbers in increasing order, finite and within float32: float32 numbers in strictly increasing order.

    Each is the nearest one, moved by no more steps than crowding asks for; signs and zero are kept.
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
    """Ranks in increasing order made to differ, within float32's range, up and down alike."""
    step = np.arange(len(rank))
    room = np.clip(rank - step, 1, _LARGEST - len(rank) + 1)
    upwards = np.maximum.accumulate(room)
    downwards = np.minimum.accumulate(room[::-1])[::-1]
    return np.asarray((upwards + downwards) // 2 + step)
