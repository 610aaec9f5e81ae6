"""Columns that a model knows by their texts are read as texts, whatever rows stand beside them in a file."""

import subprocess

import numpy as np
import pytest

CODES = ["007", "7", "abc", "1.0", "1", "16777217", "16777216"]


@pytest.fixture(scope="module")
def model(program, tmp_path_factory):
    """The class says which code it is, so that a code taken for another shows."""
    folder = tmp_path_factory.mktemp("codes")
    rows = [f"{code},{i % 3},{'a' if i % 2 else 'b'}{j}" for i in range(20) for j, code in enumerate(CODES)]
    (folder / "train.csv").write_text("z,x,y\n" + "\n".join(rows) + "\n")
    words = "train --data train.csv --label y --encode one_hot --training epochs=100:patience=0 --out m.onnx"
    subprocess.run([program, "--quiet", *words.split()], cwd=folder, check=True, capture_output=True)
    return folder / "m.onnx"


def outputs(assay, model, path):
    made = path.with_suffix(".npy")
    result = assay("predict", "--model", model, "--data", path, "--output", "probability", "--out", made)
    assert result.returncode == 0, result.stderr
    return np.load(made)


def test_a_row_has_one_prediction_whatever_stands_beside_it(assay, model, tmp_path):
    together = tmp_path / "all.csv"
    together.write_text("z,x\n" + "".join(f"{code},1\n" for code in CODES))
    expected = outputs(assay, model, together)
    assert len(np.unique(expected.round(3), axis=0)) == len(CODES)
    for code, row in zip(CODES, expected, strict=True):
        alone = tmp_path / "one.csv"
        alone.write_text(f"z,x\n{code},1\n")
        np.testing.assert_array_equal(outputs(assay, model, alone)[0], row)


def test_numbers_that_lost_their_spelling_are_refused(assay, one_sentence, model, tmp_path):
    """A NumPy file holds numbers: which text 7 was, nobody knows."""
    np.savez(tmp_path / "n.npz", values=np.array([[7, 1]], "f4"), features=["z", "x"])
    said = one_sentence(assay("predict", "--model", model, "--data", tmp_path / "n.npz"))
    assert "column 'z' was read as numbers, and the model knows the category" in said
    assert "read the column as categories" in said


def test_labels_that_lost_their_spelling_are_refused(assay, one_sentence, tmp_path):
    """An accuracy of classes that were taken for others would be no accuracy."""
    rows = [f"{i % 5},{'007' if i % 2 else '7'}" for i in range(40)]
    (tmp_path / "train.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    words = "train --data train.csv --label y --categorical y --training epochs=1 --out m.onnx"
    assert assay(*words.split()).returncode == 0
    (tmp_path / "rows.csv").write_text("x,y\n1,007\n2,7\n")
    said = one_sentence(assay("predict", "--model", "m.onnx", "--data", "rows.csv", "--label", "y"))
    assert "column 'y' was read as numbers, and the model knows the category '007'" in said
    right = assay("predict", "--model", "m.onnx", "--data", "rows.csv", "--label", "y", "--categorical", "y")
    assert right.returncode == 0, right.stderr
