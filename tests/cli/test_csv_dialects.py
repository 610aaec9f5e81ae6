"""CSV as people have it: quoting, line ends, delimiters, headers, missing values; and random tables that Python's csv
module wrote, which must come back cell for cell."""

import csv
import io
import json
import math
import os
import pathlib
import subprocess
import tempfile

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

# name: content, options, the table it is
DIALECTS = {
    "plain": (b"a,b\n1,x\n2,y\n", [], {"a": [1, 2], "b": ["x", "y"]}),
    "CRLF": (b"a,b\r\n1,x\r\n2,y\r\n", [], {"a": [1, 2], "b": ["x", "y"]}),
    "CR": (b"a,b\r1,x\r2,y\r", [], {"a": [1, 2], "b": ["x", "y"]}),
    "no last line end": (b"a,b\n1,x\n2,y", [], {"a": [1, 2], "b": ["x", "y"]}),
    "byte order mark": (b"\xef\xbb\xbfa,b\n1,x\n2,y\n", [], {"a": [1, 2], "b": ["x", "y"]}),
    "semicolons": (b"a;b\n1;x,1\n2;y\n", [], {"a": [1, 2], "b": ["x,1", "y"]}),
    "tabs": (b"a\tb\n1\tx\n2\t\n", [], {"a": [1, 2], "b": ["x", None]}),
    "bars": (b"a|b\n1|x\n2|y\n", [], {"a": [1, 2], "b": ["x", "y"]}),
    "delimiter given": (b"a,b;c\np,q;3\n", ["--delimiter", "semicolon"], {"a,b": ["p,q"], "c": [3]}),
    "delimiters in a quoted header": (b'"a;;;b",c\n1,2\n', [], {"a;;;b": [1], "c": [2]}),
    "quotes": (b'a,"b"\n"1","x,\n""y"""\n', [], {"a": [1], "b": ['x,\n"y"']}),
    "quote inside a cell": (b'a,b\n1,5" disk\n', [], {"a": [1], "b": ['5" disk']}),
    "blanks around cells": (b'a , b\n 1 , x y \n2, "z" \n', [], {"a": [1, 2], "b": ["x y", "z"]}),
    "blank lines": (b"\na,b\n\n1,x\n\n\n2,y\n\n", [], {"a": [1, 2], "b": ["x", "y"]}),
    "no header": (b"1,x\n2,y\n", [], {"x1": [1, 2], "x2": ["x", "y"]}),
    "no header, said so": (b"u,x\nv,y\n", ["--header", "no"], {"x1": ["u", "v"], "x2": ["x", "y"]}),
    "header of numbers": (b"1990,1991\n1,2\n", ["--header", "yes"], {"1990": [1], "1991": [2]}),
    "header that counts": (b"0,1,2\n5,6,7\n", [], {"0": [5], "1": [6], "2": [7]}),
    "one column": (b"a\n1\n2\n", [], {"a": [1, 2]}),
    "missing": (b"a,b\n,x\nNA,?\nNaN,\n?,NA\n1,y\n", [], {"a": [None] * 4 + [1], "b": ["x", None, None, None, "y"]}),
    "quoted missing is text": (b'a,b\n1,"NA"\n2,"?"\n3,NA\n', [], {"a": [1, 2, 3], "b": ["NA", "?", None]}),
    "quoted empty is text": (b'a,b\n1,"x"\n2,""\n3,\n', [], {"a": [1, 2, 3], "b": ["x", "", None]}),
    "quoted empty late": (b"a\n" + b"1\n" * 3000 + b'""\nx\n', [], {"a": ["1"] * 3000 + ["", "x"]}),
    "quoted empty among numbers": (b'a,b\n"1","x"\n"","y"\n', ["--numeric", "a"], {"a": [1, None], "b": ["x", "y"]}),
    "quoted numbers and none": (b'"a"\n"1"\n""\n"3"\n', [], {"a": [1, None, 3]}),
    "missing given": (b"a,b\n-9,x\nNA,.\n", ["--missing=-9,."], {"a": [None, None], "b": ["x", None]}),
    "numbers": (b"a\n+1.5\n-2e3\n.5\n1e-3\n1E2\n", [], {"a": [1.5, -2000, 0.5, 0.001, 100]}),
    "infinite": (b"a\ninf\n-inf\nInfinity\n", [], {"a": [math.inf, -math.inf, math.inf]}),
    "categories by wish": (b"a,b\n1,10\n2,9\n", ["--categorical", "b"], {"a": [1, 2], "b": ["10", "9"]}),
    "categories by position": (b"a,b\n1,10\n2,9\n", ["--categorical=-1"], {"a": [1, 2], "b": ["10", "9"]}),
    "late text": (b"a\n" + b"1\n" * 3000 + b"x\n", [], {"a": ["1"] * 3000 + ["x"]}),
    "too large for a number": (b"a\n1\n1e39\n", [], {"a": ["1", "1e39"]}),
}


