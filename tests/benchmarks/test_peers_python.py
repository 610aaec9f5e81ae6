"""Which Python and which pins the peers get (tools/peers-python), with programs that only say a version."""

import re
import shutil
import subprocess

import pytest

OLD, NEW = "tools/requirements/peers.txt", "tools/requirements/peers-3.12.txt"


@pytest.fixture
def choose(root, tmp_path):
    """Runs the script where these programs are the only Pythons; gives what it ran with."""
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "head").symlink_to(shutil.which("head"))

    def run(programs, **env):
        for name, body in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (folder / name).chmod(0o755)
        given = {"PATH": str(folder)} | env
        done = subprocess.run([root / "tools" / "peers-python"], env=given, capture_output=True, text=True)
        return done.returncode, done.stdout.replace(f"{folder}/", "").strip(), done.stderr

    return run


def test_the_newest_that_is_pinned_is_taken(choose):
    programs = {name: f"echo {name.removeprefix('python')}" for name in ("python3.13", "python3.12")}
    programs["python3"] = "echo 3.11"
    assert choose(programs) == (0, f"{NEW} python3.13", "")


@pytest.mark.parametrize(
    ("version", "pins"), [("3.10", OLD), ("3.11", OLD), ("3.12", NEW), ("3.13", NEW), ("3.20", NEW)]
)
def test_python3_gets_the_pins_of_its_version(choose, version, pins):
    assert choose({"python3": f"echo {version}"}) == (0, f"{pins} python3", "")


def test_one_that_cannot_be_used_is_passed_over_with_the_reason(choose):
    programs = {
        "python3.13": "echo 'shim: not found' >&2; echo 'See help' >&2; exit 127",
        "python3.12": "echo 'has no Python.h' >&2; exit 1",
        "python3": "echo 3.11",
    }
    code, answer, said = choose(programs)
    assert (code, answer) == (0, f"{OLD} python3")
    assert said.splitlines() == [
        "peers-python: python3.13 is passed over: shim: not found",
        "peers-python: python3.12 is passed over: has no Python.h",
    ]


def test_a_named_python_is_used_or_refused(choose):
    programs = {"python3.13": "echo 3.13", "python3": "echo 3.11", "mine": "echo 3.12", "broken": "exit 1"}
    assert choose(programs, PEERS_PYTHON="mine") == (0, f"{NEW} mine", "")
    assert choose(programs, PEERS_PYTHON="python3") == (0, f"{OLD} python3", "")
    for name in ("broken", "nowhere"):
        code, answer, said = choose(programs, PEERS_PYTHON=name)
        assert (code, answer) == (1, "") and f"PEERS_PYTHON={name} cannot be used" in said


def test_no_python_at_all_is_said(choose):
    code, answer, said = choose({})
    assert (code, answer) == (1, "") and said == "peers-python: there is no Python for the peers\n"


def versions(root, pins):
    return dict(line.split("==") for line in (root / pins).read_text().split())


def test_pins_are_exact_sorted_and_newer_for_the_newer_python(root):
    for pins in (OLD, NEW):
        lines = (root / pins).read_text().splitlines()
        assert lines == sorted(lines)
    old, new = versions(root, OLD), versions(root, NEW)
    number = lambda version: [int(part) for part in re.findall(r"\d+", version)]  # noqa: E731
    assert [name for name in set(old) & set(new) if number(new[name]) < number(old[name])] == []


def test_the_extension_is_compiled_by_the_same_nanobind(root):
    built = versions(root, "tools/requirements/build.txt")
    assert versions(root, NEW)["nanobind"] == built["nanobind"]
