"""assay.study: every method, criterion and aggregator on one model, and which explanation to trust."""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from . import _core
from ._cohorts import cohorts_of
from ._files import Path, path_text
from ._id_columns import without_ids
from ._models import GraphModel, Model
from ._order import RowNames
from ._run import ProgressLike, run_of, spec_list, spec_text, text_of, whole_number, yes_or_no
from ._study_result import Study
from ._study_settings import inputs_of, setting_words
from ._subject import SPREAD, RowArguments, subject_of
from ._tables import Table

__all__ = ["Study", "study", "study_plan"]


def study(
    model: Model | str,
    X: Any = None,
    *,
    pool: Any = None,
    y: Any = None,
    pool_y: Any = None,
    methods: Any = None,
    criteria: Any = None,
    aggregators: Any = None,
    members: Any = None,
    baseline: Any = None,
    background: Any = None,
    target: Any = None,
    value: str | None = None,
    groups: Any = None,
    ids: Any = None,
    classes: Any = None,
    cohort: Any = None,
    sample: int | str = "auto",
    pool_sample: int | str = "auto",
    time: str | float | None = "1m",
    margin: float = 0.05,
    tie: float = 0.002,
    retrain: bool = False,
    curves: bool = True,
    variations: bool = True,
    cells: bool = True,
    out: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    seed: int = 0,
    threads: int = 0,
    progress: ProgressLike = None,
) -> Study:
    """Which explanation of this model to trust, and whether a better one can be made.

    Explains a sample of the rows by every method that the model allows, scores each by the paper's criteria, aggregates
    the methods by every aggregator, scores those too, and says what the numbers support.

    model        what assay.load, assay.wrap or assay.train made; or the name of a data set alone, as in
                 assay.study("iris"): a small network is trained on its training part, and its test part is studied
    X, y         rows to explain, and their labels where there are some
    pool, pool_y training rows, which neighbours and references come from, and their labels
    methods, criteria, aggregators   lists of names, as in ["gradient", "kernel_shap:samples=64"], or one text joined by
                 commas; by default all methods that the model allows, the paper's criteria, all aggregators ("none" or
                 []: none)
    members      the methods that are aggregated, or "paper" for the paper's six; by default those found faithful on
                 rows of the pool that are not studied
    classes      names of the model's classes, in its order, as in ["good", "bad"] or "good,bad"; by default its own. If
                 it only counts them (0, 1, ...), labels that are texts name them where its predictions tell them apart
    cohort       columns to group the rows by, which quality, drivers and faithfulness are then given for: the name of a
                 column of X, "label", "prediction" (right or wrong), a list of them, or a dict from names to one value
                 for each row of X; by default "prediction" and the two main drivers
    sample       how many rows to study, in the classes' shares, or "all"; "auto": 500, fewer where there are many
                 features
    pool_sample  how many rows of the pool to use, or "all"
    margin       how far behind the best faithfulness an explanation may be to count as faithful
    tie          explanations whose faithfulness differs by less are equally good: the better made one is chosen
    time         how long the study may take on these threads, as in "30s", "2m" or "1h", or a number of seconds: rows,
                 methods and more are chosen to fit; None or "none" for no limit
    retrain      also the criteria that train the model again, roar and kar
    baseline, background  as in assay.explain; by default "spread:100", a background of 100 rows of the pool that are
                 spread over the model's scores
    curves, variations   sensitivity by radius and faithfulness by subset size; another seed and another reference
    cells        whether report.html shows the values of rows
    out          the folder that the study goes to; by default a temporary one, which goes with the Study
    resume       goes on with the study that the folder holds, from its finished parts: with the same arguments
    overwrite    replaces the study that the folder holds

    The others are those of assay.explain.

    >>> study = assay.study(model, X_test, pool=X_train, y=y_test)
    >>> study.best("faithfulness")
    """
    flags = _flags(retrain=retrain, curves=curves, variations=variations)
    more = _flags(cells=cells, resume=resume, overwrite=overwrite)
    folder = "" if out is None else path_text("out", out, "folder")
    if resume and overwrite:
        raise ValueError("resume: expected no overwrite beside it, found both")
    if resume and out is None:
        raise ValueError("resume: expected out=, the folder of the study to go on with, found none")
    said = RowArguments(X, y, pool, pool_y, baseline, background, target, value, groups, ids, classes)
    chosen = _chosen(methods, criteria, aggregators, members)
    counts = _counts(sample, pool_sample, time) | _shares(margin=margin, tie=tie)
    asked = _asked(model, said, chosen | flags, counts, run_of(seed, threads, progress))
    subject = asked.subject
    cohorts = cohorts_of(cohort, asked.given.X, subject.data.feature_names)
    temporary = None if out is not None else tempfile.mkdtemp(prefix="assay-study-")
    folder = folder if temporary is None else os.path.join(temporary, "study")
    try:
        result = _core.run_study(
            subject,
            asked.run,
            **asked.chosen,
            **asked.counts,
            reference_said=asked.reference_said,
            background=asked.background,
            cells=more["cells"],
            cohort_named=cohorts.named,
            cohort_words=cohorts.words,
            cohort_columns=cohorts.columns,
            folder=folder,
            resume=more["resume"],
            overwrite=more["overwrite"],
            title=asked.title,
            data_words=subject.data_words,
            pool_words=subject.pool_words,
            players_words=subject.players_words,
            settings=setting_words(asked.said, asked.chosen, {**asked.counts, "cells": more["cells"]})
            + cohorts.setting(),
            inputs=inputs_of(asked.model, subject, asked.said),
        )
        made = Study._of(result, RowNames.of(asked.said.X, asked.said.pool))
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary is not None:
        weakref.finalize(made, _remove, temporary, os.getpid())
    return made


