"""What is explained: a model joined to rows, labels, a pool, a reference, players and targets."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, is_instance, rounded_numbers, to_float32
from ._codec import PoolCentre
from ._frames import frame_of_arrow, is_categorical, is_text_dtype, whole_texts
from ._labels import labels_of
from ._models import Bound, GraphModel, Model, check_value
from ._named_classes import agreed, class_list, renamed
from ._order import RowNames
from ._run import text_of
from ._shown import show_cells
from ._tables import Table, column_names, keep_rounded, kind_of, named_kind, row_names
from ._targets import target_of
from ._text import in_quotes, plural

BASELINES = ("zero", "mean", "median", "neutral")
SPREAD = "spread:"  # the beginning of a background that is spread over the model's scores


@dataclass(frozen=True)
class RowArguments:
    """The arguments that say what the rows are, as the user gave them; None where nothing was given."""

    X: Any
    y: Any = None
    pool: Any = None
    pool_y: Any = None
    baseline: Any = None
    background: Any = None
    target: Any = None
    value: str | None = None
    groups: Any = None
    ids: Any = None
    classes: Any = None
    # Of explanations that came from elsewhere: what they explain, where the user does not say.
    explained: _core.Explanations | None = field(default=None, repr=False)


def subject_of(
    model: Model,
    said: RowArguments,
    run: _core.Run,
    *,
    reference_needed: bool,
    method: _core.Spec | None = None,
    name_classes: bool = False,
    notes: Sequence[str] = (),
) -> _core.Subject:
    """Joins them. A ValueError names what does not fit, an UnsupportedError says why the method cannot work.

    name_classes: whether labels may name classes that the model only counts. notes: what a study says of the rows."""
    if not isinstance(model, Model):
        advice = (
            "assay.load reads files" if isinstance(model, (str, os.PathLike)) else "assay.wrap(model) makes one of it"
        )
        raise ValueError(
            f"model: expected what assay.load, assay.wrap or assay.train made, found {type(model).__name__}; {advice}"
        )
    RowNames.of(said.X, said.pool).check(
        explanations=said.explained, y=said.y, target=said.target, ids=said.ids, pool_y=said.pool_y
    )
    value = said.value if said.value is not None else _said_by_file(said, "unit")
    check_value(value, information=True)
    information = value == "information"
    baseline = one_row(said.baseline, said.X, "baseline", model)
    tables = [("X", said.X)]
    tables += [(name, table) for name, table in _beside(said, baseline) if table is not said.X]
    centre = _centre_of_pool(said, model)
    if centre is not None:
        tables.append(("baseline", centre))
    bound = model._bind(tables, None if information else value)
    refuse_either_order(said.X, [*names_beside(said, baseline)[0], *_unnamed_explained(said, bound.model)], bound.model)
    data = bound.encode("X", said.X)
    pool = data if said.pool is said.X and said.pool is not None and said.pool_y is None else None
    apart = pool is None and said.pool is not None
    if apart:
        pool = bound.encode("pool", said.pool)
    note, classes = "", class_list(said.classes)
    if classes is not None:
        bound = renamed(bound, classes)
    elif name_classes:
        parts = [(data, said.X, said.y)]
        if apart and pool is not None:
            parts.append((pool, said.pool, said.pool_y))
        bound, note = agreed(bound, parts, run)
    _label_rows(data, said.X, said.y, "y", bound.model)
    _name_and_show(data, model, said)
    if apart and pool is not None:
        _label_rows(pool, said.pool, said.pool_y, "pool_y", bound.model)
    groups, groups_json = _groups(said, data)
    if centre is not None and centre.row is not None:
        given_baseline: str | _core.Dataset | None = bound.encode(f"{centre.word} of {centre.of}", centre)
    else:
        given_baseline = _reference("baseline", baseline, said, bound)
    target, targets = target_of(said.target, said.explained, bound.model, information)
    made = _core.Subject(
        bound.model,
        data,
        run,
        margins=bound.margins,
        pool=pool,
        baseline=given_baseline,
        background=_reference("background", said.background, said, bound),
        reference_needed=reference_needed,
        groups=groups,
        groups_json=groups_json,
        target=target,
        targets=targets,
        information=information,
        # Rows are the same if they are at the same place of the same table. A copy of a row is another row.
        in_pool=np.arange(data.rows, dtype=np.int64) if said.pool is not None and said.pool is said.X else None,
        data_words=_words("X", said.X),
        pool_words=_words("pool", said.pool) if said.pool is not None else "",
        owner=model,
        method=method,
        probabilities=bound.probabilities,
    )
    for each in (*notes, *([note] if note else [])):
        made.add_note(each)
    return made


def rows_of(model: Model, said: RowArguments, unnamed: Sequence[str]) -> tuple[_core.Dataset, str]:
    """The rows that are explained, as subject_of makes them, and what provenance calls them. For calls of a prepared
    explainer, which has all else already. unnamed: see names_beside."""
    RowNames.of(said.X, said.pool).check(ids=said.ids)
    bound = model._bind([("X", said.X)], None if said.value == "information" else said.value)
    refuse_either_order(said.X, unnamed, bound.model)
    data = bound.encode("X", said.X)
    _name_and_show(data, model, said)
    return data, _words("X", said.X)


def cells_of(X: Any, features: Sequence[str]) -> Callable[[], NDArray[Any]] | None:
    """What gives the cells of X as people wrote them, where its columns are the features and some are no numbers; None
    where the engine's numbers are as good."""
    names = column_names(X)
    if names is None or any(name not in names for name in features):
        return None
    if isinstance(X, Table):
        levels = dict(zip(X._core.names, X._core.levels, strict=True))
        if all(levels[name] is None for name in features):
            return None
        return lambda: np.column_stack([X._column(name).astype(object) for name in features])
    if kind_of(X) != "frame":
        return None
    columns = [names.index(name) for name in features]
    if all(dtype.kind in "fiu" for dtype in (X.dtypes.iloc[column] for column in columns)):
        return None
    kept = X.iloc[:, columns]
    return lambda: np.asarray(kept.to_numpy(dtype=object))


