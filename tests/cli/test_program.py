"""The program's manners: exit codes, JSON everywhere, silence when asked for, progress only where a person looks."""

import json
import os
import pty
import re
import signal
import subprocess
import threading
import time

import numpy as np
import pytest


def strict_json(text: str):
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["explode"],
        ["list"],
        ["list", "nothing"],
        ["data"],
        ["data", "iris"],
        ["describe"],
        ["neighbours"],
        ["describe", "iris", "--colour"],
        ["--colour", "describe", "iris"],
        ["describe", "iris", "extra"],
        ["describe", "iris", "--split", "half"],
        ["describe", "iris", "--delimiter", "x"],
        ["describe", "iris", "--header", "maybe"],
        ["neighbours", "iris", "--k", "0"],
        ["neighbours", "iris", "--k", "x"],
        ["neighbours", "iris", "--norm", "l3"],
        ["neighbours", "iris", "--space", "outer"],
        ["neighbours", "iris", "--radius", "-1"],
        ["neighbours", "iris", "--k", "3", "--radius", "1"],
        ["neighbours", "iris", "--rows", "one"],
        ["describe", "iris", "--threads", "-1"],
        ["describe", "iris", "--threads", "5000"],
        ["describe", "iris", "--seed", "-1"],
        ["describe", "iris", "--seed", "18446744073709551616"],
        ["describe", "iris", "--seed", "x"],
        ["describe", "iris", "--label"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_exit_code_2(assay, arguments):
    result = assay(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(r"assay: [^\n]+--help[^\n]+\n", result.stderr)


def test_help_and_version(assay):
    version = assay("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", version.stdout)
    whole = assay("--help")
    assert (whole.returncode, whole.stderr) == (0, "")
    for command in ("list", "data", "describe", "neighbours"):
        assert re.search(rf"^ +{command} ", whole.stdout, re.MULTILINE)
        own = assay(command, "--help")
        assert (own.returncode, own.stderr) == (0, "")
        assert len(own.stdout) > 100
    for option in ("--seed", "--threads", "--quiet", "--json", "--data-dir"):
        assert option in whole.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "datasets"],
        ["describe", "iris"],
        ["describe", "odd.csv"],
        ["data", "iris", "--out", "x.csv"],
        ["neighbours", "iris", "--rows", "1,2"],
        ["neighbours", "odd.csv"],
        ["neighbours", "iris", "--rows", "1", "--radius", "0"],
    ],
    ids=" ".join,
)
def test_json_everywhere(assay, tmp_path, arguments):
    """The flag works before and after the command, and the output is strict JSON even for odd tables."""
    (tmp_path / "odd.csv").write_text('"a\n""b""",c,d\n1,,x\n2,,\x07\n3,,"🙂"\n')
    first = assay("--json", *arguments)
    assert (first.returncode, first.stderr) == (0, "")
    assert strict_json(first.stdout)
    assert assay(*arguments, "--json", "--quiet").stdout == first.stdout


def test_json_of_data_says_what_was_written(assay):
    said = strict_json(assay("data", "iris", "--split", "test", "--out", "x.csv", "--json").stdout)
    assert (said["out"], said["rows"], said["label"], len(said["columns"])) == ("x.csv", 30, "species", 5)


def test_quiet_says_nothing_but_results(assay):
    assert "150 rows, 5 columns" in assay("data", "iris", "--out", "x.csv").stdout
    assert assay("data", "iris", "--out", "x.csv", "--quiet").stdout == ""
    assert assay("--quiet", "describe", "iris").stdout == assay("describe", "iris").stdout != ""


def test_table_on_stdout(assay, tmp_path):
    assert assay("data", "iris", "--out", "x.csv").returncode == 0
    result = assay("data", "iris", "--out", "-")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (tmp_path / "x.csv").read_text()


def test_describe_is_readable(assay):
    text = assay("describe", "iris").stdout
    assert text.startswith("iris: 150 rows, 4 attributes and the label species\n")
    assert re.search(r"^sepal_length +numeric +0 +4\.3 +5\.8 +5\.843 +0\.8281 +7\.9$", text, re.MULTILINE)
    assert "species: 3 classes: setosa 50, versicolor 50, virginica 50" in text


