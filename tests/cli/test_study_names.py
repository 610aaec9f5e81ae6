"""Names in `assay study`: of a booster's classes, which it only counts, and of rows, which an id column has."""

import csv
import io
import json
import pathlib

import numpy as np
import pytest

TREES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "trees"
BOOSTER = TREES / "xgboost_binary" / "model.json"
FEATURES = [f"x{i}" for i in range(6)]
SMALL = ("--methods", "occlusion", "--criteria", "complexity", "--aggregators", "none", "--no-curves")
SMALL += ("--no-variations",)


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


def numbers(rows, seed=1):
    return np.round(np.random.default_rng(seed).normal(size=(rows, 6)), 3).tolist()


@pytest.fixture
def probabilities(assay, tmp_path):
    """probabilities(rows) of the booster's class 1."""

    def run(rows):
        write(tmp_path / "plain.csv", FEATURES, rows)
        result = assay("predict", "--model", BOOSTER, "--data", "plain.csv", "--out", "-")
        return [float(line["probability"]) for line in csv.DictReader(io.StringIO(result.stdout))]

    return run


@pytest.fixture
def labelled(probabilities, tmp_path):
    """labelled(zero, one, wrong) writes rows.csv and pool.csv with labels as the booster predicts, but `wrong`."""

    def make(zero, one, wrong=0):
        rows = numbers(60)
        said = probabilities(rows)
        labels = [one if (p > 0.5) == (i >= wrong) else zero for i, p in enumerate(said)]
        lines = [[*row, label] for row, label in zip(rows, labels, strict=True)]
        for name, part in (("rows.csv", lines[:20]), ("pool.csv", lines[20:])):
            write(tmp_path / name, [*FEATURES, "risk"], part)
        return said, labels

    return make


@pytest.fixture
def study(assay, tmp_path):
    """study(*arguments) runs it on rows.csv and pool.csv, and gives study.json."""

    def run(*arguments, model=BOOSTER):
        words = ("--model", model) if model else ()
        result = assay("study", *words, "--data", "rows.csv", "--pool", "pool.csv", *SMALL, "--out", "made", *arguments)
        assert (result.returncode, result.stderr) == (0, ""), result.stderr
        return json.loads((tmp_path / "made" / "study.json").read_text())

    return run


def test_classes_have_the_names_that_are_said(labelled, study):
    said, labels = labelled("good", "bad", wrong=3)
    made = study("--label", "risk", "--classes", "good,bad", "--target", "bad")
    facts = made["facts"]
    assert facts["target_names"] == ["good", "bad"] and facts["target"] == "bad"
    right = [(p > 0.5) == (label == "bad") for p, label in zip(said, labels, strict=True)][:20]
    assert facts["accuracy"] == sum(right) / 20
    assert facts["quality"]["auc"] > 0.5
    assert not any("taken for" in note for note in made["notes"])
    # The other way round the same labels mean the opposite.
    other = study("--label", "risk", "--classes", "bad,good", "--overwrite")
    assert other["facts"]["accuracy"] == pytest.approx(1 - facts["accuracy"])
    assert other["facts"]["quality"]["auc"] == pytest.approx(1 - facts["quality"]["auc"])


@pytest.mark.parametrize(
    "words",
    [
        ("--classes", 'good,"bad, very"'),
        ("--classes", 'good, "bad, very" '),
        ("--classes", "good", "--classes", '"bad, very"'),
    ],
)
def test_a_name_with_a_comma_is_quoted(labelled, study, assay, words):
    labelled("good", "bad, very")
    made = study("--label", "risk", *words, "--target", "bad, very")
    assert made["facts"]["target_names"] == ["good", "bad, very"] and made["facts"]["accuracy"] == 1
    # The settings say the same, so that it can be verified.
    result = assay("verify", "made")
    assert result.returncode == 0, result.stderr


def test_labels_that_fit_clearly_name_the_classes(labelled, study):
    labelled("good", "bad", wrong=6)
    made = study("--label", "risk", "--target", "bad")
    assert made["facts"]["target_names"] == ["good", "bad"]
    note = "the model's class 1 is taken for 'bad': the scores tell so, for 60 rows with a label"
    assert note in made["notes"]


def test_numbers_may_get_names_and_known_ones_need_none(labelled, study):
    labelled("0", "1")
    plain = study("--label", "risk")
    assert plain["facts"]["target_names"] == ["0", "1"] and plain["facts"]["accuracy"] == 1
    named = study("--label", "risk", "--classes", "good,bad", "--target", "bad", "--overwrite")
    assert named["facts"]["target"] == "bad" and named["facts"]["accuracy"] == 1
    assert named["entries"][0]["scores"] == plain["entries"][0]["scores"]


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ("good,bad,ugly", "--classes: expected 2 names, for the classes '0' and '1' of "),
        ('good,"bad', "--classes: expected names joined by commas, each quote closed before the next comma, found "),
        ("good,", "--classes: expected a name for each class, found an empty one"),
        ("good,good", "--classes: expected each name once, found 'good' twice"),
        ("good,worse", "--classes: expected a name for each label of column 'risk', which holds 'bad', found 'good' "),
    ],
)
def test_names_that_do_not_fit_are_refused(assay, labelled, one_sentence, tmp_path, classes, sentence):
    labelled("good", "bad")
    rows = ("--model", BOOSTER, "--data", "rows.csv", "--pool", "pool.csv", "--label", "risk", "--out", "made")
    assert one_sentence(assay("study", *rows, "--classes", classes)).startswith(sentence)
    assert not (tmp_path / "made" / "study.json").exists()


def test_names_are_refused_where_nothing_can_have_them(assay, labelled, one_sentence):
    labelled("good", "bad")
    rows = ("--data", "rows.csv", "--pool", "pool.csv", "--label", "risk", "--classes", "good,bad", "--out", "made")
    assert one_sentence(assay("study", *rows)).startswith("--classes: expected none without --model")
    assert assay("--quiet", "train", "--data", "pool.csv", "--label", "risk", "--out", "own.onnx").returncode == 0
    said = one_sentence(assay("study", "--model", "own.onnx", *rows[:-4], "--classes", "a,b", "--out", "made"))
    own = "--classes: expected none, for own.onnx has the names of its classes, 'bad' and 'good', found 'a' and 'b'"
    assert said == own
    regression = TREES / "xgboost_regression" / "model.json"
    said = one_sentence(assay("study", "--model", regression, *rows))
    assert said.startswith("--classes: expected none, for ") and said.endswith("predicts no classes, found 2")


def test_labels_that_do_not_fit_clearly_ask_for_names(assay, labelled, one_sentence):
    labelled("good", "bad", wrong=28)
    rows = ("--model", BOOSTER, "--data", "rows.csv", "--pool", "pool.csv", "--label", "risk", "--out", "made")
    said = one_sentence(assay("study", *rows))
    assert said.startswith(
        "--classes: expected the names of the model's classes '0' and '1', in this order, found none"
    )
    assert said.endswith("what the model gives for 60 rows does not tell which is which")


# Columns that name rows ---------------------------------------------------------------------------------------------


def test_a_target_is_refused_before_a_network_is_trained(assay, tmp_path):
    rows = numbers(60)
    for name, part in (("rows.csv", rows[:20]), ("pool.csv", rows[20:])):
        write(tmp_path / name, [*FEATURES, "price"], [[*row, sum(row) + 0.5] for row in part])
    words = ("--data", "rows.csv", "--pool", "pool.csv", "--label", "price", "--out", "made")
    result = assay("study", *words, "--target", "cost")
    found = "--target of model.onnx: expected auto, predicted, all, value or an index from 0 to 0, found 'cost'"
    assert (result.returncode, result.stderr) == (1, f"assay: {found}\n")
    assert not (tmp_path / "made").exists()


def write_with(tmp_path, column, cells, label=True, first=True):
    """rows.csv and pool.csv of 300 rows with one more column of these cells."""
    lines = []
    for row, cell in zip(numbers(300, seed=2), cells, strict=True):
        line = [cell, *row] if first else [*row, cell]
        lines.append([*line, "yes" if row[0] + row[1] > 0 else "no"] if label else line)
    header = [column, *FEATURES] if first else [*FEATURES, column]
    header += ["risk"] if label else []
    write(tmp_path / "rows.csv", header, lines[:60])
    write(tmp_path / "pool.csv", header, lines[60:])


