"""The plot of mean |attribution|: bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _plot_frame as frames
from . import _plot_rows as of
from ._text import plural

if TYPE_CHECKING:
    from ._explanations import Explanations


def _mean_and_error(sizes: NDArray[Any]) -> tuple[float, float]:
    """Mean and standard error over rows; no error for a single row."""
    sizes = sizes.astype(np.float64)
    return float(sizes.mean()), float(sizes.std(ddof=1) / np.sqrt(len(sizes))) if len(sizes) > 1 else np.nan


def bar(explanations: Explanations, most: int, target: str | int | None) -> Any:
    go = frames.graph_objects()
    most = frames.count_of("most", most)
    groups = of.rows_by_target(explanations, target)
    all_targets = len(groups)
    # Only as many targets as there are colours: those with the most rows, in their order.
    kept = sorted(groups, key=lambda name: -len(groups[name]))[: len(frames.SERIES)]
    groups = {name: rows for name, rows in groups.items() if name in kept}
    sizes = {name: np.abs(of.values_of(explanations, rows)) for name, rows in groups.items()}
    # Each target counts the same, however many rows have it.
    overall = np.mean([each.mean(axis=0, dtype=np.float64) for each in sizes.values()], axis=0)
    order = np.argsort(-overall, kind="stable")
    shown, others = order[:most], order[most:]
    features = explanations.features
    names = [features[place] for place in shown]
    if len(others):
        names.append(plural(len(others), "other"))

    figure = go.Figure()
    for (name, size), colour in zip(sizes.items(), frames.SERIES, strict=False):
        figures = [_mean_and_error(size[:, place]) for place in shown]
        if len(others):
            figures.append(_mean_and_error(size[:, others].sum(axis=1, dtype=np.float64)))
        about = plural(len(size), "row") + (f" of {frames.escaped(name, 40)}" if name else "")
        hover = [
            "<br>".join(
                [
                    frames.escaped(feature, 60),
                    f"mean |attribution| {frames.number(mean)}{frames.plus_minus(error)}",
                    about,
                ]
            )
            for feature, (mean, error) in zip(names, figures, strict=True)
        ]
        errors = [error for _, error in figures]
        figure.add_bar(
            orientation="h",
            x=[mean for mean, _ in figures],
            y=list(range(len(names))),
            name=frames.escaped(name, 30),
            marker={"color": colour, "opacity": [1.0] * len(shown) + [0.5] * bool(len(others))},
            error_x={"array": errors, "thickness": 1.5, "width": 3} if np.isfinite(errors).any() else None,
            hovertext=hover,
            hoverinfo="text",
        )
    notes = [
        of.model_said(explanations),
        "mean over rows ± its standard error" if any(len(rows) > 1 for rows in groups.values()) else "of one row",
        f"the {len(groups)} targets with the most rows of {all_targets}" if len(groups) < all_targets else "",
        of.left_out(explanations),
    ]
    several = len(groups) > 1
    return frames.frame(
        figure,
        of.headline(explanations, list(groups)),
        notes,
        height=max(60, (max(26, 6 + 11 * len(groups)) if several else 26) * len(names)),
        bottom=56 + (30 if several else 0),
        showlegend=several,
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        barmode="group",
        bargap=0.25,
        xaxis=frames.numbers_axis(of.attribution_axis(explanations, "mean |attribution|")),
        yaxis=frames.lines_axis([frames.escaped(name, frames.LONGEST_LABEL) for name in names]),
    )
