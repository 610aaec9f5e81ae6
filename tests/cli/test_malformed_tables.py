"""Malformed text tables, wrong options and wrong outputs: each is exit code 1, one clear sentence that names the
place, nothing on stdout, and an old output file left as it was (the `refused` fixture checks all of that)."""

import os

import pytest

LATE = b"".join(b"%d,%d\n" % (i, i) for i in range(5000))  # beyond the rows looked at to guess kinds

# name: content, options, what the sentence starts with, words that must be in it
CSV = {
    "ragged row, too short": (b"a,b,c\n1,2,3\n4,5\n", [], "bad.csv, line 3", ["3 cells", "found 2"]),
    "ragged row, too long": (b"a,b\n1,2\n3,4,5\n", [], "bad.csv, line 3", ["2 cells", "found 3"]),
    "ragged row, late": (b"a,b\n" + LATE + b"1\n", [], "bad.csv, line 5002", ["2 cells"]),
    "ragged row after CRLF": (b"a,b\r\n1,2\r\n3\r\n", [], "bad.csv, line 3", ["2 cells"]),
    "ragged row after CR": (b"a,b\r1,2\r3\r", [], "bad.csv, line 3", ["2 cells"]),
    "ragged row after a quoted line end": (b'a,b\n"x\ny\nz",1\n3\n', [], "bad.csv, line 5", ["2 cells"]),
    "ragged row after blank lines": (b"\na,b\n\n1,2\n\n3\n", [], "bad.csv, line 6", ["2 cells"]),
    "text in a declared number": (
        b"a,b\n1,2\n3,x1\n",
        ["--numeric", "b"],
        "bad.csv, line 3, column 2 ('b')",
        ["a number", "'x1'"],
    ),
    "text in a declared number, late": (
        b"a,b\n" + LATE + b"7,seven\n",
        ["--numeric", "1,2"],
        "bad.csv, line 5002, column 2 ('b')",
        ["'seven'"],
    ),
    "text in a declared number, no header": (
        b"1,2\n3,x\n",
        ["--numeric", "2", "--header", "no"],
        "bad.csv, line 2, column 2 ('x2')",
        ["'x'"],
    ),
    "too large for float32": (
        b"a\n1\n1e39\n",
        ["--numeric", "a"],
        "bad.csv, line 3, column 1 ('a')",
        ["float32", "'1e39'"],
    ),
    "too large for float64": (b"a\n1\n-1e999\n", ["--numeric", "a"], "bad.csv, line 3, column 1 ('a')", ["'-1e999'"]),
    "hexadecimal": (b"a\n1\n0x10\n", ["--numeric", "a"], "bad.csv, line 3, column 1 ('a')", ["'0x10'"]),
    "two signs": (b"a\n1\n+-1\n", ["--numeric", "a"], "bad.csv, line 3, column 1 ('a')", ["'+-1'"]),
    "number and rest": (b"a\n1\n1.5 kg\n", ["--numeric", "a"], "bad.csv, line 3, column 1 ('a')", ["'1.5 kg'"]),
    "unterminated quote": (b'a,b\n1,"2\n3,4\n', [], "bad.csv, line 2, column 2", ["closing quote", "end of the file"]),
    "unterminated quote, late": (b"a,b\n" + LATE + b'1,"2\n', [], "bad.csv, line 5002, column 2", ["closing quote"]),
    "unterminated quote in the header": (b'a,"b\n1,2\n', [], "bad.csv, line 1, column 2", ["closing quote"]),
    "text after a closing quote": (b'a,b\n"1"x,2\n', [], "bad.csv, line 2, column 1", ["closing quote", "'x'"]),
    "control character after a quote": (b'a,b\n"1"\x07,2\n', [], "bad.csv, line 2, column 1", ["\\x07"]),
    "duplicate header": (b"a,b,a\n1,2,3\n", [], "bad.csv, line 1, column 3", ["'a' again"]),
    "duplicate header in quotes": (b'a,b,"a"\n1,2,3\n', [], "bad.csv, line 1, column 3", ["'a' again"]),
    "empty header": (b"a,,c\n1,2,3\n", [], "bad.csv, line 1, column 2", ["name", "empty"]),
    "blank header": (b"a, \t ,c\n1,2,3\n", [], "bad.csv, line 1, column 2", ["name", "empty"]),
    "empty file": (b"", [], "bad.csv", ["empty file"]),
    "only line ends": (b"\n\r\n\n", [], "bad.csv", ["empty file"]),
    "only a byte order mark": (b"\xef\xbb\xbf", [], "bad.csv", ["empty file"]),
    "header only": (b"a,b,c\n", [], "bad.csv", ["row below the header", "none"]),
    "header only, without a line end": (b"a,b,c", [], "bad.csv", ["row below the header", "none"]),
    "NUL byte": (b"a,b\n1,2\n3,\x004\n", [], "bad.csv, line 3, column 2", ["NUL"]),
    "NUL byte in quotes": (b'a,b\n1,2\n3,"\x00"\n', [], "bad.csv, line 3, column 2", ["NUL"]),
    "NUL byte in the header": (b"a,b\x00\n1,2\n", [], "bad.csv, line 1, column 2", ["NUL"]),
    "NUL byte, late": (b"a,b\n" + LATE + b"1,\x00\n", [], "bad.csv, line 5002, column 2", ["NUL"]),
    "invalid UTF-8": (b"a,b\n1,x\n2,\xff\n", [], "bad.csv, line 3, column 2", ["UTF-8"]),
    "invalid UTF-8, cut": (b"a,b\n1,x\n2,caf\xc3\n", [], "bad.csv, line 3, column 2", ["UTF-8"]),
    "invalid UTF-8, overlong": (b"a,b\n1,\xc0\xaf\n", [], "bad.csv, line 2, column 2", ["UTF-8"]),
    "invalid UTF-8, surrogate": (b"a,b\n1,\xed\xa0\x80\n", [], "bad.csv, line 2, column 2", ["UTF-8"]),
    "Latin-1 header": ("größe,b\n1,2\n".encode("latin-1"), [], "bad.csv, line 1, column 1", ["UTF-8"]),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), [], "bad.csv", ["UTF-16"]),
    "UTF-16, big-endian": (b"\xfe\xff" + "a,b\n1,2\n".encode("utf-16-be"), [], "bad.csv", ["UTF-16"]),
    "UTF-16 without its mark": ("a,b\n1,2\n".encode("utf-16-le"), [], "bad.csv, line 1, column 1", ["NUL"]),
    "unknown label": (b"age,b\n1,2\n", ["--label", "agee"], "bad.csv", ["'agee'", "did you mean 'age'?", "'b'"]),
    "unknown id": (b"a,b\n1,2\n", ["--id", "name"], "bad.csv", ["'name'", "'a' and 'b'"]),
    "unknown numeric": (b"a,b\n1,2\n", ["--numeric", "a,zzz"], "bad.csv", ["'zzz'"]),
    "unknown categorical": (b"a,b\n1,2\n", ["--categorical", "zzz"], "bad.csv", ["'zzz'"]),
    "label position 0": (b"a,b\n1,2\n", ["--label", "0"], "bad.csv", ["1 to 2", "found 0"]),
    "label position too large": (b"a,b\n1,2\n", ["--label", "3"], "bad.csv", ["1 to 2", "found 3"]),
    "id position too small": (b"a,b\n1,2\n", ["--id=-3"], "bad.csv", ["-1 to -2", "found -3"]),
    "numeric position too large": (b"a,b\n1,2\n", ["--numeric", "7"], "bad.csv", ["found 7"]),
    "label and id at once": (b"a,b\n1,2\n", ["--label", "a", "--id", "1"], "bad.csv", ["'a'", "both label and id"]),
    "two kinds at once": (b"a,b\n1,2\n", ["--numeric", "a", "--categorical", "1"], "bad.csv", ["'a'", "twice"]),
    "wrong delimiter": (b"a;b\n1;2\n", ["--delimiter", "comma", "--label", "b"], "bad.csv", ["'b'", "'a;b'"]),
}


