"""Every console block of README and docs is run, and prints what the page says.

In a ```console block, lines that start with "$ " are commands and the lines below one are its output; a line "..."
stands for any lines. Blocks that install or build (```sh) are not run here, and those that need other libraries
(```shell-session) by tests/peers/test_pages.py.
"""

import pytest
from pages import ROOT, matches, prepare, run_session, sessions

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])


def needs_data(command):
    sets = ("adult", "mnist", "mimic3", "eicu", "cinc2012", "cinc2019", "wine", "german")
    return any(f" {name}" in command for name in sets)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_console_blocks_print_what_the_page_says(page, program, tmp_path, request):
    prepare(tmp_path, program)
    for session in sessions(page.read_text()):
        if any(needs_data(command) for command, _ in session):
            request.getfixturevalue("data_dir")
        run_session(page, session, tmp_path)


def test_the_matcher_can_fail():
    assert matches(["a", "...", "c"], ["a", "b", "b", "c"])
    assert not matches(["a", "...", "c"], ["a", "b"])
    assert not matches(["a"], ["a", "b"])
    assert matches(["a ... c"], ["a b c"], within=True) and not matches(["a ... c"], ["a b d"], within=True)
    assert not matches(["a ... c"], ["a b c"])
    assert list(sessions("```console\n$ x\nout\n$ y\n```\n")) == [[("x", ["out"]), ("y", [])]]
    assert list(sessions("```shell-session\n$ x\n```\n")) == []