def decoded(path) -> dict:
    """The columns of an NPZ of ours in Python's terms."""
    arrays = np.load(path, allow_pickle=False)
    table = {}
    for column, values in zip(json.loads(str(arrays["meta"]))["columns"], arrays["values"].T, strict=True):
        present = [None if math.isnan(value) else float(value) for value in values]
        if column["kind"] == "categorical":
            present = [None if code is None else column["levels"][int(code)] for code in present]
        table[column["name"]] = present
    return table


@pytest.mark.parametrize("case", DIALECTS)
def test_dialect(convert, tmp_path, case):
    content, options, expected = DIALECTS[case]
    (tmp_path / "x.csv").write_bytes(content)
    found = decoded(convert("x.csv", "y.npz", *options))
    assert list(found) == list(expected)
    for name, values in expected.items():
        exact = [float(np.float32(value)) if isinstance(value, int | float) else value for value in values]
        assert found[name] == exact


def test_long_whole_numbers_are_counted(assay, described, tmp_path):
    """Nobody learns by accident that an account number was rounded."""
    (tmp_path / "x.csv").write_text("id,n\n16777216,1\n16777217,2\n123456789,3\n")
    assert [column["rounded"] for column in described("x.csv")["columns"]] == [2, 0]
    written = assay("data", "x.csv", "--out", "y.csv")
    assert written.returncode == 0
    assert written.stderr.startswith("rounded to float32: numbers beyond 2^24 in 'id'; ")
    kept = assay("data", "x.csv", "--out", "y.csv", "--categorical", "id")
    assert (kept.returncode, kept.stderr) == (0, "")
    assert "16777217" in (tmp_path / "y.csv").read_text()


def test_a_cell_may_be_longer_than_the_buffer(convert, tmp_path):
    text = 'x"y,\n' * 200_000
    with open(tmp_path / "x.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b"], [1, text], [2, "short"]])
    assert decoded(convert("x.csv", "y.npz")) == {"a": [1, 2], "b": [text, "short"]}


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NUMBER = st.one_of(st.none(), st.floats(width=32, allow_nan=False), st.integers(-(2**24), 2**24).map(float))


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 8))
    names = draw(st.lists(TEXT.map("c".__add__), min_size=1, max_size=5, unique=True))
    column = st.one_of(
        st.lists(st.one_of(st.none(), TEXT), min_size=rows, max_size=rows),
        st.lists(NUMBER, min_size=rows, max_size=rows),
    )
    return {name: draw(column) for name in names}


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    table=tables(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    style=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_random_tables_of_the_csv_module(program, table, delimiter, line_end, style):
    """Any text (commas, quotes, line ends, other scripts) and any float32 survive CSV -> NPZ and CSV -> CSV."""
    # In quotes "inf" is a word.
    assume(style != csv.QUOTE_ALL or not any(value in (math.inf, -math.inf) for one in table.values() for value in one))
    text = [str(i + 1) for i, values in enumerate(table.values()) if any(isinstance(v, str) for v in values)]
    real = [str(i + 1) for i in range(len(table)) if str(i + 1) not in text]
    options = [f"--categorical={','.join(text)}"] * bool(text) + [f"--numeric={','.join(real)}"] * bool(real)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        content = io.StringIO(newline="")
        writer = csv.writer(content, delimiter=delimiter, lineterminator=line_end, quoting=style)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        (folder / "x.csv").write_bytes(content.getvalue().encode())
        said = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}[delimiter]
        for out in ("y.npz", "y.csv"):
            command = [program, "data", "x.csv", "--header=yes", f"--delimiter={said}", *options, "--out", out]
            result = subprocess.run(command, cwd=folder, env=dict(os.environ), capture_output=True, text=True)
            assert (result.returncode, result.stderr) == (0, "")
        # Python's csv module writes None in quotes as well, and in quotes it is the empty text.
        expected = {
            column: values if str(i + 1) in real else ["" if value is None else value for value in values]
            for i, (column, values) in enumerate(table.items())
        }
        assert decoded(folder / "y.npz") == expected
        with open(folder / "y.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file, strict=True)
        assert header == list(table)
        for position, (column, values) in enumerate(expected.items()):
            found = [row[position] for row in rows]
            if str(position + 1) in real:
                found = [None if cell in ("", "NA") else float(np.float32(cell)) for cell in found]
            assert found == values, column
