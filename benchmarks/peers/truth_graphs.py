"""Models of known truth as ONNX files: classifiers of two classes whose margin is the sum of the pieces."""

import numpy as np
import small_onnx as onnx


class Graph:
    """Nodes and constants of a network that is being written."""

    def __init__(self, features):
        self.features, self.nodes, self.constants = features, [], []

    def add(self, operator, *inputs):
        """A node; arrays among its inputs become constants. Gives the name of its result."""
        names = []
        for value in inputs:
            if not isinstance(value, str):
                name = f"constant{len(self.constants)}"
                self.constants.append(onnx.tensor(name, value))
                value = name
            names.append(value)
        self.nodes.append(onnx.node(operator, names, [f"{operator.lower()}{len(self.nodes)}"]))
        return f"{operator.lower()}{len(self.nodes) - 1}"

    def columns(self, dictionaries):
        """A matrix with a column for each of these weights by feature."""
        made = np.zeros((self.features, len(dictionaries)))
        for column, weights in enumerate(dictionaries):
            for feature, weight in weights.items():
                made[feature, column] = weight
        return made

    def product(self, pieces):
        """A column for each product; where there are fewer factors than in the longest, the last is the constant 1."""
        longest = max(len(piece.weights) for piece in pieces)
        result = None
        for place in range(longest):
            chosen = [dict.fromkeys(list(piece.weights)[place : place + 1], 1) for piece in pieces]
            factor = self.add("MatMul", "x", self.columns(chosen))
            if not all(chosen):
                factor = self.add("Add", factor, np.array([0.0 if each else 1.0 for each in chosen]))
            result = factor if result is None else self.add("Mul", result, factor)
        return result

    def cancelled(self, piece):
        """max(max(a, b), c) - max(max(a, c), b), each maximum as one ReLU and a sum."""
        a, b, c = piece.weights
        inner = self.add("Relu", self.add("MatMul", "x", self.columns([{a: 1, b: -1}, {a: 1, c: -1}])))
        outer = self.add("Add", inner, self.add("MatMul", "x", self.columns([{b: 1, c: -1}, {c: 1, b: -1}])))
        part = self.add("MatMul", self.add("Relu", outer), np.array([[piece.scale], [-piece.scale]]))
        return self.add("Add", part, self.add("MatMul", "x", self.columns([{c: piece.scale, b: -piece.scale}])))


def network_file(model):
    graph, parts = Graph(model.features), []
    kinds = {kind: [piece for piece in model.pieces if piece.kind == kind] for kind in ("relu", "tanh", "product")}
    linear = [piece for piece in model.pieces if piece.kind == "linear"]
    if linear:
        weights = sum(graph.columns([piece.weights]) * piece.scale for piece in linear)
        parts.append(graph.add("MatMul", "x", weights))
    for kind, pieces in kinds.items():
        if not pieces:
            continue
        scales = np.array([[piece.scale] for piece in pieces])
        if kind == "product":
            hidden = graph.product(pieces)
        else:
            total = graph.add("MatMul", "x", graph.columns([piece.weights for piece in pieces]))
            total = graph.add("Add", total, np.array([piece.bias for piece in pieces]))
            hidden = graph.add(kind.capitalize(), total)
        parts.append(graph.add("MatMul", hidden, scales))
    parts += [graph.cancelled(piece) for piece in model.pieces if piece.kind == "cancelled"]
    margin = parts[0]
    for part in parts[1:]:
        margin = graph.add("Add", margin, part)
    margin = graph.add("Add", margin, np.array([model.constant]))
    output = graph.add("Sigmoid", margin)
    return onnx.model(graph.nodes, [onnx.table("x", model.features)], [onnx.table(output, 1)], graph.constants)


def tree_file(model):
    """Every step is a tree: a chain of branches that ends in a leaf of 0 as soon as a feature is not above."""
    nodes = {key: [] for key in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
    leaves = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}

    def add(tree, number, mode, feature=0, threshold=0.0, below=0, above=0):
        for key, value in zip(nodes, (tree, number, feature, mode, threshold, below, above), strict=True):
            nodes[key].append(value)

    def leaf(tree, number, weight):
        add(tree, number, "LEAF")
        for key, value in zip(leaves, (tree, number, 0, weight), strict=True):
            leaves[key].append(value)

    for tree, piece in enumerate(model.pieces):
        for level, (feature, threshold) in enumerate(piece.weights.items()):
            add(tree, 2 * level, "BRANCH_LEQ", feature, threshold, 2 * level + 1, 2 * level + 2)
            leaf(tree, 2 * level + 1, 0.0)
        leaf(tree, 2 * len(piece.weights), piece.scale)
    ensemble = onnx.node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "probabilities"],
        "ai.onnx.ml",
        **{f"nodes_{key}": value for key, value in nodes.items()},
        **{f"class_{key}": value for key, value in leaves.items()},
        classlabels_int64s=[0, 1],
        base_values=[model.constant],
        post_transform="LOGISTIC",
    )
    outputs = [onnx.table("label", None, onnx.INTEGER), onnx.table("probabilities", 2)]
    return onnx.model([ensemble], [onnx.table("x", model.features)], outputs)
