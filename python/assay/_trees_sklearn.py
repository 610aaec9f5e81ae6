"""Forests, single trees and gradient boosting of scikit-learn as the engine's trees.

They narrow rows to float32, as the engine does, and compare with a float64 threshold: `x <= threshold` goes left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._trees_arrays import LEAF, LESS_EQUAL, Nodes, Output, trees_to_onnx
from ._trees_parts import CannotConvert, TreeParts, has_class

FORESTS = (
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
)
BOOSTING = ("GradientBoostingClassifier", "GradientBoostingRegressor")
# Estimators that predict the same for every row.
_CONSTANT = {"prior", "most_frequent", "constant", "mean", "median", "quantile"}


def forest_parts(name: str, model: Any, features: Sequence[str], classes: Sequence[str]) -> TreeParts:
    """The mean of trees whose leaves hold values, or the share of each class."""
    one_output(model)
    trees = list(model.estimators_) if hasattr(model, "estimators_") else [model]
    if not hasattr(model, "classes_"):
        nodes = [tree_nodes(tree.tree_, tree.tree_.value[:, 0, :1]) for tree in trees]
        output = Output(targets=1, aggregate="average")
        return TreeParts(_onnx(name, nodes, output, model, features), lambda rows: model.predict(rows))
    _several_classes(classes)
    # One target is the second of two classes.
    first = 1 if len(classes) == 2 else 0
    nodes = [tree_nodes(tree.tree_, _shares(tree.tree_.value[:, 0, :])[:, first:]) for tree in trees]
    output = Output(targets=len(classes) - first, aggregate="average", classes=classes)
    return TreeParts(
        _onnx(name, nodes, output, model, features), lambda rows: np.asarray(model.predict_proba(rows))[:, first:]
    )


def boosting_parts(name: str, model: Any, features: Sequence[str], classes: Sequence[str]) -> TreeParts:
    """A constant plus trees, in log-odds for classifiers."""
    one_output(model)
    base = _constant(model)
    # With the exponential loss, scores are half the log-odds.
    twice = hasattr(model, "classes_") and model.loss == "exponential"
    factor = 2.0 if twice else 1.0
    nodes = [
        tree_nodes(tree.tree_, tree.tree_.value[:, 0, :1] * (factor * model.learning_rate), target)
        for stage in model.estimators_
        for target, tree in enumerate(stage)
    ]
    if not hasattr(model, "classes_"):
        output = Output(targets=1, base=base)
        return TreeParts(_onnx(name, nodes, output, model, features), lambda rows: model.predict(rows))
    _several_classes(classes)
    output = Output(
        targets=len(base),
        link="sigmoid" if len(base) == 1 else "softmax",
        base=[factor * each for each in base],
        classes=classes,
        note="its loss is exponential: margins are twice its decision function" if twice else "",
    )
    return TreeParts(
        _onnx(name, nodes, output, model, features), lambda rows: factor * np.asarray(model.decision_function(rows))
    )


def one_output(model: Any) -> None:
    """Refuses estimators of several outputs at once."""
    known = getattr(model, "classes_", None)
    several = isinstance(known, list) and any(np.ndim(each) > 0 for each in known)
    if several or getattr(model, "n_outputs_", 1) != 1:
        raise CannotConvert("it predicts several outputs at once")


def _several_classes(classes: Sequence[str]) -> None:
    if len(classes) < 2:
        raise CannotConvert("it knows a single class")


def tree_nodes(tree: Any, weights: NDArray[Any], target: int = 0) -> Nodes:
    """A fitted tree of scikit-learn, with the weights of its nodes."""
    leaf = tree.children_left < 0
    count = len(leaf)
    # Old versions without missing values have no directions for them.
    missing = getattr(tree, "missing_go_to_left", np.zeros(count, np.uint8))
    return Nodes(
        modes=np.where(leaf, LEAF, LESS_EQUAL),
        features=np.where(leaf, 0, tree.feature),
        thresholds=np.where(leaf, 0.0, tree.threshold),
        missing_true=np.where(leaf, 0, missing),
        true_child=tree.children_left,
        false_child=tree.children_right,
        covers=tree.weighted_n_node_samples,
        weights=np.asarray(weights, np.float64),
        first_target=target,
    )


def _shares(values: NDArray[Any]) -> NDArray[np.float64]:
    """The share of each class at each node. Old versions keep counts."""
    totals = values.sum(axis=1, keepdims=True)
    return np.asarray(values / np.where(totals == 0, 1, totals), np.float64)


def _constant(model: Any) -> list[float]:
    """What gradient boosting starts from, for each target."""
    start = model.init_
    if not isinstance(start, str) and not (
        has_class(start, ("DummyClassifier", "DummyRegressor"), "sklearn") and start.strategy in _CONSTANT
    ):
        raise CannotConvert(f"it starts from another estimator, init={type(start).__name__}")
    rows = np.zeros((1, model.n_features_in_), np.float32)
    return [float(each) for each in np.asarray(model._raw_predict_init(rows))[0]]


def _onnx(name: str, nodes: list[Nodes], output: Output, model: Any, features: Sequence[str]) -> bytes:
    return trees_to_onnx(name, nodes, output, int(model.n_features_in_), features, producer="scikit-learn")
