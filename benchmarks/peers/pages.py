"""What a run prints, and the pages it writes: docs/benchmarks.md, the pages that tables name, and README's table.

Everything comes from the facts of a run (build/bench/full.json), so that the same facts give the same pages.
"""

import inspect
import textwrap

from harness import ROOT, digits, seconds_text
from machine import machine

__all__ = ["machine", "print_workload", "write"]

WIDTH = 120
BEGIN, END = "<!-- measured: written by `make bench-peers` -->", "<!-- end of what was measured -->"
HOLDS = {None: "-", True: "yes", False: "NO"}
INTRO = """Assay and its peers in one run on one machine: the same models, rows, budgets and threads, each peer at its
best settings. The sides take turns, round by round, after a first round that does not count; times are medians of at
least five rounds, +- half the range between the quartiles, in the same unit. The ratio is the peer's time over Assay's.
Where two sides should give the same answer, the run compares the answers and fails if they differ. A bar is what must
hold; the last section lists those that do not, with the reason."""
HOW = """```sh
make bench-peers                             # everything; writes this page, and the table of README
make bench-peers BENCH=--quick               # smaller workloads, inside three minutes; writes no page
make bench-peers BENCH='--only trees'        # the workloads with this in their name
```

The first run makes the environment of the peers: of python3.13 or python3.12 where there is one, else of python3;
`PEERS_PYTHON` names another. From 3.12 on it is pinned in `tools/requirements/peers-3.12.txt`, before in
`tools/requirements/peers.txt`, where some peers are older and those that need a newer Python are left out. Adult and
MNIST are files you bring (`ASSAY_DATA`, [data.md](data.md)); workloads whose data is not there are left out. Each run
leaves its rows in `build/bench/peers.json`, and all numbers behind this page in `build/bench/full.json`."""


# Cells


def with_spread(value, spread):
    """A time and its spread in the same unit, to as many decimals."""
    text = seconds_text(value)
    number, unit = text.split(" ")
    scale = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    decimals = len(number.partition(".")[2])
    return f"{text} +- {spread * scale:,.{decimals}f}"


def ratio_text(row):
    return "-" if row["ratio"] is None else f"{digits(row['ratio'])}x"


def cells(row):
    """workload, peer, its time, Assay's time, ratio, bar, holds."""
    theirs = "-" if row["peer_s"] is None else with_spread(row["peer_s"], row["peer_spread_s"])
    name = row["workload"] + ("" if row["threads"] == 1 else f" ({row['threads']} threads)")
    ours = with_spread(row["assay_s"], row["assay_spread_s"])
    return [name, row["peer"] or "-", theirs, ours, ratio_text(row), row["bar"] or "-", HOLDS[row["holds"]]]


HEAD = ["workload", "peer", "peer's time", "Assay", "ratio", "bar", "holds"]
ERRORS = ["peer's error", "Assay's error"]


def compares_errors(row):
    """Whether the bar is about accuracy; then times only say what it cost."""
    return row.get("peer_error") is not None and row.get("assay_error") is not None


def row_table(rows):
    """Head and lines, with columns of errors where a row has them."""
    if not any(map(compares_errors, rows)):
        return HEAD, [cells(row) for row in rows]
    lines = []
    for row in rows:
        errors = [f"{row[side]:.3g}" for side in ("peer_error", "assay_error")] if compares_errors(row) else ["-", "-"]
        *front, bar, holds = cells(row)
        lines.append([*front, *errors, bar, holds])
    return [*HEAD[:5], *ERRORS, *HEAD[5:]], lines


def print_table(head, lines):
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    for line in [head, *lines]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_workload(found):
    print(f"\n{found['title']} ({found['name']}, {found['seconds']:.0f} s)")
    if found["rows"]:
        print_table(*row_table(found["rows"]))
    for table in found["tables"]:
        print(f"\n{table['title']}")
        print_table(table["head"], table["lines"])


# Markdown


def escaped(cell):
    """A cell's text; a pipe or a line break would end the cell."""
    return " ".join(cell.replace("\\|", "|").replace("|", "\\|").split())


