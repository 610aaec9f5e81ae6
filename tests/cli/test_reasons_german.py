"""Reasons of german credit with 100 background rows, held against the exact values against all 800 rows of the pool:
certainty says how often they are right."""

import json
import subprocess

import numpy as np
import pytest

DRAWS = 8


@pytest.fixture(scope="module")
def german(program, data_dir, tmp_path_factory):
    """A network that `assay train` makes, and its rows explained against the whole pool."""
    folder = tmp_path_factory.mktemp("german")

    def run(*arguments):
        result = subprocess.run(
            [program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    # As files, so that the seed chooses the background alone.
    for part in ("train", "test"):
        run("data", "german", "--split", part, "--out", f"{part}.csv")
    run("train", "--data", "train.csv", "--label", "risk", "--out", "german.onnx")
    return folder, run


EXPLAIN = ("explain", "--model", "german.onnx", "--data", "test.csv", "--pool", "train.csv", "--label", "risk")


def reasons_of(folder, run, *words):
    run(*EXPLAIN, "--method", "integrated_gradients", "--out", "e.npz", *words)
    run("reasons", "e.npz", "--top", "3", "--out", "r.json")
    return json.loads((folder / "r.json").read_text())["reasons"]


@pytest.mark.parametrize("draw", ["pool:100", "spread:100"])
def test_certainty_is_how_often_reasons_are_right(german, draw):
    folder, run = german
    truth = {(line["row"], line["feature"]) for line in reasons_of(folder, run, "--background", "pool:800")}
    certainty, right = [], []
    for seed in range(DRAWS):
        for line in reasons_of(folder, run, "--background", draw, "--replicates", "500", "--seed", seed):
            certainty.append(line["certainty"])
            right.append((line["row"], line["feature"]) in truth)
    certainty, right = np.array(certainty), np.array(right)
    assert len(right) >= 0.9 * DRAWS * 600
    near = (certainty >= 0.85) & (certainty <= 0.95)
    print(f"{draw}: {near.sum()} of {len(right)} at 0.85 to 0.95, {right[near].mean():.3f} of them right;")
    print(f"{(certainty >= 0.9).mean():.3f} reach 0.9; mean certainty {certainty.mean():.3f}, right {right.mean():.3f}")
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        part = (certainty >= low) & (certainty < high)
        print(
            f"  {low} to {high}: {part.sum()} reasons, "
            f"certainty {certainty[part].mean():.3f}, right {right[part].mean():.3f}"
        )
    assert 0.80 <= right[near].mean() <= 0.98
    assert (certainty >= 0.9).mean() >= 0.6
    assert certainty.mean() == pytest.approx(right.mean(), abs=0.05)
