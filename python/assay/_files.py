"""Paths of files and folders, and errors of the system as Python raises them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

Path = str | os.PathLike[str]

# The engine's messages end with the system's own message.
_CODES = {os.strerror(code): code for code in errno.errorcode}


def path_text(argument: str, path: Any, what: str = "file") -> str:
    """The path as the engine takes it; a TypeError or ValueError names the argument."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise TypeError(f"{argument}: expected the name of a {what}, found {path!r}") from None
    # The engine's "-" is standard output, which belongs to the caller here.
    if not isinstance(name, str) or name in ("", "-"):
        raise ValueError(f"{argument}: expected the name of a {what}, found {name!r}")
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name):
        raise ValueError(f"{argument}: expected a name of whole characters, found {name!r}")
    return name


def check_folder(folder: str) -> None:
    """Raises the system's own OSError if there is no such folder."""
    if not stat.S_ISDIR(os.stat(folder or ".").st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)


@contextlib.contextmanager
def system_errors() -> Iterator[None]:
    """Turns the engine's OSErrors into Python's own, such as FileNotFoundError."""
    try:
        yield
    except OSError as problem:
        if problem.errno is not None:
            raise
        code = _CODES.get(str(problem).rpartition(": ")[2])
        if code is None:
            raise
        raise OSError(code, str(problem)) from None
