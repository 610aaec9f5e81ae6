"""HTML for notebooks: small tables with inline styles; every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._text import MOST_ROWS, heading, leading_columns, one_line, remarks, short

if TYPE_CHECKING:
    from ._explanations import Explanations

_MOST_FEATURES = 12
# Half transparent: readable on light and dark pages.
_POSITIVE, _NEGATIVE = "rgba(214,39,40,.35)", "rgba(31,119,180,.4)"


def escaped(text: object) -> str:
    """Text from outside as HTML: on one line and escaped."""
    return html.escape(one_line(text), quote=True)


def html_table(header: Sequence[str], lines: Iterable[Sequence[str]], left: Iterable[int] = (0,)) -> str:
    """A table. Cells are HTML already; columns in `left` are aligned to the left."""
    flush = set(left)

    def line(cells: Sequence[str], tag: str) -> str:
        out = []
        for j, cell in enumerate(cells):
            side = "left" if j in flush else "right"
            open_tag = "" if cell.startswith(f"<{tag} ") else f'<{tag} style="text-align:{side}">'
            out.append(f"{open_tag}{cell}</{tag}>")
        return f"<tr>{''.join(out)}</tr>"

    body = "".join(line(cells, "td") for cells in lines)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


def html_block(title: str, table: str, said: Iterable[str] = ()) -> str:
    """Title, table and remarks; title and remarks are plain text."""
    lines = "".join(f"<div><small>{escaped(each)}</small></div>" for each in said)
    return f"<div><div><strong>{escaped(title)}</strong></div>{table}{lines}</div>"


def explanations_html(explanations: Explanations) -> str:
    """The HTML repr of Explanations: at most 10 rows x 12 features, bars behind the values."""
    features = explanations.shape[1]
    order = list(range(features))
    if features > _MOST_FEATURES:
        order = [int(j) for j in explanations._by_importance()[:_MOST_FEATURES]]
    header, cells = leading_columns(explanations)
    values = explanations.values[:MOST_ROWS][:, order]
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max()) if sizes.size else 0.0
    names = [escaped(each) for each in header] + [escaped(short(explanations.features[j])) for j in order]
    lines = [
        [*(escaped(cell) for cell in leading), *(_bar_cell(float(value), largest) for value in row)]
        for leading, row in zip(cells, values, strict=True)
    ]
    left = [0, 1] if explanations.target is not None else [0]
    table = html_table(names, lines, left) if lines else ""
    return html_block(heading(explanations), table, remarks(explanations, len(order)))


def _bar_cell(value: float, largest: float) -> str:
    """The start of a cell and its number, over a bar whose length is its share of the largest."""
    share = 100 * abs(value) / largest if largest > 0 and np.isfinite(value) else 0.0
    colour = _POSITIVE if value > 0 else _NEGATIVE
    bar = f";background:linear-gradient(90deg,{colour} {share:.0f}%,transparent {share:.0f}%)" if share >= 0.5 else ""
    return f'<td style="text-align:right{bar}">{escaped(_core.short_number(value))}'
