"""What `assay study` prints first: the plan, its reference, and which explanation to use."""

import csv
import json
import shlex

import numpy as np
import pytest

SMALL = ("--methods", "gradient,occlusion,kernel_shap:samples=32", "--aggregators", "mean,ava", "--sample", "12")


def read_json(path):
    return json.loads(path.read_text())


def test_plans_first_and_ends_with_one_screen(iris):
    _, out = iris
    plan, _, screen = out.partition("\n\n")
    assert plan.startswith(
        "no --model: a small network, trained on iris (train part)\nrows: 30 rows of iris (test part)"
    )
    assert "\n11 methods, 16 aggregates, 11 criteria: about " in plan and "; 2 notes: --all prints them" in plan
    assert len(out.splitlines()) <= 25
    for word in ("Model ", "Explained ", "Drivers ", "faithfulness", "use for", "overall", "+-", "\n- Use ", "\nNext "):
        assert word in screen, word
    assert "Verdict" not in screen
    assert out.splitlines()[-1].startswith("wrote study/report.html")


def test_the_reference_is_spread_over_the_scores_of_the_pool(iris, assay):
    folder, out = iris
    study = read_json(folder / "study.json")
    facts = study["facts"]["reference_facts"]
    assert study["facts"]["reference"] == "100 rows of iris (train part), spread over its scores"
    assert (facts["rows"], facts["background"]) == (100, True)
    line = out[out.index("\nreference: ") + 1 :].replace("\n  ", " ").splitlines()[0]
    assert line.startswith(f"reference: {study['facts']['reference']}; the model gives ")
    assert f"{facts['value']:.4g}" in line and f"{facts['pool_value']:.4g} for the pool" in line
    # Rows of different predicted classes: a mean over those would be about a third whatever the reference is.
    assert facts["probability"] is None and facts["pool_probability"] is None and "probability" not in line
    with np.load(folder / "explanations" / "occlusion.npz") as explanations:
        assert facts["value"] == pytest.approx(explanations["base"].mean(), abs=1e-6)
        targets = explanations["target"]
    # The pool by the model itself.
    result = assay(
        "predict", "--model", folder / "model.onnx", "--data", "iris", "--split", "train", "--output", "margin"
    )
    rows = list(csv.reader(result.stdout.splitlines()))
    margins = np.array([[float(cell) for cell in row[-3:]] for row in rows[1:]])
    assert margins.shape == (120, 3)
    assert facts["pool_value"] == pytest.approx(margins.mean(axis=0)[targets].mean(), abs=1e-5)
    # A draw that is spread over the scores has nearly their mean; here 100 of 120 rows.
    assert facts["value"] == pytest.approx(facts["pool_value"], abs=0.2)
    assert {
        each["value"] for entry in study["entries"] for each in entry["variations"] if each["what"] == "reference"
    } == {"mean of iris (train part)"}


@pytest.mark.parametrize(
    ("words", "reference", "other"),
    [
        (("--baseline", "mean"), "mean of iris (train part)", "100 rows of iris (train part), spread over its scores"),
        (("--baseline", "zero"), "zero", "mean of iris (train part)"),
        (("--background", "pool:7"), "7 rows of iris (train part)", "mean of iris (train part)"),
    ],
)
def test_the_reference_that_is_said_stays(assay, tmp_path, words, reference, other):
    few = (
        "--methods",
        "occlusion",
        "--aggregators",
        "none",
        "--sample",
        "6",
        "--criteria",
        "complexity",
        "--no-curves",
    )
    assert assay("--quiet", "study", "iris", *few, *words, "--out", "study").returncode == 0
    study = read_json(tmp_path / "study" / "study.json")
    assert study["facts"]["reference"] == reference
    assert [each["value"] for each in study["entries"][0]["variations"]] == [other]
    plan = assay("study", "iris", *few, *words, "--plan").stdout
    assert f"\nreference: {reference}; the model gives " in plan


def test_all_prints_everything(assay):
    result = assay("study", "iris", *SMALL, "--all", "--out", "study")
    assert result.returncode == 0, result.stderr
    for words in (
        "3 methods: gradient, ",
        "2 aggregates: mean, ",
        "\n- Use ",
        "better: ",
        "\nVerdict\n",
        "\nWarnings\n",
    ):
        assert words in result.stdout, words


def test_advice_is_about_what_the_study_holds(iris):
    folder, out = iris
    study = read_json(folder / "study.json")
    advice = study["advice"]
    entries = {entry["name"]: entry for entry in study["entries"]}
    assert (advice["margin"], advice["tie"]) == (0.05, 0.002) and advice["critical"] > 2
    overall = advice["recommended"]["overall"]
    assert f"\n- Use {overall['explanation']}" in out and study["verdict"][0].startswith("Use ")
    for aim, made in advice["recommended"].items():
        assert made["explanation"] in advice["faithful"], aim
        scores = {score["criterion"]: score for score in made["scores"]}
        for score in entries[made["explanation"]]["scores"]:
            assert scores[score["criterion"]]["mean"] == score["mean"]
    faithfulness = {name: entry["scores"][0]["mean"] for name, entry in entries.items()}
    assert study["criteria"][0]["spec"] == "faithfulness"
    best = max(mean for mean in faithfulness.values() if mean is not None)
    assert all(best - faithfulness[name] <= 0.05 for name in advice["faithful"])
    assert faithfulness["borda"] is None and "gradient" not in advice["faithful"]
    shares = [driver["share"] for driver in advice["drivers"]]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)


