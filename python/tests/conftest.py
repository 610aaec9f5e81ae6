"""What the tests of the Python package share. They import `assay` as it is installed, else as `make test` built it."""

import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ROOT / "build" / "python"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # for what tests share


def is_package() -> bool:
    """Whether `import assay` gives a package; the library's sources alone, seen from the checkout, have no __init__."""
    found = importlib.util.find_spec("assay")
    return found is not None and found.origin is not None


def pytest_configure() -> None:
    if is_package():
        return
    if not list((BUILT / "assay").glob("_core*.so")):
        pytest.exit(f"{BUILT}/assay has no extension: run `make test`, or `pip install .`, first", returncode=1)
    sys.path.insert(0, str(BUILT))
    # For the programs that tests start.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BUILT), os.environ.get("PYTHONPATH")]))
    importlib.invalidate_caches()


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return ROOT


@pytest.fixture(scope="session")
def program() -> pathlib.Path:
    """The program that the package carries."""
    import assay

    return pathlib.Path(assay.__file__).parent / "bin" / "assay"


@pytest.fixture(scope="session")
def command(root: pathlib.Path, program: pathlib.Path) -> Callable[..., str]:
    """command(*arguments) is what the program of the package prints, or the one that was built beside it."""
    path = program if program.exists() else root / "build" / "assay"

    def run(*arguments: object) -> str:
        result = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run
