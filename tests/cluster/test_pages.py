"""The Spark and Ray of docs/cluster.md run in the folder where its plain Python wrote, and print what the page says."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, python_blocks, run_python_blocks

PAGE = ROOT / "docs" / "cluster.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("page")
    run_python_blocks(PAGE, made)
    return made


@pytest.mark.parametrize("engine", ["spark", "ray"])
def test_the_page_prints_what_it_says(engine, folder):
    run_python_blocks(PAGE, folder, f"python {engine}")


@pytest.mark.parametrize("engine", ["spark", "ray"])
def test_users_write_about_thirty_lines(engine):
    (code, _), *others = python_blocks(PAGE.read_text(), f"python {engine}")
    assert not others and len(code.splitlines()) <= 30
