"""A few calls of a wrapped model that show whether what it gives for a row depends on the row alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._codec import ArrayCodec, FrameCodec
from ._tables import row_count, select_rows
from ._text import plural

PROBE_ROWS = 16
# Rows of a table that the probe is chosen from: large tables are not encoded twice.
_CANDIDATES = 512
# After a call that took longer, in seconds, only one small call follows.
_SLOW = 1.0
_ROWS_IF_SLOW = 4

# By how much outputs may differ between calls: shares of their spread and of the largest one. BLAS and other kernels
# round differently for other numbers of rows. What reorders rows or scales them by each other is off by about the
# spread.
TOLERANCE = (1e-3, 1e-5)
# For numbers with three digits, as float16 and the fast products of a GPU have them.
COARSE_TOLERANCE = (0.0, 0.01)


def probe_rows(
    codec: FrameCodec | ArrayCodec, tables: Sequence[tuple[str, Any]], most: int = PROBE_ROWS
) -> NDArray[np.float32]:
    """Different rows of X, pool and background, encoded: some that are spread over the tables, which may be sorted, and
    those with the extreme cells of columns, categories first. They are shuffled, since a function may sort them. A
    copy, because models may work in place."""
    found = [tables[0], *(each for each in tables[1:] if each[0] in ("pool", "background"))]
    rows = [_candidates(codec, argument, table) for argument, table in found]
    if len(rows[0]) == 0:
        raise ValueError(f"{found[0][0]}: expected rows, found none")
    # The model may refuse missing cells, and never get those of a pool whose mean is taken.
    complete = np.isfinite(rows[0]).all(axis=0)
    rows = [part[np.isfinite(part[:, complete]).all(axis=1)] for part in rows]
    every = np.concatenate(rows)
    chosen: dict[bytes, int] = {}

    def take(places: Sequence[int]) -> None:
        for place in places:
            if len(chosen) < most:
                chosen.setdefault(every[place].tobytes(), place)

    begin = 0
    for part in rows:
        take(_spread(begin, len(part), most // 2 // len(rows)))
        begin += len(part)
    texts = [column for column, levels in enumerate(codec.kinds) if levels is not None]
    numbers = [column for column, levels in enumerate(codec.kinds) if levels is None]
    for column in (texts + numbers)[:most]:
        take(_extremes(every[:, column]))
    take(_spread(0, len(every), 4 * most))
    places = np.array(list(chosen.values()))
    return np.array(every[np.random.default_rng(0).permutation(places)])


def _candidates(codec: FrameCodec | ArrayCodec, argument: str, table: Any) -> NDArray[np.float32]:
    rows = 0 if isinstance(table, Mapping) else row_count(table)
    few = table if rows <= _CANDIDATES else select_rows(table, _spread(0, rows, _CANDIDATES))
    return codec.encode(argument, few)


def _spread(begin: int, rows: int, most: int) -> list[int]:
    return [begin + int(place) for place in np.linspace(0, rows - 1, min(most, rows))]


def _extremes(cells: NDArray[np.float32]) -> list[int]:
    known = np.flatnonzero(~np.isnan(cells))
    return [int(known[cells[known].argmin()]), int(known[cells[known].argmax()])] if len(known) else []


def check_rows_alone(
    name: str,
    predict: Callable[[NDArray[np.float32]], NDArray[Any]],
    rows: NDArray[np.float32],
    batch: int = PROBE_ROWS,
    tolerance: tuple[float, float] | None = None,
) -> NDArray[Any]:
    """The outputs of the rows, a copy. An UnsupportedError unless each row gets the same outputs in calls with other
    rows beside it and in another order. predict: may work in place; batch: the most rows of a call, the number of rows
    at least. Cost: each row twice; less for a slow function."""
    begin = time.perf_counter()
    outputs = np.array(predict(rows.copy()))
    slow = time.perf_counter() - begin > _SLOW
    backwards = np.arange(len(rows))[::-1]
    if slow:
        calls = [backwards[-_ROWS_IF_SLOW:]]
    elif len(rows) < 4:
        calls = [np.concatenate([backwards, backwards[:1]])[:batch]]
    else:
        calls = [backwards[: len(rows) // 2], backwards[len(rows) // 2 :]]
    for each in calls:
        again = np.asarray(predict(rows[each]))
        if again.shape[1] != outputs.shape[1]:
            expected = f"{len(each)} x {plural(outputs.shape[1], 'number')}"
            raise ValueError(f"outputs of {name}: expected an array of {expected}, found one of shape {again.shape}")
        if _alike(again, outputs[each], outputs, tolerance):
            continue
        if not _alike(np.asarray(predict(rows.copy())), outputs, outputs, tolerance):
            raise _core.UnsupportedError(
                f"model: {name} gives the same rows other outputs when it is called again, so that it depends on "
                "chance or on earlier calls; fix its seed, or return a mean of many draws"
            )
        raise _core.UnsupportedError(
            f"model: {name} gives a row other outputs when other rows are beside it or in another order, so that it "
            "cannot be explained row by row; return the outputs in the order of the rows, and take scales, ranks and "
            "means from training rows, not from those of a call"
        )
    return outputs


def _alike(
    again: NDArray[Any], expected: NDArray[Any], outputs: NDArray[Any], tolerance: tuple[float, float] | None
) -> bool:
    of_spread, of_largest = tolerance or (COARSE_TOLERANCE if outputs.dtype == np.float16 else TOLERANCE)
    wide, again, expected = (np.asarray(each, np.float64) for each in (outputs, again, expected))
    finite = np.isfinite(wide)
    high = np.where(finite, wide, -np.inf).max(axis=0)
    spread = np.maximum(high - np.where(finite, wide, np.inf).min(axis=0), 0)
    allowed = of_spread * spread + of_largest * np.abs(wide[finite]).max(initial=0)
    with np.errstate(invalid="ignore"):
        near = np.abs(again - expected) <= allowed
    return bool(np.all(near | (again == expected) | (np.isnan(again) & np.isnan(expected))))
