"""The same explanations, bit for bit, on one core or on a cluster: a job that workers open.

    job = assay.batch.job("model.onnx", "kernel_shap:samples=40", baseline="zero", target=1, id="row_id")
    session = job.open()
    for batch in batches:  # Arrow record batches, Arrow tables or DataFrames
        write(session(batch))

A job carries all that workers need: the model's bytes, the reference, the pool, the seed. It can be pickled and sent
anywhere; `assay.spark` and `assay.ray` do that. No result depends on how rows are parted into batches.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import is_instance
from ._batch_alone import check_alone, rows_to_try
from ._batch_bytes import Parts, explainers_of, hash_of, parts_of
from ._batch_columns import Column, Found, columns_of, columns_of_scores
from ._batch_rows import checked_ids, with_plain_numbers
from ._explainer import Explainer
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
                 (both are tried on rows of pool or background: what depends on the other rows of a batch is refused)
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
    names = [each.partition(":")[0] for each in specs]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ValueError(f"methods: expected each method once, found {double} twice; make a job for each")
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
    made = made.with_id_type(id_type)._with_results()
    if made.criteria or made.aggregators:
        tried = rows_to_try([pool, background])
        if tried is None:
            raise ValueError(
                "pool: expected two rows or more, to try whether criteria and aggregators look at the other rows of a "
                "batch, found none"
            )
        check_alone(Session(made, 1)._found, tried)
    return made


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

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that decides the results; the same in every process that makes the same job."""
        return hash_of(self._parts, self._rest)

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
        return self if id_type == self.id_type else replace(self, id_type=id_type)

    def open(self, threads: int = 1) -> Session:
        """A session for one process. threads: 1 where an engine runs a worker for each core."""
        return Session(self, threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._parts, *self._rest)

    @cached_property
    def _parts(self) -> tuple[Parts, ...]:
        return parts_of(self.explainers)

    @property
    def _rest(self) -> list[Any]:
        """All fields but the explainers."""
        return [getattr(self, each.name) for each in fields(self)][1:]

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
        arrow = needed("pyarrow", "arrow", "a batch")
        if is_instance(batch, "pandas", "DataFrame"):
            ids, rows = self._parted(
                list(batch.columns), len(batch), lambda name: batch[name], lambda names: batch[names]
            )
            return self._results(ids, rows, len(batch)).to_pandas()
        if not isinstance(batch, (arrow.RecordBatch, arrow.Table)):
            raise ValueError(
                f"batch: expected an Arrow record batch, a table or a DataFrame, found {type(batch).__name__}"
            )
        ids, rows = self._parted(batch.schema.names, batch.num_rows, batch.column, batch.select)
        made = self._results(ids, with_plain_numbers(arrow, rows), batch.num_rows)
        if isinstance(batch, arrow.Table):
            return made
        return (
            made.combine_chunks().to_batches()[0] if batch.num_rows else arrow.RecordBatch.from_pylist([], made.schema)
        )

    def columns_of_rows(self, rows: Any) -> list[Column]:
        """What is found for rows without ids, column by column."""
        return [column for found in self._found(rows) for column in found.columns]

    def _found(self, rows: Any) -> list[Found]:
        job = self._job
        members = [explainer(rows) for explainer in self._explainers]
        made = [("methods", each.method, member) for each, member in zip(self._explainers, members, strict=True)]
        for spec in job.aggregators:
            mixed = aggregate(members, spec, seed=job.seed, threads=self._threads, progress=False)
            made.append(("aggregators", spec, mixed))
        found: list[Found] = []
        for (argument, spec, explanations), prefix in zip(made, self._prefixes(), strict=True):
            found.append(Found(argument, spec, columns_of(explanations, prefix)))
            found += self._scores(explanations, prefix)
        return found

    def _scores(self, explanations: Explanations, prefix: str) -> list[Found]:
        criteria = list(self._job.criteria)
        if not criteria:
            return []
        scored = evaluate(
            explanations, criteria, interval=False, seed=self._job.seed, threads=self._threads, progress=False
        )
        return columns_of_scores(scored, criteria, prefix)

    def _prefixes(self) -> list[str]:
        job = self._job
        names = [each.method.partition(":")[0] for each in self._explainers]
        names += [each.partition(":")[0] for each in job.aggregators]
        beginning = job.prefix or ""
        return [beginning] if len(names) == 1 else [f"{beginning}{name}_" for name in names]

    def _parted(self, found: list[Any], count: int, column: Any, select: Any) -> tuple[Any, Any]:
        """The ids and the features of a batch. One without rows may come without columns, as engines make them."""
        for name in self._job.columns if count else []:
            if name not in found:
                raise ValueError(f"batch: expected a column {name!r}, found {', '.join(map(repr, found)) or 'none'}")
            if found.count(name) > 1:
                raise ValueError(f"batch: expected one column {name!r}, found {found.count(name)}")
        return (column(self._job.id), select(list(self._job.features))) if count else (None, None)

    def _results(self, ids: Any, rows: Any, count: int) -> Any:
        arrow = needed("pyarrow", "arrow", "a batch")
        schema = self._job.schema
        if count == 0:
            return schema.empty_table()
        arrays = [checked_ids(arrow, ids, self._job.id, self._job.id_type)]
        try:
            found = {column.name: column for column in self.columns_of_rows(rows)}
        except ValueError as problem:
            # Rows are counted within the batch, and nobody knows which batch an engine made.
            first = f"the first row of this batch has {self._job.id} {arrays[0][0].as_py()!r}"
            raise type(problem)(f"{problem}; {first}") from None
        for name, kind in self._job.results:
            # Whether errors are known may depend on the rows: they are NaN where they are not.
            values = found.pop(name).values if name in found else np.full(count, np.nan)
            arrays.append(arrow.array(values, getattr(arrow, kind)()))
        if found:
            raise ValueError(f"batch: expected the columns of the job's schema, found also {next(iter(found))!r}")
        return arrow.Table.from_arrays(arrays, schema=schema)


def _texts(argument: str, said: Any, known: Any) -> tuple[str, ...]:
    """Methods, criteria or aggregators with their options, as the command line writes them."""
    several = isinstance(said, Sequence) and not isinstance(said, (str, tuple))
    listed = list(said) if several or said == () else [said]
    return tuple(spec_text(spec_of(argument, each, known, None)) for each in listed)


def _features_of(model: Model) -> tuple[str, ...]:
    """The columns of tables that a model takes."""
    if not isinstance(model, GraphModel):
        raise ValueError(f"features: expected the columns that the model takes, found none for {model.name}")
    return tuple(model._core.raw_columns or model.features)


def _restored(parts: Sequence[Parts], *rest: Any) -> Job:
    return Job(explainers_of(parts), *rest)
