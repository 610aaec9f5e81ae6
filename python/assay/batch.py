"""The same explanations, bit for bit, on one core or on a cluster: a job that workers open.

    job = assay.batch.job("model.onnx", "kernel_shap:samples=40", baseline="zero", target=1, id="row_id")
    session = job.open()
    for batch in batches:  # Arrow record batches, Arrow tables or DataFrames
        write(session(batch))

A job carries all that workers need: the model's bytes, the reference, the pool, the seed. It can be pickled and sent
anywhere; `assay.spark` and `assay.ray` do that. No result depends on how rows are parted into batches.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import is_instance
from ._batch_columns import Column, columns_of, columns_of_scores
from ._explainer import Explainer, _unpickled
from ._explanations import Explanations
from ._functions import aggregate, evaluate
from ._models import GraphModel, Model, load
from ._optional import needed
from ._run import spec_of, spec_text
from ._text import plural

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Job", "Session", "job"]

# The types that the column of ids may have, by Arrow's name, and what Spark calls them.
ID_TYPES = {"int64": "BIGINT", "int32": "INT", "string": "STRING"}
SPARK_TYPES = {"float64": "DOUBLE", "float32": "FLOAT", "string": "STRING"}


def job(
    model: Any,
    methods: Any,
    *,
    id: str,
    features: Sequence[str] | None = None,
    pool: Any = None,
    background: Any = None,
    baseline: Any = None,
    target: Any = None,
    value: str | None = None,
    groups: Any = None,
    criteria: Any = (),
    aggregators: Any = (),
    prefix: str | None = None,
    id_type: str = "int64",
    seed: int = 0,
) -> Job:
    """What is to be done with each row, for workers that open it.

    model        a file, what assay.load or assay.train made, or what assay.wrap takes and the engine can run itself
    methods      one of assay.methods() with its options, as in "kernel_shap:samples=2048", or several
    id           the column that names the rows: engines do not keep their order, so results carry it
    features     the columns that the model takes, in its order; by default those that it names itself
    criteria     criteria that are scored for each row, for each method and aggregator
    aggregators  aggregates of the methods' explanations
    prefix       what the columns of results begin with; by default nothing for one method, and for several the name of
                 each method or aggregator and a "_"
    id_type      "int64", "int32" or "string": the type of the column of ids

    The other arguments are those of `assay.explain`.
    """
    if not isinstance(id, str) or not id:
        raise ValueError(f"id: expected the name of a column, found {id!r}")
    known = load(model) if isinstance(model, str) or hasattr(model, "__fspath__") else model
    specs = _texts("methods", methods, _core.methods())
    if not specs:
        raise ValueError("methods: expected one or more, found none")
    said = {"pool": pool, "background": background, "baseline": baseline, "target": target, "value": value}
    explainers = tuple(Explainer(known, each, groups=groups, seed=seed, threads=1, **said) for each in specs)
    columns = _features_of(explainers[0].model) if features is None else tuple(features)
    if id in columns:
        raise ValueError(f"id: expected a column that is no feature, found {id!r}, which the model takes")
    mixed = _texts("aggregators", aggregators, _core.aggregators())
    if mixed and len(specs) < 2:
        raise ValueError(
            f"aggregators: expected two methods or more to aggregate, found {plural(len(specs), 'method')}"
        )
    made = Job(
        explainers, columns, id, "int64", _texts("criteria", criteria, _core.criteria()), mixed, prefix, seed, ()
    )
    return made.with_id_type(id_type)._with_results()


@dataclass(frozen=True)
class Job:
    """What `job` made: a description that can be pickled, with the schema of its results. `open` makes a session."""

    explainers: tuple[Explainer, ...]
    features: tuple[str, ...]
    id: str
    id_type: str
    criteria: tuple[str, ...]
    aggregators: tuple[str, ...]
    prefix: str | None
    seed: int
    results: tuple[tuple[str, str], ...]
    """The name and type of each column of the results but the id."""

    @property
    def columns(self) -> list[str]:
        """The columns that batches must have; others are not looked at."""
        return [self.id, *self.features]

    @property
    def schema(self) -> pyarrow.Schema:
        """What results look like, for Arrow."""
        arrow = needed("pyarrow", "arrow", "the schema of a job")
        return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in ((self.id, self.id_type), *self.results)])

    @property
    def ddl(self) -> str:
        """What results look like, for Spark."""
        fields = [(self.id, ID_TYPES[self.id_type]), *((name, SPARK_TYPES[kind]) for name, kind in self.results)]
        return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in fields)

    @property
    def hash(self) -> str:
        """SHA-256 of the job's bytes, which decide its results."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The job, for another process. It is a pickle: open only what you made."""
        return pickle.dumps(self, protocol=5)

    @staticmethod
    def from_bytes(content: bytes) -> Job:
        """The job that `to_bytes` gave."""
        made = pickle.loads(content)
        if not isinstance(made, Job):
            raise ValueError(f"content: expected a job of assay.batch, found {type(made).__name__}")
        return made

    def with_id_type(self, id_type: str) -> Job:
        """The same job for another type of ids."""
        if id_type not in ID_TYPES:
            raise ValueError(f"column {self.id!r}: expected {' or '.join(ID_TYPES)}, found {id_type}")
        return replace(self, id_type=id_type)

    def open(self, threads: int = 1) -> Session:
        """A session for one process. threads: 1 where an engine runs a worker for each core."""
        return Session(self, threads)

    def __reduce__(self) -> tuple[Any, ...]:
        rest = [getattr(self, each.name) for each in fields(self)][1:]
        return _restored, ([each._bytes() for each in self.explainers], *rest)

    def __repr__(self) -> str:
        methods = ", ".join(each.method for each in self.explainers)
        return f"<assay.batch.Job {methods} of {self.explainers[0].model.name}>"

    def _with_results(self) -> Job:
        """Tries the job on a row of its own, to know the columns of its results."""
        example = self.explainers[0]._example
        if example is None:
            raise ValueError("pool: expected rows that tell what columns look like, or a background, found neither")
        made = Session(self, 1).columns_of_rows(example)
        names = [self.id, *(column.name for column in made)]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise ValueError(f"prefix: expected one that keeps all columns apart, found {double!r} twice")
        return replace(self, results=tuple((column.name, column.kind) for column in made))


