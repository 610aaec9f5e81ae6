"""`assay evaluate` beside what Quantus says of the same explanations.

tests/fixtures/criteria/make_criteria.py wrote the files; `make test-peers` makes them afresh and names their folder in
ASSAY_CRITERIA.
"""

import json
import os
import pathlib

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
STORED = pathlib.Path(os.environ.get("ASSAY_CRITERIA", FIXTURES / "criteria"))
GOLDEN = {file.stem: json.loads(file.read_text()) for file in sorted(STORED.glob("*.json"))}
CASES = [(name, number) for name, facts in GOLDEN.items() for number in range(len(facts["cases"]))]
TOLERANCE = 1e-4


def label(case):
    name, number = case
    return f"{name}-{GOLDEN[name]['cases'][number]['criterion']}"


def test_there_are_scores_of_every_kind():
    criteria = {case["criterion"].split(":")[0] for facts in GOLDEN.values() for case in facts["cases"]}
    assert criteria >= {"complexity", "sparseness", "faithfulness", "faithfulness_estimate", "max_sensitivity_yeh"}
    assert criteria >= {"effective_complexity", "deletion_auc", "relative_input_stability", "relative_output_stability"}
    assert all({"quantus", "torch"} <= set(facts["versions"]) for facts in GOLDEN.values())


@pytest.fixture
def explained(assay, tmp_path):
    """The options that name model, rows and explanations of a golden file."""

    def made(facts):
        if "attributions" in facts:
            np.save(tmp_path / "phi.npy", np.array(facts["attributions"], dtype=np.float32))
            return ["--explanations", "phi.npy"]
        np.save(tmp_path / "baseline.npy", np.array(facts["baseline"], dtype=np.float32))
        model = FIXTURES / "models" / facts["model"]
        given = ["--model", model / "model.onnx", "--data", model / "rows.csv", "--rows", f"1-{facts['rows']}"]
        given += ["--baseline", "baseline.npy"]
        options = ["--method", facts["method"], "--target", facts["target"], "--out", "phi.npz"]
        result = assay("explain", *given, *options)
        assert (result.returncode, result.stderr) == (0, "")
        return [*given, "--explanations", "phi.npz"]

    return made


@pytest.mark.parametrize(("name", "number"), CASES, ids=map(label, CASES))
def test_scores_are_those_of_the_peer(assay, explained, name, number):
    facts = GOLDEN[name]
    case = facts["cases"][number]
    seed = ["--seed", facts.get("seed", 0)]
    result = assay(*seed, "evaluate", *explained(facts), "--criteria", case["criterion"], "--json")
    assert (result.returncode, result.stderr) == (0, "")
    (found,) = json.loads(result.stdout)["scores"]
    assert found["criterion"] == case["criterion"].split(":")[0]
    assert found["coverage"] == 1
    np.testing.assert_allclose(found["values"], case["values"], rtol=TOLERANCE, atol=TOLERANCE, err_msg=case["peer"])
    np.testing.assert_allclose(found["mean"], np.mean(case["values"]), rtol=TOLERANCE, atol=TOLERANCE)
