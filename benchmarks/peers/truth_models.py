"""Models whose right attributions are known in closed form, without choosing a method.

A model is a sum of pieces, each of a few features, and its right attribution rests on three demands: what the pieces
get is added up; a feature that a function does not depend on gets nothing; and what features do only together is shared
equally, since nothing tells whose it is. For a piece of one feature that is g(x_i) - g(b_i), for one of two

    phi_i = (g(x_i, b_j) - g(b_i, b_j)) / 2 + (g(x_i, x_j) - g(b_i, x_j)) / 2

with b the row that stands for absent features; a product against b = 0 is shared by its factors. Truths are computed in
float64 from the pieces and never from the graph that is explained. Everything is drawn from a seed; NumPy is all that
is needed.
"""

import dataclasses
import itertools
import math

import numpy as np
from truth_graphs import network_file, tree_file


@dataclasses.dataclass
class Piece:
    """A function of a few features, by its kind:

    linear, relu, tanh  scale * kind(sum of weights_i x_i + bias)
    product             scale * product of the x_i
    step                scale where every x_i is above weights_i, else 0
    cancelled           scale * (the largest of three features less the same written otherwise): 0 everywhere
    """

    kind: str
    weights: dict
    bias: float = 0.0
    scale: float = 1.0

    def __post_init__(self):
        self.weights = {feature: float(np.float32(weight)) for feature, weight in self.weights.items()}
        self.bias, self.scale = float(np.float32(self.bias)), float(np.float32(self.scale))

    def value(self, x):
        columns = [x[..., feature] for feature in self.weights]
        if self.kind == "product":
            return self.scale * math.prod(columns)
        if self.kind == "step":
            above = [column > weight for column, weight in zip(columns, self.weights.values(), strict=True)]
            return self.scale * np.all(above, axis=0)
        if self.kind == "cancelled":
            a, b, c = columns
            return self.scale * (np.maximum(np.maximum(a, b), c) - np.maximum(np.maximum(a, c), b))
        total = sum(weight * column for weight, column in zip(self.weights.values(), columns, strict=True)) + self.bias
        return self.scale * {"linear": total, "relu": np.maximum(total, 0), "tanh": np.tanh(total)}[self.kind]

    def add_truth(self, truth, rows, baseline):
        if self.kind == "cancelled":
            return
        if self.kind == "product" and not baseline.any():
            for feature in self.weights:
                truth[:, feature] += self.value(rows) / len(self.weights)
            return
        assert len(self.weights) <= 2
        for feature in self.weights:
            own, rest = np.tile(baseline, (len(rows), 1)), rows.copy()
            own[:, feature], rest[:, feature] = rows[:, feature], baseline[feature]
            alone, last = self.value(own) - self.value(baseline), self.value(rows) - self.value(rest)
            truth[:, feature] += (alone + last) / 2


@dataclasses.dataclass
class TruthModel:
    name: str
    says: str  # what makes its attributions right
    pieces: list
    rows: np.ndarray
    pool: np.ndarray
    baseline: np.ndarray
    constant: float = 0.0

    def __post_init__(self):
        self.rows, self.pool, self.baseline = (
            each.astype(np.float32) for each in (self.rows, self.pool, self.baseline)
        )
        # Both classes are then as common, for criteria that look at classes.
        self.constant = float(np.float32(-np.median(self.value(self.pool))))

    @property
    def features(self):
        return self.rows.shape[1]

    @property
    def irrelevant(self):
        """Features that the function does not depend on."""
        used = {feature for piece in self.pieces if piece.kind != "cancelled" for feature in piece.weights}
        return [feature for feature in range(self.features) if feature not in used]

    @property
    def linear_weights(self):
        """One for each feature where the model is linear, else nothing."""
        if any(piece.kind != "linear" for piece in self.pieces):
            return None
        weights = np.zeros(self.features)
        for piece in self.pieces:
            for feature, weight in piece.weights.items():
                weights[feature] += weight * piece.scale
        return weights

    def value(self, x):
        x = np.asarray(x, dtype=np.float64)
        return sum(piece.value(x) for piece in self.pieces) + self.constant

    def truth(self, rows=None):
        rows = np.asarray(self.rows if rows is None else rows, dtype=np.float64)
        truth = np.zeros(rows.shape)
        for piece in self.pieces:
            piece.add_truth(truth, rows, self.baseline.astype(np.float64))
        return truth

    def brute_force(self, rows):
        """Shapley values of the game against the baseline, from all 2^d coalitions: another way to the same numbers."""
        d = self.features
        masks = np.array(list(itertools.product([False, True], repeat=d)))
        sizes = masks.sum(axis=1)
        found = np.zeros((len(rows), d))
        for row, values in zip(np.asarray(rows, dtype=np.float64), found, strict=True):
            v = self.value(np.where(masks, row, self.baseline.astype(np.float64))).reshape((2,) * d)
            for feature in range(d):
                without = np.moveaxis(v, feature, 0)
                others = sizes.reshape((2,) * d).take(0, axis=feature)
                weights = 1 / (d * np.array([math.comb(d - 1, size) for size in range(d)]))
                values[feature] = np.sum(weights[others] * (without[1] - without[0]))
        return found

    def onnx(self):
        """The bytes of a file: a classifier of two classes whose margin is the function."""
        return tree_file(self) if any(piece.kind == "step" for piece in self.pieces) else network_file(self)


def signed(rng, low, high, count):
    return rng.uniform(low, high, count) * rng.choice([-1, 1], count)


def normal_rows(rng, count, features):
    """Columns of different means and deviations, so that a slope is not an effect."""
    return rng.normal(rng.uniform(-1, 1, features), rng.uniform(0.5, 2, features), (count, features))


