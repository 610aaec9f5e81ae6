"""Pages made from a small made-up run; and of the repository's, that README says what docs/benchmarks.md says."""

import copy
import json
import re

import pytest

MACHINE = {
    "processor": "Example 9000",
    "cores": 2,
    "vector_target": "AVX3",
    "date": "2020-02-29",
    "assay": "0.1.0",
    "versions": {"Python": "3.11.2", "shap": "0.51.0"},
    "pins": ["tools/requirements/peers.txt"],
}


def row(workload, peer, peer_s, assay_s, **more):
    return {
        "workload": workload,
        "peer": peer,
        "peer_s": peer_s,
        "assay_s": assay_s,
        "ratio": None if peer_s is None else peer_s / assay_s,
        "bar": None,
        "holds": None,
        "peer_spread_s": None if peer_s is None else peer_s / 50,
        "assay_spread_s": assay_s / 50,
        "rounds": 5,
        "threads": 1,
        "front": None,
        **more,
    }


def table(title, head, lines, **more):
    return {"title": title, "head": head, "lines": lines, "text": "", "after": "", "page": "benchmarks", **more}


def workload(name, title, rows=(), tables=(), **more):
    found = {"name": name, "title": title, "text": "", "rows": list(rows), "tables": list(tables), "seconds": 1.0}
    return found | more


def results():
    games = [
        row("exact values, a row", "shap", 0.5, 0.001, bar=">= 300x", holds=True, front="exact values"),
        row("sampling", "shap", 0.02, 1e-5, bar=">= 300x", holds=True, front="sampling"),
        row("sampling", "Captum", 0.26, 1e-5, front="sampling"),
        row(
            "step", "PyTorch", 0.0026, 0.0028, bar=">= 1x", holds=False, threads=2, front="step", reason="Cold\ncaches."
        ),
    ]
    errors = [
        row("512 evaluations", "shapiq", 0.1, 0.1, bar="error", holds=True, peer_error=2e-4, assay_error=1e-4),
        row("1,024 evaluations", "shapiq", 0.1, 0.1, bar="error", holds=False, peer_error=2e-4, assay_error=3e-4),
    ]
    return {
        "quick": False,
        "one_run": True,
        "seconds": 100.0,
        "machine": MACHINE,
        "workloads": [
            workload("games", "Games", games, text="What is measured.\n\nMore of it."),
            workload("accuracy", "Accuracy", errors),
            workload("alone", "Alone", [row("a|b", None, None, 0.5, bar="<= 1.00 s", holds=True, front="alone")]),
            workload("truth", "Truth", (), [table("Found", ["x"], [["1"]], page="ground-truth", text="Of it.")]),
            workload("limit", "Limit", (), [table("Peak", ["path", "share"], [["a|b\nc", "25 %"]], after="Below.")]),
            workload("images", "Images", left_out="ASSAY_DATA has no mnist"),
        ],
    }


README = "# Assay\n\nbefore\n{begin}\nold | table\n{end}\nafter\n"


@pytest.fixture
def written(pages):
    return pages.written(results(), README.format(begin=pages.BEGIN, end=pages.END))


def test_a_row_of_the_page_has_times_spreads_ratio_and_bar(written):
    lines = written["docs/benchmarks.md"].splitlines()
    assert "| exact values, a row | shap | 500 ms +- 10 | 1.00 ms +- 0.02 | 500x | >= 300x | yes |" in lines
    assert "| step (2 threads) | PyTorch | 2.60 ms +- 0.05 | 2.80 ms +- 0.06 | 0.929x | >= 1x | NO |" in lines
    assert "| a\\|b | - | - | 500 ms +- 10 | - | <= 1.00 s | yes |" in lines


def test_what_is_slower_without_a_bar_is_listed(pages):
    rows = [row("read", "pandas", 0.4, 0.5), row("load", "onnxruntime", 0.6, 0.5), row("alone", None, None, 0.5)]
    rows.append(row("step", "PyTorch", 0.4, 0.5, bar=">= 1x", holds=False))  # the last section has it
    title, lines = pages.slower_section([{"rows": rows}])
    assert title == "## Where a peer is faster"
    assert lines == "- read beside pandas: 500 ms, the peer 400 ms, 0.800x."
    assert pages.slower_section([{"rows": rows[1:]}])[1] == "Nowhere."