class Session:
    """A job that one process has opened: maps a batch of rows to a batch of results, in the same order.

    >>> job.open()(batch)

    Arrow tables and record batches give the same, DataFrames give DataFrames. It may be called from many threads.
    """

    def __init__(self, job: Job, threads: int) -> None:
        self._job = job
        self._threads = threads
        self._explainers = [
            each if threads == each._threads else each._with_threads(threads) for each in job.explainers
        ]

    @property
    def job(self) -> Job:
        """What is done."""
        return self._job

    def __call__(self, batch: Any) -> Any:
        """The results for these rows."""
        if is_instance(batch, "pandas", "DataFrame"):
            ids, rows = self._parted(list(batch.columns), lambda name: batch[name], lambda names: batch[names])
            return self._results(ids.to_numpy(), rows, len(batch)).to_pandas()
        arrow = needed("pyarrow", "arrow", "a batch")
        if not isinstance(batch, (arrow.RecordBatch, arrow.Table)):
            raise ValueError(
                f"batch: expected an Arrow record batch, a table or a DataFrame, found {type(batch).__name__}"
            )
        ids, rows = self._parted(batch.schema.names, batch.column, batch.select)
        table = rows if isinstance(rows, arrow.Table) else arrow.Table.from_batches([rows])
        made = self._results(ids, table, batch.num_rows)
        if isinstance(batch, arrow.Table):
            return made
        return (
            made.combine_chunks().to_batches()[0] if batch.num_rows else arrow.RecordBatch.from_pylist([], made.schema)
        )

    def columns_of_rows(self, rows: Any) -> list[Column]:
        """What is found for rows without ids, column by column."""
        job = self._job
        members = [explainer(rows) for explainer in self._explainers]
        made = list(members)
        for spec in job.aggregators:
            made.append(aggregate(members, spec, seed=job.seed, threads=self._threads, progress=False))
        columns: list[Column] = []
        for explanations, prefix in zip(made, self._prefixes(), strict=True):
            columns += columns_of(explanations, prefix)
            columns += self._scores(explanations, prefix)
        return columns

    def _scores(self, explanations: Explanations, prefix: str) -> Iterable[Column]:
        criteria = list(self._job.criteria)
        if not criteria:
            return []
        scored = evaluate(
            explanations, criteria, interval=False, seed=self._job.seed, threads=self._threads, progress=False
        )
        return columns_of_scores(scored, prefix)

    def _prefixes(self) -> list[str]:
        job = self._job
        names = [each.method.partition(":")[0] for each in self._explainers]
        names += [each.partition(":")[0] for each in job.aggregators]
        beginning = job.prefix or ""
        return [beginning] if len(names) == 1 else [f"{beginning}{name}_" for name in names]

    def _parted(self, found: list[Any], column: Any, select: Any) -> tuple[Any, Any]:
        """The ids and the features of a batch."""
        missing = [name for name in self._job.columns if name not in found]
        if missing:
            raise ValueError(f"batch: expected a column {missing[0]!r}, found {', '.join(map(repr, found))}")
        return column(self._job.id), select(list(self._job.features))

    def _results(self, ids: Any, rows: Any, count: int) -> Any:
        arrow = needed("pyarrow", "arrow", "a batch")
        schema = self._job.schema
        if count == 0:
            return schema.empty_table()
        named = self._checked_ids(arrow, ids)
        found = {column.name: column for column in self.columns_of_rows(rows)}
        arrays = [named]
        for name, kind in self._job.results:
            # Whether errors are known may depend on the rows: what is not known is null.
            values = found.pop(name).values if name in found else np.full(count, np.nan)
            arrays.append(arrow.array(values, getattr(arrow, kind)()))
        if found:
            raise ValueError(f"batch: expected the columns of the job's schema, found also {next(iter(found))!r}")
        return arrow.Table.from_arrays(arrays, schema=schema)

    def _checked_ids(self, arrow: Any, ids: Any) -> Any:
        job = self._job
        column = ids if isinstance(ids, (arrow.Array, arrow.ChunkedArray)) else arrow.array(ids)
        if column.null_count:
            row = next(i for i, each in enumerate(column) if not each.is_valid)
            raise ValueError(f"batch, row {row + 1}, column {job.id!r}: expected the name of the row, found none")
        wanted = getattr(arrow, job.id_type)()
        kind = {arrow.large_string(): arrow.string(), arrow.string_view(): arrow.string()}.get(column.type, column.type)
        if kind != wanted:
            raise ValueError(
                f"batch, column {job.id!r}: expected {job.id_type}, as the job has it, found {column.type}"
            )
        column = column.cast(wanted)
        distinct = column.unique()
        if len(distinct) < len(column):
            counts = column.value_counts()
            double = next(each["values"].as_py() for each in counts if each["counts"].as_py() > 1)
            raise ValueError(
                f"batch, column {job.id!r}: expected a name of its own for each row, found {double!r} twice"
            )
        return column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column


def _texts(argument: str, said: Any, known: Any) -> tuple[str, ...]:
    """Methods, criteria or aggregators with their options, as the command line writes them."""
    several = isinstance(said, Sequence) and not isinstance(said, (str, tuple))
    listed = list(said) if several or said == () else [said]
    return tuple(spec_text(spec_of(argument, each, known, None)) for each in listed)


def _features_of(model: Model) -> tuple[str, ...]:
    """The columns of tables that a model takes."""
    raw = model._core.raw_columns if isinstance(model, GraphModel) else None
    return tuple(raw or model.features)


def _restored(contents: Sequence[bytes], *rest: Any) -> Job:
    """Explainers share one model, as aggregates of their explanations need it."""
    first = _unpickled(contents[0])
    return Job((first, *(_unpickled(each, first) for each in contents[1:])), *rest)
