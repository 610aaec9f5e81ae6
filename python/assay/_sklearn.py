"""scikit-learn estimators, and those of other libraries with the same methods, as models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, is_instance
from ._callables import Codec, dataset_encoder, float_matrix, output_matrix, to_float32
from ._codec import codec_for
from ._models import Bound, Model
from ._optional import needed
from ._probe import check_rows_alone, probe_rows
from ._tables import Table, column_names, named_kind
from ._text import in_quotes, joined, plural

_METHODS = {"margin": "decision_function", "probability": "predict_proba", "log_odds": "predict_proba"}


@dataclass(frozen=True)
class _Plan:
    """Which method of an estimator is called, found by trying it on a few rows."""

    unit: str
    method: str  # of the estimator
    classes: list[str]  # their names; empty for a regression
    outputs: list[str]
    logits: bool = True  # of margins: whether softmax or sigmoid makes the probabilities of them


def _require_same_order(first: tuple[str, Any], argument: str, table: Any) -> None:
    """A ValueError if a table has a column of the first one at another place: an estimator that was fitted without
    names (on an array, or on a DataFrame whose columns are called by numbers) takes columns by position."""
    of, rows = first
    own = column_names(rows, of) if named_kind(rows, of) is not None else None
    names = column_names(table, argument) if named_kind(table, argument) is not None else None
    if own is None or names is None:
        return
    for place, name in enumerate(names):
        if name in own and (place >= len(own) or own[place] != name):
            there = f"where {of} has {in_quotes(own[place])}" if place < len(own) else f"where {of} has none"
            raise ValueError(
                f"{argument}: its column {place + 1} is {in_quotes(name)} {there}; the model takes columns by "
                "position, so both need one order"
            )


class Estimator(Model):
    """A fitted estimator or pipeline; see `assay.wrap`."""

    def __init__(
        self,
        estimator: Any,
        name: str,
        features: Sequence[str] | None,
        classes: Sequence[str] | None,
        value: str | None,
        batch: int,
        note: str = "",
    ) -> None:
        if not callable(getattr(estimator, "predict", None)):
            raise ValueError(f"model: expected an estimator that predicts, found {name}, which has no predict")
        self.name = name
        self._estimator = estimator
        self._features = features
        self._classes = classes
        self._value = value
        self._batch = batch
        self._note = note

    @property
    def note(self) -> str:
        """Why the trees inside are not used, if there are some."""
        return self._note

    def _bind(self, tables: Sequence[tuple[str, Any]], value: str | None) -> Bound:
        fitted_names = getattr(self._estimator, "feature_names_in_", None)
        names = [str(each) for each in fitted_names] if fitted_names is not None else None
        framed = [(argument, self._framed(argument, table, names)) for argument, table in tables]
        by_position = names is None and self._features is None
        if by_position:
            for argument, table in framed[1:]:
                _require_same_order(framed[0], argument, table)
        codec = codec_for(framed, names if self._features is None else self._features)
        probe = probe_rows(codec, framed)

        def first() -> Any:
            """Rows for one call; a new copy each time, because estimators may work in place."""
            return codec.decode(probe.copy())

        plan = self._plan(first, value or self._value)
        ask = getattr(self._estimator, plan.method)
        # Steps of a pipeline may be functions.
        check_rows_alone(
            self.name,
            lambda rows: output_matrix(self.name, ask(codec.decode(rows)), len(rows)),
            probe[: self._batch],
            self._batch,
        )
        margins = None
        if plan.unit in ("probability", "log_odds") and hasattr(self._estimator, "decision_function"):
            margins = self._margins(codec, first, plan)
        encode = dataset_encoder(codec)

        threshold = self._own_threshold()

        def encode_framed(argument: str, table: Any) -> _core.Dataset:
            if by_position:
                _require_same_order(framed[0], argument, table)
            made = encode(argument, self._framed(argument, table, names))
            if threshold:
                made.add_note(threshold)
            return made

        probabilities = None
        if plan.unit == "margin" and not plan.logits and hasattr(self._estimator, "predict_proba"):
            own = _Plan("probability", "predict_proba", plan.classes, plan.outputs)
            probabilities = self._core_model(self._estimator, codec, own)
        return Bound(self._core_model(self._estimator, codec, plan), margins, encode_framed, probabilities)

    def _own_threshold(self) -> str:
        """A note on scikit-learn's classifiers that predict by another threshold than a half."""
        last = last_step(self._estimator)
        if type(last).__name__ not in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
            return ""
        if getattr(last, "best_threshold_", getattr(last, "threshold", "auto")) in ("auto", 0.5):
            return ""
        return (
            f"{self.name} predicts by a threshold of its own ({type(last).__name__}); the predicted class and the "
            "accuracy that are told here go by the class with the higher probability"
        )

    def _framed(self, argument: str, table: Any, names: Sequence[str] | None) -> Any:
        """If the estimator was fitted on a DataFrame, turns an array into one with the same names."""
        if names is None or _has_names(table):
            return table
        array = as_array(table, argument)
        if array.ndim != 2:  # a single row, perhaps
            return table
        if array.shape[1] != len(names):
            expected = f"the {plural(len(names), 'column')} that {self.name} was fitted on"
            raise ValueError(f"{argument}: expected {expected}, found {array.shape[1]}")
        return needed("pandas", "pandas", "an estimator that was fitted on a DataFrame").DataFrame(array, columns=names)

    def _plan(self, first: Callable[[], Any], wanted: str | None) -> _Plan:
        # Raises NotFittedError if it is not fitted.
        predicted = np.asarray(self._estimator.predict(first()))
        known = getattr(self._estimator, "classes_", None)
        # Regressions of CatBoost have classes_ too, but empty.
        known = None if known is not None and np.size(known) == 0 else known
        several = predicted.ndim > 1 and predicted.shape[1] > 1
        if several or (isinstance(known, list) and any(np.ndim(each) > 0 for each in known)):
            raise _core.UnsupportedError(
                f"model: {self.name} predicts several outputs at once; wrap a function of those to be explained"
            )
        if known is None:
            return self._plan_of_values(wanted)
        classes = self._class_names([str(each) for each in known])
        unit = wanted or ("margin" if hasattr(self._estimator, "decision_function") else "probability")
        if unit == "value":
            raise _core.UnsupportedError(
                f"value: expected margin, probability or log_odds of a classifier, as {self.name} is one, found 'value'"
            )
        method = _METHODS[unit]
        if not hasattr(self._estimator, method):
            raise _core.UnsupportedError(self._lacks(unit, method, wanted))
        outputs = [classes[1]] if len(classes) == 2 else classes
        if unit != "margin":
            return _Plan(unit, method, classes, outputs)
        self._check_margins(first, classes, [str(each) for each in known], [str(each) for each in predicted.flat])
        return _Plan(unit, method, classes, outputs, logits=self._are_logits(first, len(outputs)))

    def _plan_of_values(self, wanted: str | None) -> _Plan:
        if wanted not in (None, "value"):
            raise _core.UnsupportedError(f"value: {self.name} has no classes to give a {wanted} of; it gives values")
        if self._classes is not None:
            raise ValueError(f"classes: expected None, for {self.name} is no classifier, found {len(self._classes)}")
        if callable(getattr(self._estimator, "fit_predict", None)) and not hasattr(
            self._estimator, "decision_function"
        ):
            raise _core.UnsupportedError(
                f"model: {self.name} predicts which cluster a row belongs to, which is no number; "
                "wrap a function such as the distance to one cluster"
            )
        # Outlier detectors predict only a sign.
        method = "decision_function" if hasattr(self._estimator, "decision_function") else "predict"
        return _Plan("value", method, [], ["value"])

    def _class_names(self, known: list[str]) -> list[str]:
        if len(known) < 2:
            raise _core.UnsupportedError(
                f"model: {self.name} knows {len(known)} class, so that nothing is to be explained"
            )
        if self._classes is None:
            return known
        if len(self._classes) != len(known):
            raise ValueError(f"classes: expected {len(known)} names, for {joined(known)}, found {len(self._classes)}")
        return list(self._classes)

    def _lacks(self, unit: str, method: str, wanted: str | None) -> str:
        other = "probability" if method == "decision_function" else "margin"
        if hasattr(self._estimator, _METHODS[other]):
            return f"value: {self.name} has no {method}, which gives the {unit}; value={other!r} is what it has"
        if wanted is None:
            return f"model: {self.name} has neither decision_function nor predict_proba, so that it only names a class"
        return f"value: {self.name} has no {method}, which gives the {unit}"

    def _check_margins(
        self, first: Callable[[], Any], classes: list[str], known: list[str], predicted: list[str]
    ) -> None:
        """known: the classes as the estimator names them, as in what it predicted for these rows."""
        found = output_matrix(self.name, self._estimator.decision_function(first()), len(predicted))
        expected = 1 if len(classes) == 2 else len(classes)
        if len(classes) > 2:
            in_pairs = getattr(last_step(self._estimator), "decision_function_shape", None) == "ovo"
            contradicted = 0 if found.shape[1] != expected else _contradicted(found, known, predicted)
            # Three classes give three pairs, so the number of columns does not tell. Inside bagging only values do.
            in_pairs = in_pairs or found.shape[1] != expected or (contradicted > 0 and _has_pairs(self._estimator))
            if in_pairs:
                raise _core.UnsupportedError(
                    f"value: the decision_function of {self.name} compares classes in pairs, and has no margin of "
                    "each; set decision_function_shape='ovr', or ask for value='probability'"
                )
            # A few rows prove nothing: they may be ties.
            if 2 * contradicted > len(predicted):
                raise _core.UnsupportedError(
                    f"value: the decision_function of {self.name} is largest for another class than predict names, for "
                    f"{contradicted} of {plural(len(predicted), 'row')}, so that it has no margin of each class; "
                    "ask for value='probability', or wrap a function"
                )
        if found.shape[1] != expected:
            raise ValueError(
                f"outputs of {self.name}: expected {expected} column of margins for classes {joined(classes)}, "
                f"found {found.shape[1]}"
            )

    def _margins(self, codec: Codec, first: Callable[[], Any], plan: _Plan) -> _core.Model | None:
        """Margins that belong to the probabilities: only if these are their logits, which is not so for an SVC."""
        if not self._are_logits(first, len(plan.outputs)):
            return None
        margin_plan = _Plan("margin", "decision_function", plan.classes, plan.outputs)
        return self._core_model(self._estimator, codec, margin_plan)

    def _are_logits(self, first: Callable[[], Any], outputs: int) -> bool:
        """Whether softmax or sigmoid makes the estimator's own probabilities of its margins."""
        if not hasattr(self._estimator, "predict_proba"):
            return False
        probabilities = np.asarray(self._estimator.predict_proba(first()), np.float64)
        found = output_matrix(self.name, self._estimator.decision_function(first()), len(probabilities))
        if found.shape[1] != outputs:
            return False
        found = found.astype(np.float64)
        if found.shape[1] == 1:
            implied, probabilities = 1 / (1 + np.exp(-found)), probabilities[:, 1:]
        else:
            powers = np.exp(found - found.max(axis=1, keepdims=True))
            implied = powers / powers.sum(axis=1, keepdims=True)
        return bool(np.allclose(implied, probabilities, rtol=0, atol=1e-5))

    def _core_model(self, estimator: Any, codec: Codec, plan: _Plan) -> _core.Model:
        ask = getattr(estimator, plan.method)

        def predict(rows: NDArray[np.float32]) -> NDArray[np.float32]:
            found = ask(codec.decode(rows))
            if plan.method != "predict_proba":
                return float_matrix(self.name, found, len(rows), len(plan.outputs))
            probabilities = output_matrix(self.name, found, len(rows), len(plan.classes)).astype(np.float64)
            chosen = log_odds(probabilities) if plan.unit == "log_odds" else probabilities
            return to_float32(chosen[:, 1:] if len(plan.outputs) == 1 else chosen)

        return _core.Model.from_functions(
            name=self.name,
            feature_names=codec.names,
            output_names=plan.outputs,
            class_names=plan.classes,
            unit=plan.unit,
            predict=predict,
            no_gradient="an estimator is only asked for predictions",
            train=self._trainer(estimator, codec, plan) if "sklearn" in sys.modules else None,
            note=self._note,
            most_rows=self._batch,
            logits=plan.logits,
        )

    def _trainer(self, estimator: Any, codec: Codec, plan: _Plan) -> Callable[[_core.Dataset, int], _core.Model]:
        """A fresh copy of the estimator with the same parameters, fitted to other rows."""

        def train(training: _core.Dataset, seed: int) -> _core.Model:
            labels: NDArray[Any] = np.asarray(training.labels, np.float64)
            fresh = fitted_copy(estimator, self.name, plan.classes, codec.decode(training.x.copy()), labels, seed)
            return self._core_model(fresh, codec, plan)

        return train

    def __repr__(self) -> str:
        last = type(last_step(self._estimator)).__name__
        what = "an estimator" if last == type(self._estimator).__name__ else f"an estimator that ends in {last}"
        return f"<assay.Model {self.name}: {what}>"