def test_sections_are_in_order_and_say_what_was_left_out(written):
    page = written["docs/benchmarks.md"]
    titles = re.findall("^## (.*)", page, re.MULTILINE)
    expected = ["Games", "Accuracy", "Alone", "Truth", "Limit", "Images"]
    expected += ["Where a peer is faster", "Bars that do not hold"]
    assert titles == ["How to run it", "The machine", *expected]
    assert "2020-02-29: Example 9000, 2 cores, vector target AVX3, Assay 0.1.0; Python 3.11.2, shap 0.51.0." in page
    assert "## Games\n\nWhat is measured.\n\nMore of it.\n\n| workload |" in page
    assert "## Images\n\nLeft out of this run: ASSAY_DATA has no mnist.\n" in page
    assert "### Peak\n\n| path | share |\n|---|---|\n| a\\|b c | 25 % |\n\nBelow.\n" in page
    assert "runs of their own" not in page


def test_parts_measured_later_are_told(pages):
    assert "in runs of their own." in pages.benchmarks_page(results() | {"one_run": False})


def test_errors_are_counted_and_not_shown_as_times(written):
    page = written["docs/benchmarks.md"]
    assert "## Accuracy\n\n2 comparisons of errors with those of peers (bar: error). It holds in 1 of them;" in page
    assert "| 512 evaluations" not in page


def test_missed_bars_are_listed_with_their_reasons(written):
    _, found = written["docs/benchmarks.md"].split("## Bars that do not hold\n")
    assert found == (
        "\n2 of 6.\n\n"
        "- step (2 threads) beside PyTorch: 2.80 ms, the peer 2.60 ms, 0.929x; the bar is >= 1x.\n\n"
        "Cold caches.\n\n"
        "- 1,024 evaluations beside shapiq: error 0.0003, the peer's 0.0002; the bar is error.\n\n"
        "No reason has been found yet.\n"
    )


def test_bars_of_one_reason_stand_together(pages):
    made = results()
    for each in made["workloads"][:2]:
        each["rows"][-1]["reason"] = "Both alike."
    found = pages.benchmarks_page(made)
    assert found.count("Both alike.") == 1 and found.endswith("the bar is error.\n\nBoth alike.\n")


def test_no_missed_bar_is_said_with_their_number(pages):
    made = results()
    for each in made["workloads"]:
        each["rows"] = [one for one in each["rows"] if one["holds"] is not False]
    assert pages.benchmarks_page(made).endswith("## Bars that do not hold\n\nNone: all 4 bars hold.\n")


def test_readmes_table_joins_the_peers_of_a_name(pages, written):
    readme = written["README.md"]
    assert readme.startswith(f"# Assay\n\nbefore\n{pages.BEGIN}\n") and readme.endswith(f"|\n{pages.END}\nafter\n")
    assert "old | table" not in readme and "Example 9000" in readme and "`make bench-peers`" in readme
    assert [line for line in readme.splitlines() if line.startswith("| ")] == [
        "| Adult, one thread, unless said | Assay | peer | its time | ratio |",
        "| exact values, a row | 1.00 ms | shap | 500 ms | 500x |",
        "| sampling | 10.0 us | shap; Captum | 20.0 ms; 260 ms | 2,000x; 26,000x |",
        "| step, 2 threads | 2.80 ms | PyTorch | 2.60 ms | 0.929x |",
        "| alone | 500 ms | - | - | - |",
    ]


def test_readme_without_markers_is_refused(pages):
    for broken in ("# Assay\n", f"{pages.BEGIN}\n", f"{pages.END}\n{pages.BEGIN}\n"):
        with pytest.raises(ValueError, match="markers"):
            pages.with_front(broken, results())


def test_tables_may_have_a_page_of_their_own(written):
    assert set(written) == {"docs/benchmarks.md", "docs/ground-truth.md", "README.md"}
    page = written["docs/ground-truth.md"]
    assert "# Truth\n" in page and page.endswith("## Found\n\nOf it.\n\n| x |\n|---|\n| 1 |\n")
    assert "[ground-truth.md](ground-truth.md)" in written["docs/benchmarks.md"]
    assert "### Found" not in written["docs/benchmarks.md"]


def test_a_table_with_a_line_of_another_length_is_refused(pages):
    with pytest.raises(ValueError, match="2 cells under a head of 1"):
        pages.markdown_table(["x"], [["1", "2"]])