def test_control_characters_never_reach_the_terminal(assay, tmp_path):
    (tmp_path / "x.csv").write_text("a\x1b[31m,b\n1,\x1b]0;title\x07\n2,y\n")
    for command in ("describe", "neighbours"):
        shown = assay(command, "x.csv", "--label", "b").stdout
        assert shown and "\x1b" not in shown and "\x07" not in shown


def test_seed_decides_the_split(assay):
    def rows(*options):
        return assay("data", "iris", "--split", "test", "--out", "-", *options).stdout

    assert rows("--seed", "1") == rows("--seed", "1") != rows("--seed", "2")
    assert rows() == rows("--seed", "0")
    assert rows("--seed", "1", "--threads", "1") == rows("--threads", "7", "--seed", "1")


@pytest.fixture
def on_terminal(program, tmp_path):
    """on_terminal(*arguments) runs the program with a terminal as stderr: exit code, stdout, what the terminal got.

    With slowly=True it is stopped again and again, as on a machine that has other work: a line of progress is drawn
    after 0.2 s, and how long the program takes by itself must not decide whether one is seen."""

    def stop_now_and_then(process):
        while process.poll() is None:
            time.sleep(0.04)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.22)
            process.send_signal(signal.SIGCONT)

    def run(*arguments, slowly=False):
        try:
            master, slave = pty.openpty()
        except OSError:
            pytest.skip("no pseudo-terminals here")
        # Into a file: a pipe that nobody empties would stop the program.
        with open(tmp_path / "stdout", "w+b") as out:
            process = subprocess.Popen([program, *map(str, arguments)], cwd=tmp_path, stdout=out, stderr=slave)
        os.close(slave)
        if slowly:
            threading.Thread(target=stop_now_and_then, args=(process,), daemon=True).start()
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # what Linux says when the other side is closed
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        return process.wait(), (tmp_path / "stdout").read_text(), shown.decode()

    return run


@pytest.fixture
def big(tmp_path):
    """A table of 40 MB as CSV: many blocks to write and to read."""
    np.save(tmp_path / "big.npy", np.random.default_rng(1).normal(size=(200_000, 20)).astype("f4"))
    yield "big.npy"
    for path in tmp_path.glob("big.*"):
        path.unlink()


def check_progress(shown, word):
    lines = shown.split("\r\x1b[K")
    assert shown.startswith("\r\x1b[K") and lines[-1] == "", "the line is cleared at the end"
    drawn = [re.fullmatch(rf"{word}(?: \S+)?: (\d+) %(?:, [\d.]+ (?:s|min|h) left)?", line) for line in lines[1:-1]]
    assert drawn and all(drawn), lines
    assert any("left" in match[0] for match in drawn)
    shares = [int(match[1]) for match in drawn]
    assert shares == sorted(shares) and shares[-1] <= 100


def test_progress_on_a_terminal_alone(on_terminal, assay, big, tmp_path):
    code, out, shown = on_terminal("data", big, "--out", "big.csv", slowly=True)
    assert code == 0 and out.startswith("wrote big.csv")
    check_progress(shown, "writing")
    code, _, shown = on_terminal("describe", "big.csv", slowly=True)
    assert code == 0
    check_progress(shown, "reading")
    assert on_terminal("--quiet", "describe", "big.csv", slowly=True)[2] == ""
    result = assay("describe", "big.csv")
    assert (result.returncode, result.stderr) == (0, "")


def test_progress_of_a_long_search(on_terminal, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(2).normal(size=(16_000, 40)).astype("f4"))
    code, out, shown = on_terminal("neighbours", "x.npy", "--k", "1", "--threads", "1", slowly=True)
    assert code == 0 and len(out.splitlines()) == 16_001
    check_progress(shown, r"[a-z ]*neighbours[a-z ]*")
    assert on_terminal("neighbours", "x.npy", "--k", "1", "--quiet")[2] == ""
