"""Every explanation function has a page, which names its options, defaults and ranges as the program does."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "methods"
OVERVIEW = ROOT / "docs" / "explain.md"
ROW = re.compile(r"^\| `(\w+)` \| `([^`]*)` \| ([^|]*) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def methods(program):
    listed = subprocess.run([program, "list", "methods", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)["methods"]


def options_table(page):
    """The (option, default, range) rows of the section "Options"; a method without options has none there."""
    section = re.search(r"^## Options\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, "a page has a section 'Options'"
    return ROW.findall(section.group(1))


def test_every_method_has_a_page_and_every_page_a_method(methods):
    assert methods
    assert {path.stem for path in PAGES.glob("*.md")} == {method["name"] for method in methods}


def test_pages_are_named_by_their_method(methods):
    for method in methods:
        page = (PAGES / f"{method['name']}.md").read_text()
        assert page.startswith(f"# {method['name']}\n"), method["name"]


def test_pages_name_the_options_the_program_lists(methods):
    for method in methods:
        page = (PAGES / f"{method['name']}.md").read_text()
        listed = [(option["name"], option["default"], option["range"]) for option in method["options"]]
        assert options_table(page) == listed, method["name"]


def test_pages_run_their_method(methods):
    for method in methods:
        page = (PAGES / f"{method['name']}.md").read_text()
        command = rf"^\$ build/assay .*explain .*--method {method['name']}\b"
        assert re.search(command, page, re.MULTILINE), method["name"]


def test_the_overview_links_every_page(methods):
    overview = OVERVIEW.read_text()
    for method in methods:
        assert f"](methods/{method['name']}.md)" in overview, method["name"]


def test_the_overview_tells_what_the_program_tells(methods):
    """Its table says of each method whether it is complete and whether it has standard errors."""
    overview = OVERVIEW.read_text()
    for method in methods:
        row = re.search(rf"^\| \[{method['name']}\]\([^|]*\|(.*)\|$", overview, re.MULTILINE)
        assert row, method["name"]
        _, complete, sampled, *_ = (cell.strip() for cell in row.group(1).split("|"))
        assert complete.startswith("yes" if method["complete"] else "no"), method["name"]
        assert sampled.startswith("yes" if method["sampled"] else "no"), method["name"]


def test_the_overview_names_every_flag(program):
    text = subprocess.run([program, "explain", "--help"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", text, re.MULTILINE)) - {"--help"}
    assert "--method" in flags
    overview = OVERVIEW.read_text()
    missing = sorted(flag for flag in flags if not re.search(rf"`{flag}[ `]", overview))
    assert not missing


def test_the_table_reader_can_fail():
    page = "# m\n\n## Options\n\n| option | default | range |\n|---|---|---|\n| `a` | `1` | 0 to 2 |\n"
    assert options_table(page) == [("a", "1", "0 to 2")]
    assert options_table("## Options\n\nNone.\n\n## Example\n\n| `a` | `1` | x |\n") == []
    with pytest.raises(AssertionError):
        options_table("# m\n")
