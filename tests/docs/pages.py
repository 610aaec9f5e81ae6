"""What runs the blocks of pages: the Python of a page, and its sessions of commands."""

import importlib.machinery
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = "-- end of block --"


def environment():
    """With the package as it was just built, where its extension is for this Python. The environment of the peers may
    have another Python, and finds a package of its own."""
    built = ROOT / "build" / "python"
    if not any((built / "assay" / f"_core{suffix}").exists() for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        return {**os.environ}
    package = os.pathsep.join([str(built), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": package}


def python(script, cwd):
    return subprocess.run(
        [sys.executable, str(script)], cwd=cwd, capture_output=True, text=True, timeout=300, env=environment()
    )


def python_blocks(text, fence="python"):
    """The (code, expected output) pairs of a page; what is expected stands in a ```text block right below."""
    block = re.compile(rf"^```{fence}\n(.*?)^```$(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
    return block.findall(text)


def pattern_of(expected):
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in expected.rstrip("\n").split("\n")]
    text = "\n".join(lines)
    # A line of its own stands for any number of lines, also none.
    return re.sub(r"(?m)^\.\*$\n?", r"(?:.*\n)*", text + "\n")


def run_python_blocks(page, folder, fence="python"):
    """Runs all blocks of a page as one program, and asserts that each prints what the page says."""
    blocks = python_blocks(page.read_text(), fence)
    script = folder / "page.py"
    script.write_text("\n".join(f"{code}\nprint({MARK!r})" for code, _ in blocks))
    result = python(script, folder)
    assert result.returncode == 0, result.stderr
    printed = result.stdout.split(f"{MARK}\n")[:-1]
    assert len(printed) == len(blocks) > 0
    for (code, expected), found in zip(blocks, printed, strict=True):
        found = re.sub(r"[ \t]+$", "", found, flags=re.MULTILINE)
        assert re.fullmatch(pattern_of(expected) if expected else ".*", found, re.DOTALL if not expected else 0), (
            f"{page.name}:\n{code}\nprinted\n{found}\ninstead of\n{expected}"
        )


def sessions(text, fence="console"):
    """The (command, expected lines) pairs of a page, block by block."""
    for block in re.findall(rf"^```{fence}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        session = []
        for line in block.splitlines():
            if line.startswith("$ "):
                session.append((line[2:], []))
            else:
                session[-1][1].append(line)
        yield session


def matches(expected, found, within=False):
    """Whether the printed lines are the expected ones. A line "..." stands for any lines; within a line, where that is
    allowed, for any text."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(matches(expected[1:], found[i:], within) for i in range(len(found) + 1))
    if not found:
        return False
    line = re.escape(expected[0])
    fits = re.fullmatch(line.replace(r"\.\.\.", ".*") if within else line, found[0])
    return fits is not None and matches(expected[1:], found[1:], within)


def prepare(folder, program):
    """Makes a folder look like a checkout, as far as pages name what is in one."""
    (folder / "build").mkdir()
    (folder / "build" / "assay").symlink_to(program)
    for part in ("tests", "examples"):
        (folder / part).symlink_to(ROOT / part)


def run_session(page, session, folder, within=False):
    for command, expected in session:
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            env=environment(),
        )
        found = result.stdout.rstrip("\n").split("\n") if result.stdout.strip() else []
        assert matches([line.rstrip() for line in expected], [line.rstrip() for line in found], within), (
            f"{page.name}: $ {command}\nprinted\n{result.stdout}"
        )
