"""Trees of other libraries as arrays of nodes, from which the engine builds its own trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

# The engine's modes of nodes.
LESS_EQUAL, LEAF, MEMBER_WHOLE = 0, 7, 9


@dataclass(frozen=True)
class Nodes:
    """One tree: an entry for each node, the root first. Leaves only use `weights` and `covers`."""

    modes: NDArray[Any]
    features: NDArray[Any]
    thresholds: NDArray[Any]  # of a member node: the number of its set within this tree
    missing_true: NDArray[Any]
    true_child: NDArray[Any]
    false_child: NDArray[Any]
    covers: NDArray[Any]
    weights: NDArray[Any]  # nodes x the targets that its leaves add to
    first_target: int = 0
    sets: Sequence[NDArray[Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Output:
    """What the scores of trees become."""

    targets: int
    link: str = "none"
    aggregate: str = "sum"
    base: Sequence[float] = ()
    # Of a classifier, else none.
    classes: Sequence[str] = ()
    note: str = ""


def trees_to_onnx(
    name: str,
    trees: Sequence[Nodes],
    output: Output,
    feature_count: int,
    feature_names: Sequence[str] = (),
    categories: Mapping[int, Sequence[str]] | None = None,
    producer: str = "",
    compares_doubles: bool = False,
) -> bytes:
    """The engine's model of these trees, as the bytes of an ONNX file."""
    counts = [len(tree.modes) for tree in trees]
    first_node = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sets = [each for tree in trees for each in tree.sets]
    first_set = np.concatenate([[0], np.cumsum([len(tree.sets) for tree in trees])])
    modes, thresholds, children, weight_targets, weight_values, first_weight, weight_count = [], [], [], [], [], [], []
    weights_so_far = 0
    for number, tree in enumerate(trees):
        mode = np.asarray(tree.modes, np.int64)
        leaf = mode == LEAF
        threshold = np.asarray(tree.thresholds, np.float64)
        thresholds.append(np.where(mode == MEMBER_WHOLE, threshold + float(first_set[number]), threshold))
        modes.append(mode)
        moved = [np.where(leaf, 0, side) + first_node[number] for side in (tree.true_child, tree.false_child)]
        children.append(moved)
        width = tree.weights.shape[1]
        values = np.asarray(tree.weights, np.float64)[leaf]
        weight_values.append(values.ravel())
        weight_targets.append(np.tile(np.arange(width) + tree.first_target, len(values)))
        first = np.zeros(len(mode), np.int64)
        first[leaf] = weights_so_far + width * np.arange(len(values))
        first_weight.append(first)
        weight_count.append(np.where(leaf, width, 0))
        weights_so_far += values.size
    model = _core.Model.from_trees(
        name,
        modes=_whole(modes),
        features=_whole([tree.features for tree in trees]),
        thresholds=_real(thresholds),
        missing_true=_whole([tree.missing_true for tree in trees]),
        true_child=_whole([sides[0] for sides in children]),
        false_child=_whole([sides[1] for sides in children]),
        first_weight=_whole(first_weight),
        weight_count=_whole(weight_count),
        covers=_real([tree.covers for tree in trees]),
        weight_targets=_whole(weight_targets),
        weight_values=_real(weight_values),
        set_lengths=np.array([len(each) for each in sets], np.int64),
        set_members=_real(sets),
        roots=first_node[:-1].copy(),
        feature_count=feature_count,
        targets=output.targets,
        base=np.asarray(output.base, np.float64),
        aggregate=output.aggregate,
        link=output.link,
        classification=bool(output.classes),
        class_names=list(output.classes),
        feature_names=list(feature_names),
        categories={feature: list(texts) for feature, texts in (categories or {}).items()},
        producer=producer,
        note=output.note,
        compares_doubles=compares_doubles,
    )
    return model.onnx_bytes()


def _whole(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.asarray(part, np.int64) for part in parts]) if parts else np.empty(0, np.int64)


def _real(parts: Sequence[Any]) -> NDArray[np.float64]:
    return np.concatenate([np.asarray(part, np.float64) for part in parts]) if parts else np.empty(0, np.float64)
