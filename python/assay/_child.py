"""Work that may crash the process that it runs in, done in a copy of this one."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import gc
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import NoReturn

from ._text import short

_DONE, _FAILED = b"+", b"-"


class ChildFailed(Exception):
    """Why there is no result, as a sentence."""


def in_child(work: Callable[[], bytes], who: str, most_seconds: float) -> bytes:
    """What `work` returns in a forked copy of this process, which sees everything and changes nothing here.

    A fork, because a process that starts afresh would have to import PyTorch (seconds) and to be sent what it works on,
    which not every module can be. The copy has this one thread alone: if it waits for another one's lock it is ended
    after a while. What it prints goes nowhere. ChildFailed says what an exception said, or how the copy crashed. who:
    for messages, what works."""
    reader, writer = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
            child = os.fork()
    except OSError as error:
        os.close(reader)
        os.close(writer)
        raise ChildFailed(f"{who} could not be run in a process of its own ({error})") from error
    if child == 0:
        _run(work, reader, writer)
    os.close(writer)
    ended = False
    try:
        content = _read(reader, time.monotonic() + most_seconds)
        ended = content is not None
    finally:
        os.close(reader)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        status = _status(child)
    if content is None:
        raise ChildFailed(f"{who} did not end within {most_seconds:.0f} s; export=False does not ask it")
    if content[:1] == _DONE:
        return content[1:]
    if content[:1] == _FAILED:
        raise ChildFailed(content[1:].decode("utf-8", "replace"))
    raise ChildFailed(f"{who} crashed ({_words(status)}); export=False does not ask it")


def first_line(error: BaseException) -> str:
    """The first sentence of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentence = lines[0].split(". ")[0].rstrip(".") if lines else type(error).__name__
    return short(sentence, 200)


def _run(work: Callable[[], bytes], reader: int, writer: int) -> NoReturn:
    """The copy's life; it never returns."""
    try:
        gc.disable()  # nothing of the original's is finalised here
        faulthandler.disable()  # a crash is told by the original
        os.close(reader)
        writer = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 3)  # not one of those below, which may be closed
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        _no_core_dump()
        try:
            content = _DONE + work()
        except BaseException as error:
            content = _FAILED + first_line(error).encode("utf-8", "replace")
        view = memoryview(content)
        while view:
            view = view[os.write(writer, view) :]
    finally:
        os._exit(0)


def _no_core_dump() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(reader: int, until: float) -> bytes | None:
    """All that is written until the other end is closed; None where that takes too long."""
    parts: list[bytes] = []
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while True:
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return None
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _status(child: int) -> int:
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:  # somebody waits for all children of this process
        return 0


def _words(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return "without a word"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
