"""Every aggregator has a page in one order of sections, which tells of its options what the program does."""

import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "aggregators"
OVERVIEW = ROOT / "docs" / "aggregate.md"
ROW = re.compile(r"^\| `(\w+)` \| `([^`]*)` \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
DIFFERS = "How ours differs"
SECTIONS = [
    "Options",
    "What holds on every row",
    "Needs and cost",
    "When to use it",
    "When not to",
    DIFFERS,  # where it does
    "Citation",
]
MEASURED = {"ava": "Sensitivity of AVA and of the Shapley values it is made of"}  # before "Needs and cost"
LINK = re.compile(r"\]\(([^)#:]+\.(?:md|svg))\)")


@pytest.fixture(scope="module")
def aggregators(program):
    listed = subprocess.run([program, "list", "aggregators", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)["aggregators"]


def page_of(aggregator):
    return (PAGES / f"{aggregator['name']}.md").read_text()


def options_table(page):
    """The (option, default, range, meaning) rows of the section "Options", without marks of code in the meaning."""
    section = re.search(r"^## Options\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, "a page has a section 'Options'"
    return [(*cells, meaning.replace("`", "")) for *cells, meaning in ROW.findall(section.group(1))]


def expected_sections(name, headings):
    expected = [each for each in SECTIONS if each != DIFFERS or each in headings]
    if name in MEASURED:
        expected.insert(expected.index("Needs and cost"), MEASURED[name])
    return expected


def headings_of(page):
    return re.findall(r"^##+ (.*)$", page, re.MULTILINE)


def overview_rows():
    """name -> the cells behind it, of the table of all aggregators."""
    rows = re.findall(r"^\| \[(\w+)\]\(aggregators/(\w+)\.md\) \|(.*)\|$", OVERVIEW.read_text(), re.MULTILINE)
    assert all(name == page for name, page, _ in rows)
    return {name: [cell.strip() for cell in cells.split("|")] for name, _, cells in rows}


def test_every_aggregator_has_a_page_and_every_page_an_aggregator(aggregators):
    assert aggregators
    assert {path.stem for path in PAGES.glob("*.md")} == {aggregator["name"] for aggregator in aggregators}


def test_pages_are_named_by_their_aggregator(aggregators):
    for aggregator in aggregators:
        assert page_of(aggregator).startswith(f"# {aggregator['name']}\n"), aggregator["name"]


def test_pages_have_the_same_sections_in_one_order(aggregators):
    for aggregator in aggregators:
        found = headings_of(page_of(aggregator))
        assert found == expected_sections(aggregator["name"], found), aggregator["name"]


def test_pages_name_the_options_the_program_lists(aggregators):
    apart = {}
    for aggregator in aggregators:
        listed = [
            (option["name"], option["default"], option["range"], option["meaning"].replace("`", ""))
            for option in aggregator["options"]
        ]
        found = options_table(page_of(aggregator))
        if found != listed:
            apart[aggregator["name"]] = [*(set(found) ^ set(listed))] or "another order"
    assert not apart


def test_pages_show_a_picture_and_call_it_as_it_calls_itself(aggregators):
    for aggregator in aggregators:
        name = aggregator["name"]
        title = ET.parse(PAGES / "pictures" / f"{name}.svg").getroot().findtext("{http://www.w3.org/2000/svg}title")
        assert f"\n![{title}](pictures/{name}.svg)\n" in page_of(aggregator), name


def test_pages_cite_whom_the_program_cites(aggregators):
    for aggregator in aggregators:
        cited = re.search(r"^## Citation\n(.*)", page_of(aggregator), re.MULTILINE | re.DOTALL)
        assert cited, aggregator["name"]
        citation = aggregator["citation"]
        first_author, year = re.search(r"[A-Z][^\W\d_]+", citation), re.search(r"\d{4}", citation)
        assert first_author.group() in cited.group(1) and year.group() in cited.group(1), aggregator["name"]


def test_links_lead_somewhere():
    for page in [OVERVIEW, *PAGES.glob("*.md")]:
        for link in LINK.findall(page.read_text()):
            assert (page.parent / link).is_file(), f"{page.name} links to {link}"


def test_the_overview_has_a_line_for_each_aggregator(aggregators):
    assert set(overview_rows()) == {aggregator["name"] for aggregator in aggregators}


def test_the_overview_tells_what_the_program_tells(aggregators):
    """Its tables say of each aggregator what it needs beside members."""
    rows = overview_rows()
    for aggregator in aggregators:
        assert rows[aggregator["name"]][-1] == (", ".join(aggregator["needs"]) or "nothing"), aggregator["name"]


def test_the_overview_names_every_flag(program):
    text = subprocess.run([program, "aggregate", "--help"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", text, re.MULTILINE)) - {"--help"}
    assert "--aggregator" in flags
    overview = OVERVIEW.read_text()
    missing = sorted(flag for flag in flags if not re.search(rf"`{flag}[ `]", overview))
    assert not missing


def test_the_readers_can_fail():
    page = "# c\n\n## Options\n\n| `a` | `1` | 0 to 2 | x of `y` |\n"
    assert options_table(page) == [("a", "1", "0 to 2", "x of y")]
    assert options_table("## Options\n\nNone.\n\n## Cost\n\n| `a` | `1` | x | y |\n") == []
    with pytest.raises(AssertionError):
        options_table("# c\n")
    assert headings_of(page) == ["Options"] != expected_sections("c", ["Options"])
    swapped = [DIFFERS, *(each for each in SECTIONS if each != DIFFERS)]
    assert expected_sections("c", swapped) == SECTIONS != swapped
