"""Every aggregator's page has its picture: valid, accessible, self-contained, and what the program makes today."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "aggregators"
PICTURES = PAGES / "pictures"
DRAW = PICTURES / "draw.py"
SVG = "{http://www.w3.org/2000/svg}"
NAMES = sorted(page.stem for page in PAGES.glob("*.md"))
# Their pictures come from a trained network, whose last digits depend on the processor.
TRAINED = {"ava", "convex_min", "pareto"}


def outside(svg):
    """What a picture refers to beyond itself, or could run; the namespace of SVG is a name alone."""
    rest = svg.replace('xmlns="http://www.w3.org/2000/svg"', "", 1)
    return re.findall(r"https?:|href|url\(|@import|<script|<foreignObject|<image|\bon\w+=|<!", rest, re.IGNORECASE)


def check(program, *names, folder=PICTURES):
    return subprocess.run(
        [sys.executable, "-B", folder / "draw.py", "--check", *names],
        env={**os.environ, "ASSAY_PROGRAM": program},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_there_is_a_picture_for_each_page_and_nothing_else():
    assert NAMES and {path.stem for path in PICTURES.glob("*.svg")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_pages_show_their_picture(name):
    shown = re.findall(r"^!\[([^\]]+)\]\(([^)]+)\)$", (PAGES / f"{name}.md").read_text(), re.MULTILINE)
    assert [link for _, link in shown] == [f"pictures/{name}.svg"]


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_small_accessible_and_refer_to_nothing_outside(name):
    svg = (PICTURES / f"{name}.svg").read_text()
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert root.findtext(f"{SVG}title").startswith(name) and len(root.findtext(f"{SVG}desc")) > 50
    assert not outside(svg)
    assert len(svg.encode()) < 12_000
    assert "nan" not in re.sub(r"<(title|desc)>.*?</\1>|<text.*?</text>", "", svg)


def test_pictures_are_what_the_program_makes(program):
    done = check(program, *(name for name in NAMES if name not in TRAINED))
    assert done.returncode == 0, done.stderr


def test_another_picture_is_told(program, tmp_path):
    for path in PICTURES.glob("*.py"):
        shutil.copy(path, tmp_path)
    (tmp_path / "mean.svg").write_text((PICTURES / "mean.svg").read_text().replace("<circle", "<circle ", 1))
    shutil.copy(PICTURES / "median.svg", tmp_path)
    done = check(program, "mean", "median", "borda", folder=tmp_path)
    assert done.returncode == 1
    assert "mean, borda" in done.stderr and "median" not in done.stderr


def test_what_is_outside_is_found():
    fine = '<svg xmlns="http://www.w3.org/2000/svg"><text x="1">on</text></svg>'
    assert not outside(fine)
    for part in ('<a href="x"/>', '<rect onload="f()"/>', "<script/>", '<g fill="url(#a)"/>', "https://a.example"):
        assert outside(fine.replace("<text", part + "<text")), part
