"""The Python of README, docs and examples runs, and prints what the pages say.

All ```python blocks of a page are one program. A ```text block right below one holds what it prints; in it a line "..."
stands for any lines, and "..." within a line for any text.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if "\n```python\n" in path.read_text())
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
MARK = "-- end of block --"


def python(script, cwd):
    package = os.pathsep.join([str(ROOT / "build" / "python"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": package},
    )


def pattern_of(expected):
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in expected.rstrip("\n").split("\n")]
    text = "\n".join(lines)
    # A line of its own stands for any number of lines, also none.
    return re.sub(r"(?m)^\.\*$\n?", r"(?:.*\n)*", text + "\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_print_what_they_say(page, tmp_path):
    blocks = BLOCK.findall(page.read_text())
    script = tmp_path / "page.py"
    script.write_text("\n".join(f"{code}\nprint({MARK!r})" for code, _ in blocks))
    result = python(script, tmp_path)
    assert result.returncode == 0, result.stderr
    printed = result.stdout.split(f"{MARK}\n")[:-1]
    assert len(printed) == len(blocks)
    for (code, expected), found in zip(blocks, printed, strict=True):
        found = re.sub(r"[ \t]+$", "", found, flags=re.MULTILINE)
        assert re.fullmatch(pattern_of(expected) if expected else ".*", found, re.DOTALL if not expected else 0), (
            f"{page.name}:\n{code}\nprinted\n{found}\ninstead of\n{expected}"
        )


def test_the_pattern_can_fail():
    assert re.fullmatch(pattern_of("a\n...\nc\n"), "a\nb\nb\nc\n")
    assert re.fullmatch(pattern_of("a\n...\n"), "a\n")
    assert re.fullmatch(pattern_of("time ... s\n"), "time 3 s\n")
    assert not re.fullmatch(pattern_of("a\n...\nc\n"), "a\nb\n")
    assert not re.fullmatch(pattern_of("a\n"), "a\nb\n")


@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(script, tmp_path, request):
    pytest.importorskip("sklearn", reason="the examples use scikit-learn")
    if '"adult"' in script.read_text():
        request.getfixturevalue("data_dir")
    result = python(script, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.count("\n") >= 5
