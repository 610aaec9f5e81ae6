"""Scores of one criterion, and the evaluation of explanations by several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._explanations import Explanations
from ._html import escaped, html_block, html_table
from ._optional import data_frame, named_index
from ._text import heading, one_line, plural, short, table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ScoreTable:
    """A table that comes with the scores: a curve, results by subset size, controls."""

    name: str
    columns: list[str]
    rows: list[list[float]]
    labels: list[str]
    """Names of the rows; empty where they have none."""

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame, with the labels as index."""
        return data_frame("to_pandas()", self.rows, columns=self.columns, index=self.labels or None)

    def __repr__(self) -> str:
        header, lines = self._cells()
        return "\n".join([one_line(self.name), *table([header, *lines], self._left())])

    def _repr_html_(self) -> str:
        header, lines = self._cells()
        cells = html_table([escaped(each) for each in header], [[escaped(each) for each in line] for line in lines])
        return html_block(self.name, cells)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        header = [*([""] if self.labels else []), *(short(each) for each in self.columns)]
        lines = [[_core.short_number(number) for number in row] for row in self.rows]
        for label, line in zip(self.labels, lines, strict=False):
            line.insert(0, short(label))
        return header, lines

    def _left(self) -> list[int]:
        return [0] if self.labels else []


@dataclass(frozen=True, repr=False, eq=False)
class Scores:
    """How good explanations are by one criterion: a score for each row, and their mean with its error.

    >>> scores = assay.evaluate(e, "faithfulness")["faithfulness"]
    >>> scores.mean, scores.interval
    >>> scores.values           # one for each row, NaN where undefined

    criterion, options   what was computed, with all options
    values               one for each row, NaN where undefined (of_rows False: one for each run over all rows)
    standard_error       of each value, where it is sampled; else None
    mean, error          over the defined values, and the standard error of that mean
    interval             95 % interval of the mean
    coverage, undefined  share of values that are defined; why the others are not, and how many
    direction            which scores are better: higher, lower or neither
    tables, notes        curves and other numbers beside the scores; what was chosen on the way
    evaluations          how many rows the model predicted for this criterion alone
    """

    criterion: str
    options: dict[str, str]
    """All options with the values used."""
    direction: str
    """Which scores are better: higher, lower or neither."""
    values: NDArray[np.float64]
    """One for each row, NaN where undefined; for a criterion of the whole data set one for each run."""
    of_rows: bool
    """Whether values are those of rows."""
    standard_error: NDArray[np.float64] | None
    """The standard error of each value; None if nothing is sampled."""
    undefined: dict[str, int]
    """Why rows have no score, and how many."""
    mean: float
    """The mean of the defined values."""
    error: float
    """Standard error of the mean; NaN where there is none."""
    interval: tuple[float, float]
    """95 % interval of the mean."""
    coverage: float
    """Share of values that are defined."""
    tables: dict[str, ScoreTable]
    notes: list[str]
    """What was chosen on the way, a sentence each."""
    evaluations: int
    """How many rows the model predicted or differentiated for this criterion alone."""

    @classmethod
    def _of(cls, core: _core.Scores) -> Scores:
        return cls(
            criterion=core.criterion,
            options=dict(core.options),
            direction=core.direction,
            values=core.values,
            of_rows=core.of_rows,
            standard_error=core.standard_error,
            undefined=dict(core.undefined),
            mean=core.mean,
            error=core.mean_error,
            interval=core.interval,
            coverage=core.coverage,
            tables={each[0]: ScoreTable(*each) for each in core.tables},
            notes=list(core.notes),
            evaluations=core.evaluations,
        )

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is None:
            return np.asarray(self.values, dtype=dtype)
        return np.array(self.values, dtype=dtype, copy=copy)

    def __float__(self) -> float:
        return self.mean

    def to_pandas(self) -> pandas.DataFrame:
        """A line for each row (or run): its score, named as the criterion, and the score's standard error."""
        error = np.full(len(self), np.nan) if self.standard_error is None else np.array(self.standard_error)
        return data_frame("to_pandas()", {self.criterion: np.array(self.values), "standard_error": error})

    def __repr__(self) -> str:
        mean, interval, covered = self._words()
        better = "describes" if self.direction == "neither" else f"{self.direction} is better"
        about = "; ".join(each for each in (f"95 % interval {interval}" if interval else "", covered, better) if each)
        notes = [f"note: {each}" for each in self._remarks()]
        return "\n".join([f"{one_line(self.criterion)} {mean} ({about})", *notes])

    def _repr_html_(self) -> str:
        cells = html_table(
            [escaped(each) for each in _HEADER], [[escaped(each) for each in self._line(self.criterion)]]
        )
        return html_block(self.criterion, cells, self._remarks())

    def _words(self) -> tuple[str, str, str]:
        """Mean and error, interval, how many values are defined."""
        mean = _core.short_number(self.mean) if np.isnan(self.error) else _core.mean_and_error(self.mean, self.error)
        low, high = self.interval
        interval = "" if np.isnan(low) else f"{_core.short_number(low)} to {_core.short_number(high)}"
        defined = int(np.count_nonzero(~np.isnan(self.values)))
        covered = f"{defined:,} of {plural(len(self), 'row' if self.of_rows else 'run')}"
        return mean, interval, covered

    def _line(self, name: str) -> list[str]:
        return [short(name, 60), *self._words(), self.direction]

    def _remarks(self) -> list[str]:
        said = [f"undefined for {plural(rows, 'row')}: {one_line(reason)}" for reason, rows in self.undefined.items()]
        return said + [one_line(note) for note in self.notes]


