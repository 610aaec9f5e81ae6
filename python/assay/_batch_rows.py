"""The rows of an Arrow batch as engines hand them in: ids that are checked, decimal numbers that become plain ones."""

from __future__ import annotations

from typing import Any


def checked_ids(arrow: Any, ids: Any, name: str, id_type: str) -> Any:
    """The ids as one array of the job's type; a ValueError if one is missing or there twice, or the type is another."""
    plain = isinstance(ids, (arrow.Array, arrow.ChunkedArray))
    column = ids if plain else arrow.Array.from_pandas(ids)
    column = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        row = next(i for i, each in enumerate(column) if not each.is_valid)
        raise ValueError(f"batch, row {row + 1}, column {name!r}: expected the name of the row, found none")
    wanted = getattr(arrow, id_type)()
    if column.type != wanted and column.type not in (arrow.large_string(), arrow.string_view()):
        raise ValueError(f"batch, column {name!r}: expected {id_type}, as the job has it, found {column.type}")
    if column.type != wanted and id_type != "string":
        raise ValueError(f"batch, column {name!r}: expected {id_type}, as the job has it, found string")
    column = column.cast(wanted)
    if len(column.unique()) < len(column):
        double = next(each["values"].as_py() for each in column.value_counts() if each["counts"].as_py() > 1)
        raise ValueError(f"batch, column {name!r}: expected a name of its own for each row, found {double!r} twice")
    return column


def with_plain_numbers(arrow: Any, rows: Any) -> Any:
    """A table whose decimal numbers, which databases like, are float64: the engine keeps float32 anyway."""
    if rows is None:
        return None
    table = rows if isinstance(rows, arrow.Table) else arrow.Table.from_batches([rows])
    for i, field in enumerate(table.schema):
        if arrow.types.is_decimal(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(arrow.float64()))
    return table
