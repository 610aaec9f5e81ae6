"""The `assay` command: replaces this process by the program inside the package."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).with_name("bin") / "assay"


def main() -> NoReturn:
    """Replaces this process by the program, with the same arguments; returns only if that fails."""
    # Python ignores these signals, and a program inherits that: `assay ... | head` would report an error instead of
    # ending.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["assay", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"assay: {PROGRAM}: expected the program of this package, found: {error.strerror}")