def ids_of(tmp_path):
    with open(tmp_path / "made" / "scores.csv", newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    return [line["id"] for line in lines] if "id" in lines[0] else None


CONSECUTIVE = list(range(1000, 1300))
SHUFFLED = (1000 + np.random.default_rng(3).permutation(300)).tolist()
KEYS = [f"k{number:04}" for number in SHUFFLED]


@pytest.mark.parametrize("cells", [CONSECUTIVE, SHUFFLED, KEYS], ids=["consecutive", "shuffled", "text"])
def test_a_network_does_not_learn_the_names_of_rows(study, tmp_path, cells):
    write_with(tmp_path, "customer_id", cells)
    made = study("--label", "risk", "--rows", "all", model=None)
    assert made["facts"]["features"] == FEATURES
    assert ids_of(tmp_path) == [str(cell) for cell in cells[:60]]
    note = "column 'customer_id' is taken for the names of rows, not for a feature: it is different in every row, and "
    assert [note + "the model does not take it"] == [each for each in made["notes"] if "customer_id" in each]


@pytest.mark.parametrize(
    "cells",
    [
        [round(1000 + 1.37 * i, 2) for i in range(300)],
        [1000 + i // 2 for i in range(300)],
        [1000 + 3 * i for i in range(300)],
    ],
    ids=["continuous", "duplicates", "gaps"],
)
def test_other_columns_stay_features(study, tmp_path, cells):
    write_with(tmp_path, "income", cells)
    made = study("--label", "risk", "--rows", "all", model=None)
    assert made["facts"]["features"] == ["income", *FEATURES]
    assert ids_of(tmp_path) is None


def test_a_pool_that_is_too_small_to_tell_is_noted(study, tmp_path):
    write_with(tmp_path, "customer_id", CONSECUTIVE)
    lines = (tmp_path / "pool.csv").read_text().splitlines(keepends=True)
    (tmp_path / "pool.csv").write_text("".join(lines[:16]))
    made = study("--label", "risk", "--rows", "all", model=None)
    assert made["facts"]["features"] == ["customer_id", *FEATURES]
    note = "column 'customer_id' may only name rows, for it is different in every one; it is taken for a feature, "
    assert [note + "because 15 rows of the pool are too few to tell"] == [
        each for each in made["notes"] if "customer_id" in each
    ]
    said = study("--label", "risk", "--rows", "all", "--numeric", "customer_id", "--overwrite", model=None)
    assert not any("customer_id" in note for note in said["notes"])


def test_a_column_that_the_model_names_stays(assay, study, tmp_path):
    """Its network was trained on the numbers."""
    write_with(tmp_path, "customer_id", SHUFFLED)
    assert assay("--quiet", "train", "--data", "pool.csv", "--label", "risk", "--out", "own.onnx").returncode == 0
    made = study("--label", "risk", model="own.onnx")
    assert made["facts"]["features"] == ["customer_id", *FEATURES]
    assert not any("names of rows" in note for note in made["notes"])


def test_a_booster_that_does_not_name_it_leaves_it_out(study, tmp_path):
    write_with(tmp_path, "customer_id", SHUFFLED, label=False, first=False)
    made = study("--rows", "all")
    assert made["facts"]["features"] == FEATURES
    assert ids_of(tmp_path) == [str(cell) for cell in SHUFFLED[:60]]
    # Said by the user, nothing is guessed, and the results are the same.
    said = study("--rows", "all", "--id", "customer_id", "--overwrite")
    assert said["entries"][0]["scores"] == made["entries"][0]["scores"]
    assert not any("names of rows" in note for note in said["notes"])


def test_what_the_user_says_of_a_column_is_heard(study, tmp_path):
    write_with(tmp_path, "customer_id", CONSECUTIVE)
    made = study("--label", "risk", "--numeric", "customer_id", model=None)
    assert made["facts"]["features"] == ["customer_id", *FEATURES]
    (tmp_path / "groups.json").write_text(json.dumps({"who": ["customer_id", "x0"]}))
    made = study("--label", "risk", "--groups", "groups.json", "--overwrite", model=None)
    assert made["facts"]["features"][0] == "who"