@pytest.mark.parametrize("case", CSV)
def test_malformed_csv(refused, tmp_path, case):
    content, options, start, words = CSV[case]
    (tmp_path / "bad.csv").write_bytes(content)
    sentence = refused("bad.csv", *options)
    assert sentence.startswith(start + ":")
    for word in words:
        assert word in sentence


# what, options, words
ENCODINGS = {
    "unknown option": ("iris", ["--encode", "one_hot:foo=1"], ["one_hot", "foo"]),
    "option that is nearly right": ("iris", ["--encode", "one_hot:scal=none"], ["scal", "did you mean 'scale'?"]),
    "bad choice": ("iris", ["--encode", "label:scale=huge"], ["scale", "standardise", "'huge'"]),
    "bad number": ("iris", ["--encode", "label:impute=constant:constant=abc"], ["constant", "'abc'"]),
    "bad flag": ("iris", ["--encode", "label:missing_level=maybe"], ["missing_level", "'maybe'"]),
    "unknown encoding": ("iris", ["--encode", "lable"], ["'lable'", "label"]),
    "two encodings": ("iris", ["--encode", "label,one_hot"], ["--encode", "one item"]),
    "option without value": ("iris", ["--encode", "label:scale"], ["--encode", "'scale'"]),
    "option twice": ("iris", ["--encode", "label:scale=none:scale=none"], ["scale", "twice"]),
    "open bracket": ("iris", ["--encode", "label:scale=[none"], ["--encode", "']'"]),
    "no name": ("iris", ["--encode", ":scale=none"], ["--encode", "a name"]),
    "regression of categories": ("iris", ["--encode", "label:task=regression"], ["iris", "regression"]),
    "nothing to impute": ("gaps.csv", ["--encode", "label:impute=mean"], ["gaps.csv", "'b'", "mean"]),
    "category unseen in training": (
        "new.csv",
        ["--split", "test", "--encode", "label"],
        ["new.csv", "'word'", "categories of the training rows"],
    ),
}