def with_labels(subject: _core.Subject, y: Any, pool_y: Any) -> _core.Subject:
    """The same subject with labels, for one call: explanations do not depend on labels. The caller has compared the
    names of their rows."""
    parts: list[_core.Dataset | None] = []
    for argument, labels, data in (("y", y, subject.data), ("pool_y", pool_y, subject.pool)):
        if labels is None:
            parts.append(None)
            continue
        if data is None:
            raise ValueError(f"{argument}: expected none without a pool, found some")
        labelled = data.copy()
        _set_labels(labelled, argument, labels, subject.model)
        parts.append(labelled)
    return subject.labelled(parts[0], parts[1])


def _beside(said: RowArguments, baseline: Any) -> list[tuple[str, Any]]:
    tables = []
    if said.pool is not None:
        tables.append(("pool", said.pool))
    if baseline is not None and not isinstance(baseline, str):
        tables.append(("baseline", baseline))
    if said.background is not None and not isinstance(said.background, str):
        tables.append(("background", said.background))
    return tables


def names_beside(said: RowArguments, baseline: Any) -> tuple[list[str], list[str]]:
    """The arguments that hold rows whose columns have no names, and those whose columns have some. baseline: as a
    table."""
    beside = _beside(said, baseline)
    # A list may be one row of mixed cells, which is no table.
    unnamed = [
        argument
        for argument, table in beside
        if isinstance(table, (list, tuple)) or column_names(table, argument) is None
    ]
    return unnamed, [argument for argument, _ in beside if argument not in unnamed]


def _unnamed_explained(said: RowArguments, model: _core.Model) -> list[str]:
    count = len(model.raw_columns or model.feature_names)
    explained = said.explained
    named = explained is None or list(explained.features) != [str(i) for i in range(count)]
    return [] if named else ["explanations"]


def refuse_either_order(X: Any, unnamed: Sequence[str], model: _core.Model) -> None:
    """A ValueError if X has the model's columns in another order, and something beside it has no names of columns: it
    may have been made in either order."""
    names = column_names(X)
    if names is None or not unnamed:
        return
    wanted = list(model.raw_columns or model.feature_names)
    known = set(wanted)
    own = [name for name in names if name in known]
    if own == wanted or len(own) != len(wanted):
        return
    place = next(place for place, name in enumerate(own) if name != wanted[place])
    raise ValueError(
        f"{unnamed[0]}: expected names of columns, because X has {in_quotes(own[place])} where the model has "
        f"{in_quotes(wanted[place])}, found columns without names, which may be in either order"
    )


def _centre_of_pool(said: RowArguments, model: Model) -> PoolCentre | None:
    """A PoolCentre, if the pool's mean or median is the reference and float32 may not hold its cells. Not for the
    engine's own models, whose mean and median the engine computes."""
    if said.pool is None or said.background is not None or isinstance(model, GraphModel):
        return None
    word = "mean" if said.baseline is None else said.baseline
    if not isinstance(word, str) or word not in ("mean", "median"):
        return None
    return PoolCentre("X" if said.pool is said.X else "pool", word)


