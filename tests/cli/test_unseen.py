"""Nothing is fitted on rows that are held out: what the training rows do not know is unknown, and is said so."""

import csv
import io
import json
import math

import pytest

LETTERS = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]


def encoder_of(path):
    data = path.read_bytes()
    text = data[data.index(b'{"assay_encoder"') :].decode(errors="replace")
    return json.JSONDecoder().raw_decode(text)[0]


@pytest.fixture
def rare(assay, tmp_path):
    """A table whose category is new in every row and whose numbers differ much; one of them is missing."""
    lines = [f"{'' if i == 11 else 1.5**i:.6},{LETTERS[i]},{'yes' if i % 3 else 'no'}" for i in range(40) if i != 11]
    lines.insert(11, f",{LETTERS[11]},yes")
    (tmp_path / "rare.csv").write_text("\n".join(["number,kind,y", *lines]) + "\n")
    printed = assay("data", "rare.csv", "--label", "y", "--split", "train", "--out", "-")
    assert printed.returncode == 0, printed.stderr
    return list(csv.DictReader(io.StringIO(printed.stdout)))


def known_numbers(rows):
    return [float(row["number"]) for row in rows if row["number"]]


@pytest.mark.parametrize("encode", ["label:impute=mean", "one_hot:impute=mean", "label:impute=mean:scale=standardise"])
def test_the_mean_is_that_of_the_training_rows(assay, tmp_path, rare, encode):
    trained = assay("--quiet", "train", "--data", "rare.csv", "--label", "y", "--encode", encode, "--out", "m.onnx")
    assert (trained.returncode, trained.stderr) == (0, "")
    number, kind = encoder_of(tmp_path / "m.onnx")["columns"]
    numbers = known_numbers(rare)
    mean = math.fsum(numbers) / len(numbers)
    assert number["fill"] == pytest.approx(mean, rel=1e-6)
    if "standardise" in encode:
        filled = numbers + [mean] * (len(rare) - len(numbers))
        variance = math.fsum((n - mean) ** 2 for n in filled) / len(filled)
        assert number["shift"] == pytest.approx(mean, rel=1e-6)
        assert number["scale"] == pytest.approx(math.sqrt(variance), rel=1e-6)
    assert kind["levels"] == sorted(row["kind"] for row in rare)
    assert "note: 8 of the 8 rows of rare.csv have a category of column 'kind' that no training row" in trained.stdout


