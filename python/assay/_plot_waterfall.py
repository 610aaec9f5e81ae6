"""The plot of one row's attributions: waterfall."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _plot_frame as frames
from . import _plot_rows as of
from ._text import in_quotes, plural

if TYPE_CHECKING:
    from ._explanations import Explanations

# A gap below this share of the summed sizes of all bars is float32 rounding.
_NO_GAP = 1e-4


class _Step(NamedTuple):
    label: str
    name: str
    value: float
    error: float
    colour: str


def _colour(value: float) -> str:
    return frames.POSITIVE if value >= 0 else frames.NEGATIVE


def _steps(explanations: Explanations, row: int, most: int) -> list[_Step]:
    """The features' bars, the largest first, then the sum of the others."""
    values = explanations.values[row].astype(np.float64)
    errors = None if explanations.standard_error is None else explanations.standard_error[row]
    data, features = of.cells(explanations), explanations.features
    order = np.argsort(-np.abs(values), kind="stable")
    steps = []
    for place in order[:most].tolist():
        feature = features[place]
        label, name = frames.escaped(feature, frames.LONGEST_LABEL), frames.escaped(feature, 60)
        if data is not None:
            said = f" = {of.cell_said(data[:, place], row)}"
            label, name = frames.escaped(feature, max(8, frames.LONGEST_LABEL - len(said))) + said, name + said
        error = np.nan if errors is None else float(errors[place])
        steps.append(_Step(label, name, float(values[place]), error, _colour(values[place])))
    others = order[most:]
    if len(others):
        # Errors of features are not independent, so the error of their sum is not known.
        total, name = float(values[others].sum()), plural(len(others), "other feature")
        steps.append(_Step(name, name, total, np.nan, _colour(total)))
    return steps


def _refuse_undefined(explanations: Explanations, row: int) -> None:
    undefined = np.flatnonzero(~np.isfinite(explanations.values[row]))
    if len(undefined):
        others = f" and {plural(len(undefined) - 1, 'other feature')}" if len(undefined) > 1 else ""
        first = in_quotes(explanations.features[undefined[0]])
        raise ValueError(f"row {row}: expected attributions that are all defined, found NaN for {first}{others}")


def _gap(values: NDArray[np.float32], base: float, output: float) -> float:
    """What the attributions leave unexplained; 0 where it is rounding."""
    gap = output - base - float(values.sum(dtype=np.float64))
    moved = float(np.abs(values).sum(dtype=np.float64)) + abs(output - base)
    return gap if abs(gap) > _NO_GAP * moved else 0.0


def _add_bars(figure: Any, steps: list[_Step], places: list[int], starts: list[float], *, whiskers: bool) -> None:
    errors = [steps[place].error for place in places]
    figure.add_bar(
        orientation="h",
        base=[starts[place] for place in places],
        x=[steps[place].value for place in places],
        y=[place + 1 for place in places],
        width=0.7,
        marker={"color": [steps[place].colour for place in places]},
        error_x={"array": errors, "thickness": 1.5, "width": 4} if whiskers else None,
        hovertext=[
            f"{steps[place].name}<br>{frames.signed(steps[place].value)}{frames.plus_minus(steps[place].error)}"
            for place in places
        ],
        hoverinfo="text",
        showlegend=False,
    )


def waterfall(explanations: Explanations, row: int | str, most: int) -> Any:
    go = frames.graph_objects()
    most = frames.count_of("most", most)
    place = of.row_number(explanations, row)
    _refuse_undefined(explanations, place)
    base, output = float(explanations.base[place]), float(explanations.output[place])
    has_base, has_output = not math.isnan(base), not math.isnan(output)
    steps = _steps(explanations, place, most)
    notes = [of.model_said(explanations), of.row_said(explanations, place)]
    if has_base and has_output:
        gap = _gap(explanations.values[place], base, output)
        if gap:
            steps.append(_Step("gap", "gap: what the attributions leave unexplained", gap, np.nan, frames.NEUTRAL))
            notes.append("the attributions do not add up to the output less the base: gap")
    elif not has_base:
        notes.append("no base value: bars start at 0 and end at their sum")
        notes.append(f"the output is {frames.number(output)}" if has_output else "")
    else:
        notes.append("the output is not known: bars end at base and sum")
    sampled = [number for number, step in enumerate(steps) if step.error > 0]
    notes.append("whiskers: one standard error" if sampled else "")

    ends = ["base" if has_base else "0 (no base)", "output" if has_base and has_output else "sum"]
    starts = np.cumsum([base if has_base else 0.0, *(step.value for step in steps)]).tolist()
    if has_base and has_output:
        starts[-1] = output  # equal but for rounding
    figure = go.Figure()
    figure.add_scatter(  # from the end of each bar to the start of the next
        x=[x for start in starts for x in (start, start, None)],
        y=[y for line in range(len(starts)) for y in (line, line + 1, None)],
        mode="lines",
        line={"color": frames.NEUTRAL, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    # In a trace of its own: plotly draws whiskers of length 0 for bars without an error.
    rest = [number for number in range(len(steps)) if number not in sampled]
    for places, whiskers in ((sampled, True), (rest, False)):
        if places:
            _add_bars(figure, steps, places, starts, whiskers=whiskers)
    figure.add_scatter(
        x=[starts[0], starts[-1]],
        y=[0, len(steps) + 1],
        mode="markers",
        marker={"symbol": "diamond", "size": 11, "color": frames.NEUTRAL},
        hovertext=[f"{end} {frames.number(value)}" for end, value in zip(ends, (starts[0], starts[-1]), strict=True)],
        hoverinfo="text",
        showlegend=False,
    )
    # Numbers are in a column at the right: beside the bars they would cover whiskers and each other.
    numbers = [frames.number(starts[0]), *(frames.signed(step.value) for step in steps), frames.number(starts[-1])]
    labels = [ends[0], *(step.label for step in steps), ends[1]]
    summed = of.attribution_axis(explanations, "sum of attributions")
    return frames.frame(
        figure,
        of.headline(explanations, [str(of.targets_of(explanations)[place])]),
        notes,
        height=26 * len(labels),
        right=72,
        barmode="overlay",
        annotations=[
            {"text": text, "x": 1, "xref": "paper", "xanchor": "left", "y": line, "yref": "y", "showarrow": False}
            for line, text in enumerate(numbers)
        ],
        xaxis=frames.numbers_axis(f"model's {frames.escaped(of.unit_name(explanations))}" if has_base else summed),
        yaxis=frames.lines_axis(labels),
    )
