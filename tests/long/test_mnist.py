"""The paper's network on images, by the README's command."""

import json
import subprocess


def test_the_papers_cnn_learns_mnist(program, assay, data_dir, tmp_path):
    # The fixture's limit is five minutes; this may take longer on a slow machine.
    command = [program, "--json", "--quiet", "train", "--data", "mnist", "--cnn", "32,64", "--out", "mnist.onnx"]
    trained = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1800)
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["test"]["accuracy"] >= 0.97
    result = assay("predict", "--model", "mnist.onnx", "--data", "mnist", "--split", "test", "--out", "p.npy")
    assert result.returncode == 0, result.stderr
    assert float(result.stdout.split("accuracy ")[1].split()[0]) >= 0.97