def own_probabilities(assay, model, data):
    """Of the pool, as the model's file gives them."""
    result = assay("predict", "--model", model, "--data", data, "--label", "species", "--output", "probability")
    rows = list(csv.reader(result.stdout.splitlines()))
    return np.array([[float(cell) for cell in row[-3:]] for row in rows[1:]])


def test_probabilities_of_margins_that_are_no_logits_are_the_models_own(assay, tmp_path, data_dir):
    """One-vs-rest sigmoids that are normalised: softmax of the margins is not what the model says."""
    model = data_dir / "onnx-models" / "logreg_iris.onnx"
    names = ["setosa", "versicolor", "virginica"]
    lines = (data_dir / "iris" / "iris.csv").read_text().splitlines()[1:151]
    rows = [[*line.split(",")[:2], names[int(line.split(",")[4])]] for line in lines]
    table = tmp_path / "iris.csv"
    table.write_text("\n".join(",".join(row) for row in [["a", "b", "species"], *rows]) + "\n")
    said = ("--label", "species", "--classes", ",".join(names), "--sample", "all")
    quick = ("--methods", "occlusion", "--aggregators", "none", "--criteria", "faithfulness", "--out", "s")
    result = assay("study", "--model", model, "--data", table, "--pool", table, "--target", "setosa", *said, *quick)
    facts = read_json(tmp_path / "s" / "study.json")["facts"]
    own = own_probabilities(assay, model, table)
    assert own.sum(axis=1) == pytest.approx(np.ones(150), abs=1e-5)
    assert facts["reference_facts"]["pool_probability"] == pytest.approx(own[:, 0].mean(), abs=1e-5)
    assert f"(probability {own[:, 0].mean():.4g}) for the pool" in result.stdout.replace("\n  ", " ")
    labels = np.array([names.index(row[2]) for row in rows])
    chosen = np.maximum(own[np.arange(150), labels], np.finfo(np.float32).eps)
    assert facts["quality"]["log_loss"] == pytest.approx(-np.log(chosen).mean(), rel=1e-4)
    assert facts["quality"]["calibration_error"] is not None


@pytest.mark.parametrize("seed", ["0", "3"])
def test_the_next_command_explains_as_the_study_did(assay, tmp_path, seed):
    """Against the same rows of the pool, and so with the same values."""
    few = ("--methods", "exact_shapley,occlusion", "--aggregators", "none", "--sample", "all", "--no-curves")
    result = assay("--seed", seed, "study", "iris", *few, "--out", "study")
    assert result.returncode == 0, result.stderr
    command = result.stdout[result.stdout.index("assay explain ") :].splitlines()
    words = shlex.split(" ".join([command[0], *(line for line in command[1:2] if line.startswith("  "))]))
    assert "--background=spread:100" in words
    explained = assay(*words[1:], "--out", "again.npz")
    assert explained.returncode == 0, explained.stderr
    study = read_json(tmp_path / "study" / "study.json")
    name = study["advice"]["recommended"]["overall"]["explanation"]
    with (
        np.load(tmp_path / "again.npz") as again,
        np.load(tmp_path / "study" / "explanations" / f"{name}.npz") as before,
    ):
        for part in ("values", "base", "output"):
            np.testing.assert_array_equal(again[part], before[part])


def test_spread_backgrounds_of_other_commands(assay, tmp_path):
    assert assay("train", "--data", "iris", "--split", "train", "--out", "m.onnx").returncode == 0
    rows = ("--model", "m.onnx", "--data", "iris", "--split", "test", "--pool", "iris", "--pool-split", "train")
    for word in ("spread:0", "spread:x"):
        result = assay("explain", *rows, "--background", word, "--method", "occlusion")
        assert result.returncode == 1 and "spread:N with a number of rows, 1 or more" in result.stderr
    said = (*rows, "--background", "spread:10")
    result = assay("explain", *said, "--method", "occlusion,kernel_shap", "--target", "all", "--out", "e.npz")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("10 rows of iris (train part), spread over its scores") == 6
    result = assay("explain", *said, "--method", "occlusion", "--value", "information")
    assert result.returncode == 0 and "10 rows of iris" in result.stdout, result.stderr
    # The files say what their base is, so another reference would be noted.
    files = sorted(tmp_path.glob("e*.npz"))
    assert len(files) == 6
    result = assay("evaluate", "--explanations", files[0], *said, "--criteria", "faithfulness")
    assert result.returncode == 0 and "reference" not in result.stderr, result.stderr
