"""Every criterion has a page, which names its options, defaults, ranges and direction as the program does."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "criteria"
OVERVIEW = ROOT / "docs" / "evaluate.md"
ROW = re.compile(r"^\| `(\w+)` \| `([^`]*)` \| ([^|]*) \|", re.MULTILINE)
BETTER = re.compile(r"\b(higher|lower) is (?:better|more agreement)", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)#:]+\.md)\)")


@pytest.fixture(scope="module")
def criteria(program):
    listed = subprocess.run([program, "list", "criteria", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)["criteria"]


def page_of(criterion):
    return (PAGES / f"{criterion['name']}.md").read_text()


def options_table(page):
    """The (option, default, range) rows of the section "Options"; a criterion without options has none there."""
    section = re.search(r"^## Options\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, "a page has a section 'Options'"
    return ROW.findall(section.group(1))


def direction(page):
    """What the page first says to be better; "neither" where it says nothing."""
    found = BETTER.search(page)
    return found.group(1).lower() if found else "neither"


def overview_rows():
    """name -> the cells behind it, of the table of all criteria."""
    rows = re.findall(r"^\| \[(\w+)\]\(criteria/(\w+)\.md\) \|(.*)\|$", OVERVIEW.read_text(), re.MULTILINE)
    assert all(name == page for name, page, _ in rows)
    return {name: [cell.strip() for cell in cells.split("|")] for name, _, cells in rows}


def test_every_criterion_has_a_page_and_every_page_a_criterion(criteria):
    assert criteria
    assert {path.stem for path in PAGES.glob("*.md")} == {criterion["name"] for criterion in criteria}


def test_pages_are_named_by_their_criterion(criteria):
    for criterion in criteria:
        assert page_of(criterion).startswith(f"# {criterion['name']}\n"), criterion["name"]


def test_pages_name_the_options_the_program_lists(criteria):
    apart = {}
    for criterion in criteria:
        listed = [(option["name"], option["default"], option["range"]) for option in criterion["options"]]
        found = options_table(page_of(criterion))
        if found != listed:
            apart[criterion["name"]] = [*(set(found) ^ set(listed))] or "another order"
    assert not apart


def test_pages_say_what_is_better(criteria):
    apart = [each["name"] for each in criteria if direction(page_of(each)) != each["direction"]]
    assert not apart


def test_pages_cite_whom_the_program_cites(criteria):
    for criterion in criteria:
        cited = re.search(r"^## Citation\n(.*)", page_of(criterion), re.MULTILINE | re.DOTALL)
        assert cited, criterion["name"]
        first_author, year = re.match(r"([^\W\d_]+)", criterion["citation"]), re.search(r"\d{4}", criterion["citation"])
        assert first_author.group() in cited.group(1) and year.group() in cited.group(1), criterion["name"]


def test_links_lead_somewhere():
    for page in [OVERVIEW, *PAGES.glob("*.md")]:
        for link in LINK.findall(page.read_text()):
            assert (page.parent / link).is_file(), f"{page.name} links to {link}"


def test_the_overview_has_a_line_for_each_criterion(criteria):
    assert set(overview_rows()) == {criterion["name"] for criterion in criteria}


def test_the_overview_tells_what_the_program_tells(criteria):
    """Its table says of each criterion what is better and what it needs."""
    rows = overview_rows()
    for criterion in criteria:
        _, better, needs = rows[criterion["name"]]
        assert better == criterion["direction"], criterion["name"]
        assert needs == (", ".join(criterion["needs"]) or "nothing"), criterion["name"]


def test_the_overview_names_every_flag(program):
    text = subprocess.run([program, "evaluate", "--help"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", text, re.MULTILINE)) - {"--help"}
    assert "--criteria" in flags
    overview = OVERVIEW.read_text()
    missing = sorted(flag for flag in flags if not re.search(rf"`{flag}[ `]", overview))
    assert not missing


def test_the_readers_can_fail():
    page = "# c\n\nLower is better, not: higher is better.\n\n## Options\n\n| `a` | `1` | 0 to 2 | x |\n"
    assert options_table(page) == [("a", "1", "0 to 2")] and direction(page) == "lower"
    assert direction("# c\n") == "neither"
    assert options_table("## Options\n\nNone.\n\n## Cost\n\n| `a` | `1` | x |\n") == []
    with pytest.raises(AssertionError):
        options_table("# c\n")