def fitted_copy(estimator: Any, name: str, classes: Sequence[str], rows: Any, labels: NDArray[Any], seed: int) -> Any:
    """A fresh copy of the estimator with the same parameters, fitted to these rows.

    classes: their names, empty for a regression; labels are numbers of classes then."""
    from sklearn.base import clone  # type: ignore[import-not-found,import-untyped,unused-ignore]

    fresh = clone(estimator)
    seeds = [key for key in fresh.get_params() if key == "random_state" or key.endswith("__random_state")]
    # LightGBM takes no more than 31 bits.
    fresh.set_params(**{key: seed & 0x7FFFFFFF for key in seeds})
    if classes:
        labels = np.asarray(estimator.classes_)[labels.astype(np.intp)]
    fresh.fit(rows, labels)
    if classes and len(fresh.classes_) != len(classes):
        found = joined([in_quotes(each) for each in fresh.classes_])
        raise ValueError(
            f"labels: expected rows of each class of {name} ({joined(list(classes))}) to retrain it on, "
            f"found {found} alone"
        )
    return fresh


def log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln p - ln (1 - p), where 1 - p is the sum of the other classes: p itself may be rounded to 1."""
    rest = probabilities.sum(axis=1, keepdims=True) - probabilities
    # 1 - p is exact enough, except for a class with p near 1.
    largest = probabilities.argmax(axis=1)[:, np.newaxis]
    others = probabilities.copy()
    np.put_along_axis(others, largest, 0.0, axis=1)
    np.put_along_axis(rest, largest, others.sum(axis=1, keepdims=True), axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities) - np.log(rest))


def _has_names(table: Any) -> bool:
    frames = any(is_instance(table, "pandas", each) for each in ("DataFrame", "Series"))
    arrow = hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")
    return frames or arrow or isinstance(table, (Mapping, Table))


def _contradicted(margins: NDArray[Any], known: list[str], predicted: list[str]) -> int:
    """How many rows have the largest margin at another class than the predicted one."""
    if not set(predicted) <= set(known):  # not values of classes_: cannot be compared
        return 0
    largest = margins.argmax(axis=1)
    return sum(known[column] != label for column, label in zip(largest, predicted, strict=True))


def _has_pairs(estimator: Any) -> bool:
    """Whether any part of it compares classes in pairs."""
    said = estimator.get_params().items()
    return any(key.endswith("decision_function_shape") and value == "ovo" for key, value in said)


def last_step(estimator: Any) -> Any:
    """The final estimator inside pipelines and searches."""
    for _ in range(16):
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator
