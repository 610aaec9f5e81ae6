"""The command that the first screen of a study prints as "Next": it must give the attributions of the study itself."""

import csv
import pathlib
import re
import shlex

import numpy as np
import pytest

BOOSTER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "trees" / "xgboost_binary" / "model.json"
FEATURES = [f"x{i}" for i in range(6)]
FILE = ("--model", BOOSTER, "--data", "rows.csv", "--pool", "pool.csv", "--label", "risk", "--time", "none")


def next_command(screen):
    found = re.search(r"^Next +(assay .*(?:\n {11}.*)*)", screen, re.M)
    return shlex.split(" ".join(found[1].split()))[1:]


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


@pytest.fixture
def labelled(assay, tmp_path):
    """Writes rows.csv and pool.csv with two labels, and an id for each row."""
    rows = np.round(np.random.default_rng(1).normal(size=(160, 6)), 3).tolist()
    write(tmp_path / "plain.csv", FEATURES, rows)
    said = assay("predict", "--model", BOOSTER, "--data", "plain.csv", "--out", "-").stdout
    labels = ["bad" if float(line["probability"]) > 0.5 else "good" for line in csv.DictReader(said.splitlines())]
    lines = [[f"a{i}", *row, label] for i, (row, label) in enumerate(zip(rows, labels, strict=True))]
    for name, part in (("rows.csv", lines[:40]), ("pool.csv", lines[40:])):
        write(tmp_path / name, ["name", *FEATURES, "risk"], part)


@pytest.mark.parametrize(
    "words",
    [
        # The booster's own names are 0 and 1, and these turn them round.
        ("--id=name", "--classes=good,bad", "--target=bad"),
        ("--id=name", "--target=good"),
        # Names that labels would not have given: they are turned round.
        ("--id=name", "--classes=bad,good", "--target=bad", "--pool-sample=50"),
        ("--id=name", "--pool-sample=50"),
        # The study finds by itself that a column only names rows.
        (),
        ("--id=name", "--pool-sample=50", "--seed=3", "--background=spread:20"),
    ],
)
def test_it_explains_as_the_study_did(assay, labelled, tmp_path, words):
    small = ("--methods", "tree_shap,occlusion", "--criteria", "faithfulness", "--aggregators", "none", "--no-curves")
    result = assay("study", *FILE, *small, "--no-variations", "--out", "made", *words)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    command = next_command(result.stdout)
    made = assay(*command, "--out", "next.npz")
    assert (made.returncode, made.stderr) == (0, ""), made.stderr
    method = command[-1].removeprefix("--method=")
    studied, again = np.load(tmp_path / "made" / "explanations" / f"{method}.npz"), np.load(tmp_path / "next.npz")
    place = {name: i for i, name in enumerate(again["ids"])}
    order = [place[name] for name in studied["ids"]]
    assert np.array_equal(again["values"][order], studied["values"])
    assert np.array_equal(again["base"][order], studied["base"])
