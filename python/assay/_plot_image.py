"""The plot of one row that is an image: the image beside a map of its attributions."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _plot_frame as frames
from . import _plot_rows as of
from ._text import plural

if TYPE_CHECKING:
    from ._explanations import Explanations

_SQUARE = re.compile(r"rows (\d{1,6})-(\d{1,6}), columns (\d{1,6})-(\d{1,6})")
_FOR_AND_AGAINST = [[0, "#0072b2"], [0.25, "#7fb4d6"], [0.5, "#f7f7f7"], [0.75, "#eaa573"], [1, "#d55e00"]]
_GREYS = [[0, "#000000"], [1, "#ffffff"]]


def _item_shape(explanations: Explanations) -> tuple[int, ...]:
    """The shape of one row; () if it is not known."""
    shape = getattr(explanations, "item_shape", None)
    if not shape:
        subject = getattr(getattr(explanations, "_core", None), "subject", None)
        shape = subject.data.item_shape if subject is not None else ()
    return tuple(int(size) for size in shape or ())


def _channels_first(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(channels, height, width) of an item shape of two or three sizes."""
    if len(shape) == 2:
        return (1, *shape)
    return (shape[2], shape[0], shape[1]) if _channels_are_last(shape) else (shape[0], shape[1], shape[2])


def _channels_are_last(shape: tuple[int, ...]) -> bool:
    """The engine has channels first. They are last only if the sizes allow nothing else."""
    return len(shape) == 3 and shape[2] in (1, 3, 4) and shape[0] not in (1, 3, 4)


