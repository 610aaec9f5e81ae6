"""Explainer: an explanation function that is ready for rows that come one at a time."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import is_instance
from ._catalogue import Entry
from ._explainer_file import Saved, front_end_text, model_of_file, read_front_end
from ._explanations import Explanations
from ._files import Path, check_folder, path_text, system_errors
from ._functions import explained
from ._models import GraphModel, Model
from ._order import RowNames
from ._run import ProgressLike, run_of, spec_of, spec_text
from ._subject import RowArguments, cells_of, names_beside, one_row, rows_of, subject_of
from ._tables import Table, named_kind, row_count, select_rows
from ._trees import TreeModel
from ._trees_rows import TreeRows
from ._wrap import wrap

# SHAP's habit, assay.Explainer(model, X): so many rows of X are the background.
MOST_BACKGROUND = 100
# With so few players all coalitions are no more than Kernel SHAP's samples, and the values are exact.
MOST_EXACT = 11


class Explainer:
    """An explanation function that is ready for rows that come one at a time.

    What does not depend on the rows (tables of trees, designs of coalitions and their factorisations) is made once,
    here. A call then costs what its rows cost, gives the same bits as `assay.explain` with the same arguments and seed,
    and may be made from many threads at once.

    >>> explainer = assay.Explainer(model, "tree_shap", background=X_train[:100])
    >>> explainer(x).values

    model      what assay.load, assay.wrap or assay.train made; what assay.wrap takes is wrapped
    method     one of assay.methods(), with its options as keyword arguments; or background rows, as SHAP's explainers
               take them: the method is then chosen for the model, and `method` says which

    The other arguments are those of `assay.explain`. Of models that Python runs, only designs of coalitions are kept. A
    wrapped tree model is compared with its library once, not at each call: for the rows given here, or else for those
    of the first call. If it is fitted again, calls are refused.

    `save` writes it to a file and `Explainer.load` reads it back, with the same bits; `pickle` works too. Models that
    Python runs cannot be saved.
    """

    def __init__(
        self,
        model: Any,
        method: Any = None,
        *,
        baseline: Any = None,
        background: Any = None,
        pool: Any = None,
        target: Any = None,
        value: str | None = None,
        groups: Any = None,
        seed: int = 0,
        threads: int = 0,
        **options: Any,
    ) -> None:
        self._model = model if isinstance(model, Model) else wrap(model)
        if not _is_method(method):
            if background is not None or baseline is not None:
                raise ValueError("method: expected the name of one beside background= or baseline=, found rows")
            background, pool = _shap_background(method, pool)
            method = None
        if target is not None and not isinstance(target, (str, int, np.integer)):
            found = type(target).__name__
            raise ValueError(f"target: expected one class or output for all rows to come, found {found}")
        self._said = RowArguments(None, None, pool, None, baseline, background, target, value, groups)
        self._set_run(seed, threads)
        self._example = self._example_row()
        if method is None:
            self._spec, subject = self._choose(options)
        else:
            self._spec = spec_of("method", method, _core.methods(), options)
            subject = self._ground(self._spec, self._example)
        self._prepare(subject, self._example)

    def _set_run(self, seed: int, threads: int) -> None:
        self._run = run_of(seed, threads, False)
        self._seed, self._threads = seed, threads
        self._prepared: _core.Prepared | None = None
        self._designs = _core.Designs()  # of models that Python runs
        self._waits = False  # for a first call, whose rows tell the columns
        self._takes: tuple[type, ...] = ()
        self._reader = self._model  # converts rows
        self._copied: TreeModel | None = None  # whose library may change
        self._compared = True  # whether rows of the user have been compared with that library
        self._unnamed: list[str] = []  # arguments whose columns have no names
        self._beside = ""  # an argument whose columns have names

    @property
    def model(self) -> Model:
        """What is explained."""
        return self._model

    @property
    def method(self) -> str:
        """The explanation function with the options that were given, as the command line writes it."""
        return spec_text(self._spec)

    def __call__(self, X: Any, *, ids: Any = None, progress: ProgressLike = None) -> Explanations:
        """The explanation of each row of X: a table or array, or one row as an array of one dimension, a Series or a
        dict."""
        if self._copied is not None:
            self._check_library(X)
        plain = type(X) is np.ndarray and X.dtype.type in self._takes
        if plain and ids is None and progress is None and self._prepared is not None:
            floats = X.dtype.type is np.float32
            take = self._prepared.explain_floats if floats else self._prepared.explain_doubles
            made = take(X, self._run)
            if made is not None:
                return Explanations._of(made)
        X = self._rows(X)
        if self._waits:
            self._prepare(self._ground(self._spec, X), X)
        said, run = self._with_rows(X, ids), run_of(self._seed, self._threads, progress)
        if self._prepared is None:
            return explained(self._model, said, self._spec, run, designs=self._designs)
        rows, words = rows_of(self._reader, said, self._unnamed)
        made = self._prepared.explain(rows, words, run)
        return Explanations._of(made, cells_of(X, made.features), row_names=RowNames.of(X, said.pool))

    def __repr__(self) -> str:
        return f"<assay.Explainer {self.method} of {self._model!r}>"

    def save(self, path: Path) -> None:
        """Writes it to a file, whole or not at all: the model's bytes and their SHA-256, the method with its options
        and seed, what is explained, columns, groups, reference and pool. `Explainer.load` reads it."""
        name = path_text("path", path)
        check_folder(os.path.dirname(name))
        with system_errors():
            self._write(name)

    @classmethod
    def load(cls, path: Path, *, threads: int | None = None) -> Explainer:
        """What `save` wrote, with the same bits. Tables and designs are made again here. threads: others than those
        that it was saved with."""
        name = path_text("path", path)
        with system_errors():
            return cls._restored(Saved.read(name), name, threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._bytes(),)

    def _bytes(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "explainer")
            self._write(path)
            with open(path, "rb") as file:
                return file.read()

    def _with_threads(self, threads: int) -> Explainer:
        """One that shares what is prepared."""
        made = object.__new__(Explainer)
        made.__dict__.update(self.__dict__)
        made._run, made._threads = run_of(self._seed, threads, False), threads
        return made

    def __copy__(self) -> Explainer:
        return self  # calls do not change it

    def __deepcopy__(self, memo: Any) -> Explainer:
        return self

    def _write(self, path: str) -> None:
        model = self._model
        if self._waits:
            raise ValueError(
                "explainer: expected one that knows its columns, found one that waits for its first rows; call it "
                "once, or give pool= or background="
            )
        if self._prepared is None or not isinstance(model, GraphModel):
            raise _core.UnsupportedError(
                f"explainer: expected a model that the engine runs itself, found {model.name}, which Python runs and "
                "no file can hold; save what makes it, and prepare it again from that"
            )
        said = self._said.value
        unit = model._value if said is None or said == "information" else said
        text = front_end_text(model, said, self._threads, self._example, self._unnamed, self._beside)
        self._prepared.write(path, model.name, model._kept, unit or "", text, self._run)

    @classmethod
    def _restored(cls, saved: Saved, where: str, threads: int | None, beside: Explainer | None = None) -> Explainer:
        """beside: one whose model is shared if it is the same, so that their explanations go together."""
        front = read_front_end(where, saved)
        made = cls.__new__(cls)
        model = model_of_file(saved, front)
        known = None if beside is None else beside._model
        if isinstance(known, GraphModel) and pickle.dumps(known) == pickle.dumps(model):
            model = known
        made._model = model
        made._said = RowArguments(None, value=front.value)
        made._set_run(saved.seed, front.threads if threads is None else threads)
        made._example = front.example(where)
        made._spec = saved.method
        unit = model._value if front.value is None or front.value == "information" else front.value
        subject = saved.subject(where, *model._in_units(unit, saved.features), model)
        made._unnamed, made._beside = front.unnamed, front.beside
        made._prepare(subject, made._example)
        return made

    def _prepare(self, subject: _core.Subject | None, table: Any) -> None:
        """Makes what calls share, if the model is the engine's own. table: of the rows that the subject has."""
        self._waits = subject is None
        if subject is None or not subject.model.is_graph:
            return
        if self._said.baseline is not None or self._said.background is not None or self._said.pool is not None:
            baseline = one_row(self._said.baseline, table, "baseline", self._model)
            self._unnamed, named = names_beside(self._said, baseline)
            self._beside = named[0] if named else ""
        self._prepared = _core.Prepared(subject, self._spec, self._run, self._beside)
        if isinstance(self._model, TreeModel):
            self._reader, self._copied = self._model.without_library(), self._model
            given = (self._said.background, self._said.pool)
            self._compared = any(each is not None and not isinstance(each, str) for each in given)
        core = subject.model
        plain = type(self._reader) is GraphModel or (
            isinstance(self._reader, TreeRows) and not self._reader._arrays_hold_values
        )
        # Others need the package's conversion: codes of categories, cells that must stay float64.
        if plain and core.plain_rows and not core.categories and not core.takes_doubles:
            self._takes = (np.float32,) if core.compares_doubles else (np.float32, np.float64)

    def _check_library(self, X: Any) -> None:
        """Raises a ValueError if the library's model has changed, or is another model for the first rows."""
        copied = self._copied
        if copied is None:
            return
        if copied.fitted_again():
            raise ValueError(
                f"model: expected {copied.name} as it was prepared, found that it was fitted again; wrap it and "
                "prepare another explainer"
            )
        if not self._compared:
            rows = self._rows(X)
            copied._bind([("X", rows)], None if self._said.value == "information" else self._said.value)
            self._compared = row_count(rows) > 0

    def _ground(self, spec: _core.Spec, table: Any) -> _core.Subject | None:
        """Model, players and reference, joined to rows that stand for those to come; None if there are none yet."""
        if table is None:
            return None
        needed = next(each for each in _core.methods() if each.name == spec[0]).uses_reference
        return subject_of(self._model, self._with_rows(table), self._run, reference_needed=needed, method=spec)

    def _example_row(self) -> Any:
        """One row in the form that users have rows in; None if there is none."""
        said = self._said
        for given in (said.background, said.pool):
            if given is not None and not isinstance(given, str):
                return select_rows(given, range(min(1, row_count(given))))
        if named_kind(said.baseline, "baseline") is not None:
            return said.baseline
        if isinstance(self._model, GraphModel) and self._model._core.plain_rows:
            return np.zeros((1, len(self._model.features)), np.float32)
        if isinstance(self._model, GraphModel) and self._model._core.raw_columns:
            return Table(self._model._core.example_row())
        return None

    def _choose(self, options: Mapping[str, Any]) -> tuple[_core.Spec, _core.Subject | None]:
        """The first of these methods that can explain the model, and what it explains."""
        said = self._said
        if said.background is None and said.pool is None:
            raise ValueError(
                "method: expected the name of one, or background rows (assay.Explainer(model, X)), found neither"
            )
        # Of trees, then exact, then sampled; of several of a kind the first.
        known = sorted((each for each in _core.methods() if each.shapley), key=_effort)
        for method in known:
            spec = spec_of("method", method.name, _core.methods(), options if method.sampled else None)
            try:
                subject = self._ground(spec, self._example)
            except _core.UnsupportedError:
                if method is known[-1]:
                    raise
                continue
            few = subject is not None and len(subject.players) <= MOST_EXACT
            if method.for_trees or method.sampled or few:
                break
        return spec, subject

    def _with_rows(self, X: Any, ids: Any = None) -> RowArguments:
        said = self._said
        return RowArguments(
            X, None, said.pool, None, said.baseline, said.background, said.target, said.value, said.groups, ids
        )

    def _rows(self, X: Any) -> Any:
        """X as a table: one row may come in other forms."""
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.names is None:
            return X[np.newaxis]
        if isinstance(X, Mapping) or is_instance(X, "pandas", "Series"):
            if self._example is None:
                raise ValueError("X: expected a table, found one row of named cells, and no pool= to tell their form")
            return one_row(X, self._example, "X", self._model)
        return X


def _effort(method: _core.MethodInfo) -> tuple[bool, bool]:
    return not method.for_trees, method.sampled


def _is_method(said: Any) -> bool:
    named = isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], (str, Entry))
    return said is None or isinstance(said, (str, Entry)) or named


def _shap_background(rows: Any, pool: Any) -> tuple[Any, Any]:
    """background= and pool= for rows that SHAP would call a masker."""
    if pool is not None:
        raise ValueError("method: expected the name of one beside pool=, found rows")
    if row_count(rows) <= MOST_BACKGROUND:
        return rows, None
    return f"pool:{MOST_BACKGROUND}", rows


def _unpickled(content: bytes, beside: Explainer | None = None) -> Explainer:
    return Explainer._restored(Saved.from_bytes("pickled explainer", content), "pickled explainer", None, beside)