def linear(rng, count):
    pieces = [Piece("linear", {i: weight}) for i, weight in enumerate(signed(rng, 0.3, 2, 8))]
    return (
        "what a feature adds is its weight times its distance from the mean",
        pieces,
        normal_rows(rng, count, 8),
        "mean",
    )


def additive(rng, count):
    slopes, shifts, scales = signed(rng, 0.7, 2, 8), rng.uniform(-0.5, 0.5, 8), signed(rng, 0.5, 2, 8)
    kinds = ["tanh"] * 4 + ["relu"] * 4
    pieces = [Piece(kinds[i], {i: slopes[i]}, shifts[i], scales[i]) for i in range(8)]
    says = "four smooth and four kinked functions of one feature each: what a feature adds is its function's rise"
    return says, pieces, normal_rows(rng, count, 8), "mean"


def interaction(rng, count):
    factors = [(0, 1), (2, 3), (0, 2), (4, 5, 6)]
    scales = signed(rng, 0.5, 2, len(factors))
    pieces = [Piece("product", dict.fromkeys(each, 1), 0, scale) for each, scale in zip(factors, scales, strict=True)]
    pieces.append(Piece("linear", {7: signed(rng, 0.5, 2, 1)[0]}))
    says = "products of two and three features, which are 0 unless all are there: equal shares; and a linear feature"
    return says, pieces, rng.normal(0.5, 1, (count, 8)), "zero"


def gates(rng, count):
    scales = signed(rng, 1, 3, 4)
    pieces = [
        Piece("relu", {0: 1, 1: 1}, -1, scales[0]),
        Piece("relu", {2: 1, 3: 1}, -1, scales[1]),
        Piece("relu", {4: -1, 5: -1}, 1, -scales[2]),
        Piece("linear", {6: 1}, 0, scales[3]),
        Piece("relu", {6: 1, 7: -1}, 0, -scales[3]),
    ]
    says = "two gates that open when both inputs are there, one that either input opens, and the smaller of two"
    return says, pieces, rng.uniform(0, 1.2, (count, 8)), "zero"


def saturation(rng, count):
    slopes, scales = rng.uniform(1, 2, 6), signed(rng, 0.5, 2, 7)
    pieces = [Piece("relu", {i: -slopes[i]}, 1, -scales[i]) for i in range(6)]
    pieces.append(Piece("relu", {6: -1.5, 7: -1.5}, 1, -scales[6]))
    says = "features that no longer matter beyond a threshold, where most rows are: slopes are 0 there, effects are not"
    return says, pieces, rng.uniform(0, 2, (count, 8)), "zero"


def irrelevant(rng, count):
    slopes, scales = signed(rng, 0.7, 2, 4), signed(rng, 0.5, 2, 5)
    pieces = [Piece("tanh" if i < 2 else "linear", {i: slopes[i]}, 0, scales[i]) for i in range(3)]
    pieces += [
        Piece("relu", {3: 1, 4: slopes[3]}, 0.2, scales[4]),
        Piece("cancelled", dict.fromkeys((7, 8, 9), 1), 0, 1.5),
    ]
    says = (
        "five features that matter; two that the network multiplies by 0 and three that it cancels: nothing for those"
    )
    return says, pieces, normal_rows(rng, count, 10), "mean"


def twins(rng, count):
    """Columns 0 and 1 are nearly the same, and so are 2 and 3."""
    rows = normal_rows(rng, count, 8)
    for copy, original in ((1, 0), (3, 2)):
        rows[:, copy] = rows[:, original] + rng.normal(0, 0.05 * rows[:, original].std(), count)
    return rows


def correlated(rng, count):
    pieces = [
        Piece("linear", {i: weight}) for i, weight in zip((0, 2, 4, 5, 6, 7), signed(rng, 0.3, 2, 6), strict=True)
    ]
    says = "two features have a twin (correlation 0.999) that the model does not use: nothing for the twin"
    return says, pieces, twins(rng, count), "mean"


def shared(rng, count):
    weights = signed(rng, 0.3, 2, 8)
    weights[1], weights[3] = weights[0], weights[2]
    pieces = [Piece("linear", {i: weight}) for i, weight in enumerate(weights)]
    return "the same, but the model uses both twins alike: each gets its own half", pieces, twins(rng, count), "mean"


def trees(rng, count):
    pieces = [Piece("step", {i % 4: rng.normal(0, 0.7)}, 0, scale) for i, scale in enumerate(signed(rng, 0.5, 2, 12))]
    pieces += [
        Piece("step", {4: rng.normal(0, 0.3), 5: rng.normal(0, 0.3)}, 0, signed(rng, 1, 2, 1)[0]) for _ in range(3)
    ]
    says = "steps of one feature, and of two that must both be above: half for each; two features are in no tree"
    return says, pieces, rng.normal(0.2, 1, (count, 8)), "mean"


MAKERS = (linear, additive, interaction, gates, saturation, irrelevant, correlated, shared, trees)


def truth_model(maker, seed, rows, pool=300):
    """One of MAKERS with weights and rows of this seed; its truth is held against brute force before it is used."""
    rng = np.random.default_rng([seed, MAKERS.index(maker)])
    says, pieces, table, baseline = maker(rng, rows + pool)
    table = table.astype(np.float32)
    row = table[rows:].mean(axis=0, dtype=np.float64) if baseline == "mean" else np.zeros(table.shape[1])
    model = TruthModel(maker.__name__, f"{says} (baseline: {baseline})", pieces, table[:rows], table[rows:], row)
    np.testing.assert_allclose(model.truth(model.rows[:3]), model.brute_force(model.rows[:3]), rtol=1e-9, atol=1e-9)
    return model
