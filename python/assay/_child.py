"""Runs work that may crash its process in a forked copy of this one."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import math
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import NoReturn

from ._text import short

_DONE, _FAILED = b"+", b"-"
# Bytes of the length field at the start of a result.
_LENGTH = 8


class ChildFailed(Exception):
    """Why there is no result, as a sentence."""


def in_child(work: Callable[[], bytes], who: str, most_seconds: float) -> bytes:
    """Returns what `work` returns in a forked copy of this process. The copy sees everything and changes nothing here.

    A fork, because a new process would have to import PyTorch (seconds) and to be sent its data, which not every module
    allows. The copy has only this one thread. If it waits for a lock of another thread, it is ended after a while, by
    itself if this process is gone. What it prints is dropped. Raises ChildFailed with the message of an exception, or
    with how the copy crashed. who: names the work in messages."""
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
        _run(work, reader, writer, most_seconds)
    os.close(writer)
    content, in_time = b"", False
    try:
        content, in_time = _read(reader, child, time.monotonic() + most_seconds)
    finally:
        os.close(reader)
        if not in_time:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        status = _status(child)
    if not in_time or status == signal.SIGALRM:
        raise ChildFailed(f"{who} did not end within {most_seconds:.0f} s; pass export=False to do without it")
    whole = len(content) > _LENGTH and len(content) == _LENGTH + int.from_bytes(content[:_LENGTH], "big")
    if status != 0 or not whole:
        raise ChildFailed(f"{who} crashed ({_words(status)}); pass export=False to do without it")
    kind, said = content[_LENGTH : _LENGTH + 1], content[_LENGTH + 1 :]
    if kind == _FAILED:
        raise ChildFailed(said.decode("utf-8", "replace"))
    return said


def first_line(error: BaseException) -> str:
    """The first sentence of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentence = lines[0].split(". ")[0].rstrip(".") if lines else type(error).__name__
    return short(sentence, 200)


def _run(work: Callable[[], bytes], reader: int, writer: int, most_seconds: float) -> NoReturn:
    """The copy's life; it never returns."""
    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        signal.alarm(math.ceil(most_seconds) + 1)  # a little later than the original would end it
        gc.disable()  # objects of the original must not be finalised here
        faulthandler.disable()  # the original reports a crash
        os.close(reader)
        import fcntl  # only where there is fork()

        writer = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 3)  # not one of those below, which may be closed
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        _no_core_dump()
        try:
            content = _DONE + work()
        except BaseException as error:
            content = _FAILED + first_line(error).encode("utf-8", "replace")
        view = memoryview(len(content).to_bytes(_LENGTH, "big") + content)
        while view:
            view = view[os.write(writer, view) :]
        status = 0
    finally:
        os._exit(status)


def _no_core_dump() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(reader: int, child: int, until: float) -> tuple[bytes, bool]:
    """Reads the result up to the length in its length field; and whether it came in time. Also ends at the end of the
    file, which may never come: another thread may have forked a process that keeps the writing end open."""
    content = bytearray()
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while len(content) < _LENGTH or len(content) < _LENGTH + int.from_bytes(content[:_LENGTH], "big"):
        left = until - time.monotonic()
        if left <= 0:
            return bytes(content), False
        ended = _has_ended(child)  # asked before the last read: then all that it wrote is there
        if poll.poll(0 if ended else min(left, 0.5) * 1000):
            part = os.read(reader, 1 << 20)
            if not part:
                break
            content += part
        elif ended:
            break
    return bytes(content), True


def _has_ended(child: int) -> bool:
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody waits for all children of this process
        return True


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