class Evaluation(Mapping[str, Scores]):
    """Scores of explanations by criterion, in the order they were asked for.

    >>> evaluation = assay.evaluate(e)
    >>> evaluation["faithfulness"].mean
    >>> evaluation.to_pandas()
    """

    def __init__(self, explanations: Explanations, scores: Mapping[str, Scores], left_out: list[str]) -> None:
        self._explanations = explanations
        self._scores = dict(scores)
        self._left_out = list(left_out)

    @property
    def explanations(self) -> Explanations:
        """What was evaluated."""
        return self._explanations

    @property
    def left_out(self) -> list[str]:
        """Criteria that were not computed and why, a sentence each."""
        return list(self._left_out)

    def __getitem__(self, criterion: str) -> Scores:
        if criterion in self._scores:
            return self._scores[criterion]
        named = [each for each in self._scores.values() if each.criterion == criterion]
        if len(named) == 1:  # by its name without options
            return named[0]
        there = ", ".join(self._scores) or "none"
        raise KeyError(f"no scores of {criterion!r}; there are {there}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def to_pandas(self) -> pandas.DataFrame:
        """A line for each criterion: mean, error, low and high end of the 95 % interval, coverage and direction."""
        lines = [
            (each.mean, each.error, *each.interval, each.coverage, each.direction) for each in self._scores.values()
        ]
        columns = ["mean", "error", "low", "high", "coverage", "direction"]
        index = named_index("to_pandas()", list(self._scores), "criterion")
        return data_frame("to_pandas()", lines, columns=columns, index=index)

    def row_scores(self) -> pandas.DataFrame:
        """A line for each row, a column for each criterion of rows; the ids as index. Criteria of the whole data set
        have no scores of rows and are not in it."""
        columns = {name: np.array(each.values) for name, each in self._scores.items() if each.of_rows}
        return data_frame("row_scores()", columns, index=self._explanations._pandas_index())

    def __repr__(self) -> str:
        lines = [_HEADER, *(each._line(name) for name, each in self._scores.items())]
        return "\n".join(
            [heading(self._explanations), *(table(lines, (0, 4)) if self._scores else []), *self._remarks()]
        )

    def _repr_html_(self) -> str:
        lines = [[escaped(cell) for cell in each._line(name)] for name, each in self._scores.items()]
        cells = html_table([escaped(each) for each in _HEADER], lines, (0, 4)) if lines else ""
        return html_block(heading(self._explanations), cells, self._remarks())

    def _remarks(self) -> list[str]:
        of: dict[str, list[str]] = {}
        for name, each in self._scores.items():
            for remark in each._remarks():
                of.setdefault(remark, []).append(one_line(name))
        said = [f"{', '.join(names)}: {remark}" for remark, names in of.items()]
        return said + [f"left out: {one_line(reason)}" for reason in self._left_out]


_HEADER = ["criterion", "mean", "95 % interval", "defined", "better"]