@pytest.mark.parametrize("case", ENCODINGS)
def test_wrong_encoding(refused, tmp_path, case):
    (tmp_path / "gaps.csv").write_text("a,b\n1,\n2,\n")
    (tmp_path / "new.csv").write_text("n,word\n" + "".join(f"{i},word{i}\n" for i in range(50)))
    what, options, words = ENCODINGS[case]
    sentence = refused(what, *options)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("option", ["--label", "--id", "--numeric", "--categorical"])
def test_unknown_column_of_a_data_set(refused, option):
    """Options about columns mean the same for a data set as for a file; none is silently ignored."""
    sentence = refused("iris", option, "no_such_column")
    assert "iris" in sentence and "'no_such_column'" in sentence


def test_text_column_of_a_data_set_declared_numeric(refused):
    assert "'species'" in refused("iris", "--numeric", "species")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.csv", ["missing.csv", "No such file"]),
        ("missing.npz", ["missing.npz", "No such file"]),
        ("missing.parquet", ["missing.parquet", "No such file"]),
        ("folder.csv", ["folder.csv", "a folder"]),
        ("folder.npy", ["folder.npy", "a folder"]),
        ("table.docx", ["table.docx", ".csv", "'.docx'"]),
        ("./table", ["./table", ".csv", "without an extension"]),
        ("table.gz", ["table.gz", ".csv"]),
    ],
)
def test_no_such_table(refused, tmp_path, name, words):
    for folder in ("folder.csv", "folder.npy"):
        (tmp_path / folder).mkdir()
    for file in ("table.docx", "table", "table.gz"):
        (tmp_path / file).write_text("a,b\n1,2\n")
    sentence = refused(name)
    for word in words:
        assert word in sentence


def test_file_that_may_not_be_read(refused, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").chmod(0)
    assert "Permission denied" in refused("secret.csv")


@pytest.mark.parametrize("name", ["two\nlines.csv", "colour\x1b[31m.csv"])
def test_name_with_control_characters_stays_on_one_line(refused, tmp_path, name):
    """A hostile file name can neither break the one line nor reach the terminal."""
    (tmp_path / name).write_bytes(b"a,b\n1\n")
    assert "line 2" in refused(name)


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("no/such/folder/x.csv", ["no/such/folder/x.csv", "no folder no/such/folder"]),
        ("folder.csv", ["folder.csv", "a folder"]),
        ("x.docx", ["x.docx", "'.docx'"]),
        ("x", ["x", "without an extension"]),
        ("x.npy", ["x.npy", "categorical", "'species'"]),
        ("x.idx", ["x.idx", "categorical", "'species'"]),
        ("full.csv", ["full.csv", "No space left"]),
    ],
)
def test_output_that_cannot_be_written(assay, one_sentence, tmp_path, out, words):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "full.csv").symlink_to("/dev/full")
    sentence = one_sentence(assay("data", "iris", "--out", out))
    for word in words:
        assert word in sentence
    assert not [path.name for path in tmp_path.iterdir() if path.name not in ("folder.csv", "full.csv")]


@pytest.mark.parametrize("arguments", [["describe", "bad.csv"], ["neighbours", "bad.csv"]])
def test_every_command_refuses_alike(assay, one_sentence, tmp_path, arguments):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    assert one_sentence(assay(*arguments)).startswith("bad.csv, line 3:")
    assert one_sentence(assay(*arguments, "--json")).startswith("bad.csv, line 3:")


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("a,b\n1,2\n3,inf\n", [], ["wide.csv, row 2", "'b'", "finite"]),
        ("a,b\n1,2\n3,3e38\n", ["--space", "raw"], ["wide.csv, row 2", "'b'", "float32"]),
        ("a,b\n1,2\n3,4\n", ["--rows", "3"], ["--rows", "1 to 2", "found '3'"]),
        ("a,b\n1,2\n3,4\n", ["--rows", "0"], ["--rows", "1 to 2", "found '0'"]),
    ],
)
def test_rows_that_have_no_neighbours(assay, one_sentence, tmp_path, content, options, words):
    (tmp_path / "wide.csv").write_text(content)
    sentence = one_sentence(assay("neighbours", "wide.csv", *options))
    for word in words:
        assert word in sentence
