"""Prints "file:key" for each C++ file that clang-tidy is to look at; the key stands for all that it would read of ours.

With a revision, only files that changed since then, or that themselves include a header which did.
"""

import hashlib
import pathlib
import re
import subprocess
import sys

CHECKED = ("assay/", "cli/", "python/src/")


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    listed = git("ls-files", "-co", "--exclude-standard", "*.h", "*.cpp")
    files = [name for name in listed if pathlib.Path(name).exists()]
    rules = git("ls-files", "-co", "--exclude-standard", "*.clang-tidy")
    contents = {name: pathlib.Path(name).read_bytes() for name in files + rules}
    included = {
        name: {found.decode() for found in re.findall(rb'^#include "([^"]+)"', contents[name], re.M)} & set(files)
        for name in files
    }
    changed = None
    if len(sys.argv) > 1:
        changed = set(git("diff", "--name-only", sys.argv[1]) + git("ls-files", "-o", "--exclude-standard"))
    for name in files:
        if not (name.startswith(CHECKED) and name.endswith(".cpp")):
            continue
        if changed is not None and not ({name} | included[name]) & changed:
            continue
        read = {name}
        new = {name}
        while new:
            new = set().union(*(included[each] for each in new)) - read
            read |= new
        key = hashlib.sha256(b"".join(contents[each] for each in [*rules, *sorted(read)])).hexdigest()[:32]
        print(f"{name}:{key}")


main()
