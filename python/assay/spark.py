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


def explain(df: DataFrame, job: Job) -> DataFrame:
    """The results of a job for each row of df: the id and the columns of job.schema.

    Partitions stay as they are. Each Python worker opens the job once, with one thread: run a worker for each core. A
    task that fails is done again by Spark, where it may (local[2,4], or spark.task.maxFailures)."""
    needed("pyspark", "spark", "assay.spark")
    found = dict(df.dtypes)
    missing = [name for name in job.columns if name not in found]
    if missing:
        raise ValueError(f"df: expected a column {missing[0]!r}, found {', '.join(map(repr, df.columns))}")
    typed = job.with_id_type(_ID_TYPES.get(found[job.id], found[job.id]))
    content = df.sparkSession.sparkContext.broadcast(typed.to_bytes())
    columns = [df[f"`{name.replace('`', '``')}`"] for name in job.columns]
    return df.select(*columns).mapInArrow(_worker(content, typed.hash), typed.ddl)


def _worker(content: Any, key: str) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        session = session_of(key, lambda: content.value)
        for batch in batches:
            yield session(batch)

    return run
