"""Blocks of the documentation that need the libraries of peers: ```py, one program for a page, then ```shell-session.

They run in one folder, so commands find what the program or commands before them wrote. In what they print, "..." also
stands for any text within a line: last digits depend on the processor. `python` is the one that runs this test. A page
that says of which XGBoost its numbers are is left out with others.
"""

import os
import pathlib
import re
import sys

import pytest
import xgboost

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, prepare, python_blocks, run_python_blocks, run_session, sessions

PAGES = sorted(
    page
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    if python_blocks(page.read_text(), "py") or [*sessions(page.read_text(), "shell-session")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_with_other_libraries_print_what_they_say(page, program, data_dir, tmp_path, monkeypatch):
    assert data_dir.is_dir()
    shown = re.search(r"What is shown is of XGBoost (\d+\.\d+);", page.read_text())
    if shown and not xgboost.__version__.startswith(f"{shown[1]}."):
        pytest.skip(f"the page is of XGBoost {shown[1]}, and {xgboost.__version__} trains other trees")
    prepare(tmp_path, program)
    monkeypatch.setenv("PATH", os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]))
    if python_blocks(page.read_text(), "py"):
        run_python_blocks(page, tmp_path, "py")
    for session in sessions(page.read_text(), "shell-session"):
        run_session(page, session, tmp_path, within=True)


def test_the_page_of_trees_is_among_them():
    assert ROOT / "docs" / "trees.md" in PAGES
