"""Models of other libraries: exported afresh, and files from the wild, through the program."""

import csv
import pathlib
import re
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
STORED = sorted(file.parent.name for file in FIXTURES.glob("*/model.onnx"))
TOLERANCE = 1e-5

# The seven files of $ASSAY_DATA/onnx-models: how many features, and the range of the random rows.
WILD = {
    "cnn_mnist_pytorch": (784, 0, 1),
    "logreg_iris": (2, -8, 8),
    "lr_mnist_scikit": (780, 0, 1),
    "mnist-7": (784, 0, 255),
    "mnist-8": (784, 0, 255),
    "test_xgb": (4, 0, 8),
    "treecl": (20, -4, 4),
}


def largest_difference(printed):
    """What `assay predict --check` reports."""
    found = re.search(r"largest difference from .*?: ([0-9.]+(?:e[+-]?[0-9]+)?) ", printed)
    assert found, f"no largest difference in: {printed}"
    return float(found[1])


def table(file):
    """The columns of a CSV file, as text."""
    with open(file, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def number(cell):
    try:
        return float(cell or "nan")
    except ValueError:
        return None


def assert_close(found, expected, tolerance=TOLERANCE):
    """The same columns; the same text, or numbers whose difference is small beside 1 or the column's largest."""
    assert list(found) == list(expected)
    for name, cells in expected.items():
        theirs = np.array([number(cell) for cell in cells])
        if theirs.dtype.kind == "f":
            ours = np.array([number(cell) for cell in found[name]])
            largest = max(1.0, np.abs(theirs).max())
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * largest, err_msg=name)
        else:
            assert found[name] == cells, name


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """The fixtures, made by today's exporters."""
    folder = tmp_path_factory.mktemp("models")
    command = [sys.executable, FIXTURES / "make_models.py", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_stored_models_are_those_the_script_makes(fresh):
    assert sorted(file.parent.name for file in fresh.glob("*/model.onnx")) == STORED


@pytest.mark.parametrize("name", STORED)
def test_the_script_gives_the_stored_values(fresh, name):
    # Rows come from a seed alone. Trained models may move in the last digits from one machine to the next.
    assert (fresh / name / "rows.csv").read_text() == (FIXTURES / name / "rows.csv").read_text()
    assert_close(table(fresh / name / "expected.csv"), table(FIXTURES / name / "expected.csv"), 1e-4)


@pytest.mark.parametrize("name", STORED)
def test_predicts_as_the_library_that_made_the_model(assay, tmp_path, fresh, name):
    given = ("--model", fresh / name / "model.onnx", "--data", fresh / name / "rows.csv")
    done = assay("predict", *given, "--check", fresh / name / "expected.csv")
    assert done.returncode == 0, done.stderr
    assert largest_difference(done.stdout) <= TOLERANCE
    done = assay("predict", *given, "--out", "found.csv")
    assert done.returncode == 0, done.stderr
    assert_close(table(tmp_path / "found.csv"), table(fresh / name / "expected.csv"))


def run_wild(session, rows):
    """onnxruntime on rows of any number: some files say how many rows they want at a time."""
    (given,) = session.get_inputs()
    batch = given.shape[0] if isinstance(given.shape[0], int) else len(rows)
    shape = given.shape[1:] if all(isinstance(size, int) for size in given.shape[1:]) else rows.shape[1:]
    parts = [
        session.run(None, {given.name: rows[begin : begin + batch].reshape(-1, *shape)})
        for begin in range(0, len(rows), batch)
    ]
    columns = {}
    for output, *values in zip(session.get_outputs(), *parts, strict=True):
        if isinstance(values[0], list):
            maps = [row for part in values for row in part]
            columns |= {f"{output.name}.{key}": [row[key] for row in maps] for key in maps[0]}
        else:
            joined = np.concatenate(values).reshape(len(rows), -1)
            names = [f"{output.name}.{i}" for i in range(joined.shape[1])] if joined.shape[1] > 1 else [output.name]
            columns |= dict(zip(names, joined.T, strict=True))
    return {name: tuple(map(str, values)) for name, values in columns.items()}


@pytest.mark.parametrize("name", WILD)
def test_predicts_as_onnxruntime(assay, tmp_path, data_dir, name):
    file = data_dir / "onnx-models" / f"{name}.onnx"
    if not file.exists():
        pytest.skip(f"{file} is missing")
    features, low, high = WILD[name]
    rows = np.random.default_rng(7).uniform(low, high, (30, features)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    done = assay("predict", "--model", file, "--data", "rows.npy", "--out", "found.csv")
    assert done.returncode == 0, done.stderr
    assert_close(table(tmp_path / "found.csv"), run_wild(onnxruntime.InferenceSession(file), rows))
