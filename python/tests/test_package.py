"""The package as a whole: what importing it costs, its types, its command, and that it refuses unknown words."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import assay

OPTIONAL = ["IPython", "captum", "onnx", "pandas", "plotly", "pyarrow", "scipy", "shap", "sklearn", "torch", "tqdm"]


def python(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, **options)


def test_import_takes_numpy_alone():
    loaded = python("-c", f"import assay, sys; print([name for name in {OPTIONAL} if name in sys.modules])")
    assert (loaded.stdout, loaded.stderr) == ("[]\n", "")


def test_optional_packages_are_not_needed(tmp_path):
    """Where none of them can be imported, a model is still trained, explained and evaluated."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))
import assay
iris = assay.dataset("iris")
found = assay.explain(assay.train(iris), iris, "occlusion", pool=iris)
print(found.values.shape, list(assay.evaluate(found, "complexity")))
try:
    found.to_pandas()
except ImportError as error:
    print(error)
"""
    result = python("-c", code, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    explained, refused = result.stdout.splitlines()
    assert explained == "(150, 4) ['complexity']"
    assert "pip install assay-xai[pandas]" in refused


def test_version_is_the_program_s(program):
    assert subprocess.check_output([program, "--version"], text=True) == f"assay {assay.__version__}\n"


def test_public_names_are_all_there_and_documented():
    """__all__ is what a user sees, and every part of it says what it is."""
    seen = {name for name, value in vars(assay).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert set(assay.__all__) == (seen | {"__version__"}) - {"annotations"}
    assert assay.__all__ == sorted(assay.__all__)
    for name in assay.__all__:
        public = getattr(assay, name)
        if name == "__version__":
            continue
        assert public.__doc__, f"{name} has no documentation"
        members = vars(public) if inspect.isclass(public) else {}
        for member, value in members.items():
            is_public = not member.startswith("_") and (callable(value) or isinstance(value, property | staticmethod))
            assert not is_public or inspect.getdoc(getattr(public, member)), f"{name}.{member} has no documentation"


def test_types_are_shipped():
    folder = pathlib.Path(assay.__file__).parent
    assert (folder / "py.typed").read_text() == ""
    assert (folder / "_core.pyi").is_file()


def mypy(*arguments: str, **options) -> str:
    pytest.importorskip("mypy", reason="mypy checks the types")
    # Kept between runs: reading NumPy's types takes most of the time.
    cache = pathlib.Path(__file__).resolve().parents[2] / "build" / "mypy"
    result = python("-m", "mypy", "--strict", "--cache-dir", str(cache), "--no-error-summary", *arguments, **options)
    return result.stdout + result.stderr


def test_package_is_strictly_typed(root):
    assert mypy("python/assay", cwd=root) == ""


USER = """
import numpy as np
import assay

model = assay.load("model.onnx")
rows = np.zeros((4, 2), dtype=np.float32)
found = assay.explain(model, rows, "kernel_shap", samples=64, baseline="mean", seed=1)
values: np.ndarray = found.values
scores: assay.Scores = assay.evaluate(found, "faithfulness")["faithfulness"]
both: assay.Explanations = assay.aggregate([found, found], "convex", model=model)
each: dict[str, assay.Explanations] = assay.explain_all(model, rows)
"""


def test_users_see_the_types(tmp_path):
    """Against the installed package: right use passes, and wrong use is found."""
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(USER + "assay.load(3)\nnumber: int = found.values\nassay.explain(model)\n")
    where = os.pathsep.join([str(pathlib.Path(assay.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "MYPYPATH": where.strip(os.pathsep)}
    if "site-packages" in environment["MYPYPATH"]:
        del environment["MYPYPATH"]
    # A user's mypy, without our settings.
    found = mypy("--config-file=", "right.py", "wrong.py", cwd=tmp_path, env=environment)
    lines = len(USER.splitlines())
    places = re.findall(r"^(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", found, re.MULTILINE)
    assert places == [
        ("wrong.py", str(lines + 1), "arg-type"),
        ("wrong.py", str(lines + 2), "assignment"),
        ("wrong.py", str(lines + 3), "call-arg"),
    ], found


@pytest.mark.parametrize("way", ["command", "module"])
def test_command_is_the_program(way, program, tmp_path):
    start = ["-c", "from assay._command import main; main()"] if way == "command" else ["-m", "assay"]
    for arguments in (["list", "methods"], ["explain", "--method", "no such method"], ["describe", "missing.csv"]):
        ours = python(*start, *arguments, cwd=tmp_path)
        theirs = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
    assert ours.returncode == 1 and ours.stderr.startswith("assay: missing.csv: ")


@pytest.fixture
def copied_command(tmp_path) -> pathlib.Path:
    """A package with the command alone, for a program of the test's own."""
    package = tmp_path / "package" / "assay"
    (package / "bin").mkdir(parents=True)
    shutil.copy(pathlib.Path(assay.__file__).with_name("_command.py"), package)
    (package / "__init__.py").touch()
    return package


def run_copy(package: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from assay._command import main; main()"
    return python("-c", code, *arguments, env={**os.environ, "PYTHONPATH": str(package.parent)}, cwd=package)


def test_command_passes_everything_on(copied_command):
    """Arguments as they are, the exit code, and the signals that Python ignores and a program in a pipe must not."""
    program = copied_command / "bin" / "assay"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\ngrep SigIgn /proc/self/status\nexit 7\n')
    program.chmod(0o755)
    result = run_copy(copied_command, "a b", "", "--x=*")
    assert result.returncode == 7
    arguments, _, ignored = result.stdout.rpartition("|")
    assert arguments == "a b||--x=*"
    mask = int(ignored.split()[1], 16)
    assert not [each for each in (signal.SIGPIPE, signal.SIGXFSZ) if mask >> (each - 1) & 1]


def test_command_without_its_program_says_so(copied_command):
    result = run_copy(copied_command, "--version")
    assert result.returncode == 1 and result.stdout == ""
    assert re.fullmatch(r"assay: /\S+/bin/assay: expected the program of [^\n]*No such file[^\n]*\n", result.stderr)


def linear(rows):
    return np.asarray(rows, dtype=np.float64).sum(axis=1)


def occlusion(model: assay.Model, rows: np.ndarray) -> assay.Explanations:
    return assay.explain(model, rows, "occlusion", baseline="zero")


UNKNOWN = {
    "baselines": lambda model, rows: assay.explain(model, rows, "occlusion", baselines="zero"),
    "sample": lambda model, rows: assay.explain(model, rows, "kernel_shap", baseline="zero", sample=5),
    "sed": lambda model, rows: assay.explain_all(model, rows, "occlusion", baseline="zero", sed=1),
    "subset_sise": lambda model, rows: assay.evaluate(occlusion(model, rows), "faithfulness", subset_sise=2),
    "norm": lambda model, rows: assay.aggregate([occlusion(model, rows)] * 2, "mean", norm=1),
    "critera": lambda model, rows: assay.study(model, rows, pool=rows, critera=["complexity"]),
    "splits": lambda model, rows: assay.dataset("iris", splits="all"),
    "clases": lambda model, rows: assay.wrap(linear, clases=["a"]),
    "unit": lambda model, rows: assay.load("model.onnx", unit="margin"),
    "epoch": lambda model, rows: assay.train(assay.dataset("iris"), epoch=3),
}


@pytest.mark.parametrize("word", UNKNOWN)
def test_unknown_keywords_are_type_errors(word):
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    with pytest.raises(TypeError, match=rf"\b{word}\b"):
        UNKNOWN[word](assay.wrap(linear), rows)
