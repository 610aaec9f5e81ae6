"""Draws the pictures of the aggregators' pages by running the program and drawing what comes out.

python docs/aggregators/pictures/draw.py [--check] [NAME ...]

Draws those named, or all that `assay list aggregators` lists. --check compares with what is there instead, and exits 1
naming what differs. The program is build/assay, or the one that $ASSAY_PROGRAM names.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile

import charts
import plane
import simple
from program import Program

HERE = pathlib.Path(__file__).resolve().parent


def drawn(name: str) -> str:
    """The picture; each aggregator's function has its name."""
    draw = next((found for each in (plane, simple, charts) if (found := getattr(each, name, None))), None)
    if draw is None:
        raise LookupError(f"{name}: there is no function of that name that draws it")
    with tempfile.TemporaryDirectory() as folder:
        return draw(Program(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of the aggregators' pages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="aggregators; all of them when not given")
    parser.add_argument("--check", action="store_true", help="compare with what is there, and write nothing")
    options = parser.parse_args()
    differ = []
    for name in options.names or Program(HERE).names():
        path, svg = HERE / f"{name}.svg", drawn(name)
        if not options.check:
            path.write_text(svg)
        elif not path.is_file() or path.read_text() != svg:
            differ.append(name)
    if differ:
        print(f"not as the program has it now: {', '.join(differ)}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
