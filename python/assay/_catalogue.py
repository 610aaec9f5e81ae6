"""The lists of explanation functions, criteria and aggregators: assay.methods(), criteria() and aggregators()."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

from . import _core
from ._html import escaped, html_block, html_table
from ._optional import data_frame, named_index
from ._text import one_line, table

if TYPE_CHECKING:
    import pandas

_Info = _core.MethodInfo | _core.CriterionInfo | _core.AggregatorInfo


@dataclass(frozen=True)
class Option:
    """One option of a method, criterion or aggregator."""

    name: str
    default: str
    meaning: str
    unit: str
    range: str


@dataclass(frozen=True, repr=False)
class Entry:
    """One method, criterion or aggregator. Fields that this kind does not have are empty or None."""

    name: str
    title: str
    citation: str
    cost: str
    options: tuple[Option, ...]
    family: str = ""
    direction: str = ""
    """Of a criterion: which scores are better, higher, lower or neither."""
    range: str = ""
    """Of a criterion: which scores there are."""
    guarantee: str = ""
    """Of an aggregator: what is proven of it."""
    needs: tuple[str, ...] = ()
    """What it needs beside explanations: model, labels, pool and so on."""
    complete: bool | None = None
    """Of a method: whether values add up to the output less the base."""
    uses_reference: bool | None = None
    """Of a method: whether it needs a baseline or background."""
    sampled: bool | None = None
    """Whether it is random and its results carry standard errors."""

    @classmethod
    def _of(cls, info: _Info) -> Entry:
        facts: dict[str, Any] = {
            field.name: getattr(info, field.name)
            for field in fields(cls)
            if field.name != "options" and hasattr(info, field.name)
        }
        if "needs" in facts:
            facts["needs"] = tuple(facts["needs"])
        options = tuple(Option(each.name, each.default, each.meaning, each.unit, each.range) for each in info.options)
        return cls(options=options, **facts)

    def _facts(self) -> list[tuple[str, str]]:
        """The facts beside its options, by name."""
        yes_no = {True: "yes", False: "no", None: ""}
        said = [
            ("family", self.family),
            ("better", self.direction),
            ("range", self.range),
            ("guarantee", self.guarantee),
            ("needs", ", ".join(self.needs)),
            ("complete", yes_no[self.complete]),
            ("uses a reference", yes_no[self.uses_reference]),
            ("sampled", yes_no[self.sampled]),
            ("cost", self.cost),
            ("citation", self.citation),
        ]
        return [(name, one_line(text)) for name, text in said if text]

    def _option_lines(self) -> list[list[str]]:
        return [
            [each.name, each.default, each.range, each.meaning + (f" ({each.unit})" if each.unit else "")]
            for each in self.options
        ]

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.title}", *(f"  {name}: {text}" for name, text in self._facts())]
        if self.options:
            lines += [f"  {line}" for line in table([_OPTION_HEADER, *self._option_lines()], range(4))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = [[escaped(cell) for cell in line] for line in self._option_lines()]
        options = html_table(_OPTION_HEADER, lines, range(4)) if lines else ""
        return html_block(f"{self.name}: {self.title}", options, [f"{name}: {text}" for name, text in self._facts()])


class Catalogue(Sequence[Entry]):
    """A list of methods, criteria or aggregators; by place or name.

    >>> assay.methods()                     # a table
    >>> assay.methods()["lime"]             # its options, cost and citation
    >>> "lime" in assay.methods()
    """

    def __init__(self, kind: str, items: Sequence[_Info]) -> None:
        self._kind = kind
        self._items = tuple(Entry._of(each) for each in items)

    @property
    def names(self) -> list[str]:
        """In the order of the table."""
        return [each.name for each in self._items]

    @overload
    def __getitem__(self, key: int | str) -> Entry: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Entry]: ...
    def __getitem__(self, key: int | str | slice) -> Entry | Sequence[Entry]:
        if not isinstance(key, str):
            return self._items[key]
        for each in self._items:
            if each.name == key:
                return each
        raise KeyError(f"{key!r} is none of the {self._kind}: {', '.join(self.names)}")

    def __contains__(self, key: object) -> bool:
        return key in self.names if isinstance(key, str) else key in self._items

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with a line for each, by name, without options."""
        columns = [
            field.name
            for field in fields(Entry)
            if field.name not in ("name", "options") and any(getattr(each, field.name) for each in self)
        ]
        lines = [[_plain(getattr(each, column)) for column in columns] for each in self]
        return data_frame("to_pandas()", lines, columns=columns, index=named_index("to_pandas()", self.names, "name"))

    def __repr__(self) -> str:
        header, lines = self._table()
        return "\n".join(table([header, *lines], range(len(header))))

    def _repr_html_(self) -> str:
        header, lines = self._table()
        cells = [[escaped(cell) for cell in line] for line in lines]
        return html_block(f"{len(self)} {self._kind}", html_table(header, cells, range(len(header))))

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """name, what, and what differs by kind, as `assay list` has them."""
        columns = {
            "name": self.names,
            "family": [each.family for each in self],
            "better": [each.direction for each in self],
            "what": [each.title for each in self],
            "needs": [", ".join(each.needs) for each in self],
            "cost": ["" if each.family else each.cost for each in self],
        }
        shown = {title: [one_line(cell) for cell in cells] for title, cells in columns.items() if any(cells)}
        return list(shown), [list(line) for line in zip(*shown.values(), strict=True)]


def _plain(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, tuple) else value


_OPTION_HEADER = ["option", "default", "range", "meaning"]
