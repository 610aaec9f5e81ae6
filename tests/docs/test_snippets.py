"""Every console block of README and docs is run, and prints what the page says.

In a ```console block, lines that start with "$ " are commands and the lines below one are its output; a line "..."
stands for any lines. Blocks that install or build (```sh) are not run here.
"""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(text):
    """The (command, expected lines) pairs of a page, block by block."""
    for block in BLOCK.findall(text):
        session = []
        for line in block.splitlines():
            if line.startswith("$ "):
                session.append((line[2:], []))
            else:
                session[-1][1].append(line)
        yield session


def matches(expected, found):
    """Whether the printed lines are the expected ones, where "..." stands for any lines."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(matches(expected[1:], found[i:]) for i in range(len(found) + 1))
    return bool(found) and expected[0] == found[0] and matches(expected[1:], found[1:])


def needs_data(command):
    return any(f" {name}" in command for name in ("adult", "mnist", "mimic3", "eicu", "cinc2019", "wine", "german"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_console_blocks_print_what_the_page_says(page, program, tmp_path, request):
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "assay").symlink_to(program)
    for session in snippets(page.read_text()):
        if any(needs_data(command) for command, _ in session):
            request.getfixturevalue("data_dir")
        for command, expected in session:
            result = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=300,
            )
            found = result.stdout.rstrip("\n").split("\n") if result.stdout.strip() else []
            assert matches([line.rstrip() for line in expected], [line.rstrip() for line in found]), (
                f"{page.name}: $ {command}\nprinted\n{result.stdout}"
            )


def test_the_matcher_can_fail():
    assert matches(["a", "...", "c"], ["a", "b", "b", "c"])
    assert not matches(["a", "...", "c"], ["a", "b"])
    assert not matches(["a"], ["a", "b"])
    assert list(snippets("```console\n$ x\nout\n$ y\n```\n")) == [[("x", ["out"]), ("y", [])]]
