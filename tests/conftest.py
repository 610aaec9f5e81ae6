"""What all Python tests share: where the program is, and how to run it."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return ROOT


@pytest.fixture(scope="session")
def program() -> str:
    """The program under test: build/assay, or the one $ASSAY_PROGRAM names."""
    path = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
    if not os.access(path, os.X_OK):
        pytest.exit(f"{path} is missing: run `make build` first", returncode=1)
    return path


@pytest.fixture
def assay(program, tmp_path):
    """Runs the program in an empty folder and gives its exit code and what it printed."""

    def run(*arguments, env=None, **options):
        return subprocess.run(
            [program, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def data_dir() -> pathlib.Path:
    """The folder of the data sets that are not inside the program; skips the test where there is none."""
    folder = os.environ.get("ASSAY_DATA", "")
    if not folder or not pathlib.Path(folder).is_dir():
        pytest.skip("ASSAY_DATA names no folder of data sets")
    return pathlib.Path(folder)
