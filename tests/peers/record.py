"""Writes tests/fixtures/peers: what Captum, SHAP, Quantus, scikit-learn, NumPy and SciPy say of three tiny models.

    build/peers/bin/python tests/peers/record.py [--out FOLDER]

`make test` checks the Python package against these files (python/tests/test_goldens.py), so each holds what is needed
to compute the same without the peers: the model's numbers, rows, references and the call. Weights and rows are
multiples of 1/64, which float32 and short decimals hold exactly; everything drawn has a seed. So the same versions
write the same bytes. tests/fixtures/peers/README.md lists what is in them.
"""

import argparse
import base64
import importlib.metadata
import json
import logging
import pathlib
import sys
import warnings

import numpy as np
import onnx
import shap
import torch
from scipy import optimize, stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peer_values as peers
from make_criteria import gradient_x_input

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "peers"
ROWS, FEATURES, SEED = 8, 6, 7


def drawn(generator, *shape, scale=1.0):
    """Normal numbers, to the next multiple of 1/64."""
    return (np.round(64 * scale * generator.normal(size=shape)) / 64).astype(np.float32)


def rows_and_references(seed):
    generator = np.random.default_rng(seed)
    return {
        "rows": drawn(generator, ROWS, FEATURES),
        "baseline": drawn(generator, 1, FEATURES, scale=0.5),
        "background": drawn(generator, 4, FEATURES),
    }


# The network


WIDTHS, ACTIVATIONS = (FEATURES, 8, 5, 3), ("relu", "tanh", "")


def layers():
    generator = np.random.default_rng(11)
    for columns, rows, activation in zip(WIDTHS, WIDTHS[1:], ACTIVATIONS, strict=False):
        weight, bias = drawn(generator, rows, columns, scale=columns**-0.5), drawn(generator, rows, scale=0.2)
        yield {"weight": weight, "bias": bias, "activation": activation}


def torch_module(made):
    parts = []
    for layer in made:
        linear = nn.Linear(*layer["weight"].T.shape)
        linear.weight.data, linear.bias.data = torch.tensor(layer["weight"]), torch.tensor(layer["bias"])
        parts += [linear] + {"relu": [nn.ReLU()], "tanh": [nn.Tanh()], "": []}[layer["activation"]]
    return nn.Sequential(*parts)


