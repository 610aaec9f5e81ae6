"""Plots of explanations: e.plot.bar(), e.plot.beeswarm(), e.plot.waterfall(row), e.plot.image(row)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _plot_bar, _plot_beeswarm, _plot_image, _plot_waterfall

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ._explanations import Explanations


class Plots:
    """The plots of some explanations; what `e.plot` is, and `e.plot()` is `e.plot.bar()`.

    Each gives a plotly Figure: notebooks show it, `.show()` opens it, `.write_html(path)` keeps it, and it can be
    changed like any other (`figure.update_layout(template="plotly_dark")`). Needs plotly: `pip install
    assay-xai[plots]`. Rows whose attributions are undefined are left out, and counted below the title.
    """

    def __init__(self, explanations: Explanations) -> None:
        self._explanations = explanations

    def __call__(self, *, most: int = 20, target: str | int | None = None) -> go.Figure:
        """The same as bar()."""
        return self.bar(most=most, target=target)

    def __repr__(self) -> str:
        return "Plots: bar(), beeswarm(), waterfall(row), image(row)"

    def bar(self, *, most: int = 20, target: str | int | None = None) -> go.Figure:
        """The mean of |attribution| over rows, with its standard error: which features matter in all.

        Args:
            most: features with a bar of their own, the largest first; the others are summed in one.
            target: only rows that explain this class or output. None: each target has bars of its own, for their
                attributions answer different questions.
        """
        return _plot_bar.bar(self._explanations, most, target)

    def beeswarm(
        self, *, most: int = 12, rows: int = 2000, target: str | int | None = None, seed: int = 0
    ) -> go.Figure:
        """A point for each row and feature at its attribution, coloured by the feature's value: how features matter.

        Args:
            most: features that are shown, those with the largest mean |attribution|.
            rows: rows that are drawn at most; of more, a random sample.
            target: only rows that explain this class or output.
            seed: of the sample and of how points are spread.
        """
        return _plot_beeswarm.beeswarm(self._explanations, most, rows, target, seed)

    def waterfall(self, row: int | str, *, most: int = 12) -> go.Figure:
        """How one row's attributions lead from the base value to the model's output.

        Args:
            row: its number (negative: from the end) or its id.
            most: features with a bar of their own, the largest first; the others are summed in one.
        """
        return _plot_waterfall.waterfall(self._explanations, row, most)

    def image(self, row: int | str, *, most: int | None = None, channel: int | None = None) -> go.Figure:
        """A row that is an image beside a map of its attributions.

        Args:
            row: its number (negative: from the end) or its id.
            most: only so many pixels or squares, those with the largest |attribution|. None: all.
            channel: the one that is shown. None: attributions are summed over channels.
        """
        return _plot_image.image(self._explanations, row, most, channel)