def study_plan(model: Model | str, X: Any = None, **arguments: Any) -> str:
    """What `assay.study` with these arguments would do, how many evaluations of the model that takes, and how long it
    is expected to take, from a trial on a few rows.

    >>> print(assay.study_plan(model, X_test, pool=X_train))
    """
    bound = inspect.signature(study).bind(model, X, **arguments)
    bound.apply_defaults()
    given = bound.arguments
    said = RowArguments(*(given[each.name] for each in fields(RowArguments) if each.name in given))
    chosen = _chosen(*(given[name] for name in ("methods", "criteria", "aggregators", "members")))
    chosen |= _flags(**{name: given[name] for name in ("retrain", "curves", "variations")})
    run = run_of(given["seed"], given["threads"], given["progress"])
    counts = _counts(given["sample"], given["pool_sample"], given["time"])
    counts |= _shares(margin=given["margin"], tie=given["tie"])
    asked = _asked(model, said, chosen, counts, run)
    cohorts_of(given["cohort"], asked.given.X, asked.subject.data.feature_names)
    text, _, _ = _core.plan_study(
        asked.subject,
        asked.run,
        **asked.chosen,
        **asked.counts,
        reference_said=asked.reference_said,
        background=asked.background,
        title=asked.title,
    )
    return text


@dataclass(frozen=True)
class _Asked:
    model: Model
    given: RowArguments  # with columns that only name rows
    said: RowArguments
    subject: _core.Subject
    chosen: dict[str, Any]
    counts: dict[str, Any]
    run: _core.Run

    @property
    def title(self) -> str:
        return f"{self.model.name} on {self.subject.data_words}"

    @property
    def reference_said(self) -> bool:
        return self.said.baseline is not None or (self.said.background is not None and self.background == 0)

    @property
    def background(self) -> int:
        """The N of "spread:N", which the study itself chooses from the rows that it uses; else 0."""
        return _core.spread_count(self.said.background) if _is_spread(self.said.background) else 0


