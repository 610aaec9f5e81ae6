"""Text for terminals: names from outside on one line, tables in aligned columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._explanations import Explanations

MOST_ROWS = 10
_WIDTH = 100
_LONGEST_NAME = 24
# Joiners that several scripts need. Other format characters are invisible or change the direction of text.
_HARMLESS = frozenset("\u200c\u200d")


def one_line(text: object) -> str:
    """The text on one line of printable characters: controls, line ends and what turns the direction are escaped."""
    out = []
    for character in str(text):
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _HARMLESS:
            code = ord(character)
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
        else:
            out.append(character)
    return "".join(out)


def short(text: object, longest: int = _LONGEST_NAME) -> str:
    """As one_line, a long text cut."""
    line = one_line(str(text)[: longest + 1])
    return line if len(line) <= longest else line[: longest - 3] + "..."


def in_quotes(text: object) -> str:
    """A text from outside for a message."""
    return f"'{short(text, 60)}'"


def joined(words: Sequence[str], last: str = "and") -> str:
    """As in "a, b and c"."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))


def plural(count: int, what: str) -> str:
    """As in "1 row", "2,000 rows"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def table(lines: Sequence[Sequence[str]], left: Iterable[int] = (0,)) -> list[str]:
    """The lines of a table whose first one is its header; columns of `left` are flush left."""
    return _core.aligned(lines, list(left)).splitlines()


def heading(explanations: Explanations) -> str:
    """One line: which method explains what."""
    made = explanations.provenance
    rows, features = explanations.shape
    source = one_line(made["method"])
    if explanations.members is not None:
        named = [short(each) for each in explanations.members[:6]]
        others = len(explanations.members) - len(named)
        source += f" of {joined([*named, plural(others, 'other')] if others else named)}"
    model = f" of {short(made['model'], 60)}" if made["model"] else ""
    if not source:
        source = f"attributions{model} made elsewhere"
    else:
        source += model if explanations.members is None else model.replace(" of ", " for ", 1)
    parts = [f"{source}: {plural(rows, 'row')} x {plural(features, 'feature')}"]
    target = short(made["target"], 60) if made["target"] else _one_target(explanations)
    if made["unit"] or target:
        parts.append(" of ".join(dict.fromkeys(each for each in (one_line(made["unit"]), target) if each)))
    if made["reference"]:
        parts.append(f"reference {short(made['reference'], 80)}")
    return ", ".join(parts)


def _one_target(explanations: Explanations) -> str:
    index = explanations.target_index
    if index is None or len(index) == 0:
        return ""
    return short(explanations.target_names[index[0]], 60) if (index == index[0]).all() else "each row's own target"


def leading_columns(explanations: Explanations) -> tuple[list[str], list[list[str]]]:
    """Header and cells of the columns before the values: name, target, output and base of each row."""
    count = min(len(explanations), MOST_ROWS)
    ids = explanations.ids
    header = [explanations._core.id_name or ("row" if ids is None else "id")]
    cells = [[str(i)] if ids is None else [ids[i]] for i in range(count)]
    columns: list[tuple[str, Any]] = []
    if explanations.target is not None:
        columns.append(("target", explanations.target))
    for name, numbers in (("output", explanations.output), ("base", explanations.base)):
        if not all(number != number for number in numbers[:count]):
            columns.append((name, [_core.short_number(float(number)) for number in numbers[:count]]))
    for name, column in columns:
        header.append(name)
        for i in range(count):
            cells[i].append(str(column[i]))
    return [short(each) for each in header], [[short(cell) for cell in line] for line in cells]


def remarks(explanations: Explanations, shown: int) -> list[str]:
    """What a table with so many features does not show: what is left out, the largest gap and error, notes."""
    said = []
    rows, features = explanations.shape
    if rows > MOST_ROWS:
        said.append(f"... {plural(rows - MOST_ROWS, 'more row')}")
    if shown < features and rows:
        said.append(f"... {plural(features - shown, 'more feature')} of smaller mean absolute value")
    numbers = [plural(explanations.evaluations, "model evaluation")] if explanations.evaluations else []
    for what, of in (("gap", explanations.gap), ("standard error", explanations.standard_error)):
        if of is not None and not np.isnan(of).all():
            numbers.append(f"largest {what} {_core.short_number(float(np.nanmax(np.abs(of))))}")
    if numbers:
        said.append("; ".join(numbers))
    return said + [f"note: {one_line(note)}" for note in explanations.notes]


def explanations_text(explanations: Explanations) -> str:
    """The repr of Explanations."""
    header, cells = leading_columns(explanations)
    lines = [header, *cells]
    total = explanations.shape[1]
    room = _WIDTH - sum(2 + max(map(len, column)) for column in zip(*lines, strict=True))
    columns = _fitting(explanations, range(total), room, len(cells))
    if len(columns) < total:
        columns = _fitting(explanations, explanations._by_importance(), room - len("  ..."), len(cells))
    for i, line in enumerate(lines):
        line.extend(column[i] for column in columns)
        if len(columns) < total:
            line.append("...")
    said = remarks(explanations, len(columns))
    left = [0, 1] if explanations.target is not None else [0]
    return "\n".join([heading(explanations), *(table(lines, left) if cells else []), *said])


def _fitting(explanations: Explanations, order: Iterable[int], room: int, rows: int) -> list[list[str]]:
    """The columns of as many of these features as fit, in this order; at least one."""
    columns: list[list[str]] = []
    features = explanations.features
    for j in order:
        column = [short(features[j])]
        column += [_core.short_number(float(value)) for value in explanations.values[:rows, j]]
        room -= 2 + max(map(len, column))
        if columns and room < 0:
            break
        columns.append(column)
    return columns
