"""The workers that spoilt files are given to, one kit for all tests."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runner


@pytest.fixture(scope="session")
def farm(program, tmp_path_factory):
    made = runner.Farm(program, tmp_path_factory.mktemp("hostile"))
    yield made
    made.close()


@pytest.fixture
def needs_plugin(program):
    """needs_plugin(name) skips the test where the format's plugin was not built (`make test` always builds it)."""

    def check(name):
        plugin = pathlib.Path(program).resolve().parent / "libassay_arrow.so"
        if name in ("parquet", "feather") and not plugin.exists():
            pytest.skip(f"{plugin} was not built (cmake -DASSAY_ARROW_ROOT=.../site-packages/pyarrow)")

    return check