def _label_rows(data: _core.Dataset, table: Any, labels: Any, argument: str, model: _core.Model) -> None:
    if labels is not None:
        _set_labels(data, argument, labels, model)
    elif isinstance(table, Table) and table.labels is not None:
        if data.labels is not None and data.class_names == model.class_names:
            return
        # A table's own label need not be what this model predicts.
        with contextlib.suppress(ValueError):
            _set_labels(data, argument, table.labels, model)


def _set_labels(data: _core.Dataset, argument: str, labels: Any, model: _core.Model) -> None:
    values, classes = labels_of(labels, argument, data.rows, model.class_names)
    data.set_labels(values, str(getattr(labels, "name", None) or "label"), classes)


def _name_and_show(data: _core.Dataset, model: Model, said: RowArguments) -> None:
    """Gives the rows their names, and the cells that people see."""
    _name_rows(data, said.X, said.ids)
    if isinstance(model, GraphModel) and not model._core.raw_columns:  # else numbers are encoded, and no cells
        show_cells(data, model._prepared("X", said.X))


def _name_rows(data: _core.Dataset, table: Any, ids: Any) -> None:
    if ids is not None:
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
            raise ValueError(f"ids: expected {data.rows}, one for each row, found {ids!r}")
        names = whole_texts("ids", [str(each) for each in ids])
        if len(names) != data.rows:
            raise ValueError(f"ids: expected {data.rows}, one for each row, found {len(names)}")
        data.set_ids(names, str(getattr(ids, "name", None) or "id"))
        return
    known = row_names(table)
    if known is not None and not data.ids:
        whole_texts("X, index", [*known[0], known[1]])
        data.set_ids(*known)


def one_row(baseline: Any, X: Any, argument: str, model: Model) -> Any:
    """A row in any form as a table of one row. Words and None stay as they are."""
    if baseline is None or isinstance(baseline, str):
        return baseline
    if is_instance(baseline, "pandas", "Series"):
        baseline = baseline.to_dict()
    if isinstance(baseline, Mapping):
        return _named_row(baseline, X, argument, model)
    if named_kind(baseline, argument) is not None:
        return baseline
    if kind_of(X) != "array" and isinstance(baseline, (list, tuple)):
        cells = baseline[0] if len(baseline) == 1 and isinstance(baseline[0], (list, tuple)) else baseline
        if any(isinstance(cell, str) for cell in cells):
            return _unnamed_row(cells, X, argument, model)
    dimensions = np.ndim(X) if kind_of(X) == "array" else 2
    if kind_of(X) == "array" and np.ndim(baseline) == 0:
        return np.full((1, *np.shape(X)[1:]), baseline)
    return as_array(baseline, argument)[np.newaxis] if np.ndim(baseline) == dimensions - 1 else baseline


def _unnamed_row(cells: Sequence[Any], X: Any, argument: str, model: Model) -> Any:
    """One row of numbers and texts, a cell for each column that the model takes."""
    if not isinstance(model, GraphModel):
        return list(cells)  # NumPy would turn the numbers into texts
    names = model._core.raw_columns or model.features
    if len(cells) != len(names):
        raise ValueError(f"{argument}: expected {plural(len(names), 'value')}, one for each column, found {len(cells)}")
    return _named_row(dict(zip(names, cells, strict=True)), X, argument, model)


def _named_row(cells: Mapping[Any, Any], X: Any, argument: str, model: Model) -> Any:
    """One row of named cells, in the form of X. Columns of X that it leaves out are those that the model does not
    take."""
    if kind_of(X) == "arrow" and not isinstance(model, GraphModel):
        X = frame_of_arrow(X, "X")  # as the model gets it, so that the row has cells of the same types
    names = column_names(X)
    if names is None:
        raise ValueError(f"{argument}: expected a row of numbers, as X has no names of columns, found names")
    by_name = {str(name): cell for name, cell in cells.items()}
    for name in by_name:
        if name not in names:
            raise ValueError(f"{argument}: expected names of columns of X, found {in_quotes(name)}")
        if isinstance(by_name[name], str):
            whole_texts(f"{argument}, column {in_quotes(name)}", [by_name[name]])
    positions = [position for position, name in enumerate(names) if name in by_name]
    if kind_of(X) == "frame":
        row = X.iloc[[0] * min(len(X), 1), positions].copy()
        for place, position in enumerate(positions):
            row.isetitem(place, _like(X.iloc[:, position], by_name[names[position]], argument, names[position]))
        return row
    values = np.full((1, len(positions)), np.nan)
    levels: list[list[str] | None] = [None] * len(positions)
    for place, position in enumerate(positions):
        cell = by_name[names[position]]
        if cell is None or cell != cell:
            continue
        texts = isinstance(X, Table) and X._core.levels[position] is not None
        if texts or not isinstance(cell, (int, float, np.number, np.bool_)):
            # Whole numbers are categories without a point, as the engine writes them.
            whole = isinstance(cell, float) and cell.is_integer()
            levels[place], cell = [f"{cell:.0f}" if whole else str(cell)], 0
        values[0, place] = cell
    chosen = [names[position] for position in positions]
    doubles = _core.Doubles()
    keep_rounded(doubles, values, chosen)
    rounded = [_rounded_cell(by_name[name]) if levels[place] is None else 0 for place, name in enumerate(chosen)]
    narrow = to_float32(values, argument, chosen)
    return Table(_core.Table.from_columns(argument, chosen, narrow, levels, rounded=rounded), doubles)


