"""Explanations of a Ray Dataset, with the bits of one process: assay.ray.explain(ds, job)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._optional import needed
from ._worker import session_of
from .batch import Job

if TYPE_CHECKING:
    import pyarrow

__all__ = ["explain"]

BATCH_ROWS = 65_536


class _Worker:
    """What each actor of the pool holds."""

    def __init__(self, content: Any, key: str) -> None:
        self._session = session_of(key, lambda: content)
        self._columns = self._session.job.columns

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        return self._session(batch.select(self._columns))


def explain(ds: Any, job: Job, *, concurrency: Any = None, batch_size: int = BATCH_ROWS) -> Any:
    """The results of a job for each row of ds: the id and the columns of job.schema. Ray does not promise their order.

    concurrency: how many actors, each with a core, or (least, most); by default at least one, and more as cores are
    free. Reading needs a core of its own. An actor that dies is started again, and its batches are done again."""
    ray = needed("ray", "ray", "assay.ray")
    arrow = needed("pyarrow", "arrow", "assay.ray")
    schema = ds.schema()
    found = dict(zip(schema.names, schema.types, strict=True)) if schema is not None else {}
    missing = [name for name in job.columns if name not in found]
    if found and missing:
        raise ValueError(f"ds: expected a column {missing[0]!r}, found {', '.join(map(repr, found))}")
    if found:
        kind = found[job.id]
        job = job.with_id_type("string" if kind in (arrow.large_string(), arrow.string_view()) else str(kind))
    if concurrency is None:
        concurrency = (1, max(1, int(ray.cluster_resources().get("CPU", 1))))
    return ds.map_batches(
        _Worker,
        fn_constructor_args=(job.to_bytes(), job.hash),
        batch_format="pyarrow",
        batch_size=batch_size,
        concurrency=concurrency,
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=-1,
    )
