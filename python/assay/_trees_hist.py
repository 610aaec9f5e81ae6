"""Histogram-based gradient boosting of scikit-learn as the engine's trees.

It compares float64 numbers, and so do the engine's trees of it: each cell becomes a float32 number that every branch
treats alike. Categories that training did not see are missing values to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._trees_arrays import LEAF, LESS_EQUAL, MEMBER_WHOLE, Nodes, Output, trees_to_onnx
from ._trees_parts import CannotConvert, TreeParts

HIST_BOOSTING = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
_LOG_LINKS = ("poisson", "gamma")
_PLAIN_LINKS = ("squared_error", "absolute_error", "quantile")


def hist_parts(
    name: str,
    model: Any,
    features: Sequence[str],
    classes: Sequence[str],
    codes: Mapping[int, Sequence[Any]] | None = None,
) -> TreeParts:
    """codes: by feature the values that codes 0, 1, ... stand for, if not the model's own."""
    own = _encoded_values(model)
    values = {feature: list((codes or {}).get(feature, known)) for feature, known in own.items()}
    places = _places(model, own, values)
    nodes = [_nodes(predictor, target, places) for stage in model._predictors for target, predictor in enumerate(stage)]
    base = [float(each) for each in np.ravel(model._baseline_prediction)]
    output, scores = _output(model, base, classes)
    texts = {feature: [value_text(each) for each in known] for feature, known in values.items()}
    for feature in np.flatnonzero(_categorical(model)):
        texts.setdefault(int(feature), [])
    content = trees_to_onnx(
        name,
        nodes,
        output,
        int(model.n_features_in_),
        features,
        texts,
        producer="scikit-learn",
        compares_doubles=True,
    )
    return TreeParts(content, scores, values, arrays_hold_values=True)


def value_text(value: Any) -> str:
    """A category as the engine writes numbers: whole ones without a point."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return f"{value:.0f}" if whole else str(value)


class _Places:
    """The columns of the trees' features in the rows, and their categories."""

    def __init__(self, features: NDArray[np.int64], codes: dict[int, NDArray[np.float64]], known: dict[int, Any]):
        self.features = features
        # By the feature of the trees: the row's code of each of its own, and its own codes that training saw.
        self.codes = codes
        self.known = known

    def in_rows(self, feature: int, own_codes: NDArray[np.int64]) -> NDArray[np.float64]:
        if feature not in self.codes:
            return np.asarray(own_codes, np.float64)
        return self.codes[feature][own_codes]


def _categorical(model: Any) -> NDArray[np.bool_]:
    found = getattr(model, "is_categorical_", None)
    return np.zeros(int(model.n_features_in_), bool) if found is None else np.asarray(found, bool)


def _encoded_values(model: Any) -> dict[int, list[Any]]:
    """By feature the values that its encoder codes as 0, 1, ...; none if rows hold codes."""
    preprocessor = getattr(model, "_preprocessor", None)
    if preprocessor is None:
        return {}
    encoder = preprocessor.named_transformers_["encoder"]
    found = {}
    for feature, known in zip(np.flatnonzero(_categorical(model)), encoder.categories_, strict=True):
        values = list(known)
        # The missing value comes last.
        while values and (values[-1] is None or values[-1] != values[-1]):
            values.pop()
        found[int(feature)] = [each.item() if isinstance(each, np.generic) else each for each in values]
    return found


def _places(model: Any, own: dict[int, list[Any]], values: dict[int, list[Any]]) -> _Places:
    categorical = _categorical(model)
    count = len(categorical)
    # Encoded columns come first.
    order = np.arange(count)
    if getattr(model, "_preprocessor", None) is not None:
        order = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    codes, known = {}, {}
    for of_trees, feature in enumerate(order):
        if not categorical[feature]:
            continue
        known[of_trees] = np.asarray(model._bin_mapper.bin_thresholds_[of_trees], np.int64)
        if int(feature) in own:
            place = {value: code for code, value in enumerate(values[int(feature)])}
            if any(value not in place for value in own[int(feature)]):
                raise CannotConvert("it knows categories that the model which it was trained like does not")
            codes[of_trees] = np.array([place[value] for value in own[int(feature)]], np.float64)
    return _Places(order.astype(np.int64), codes, known)


def _nodes(predictor: Any, target: int, places: _Places) -> Nodes:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    by_category = nodes["is_categorical"].astype(bool) & ~leaf
    missing_left = nodes["missing_go_to_left"].astype(bool)
    thresholds = np.where(leaf, 0.0, nodes["num_threshold"])
    true_child, false_child = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
    missing_true = missing_left & ~leaf
    sets: list[NDArray[np.float64]] = []
    for at in np.flatnonzero(by_category):
        feature = int(nodes["feature_idx"][at])
        left = _members(predictor.raw_left_cat_bitsets[int(nodes["bitset_idx"][at])])
        chosen = left
        if missing_left[at]:
            # Unknown categories go left too, so the branch tests for those that go right.
            chosen = np.setdiff1d(places.known[feature], left)
            true_child[at], false_child[at] = false_child[at], true_child[at]
        missing_true[at] = False
        thresholds[at] = len(sets)
        sets.append(places.in_rows(feature, chosen))
    return Nodes(
        modes=np.where(leaf, LEAF, np.where(by_category, MEMBER_WHOLE, LESS_EQUAL)),
        features=np.where(leaf, 0, places.features[np.where(leaf, 0, nodes["feature_idx"]).astype(np.intp)]),
        thresholds=thresholds,
        missing_true=missing_true,
        true_child=true_child,
        false_child=false_child,
        covers=nodes["count"].astype(np.float64),
        weights=nodes["value"].astype(np.float64)[:, np.newaxis],
        first_target=target,
        sets=sets,
    )


def _members(bitset: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The numbers whose bit is set."""
    bits = (np.asarray(bitset, np.uint32)[:, np.newaxis] >> np.arange(32, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel()).astype(np.int64)


def _output(model: Any, base: list[float], classes: Sequence[str]) -> tuple[Output, Any]:
    if hasattr(model, "classes_"):
        if len(classes) < 2:
            raise CannotConvert("it knows a single class")
        link = "sigmoid" if len(base) == 1 else "softmax"
        return Output(len(base), link, base=base, classes=classes), lambda rows: model.decision_function(rows)
    if model.loss in _LOG_LINKS:
        note = f"its loss is {model.loss}: what is explained is the logarithm of what it predicts"
        return Output(1, "exponential", base=base, note=note), lambda rows: np.log(model.predict(rows))
    if model.loss in _PLAIN_LINKS:
        return Output(1, base=base), lambda rows: model.predict(rows)
    raise CannotConvert(f"its loss {model.loss} has a link that is not known")
