"""The Python of README, docs and examples runs, and prints what the pages say.

All ```python blocks of a page are one program. A ```text block right below one holds what it prints; in it a line "..."
stands for any lines, and "..." within a line for any text. Blocks that need other libraries are marked ```py and run
by tests/peers/test_pages.py.
"""

import re

import pytest
from pages import ROOT, pattern_of, python, run_python_blocks

PAGES = sorted(path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if "\n```python\n" in path.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_print_what_they_say(page, tmp_path):
    run_python_blocks(page, tmp_path)


def test_the_pattern_can_fail(tmp_path):
    assert re.fullmatch(pattern_of("a\n...\nc\n"), "a\nb\nb\nc\n")
    assert re.fullmatch(pattern_of("a\n...\n"), "a\n")
    assert re.fullmatch(pattern_of("time ... s\n"), "time 3 s\n")
    assert not re.fullmatch(pattern_of("a\n...\nc\n"), "a\nb\n")
    assert not re.fullmatch(pattern_of("a\n"), "a\nb\n")
    page = tmp_path / "page.md"
    page.write_text("\n```py\nprint(1)\n```\n```text\n1\n```\n\n```py\nprint(2)\n```\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match="instead of\n3"):
        run_python_blocks(page, tmp_path, "py")


@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(script, tmp_path, request):
    text = script.read_text()
    pytest.importorskip("sklearn", reason="the examples use scikit-learn")
    if re.search(r"^import xgboost$", text, re.MULTILINE):
        pytest.importorskip("xgboost", reason=f"{script.name} trains with XGBoost: run by `make test-peers`")
    if '"adult"' in text or '"german"' in text:
        request.getfixturevalue("data_dir")
    result = python(script, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.count("\n") >= 5
