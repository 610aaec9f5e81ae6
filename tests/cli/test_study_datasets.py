"""`assay study NAME` works for every data set that `assay list datasets` names, whatever its rows are."""

import csv
import json
import math
import subprocess

import numpy as np
import pytest

# Everything that decides what is trained stays as it is; little is explained.
FEW = ("--methods", "gradient,occlusion", "--aggregators", "mean", "--criteria", "complexity,faithfulness")
FEW = (*FEW, "--sample", "6", "--pool-sample", "40", "--no-curves", "--no-variations")
# The network of the paper takes half a minute for the 60,000 training images: it learns from the test part here.
LARGE = {"mnist": ("--data", "mnist", "--split", "test", "--pool", "mnist", "--pool-split", "test")}


NAMES = (
    "iris",
    "adult",
    "mnist",
    "wine",
    "breast_cancer",
    "diabetes",
    "digits",
    "german",
    "mimic3",
    "eicu",
    "cinc2012",
    "cinc2019",
)


def test_all_are_here(program):
    listed = subprocess.run([program, "--json", "list", "datasets"], capture_output=True, text=True, check=True)
    assert sorted(each["name"] for each in json.loads(listed.stdout)["datasets"]) == sorted(NAMES)


@pytest.fixture
def studied(assay, tmp_path):
    def run(name, *options):
        there = assay("describe", name)
        if there.returncode == 1 and "was not found in" in there.stderr:
            pytest.skip(f"the files of {name} are absent: {there.stderr.strip()}")
        result = assay("study", *LARGE.get(name, (name,)), *FEW, *options, "--out", "study")
        assert (result.returncode, result.stderr) == (0, ""), f"{name}: {result.stdout}{result.stderr}"
        return tmp_path / "study", result.stdout

    return run


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_can_be_studied(studied, name):
    folder, printed = studied(name)
    assert "no --model: a small network, trained on " in printed
    study = json.loads((folder / "study.json").read_text())
    assert [entry["name"] for entry in study["entries"]] == ["gradient", "occlusion", "mean"]
    assert study["facts"]["rows"] == 6
    assert study["facts"]["pool_rows"] == 40
    for entry in study["entries"]:
        with np.load(folder / "explanations" / f"{entry['stem']}.npz") as explanations:
            values = explanations["values"]
        assert values.shape == (6, len(study["facts"]["features"]))
        assert np.isfinite(values).all() and np.abs(values).max() > 0, entry["name"]
        for score in entry["scores"]:
            assert math.isfinite(score["mean"]), (entry["name"], score)
    with open(folder / "scores.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 6 * 3
    for file in ("model.onnx", "report.html", "manifest.json", "run.json", "settings.json"):
        assert (folder / file).stat().st_size > 0, file


def test_the_network_of_small_images_is_worth_a_study(assay, studied):
    # scikit-learn's logistic regression reaches 0.96 on such a split.
    folder, _ = studied("digits")
    scored = assay("predict", "--model", folder / "model.onnx", "--data", "digits", "--split", "test", "--out", "p.npy")
    assert float(scored.stdout.split("accuracy ")[1].split()[0]) > 0.96


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 2), (3, 9), (5, 5), (8, 3), (3, 4, 6), (2, 1, 1)])
def test_images_of_any_shape_can_be_studied(assay, tmp_path, shape):
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (80, *shape)).astype(np.float32)
    labels = (images.reshape(80, -1).mean(1) > 127).astype(np.int64)
    np.savez(tmp_path / "images.npz", x=images, y=labels)
    # Of a single pixel nothing can be left out, which faithfulness needs.
    few = ["complexity" if word == "complexity,faithfulness" else word for word in FEW]
    result = assay("study", "images.npz", "--split", "test", *few, "--out", "study")
    assert (result.returncode, result.stderr) == (0, "")
    trained = assay("--quiet", "train", "--data", "images.npz", "--out", "m.onnx")
    assert (trained.returncode, trained.stderr) == (0, "")


def test_convolutions_of_given_channels_fit_the_image(assay, data_dir):
    result = assay("--json", "--quiet", "train", "--data", "digits", "--cnn", "8,16", "--out", "m.onnx")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["test"]["accuracy"] > 0.9
    # What is asked for in so many words is not changed.
    asked = assay(
        "train", "--data", "digits", "--cnn", "8,16", "--network", "kernel=5:padding=valid", "--out", "n.onnx"
    )
    assert asked.returncode == 1
    assert "convolution 2: expected at least 6 x 6 pixels" in asked.stderr


def test_a_file_with_the_name_of_a_word_is_no_input(assay, tmp_path):
    """The words mean what they mean; files that happen to be called so are not recorded."""
    for name in ("iris", "auto", "mean"):
        (tmp_path / name).write_text("not read\n")
    made = assay("--quiet", "study", "iris", *FEW, "--baseline", "mean", "--groups", "auto", "--out", "study")
    assert made.returncode == 0, made.stderr
    inputs = json.loads((tmp_path / "study" / "manifest.json").read_text())["inputs"]
    assert [each["role"] for each in inputs] == ["model (trained)", "data (rows)", "pool (rows)"]
    for name in ("iris", "auto", "mean"):
        (tmp_path / name).unlink()
    assert assay("verify", "study").returncode == 0
