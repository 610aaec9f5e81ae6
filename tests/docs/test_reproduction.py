"""docs/reproduction.md is what this version of the program writes: its set-up, methods, version and verdicts."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOWHERE = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "/nowhere", "HOME": "/nowhere"}
MOST_LINES = 250  # before the annex


@pytest.fixture(scope="module")
def page():
    return (DOCS / "reproduction.md").read_text()


@pytest.fixture(scope="module")
def document():
    return json.loads((DOCS / "reproduction.json").read_text())


@pytest.fixture(scope="module")
def setup_page(program):
    return subprocess.run([program, "reproduce", "setup"], capture_output=True, text=True, check=True).stdout


def test_the_declared_set_up_is_the_one_that_runs(setup_page):
    assert (DOCS / "reproduction-setup.md").read_text() == setup_page, "run: assay reproduce setup --out docs/..."


def test_methods_and_version_are_those_of_the_program(program, document, setup_page, tmp_path):
    """The page is old if the program would run other methods, or is another version."""
    done = subprocess.run(
        [program, "--json", "reproduce", "faithfulness", "--quick"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, **NOWHERE},
    )
    now = json.loads(done.stdout)
    for part in ("version", "setup", "methods", "image_aggregates", "ava"):
        assert document[part] == now[part], part
    assert (document["command"], document["quick"], document["seed"]) == ("assay reproduce all", False, 0)
    assert [claim["claim"] for claim in document["claims"] if claim["id"] in {c["id"] for c in now["claims"]}] == [
        claim["claim"] for claim in now["claims"]
    ]
    for spec in [*document["methods"].values(), *document["image_methods"].values()]:
        assert f"| `{spec}` |" in setup_page
    for variant in filter(None, document["variants"]):
        assert f"| `{variant}` |" in setup_page
    assert f"(assay {now['version']}, seed 0)" in (DOCS / "reproduction.md").read_text()


def test_verdicts_follow_from_the_numbers(page, document):
    spec = importlib.util.spec_from_file_location("verdicts", ROOT / "tests" / "study" / "verdicts.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert len((ROOT / "tests" / "study" / "verdicts.py").read_text().splitlines()) <= 100
    found = script.verdicts(document)
    assert len(found) >= 11
    for claim in document["claims"]:
        assert claim["verdict"] == found[claim["id"]], claim["id"]
        if not claim["post_hoc"]:
            assert f"| {claim['section']} | {claim['claim']} | **{claim['verdict']}** |" in page


def test_the_page_is_short_and_whole(page):
    before, _, annex = page.partition("\n## Annex\n")
    assert annex
    assert len(before.splitlines()) <= MOST_LINES
    for title in ("What replicates", "Table 1", "Table 2", "Table 3", "Table 4"):
        assert re.search(rf"^## {title}", before, re.MULTILINE), title
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", before)
    assert len(pictures) >= 10  # the image, six methods and the aggregates
    for name in pictures + re.findall(r"\]\(([^)#:]+\.md)\)", page):
        assert (DOCS / name).is_file(), name
    assert (DOCS / "reproduction.json").stat().st_size < 1_000_000


def test_readme_has_the_verdicts(page):
    """The lines of the page, at most six, word for word (Markdown may break them)."""
    lines = re.search(r"^## What replicates\n\n((?:- .*\n)+)", page, re.MULTILINE).group(1).splitlines()
    assert 1 <= len(lines) <= 6
    readme = " ".join((ROOT / "README.md").read_text().split())
    for line in lines:
        assert " ".join(line.split()) in readme, line