def _rounded_cell(cell: Any) -> int:
    """1 for a number beyond 2^24 that float32 rounds, else 0. In the number's own type: float64 may round it too."""
    if cell is None or cell != cell:
        return 0
    number = np.array([[cell]])
    return rounded_numbers(number.astype(np.float64) if number.dtype == object else number)[0]


def _like(column: Any, cell: Any, argument: str, name: str) -> Any:
    """A column of this one cell, of the column's dtype where that holds it."""
    import pandas

    dtype = column.dtype
    scalar = pandas.api.types.is_scalar(cell)
    there = scalar and not pandas.isna(cell)
    if there and is_categorical(dtype) and cell not in dtype.categories:
        # pandas would take it for missing.
        return pandas.Series(pandas.Categorical([cell], categories=[*dtype.categories, cell]))
    # pandas would turn any text into True, and any number into a text.
    odd = dtype.kind == "b" and not isinstance(cell, (bool, np.bool_))
    if odd or (there and is_text_dtype(dtype) and not isinstance(cell, str)):
        return pandas.Series([cell], dtype=object)
    # A mean of whole numbers need not be whole.
    for each in (dtype, "float64") if scalar or not is_categorical(dtype) else ():
        try:
            return pandas.Series([cell], dtype=each)
        except (TypeError, ValueError, OverflowError):
            continue
    raise ValueError(f"{argument}, column {in_quotes(name)}: expected a cell of {dtype}, found {in_quotes(cell)}")


def _reference(argument: str, given: Any, said: RowArguments, bound: Bound) -> str | _core.Dataset | None:
    if given is None:
        return None
    if not isinstance(given, str):
        return bound.encode(argument, given)
    text_of(argument, given)
    known = given in BASELINES if argument == "baseline" else given.startswith(("pool:", SPREAD))
    if not known:
        words = (
            f"{', '.join(BASELINES)} or a row"
            if argument == "baseline"
            else "pool:100 or spread:100 (for so many of it) or rows"
        )
        raise ValueError(f"{argument}: expected {words}, found {in_quotes(given)}")
    if said.pool is None and given != "zero":
        raise ValueError(f"{argument}: expected pool= beside {in_quotes(given)}, the rows to take it from, found none")
    return given


def _groups(said: RowArguments, data: _core.Dataset) -> tuple[str, str | None]:
    groups = said.groups
    if isinstance(groups, Mapping):
        named = {
            text_of("groups", str(name)): [text_of("groups", str(column)) for column in _list(name, columns)]
            for name, columns in groups.items()
        }
        return "auto", json.dumps(named)
    if groups is not None:
        if not isinstance(groups, str):
            raise ValueError(f"groups: expected a word or a dict of names and columns, found {type(groups).__name__}")
        return text_of("groups", groups), None
    if said.explained is None:
        return "auto", None
    players = said.explained.provenance["players"]
    if players == "columns":
        return "none", None
    if players.startswith("grid:"):
        return players, None
    if players not in ("", "feature groups"):
        raise ValueError("groups: expected the dict that the explanations were made with, found none")
    # An array does not say what its columns are. They are the columns of the rows if the number is the same.
    own_columns = players == "" and len(said.explained.features) == data.x.shape[1]
    return ("none" if own_columns else "auto"), None


def _list(name: Any, columns: Any) -> Sequence[Any]:
    if not isinstance(columns, (str, int, Iterable)):
        raise ValueError(f"groups, group {in_quotes(name)}: expected a list of its columns, found {columns!r}")
    return [columns] if isinstance(columns, (str, int)) else list(columns)


def _said_by_file(said: RowArguments, what: str) -> str | None:
    if said.explained is None:
        return None
    word = str(said.explained.provenance[what])
    return word if word not in ("", "value") else None


def _words(argument: str, table: Any) -> str:
    if isinstance(table, Table):
        return table._core.source
    kinds = {"frame": "DataFrame", "arrow": "Arrow table", "array": "array"}
    return f"{argument} ({kinds[kind_of(table, argument)]})"