def test_the_same_facts_give_the_same_pages(pages, written, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(README.format(begin=pages.BEGIN, end=pages.END))
    for _ in range(2):  # The second run finds the tables of the first.
        pages.write(json.loads(json.dumps(results())), tmp_path)
        assert {path: (tmp_path / path).read_text() for path in written} == written


def test_prose_is_filled_and_lists_are_kept(pages):
    long = " ".join(["word"] * 40)
    text = pages.paragraphs(f"""{long}

        - a
        - b""")
    first, items = text.split("\n\n")
    assert items == "- a\n- b"
    assert first.split() == long.split() and max(map(len, first.splitlines())) <= pages.WIDTH


def test_what_is_printed_is_aligned(pages, capsys):
    for each in results()["workloads"]:
        pages.print_workload(copy.deepcopy(each))
    lines = capsys.readouterr().out.splitlines()
    games = lines.index("Games (games, 1 s)")
    head, first, *_, last = lines[games + 1 : games + 6]
    assert head.split() == ["workload", "peer", "peer's", "time", "Assay", "ratio", "bar", "holds"]
    assert head.index("holds") == first.index("yes") == last.index("NO")
    assert any(line.endswith("0.0002        0.0003         error  NO") for line in lines)
    assert "Peak" in lines


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def comparisons(name, *columns):
    """What a line of README's table says of each of its peers; a column of one text is the same for all of them."""
    parts = [column.split("; ") for column in columns]
    most = max(map(len, parts))
    assert all(len(part) in (1, most) for part in parts), name
    return list(zip(*(part * (most // len(part)) for part in parts), strict=True))


def test_what_readme_says_was_measured_is_on_the_page(root, pages):
    readme, page = (root / "README.md").read_text(), (root / "docs" / "benchmarks.md").read_text()
    assert readme.count(pages.BEGIN) == readme.count(pages.END) == 1
    said = [line for line in readme.split(pages.BEGIN)[1].split(pages.END)[0].splitlines() if line.startswith("|")]
    lines = [cells(line) for line in page.splitlines() if line.startswith("|")]
    times = [[cell.split(" +- ")[0] for cell in line] for line in lines if len(line) == len(pages.HEAD)]
    measured = {(ours, peer, theirs, ratio) for _, peer, theirs, ours, ratio, *_ in times}
    assert len(said) > 2
    for line in said[2:]:
        for found in comparisons(*cells(line)):
            assert found in measured, f"docs/benchmarks.md does not have what README says: {line}"


def test_a_line_of_readme_is_taken_apart(pages):
    line = "| sampling | 10 us | shap; Captum | 20 ms; 260 ms | 2,000x; 26,000x |"
    expected = [("10 us", "shap", "20 ms", "2,000x"), ("10 us", "Captum", "260 ms", "26,000x")]
    assert comparisons(*cells(line)) == expected
    assert cells(r"| a\|b | c |") == [r"a\|b", "c"]


def test_the_python_and_the_pins_of_the_peers_are_told(pages, written):
    said = "The peers ran with Python 3.11.2 and the pins of `tools/requirements/peers.txt`."
    assert f"\n\n{said}\n\n" in written["docs/benchmarks.md"]
    made = results()
    made["machine"] = {name: value for name, value in MACHINE.items() if name != "pins"}  # what older runs left
    assert "The peers ran with" not in pages.benchmarks_page(made)


@pytest.mark.parametrize("pins", ["peers.txt", "peers-3.12.txt"])
def test_pinned_peers_are_the_ones_whose_versions_are_told(root, machine, pins):
    pinned = {line.split("==")[0] for line in (root / "tools" / "requirements" / pins).read_text().split()}
    assert set(machine.PEERS) <= pinned


def test_pins_are_those_that_were_installed(machine, tmp_path):
    assert machine.pins(tmp_path) == []
    (tmp_path / ".installed-peers-3.12.txt").touch()
    assert machine.pins(tmp_path) == ["tools/requirements/peers-3.12.txt"]


def test_the_machine_has_a_processor_and_a_vector_target(machine):
    found = machine.machine()
    assert found["processor"] and found["vector_target"] and found["cores"] >= 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert list(found["versions"]) == ["Python", *machine.PEERS]