def markdown_table(head, lines):
    for line in lines:
        if len(line) != len(head):
            raise ValueError(f"a line of {len(line)} cells under a head of {len(head)}: {line}")
    rows = [head, *lines]
    text = ["| " + " | ".join(map(escaped, line)) + " |" for line in rows]
    return "\n".join([text[0], "|" + "---|" * len(head), *text[1:]])


def paragraphs(text):
    """Prose filled to the width of a page; lists, tables and code stay as they are."""
    blocks = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        block if block.startswith(("- ", "|", "```", "    ", "#")) else filled(block) for block in blocks
    )


def filled(text):
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def joined(blocks):
    return "\n\n".join(block for block in blocks if block) + "\n"


def table_section(table):
    after = paragraphs(table["after"]) if table["after"] else ""
    text = paragraphs(table["text"]) if table["text"] else ""
    return [f"### {table['title']}", text, markdown_table(table["head"], table["lines"]), after]


def error_summary(rows):
    """One sentence for comparisons of errors, whose numbers are in the workload's tables."""
    good = sum(row["holds"] is not False for row in rows)
    bars = ", ".join(dict.fromkeys(row["bar"] or "-" for row in rows))
    which = "all of them" if good == len(rows) else f"{good} of them; the others are in the last section"
    larger = sum(row["holds"] is True and row["assay_error"] > row["peer_error"] for row in rows)
    noise = f" In {larger} of those ours is the larger one, by less than the noise allows." if larger else ""
    return filled(f"{len(rows)} comparisons of errors with those of peers (bar: {bars}). It holds in {which}.{noise}")


def section(workload):
    elsewhere = sorted({table["page"] for table in workload["tables"]} - {"benchmarks"})
    text = paragraphs(workload["text"])
    if elsewhere:  # That page has it whole.
        links = " and ".join(f"[{page}.md]({page}.md)" for page in elsewhere)
        text = text.split("\n\n")[0] + f"\n\nMore in {links}."
    blocks = [f"## {workload['title']}", text]
    if workload.get("left_out"):
        blocks.append(filled(f"Left out of this run: {workload['left_out']}."))
    timed = [row for row in workload["rows"] if not compares_errors(row)]
    errors = [row for row in workload["rows"] if compares_errors(row)]
    if timed:
        blocks.append(markdown_table(*row_table(timed)))
    if errors:
        blocks.append(error_summary(errors))
    for table in workload["tables"]:
        if table["page"] == "benchmarks":
            blocks += table_section(table)
    return blocks


