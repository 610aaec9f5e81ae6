"""What a terminal would obey instead of show never reaches it: not in messages, not in tables."""

import sys
import unicodedata

import pytest

# The independent list: Python's own tables of Unicode.
UNSEEN = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")]
IN_CELLS = [c for c in UNSEEN if c not in "\0"]  # which no CSV may hold


def harmless(text: str):
    found = {f"U+{ord(c):04X}" for c in text if c in UNSEEN and c != "\n"}
    assert not found


def quoted(cells):
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells) + "\n"


@pytest.fixture
def hostile(assay, tmp_path):
    """x.csv: names of columns, categories, classes and rows that hold every such character, and m.onnx of it."""
    names = [f"n{i}{c}x" for i, c in enumerate(IN_CELLS)]
    some = [IN_CELLS[i] for i in range(len(IN_CELLS)) if IN_CELLS[i] in "\x1b\x9b‮⁦\u2028"]
    header = quoted(["row", *names[:40], "category", "class"])
    rows = [
        quoted([f"id{IN_CELLS[i % len(IN_CELLS)]}{i}", *(f"{(i * 7 + j * 3) % 11}" for j in range(40))])[:-1]
        + ","
        + quoted([f"c{IN_CELLS[i % len(IN_CELLS)]}", f"y{some[i % 2]}"])
        for i in range(60)
    ]
    (tmp_path / "x.csv").write_text(header + "".join(rows), encoding="utf-8", newline="")
    (tmp_path / "wide.csv").write_text(quoted(names) + quoted(["1"] * len(names)), encoding="utf-8", newline="")
    options = ("--label", "class", "--id", "row")
    made = assay(
        "train", "--data", "x.csv", *options, "--unseen", "unknown", "--training", "epochs=2", "--out", "m.onnx"
    )
    assert made.returncode == 0
    harmless(made.stdout + made.stderr)
    return options


def test_messages(assay, tmp_path):
    """Names of files, columns and options in the sentence that refuses them."""
    for character in IN_CELLS:
        (tmp_path / "bad.csv").write_text(quoted([f"a{character}b", f"a{character}b"]) + "1,2\n", newline="")
        for result in (assay("describe", "bad.csv"), assay("describe", f"no{character}ne.csv")):
            assert result.returncode == 1 and result.stderr.count("\n") == 1
            harmless(result.stderr)
            assert f"{ord(character):x}" in result.stderr
        if ord(character) % 16 == 0:
            harmless(assay("describe", "iris", f"--{character}").stderr)
            harmless(assay(f"{character}", "iris").stderr)


def test_tables(assay, hostile):
    model = ("--model", "m.onnx", "--data", "x.csv", *hostile)
    assert assay("explain", *model, "--method", "gradient_x_input", "--out", "p.npz").returncode == 0
    assert assay("explain", *model, "--method", "occlusion", "--baseline", "zero", "--out", "q.npz").returncode == 0
    commands = [
        ("describe", "x.csv", *hostile),
        ("describe", "wide.csv"),
        ("neighbours", "x.csv", *hostile, "--k", "2"),
        ("predict", *model, "--out", "made.csv"),
        ("inspect", "m.onnx"),
        ("explain", *model, "--method", "gradient_x_input"),
        ("evaluate", *model, "--explanations", "p.npz", "--criteria", "complexity"),
        ("aggregate", "--members", "p.npz,q.npz", "--aggregator", "mean"),
        (
            "study",
            "--data",
            "x.csv",
            "--split",
            "test",
            *hostile,
            "--sample",
            "8",
            "--methods",
            "gradient_x_input,occlusion",
            "--criteria",
            "complexity",
            "--aggregators",
            "none",
            "--no-curves",
            "--no-variations",
        ),
    ]
    for command in commands:
        result = assay(*command)
        assert result.returncode == 0, (command, result.stderr)
        harmless(result.stdout + result.stderr)
