"""explain, evaluate, aggregate, and the lists of methods, criteria and aggregators."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import _core
from ._catalogue import Catalogue
from ._explanations import Explanations
from ._interop import as_explanations, with_target_names
from ._models import Model
from ._order import RowNames
from ._run import ProgressLike, SpecLike, count_of, run_of, spec_list, spec_of, spec_text, text_of, yes_or_no
from ._scores import Evaluation, Scores
from ._subject import RowArguments, cells_of, subject_of, with_labels


def methods() -> Catalogue:
    """The explanation functions, with their options."""
    return Catalogue("methods", _core.methods())


def criteria() -> Catalogue:
    """The criteria that explanations are scored by, with their options."""
    return Catalogue("criteria", _core.criteria())


def aggregators() -> Catalogue:
    """The aggregators, which make one explanation out of several, with their options."""
    return Catalogue("aggregators", _core.aggregators())


def explain(
    model: Model,
    X: Any,
    method: SpecLike = "kernel_shap",
    *,
    baseline: Any = None,
    background: Any = None,
    pool: Any = None,
    target: Any = None,
    value: str | None = None,
    groups: Any = None,
    ids: Any = None,
    replicates: int = 0,
    seed: int = 0,
    threads: int = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> Explanations:
    """What each feature adds to the model's output, for every row of X.

    >>> assay.explain(model, X_test, "kernel_shap", pool=X_train, samples=512)
    >>> assay.explain(model, X_test, "integrated_gradients", baseline="zero", target="yes", value="probability")

    model       what assay.load, assay.wrap or assay.train made
    X           rows: a DataFrame, an Arrow table, an assay.Table or an array
    method      one of assay.methods(); its options follow as keyword arguments: samples=2048
    baseline    the row that stands for absent features: "zero", "mean", "median", "neutral" (of the pool) or a row
    background  rows to average over instead: "pool:100" for so many of the pool, "spread:100" for so many that are
                spread over the model's scores, as a study takes them, or rows
    pool        training rows that baseline and background are taken from; its mean is the default
    target      "predicted", a class or output by name or index, or one for each row; by default the positive class of
                two, the predicted one of several, the value of a regression. Where all names are whole numbers (classes
                1, 2, 3), integers are names: target=1 is class 1, target=0 is refused; else they are indices, from 0.
                Texts are names, then indices
    value       "margin", "probability", "log_odds" or "information"; by default margins where the model has some
    groups      columns that get one value together: {"name": ["column", ...]}, "none", "auto" (one-hot columns of a
                feature) or "grid:4" (squares of an image)
    ids         names of the rows; those of a DataFrame's index by default
    replicates  how many times to keep what the values might be with another draw of background rows and of what the
                method samples; `reasons` makes 1000 by itself where it needs some
    seed        results are the same bits for the same seed, whatever the number of threads
    threads     0: as many as the machine has
    progress    None: a bar where somebody watches; True, False, or an object with update(task, done, total)
    """
    spec = spec_of("method", method, _core.methods(), options)
    said = RowArguments(X, None, pool, None, baseline, background, target, value, groups, ids)
    return explained(model, said, spec, run_of(seed, threads, progress), count_of("replicates", replicates))


def explained(
    model: Model,
    said: RowArguments,
    spec: _core.Spec,
    run: _core.Run,
    replicates: int = 0,
    designs: _core.Designs | None = None,
) -> Explanations:
    """As explain. designs: what calls with the same method and seed share."""
    needed = next(each for each in _core.methods() if each.name == spec[0]).uses_reference
    subject = subject_of(model, said, run, reference_needed=needed, method=spec)
    made = _core.explain(subject, spec, run, replicates, designs)
    return Explanations._of(made, cells_of(said.X, subject.players), row_names=RowNames.of(said.X, said.pool))


def explain_all(
    model: Model, X: Any, method: SpecLike = "kernel_shap", *, value: str | None = None, **arguments: Any
) -> dict[str, Explanations]:
    """One explanation of each class, or of each output of a regression, by its name; arguments as of assay.explain."""
    if "target" in arguments:
        raise TypeError("unexpected keyword argument 'target': explain_all explains each of them")
    if not isinstance(model, Model):
        return {"": explain(model, X, method, value=value, **arguments)}  # raises, and says what is wrong
    bound = model._bind([("X", X)], value)
    names = bound.model.class_names or bound.model.output_names
    return {name: explain(model, X, method, target=name, value=value, **arguments) for name in names}


def evaluate(
    explanations: Any,
    criteria: Any = None,
    *,
    model: Model | None = None,
    X: Any = None,
    y: Any = None,
    pool: Any = None,
    pool_y: Any = None,
    pool_explanations: Any = None,
    others: Any = None,
    baseline: Any = None,
    background: Any = None,
    target: Any = None,
    value: str | None = None,
    groups: Any = None,
    interval: bool = True,
    seed: int = 0,
    threads: int = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> Evaluation:
    """How good explanations are, by one or more of assay.criteria().

    >>> assay.evaluate(explanations)["faithfulness"].mean
    >>> assay.evaluate(shap_values, "faithfulness", subset=3, model=model, X=X_test, pool=X_train)

    Explanations that assay.explain or assay.aggregate made know their model, rows and pool. Those made elsewhere (an
    array, shap.Explanation, a file) need model= and X=, and for some criteria pool=; the other arguments are those of
    assay.explain, and say how they were made.

    criteria           names, as in ["complexity", "faithfulness:subset=2"]; options of a single one may also be keyword
                       arguments. By default faithfulness, sensitivities and complexity, as far as they can be
    y, pool_y          labels of the rows and of the pool, for criteria that need them
    pool_explanations  explanations of the pool's rows; by default they are made by the same method where needed
    others             other explanations of the same rows, for criteria of agreement: a list, or a dict by name
    interval           False leaves out the intervals of means (NaN), which take longer than fast criteria
    """
    if isinstance(explanations, (list, tuple)) and any(isinstance(each, Explanations) for each in explanations):
        raise ValueError(
            f"explanations: expected those of one method, found a list of {len(explanations)}; evaluate one after the "
            "other, or one beside the others="
        )
    scored = as_explanations(explanations, "explanations")
    specs = _criteria_of(criteria, options)
    with_interval = yes_or_no("interval", interval)
    run = run_of(seed, threads, progress)
    names = (_names_remembered(scored) if X is None else RowNames.of(X, pool)).completed(
        explanations=explanations, others=others, pool_explanations=pool_explanations
    )
    names.check(
        explanations=explanations,
        others=others,
        y=y,
        target=target,
        pool_y=pool_y,
        pool_explanations=pool_explanations,
    )
    beside = RowArguments(X, y, pool, pool_y, baseline, background, target, value, groups, explained=scored._core)
    subject = _subject_beside(scored, model, beside, run)
    if subject is not None:
        scored = with_target_names(scored, subject.model.class_names or subject.model.output_names)
    pool_made = as_explanations(pool_explanations, "pool_explanations")._core if pool_explanations is not None else None
    other_names, other_cores = _named("others", others)
    results: dict[str, Scores] = {}
    left_out: list[str] = []
    for spec in specs:
        if criteria is None:
            refusal = _core.criterion_refusal(scored._core, spec, subject, pool_made, other_cores)
            if refusal is not None:
                left_out.append(_with_advice(*refusal, subject is None and scored._core.subject is not None))
                continue
        with _advising(subject is None and scored._core.subject is not None):
            made = _core.evaluate(scored._core, spec, run, subject, pool_made, other_cores, other_names, with_interval)
        results[spec_text(spec)] = Scores._of(made)
    return Evaluation(scored, results, left_out)


def aggregate(
    members: Any,
    aggregator: SpecLike,
    *,
    names: Sequence[str] | None = None,
    model: Model | None = None,
    X: Any = None,
    pool: Any = None,
    pool_members: Any = None,
    baseline: Any = None,
    background: Any = None,
    target: Any = None,
    value: str | None = None,
    groups: Any = None,
    seed: int = 0,
    threads: int = 0,
    progress: ProgressLike = None,
    **options: Any,
) -> Explanations:
    """One explanation of each row out of several: simpler, or more stable.

    >>> assay.aggregate({"shap": a, "lime": b}, "region_shrinking")

    members       explanations of the same rows: a list, or a dict by name; of ours, or arrays and shap.Explanation
    aggregator    one of assay.aggregators(); its options follow as keyword arguments
    names         what to call the members of a list; by default their methods
    pool_members  explanations of the pool's rows, one for each member; by default made by the same methods where needed

    model, X, pool and the others are as in assay.evaluate: only for members that were made elsewhere, and aggregators
    that look at the model or the pool.
    """
    spec = spec_of("aggregator", aggregator, _core.aggregators(), options)
    run = run_of(seed, threads, progress)
    member_names, cores = _named("members", members)
    if names is not None:
        if isinstance(names, str):
            raise ValueError(f"names: expected {len(cores)}, one for each member, found {names!r}")
        member_names = [text_of("names", str(name)) for name in names]
        if len(member_names) != len(cores):
            raise ValueError(f"names: expected {len(cores)}, one for each member, found {len(member_names)}")
    row_names = _row_names_of(members) if X is None else RowNames.of(X, pool)
    row_names = row_names.completed(members=members, pool_members=pool_members)
    row_names.check(members=members, target=target, pool_members=pool_members)
    lead = cores[0] if cores else None
    said = RowArguments(X, None, pool, None, baseline, background, target, value, groups, explained=lead)
    subject = None
    if model is not None or X is not None:
        subject = _joined(model, said, run)
        targets = subject.model.class_names or subject.model.output_names
        cores = [with_target_names(Explanations._of(core), targets)._core for core in cores]
    else:
        _refuse_alone(said)
    pool_cores = _named("pool_members", pool_members)[1]
    with _advising(subject is None and any(core.subject is not None for core in cores)):
        made = _core.aggregate(cores, member_names, spec, run, subject, pool_cores)
    return Explanations._of(made, row_names=row_names)


def _row_names_of(members: Any) -> RowNames:
    """What the first member that remembers its rows knows of them."""
    each = members.values() if isinstance(members, Mapping) else members
    remembering = (member for member in each if isinstance(member, Explanations) and member._core.subject is not None)
    first = next(remembering, None)
    return RowNames() if first is None else _names_remembered(first)


def _names_remembered(explanations: Explanations) -> RowNames:
    """Of the rows and the pool that explanations know. Those of a study know the names of its sample alone."""
    names, subject = explanations._row_names, explanations._core.subject
    if subject is None:
        return names
    if names.x is None:
        names = replace(names, x=subject.data.ids or None, of_x="the rows")
    if names.pool is None and subject.pool is not None:
        names = replace(names, pool=subject.pool.ids or None, of_pool="the pool")
    return names


@contextlib.contextmanager
def _advising(remembered: bool) -> Iterator[None]:
    """Adds to a refusal which argument would help. remembered: the explanations know their model and rows."""
    try:
        yield
    except _core.UnsupportedError as refusal:
        sentence = str(refusal)
        advised = _with_advice(sentence, getattr(refusal, "need", ""), remembered)
        if advised == sentence:
            raise
        raise _core.UnsupportedError(advised) from None


def _with_advice(refusal: str, arguments: str, remembered: bool) -> str:
    if not arguments:
        return refusal
    # Explanations keep their model, rows and pool. Only labels can be added.
    there = " to assay.explain, or here beside model= and X=" if remembered and arguments.startswith("pool=") else ""
    return f"{refusal}; give {arguments}{there}"


def _criteria_of(criteria: Any, options: Mapping[str, Any]) -> list[_core.Spec]:
    known = _core.criteria()
    if criteria is None:
        if options:
            raise TypeError(f"unexpected keyword argument {next(iter(options))!r}: options need one criterion to go to")
        return [(name, []) for name in _core.main_criteria()]
    specs = spec_list("criteria", criteria, known)
    if not specs:
        raise ValueError("criteria: expected at least one of assay.criteria(), found none")
    if not options:
        return specs
    if len(specs) > 1:
        raise TypeError(
            f"unexpected keyword argument {next(iter(options))!r}: with several criteria, options are written as in "
            '"faithfulness:subset=2"'
        )
    said: SpecLike = (specs[0][0], dict(specs[0][1]))
    return [spec_of("criteria", said, known, options)]


def _subject_beside(
    explanations: Explanations, model: Model | None, said: RowArguments, run: _core.Run
) -> _core.Subject | None:
    """The subject that the arguments describe; None if the explanations know theirs."""
    if model is not None or said.X is not None:
        return _joined(model, said, run)
    own = explanations._core.subject
    if own is None:
        _refuse_alone(said)
        if said.y is not None or said.pool_y is not None:
            raise ValueError("y: expected model= and X= beside it, found neither")
        return None
    _refuse_alone(said)
    return with_labels(own, said.y, said.pool_y) if said.y is not None or said.pool_y is not None else None


def _joined(model: Model | None, said: RowArguments, run: _core.Run) -> _core.Subject:
    if model is None:
        raise ValueError("X: expected model= beside it, found none")
    if said.X is None:
        raise ValueError("model: expected X= beside it, the rows that are explained, found none")
    return subject_of(model, said, run, reference_needed=False)


def _refuse_alone(said: RowArguments) -> None:
    """Refuses arguments on how explanations were made if model and rows are not given."""
    for name in ("pool", "baseline", "background", "target", "value", "groups"):
        if getattr(said, name) is not None:
            raise ValueError(f"{name}: expected model= and X= beside it, found neither")


def _named(argument: str, given: Any) -> tuple[list[str], list[_core.Explanations]]:
    """Explanations by name: the keys of a dict, else their methods, else their positions."""
    if given is None:
        return [], []
    if isinstance(given, Mapping):
        pairs = [(text_of(argument, str(name)), each) for name, each in given.items()]
    else:
        if isinstance(given, Explanations) or not isinstance(given, Sequence):
            raise ValueError(f"{argument}: expected a list or dict of explanations, found {type(given).__name__}")
        pairs = [("", each) for each in given]
    made = [(name, as_explanations(each, f"{argument}[{i}]")) for i, (name, each) in enumerate(pairs)]
    names: list[str] = []
    for position, (name, each) in enumerate(made):
        name = name or each.method or f"{'other' if argument == 'others' else 'member'} {position + 1}"
        names.append(name if name not in names else f"{name} {position + 1}")
    return names, [each._core for _, each in made]