def _planes(item: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The row as channels x height x width."""
    pixels = item.reshape(shape)
    if len(shape) == 2:
        return pixels[None]
    return np.moveaxis(pixels, 2, 0) if _channels_are_last(shape) else pixels


def _squares(features: list[str]) -> list[tuple[int, int, int, int]] | None:
    """The bounds of players that are squares of pixels: first and last row, first and last column. None for others."""
    found = [_SQUARE.fullmatch(name) for name in features]
    if not features or not all(found):
        return None
    bounds = [tuple(int(part) for part in match.groups()) for match in found if match]
    return [(top, bottom, left, right) for top, bottom, left, right in bounds]


def _shape_of_squares(squares: list[tuple[int, int, int, int]], data: NDArray[Any] | None) -> tuple[int, ...]:
    """The shape of the image that the squares cover; the number of pixels gives the channels."""
    height, width = 1 + max(square[1] for square in squares), 1 + max(square[3] for square in squares)
    columns = 0 if data is None or len(data) == 0 else data[0].size
    if columns > height * width and columns % (height * width) == 0:
        return columns // (height * width), height, width
    return height, width


def _painted(values: NDArray[Any], squares: list[tuple[int, int, int, int]], height: int, width: int) -> NDArray[Any]:
    """An image in which each pixel has the value of its square."""
    pixels = np.full((height, width), np.nan, dtype=np.float32)
    for value, (top, bottom, left, right) in zip(values, squares, strict=True):
        if not (top <= bottom < height and left <= right < width):
            raise ValueError(
                f"image: expected squares within {height} x {width} pixels, "
                f"found rows {top}-{bottom}, columns {left}-{right}"
            )
        pixels[top : bottom + 1, left : right + 1] = value
    return pixels


def _strongest(values: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Replaces all but the `most` largest absolute values by NaN."""
    if most is None or most >= values.size:
        return values
    sizes = np.where(np.isfinite(values), np.abs(values), -1.0).ravel()
    kept = np.full(values.size, np.nan, dtype=np.float32)
    largest = np.argsort(-sizes, kind="stable")[:most]
    kept[largest] = values.ravel()[largest]
    return kept.reshape(values.shape)


def _full_colour(values: NDArray[Any]) -> float:
    """The absolute value with the full colour: the strongest 1 % reach it, as in the report."""
    sizes = np.sort(np.abs(values[np.isfinite(values)]))
    strong = float(sizes[min(len(sizes) - 1, len(sizes) * 99 // 100)])
    return strong or float(sizes[-1]) or 1.0


def _picture(go: Any, planes: NDArray[Any]) -> Any:
    """The image: in its colours where it has three or four channels, else the mean of its channels in greys."""
    known = planes[np.isfinite(planes)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if len(planes) in (3, 4):
        # Pixels of 0 to 1 and 0 to 255 keep their brightness; others are stretched.
        if low >= 0 and high <= 255:
            low, high = 0.0, 1.0 if high <= 1 else 255.0
        scaled = np.nan_to_num((planes[:3].astype(np.float64) - low) / ((high - low) or 1.0))
        colours = np.ascontiguousarray(np.moveaxis(np.rint(scaled * 255).astype(np.uint8), 0, 2))
        return go.Image(z=colours, hovertemplate="row %{y}, column %{x}<br>colour %{z}<extra></extra>")
    return go.Heatmap(
        z=planes.mean(axis=0, dtype=np.float64).astype(np.float32),
        colorscale=_GREYS,
        showscale=False,
        hovertemplate="row %{y}, column %{x}<br>pixel %{z:.4~g}<extra></extra>",
    )


def image(explanations: Explanations, row: int | str, most: int | None, channel: int | None) -> Any:
    go = frames.graph_objects()
    if most is not None:
        most = frames.count_of("most", most)
    place = of.row_number(explanations, row)
    values = explanations.values[place]
    shape = _item_shape(explanations)
    squares = _squares(explanations.features) if len(values) != math.prod(shape or (0,)) else None
    if squares and len(shape) not in (2, 3):
        shape = _shape_of_squares(squares, explanations.data)
    if len(shape) not in (2, 3) or (squares is None and math.prod(shape) != len(values)):
        found = f"item_shape {shape}" if shape else "no item_shape"
        raise ValueError(
            "image: expected rows that are images, with item_shape (height, width), (channels, height, width) or "
            f"(height, width, channels) for their attributions or their squares, found {found} and "
            f"{plural(len(values), 'attribution')}"
        )
    channels, height, width = _channels_first(shape)
    if channel is not None and (
        isinstance(channel, bool) or not isinstance(channel, (int, np.integer)) or not 0 <= channel < channels
    ):
        raise ValueError(f"channel: expected a whole number of 0 to {channels - 1}, found {channel!r}")
    if channel is not None and squares:
        raise ValueError(f"channel: expected none, for squares have all channels, found {channel!r}")
    if not np.isfinite(values).any():
        raise ValueError(f"row {place}: expected a row with defined attributions, found none")

    if squares:
        parts = values
        pixels = _painted(_strongest(parts, most), squares, height, width)
    else:
        planes = _planes(values, shape)
        parts = planes[0 if channels == 1 else channel] if channels == 1 or channel is not None else planes.sum(axis=0)
        pixels = _strongest(parts, most)
    full = _full_colour(parts)
    attributions = go.Heatmap(
        z=pixels,
        colorscale=_FOR_AND_AGAINST,
        zmin=-full,
        zmax=full,
        colorbar=frames.colour_bar(of.attribution_axis(explanations), nticks=5),
        hovertemplate="row %{y}, column %{x}<br>attribution %{z:.4~g}<extra></extra>",
        hoverongaps=False,
    )
    pictures, titles = [attributions], ["attributions"]
    data = explanations.data
    if data is not None and len(data) == len(explanations) and data[place].size == math.prod(shape):
        item = _planes(np.asarray(data[place], dtype=np.float64), shape)
        pictures.insert(0, _picture(go, item if channel is None else item[channel : channel + 1]))
        titles.insert(0, "image")

    from plotly.subplots import make_subplots

    figure = make_subplots(rows=1, cols=len(pictures), subplot_titles=titles, horizontal_spacing=0.04)
    figure.update_annotations(font_size=13)
    for column, picture in enumerate(pictures, start=1):
        figure.add_trace(picture, row=1, col=column)
        side = "x" if column == 1 else f"x{column}"
        figure.update_xaxes(visible=False, constrain="domain", range=[-0.5, width - 0.5], row=1, col=column)
        figure.update_yaxes(
            visible=False,
            constrain="domain",
            constraintoward="top",  # below its name
            range=[height - 0.5, -0.5],
            scaleanchor=side,
            row=1,
            col=column,
        )
    undefined = int(np.isnan(parts).sum())
    whole = "square" if squares else "pixel"
    target = str(of.targets_of(explanations)[place])
    notes = [
        of.model_said(explanations),
        of.row_said(explanations, place),
        "" if channel is None else f"channel {channel}",
        "" if most is None or most >= parts.size else f"the {most:,} strongest of {plural(parts.size, whole)}",
        f"{plural(undefined, f'undefined {whole}')} left empty" if undefined else "",
    ]
    return frames.frame(figure, of.headline(explanations, [target]), notes, height=300, bottom=64, names_above=True)