def missed_line(row):
    if compares_errors(row):
        numbers = f"error {row['assay_error']:.3g}, the peer's {row['peer_error']:.3g}"
    elif row["peer_s"] is None:
        numbers = seconds_text(row["assay_s"])
    else:
        numbers = f"{seconds_text(row['assay_s'])}, the peer {seconds_text(row['peer_s'])}, {ratio_text(row)}"
    name, peer = cells(row)[:2]
    beside = f" beside {peer}" if row["peer"] else ""
    item = f"{name}{beside}: {numbers}; the bar is {row['bar']}."
    return textwrap.fill(item, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def missed_section(workloads):
    """Bars that do not hold, those of one reason together."""
    rows = [row for workload in workloads for row in workload["rows"]]
    missed = [row for row in rows if row["holds"] is False]
    judged = sum(row["holds"] is not None for row in rows)
    blocks = ["## Bars that do not hold"]
    if not missed:
        return [*blocks, f"None: all {judged} bars hold."]
    blocks.append(f"{len(missed)} of {judged}.")
    by_reason = {}
    for row in missed:
        by_reason.setdefault(row.get("reason"), []).append(row)
    for reason, some in by_reason.items():
        blocks.append("\n".join(map(missed_line, some)))
        blocks.append(paragraphs(reason) if reason else "No reason has been found yet.")
    return blocks


def slower_section(workloads):
    """Where a peer is faster and no bar speaks of it."""
    rows = [row for workload in workloads for row in workload["rows"] if not compares_errors(row)]
    slower = [row for row in rows if row["ratio"] is not None and row["ratio"] < 1 and row["holds"] is not False]
    lines = []
    for row in slower:
        name, peer, *_ = cells(row)
        times = f"{seconds_text(row['assay_s'])}, the peer {seconds_text(row['peer_s'])}, {ratio_text(row)}."
        item = f"{name} beside {peer}: {times}"
        lines.append(textwrap.fill(item, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False))
    return ["## Where a peer is faster", "\n".join(lines) or "Nowhere."]


def machine_section(results):
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    where = (
        f"{about['date']}: {about['processor']}, {about['cores']} cores, vector target {about['vector_target']}, "
        f"Assay {about['assay']}; {versions}."
    )
    pins = " and ".join(f"`{name}`" for name in about.get("pins", []))  # older runs did not say
    with_pins = f"The peers ran with Python {about['versions']['Python']} and the pins of {pins}." if pins else ""
    once = "" if results["one_run"] else "Some sections were measured again after the others, in runs of their own."
    return ["## The machine", filled(where), filled(with_pins), once]


GENERATED = "<!-- Written by `make bench-peers` from what it measured; edit benchmarks/peers, not this page. -->"


def benchmarks_page(results):
    blocks = [GENERATED, "# Side by side", filled(INTRO), "## How to run it", HOW, *machine_section(results)]
    for workload in results["workloads"]:
        blocks += section(workload)
    return joined([*blocks, *slower_section(results["workloads"]), *missed_section(results["workloads"])])


def other_page(workload, page):
    """A page of tables that one workload has beside its section."""
    text = [paragraphs(workload["text"]), "Measured as told in [benchmarks.md](benchmarks.md)."]
    blocks = [GENERATED, f"# {workload['title']}", *text]
    for table in workload["tables"]:
        if table["page"] == page:
            title, *rest = table_section(table)
            blocks += [title.removeprefix("#"), *rest]
    return joined(blocks)


# README


def same_or_each(texts):
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)


def front_name(row):
    """A row's name in README, with what its seconds are for and its threads."""
    unit = next((unit for unit in (", a row", ", a query") if row["workload"].endswith(unit)), "")
    name = row["front"] + ("" if row["front"].endswith(unit) else unit)
    return name + ("" if row["threads"] == 1 else f", {row['threads']} threads")


def front_table(results):
    """README's table: a line for each name, with all peers that share it."""
    lines = {}
    for workload in results["workloads"]:
        for row in workload["rows"]:
            if row["front"]:
                theirs = "-" if row["peer_s"] is None else seconds_text(row["peer_s"])
                line = (seconds_text(row["assay_s"]), row["peer"] or "-", theirs, ratio_text(row))
                lines.setdefault(front_name(row), []).append(line)
    rows = [[name, *map(same_or_each, zip(*found, strict=True))] for name, found in lines.items()]
    return markdown_table(["Adult, one thread, unless said", "Assay", "peer", "its time", "ratio"], rows)


def with_front(readme, results):
    """README with the table between the markers written anew."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("README.md has no markers around its measured table")
    once = "in one run" if results["one_run"] else "in one run, some parts of it once more,"
    text = f"""Measured {once} beside its peers, each at its best settings with the same model, rows and budget, on
one thread of {results["machine"]["processor"]} unless said (`make bench-peers`). "A row" is a call with many, 48,842 of
Adult unless it is slow for the peer, over their number; "the next row" is a call with one, of an `assay.Explainer` that
was made before, as the peer's was. Bars, spreads, models, accuracy, growth and many more rows:
[docs/benchmarks.md](docs/benchmarks.md)."""
    return "".join([before, BEGIN, "\n", filled(text), "\n\n", front_table(results), "\n", END, after])


def written(results, readme):
    """Every page by its path in the repository."""
    pages = {"docs/benchmarks.md": benchmarks_page(results), "README.md": with_front(readme, results)}
    for workload in results["workloads"]:
        for page in sorted({table["page"] for table in workload["tables"]} - {"benchmarks"}):
            pages[f"docs/{page}.md"] = other_page(workload, page)
    return pages


def write(results, root=ROOT):
    for path, text in written(results, (root / "README.md").read_text()).items():
        (root / path).write_text(text)
