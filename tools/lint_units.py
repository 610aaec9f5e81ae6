"""Prints "file:key" for each thing that clang-tidy is to read: what the compiler is given, most of it several of our
files at once, since the headers that they share take longer to check than they do. The key stands for all that is read
of ours.

With a revision, only those with a file that changed since then, or that itself includes a header which did.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path.cwd()
CHECKED = ("assay/", "cli/", "python/src/")


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.splitlines()


def quoted(content: bytes) -> list[str]:
    """The names that a file includes in quotes."""
    return [name.decode() for name in re.findall(rb'^#include "([^"]+)"', content, re.M)]


def ours(path: str) -> str:
    """A path as Git lists it."""
    return str(pathlib.Path(path).relative_to(ROOT)) if pathlib.Path(path).is_relative_to(ROOT) else path


def units(files: set[str]) -> dict[str, list[str]]:
    """What the compiler is given, each with the files of ours that it consists of."""
    found = {}
    for entry in json.loads(pathlib.Path("build/lint/compile_commands.json").read_text()):
        path = entry["file"]
        together = pathlib.Path(path).suffix == ".cxx"  # written by CMake: nothing but includes
        names = map(ours, quoted(pathlib.Path(path).read_bytes()) if together else [path])
        sources = [name for name in names if name in files and name.startswith(CHECKED)]
        if sources:
            found[path] = sources
    return found


def main() -> None:
    listed = git("ls-files", "-co", "--exclude-standard", "*.h", "*.cpp")
    files = {name for name in listed if pathlib.Path(name).exists()}
    rules = git("ls-files", "-co", "--exclude-standard", "*.clang-tidy")
    contents = {name: pathlib.Path(name).read_bytes() for name in [*files, *rules]}
    included = {name: set(quoted(contents[name])) & files for name in files}
    changed = None
    if len(sys.argv) > 1:
        changed = set(git("diff", "--name-only", sys.argv[1]) + git("ls-files", "-o", "--exclude-standard"))
    for unit, sources in units(files).items():
        if changed is not None and not set(sources).union(*(included[name] for name in sources)) & changed:
            continue
        read = set(sources)
        new = read
        while new:
            new = set().union(*(included[each] for each in new)) - read
            read = read | new
        key = hashlib.sha256(b"".join(contents[each] for each in [*rules, *sorted(read)])).hexdigest()[:32]
        print(f"{unit}:{key}")


main()
