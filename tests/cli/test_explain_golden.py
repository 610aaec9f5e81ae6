"""`assay explain` beside what Captum, SHAP and scikit-learn say of the same models.

tests/fixtures/explanations/make_explanations.py wrote the files; `make test-peers` makes them afresh and names their
folder in ASSAY_EXPLANATIONS.
"""

import json
import os
import pathlib

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
STORED = pathlib.Path(os.environ.get("ASSAY_EXPLANATIONS", FIXTURES / "explanations"))
GOLDEN = {file.stem: json.loads(file.read_text()) for file in sorted(STORED.glob("*.json"))}
CASES = [(name, number) for name, facts in GOLDEN.items() for number in range(len(facts["cases"]))]
TOLERANCE = 1e-4


def label(case):
    name, number = case
    facts = GOLDEN[name]["cases"][number]
    return f"{name}-{facts['method'].split(':tolerance')[0]}-{facts['reference']}"


def test_there_are_explanations_of_every_kind():
    methods = {case["method"].split(":")[0] for facts in GOLDEN.values() for case in facts["cases"]}
    assert methods >= {"gradient", "gradient_x_input", "integrated_gradients", "deeplift", "exact_shapley", "occlusion"}
    assert {"captum", "shap", "torch"} <= set.intersection(*(set(facts["versions"]) for facts in GOLDEN.values()))


@pytest.mark.parametrize(("name", "number"), CASES, ids=map(label, CASES))
def test_values_are_those_of_the_peer(assay, tmp_path, name, number):
    facts = GOLDEN[name]
    case = facts["cases"][number]
    np.save(tmp_path / "reference.npy", np.array(facts[case["reference"]], dtype=np.float32))
    model = FIXTURES / "models" / facts["model"]
    given = ["--model", model / "model.onnx", "--data", model / "rows.csv", "--rows", f"1-{facts['rows']}"]
    given += ["--method", case["method"], "--target", case["target"], f"--{case['reference']}", "reference.npy"]
    given += ["--value", case["value"]] if case["value"] else []
    result = assay("explain", *given, "--out", "phi.npz")
    assert (result.returncode, result.stderr) == (0, "")
    with np.load(tmp_path / "phi.npz") as phi:
        ours = phi["values"]
    theirs = np.array(case["values"])
    # Of a row's largest value: the small ones are differences of larger numbers.
    scale = np.abs(theirs).max(axis=1, keepdims=True)
    assert ours.shape == theirs.shape
    assert (np.abs(ours - theirs) / (scale + 1e-6)).max() < TOLERANCE, case["peer"]
