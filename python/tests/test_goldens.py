"""The package beside what Captum, SHAP, Quantus, NumPy and SciPy say, without any of the first three.

tests/peers/record.py stored their numbers in tests/fixtures/peers, with what is needed to compute ours; the files of
tests/fixtures/explanations hold more of the same, for models in ONNX files. `make test-peers` names folders of fresh
ones in ASSAY_PEERS.
"""

from __future__ import annotations

import base64
import csv
import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures"
STORED = pathlib.Path(os.environ.get("ASSAY_PEERS", FIXTURES / "peers"))
GOLDEN = {file.stem: json.loads(file.read_text()) for file in sorted(STORED.glob("*.json"))}
MODELS = {file.stem: json.loads(file.read_text()) for file in sorted((FIXTURES / "explanations").glob("*.json"))}
TOLERANCE = 1e-5
# Those that only predictions are needed for.
GAMES = ("exact_shapley", "kernel_shap", "shapley_sampling", "occlusion", "lime")


def label(case: dict[str, Any]) -> str:
    return "-".join(
        str(case[key]) for key in ("method", "criterion", "aggregator", "reference", "peer") if case.get(key)
    )


def cases(part: str, *files: str) -> list[Any]:
    return [pytest.param(GOLDEN[f], case, id=f"{f}-{label(case)}") for f in files for case in GOLDEN[f].get(part, [])]


# The models again, from their numbers


def network(facts: dict[str, Any]) -> Any:
    layers = [(np.array(layer["weight"]), np.array(layer["bias"]), layer["activation"]) for layer in facts["layers"]]
    functions = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh, "": lambda z: z}

    def margins(rows: Any) -> Any:
        hidden = np.asarray(rows, dtype=np.float64)
        for weight, bias, activation in layers:
            hidden = functions[activation](hidden @ weight.T + bias)
        return hidden

    return assay.wrap(margins, classes=["a", "b", "c"], value="margin")


def forest(facts: dict[str, Any]) -> Any:
    def probability(rows: Any) -> Any:
        found = np.zeros(len(rows))
        for tree in facts["trees"]:
            feature, threshold = np.array(tree["feature"]), np.array(tree["threshold"])
            left, right = np.array(tree["left"]), np.array(tree["right"])
            node = np.zeros(len(rows), dtype=int)
            while (left[node] >= 0).any():
                inner = left[node] >= 0
                low = rows[np.arange(len(rows)), np.maximum(feature[node], 0)] <= threshold[node]
                node = np.where(inner, np.where(low, left[node], right[node]), node)
            found += np.array(tree["probability"])[node]
        return found / len(facts["trees"])

    return assay.wrap(probability, classes=["no", "yes"], value="probability")


def linear(facts: dict[str, Any]) -> Any:
    return assay.wrap(lambda rows: rows @ np.array(facts["coefficients"]) + facts["intercept"])


def loaded(facts: dict[str, Any], folder: pathlib.Path) -> Any:
    file = folder / "network.onnx"
    file.write_bytes(base64.b64decode(facts["onnx"]))
    return assay.load(file)


def rows_of(facts: dict[str, Any], name: str = "rows") -> np.ndarray:
    return np.array(facts[name], dtype=np.float32)


def explained(model: Any, facts: dict[str, Any], case: dict[str, Any]) -> Any:
    given: dict[str, Any] = {case["reference"]: rows_of(facts, case["reference"])} if case["reference"] else {}
    if "target" in facts:
        given["target"] = facts["target"]
    return assay.explain(model, rows_of(facts), case["method"], **given, **case["options"])


def assert_same(found: Any, case: dict[str, Any]) -> None:
    """Differences small beside a row's largest value; of sampled ones, beside both standard errors."""
    theirs = np.array(case["values"])
    difference = np.abs(found.values - theirs)
    if "error" not in case:
        assert (difference / np.abs(theirs).max(axis=1, keepdims=True)).max() < TOLERANCE
        return
    ours = 0 if found.standard_error is None else np.nan_to_num(found.standard_error)
    z = difference / np.hypot(ours, case["error"])
    assert z.max() < 5
    # Rows and features are not independent, but errors that are too large by far would show.
    assert 0.4 < np.sqrt(np.mean(z**2)) < 1.8


# Explanations


def test_every_peer_is_there() -> None:
    stored = [case for facts in GOLDEN.values() for case in facts["explanations"] + facts.get("scores", [])]
    assert {case["peer"].split()[0] for case in stored} == {"captum", "shap", "Quantus"}
    methods = {case["method"] for case in stored if "method" in case}
    elsewhere = {"deeplift_reveal_cancel", "tree_shap", "tree_shap_path"}
    assert methods == {each.name for each in assay.methods()} - elsewhere
    packages = {"captum", "numpy", "quantus", "scikit-learn", "scipy", "shap", "torch"}
    assert all(set(facts["versions"]) == packages for facts in GOLDEN.values())