def test_the_same_model_whatever_the_test_part_holds(assay, tmp_path):
    """The test part of the second table has another category and another class; the training part is the same."""
    lines = [f"{i % 7},{'ab'[i % 2]},{'yes' if i % 2 else 'no'}" for i in range(60)]
    models = []
    for changed in (False, True):
        (tmp_path / "test.csv").write_text("n,kind,y\n" + ("9,c,never\n8,d,no\n" if changed else "1,a,no\n2,b,yes\n"))
        (tmp_path / "train.csv").write_text("\n".join(["n,kind,y", *lines]) + "\n")
        files = ("--data", "test.csv", "--pool", "train.csv", "--label", "y", "--overwrite")
        few = ("--methods", "gradient", "--aggregators", "none", "--criteria", "complexity", "--no-variations")
        made = assay("study", *files, *few, "--out", "study")
        assert (made.returncode, made.stderr) == (0, ""), made.stderr
        models.append((tmp_path / "study" / "model.onnx").read_bytes())
    assert models[0] == models[1]
    notes = json.loads((tmp_path / "study" / "study.json").read_text())["notes"]
    assert "2 of the 2 rows of test.csv have a category of column 'kind' that no training row has" in notes[0]
    assert "1 of the 2 rows of test.csv has a class that no training row has" in notes[1]
    # The same once more, from what the folder says.
    verified = assay("verify", "study")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_class_of_the_test_part_alone_counts_in_no_accuracy(assay, tmp_path):
    # A fifth of 50 rows is held out: 3 of each large class, and 4 of the 20 that have one row.
    lines = [f"{i},{'yes' if i % 2 else 'no'}" for i in range(30)] + [f"{i},only{i}" for i in range(20)]
    (tmp_path / "rows.csv").write_text("\n".join(["n,y", *lines]) + "\n")
    result = assay("--json", "--quiet", "train", "--data", "rows.csv", "--label", "y", "--out", "m.onnx")
    assert (result.returncode, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    assert said["notes"] == [
        "4 of the 10 rows of rows.csv have a class that no training row has: no accuracy counts them"
    ]
    assert said["test"]["rows"] == 6
    assert len(encoder_of(tmp_path / "m.onnx")["classes"]) == 2 + 16


TRAINING = "n,kind,y\n" + "".join(f"{i % 5},{'ab'[i % 2]},{'yes' if i % 2 else 'no'}\n" for i in range(40))


@pytest.mark.parametrize("encode", ["label", "one_hot"])
def test_a_finished_model_refuses_what_it_does_not_know(assay, tmp_path, encode):
    (tmp_path / "train.csv").write_text(TRAINING)
    (tmp_path / "rows.csv").write_text("n,kind\n1,a\n2,other\n")
    made = ("--data", "train.csv", "--label", "y", "--split", "all", "--encode", encode)
    assert assay("--quiet", "train", *made, "--out", "m.onnx").returncode == 0
    sentence = "rows.csv, row 2, column 'kind': expected one of the categories of the training rows, found 'other'"
    rows = ("--model", "m.onnx", "--data", "rows.csv")
    for command in (("predict",), ("explain", "--method", "gradient"), ("study", "--pool", "train.csv")):
        result = assay(*command, *rows)
        assert result.returncode == 1
        assert result.stderr == f"assay: {sentence}\n"
    # Unless it was trained to take it for unknown.
    assert assay("--quiet", "train", *made, "--unseen", "unknown", "--out", "m.onnx").returncode == 0
    assert assay("predict", *rows).returncode == 0
    explained = assay("explain", "--method", "gradient", *rows)
    assert explained.returncode == 0, explained.stderr
    assert "1 of the 2 rows of rows.csv has a category of column 'kind' that no training row has" in explained.stdout


def test_other_words_are_refused(assay, tmp_path):
    (tmp_path / "train.csv").write_text(TRAINING)
    made = assay("train", "--data", "train.csv", "--label", "y", "--unseen", "drop", "--out", "m.onnx")
    assert (made.returncode, made.stderr) == (1, "assay: --unseen: expected refuse or unknown, found 'drop'\n")


def test_cells_that_float32_rounds_are_noted_in_training_and_after(assay, tmp_path):
    """Times in seconds since 1970 that differ by less than two minutes become one number."""
    lines = [f"{1.7e9 + i / 2:.2f},{i % 7},{i / 40:.3f}" for i in range(80)]
    (tmp_path / "times.csv").write_text("\n".join(["t,b,y", *lines]) + "\n")
    note = "times.csv: numbers beyond 2^24 in 't' are rounded to float32, so cells that lie close together become one"
    trained = assay("train", "--data", "times.csv", "--label", "y", "--out", "m.onnx")
    assert trained.returncode == 0 and f"note: {note}" in trained.stdout
    found = json.loads(assay("--json", "train", "--data", "times.csv", "--label", "y", "--out", "n.onnx").stdout)
    assert found["notes"][0].startswith(note)
    few = ("--methods", "gradient", "--aggregators", "none", "--criteria", "complexity", "--no-variations")
    made = ("--model", "m.onnx", "--data", "times.csv", "--label", "y", "--pool", "times.csv")
    assert assay("--quiet", "study", *made, *few, "--out", "study").returncode == 0
    notes = json.loads((tmp_path / "study" / "study.json").read_text())["notes"]
    assert any(each.startswith(note) for each in notes)
