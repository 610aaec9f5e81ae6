"""Where the system refuses threads, commands go on with those that there are: same results, a note, no abort."""

import os
import pathlib
import resource
import subprocess
import tempfile

import numpy as np
import pytest

USER = 54321  # of nobody else: a limit on processes counts all of a user's


def limited(processes):
    """In the child: becomes a user without privileges, who may have this many processes and threads."""

    def become():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)

    return become


@pytest.fixture(scope="module")
def shared(program):
    """A folder that the user without privileges can read and write, with rows, a model and explanations in it."""
    if os.geteuid() != 0:
        pytest.skip("only root can become a user with a limit of its own")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = np.random.default_rng(3).normal(size=(3000, 6))
        labels = np.where(rows[:, 0] * rows[:, 1] > 0, "yes", "no")
        lines = ["a,b,c,d,e,f,y", *(",".join([*map(str, row), y]) for row, y in zip(rows, labels, strict=True))]
        (folder / "x.csv").write_text("\n".join(lines) + "\n")
        (folder / "few.csv").write_text("\n".join(lines[:301]) + "\n")

        def run(*arguments):
            subprocess.run([program, "--quiet", *arguments], cwd=folder, check=True, capture_output=True)

        run("train", "--data", "few.csv", "--label", "y", "--training", "epochs=3", "--out", "m.onnx")
        explain = ("explain", "--model", "m.onnx", "--data", "few.csv", "--label", "y", "--baseline", "zero")
        run(*explain, "--method", "exact_shapley", "--out", "phi.npz")
        run(*explain, "--method", "gradient_x_input", "--out", "other.npz")
        folder.chmod(0o777)
        for path in folder.iterdir():
            path.chmod(0o644)
        try:
            subprocess.run([program, "--version"], cwd=folder, check=True, capture_output=True, preexec_fn=limited(1))
        except (OSError, subprocess.SubprocessError) as reason:
            pytest.skip(f"a user without privileges cannot run the program here: {reason}")
        yield folder


MODEL = ("--model", "m.onnx", "--label", "y", "--baseline", "zero")
COMMANDS = {
    "neighbours": ("neighbours", "x.csv", "--label", "y", "--k", "3"),
    "predict": ("predict", "--model", "m.onnx", "--data", "x.csv", "--label", "y", "--out", "-"),
    "explain": ("explain", *MODEL, "--data", "x.csv", "--method", "exact_shapley", "--out", "-"),
    "evaluate": ("evaluate", *MODEL, "--data", "few.csv", "--pool", "x.csv", "--explanations", "phi.npz"),
    "aggregate": ("aggregate", "--members", "phi.npz,other.npz", "--aggregator", "mean", "--out", "-"),
    "train": ("train", "--data", "x.csv", "--label", "y", "--training", "epochs=2", "--out", "new.onnx"),
    "study": (
        "study",
        "--data",
        "few.csv",
        "--split",
        "test",
        "--label",
        "y",
        "--sample",
        "20",
        "--no-curves",
        "--no-variations",
    ),
}


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("command", COMMANDS)
def test_fewer_threads_give_the_same_results(program, shared, command, processes):
    arguments = COMMANDS[command]

    def run(*before, **options):
        made = [shared / "new.onnx", shared / "study-few"]
        subprocess.run(["rm", "-rf", *made], check=True)
        result = subprocess.run(
            [program, *before, *arguments], cwd=shared, capture_output=True, text=True, timeout=120, **options
        )
        files = sorted(path for folder in made for path in [folder, *folder.rglob("*")] if path.is_file())
        return result, [path.read_bytes() for path in files if path.suffix in (".onnx", ".npz", ".csv")]

    plain, plain_files = run("--threads", "1", "--quiet")
    assert plain.returncode == 0, plain.stderr
    result, files = run("--threads", "8", "--quiet", preexec_fn=limited(processes))
    assert (result.returncode, result.stderr) == (0, "")
    if command != "study":  # which tells times
        assert result.stdout == plain.stdout
    assert files == plain_files

    noted, _ = run("--threads", "8", preexec_fn=limited(processes))
    assert noted.returncode == 0
    notes = [line for line in noted.stderr.splitlines() if line.startswith("assay: ")]
    assert all("the system refused threads" in note and f": {processes} worked where" in note for note in notes)
    assert len(notes) == 1 or (processes > 1 and not notes), "three threads are all that a small loop asks for"
