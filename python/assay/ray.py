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
# How often a batch is tried again that its actor did not survive: one that never succeeds must not go on forever.
RETRIES = 3
# What ids of texts may be called: by Arrow, by pandas.
_TEXTS = ("string", "large_string", "string_view", "object", "str")


class _Worker:
    """What each actor of the pool holds."""

    def __init__(self, content: Any, key: str) -> None:
        """content: where Ray keeps the job's bytes, which a machine gets once."""
        self._session = session_of(key, lambda: needed("ray", "ray", "assay.ray").get(content))

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        return self._session(batch)


def explain(ds: Any, job: Job, *, concurrency: Any = None, batch_size: int = BATCH_ROWS) -> Any:
    """The results of a job for each row of ds: the id and the columns of job.schema. Ray does not promise their order.

    concurrency: how many actors, each with a core, or (least, most); by default at least one, and more as cores are
    free. Reading needs a core of its own. An actor that dies is started again, and its batch is done again, up to three
    times. Ids that are there twice are refused where they meet in a batch; elsewhere each row has its result."""
    ray, data = needed("ray", "ray", "assay.ray"), needed("ray.data", "ray", "assay.ray")
    job = job.with_id_type(_id_type(ds.schema(), job))
    if concurrency is None:
        concurrency = (1, max(1, int(ray.cluster_resources().get("CPU", 1))))
    least, most = concurrency if isinstance(concurrency, tuple) else (concurrency, concurrency)
    return ds.map_batches(
        _Worker,
        fn_constructor_args=(ray.put(job.to_bytes()), job.hash),
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=RETRIES,
    )


def _id_type(schema: Any, job: Job) -> str:
    """The type of the ids, as Arrow calls it; a ValueError if a column that the job takes is not there."""
    if schema is None:  # of no rows at all
        return job.id_type
    found = dict(zip(schema.names, schema.types, strict=True))
    for name in job.columns:
        if name not in found:
            raise ValueError(f"ds: expected a column {name!r}, found {', '.join(map(repr, found))}")
    kind = found[job.id]
    text = str(getattr(kind, "value_type", kind))  # of a dictionary, that of its values
    return "string" if text in _TEXTS else text
