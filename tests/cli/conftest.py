"""What the tests of the program share: how a refusal must look, how a file is converted, whether Arrow is there, and
explanations to score."""

import json
import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest


@pytest.fixture(scope="session")
def arrow_plugin(program) -> pathlib.Path:
    """The Arrow plugin beside the program; skips the test where it was not built (`make test` always builds it)."""
    plugin = pathlib.Path(program).resolve().parent / "libassay_arrow.so"
    if not plugin.exists():
        pytest.skip(f"{plugin} was not built (cmake -DASSAY_ARROW_ROOT=.../site-packages/pyarrow)")
    return plugin


@pytest.fixture
def needs(request):
    """needs(path) skips the test when the path is of a format that only the Arrow plugin reads."""

    def check(path):
        if any(name in str(path) for name in (".parquet", ".feather", ".arrow", ".pq")):
            request.getfixturevalue("arrow_plugin")

    return check


@pytest.fixture
def convert(assay, tmp_path, needs):
    """convert(source, target, *options) runs `assay data` and gives the path of what it wrote."""

    def run(source, target, *options):
        needs(source)
        needs(target)
        result = assay("data", source, "--out", target, *options)
        assert result.returncode == 0, result.stderr
        assert result.stderr == "" or result.stderr.startswith("rounded to float32: ")
        return tmp_path / target

    return run


@pytest.fixture
def described(assay, needs):
    """described(source, *options) is what `assay describe --json` says."""

    def run(source, *options, env=None):
        needs(source)
        result = assay("describe", source, "--json", *options, env=env)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="session")
def processor_seconds():
    """processor_seconds(process) is what a running process has used of the processor, whatever else goes on."""

    def used(process) -> float:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    return used


@pytest.fixture
def one_sentence():
    """one_sentence(result) checks that a run was refused as bad input in one clear line, and gives that line."""

    def check(result):
        assert result.returncode == 1, f"exit code {result.returncode}: {result.stdout}{result.stderr}"
        assert result.stdout == ""
        assert result.stderr.startswith("assay: ")
        assert result.stderr.endswith("\n")
        sentence = result.stderr.removeprefix("assay: ").removesuffix("\n")
        assert len(sentence) > 10
        assert all(character.isprintable() for character in sentence), f"not one clean line: {sentence!r}"
        assert "internal error" not in sentence
        return sentence

    return check


@pytest.fixture
def refused(assay, one_sentence, tmp_path):
    """refused(source, *options) runs `assay data` onto an existing file, which must survive, and gives the sentence."""

    def run(source, *options, env=None):
        kept = tmp_path / "kept.csv"
        kept.write_bytes(b"precious\n1\n")
        before = sorted(path.name for path in tmp_path.iterdir())
        result = assay("data", source, "--out", "kept.csv", *options, env=env)
        sentence = one_sentence(result)
        assert kept.read_bytes() == b"precious\n1\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return sentence

    return run


def heed_signals():
    """In the child: a test run in the background inherits ignored signals, and so would the program."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def start(program, tmp_path):
    """start(*arguments) begins a run that the test will interrupt; whatever is left of it is killed afterwards."""
    begun = []

    def run(*arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path, **options}
        command = [program, *map(str, arguments)]
        begun.append(subprocess.Popen(command, env=dict(os.environ), preexec_fn=heed_signals, **options))
        return begun[-1]

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def folder(program, tmp_path_factory):
    """A folder with train.csv and test.csv of iris, m.onnx trained on the first, mixed.csv and mixed.onnx (a number and
    a one-hot category, 2 classes), and explanations of the test rows (phi.npz) and of the training rows (pool.npz)."""
    made = tmp_path_factory.mktemp("evaluate")

    def run(*arguments):
        subprocess.run([program, "--quiet", *arguments], cwd=made, check=True, capture_output=True)

    for part in ("train", "test"):
        run("data", "iris", "--split", part, "--out", f"{part}.csv")
    run(
        "train",
        "--data",
        "train.csv",
        "--label",
        "species",
        "--hidden",
        "8",
        "--training",
        "epochs=30",
        "--out",
        "m.onnx",
    )
    rows = [f"{i % 10},{['red', 'green', 'blue'][i % 3]},{'yes' if i % 10 > 4 else 'no'}" for i in range(60)]
    (made / "mixed.csv").write_text("\n".join(["size,colour,answer", *rows]) + "\n")
    options = ("--label", "answer", "--encode", "one_hot", "--hidden", "4", "--training", "epochs=10")
    run("train", "--data", "mixed.csv", *options, "--out", "mixed.onnx")
    explain = ("explain", "--model", "m.onnx", "--label", "species", "--baseline", "zero", "--method", "exact_shapley")
    run(*explain, "--data", "test.csv", "--out", "phi.npz")
    run(*explain, "--data", "train.csv", "--out", "pool.npz")
    return made


@pytest.fixture
def evaluate(assay, folder):
    """evaluate(*arguments) scores explanations of the test rows with model, rows and pool."""

    def run(*arguments, before=(), explanations=None, label="--label"):
        files = ("--model", folder / "m.onnx", "--data", folder / "test.csv", "--pool", folder / "train.csv")
        explanations = folder / "phi.npz" if explanations is None else explanations
        return assay(*before, "evaluate", *files, label, "species", "--explanations", explanations, *arguments)

    return run


@pytest.fixture
def scores(evaluate):
    """scores(criteria, *arguments) gives the list of scores as JSON has it."""

    def run(criteria, *arguments, before=(), **options):
        baseline = () if "--background" in arguments or "--baseline" in arguments else ("--baseline", "zero")
        result = evaluate(*baseline, "--criteria", criteria, *arguments, before=("--json", *before), **options)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)["scores"]

    return run


@pytest.fixture
def load():
    """load(path) gives the arrays of an .npz file by name."""

    def read(path):
        with np.load(path) as file:
            return {name: file[name] for name in file.files}

    return read


@pytest.fixture
def edit(load):
    """edit(source, made, **changes) copies a file of explanations with other words about how it was made."""

    def write(source, made, /, arrays=None, **changes):
        found = load(source)
        meta = found["meta"].item()
        text = json.dumps(json.loads(meta) | changes)
        found["meta"] = np.array(text.encode() if isinstance(meta, bytes) else text)
        np.savez(made, **{**found, **(arrays or {})})

    return write


@pytest.fixture(scope="session")
def iris(program, tmp_path_factory):
    """The whole default study of Iris, once."""
    folder = tmp_path_factory.mktemp("iris")
    result = subprocess.run(
        [program, "study", "iris", "--out", "study"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert (result.returncode, result.stderr) == (0, "")
    return folder / "study", result.stdout
