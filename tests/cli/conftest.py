"""What the tests of the program share: how a refusal must look, how a file is converted, whether Arrow is there."""

import json
import os
import pathlib
import signal
import subprocess

import pytest


@pytest.fixture(scope="session")
def arrow_plugin(program) -> pathlib.Path:
    """The Arrow plugin beside the program; skips the test where it was not built (`make test` always builds it)."""
    plugin = pathlib.Path(program).resolve().parent / "libassay_arrow.so"
    if not plugin.exists():
        pytest.skip(f"{plugin} was not built (cmake -DASSAY_ARROW_ROOT=.../site-packages/pyarrow)")
    return plugin


@pytest.fixture
def needs(request):
    """needs(path) skips the test when the path is of a format that only the Arrow plugin reads."""

    def check(path):
        if any(name in str(path) for name in (".parquet", ".feather", ".arrow", ".pq")):
            request.getfixturevalue("arrow_plugin")

    return check


@pytest.fixture
def convert(assay, tmp_path, needs):
    """convert(source, target, *options) runs `assay data` and gives the path of what it wrote."""

    def run(source, target, *options):
        needs(source)
        needs(target)
        result = assay("data", source, "--out", target, *options)
        assert (result.returncode, result.stderr) == (0, "")
        return tmp_path / target

    return run


@pytest.fixture
def described(assay, needs):
    """described(source, *options) is what `assay describe --json` says."""

    def run(source, *options, env=None):
        needs(source)
        result = assay("describe", source, "--json", *options, env=env)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run


@pytest.fixture
def one_sentence():
    """one_sentence(result) checks that a run was refused as bad input in one clear line, and gives that line."""

    def check(result):
        assert result.returncode == 1, f"exit code {result.returncode}: {result.stdout}{result.stderr}"
        assert result.stdout == ""
        assert result.stderr.startswith("assay: ")
        assert result.stderr.endswith("\n")
        sentence = result.stderr.removeprefix("assay: ").removesuffix("\n")
        assert len(sentence) > 10
        assert all(character.isprintable() for character in sentence), f"not one clean line: {sentence!r}"
        assert "internal error" not in sentence
        return sentence

    return check


@pytest.fixture
def refused(assay, one_sentence, tmp_path):
    """refused(source, *options) runs `assay data` onto an existing file, which must survive, and gives the sentence."""

    def run(source, *options, env=None):
        kept = tmp_path / "kept.csv"
        kept.write_bytes(b"precious\n1\n")
        before = sorted(path.name for path in tmp_path.iterdir())
        result = assay("data", source, "--out", "kept.csv", *options, env=env)
        sentence = one_sentence(result)
        assert kept.read_bytes() == b"precious\n1\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return sentence

    return run


def heed_signals():
    """In the child: a test run in the background inherits ignored signals, and so would the program."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def start(program, tmp_path):
    """start(*arguments) begins a run that the test will interrupt; whatever is left of it is killed afterwards."""
    begun = []

    def run(*arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path, **options}
        command = [program, *map(str, arguments)]
        begun.append(subprocess.Popen(command, env=dict(os.environ), preexec_fn=heed_signals, **options))
        return begun[-1]

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()
