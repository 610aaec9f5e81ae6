"""README's picture of the report: it is what today's page looks like, small, and a picture at all."""

import importlib.machinery
import importlib.util
import re
import struct

from pages import ROOT


def tool():
    """tools/report_picture as a module."""
    loader = importlib.machinery.SourceFileLoader("report_picture", str(ROOT / "tools" / "report_picture"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("report_picture", loader))
    loader.exec_module(module)
    return module


def test_picture_is_made_from_todays_page():
    made = tool()
    png = made.PICTURE.read_bytes()
    assert made.recorded(png) == made.made_from(), "docs/pictures/report.png is old: run tools/report_picture"


def test_picture_is_small_and_of_the_first_screen():
    made = tool()
    png = made.PICTURE.read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and len(png) < 200_000
    assert struct.unpack(">II", dict(made.chunks(png))[b"IHDR"][:8]) == (made.SIZE["width"], made.SIZE["height"])
    assert dict(made.chunks(png))[b"IEND"] == b""


def test_readme_shows_it_near_the_top():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    shown = [number for number, line in enumerate(lines) if "docs/pictures/report.png" in line]
    assert len(shown) == 1 and shown[0] < 60
    assert re.fullmatch(r"!\[[^]]{40,}\]\(docs/pictures/report\.png\)", lines[shown[0]])


def test_another_page_is_noticed():
    made = tool()
    png = made.with_record(made.PICTURE.read_bytes(), "something else")
    assert made.recorded(png) == "something else"
