"""Explanations in Parquet and Feather files by pyarrow, for an engine without the plugin: the same columns."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

import numpy as np

from . import _core
from ._optional import needed

_FIXED = ["target", "output", "base", "gap"]
_ID_KEY = b"assay.id"  # the schema's metadata say which column names the rows


def is_arrow_file(path: str) -> bool:
    """Whether the extension is that of a format that pyarrow writes."""
    return _format_of(path) is not None


def lacks_plugin(problem: Exception) -> bool:
    """Whether the engine refused only because it has no plugin for these files."""
    return "need the Arrow plugin" in str(problem)


def write_arrow(core: _core.Explanations, path: str) -> None:
    """Writes what the engine would write. The file appears whole or not at all."""
    arrow = needed("pyarrow", "arrow", "writing .parquet and .feather")
    temporary = f"{path}.tmp-{os.getpid()}"
    try:
        module = _module_of(path)
        write = module.write_table if _format_of(path) == "parquet" else module.write_feather
        write(_table_of(core, arrow), temporary)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def read_arrow(path: str) -> tuple[_core.Explanations | None, Any]:
    """Explanations that `assay` wrote; any other table is returned as it is."""
    arrow = needed("pyarrow", "arrow", "reading .parquet and .feather")
    try:
        table = _module_of(path).read_table(path)
    except arrow.ArrowInvalid as problem:
        raise ValueError(f"{path}: expected a {_format_of(path)} file, found {problem}") from None
    names = table.column_names
    if _FIXED not in (names[:4], names[1:5]):
        return None, table
    # The engine reads the columns as text, which holds float32 exactly.
    columns = [_plain(table.column(j), arrow) for j in range(len(names))]
    csv = needed("pyarrow.csv", "arrow", "reading .parquet and .feather")
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "explanations.csv")
        csv.write_csv(arrow.table(columns, names=names), text)
        try:
            return _core.Explanations.read(text), None
        except ValueError as problem:
            raise ValueError(str(problem).replace(text, path)) from None


def _format_of(path: str) -> str | None:
    extension = os.path.splitext(path)[1].lower()
    return {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}.get(extension)


def _module_of(path: str) -> Any:
    return needed(f"pyarrow.{_format_of(path)}", "arrow", ".parquet and .feather files")


def _table_of(core: _core.Explanations, arrow: Any) -> Any:
    def numbers(values: Any) -> Any:
        return arrow.array(np.asarray(values, np.float32), from_pandas=True)  # NaN is undefined, as null is

    targets = [core.target_names[k] for k in core.target] if len(core.target) else [None] * len(core.values)
    columns = {"target": arrow.array(targets, arrow.string()).dictionary_encode()}
    columns |= {name: numbers(getattr(core, name)) for name in _FIXED[1:]}
    parts = (("", core.values), (" (stderr)", core.standard_error), (" (background stderr)", core.background_error))
    for suffix, values in parts:
        if values is None:
            continue
        for j, feature in enumerate(core.features):
            name = f"{_told_apart(feature, ' (feature)')}{suffix}"
            if name in columns:
                raise ValueError(
                    f"a table of explanations: expected columns of different names (.npz and .json need none), found "
                    f"{name!r} twice"
                )
            columns[name] = numbers(values[:, j])
    if not core.ids:
        return arrow.table(columns)
    id_name = _told_apart(core.id_name or "id", " (id)")
    while id_name in columns:
        id_name += " (id)"
    ids = {id_name: arrow.array(core.ids, arrow.string())}
    return arrow.table(ids | columns).replace_schema_metadata({_ID_KEY: id_name.encode()})


def _told_apart(name: str, suffix: str) -> str:
    return f"{name}{suffix}" if name in _FIXED else name


def _plain(column: Any, arrow: Any) -> Any:
    if arrow.types.is_dictionary(column.type):
        return column.cast(arrow.string())
    if not arrow.types.is_floating(column.type):
        return column
    return arrow.array(column.to_numpy(), from_pandas=True)
