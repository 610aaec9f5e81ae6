"""docs/security.md states the limits that the tests hold files to."""

from formats import FORMATS, MIB


def row(name):
    form = FORMATS[name]
    memory = f"{form.base // MIB} MiB + {form.multiple} n"
    return f"| {name} | {memory} | {form.seconds:g} s + {form.per_megabyte:g} s for each MB |"


def test_the_page_has_the_table_of_the_tests(root):
    page = (root / "docs" / "security.md").read_text()
    assert [row(name) for name in FORMATS if row(name) not in page] == []


def test_the_page_counts_every_fuzz_target(root):
    page = (root / "docs" / "security.md").read_text()
    targets = sorted(path.stem for path in (root / "fuzz").glob("*/*.cpp"))
    assert len(targets) >= 20
    assert [name for name in targets if f"| {name} |" not in page] == []
