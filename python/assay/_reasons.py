"""Reasons: for each row, the features that speak most against (or for) what is explained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._arrow_files import is_arrow_file, lacks_plugin
from ._core import Reasons as _Engine
from ._explanations import Explanations
from ._files import Path, path_text, system_errors
from ._html import escaped, html_block, html_table
from ._optional import data_frame
from ._run import count_of, text_of
from ._text import one_line, plural, table

if TYPE_CHECKING:
    import pandas

_COLUMNS = (
    "rank",
    "feature",
    "value",
    "direction",
    "attribution",
    "share",
    "certainty",
    "order_certainty",
    "agreement",
    "withheld",
    "text",
)
_MOST_ROWS = 5


class Reasons:
    """The reasons of all rows, a line for each, by row and then by rank.

    `Explanations.reasons` and `Study.reasons` make them.

    >>> reasons = explanations.reasons(top=3)
    >>> reasons.to_pandas()          # a line for each reason
    >>> reasons.notes                # what certainty is here, and what it is not
    >>> reasons.uncertain(0.9)       # rows with a reason that is not certain
    >>> reasons.save("reasons.csv")
    """

    _core: _Engine

    def __init__(self) -> None:
        raise TypeError("Reasons are made by Explanations.reasons and Study.reasons")

    @classmethod
    def _of(cls, core: _Engine, why: str = "") -> Reasons:
        made = object.__new__(cls)
        made._core = core
        made._why = why
        return made

    _why: str

    @property
    def direction(self) -> str:
        """ "against" or "for"."""
        return self._core.direction

    @property
    def top(self) -> int:
        """How many reasons a row has at most."""
        return self._core.top

    @property
    def replicates(self) -> int:
        """How many replicates certainty is counted over; 0 where nothing is drawn, or where there are none."""
        return self._core.replicates

    @property
    def notes(self) -> list[str]:
        """What certainty, share and agreement are here, and why some are NaN; one sentence each."""
        return [*([self._why] if self._why else []), *self._core.notes]

    def uncertain(self, level: float = 0.9) -> list[Any]:
        """The rows (ids, or numbers from 0) with a reason whose certainty is below the level."""
        if not isinstance(level, (int, float)) or not 0 <= level <= 1:
            raise ValueError(f"level: expected a number from 0 to 1, found {level!r}")
        return [self._name(row) for row in self._core.uncertain_rows(float(level))]

    def to_pandas(self) -> pandas.DataFrame:
        """A line for each reason: row (from 0) or id, rank, feature, value, direction, attribution, share, certainty,
        order_certainty, agreement, withheld, text. Rank 0: nothing may be named, and withheld says what."""
        return data_frame("to_pandas()", self._columns())

    def save(self, path: Path) -> None:
        """Writes a file by its extension, as `assay reasons --out` does: .csv, .tsv, .parquet, .feather or .json. Rows
        without ids are counted from 1 there."""
        name = path_text("path", path)
        try:
            with system_errors():
                self._core.write(name)
        except _core.UnsupportedError as problem:
            if not lacks_plugin(problem) or not is_arrow_file(name):
                raise
            frame = self.to_pandas()
            if "row" in frame and not self._core.ids:
                frame["row"] += 1
            write = frame.to_parquet if name.lower().endswith(".parquet") else frame.to_feather
            write(name)

    def __len__(self) -> int:
        return len(self._core.rank)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Reason by reason, each as a dict."""
        columns = self._columns()
        return (dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True))

    def __repr__(self) -> str:
        header, lines = self._shown()
        return "\n".join([self._title(), *table([header, *lines], (0, 2)), *map(one_line, self.notes)])

    def _repr_html_(self) -> str:
        header, lines = self._shown()
        cells = html_table([escaped(each) for each in header], [[escaped(each) for each in line] for line in lines])
        return html_block(self._title(), cells, self.notes)

    def _columns(self) -> dict[str, list[Any]]:
        count = len(self)
        columns: dict[str, list[Any]] = {self._core.row_column: [self._name(row) for row in self._core.row]}
        for name in _COLUMNS:
            columns[name] = [self.direction] * count if name == "direction" else getattr(self._core, name)
        return columns

    def _name(self, row: int) -> Any:
        return self._core.ids[row] if self._core.ids else row

    def _title(self) -> str:
        return f"reasons {self.direction}: {plural(self._core.rows, 'row')}, at most {self.top} each"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        header = [self._core.row_column, "rank", "reason", "share", "certainty"]
        lines: list[list[str]] = []
        seen: list[int] = []
        core = self._core
        for row, rank, text, share, certainty in zip(
            core.row, core.rank, core.text, core.share, core.certainty, strict=True
        ):
            if row not in seen:
                seen.append(row)
            if len(seen) > _MOST_ROWS:
                break
            numbers = [_core.short_number(share), _core.short_number(certainty)]
            lines.append([one_line(self._name(row)), str(rank), one_line(text), *numbers])
        return header, lines


def reasons_of(
    explanations: Explanations,
    top: int,
    direction: str,
    *,
    groups: Mapping[str, Sequence[str]] | None,
    exclude: Sequence[str],
    template: Mapping[str, Any] | None,
    background: str,
    replicates: int,
    others: Sequence[Explanations],
    run: _core.Run,
    whole_pool: int = 0,
    why: str = "",
) -> Reasons:
    """What Explanations.reasons and Study.reasons share. whole_pool: rows of which the pool is a sample."""
    if isinstance(exclude, str):
        raise ValueError(f"exclude: expected a list of features, found the text {exclude!r}")
    made = _core.reasons(
        explanations._core,
        run,
        count_of("top", top, 1),
        text_of("direction", direction),
        _as_json("groups", groups),
        [text_of("exclude", each) for each in exclude],
        _as_json("template", template),
        text_of("background", background),
        count_of("replicates", replicates),
        [each._core for each in others],
        whole_pool,
    )
    return Reasons._of(made, why)


def _as_json(argument: str, given: Mapping[str, Any] | None) -> str | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"{argument}: expected a dict, found {type(given).__name__}")
    try:
        return json.dumps({key: list(each) if isinstance(each, tuple) else each for key, each in given.items()})
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{argument}: expected texts in dicts and lists, found others: {problem}") from None