def _asked(
    model: Model | str,
    said: RowArguments,
    chosen: dict[str, Any],
    counts: dict[str, Any],
    run: _core.Run,
) -> _Asked:
    if isinstance(model, str):
        model, said = _trained_on(model, said, run)
    if said.X is None:
        raise ValueError("X: expected rows to explain, found none")
    if said.pool is None:
        raise ValueError("pool: expected training rows, which neighbours and references come from, found none")
    given = said
    said, notes = without_ids(model, said) if isinstance(model, Model) else (said, [])
    if _is_spread(said.background):
        _core.spread_count(text_of("background", said.background))  # refuses what is no number
        if said.baseline is not None:
            raise ValueError("baseline: expected one of baseline and background, found both")
    # The study chooses such a background from the sample of the pool that it uses.
    plain = replace(said, background=None) if _is_spread(said.background) else said
    subject = subject_of(model, plain, run, reference_needed=True, name_classes=True, notes=notes)
    return _Asked(model, given, replace(said, ids=given.ids), subject, chosen, counts, run)


def _is_spread(background: Any) -> bool:
    return isinstance(background, str) and background.startswith(SPREAD)


def _remove(folder: str, owner: int) -> None:
    """Removes the folder, but not in a forked process: the files belong to its parent."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _chosen(methods: Any, criteria: Any, aggregators: Any, members: Any) -> dict[str, Any]:
    none = isinstance(aggregators, str) and aggregators == "none"
    combined = [] if none else spec_list("aggregators", aggregators, _core.aggregators())
    return {
        "methods": _some("methods", methods, _core.methods()),
        "criteria": _some("criteria", criteria, _core.criteria()),
        "aggregators": combined,
        "no_aggregates": aggregators is not None and not combined,
        "members": ["paper"]
        if isinstance(members, str) and members == "paper"
        else [spec_text(spec) for spec in _some("members", members, _core.methods())],
    }


def _some(argument: str, said: Any, known: Sequence[Any]) -> list[_core.Spec]:
    """Refuses an empty list: None means the default."""
    specs = spec_list(argument, said, known)
    if said is not None and not specs:
        raise ValueError(f"{argument}: expected at least one, or None for the default, found none")
    return specs


def _flags(**said: Any) -> dict[str, bool]:
    return {name: yes_or_no(name, value) for name, value in said.items()}


def _count(argument: str, said: int | str) -> str:
    """A number of rows as the engine takes it."""
    if isinstance(said, str) and said in ("auto", "all"):
        return said
    try:
        whole_number(argument, said, 2**63 - 1)
        known = not isinstance(said, str) and said != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError(f'{argument}: expected "auto", "all" or a number of rows, 1 or more, found {said!r}')
    return str(int(said))


def _counts(sample: int | str, pool_sample: int | str, time: str | float | None) -> dict[str, Any]:
    """How much is studied, as the engine takes it."""
    return {
        "sample": _count("sample", sample),
        "pool_sample": _count("pool_sample", pool_sample),
        "time": _time(time),
    }


def _shares(**said: Any) -> dict[str, float]:
    made = {}
    for name, value in said.items():
        number = not isinstance(value, (bool, np.bool_)) and isinstance(value, (int, float, np.number))
        if not number or not 0 <= value <= 1:
            raise ValueError(f"{name}: expected a number from 0 to 1, found {value!r}")
        made[name] = float(value)
    return made


def _time(said: str | float | None) -> str:
    """A time as the engine takes it; "" for the default."""
    if said is None:
        return "none"
    if isinstance(said, str):
        word = "" if said == "1m" else said
    elif isinstance(said, (bool, np.bool_)) or not isinstance(said, (int, float, np.number)):
        raise ValueError(f'time: expected "30s", "2m", "1h", a number of seconds, or None for no limit, found {said!r}')
    else:
        word = repr(float(said))
    if word:
        _core.check_time(word)
    return word


def _trained_on(name: str, said: RowArguments, run: _core.Run) -> tuple[Model, RowArguments]:
    """The network that `assay study NAME` trains, and the parts of the data set."""
    if said.X is not None or said.pool is not None:
        raise ValueError(f"model: expected what assay.load, assay.wrap or assay.train made, found the text {name!r}")
    # Splits that are drawn have the study's seed.
    training, test = (Table(_core.Table.open(name, part, run=run)) for part in ("train", "test"))
    content = _core.train(training._core, "label:impute=mean", "unknown", test._core if test.label else None, run)
    return GraphModel(f"a network trained on {training._core.source}", content), replace(said, X=test, pool=training)
