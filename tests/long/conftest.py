"""Tests that take minutes each: `make test-long` passes --run-long."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--run-long", action="store_true", help="run the tests that take minutes")


@pytest.fixture(autouse=True)
def only_when_asked(request):
    if not request.config.getoption("run_long", False):
        pytest.skip("takes minutes: run by `make test-long`")
