"""Explanations of a Spark DataFrame, with the bits of one process: assay.spark.explain(df, job)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._optional import needed
from ._worker import session_of
from .batch import Job

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

__all__ = ["explain"]

# Spark's types of ids, as Arrow calls them.
_ID_TYPES = {"bigint": "int64", "int": "int32", "string": "string"}


def explain(df: DataFrame, job: Job, *, check_ids: bool = False) -> DataFrame:
    """The results of a job for each row of df: the id and the columns of job.schema.

    Partitions stay as they are. Each Python worker opens the job once, with one thread: run a worker for each core. A
    task that fails is done again by Spark, where it may (local[2,4], or spark.task.maxFailures).

    check_ids: whether all ids are compared first, which is a job of its own. Without it, ids that are there twice are
    refused only where they meet in a batch; elsewhere each of the rows has its result."""
    needed("pyspark", "spark", "assay.spark")
    typed = job.with_id_type(_id_type(df, job))
    # By place, because names may have dots and backticks, which Spark reads as its own, or differ in upper and lower
    # case alone. The workers get the names back.
    numbered = df.toDF(*(f"_{place}" for place in range(len(df.columns))))
    chosen = numbered.select(*(f"_{df.columns.index(name)}" for name in job.columns))
    if check_ids:
        _check_ids(chosen.select(chosen.columns[0]), job.id)
    return chosen.mapInArrow(_worker(_sent(df, typed.to_bytes()), typed.hash, job.columns), typed.ddl)


def _id_type(df: DataFrame, job: Job) -> str:
    """The type of the ids, as Arrow calls it; a ValueError if a column that the job takes is not there once."""
    for name in job.columns:
        if df.columns.count(name) != 1:
            found = ", ".join(map(repr, df.columns))
            raise ValueError(f"df: expected one column {name!r}, found {df.columns.count(name)} in {found}")
    kind = str(dict(df.dtypes)[job.id])
    return _ID_TYPES.get(kind, kind)


def _check_ids(ids: DataFrame, name: str) -> None:
    double = ids.groupBy(ids.columns[0]).count().where("count > 1").limit(1).collect()
    if double:
        value, count = double[0]
        raise ValueError(f"df, column {name!r}: expected a name of its own for each row, found {value!r} {count} times")


def _sent(df: DataFrame, content: bytes) -> Callable[[], bytes]:
    """What gives a worker the job's bytes: a broadcast, which a machine gets once; with Spark Connect, which has none,
    the function itself carries them."""
    if type(df).__module__.startswith("pyspark.sql.connect."):
        return lambda: content
    broadcast: Any = df.sparkSession.sparkContext.broadcast(content)
    return lambda: broadcast.value


def _worker(
    content: Callable[[], bytes], key: str, names: list[str]
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        session = session_of(key, content)
        for batch in batches:
            yield session(batch.rename_columns(names))

    return run
