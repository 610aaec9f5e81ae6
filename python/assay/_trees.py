"""Tree models of other libraries, run by the engine itself and compared with their library: at every use, or by a
prepared explainer once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, flat_rows
from ._frames import frame_of_arrow
from ._models import Bound
from ._optional import needed
from ._run import run_of
from ._sklearn import Estimator, fitted_copy, last_step
from ._tables import column_names, kind_of, row_count, select_rows
from ._text import in_quotes
from ._trees_boosters import is_lightgbm, is_xgboost
from ._trees_check import Agreement, agreement, matched
from ._trees_convert import class_names, feature_names, fitted_state, is_tree_model, parts_of, same_state
from ._trees_frames import decoded
from ._trees_parts import CannotConvert, TreeParts
from ._trees_rows import TreeRows


class TreeModel(TreeRows):
    """Trees of XGBoost, LightGBM or scikit-learn; see `assay.wrap`."""

    def __init__(
        self, name: str, model: Any, parts: TreeParts, value: str | None, black_box: Estimator | None = None
    ) -> None:
        self._model = model
        self._parts = parts
        self._black_box = black_box
        self._state = fitted_state(model)
        super().__init__(name, parts.content, None, parts.values, parts.arrays_hold_values, is_lightgbm(model))
        # For other units the estimator is called, and raises its own errors.
        if value is not None and not self._left_to_estimator(value):
            self._core = self._open(value, None)
        self._value = value
        self._texts = {feature: texts for feature, texts in self._core.categories.items() if texts}

    def without_library(self) -> TreeRows:
        """The same trees, which take the same rows and are compared with nothing."""
        made = TreeRows.__new__(TreeRows)
        # They share the engine's models, and so the codes of texts in rows.
        own = ("_model", "_parts", "_black_box", "_texts", "_state")
        made.__dict__.update({name: each for name, each in self.__dict__.items() if name not in own})
        return made

    def fitted_again(self) -> bool:
        """Whether the library's model has changed since its trees were copied, as far as that is seen at no cost: it
        has others, or more."""
        return not same_state(self._state, fitted_state(self._model))

    def _left_to_estimator(self, unit: str | None) -> bool:
        """Whether the estimator is asked for this unit: it makes log-odds from the probabilities of a forest, and
        refuses units that it does not have."""
        default = self._open(None, None).unit
        if self._black_box is None or unit is None:
            return False
        return (default == "probability" and unit != "probability") or (
            default == "value" and unit != "value" and not self._has_unit(unit)
        )

    def _has_unit(self, unit: str) -> bool:
        """Whether the trees have this unit. Some regressions predict probabilities, such as XGBoost's reg:logistic."""
        if unit == "margin":  # the same as the value; the estimator refuses it
            return False
        try:
            self._open(unit, None)
        except ValueError:
            return False
        return True

    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        unit = value or self._value
        if self._black_box is not None and self._left_to_estimator(unit):
            return self._black_box._bind(tables, unit)
        bound = super()._bind(tables, value)
        encode = _Remembering(bound.encode)
        self._compare(tables, encode)
        train = self._trainer(tables[0], unit)
        if train is None:
            return Bound(bound.model, bound.margins, encode, bound.probabilities)
        margins = None if bound.margins is None else bound.margins.with_training(train)
        return Bound(bound.model.with_training(train), margins, encode, bound.probabilities)

    def _compare(self, tables: Sequence[tuple[str, Any]], encode: _Remembering) -> None:
        """Raises a ValueError if the engine's trees and the library differ for any row."""
        for argument, table in tables:
            # Baselines are a row in any form.
            if argument not in ("X", "pool", "background") or row_count(table) == 0:
                continue
            found = self._agreement(argument, table, encode.peek(argument, table))
            if not found.holds:
                raise ValueError(
                    f"model: {self.name} differs from its library: row {found.row} of {argument} (counted from "
                    f"0) scores {found.ours:.9g} here and {found.theirs:.9g} there; wrap a function instead, such as "
                    "its predict"
                )

    def _agreement(self, argument: str, table: Any, data: _core.Dataset) -> Agreement:
        # In the unit of the trees, whatever is explained: probabilities hide differences.
        model = self._open(None, data.x.shape[1])
        ours = model.predict(data, run_of(0, 0, False))
        theirs = self._parts.scores(self._rows_of_library(argument, table))
        return agreement(ours, matched(theirs, len(ours), ours.shape[1], len(model.class_names)))

    def check(self, X: Any, scores: Any = None, *, value: str | None = None) -> Agreement:
        """Compares the outputs for X with the library's, for all rows.

        scores: numbers to compare with instead, in the unit of `value` (by default what is explained).

        >>> assay.wrap(booster).check(X)
        """
        if scores is not None:
            return super().check(X, scores, value=value)
        if value is not None:
            raise ValueError(f"value: expected None without scores, found {in_quotes(value)}")
        return self._agreement("X", X, super()._bind([("X", X)], None).encode("X", X))

    def _rows_of_library(self, argument: str, table: Any) -> Any:
        """The rows as the library takes them, with the columns in its order."""
        kind = kind_of(table, argument)
        if kind == "array":
            array = flat_rows(as_array(table, argument))
            # Boosters take arrays as they are. With a DataFrame they would check its dtypes.
            if is_xgboost(self._model) or is_lightgbm(self._model) or not hasattr(self._model, "feature_names_in_"):
                return array
            pandas = needed("pandas", "pandas", "an estimator that was fitted on a DataFrame")
            return pandas.DataFrame(array, columns=list(self._model.feature_names_in_))
        if kind == "table":
            table = table._frame(doubles=True)[table.features]
        elif kind == "arrow":
            table = frame_of_arrow(table, argument)
        if not self._named:
            # It was fitted on arrays: libraries refuse or warn of names that they do not know.
            return self._prepared(argument, table).to_numpy(np.float64)
        names = self._own_columns(column_names(table, argument) or [])
        return table.iloc[:, [names.index(name) for name in self._core.feature_names]]

    def _trainer(self, first: tuple[str, Any], unit: str | None) -> _core.TrainFunction | None:
        """A fresh copy of the estimator with the same parameters, fitted to other rows."""
        if self._black_box is None or "sklearn" not in sys.modules:
            return None

        def train(training: _core.Dataset, seed: int) -> _core.Model:
            template = self._rows_of_library(first[0], select_rows(first[1], [0]))
            rows = decoded(training.x, template, self._texts, self._parts)
            labels: NDArray[Any] = np.asarray(training.labels, np.float64)
            fresh = fitted_copy(self._model, self.name, self.classes, rows, labels, seed)
            parts = parts_of(self.name, fresh, self._own_names(), self.classes, self._parts)
            made = TreeModel(self.name, fresh, parts, None)
            made._compare_encoded(rows, training.x)
            return made._open(unit, training.x.shape[1])

        return train

    def _compare_encoded(self, rows: Any, encoded: NDArray[np.float32]) -> None:
        names = self._core.feature_names
        data = _core.Dataset.from_matrix(np.ascontiguousarray(encoded), names, "training rows")
        found = self._agreement("training rows", rows, data)
        if not found.holds:
            raise ValueError(
                f"model: {self.name}, trained afresh, differs from its library: row {found.row} of its training rows "
                f"(counted from 0) scores {found.ours:.9g} here and {found.theirs:.9g} there; wrap a function instead"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        box = self._black_box
        classes = box._classes if box is not None else (self.classes or None)
        batch = box._batch if box is not None else 65536
        return tree_model, (self._model, self.name, self._own_names() or None, classes, self._value, batch)


class _Remembering:
    """An encoder that keeps rows that were peeked at, for the next call with the same table."""

    def __init__(self, encode: Callable[[str, Any], _core.Dataset]) -> None:
        self._encode = encode
        self._kept: list[tuple[str, Any, _core.Dataset]] = []

    def peek(self, argument: str, table: Any) -> _core.Dataset:
        data = self._encode(argument, table)
        self._kept.append((argument, table, data))
        return data

    def __call__(self, argument: str, table: Any) -> _core.Dataset:
        for position, (name, kept, data) in enumerate(self._kept):
            if name == argument and kept is table:
                # Used once: callers add names and labels to the rows.
                del self._kept[position]
                return data
        return self._encode(argument, table)


def tree_model(
    model: Any,
    name: str,
    features: Sequence[str] | None,
    classes: Sequence[str] | None,
    value: str | None,
    batch: int,
) -> TreeModel | Estimator | None:
    """The model with the engine's trees. If they cannot be converted, a black box with a note that says why. None if it
    is not a tree model."""
    estimator = callable(getattr(model, "get_params", None))
    if not is_tree_model(model):
        reason = _inside(model) if estimator else ""
        return Estimator(model, name, features, classes, value, batch, reason) if reason else None
    fitted = not estimator or _is_fitted(model)

    def black_box(reason: str) -> Estimator:
        return Estimator(model, name, features, classes, value, batch, reason)

    if not fitted:
        return black_box("")
    try:
        names = feature_names(model, features)
        parts = parts_of(name, model, names, class_names(model, name, classes), None)
    except CannotConvert as reason:
        if not estimator:
            raise _core.UnsupportedError(
                f"model: expected trees that can be read, found {name}: {reason}; wrap a function of it"
            ) from reason
        return black_box(f"explained as a black box: {reason}")
    units = "explained as a black box: leaves hold probabilities, and log-odds are no sums over trees"
    return TreeModel(name, model, parts, value, black_box(units) if estimator else None)


def _is_fitted(model: Any) -> bool:
    # The properties of the libraries' own estimators raise the right errors.
    return is_xgboost(model) or is_lightgbm(model) or hasattr(model, "n_features_in_")


def _inside(model: Any) -> str:
    """Why trees inside another estimator are not used; empty if there are none."""
    last = last_step(model)
    if last is model or not is_tree_model(last):
        return ""
    where, advice = ("best_estimator_", "wrap that") if hasattr(model, "best_estimator_") else ("last step", "")
    advice = advice or "wrap that one, and hand it what the steps before it make of the rows"
    return f"explained as a black box: its trees are those of its {where}; to explain them by tree_shap, {advice}"
