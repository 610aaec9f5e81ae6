"""Modules of benchmarks/peers that need no peers, under names of their own: tests/docs has a pages.py too."""

import importlib.util
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peers"


def module(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(f"peers_{name}", FOLDER / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, found)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def harness(monkeypatch):
    return module("harness", monkeypatch)


@pytest.fixture
def pages(monkeypatch):
    return module("pages", monkeypatch)


@pytest.fixture
def machine(monkeypatch):
    return module("machine", monkeypatch)