def onnx_file(made):
    """The same as ONNX, written by hand: exporters put their versions into a file."""
    nodes, weights, last = [], [], "x"
    for number, layer in enumerate(made):
        for name in ("weight", "bias"):
            weights.append(onnx.numpy_helper.from_array(layer[name], f"{name}{number}"))
        inputs = [last, f"weight{number}", f"bias{number}"]
        nodes.append(onnx.helper.make_node("Gemm", inputs, [f"z{number}"], transB=1))
        last = f"z{number}"
        if layer["activation"]:
            nodes.append(onnx.helper.make_node(layer["activation"].capitalize(), [last], [f"h{number}"]))
            last = f"h{number}"
    sides = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])
        for name, width in (("x", WIDTHS[0]), (last, WIDTHS[-1]))
    ]
    graph = onnx.helper.make_graph(nodes, "network", sides[:1], sides[1:], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return base64.b64encode(model.SerializeToString(deterministic=True)).decode()


def network():
    made, given = list(layers()), rows_and_references(3)
    subject = peers.Network(torch_module(made), given["rows"], given["baseline"], given["background"])
    references = {"baseline": given["baseline"], "background": given["background"]}
    explained = [
        *peers.gradients(subject),
        *peers.deeplift(subject),
        peers.deep_explainer(subject),
        *peers.exact_shapley(subject.margin, subject.x, references),
        *peers.sampled(subject),
        peers.lime(subject),
    ]
    by_peer = {(case.peer, case.reference): case.values for case in explained}
    scores = []
    for peer in ("captum InputXGradient", "captum IntegratedGradients gausslegendre", "shap Exact"):
        values = by_peer[peer, "" if peer == "captum InputXGradient" else "baseline"]
        judge = peers.judge_of(subject, values, gradient_x_input)
        found = [*peers.of_values(values), *peers.of_model(judge)]
        # Only of this method Quantus is told how perturbed rows are explained.
        found += peers.of_explainer(judge, SEED) if peer == "captum InputXGradient" else []
        scores += [{"explanations": peer} | vars(case) for case in found]
    names = ("captum IntegratedGradients gausslegendre", "captum FeatureAblation", "shap Exact")
    return given | {
        "layers": made,
        "onnx": onnx_file(made),
        "target": subject.target,
        "seed": SEED,
        "explanations": [vars(case) for case in explained],
        "scores": scores,
        "aggregates": list(aggregates(names, [by_peer[name, "baseline"] for name in names])),
    }


# Aggregates


def geometric_median(members):
    """Of one row's members, by a general minimiser of the sum of distances."""

    def loss(point):
        away = point - members
        distance = np.linalg.norm(away, axis=1)
        return distance.sum(), (away / distance[:, None]).sum(axis=0)

    return optimize.minimize(loss, members.mean(axis=0), jac=True, method="BFGS", options={"gtol": 1e-9}).x


def aggregates(names, values):
    """Of members of unit norm; Borda's count of their ranks."""
    members = np.stack([rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in values])
    ranks = stats.rankdata(-np.abs(members), axis=2)
    found = {
        "mean": ("NumPy mean", members.mean(axis=0)),
        "median": ("NumPy median", np.median(members, axis=0)),
        "geometric_median": (
            "SciPy minimize",
            np.stack([geometric_median(members[:, row]) for row in range(ROWS)]),
        ),
        "borda": ("SciPy rankdata", ((FEATURES + 1 - ranks) / FEATURES).mean(axis=0)),
    }
    for name, (peer, rows) in found.items():
        yield {"aggregator": name, "members": list(names), "peer": peer, "values": rows}


# Models of scikit-learn


def training_rows():
    generator = np.random.default_rng(5)
    x = drawn(generator, 200, FEATURES)
    return x, x[:, 0] - 0.5 * x[:, 1] + x[:, 2] * x[:, 3] + 0.25 * drawn(generator, 200)


def forest():
    x, y = training_rows()
    made = RandomForestClassifier(5, max_depth=3, random_state=0).fit(x, y > 0)
    given = rows_and_references(4)
    references = {"baseline": given["baseline"], "background": given["background"]}
    found = list(peers.exact_shapley(lambda rows: made.predict_proba(rows)[:, 1], given["rows"], references))
    for reference, rows in references.items():
        explainer = shap.TreeExplainer(made, rows, feature_perturbation="interventional", model_output="probability")
        values = explainer.shap_values(given["rows"], check_additivity=False)[..., 1]
        found.append(peers.Explained("exact_shapley", {}, reference, "shap TreeExplainer", values))
    trees = [
        {
            "feature": tree.tree_.feature,
            "threshold": tree.tree_.threshold,
            "left": tree.tree_.children_left,
            "right": tree.tree_.children_right,
            "probability": tree.tree_.value[:, 0, 1] / tree.tree_.value[:, 0].sum(axis=1),
        }
        for tree in made.estimators_
    ]
    # A predicted probability, so that a reader of the trees can be checked by itself.
    predicted = made.predict_proba(given["rows"])[:, 1]
    return given | {"trees": trees, "predicted": predicted, "explanations": [vars(case) for case in found]}


def linear():
    x, y = training_rows()
    made = Ridge().fit(x, y)
    given = rows_and_references(6)
    masker = shap.maskers.Independent(given["background"], max_samples=len(given["background"]))
    values = shap.LinearExplainer(made, masker).shap_values(given["rows"])
    found = [
        peers.Explained(method, options, "background", "shap LinearExplainer", values)
        for method, options in (
            ("exact_shapley", {}),
            ("kernel_shap", {"samples": 24}),
            ("shapley_sampling", {"permutations": 2}),
            ("occlusion", {}),
        )
    ]
    found += peers.exact_shapley(made.predict, given["rows"], {"baseline": given["baseline"]})
    facts = {"coefficients": made.coef_, "intercept": float(made.intercept_)}
    return given | facts | {"explanations": [vars(case) for case in found]}


# Files


PACKAGES = ("captum", "numpy", "quantus", "scikit-learn", "scipy", "shap", "torch")


def plain(value, digits=None):
    """As JSON takes it; numbers that peers computed with so many digits."""
    if isinstance(value, dict):
        measured = ("values", "error", "predicted")
        return {key: plain(each, 8 if key in measured else digits) for key, each in value.items() if each is not None}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(each, digits) for each in value]
    if isinstance(value, float | np.floating):
        assert np.isfinite(value)
        return float(f"{value:.{digits}g}") if digits else float(value)
    return value.item() if isinstance(value, np.generic) else value


def text(facts):
    """JSON with one fact on each line."""
    lines = []
    for name, value in plain(
        {"versions": {name: importlib.metadata.version(name) for name in PACKAGES}} | facts
    ).items():
        listed = isinstance(value, list) and value and isinstance(value[0], dict | list)
        inner = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n]" if listed else json.dumps(value)
        lines.append(f"{json.dumps(name)}: {inner}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description="Writes the golden files of the Python package.")
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER)
    folder = parser.parse_args().out
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for made in (network, forest, linear):
        (folder / f"{made.__name__}.json").write_text(text(made()))


if __name__ == "__main__":
    main()
