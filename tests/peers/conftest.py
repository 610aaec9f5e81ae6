"""Parity with other libraries runs where they are installed: `make test-peers` passes --run-peers."""

import pathlib
import sys

import pytest

# Test modules share models and helpers.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def pytest_addoption(parser):
    parser.addoption("--run-peers", action="store_true", help="run the comparisons with other libraries")
    parser.addoption("--every-order", action="store_true", help="import packages in all 120 orders instead of 20")


class NotRun(pytest.Module):
    """A test module that is not even imported, because what it imports may not be installed."""

    def collect(self):
        raise pytest.skip.Exception("run by `make test-peers`", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    # Below another folder this file is read after the command line, and the option is not known.
    if parent.config.getoption("run_peers", False):
        return None
    return NotRun.from_parent(parent, path=module_path)
