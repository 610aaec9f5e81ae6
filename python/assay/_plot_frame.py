"""What all plots share: plotly on demand, text that stays text, titles, axes, colours."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._text import one_line

# Okabe and Ito's colours, in the order of the report: distinct for the common kinds of colour blindness, and visible on
# light and dark backgrounds.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c6bb1", "#999933")
NEGATIVE, POSITIVE, NEUTRAL = "#0072b2", "#d55e00", "#808080"

LONGEST_LABEL = 24  # leaves half of a phone's width for the plot
_TITLE_WIDTH, _NOTE_WIDTH = 42, 54  # characters in 360 pixels
_BUTTONS_REMOVED = ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d", "sendChartToCloud"]


def graph_objects() -> Any:
    """plotly.graph_objects, or an ImportError that says how to get it."""
    try:
        import plotly.graph_objects
    except ImportError as error:
        raise ImportError("plots need plotly: pip install assay-xai[plots]") from error
    return plotly.graph_objects


def plain(text: object, most: int | None = None) -> str:
    """On one line. A text longer than `most` keeps both ends, because names differ at either end."""
    line = one_line(text)
    if most is None or len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}…{line[-tail:]}"


def escaped(text: object, most: int | None = None) -> str:
    """Escaped for plotly, which would read tags, TeX between dollars and, in templates, %{...}."""
    return html.escape(plain(text, most), quote=False).replace("$", "&#36;").replace("%", "&#37;")


def number(value: float) -> str:
    return signed(value).removeprefix("+")


def signed(value: float) -> str:
    """With its sign; the minus is the long one, as on axes."""
    return f"{value:+.4g}".replace("-", "\N{MINUS SIGN}")


def plus_minus(error: float) -> str:
    """The text after a number: its standard error, if known."""
    return "" if math.isnan(error) else f" ± {number(error)}"


def count_of(argument: str, value: object) -> int:
    """A count of 1 or more, or a ValueError that names the argument."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{argument}: expected a whole number of 1 or more, found {value!r}")
    return int(value)


def frame(
    figure: Any,
    title: str,
    notes: Iterable[str],
    *,
    height: int,
    bottom: int = 56,
    right: int = 16,
    names_above: bool = False,
    **layout: Any,
) -> Any:
    """The figure with its title and notes, broken so that a phone shows them whole, above plots of `height` pixels.

    bottom, right: margins. names_above: subplots have names, which hang over the plots' edge.
    """
    titles = textwrap.wrap(title, _TITLE_WIDTH)
    small = textwrap.wrap("; ".join(note for note in notes if note), _NOTE_WIDTH)
    text = "<br>".join(map(escaped, titles))
    if small:
        text += f'<br><span style="font-size: 12px">{"<br>".join(map(escaped, small))}</span>'
    top = 32 + 20 * len(titles) + 19 * len(small) + (20 if names_above else 0)
    place = {"x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top"}
    figure.update_layout(
        title={"text": text, "font": {"size": 15}, "pad": {"t": 20, "l": 12}, **place},
        margin={"l": 12, "r": right, "t": top, "b": bottom},
        height=height + top + bottom,
        hoverlabel={"align": "left"},
        modebar={"remove": _BUTTONS_REMOVED},  # a full bar would cover the title on a phone, and nothing is uploaded
        **layout,
    )
    return figure


def lines_axis(labels: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of named lines, from the top. Positions are numbers: equal names would share a line."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": list(labels),
        "range": [len(labels) - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "ticks": "outside",  # as a space between names and bars
        "ticklen": 4,
        "tickcolor": "rgba(0,0,0,0)",
    }


def numbers_axis(title: str) -> dict[str, Any]:
    return {"title": {"text": title}, "zeroline": True, "zerolinecolor": NEUTRAL, "zerolinewidth": 1, "nticks": 7}


def colour_bar(title: str, **more: Any) -> dict[str, Any]:
    """Below the plot, where a phone has room for it."""
    place = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "thickness": 10, "len": 0.8}
    return {**place, "title": {"text": title, "side": "bottom"}, **more}
