"""A study for notebooks: a compact table with the best marked, and the verdict. Text from files is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

from . import _core
from ._text import one_line

LONGEST_NAME = 60  # bytes
MARKS = {"best": "*", "tied": "~"}


def number(value: Any) -> float:
    """A number as study.json writes it: null is undefined, infinities are texts."""
    return math.nan if value is None else float(value)


def short_name(name: str) -> str:
    """On one line, a long one cut."""
    content = name.encode(errors="replace")
    if len(content) <= LONGEST_NAME:
        return one_line(name)
    return one_line(content[:LONGEST_NAME].decode(errors="ignore")) + "..."


def mean_text(score: Mapping[str, Any]) -> str:
    """Mean and standard error, as many digits as the error has meaning for."""
    return _core.mean_and_error(number(score["mean"]), number(score["stderr"]), 2)


def coverage_text(score: Mapping[str, Any]) -> str:
    """Of a score that not all rows have: (93 %)."""
    share = number(score["coverage"])
    if math.isnan(number(score["mean"])) or share >= 1:
        return ""
    percent = math.floor(share * 100 + 0.5)  # half away from zero, as C++ rounds
    return f"({min(max(percent, 1), 99) if share > 0 else percent} %)"


def html_text(document: Mapping[str, Any]) -> str:
    """For notebooks: the main criteria as a table, the best and those tied with them marked, and the verdict."""
    escape = html.escape
    shown = [i for i, criterion in enumerate(document["criteria"]) if criterion["name"] in _core.main_criteria()]
    shown = shown or list(range(len(document["criteria"])))
    head = "".join(
        f'<th title="{escape(criterion["title"])}">{escape(short_name(criterion["spec"]))}<br>'
        f"<small>{escape(criterion['direction'])}</small></th>"
        for criterion in (document["criteria"][i] for i in shown)
    )
    lines = []
    for entry in document["entries"]:
        cells = ""
        for i in shown:
            score = entry["scores"][i]
            text = escape(" ".join(filter(None, [mean_text(score).replace("+-", "±"), coverage_text(score)])))
            mark = MARKS.get(score["standing"], "")
            cells += f"<td><b>{text}</b>{mark}</td>" if mark else f"<td>{text}</td>"
        lines.append(f"<tr><th>{escape(short_name(entry['name']))}</th>{cells}</tr>")
    more = len(document["criteria"]) - len(shown)
    legend = "mean ± standard error; * significantly best; ~ not distinguishable from the best"
    legend += f"; {more} more criteria in .to_pandas()" if more else ""
    sentences = [("Verdict", document["verdict"]), ("Warnings", document["warnings"])]
    lists = "".join(
        f"<p><b>{title}</b></p><ul>{''.join(f'<li>{escape(one_line(each))}</li>' for each in said)}</ul>"
        for title, said in sentences
        if said
    )
    title = escape(one_line(document["facts"]["title"]))
    return (
        f"<p><b>Study of {title}</b></p><table><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table><p><small>{legend}</small></p>{lists}"
    )
