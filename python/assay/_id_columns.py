"""Columns that only name rows, such as a customer's number: they are no features unless the model takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from . import _core
from ._models import GraphModel, Model
from ._subject import RowArguments
from ._tables import Table, core_table, kind_of, row_names


def without_ids(model: Model, said: RowArguments) -> tuple[RowArguments, list[str]]:
    """The arguments with such columns as names of rows, and sentences on them.

    Only for models of the engine: what others take is theirs to say."""
    if said.ids is not None or not isinstance(model, GraphModel):
        return said, []
    if any(kind_of(table) not in ("frame", "table") for table in (said.X, said.pool)):
        return said, []
    (rows, doubles), (pool, pool_doubles) = (_plain(table, argument) for argument, table in _tables_of(said))
    kept = []
    if isinstance(said.groups, Mapping):
        for columns in said.groups.values():
            kept += [columns] if isinstance(columns, (str, int)) else list(columns)
    names, notes = _core.found_ids(model._core, rows, doubles, pool, pool_doubles, [str(each) for each in kept])
    if not names:
        return said, []
    ids = None
    if row_names(said.X) is None:
        wide = doubles.columns
        cells = np.array(wide[names[0]]) if names[0] in wide else Table(rows)._column(names[0])
        ids = _Named([str(int(cell)) if not isinstance(cell, str) else cell for cell in cells.tolist()], names[0])
    same = said.pool is said.X
    X = _without(said.X, names)
    others = {
        argument: _without(table, names)
        for argument, table in (("baseline", said.baseline), ("background", said.background))
        if table is not None and not isinstance(table, str) and kind_of(table) in ("frame", "table")
    }
    return replace(said, X=X, pool=X if same else _without(said.pool, names), ids=ids, **others), notes


class _Named(list[str]):
    """Names of rows, and what they are called."""

    def __init__(self, names: list[str], name: str) -> None:
        super().__init__(names)
        self.name = name


def _tables_of(said: RowArguments) -> list[tuple[str, Any]]:
    return [("X", said.X), ("pool", said.pool)]


def _plain(table: Any, argument: str) -> tuple[_core.Table, _core.Doubles]:
    """The engine's table without names of rows, which a DataFrame has in its index, and what float32 rounds."""
    doubles = _core.Doubles()
    if kind_of(table) == "frame":
        table = table.reset_index(drop=True)
    return core_table(table, argument, doubles=doubles, used=()), doubles


def _without(table: Any, names: list[str]) -> Any:
    if not isinstance(table, Table):
        gone = [column for column in table.columns if str(column) in names]
        return table.drop(columns=gone)
    core = table._core
    kept = [j for j, name in enumerate(core.names) if name not in names]
    if len(kept) == len(core.names):
        return table
    doubles = _core.Doubles()
    for name, cells in table._doubles.columns.items():
        if name not in names:
            doubles.set(name, np.array(cells))
    made = _core.Table.from_columns(
        core.source,
        [core.names[j] for j in kept],
        np.ascontiguousarray(core.values[:, kept]),
        [core.levels[j] for j in kept],
        core.label,
        core.id_name,
        core.ids,
        core.item_shape,
        [core.rounded[j] for j in kept],
    )
    return Table(made, doubles)