@pytest.mark.parametrize(("facts", "case"), cases("explanations", "network"))
def test_network_from_a_file(facts: dict[str, Any], case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    assert_same(explained(loaded(facts, tmp_path), facts, case), case)


@pytest.mark.parametrize(("facts", "case"), cases("explanations", "network"))
def test_network_as_a_function(facts: dict[str, Any], case: dict[str, Any]) -> None:
    if case["method"] in GAMES:
        assert_same(explained(network(facts), facts, case), case)
    else:
        with pytest.raises(assay.UnsupportedError):
            explained(network(facts), facts, case)


@pytest.mark.parametrize(("facts", "case"), cases("explanations", "forest"))
def test_forest_as_a_function(facts: dict[str, Any], case: dict[str, Any]) -> None:
    assert_same(explained(forest(facts), facts, case), case)


def test_forest_predicts_as_it_did() -> None:
    facts = GOLDEN["forest"]
    found = np.asarray(forest(facts).predict(rows_of(facts))).reshape(-1)
    np.testing.assert_allclose(found, facts["predicted"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("facts", "case"), cases("explanations", "linear"))
def test_linear_model_as_a_function(facts: dict[str, Any], case: dict[str, Any]) -> None:
    assert_same(explained(linear(facts), facts, case), case)


@pytest.mark.parametrize("name", MODELS)
def test_models_in_files(name: str) -> None:
    """All cases of tests/fixtures/explanations, which the command line is held against as well."""
    facts = MODELS[name]
    folder = FIXTURES / "models" / facts["model"]
    with open(folder / "rows.csv", newline="", encoding="utf-8") as stream:
        rows = np.array(list(csv.reader(stream))[1:], dtype=np.float32)[: facts["rows"]]
    model = assay.load(folder / "model.onnx")
    for case in facts["cases"]:
        given = {case["reference"]: np.array(facts[case["reference"]], dtype=np.float32)}
        target = None if case["target"] == "auto" else case["target"]
        found = assay.explain(model, rows, case["method"], target=target, value=case["value"], **given).values
        theirs = np.array(case["values"])
        scale = np.abs(theirs).max(axis=1, keepdims=True)
        assert (np.abs(found - theirs) / (scale + 1e-6)).max() < 1e-4, (case["method"], case["peer"])


# Scores


def attributions(facts: dict[str, Any], peer: str) -> np.ndarray:
    """A peer's, against the baseline where it has a reference."""
    (found,) = (c["values"] for c in facts["explanations"] if c["peer"] == peer and c["reference"] != "background")
    return np.array(found)


@pytest.mark.parametrize(("facts", "case"), cases("scores", "network"))
def test_scores_of_attributions_made_elsewhere(
    facts: dict[str, Any], case: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    """Plain arrays, model and rows: as one calls Quantus. What explains perturbed rows itself needs our own."""
    model, x, baseline = loaded(facts, tmp_path), rows_of(facts), rows_of(facts, "baseline")
    again = {"max_sensitivity_yeh", "relative_input_stability", "relative_output_stability"}
    if case["criterion"] in again:
        assert case["explanations"] == "captum InputXGradient"
        ours = assay.explain(model, x, "gradient_x_input", baseline=baseline, target=facts["target"])
        found = assay.evaluate(ours, (case["criterion"], case["options"]), seed=facts["seed"])
    else:
        theirs = attributions(facts, case["explanations"])
        given = {"model": model, "X": x, "baseline": baseline, "target": facts["target"]}
        found = assay.evaluate(theirs, (case["criterion"], case["options"]), **given)
    (scores,) = found.values()
    assert scores.coverage == 1
    # Quantus adds 1e-7 to what Sparseness sees, and a quotient of small differences has fewer digits.
    tolerance = {"relative_input_stability": 1e-4, "relative_output_stability": 1e-4}.get(case["criterion"], 1e-5)
    np.testing.assert_allclose(scores.values, case["values"], rtol=tolerance, atol=1e-6)


# Aggregates


@pytest.mark.parametrize(("facts", "case"), cases("aggregates", "network"))
def test_aggregates_of_attributions_made_elsewhere(facts: dict[str, Any], case: dict[str, Any]) -> None:
    members = [attributions(facts, peer) for peer in case["members"]]
    found = assay.aggregate(members, case["aggregator"], names=["paths", "ablation", "shap"])
    np.testing.assert_allclose(found.values, case["values"], rtol=0, atol=TOLERANCE)
