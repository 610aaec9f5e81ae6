"""What the file of an Explainer holds for this package, beside what the engine needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._models import UNITS, GraphModel
from ._run import whole_number
from ._tables import Table, column_names, core_table
from ._text import in_quotes
from ._trees_rows import TreeRows

Saved = _core.SavedExplainer
_PLAIN = (str, int, float, bool)


@dataclass(frozen=True)
class FrontEnd:
    """How the package takes rows.

    value: the unit that the explainer was asked for. model_value: the unit of the model where nobody asks. columns: the
    names of a row's cells, and whether they are texts; None if rows are arrays. unnamed: the arguments whose columns
    had no names. beside: one whose columns had some, or empty. values, arrays_hold_values: see TreeParts; None if the
    trees are not from another library."""

    value: str | None
    model_value: str | None
    threads: int
    columns: list[tuple[str, bool]] | None
    unnamed: list[str]
    beside: str
    values: Mapping[int, Sequence[Any]] | None = None
    arrays_hold_values: bool = False
    underscores: bool = False

    def example(self, where: str) -> Table | None:
        """A row of such columns, for rows that come as named cells."""
        if self.columns is None:
            return None
        names = [name for name, _ in self.columns]
        levels = [[""] if text else None for _, text in self.columns]
        cells = np.zeros((1, len(names)), np.float32)
        return Table(_core.Table.from_columns(where, names, cells, levels))


def front_end_text(
    model: GraphModel, value: str | None, threads: int, example: Any, unnamed: Sequence[str], beside: str
) -> str:
    """As JSON. A ValueError if the model knows categories that JSON cannot hold."""
    columns = None
    if example is not None and column_names(example, "X") is not None:
        table = core_table(model._prepared("X", example), "X")
        columns = [[name, levels is not None] for name, levels in zip(table.names, table.levels, strict=True)]
    made: dict[str, Any] = {
        "value": value,
        "model_value": model._value,
        "threads": int(threads),
        "columns": columns,
        "unnamed": list(unnamed),
        "beside": beside,
        "trees": None,
    }
    if isinstance(model, TreeRows):
        for feature, known in model._values.items():
            odd = next((each for each in known if type(each) not in _PLAIN), None)
            if odd is not None:
                raise ValueError(
                    f"model: expected categories that are texts or numbers, for a file, found {in_quotes(odd)} "
                    f"({type(odd).__name__}) of column {feature}"
                )
        made["trees"] = {
            "values": {str(feature): list(known) for feature, known in model._values.items()},
            "arrays_hold_values": model._arrays_hold_values,
            "underscores": model._underscores,
        }
    return json.dumps(made)


def read_front_end(where: str, saved: Saved) -> FrontEnd:
    """Checks all of it: the file is not trusted."""

    def expect(right: bool, what: str) -> None:
        if not right:
            raise ValueError(f"{where}: expected {what} of a saved explainer of this package, found others")

    try:
        said = json.loads(saved.front_end)
    except (ValueError, RecursionError):
        said = None
    keys = {"value", "model_value", "threads", "columns", "unnamed", "beside", "trees"}
    expect(isinstance(said, dict) and set(said) == keys, "the fields")
    for key in ("value", "model_value"):
        expect(said[key] is None or said[key] in (*UNITS, "value"), "a unit")
    expect(type(said["threads"]) is int, "a number of threads")
    whole_number(f"{where}, threads", said["threads"], 4096)
    expect(_are(said["unnamed"], str) and type(said["beside"]) is str, "names of arguments")
    columns = said["columns"]
    if columns is not None:
        expect(_are(columns, list) and bool(columns), "columns")
        expect(all(len(each) == 2 and type(each[0]) is str and type(each[1]) is bool for each in columns), "columns")
        expect(len({each[0] for each in columns}) == len(columns), "each column once")
        columns = [(each[0], each[1]) for each in columns]
    made = (said["value"], said["model_value"], said["threads"], columns, said["unnamed"], said["beside"])
    trees = said["trees"]
    if trees is None:
        return FrontEnd(*made)
    fields = {"values", "arrays_hold_values", "underscores"}
    expect(isinstance(trees, dict) and set(trees) == fields, "the fields of trees")
    flags = (trees["arrays_hold_values"], trees["underscores"])
    expect(_are(list(flags), bool) and isinstance(trees["values"], dict), "categories")
    values: dict[int, Sequence[Any]] = {}
    for feature, known in trees["values"].items():
        place = int(feature) if feature.isascii() and feature.isdigit() and len(feature) < 8 else saved.features
        expect(place < saved.features, "numbers of columns")
        expect(isinstance(known, list) and all(type(each) in _PLAIN for each in known), "categories")
        values[place] = known
    return FrontEnd(*made, values, *flags)


def model_of_file(saved: Saved, front: FrontEnd) -> GraphModel:
    """The model that the file holds."""
    if front.values is None:
        return GraphModel(saved.model_name, saved.model_bytes, front.model_value)
    return TreeRows(
        saved.model_name,
        saved.model_bytes,
        front.model_value,
        front.values,
        front.arrays_hold_values,
        front.underscores,
    )


def _are(said: Any, kind: type) -> bool:
    return isinstance(said, list) and all(type(each) is kind for each in said)
