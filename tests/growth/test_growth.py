"""Work that should grow in proportion to rows, samples or background rows does: instructions are counted at n, 2 n and
4 n, and the second step must be twice the first.

Instructions, because they are the same on a busy machine; valgrind counts those of the program as it was built, on one
thread. What the program takes whatever the size drops out of the differences.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

# Vector instructions without fused products, which valgrind takes a hundred times as long for.
TARGET = "SSE4"
FEATURES = 16
TREES, TREE_FEATURES = pathlib.Path("tests/fixtures/trees/lightgbm_regression/model.txt"), 6
# (I(4n) - I(2n)) / (I(2n) - I(n)): 2 for work in proportion to n, 4 for its square. n log n is some way above 2.
LEAST, MOST, MOST_WITH_LOGARITHM = 1.8, 2.2, 2.5
# The smallest first step that counts: a million instructions differ from run to run (Highway's clock, for one).
LEAST_STEP = 15_000_000


@dataclasses.dataclass(frozen=True)
class Curve:
    """A command at growing sizes. Words in braces are files of `Files`; {n} is the size."""

    name: str
    n: int
    command: str
    most: float = MOST
    least: float = LEAST


EXPLAIN = "explain --model {network} --data {fixed} --baseline zero --out {out}.npz --method "
EXPLAIN_ROWS = EXPLAIN.replace("{fixed}", "{rows}")
EXPLAIN_BACKGROUND = EXPLAIN.replace("--baseline zero", "--background {background}")
CURVES = [
    Curve("predict, rows", 16384, "predict --model {network} --data {rows} --out {out}.npy"),
    Curve("gradient, rows", 8192, EXPLAIN_ROWS + "gradient"),
    Curve("exact_shapley, rows", 8, EXPLAIN_ROWS + "exact_shapley"),
    Curve("kernel_shap, rows", 256, EXPLAIN_ROWS + "kernel_shap:samples=256"),
    # The fit of interactions solves for all pairs once, by their cube; the plain regression is linear.
    Curve(
        "kernel_shap, samples",
        2048,
        EXPLAIN.replace("{fixed}", "{some}") + "kernel_shap:interactions=false:samples={n}",
    ),
    Curve("shapley_sampling, rows", 2048, EXPLAIN_ROWS + "shapley_sampling:permutations=8"),
    Curve("exact_shapley, background", 2, EXPLAIN_BACKGROUND + "exact_shapley"),
    Curve(
        "tree_shap, rows",
        16384,
        "explain --model {trees} --data {tree_rows} --background {tree_fixed} --out {out}.npz --method tree_shap",
    ),
    # Rows of the background that take the same turns count as one, so the work may grow less than they do.
    Curve(
        "tree_shap, background",
        16384,
        "explain --model {trees} --data {tree_fixed} --background {tree_rows} --out {out}.npz --method tree_shap",
    ),
    Curve(
        "faithfulness, rows",
        256,
        "evaluate --model {network} --data {rows} --explanations {attributions} --baseline zero --out {out}.csv "
        "--criteria faithfulness:budget=0:samples=50",
    ),
    Curve("neighbours, rows", 512, "neighbours {tree_rows} --k 5", most=MOST_WITH_LOGARITHM),
    Curve("reading CSV, rows", 8192, "data {csv} --out {out}.npy"),
]
# Every row is compared with every other one.
SQUARE = Curve(
    "avg_sensitivity among its own rows, all of them neighbours",
    512,
    "evaluate --model {network} --data {rows} --pool {rows} --explanations {attributions} "
    "--pool-explanations {attributions} --out {out}.csv --criteria avg_sensitivity:radius=1000",
)


class Files:
    """The models, and tables of any size that begin with the same rows; files[name] writes and names one."""

    def __init__(self, folder, root, run):
        self.folder = folder
        self.n = 0
        # An array's columns are x1, x2, ...
        features = [" ".join(f"x{i + first}" for i in range(TREE_FEATURES)) for first in (0, 1)]
        self.trees = folder / "trees.txt"
        self.trees.write_text((root / TREES).read_text().replace(*features))
        random = np.random.default_rng(1)
        self.table = random.standard_normal((1 << 16, FEATURES), dtype=np.float32)
        labels = self.table[:500] @ random.standard_normal(FEATURES) > 0
        np.save(folder / "training.npy", np.column_stack([self.table[:500], labels]).astype(np.float32))
        training = ["--data", folder / "training.npy", "--label", "-1", "--hidden", "40", "--training", "epochs=1"]
        run(["--quiet", "train", *training, "--out", self["network"]])

    def __getitem__(self, name):
        if name == "n":
            return self.n
        if name == "trees":
            return self.trees
        if name in ("network", "out"):
            return self.folder / f"{name}.onnx" if name == "network" else self.folder / name
        if name == "csv":
            file = self.folder / "table.csv"
            header = ",".join(f"x{i}" for i in range(FEATURES))
            np.savetxt(file, self.table[: self.n], "%.6g", ",", header=header, comments="")
            return file
        # Rows from both ends of the table are different ones.
        tables = {
            "rows": self.table[: self.n],
            "fixed": self.table[:4],
            "some": self.table[:64],
            "background": self.table[-self.n :],
            "attributions": self.table[-self.n :],
            "tree_rows": self.table[: self.n, :TREE_FEATURES],
            "tree_fixed": self.table[-16:, :TREE_FEATURES],
        }
        file = self.folder / f"{name}.npy"
        np.save(file, tables[name])
        return file


@pytest.fixture(scope="module")
def count(program, tmp_path_factory):
    """count(arguments) gives the instructions that the program takes."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("valgrind is not there to count instructions (tools/packages/test.txt)")

    def run(arguments):
        command = [
            valgrind,
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            program,
            "--threads",
            "1",
            *arguments,
        ]
        environment = os.environ | {"ASSAY_VECTOR_TARGET": TARGET}
        return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600)

    probe = run(["neighbours", "iris", "--rows", "1"])
    if probe.returncode != 0:
        pytest.skip(f"valgrind cannot run the program on {TARGET} here: {probe.stderr.strip().splitlines()[-1]}")

    def counted(arguments):
        done = run(["--quiet", *arguments])
        assert done.returncode == 0, done.stderr
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    return counted


@pytest.fixture(scope="module")
def files(tmp_path_factory, root, program):
    return Files(
        tmp_path_factory.mktemp("growth"), root, lambda given: subprocess.run([program, *map(str, given)], check=True)
    )


def counts_of(curve, files, count):
    """Instructions at n, 2 n and 4 n."""
    found = []
    for size in (curve.n, 2 * curve.n, 4 * curve.n):
        files.n = size
        found.append(count([word.format_map(files) for word in curve.command.split()]))
    print(curve.name, found, f"{steepness(found):.3f}")
    return found


def steepness(counts):
    """The second step over the first."""
    first, second, third = counts
    return (third - second) / (second - first)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_a_linear_curve_does_not_bend(curve, files, count):
    counts = counts_of(curve, files, count)
    assert counts[1] - counts[0] > LEAST_STEP
    assert curve.least <= steepness(counts) <= curve.most, counts


def test_a_square_is_seen(files, count):
    """Were the counts not those of the work, or the bound too wide, this would pass for linear too."""
    assert steepness(counts_of(SQUARE, files, count)) > MOST_WITH_LOGARITHM


def test_what_is_constant_does_not_hide_a_bend():
    assert steepness([10**9 + 7 * n for n in (100, 200, 400)]) == 2
    assert steepness([10**9 + n * n for n in (100, 200, 400)]) == 4
