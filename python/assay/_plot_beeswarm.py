"""The plot of all rows' attributions: beeswarm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _plot_frame as frames
from . import _plot_rows as of
from ._text import plural

if TYPE_CHECKING:
    from ._explanations import Explanations

# Viridis without its ends, which are hard to see on dark or light backgrounds.
_VALUES = ["#443983", "#31688e", "#21918c", "#35b779", "#90d743"]
_MOST_DRAWN_AS_SVG = 6000  # points; above, browsers need WebGL to stay quick
_BINS = 80
_LARGEST_STEP = 0.06  # between points of one bin, as a share of the height of a line


def quantiles(column: NDArray[Any]) -> NDArray[np.float32]:
    """The rank of each cell in its column, 0 to 1; ties share their mean rank. NaN if missing or all equal."""
    places = np.full(len(column), np.nan, dtype=np.float32)
    known = np.isfinite(column)
    distinct, which, counts = np.unique(column[known], return_inverse=True, return_counts=True)
    if len(distinct) > 1:
        ranks = np.cumsum(counts) - (counts + 1) / 2
        places[known] = ranks[which] / (known.sum() - 1)
    return places


def spread(x: NDArray[Any], low: float, high: float, generator: np.random.Generator) -> NDArray[np.float32]:
    """The height of each point in its line, -0.4 to 0.4. Points in a bin of [low, high] are stacked in random order."""
    scaled = (x - low) / (high - low) * _BINS if high > low else np.zeros(len(x))
    bins = np.clip(scaled.astype(np.intp), 0, _BINS - 1)
    shuffled = generator.permutation(len(x))
    order = shuffled[np.argsort(bins[shuffled], kind="stable")]
    counts = np.bincount(bins, minlength=_BINS)
    before = np.cumsum(counts) - counts
    of_bin = bins[order]
    heights = np.empty(len(x), dtype=np.float32)
    heights[order] = np.arange(len(x)) - before[of_bin] - (counts[of_bin] - 1) / 2
    return heights * np.float32(min(_LARGEST_STEP, 0.8 / max(1, counts.max())))


class _Points(NamedTuple):
    """Points of one line that look alike."""

    which: NDArray[np.bool_]
    cell: str  # shown when the pointer is on it
    marker: dict[str, Any]


def _of_one_look(cells: NDArray[Any] | None, ranks: NDArray[np.float32] | None, rows: int) -> Iterator[_Points]:
    """Groups of points by look: missing cells apart; cells without ranks (texts, a column of one value) in grey."""
    everywhere = np.ones(rows, dtype=bool)
    if cells is None:
        yield _Points(everywhere, "", {"color": frames.SERIES[0], "opacity": 0.6})
        return
    if ranks is None:
        yield _Points(everywhere, " = %{customdata}", {"color": frames.NEUTRAL, "opacity": 0.6})
        return
    missing, ranked = ~np.isfinite(cells), np.isfinite(ranks)
    known = " = %{customdata:.5~g}"
    yield _Points(missing, " missing", {"color": frames.NEUTRAL, "symbol": "circle-open"})
    yield _Points(ranked, known, {"color": ranks[ranked], "coloraxis": "coloraxis"})
    yield _Points(~missing & ~ranked, known, {"color": frames.NEUTRAL, "opacity": 0.6})


def beeswarm(explanations: Explanations, most: int, rows: int, target: str | int | None, seed: int) -> Any:
    go = frames.graph_objects()
    most, rows = frames.count_of("most", most), frames.count_of("rows", rows)
    groups = of.rows_by_target(explanations, target)
    all_rows = np.sort(np.concatenate(list(groups.values())))
    generator = np.random.default_rng(seed)
    sampled = len(all_rows) > rows
    drawn = np.sort(generator.choice(all_rows, rows, replace=False)) if sampled else all_rows
    sizes = np.abs(of.values_of(explanations, all_rows)).mean(axis=0, dtype=np.float64)
    shown = np.argsort(-sizes, kind="stable")[:most].tolist()
    features = explanations.features
    values = of.values_of(explanations, drawn)[:, shown]
    data = of.cells(explanations)

    several = len(groups) > 1
    targets = of.targets_of(explanations)
    texts = np.array(
        [
            frames.escaped(name, 24) + (f", {frames.escaped(target_name, 20)}" if several else "")
            for name, target_name in zip(of.row_names(explanations, drawn.tolist()), targets[drawn], strict=True)
        ],
        dtype=object,
    )
    draw = go.Scattergl if values.size > _MOST_DRAWN_AS_SVG else go.Scatter
    figure = go.Figure()
    any_missing = False
    for line, place in enumerate(shown):
        x = values[:, line]
        y = line + spread(x, float(values.min()), float(values.max()), generator)
        cells = ranks = None
        if data is not None:
            numbers = of.numbers_in(data[all_rows, place])
            at = np.searchsorted(all_rows, drawn)
            if numbers is None:
                cells = np.array([frames.escaped(cell, 20) for cell in data[drawn, place]], dtype=object)
            else:
                cells, ranks = numbers[at], quantiles(numbers)[at]
                any_missing = any_missing or not np.isfinite(cells).all()
        name = frames.escaped(features[place], 60)
        for which, cell, marker in _of_one_look(cells, ranks, len(drawn)):
            if not which.any():
                continue
            figure.add_trace(
                draw(
                    mode="markers",
                    x=x[which],
                    y=y[which],
                    text=texts[which].tolist(),
                    customdata=None if cells is None else cells[which],
                    hovertemplate=f"{name}{cell}<br>attribution %{{x:.4~g}}<br>%{{text}}<extra></extra>",
                    marker={"size": 6 if len(drawn) <= 500 else 5, **marker},
                    showlegend=False,
                )
            )

    coloured = any(trace.marker.coloraxis for trace in figure.data)
    notes = [
        of.model_said(explanations),
        f"a random sample of {rows:,} of {len(all_rows):,} rows" if sampled else plural(len(drawn), "row"),
        f"the {len(shown)} largest of {len(features):,} features" if len(shown) < len(features) else "",
        "targets differ between rows" if several else "",
        "open circles: missing cells" if any_missing else "",
        of.left_out(explanations),
    ]
    return frames.frame(
        figure,
        of.headline(explanations, list(groups)),
        notes,
        height=max(120, 40 * len(shown)),
        bottom=112 if coloured else 56,
        hovermode="closest",
        coloraxis={
            "colorscale": _VALUES,
            "cmin": 0,
            "cmax": 1,
            "showscale": coloured,
            "colorbar": frames.colour_bar("feature's value, by rank", tickvals=[0, 1], ticktext=["low", "high"]),
        },
        xaxis=frames.numbers_axis(of.attribution_axis(explanations)),
        yaxis=frames.lines_axis([frames.escaped(features[p], frames.LONGEST_LABEL) for p in shown]),
    )
