"""`assay verify` on another processor: studies that were recorded with one vector target and are verified with every
other that this machine has. Untouched ones pass, and a value that was changed by more than rounding does not."""

import hashlib
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

NOT_PASSED = 3


def run(program, where, target, *arguments):
    return subprocess.run(
        [program, *map(str, arguments)],
        cwd=where,
        env={**os.environ, "ASSAY_VECTOR_TARGET": target},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def targets(program, tmp_path_factory):
    """All vector targets of this machine, best first: what the program says that it expected."""
    result = run(program, tmp_path_factory.mktemp("targets"), "none", "list", "methods")
    assert result.returncode == 1
    found = re.findall(r"[A-Z][A-Z0-9_]+", result.stderr.split("expected")[1].split("found")[0])
    assert len(found) >= 1
    return found


STUDIES = {
    # Trains its own model.
    "iris": ("iris", "--rows", "1-12"),
    # A network from elsewhere; a background, probabilities.
    "onnx": ("--model", "m.onnx", "--data", "test.csv", "--pool", "train.csv", "--label", "species", "--rows", "3-12"),
    "booster": ("--model", "trees/model.json", "--data", "trees/rows.csv", "--pool", "trees/background.csv"),
    # Outputs of 2e5: relative aggregates, slopes and scores without a unit are no larger for that.
    "prices": (
        "--model",
        "prices.onnx",
        "--data",
        "prices.csv",
        "--pool",
        "prices.csv",
        "--label",
        "price",
        "--rows",
        "1-10",
    ),
}
METHODS = {
    "iris": "kernel_shap:samples=64,integrated_gradients,lime:samples=200,deeplift,smooth_grad:samples=5",
    "onnx": "exact_shapley,shapley_sampling:permutations=8,smooth_grad:samples=5,occlusion",
    "booster": "tree_shap,tree_shap_path,occlusion,shapley_sampling:permutations=8",
    "prices": "exact_shapley,lime:samples=200,gradient,smooth_grad:samples=5",
}
CRITERIA = {
    "iris": "faithfulness,max_sensitivity,avg_sensitivity,complexity,compatibility:form=gap,infidelity,deletion_auc,"
    "monotonicity,identity,separability,conviction,randomisation:draws=1",
    "onnx": "faithfulness,avg_sensitivity,complexity,compatibility,sufficiency,posthoc_accuracy,effective_complexity,"
    "relative_input_stability",
    "booster": "faithfulness,avg_sensitivity,complexity,compatibility:form=gap,irof,sensitivity_n",
    "prices": "faithfulness,avg_sensitivity:normalise=unit,max_sensitivity,compatibility,infidelity,deletion_auc,"
    "insertion_auc,deletion,addition,sufficiency,prediction_gap_important,separability,identity,conviction,monotonicity",
}
AGGREGATORS = "mean,median,borda,convex_min,region_shrinking,closest_simple,ava:k=3"


@pytest.fixture(scope="module")
def recorded(program, targets, root, tmp_path_factory):
    """A folder with a study of each kind recorded with each target, as iris-AVX2, and what they were made of."""
    where = tmp_path_factory.mktemp("recorded")

    def made(target, *arguments):
        result = run(program, where, target, "--quiet", *arguments)
        assert (result.returncode, result.stderr) == (0, "")

    for part in ("train", "test"):
        made(targets[0], "data", "iris", "--split", part, "--out", f"{part}.csv")
    train = ("train", "--data", "train.csv", "--label", "species", "--hidden", "8", "--training", "epochs=30")
    made(targets[0], *train, "--out", "m.onnx")
    shutil.copytree(root / "tests" / "fixtures" / "trees" / "xgboost_binary", where / "trees")
    x = np.random.default_rng(3).normal(size=(60, 4))
    price = 2e5 + 3e4 * x[:, 0] - 2e4 * x[:, 1] * x[:, 2] + 5e3 * x[:, 3]
    lines = [",".join(f"{each:.4f}" for each in row) for row in np.column_stack([x, price])]
    (where / "prices.csv").write_text("\n".join(["area,age,noise,garden,price", *lines]) + "\n")
    train = ("train", "--data", "prices.csv", "--label", "price", "--hidden", "8", "--training", "epochs=30")
    made(targets[0], *train, "--out", "prices.onnx")
    for target in targets:
        for name, subject in STUDIES.items():
            chosen = ("--methods", METHODS[name], "--criteria", CRITERIA[name], "--aggregators", AGGREGATORS)
            made(target, "study", *subject, *chosen, "--out", f"{name}-{target}")
    return where


@pytest.mark.parametrize("name", STUDIES)
def test_studies_verify_with_every_other_target(program, targets, recorded, name):
    for first in targets:
        for second in targets:
            result = run(program, recorded, second, "verify", f"{name}-{first}")
            assert (result.returncode, result.stderr) == (0, ""), f"{first}, then {second}: {result.stdout}"
            lines = result.stdout.splitlines()
            if first == second:
                assert lines[0].endswith("files are the same, bit for bit")
            else:
                assert f" with {first}, run again by version" in lines[0]
                assert f" with {second}: " in lines[0]
                assert lines[1].endswith("files are the same within the tolerances")


def forge(study, name, change):
    """Changes a file and its hash alike: only running the study again can tell."""
    path = study / name
    change(path)
    manifest = json.loads((study / "manifest.json").read_text())
    for output in manifest["outputs"]:
        if output["name"] == name:
            output["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (study / "manifest.json").write_text(json.dumps(manifest))


def array(name, change):
    def apply(path):
        with np.load(path) as file:
            arrays = {each: file[each] for each in file.files}
        arrays[name] = change(arrays[name].copy())
        np.savez(path, **arrays)

    return apply


def added(place, amount):
    def change(values):
        values[place] += amount
        return values

    return change


def text(change):
    def apply(path):
        found = json.loads(path.read_text())
        change(found)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")

    return apply


def score(found, criterion):
    return next(each for each in found["scores"] if each["criterion"] == criterion)


def later(values):
    """A value of the row 3 is a thousandth larger."""
    values[2] = (values[2] or 0) * 1.001 + 0.001


def no_mean(found):
    """A value that may jump, and a mean that does not follow from the values."""
    monotonicity = score(found, "monotonicity")
    monotonicity["values"][2] = 1 - monotonicity["values"][2]
    monotonicity["mean"] = 0.999


def conclude(found):
    found["verdict"][0] = "Trust lime."


def lift(found):
    found["entries"][0]["scores"][0]["mean"] += 0.001


# By the study that is changed, iris where none is named.
OF_STUDY = {
    "signs of an aggregate": "prices",
    "slopes": "prices",
    "a score without a unit": "prices",
    "a curve without a unit": "prices",
}
FORGED = {
    "signs of an aggregate": ("explanations/median.npz", array("values", lambda values: -values), "'values' of row 1"),
    "slopes": ("explanations/gradient.npz", array("values", lambda values: values * 1.001), "'values' of row 1"),
    "a score without a unit": (
        "scores/lime-samples-200.json",
        text(lambda found: later(score(found, "avg_sensitivity")["values"])),
        "avg_sensitivity of ",
    ),
    "a curve without a unit": (
        "scores/lime-samples-200.json",
        text(
            lambda found: later(next(each for each in found["curves"] if each["criterion"] == "faithfulness")["mean"])
        ),
        "the curve of faithfulness along subset: the means, number 3",
    ),
    "a mean beside a jump": (
        "scores/deeplift.json",
        text(no_mean),
        "the mean of monotonicity: recorded 0.999, but that of the recorded values is",
    ),
    "an attribution": ("explanations/deeplift.npz", array("values", added((2, 1), 0.01)), "'values' of row 3"),
    "an output": ("explanations/deeplift.npz", array("output", added(2, 0.01)), "'output' of row 3"),
    "a gap": ("explanations/deeplift.npz", array("gap", added(2, 0.001)), "'gap' of row 3"),
    "a standard error": (
        "explanations/smooth_grad-samples-5.npz",
        array("stderr", added((2, 1), 0.01)),
        "'stderr' of row 3",
    ),
    "an aggregate": ("explanations/median.npz", array("values", added((2, 1), 0.01)), "'values' of row 3"),
    "the pool": ("pool/deeplift.npz", array("values", added((0, 0), 0.01)), "'values' of row 1"),
    "a score": (
        "scores/deeplift.json",
        text(lambda found: later(score(found, "infidelity")["values"])),
        "infidelity of row 3",
    ),
    "a summary": ("study.json", text(lift), "1 field differs, entries[0].scores[0].mean"),
    "the conclusion": ("study.json", text(conclude), "1 field differs, verdict[0]"),
    "the report": (
        "report.html",
        lambda path: path.write_text(path.read_text().replace("deeplift", "gradient")),
        "report.html: it is not the page that this program makes of the study's other files",
    ),
    "the table": (
        "scores.csv",
        lambda path: path.write_text(path.read_text().replace(",deeplift,0.9", ",deeplift,0.8", 1)),
        "scores.csv: line",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_changed_value_is_found_with_every_target(program, targets, recorded, tmp_path, what):
    name, change, expected = FORGED[what]
    study = tmp_path / "study"
    of_study = OF_STUDY.get(what, "iris")
    shutil.copytree(recorded / f"{of_study}-{targets[0]}", study)
    before = (study / name).read_bytes()
    forge(study, name, change)
    assert (study / name).read_bytes() != before
    # Inputs are named as the study was told them.
    assert run(program, recorded, targets[0], "verify", study, "--files-only").returncode == 0
    for target in targets:
        result = run(program, recorded, target, "verify", study)
        assert (result.returncode, result.stderr) == (NOT_PASSED, ""), f"{target}: {result.stdout}"
        assert name in result.stdout
        # With the same target files are compared as they are.
        assert expected in result.stdout or target == targets[0]


@pytest.mark.parametrize("name", ["index.html", "report2.html", "explanations/sub/a.txt", "scores/more.txt"])
def test_a_file_that_no_study_makes_is_found(program, targets, recorded, tmp_path, name):
    """Who opens a folder that was verified may open such a file first, and the manifest may well list it."""
    study = tmp_path / "study"
    shutil.copytree(recorded / f"iris-{targets[0]}", study)
    (study / name).parent.mkdir(exist_ok=True)
    (study / name).write_text("<p>use gradient</p>")
    manifest = json.loads((study / "manifest.json").read_text())
    manifest["outputs"].append({"name": name, "sha256": hashlib.sha256((study / name).read_bytes()).hexdigest()})
    (study / "manifest.json").write_text(json.dumps(manifest))
    result = run(program, recorded, targets[0], "verify", study)
    assert result.returncode == NOT_PASSED, result.stdout
    assert f"{name}: recorded, but no study makes such a file" in result.stdout


def test_another_model_is_found_with_every_target(program, targets, recorded, tmp_path):
    """A model that the study trained is taken as it was recorded; what was said of it must be true of it."""
    study = tmp_path / "study"
    shutil.copytree(recorded / f"iris-{targets[0]}", study)
    small = ("--rows", "1-4", "--methods", "gradient", "--criteria", "complexity", "--aggregators", "none")
    other = run(program, tmp_path, targets[0], "--quiet", "--seed", "7", "study", "iris", *small, "--out", "other")
    assert other.returncode == 0, other.stderr
    forge(study, "model.onnx", lambda path: shutil.copy(tmp_path / "other" / "model.onnx", path))
    for target in targets:
        result = run(program, tmp_path, target, "verify", "study")
        assert (result.returncode, result.stderr) == (NOT_PASSED, ""), f"{target}: {result.stdout}"
        assert "explanations/deeplift.npz: 'values' of row 1" in result.stdout or target == targets[0]


def test_files_that_name_another_target_are_found(program, targets, recorded, tmp_path):
    """What settings.json says decides how the study is run again, and what study.json says how it is compared."""
    study = tmp_path / "study"
    shutil.copytree(recorded / f"iris-{targets[0]}", study)

    def other(found):
        found["vector_target"] = "ELSEWHERE"

    forge(study, "settings.json", text(other))
    result = run(program, tmp_path, targets[0], "verify", "study")
    assert (result.returncode, result.stderr) == (NOT_PASSED, "")
    assert "settings.json says that version" in result.stdout
    assert "ELSEWHERE" in result.stdout
    assert "bit for bit" not in result.stdout
