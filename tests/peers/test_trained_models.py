"""Files that `assay train` saves, run by onnxruntime; and derivatives of freshly exported models, by PyTorch."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"


def test_derivatives_are_those_of_todays_pytorch(root, tmp_path):
    """tests/model/graph/fixtures_test.cpp compares; the stored fixtures are compared by `make test`."""
    subprocess.run([sys.executable, FIXTURES / "make_models.py", "--out", tmp_path], check=True, capture_output=True)
    result = subprocess.run(
        [root / "build" / "model_tests", "--gtest_filter=ModelFixtures.*", "--gtest_brief=1"],
        env={**os.environ, "ASSAY_MODEL_FIXTURES": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout
    assert "PASSED" in result.stdout


def by_onnxruntime(file, rows):
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    shape = [size for size in given.shape[1:] if isinstance(size, int)]
    return session.run(None, {given.name: rows.reshape(-1, *shape)})[0]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("iris", ("--hidden", "16", "--network", "activation=tanh")),
        ("iris", ("--hidden", "none")),
        ("adult", ("--hidden", "40")),
        ("digits", ("--cnn", "8,16", "--network", "kernel=3:padding=same", "--training", "epochs=2")),
    ],
)
def test_onnxruntime_gives_the_same_outputs(assay, tmp_path, request, data, options):
    if data != "iris":
        request.getfixturevalue("data_dir")
    trained = assay("--quiet", "train", "--data", data, *options, "--out", "m.onnx")
    assert trained.returncode == 0, trained.stderr
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"), full_check=True)
    # The encoded rows, as the graph takes them.
    encoded = assay("data", data, "--split", "test", "--encode", "label:impute=mean", "--out", "rows.npz")
    assert encoded.returncode == 0, encoded.stderr
    with np.load(tmp_path / "rows.npz", allow_pickle=False) as table:
        rows = table["values"].astype(np.float32)
    features = np.prod(by_shape(tmp_path / "m.onnx"))
    predicted = assay("--quiet", "predict", "--model", "m.onnx", "--data", data, "--split", "test", "--out", "p.npy")
    assert predicted.returncode == 0, predicted.stderr
    expected = by_onnxruntime(tmp_path / "m.onnx", rows[:, : int(features)])
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), expected, rtol=0, atol=1e-5)


def by_shape(file):
    (given,) = onnxruntime.InferenceSession(file).get_inputs()
    return [size for size in given.shape[1:] if isinstance(size, int)]
