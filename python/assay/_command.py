"""The `assay` command: the program that the package carries, in place of this process."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).with_name("bin") / "assay"


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process; comes back only to say why it could not."""
    # Python ignores these two, and a program inherits that: `assay ... | head` would then see an error where it should
    # end.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["assay", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"assay: {PROGRAM}: expected the program of this package, found: {error.strerror}")
