"""Sensitivity of AVA beside that of the Shapley values it is made of, on Iris and Adult: the table of
docs/aggregators/ava.md. Drives the program alone: train, explain, aggregate, evaluate.

Each network is trained on the training part, which is the pool too; test rows are explained (all of Iris, the first
1,000 of Adult). AVA of the pool's rows comes from the same aggregation, a row never being its own antecedent. Intervals
are percentile bootstraps over the rows, of the mean and of the mean difference from the Shapley values of the same row.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
# The radii of the paper's Tables 3 and 4, and ours.
RADII = {"iris": ("auto", "0.2", "0.3"), "adult": ("auto", "1", "2")}
ROWS = {"iris": (), "adult": ("--rows", "1-1000")}
CLASSES = ("query", "same", "own")


def assay(seed, *arguments):
    subprocess.run(
        [PROGRAM, "--quiet", "--seed", str(seed), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL
    )


def scores(file):
    with open(file, newline="") as text:
        lines = list(csv.reader(text))
    values = np.array([[float(cell or "nan") for cell in line] for line in lines[1:]])
    return dict(zip(lines[0], values.T, strict=True))


def interval(values):
    """Mean and 95 % interval over the rows that have a score."""
    values = values[np.isfinite(values)]
    draws = np.random.default_rng(0).integers(0, len(values), (1000, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return values.mean(), low, high


def measured(folder, data, seed, k):
    """Scores by criterion, of the Shapley values and of AVA by class."""
    model = folder / "model.onnx"
    assay(seed, "train", "--data", data, "--split", "train", "--out", model)
    given = ["--model", model, "--data", data, "--split", "test", *ROWS[data], "--pool", data, "--pool-split", "train"]
    criteria = [
        f"{fold}_sensitivity:normalise={scale}:radius={radius}"
        for scale in ("unit", "raw")
        for fold in ("avg", "max")
        for radius in RADII[data]
    ]
    shapley, found = folder / "shapley.npz", folder / "scores.csv"
    assay(seed, "explain", *given, "--method", "exact_shapley", "--out", shapley)
    assay(seed, "evaluate", *given, "--explanations", shapley, "--criteria", ",".join(criteria), "--out", found)
    made = {"shapley": scores(found)}
    for of_class in CLASSES:
        ava, of_pool = folder / "ava.npz", folder / "ava_pool.npz"
        aggregator = ("--members", shapley, "--aggregator", f"ava:class={of_class}:k={k}")
        assay(seed, "aggregate", *given, *aggregator, "--out", ava, "--pool-out", of_pool)
        files = ("--explanations", ava, "--pool-explanations", of_pool)
        assay(seed, "evaluate", *given, *files, "--criteria", ",".join(criteria), "--out", found)
        made[of_class] = scores(found)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--networks", type=int, default=1, help="how many networks, from seeds 0, 1, ...")
    parser.add_argument("--k", type=int, default=10, help="antecedents of a row")
    chosen = parser.parse_args()
    there = [name for name in RADII if name == "iris" or os.environ.get("ASSAY_DATA")]
    if "adult" not in there:
        print("Adult left out: ASSAY_DATA is not set")
    for data in there:
        for seed in range(chosen.networks):
            with tempfile.TemporaryDirectory() as name:
                made = measured(pathlib.Path(name), data, seed, chosen.k)
            print(f"\n{data}, network {seed}, k = {chosen.k}")
            for criterion, base in made["shapley"].items():
                for of_class, values in made.items():
                    mean, low, high = interval(values[criterion])
                    line = f"{criterion:44} {of_class:8} {mean:.4f} [{low:.4f}, {high:.4f}]"
                    if of_class != "shapley":
                        mean, low, high = interval(values[criterion] - base)
                        line += f"  difference {mean:+.4f} [{low:+.4f}, {high:+.4f}]"
                    print(line)


if __name__ == "__main__":
    main()
