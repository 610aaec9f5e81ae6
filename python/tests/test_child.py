"""Work in a copy of the process: its result arrives whole or not at all, and in time."""

import os
import signal
import time

import pytest

from assay import _child

if not hasattr(os, "fork"):
    pytest.skip("there is no fork()", allow_module_level=True)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)
    return b""


def test_gives_what_the_work_returns():
    assert _child.in_child(lambda: b"x" * 3_000_000, "it", 60) == b"x" * 3_000_000


def test_says_what_an_exception_said():
    def work():
        raise ValueError("no. And more")

    with pytest.raises(_child.ChildFailed, match=r"^no$"):
        _child.in_child(work, "it", 60)


def test_a_crash_is_a_sentence():
    with pytest.raises(_child.ChildFailed, match=r"^it crashed \(SIGSEGV\); pass export=False to do without it$"):
        _child.in_child(crash, "it", 60)


def test_a_part_is_no_result(monkeypatch):
    write = os.write

    def write_some(descriptor, content):
        write(descriptor, bytes(content)[:20])
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(os, "write", write_some)
    with pytest.raises(_child.ChildFailed, match="SIGKILL"):
        _child.in_child(lambda: b"y" * 100, "it", 60)


def test_a_whole_result_of_a_copy_that_crashes_is_none(monkeypatch):
    monkeypatch.setattr(os, "_exit", lambda status: crash())
    with pytest.raises(_child.ChildFailed, match="SIGSEGV"):
        _child.in_child(lambda: b"y", "it", 60)


def test_does_not_wait_for_others_that_have_the_pipe(monkeypatch):
    """Whatever is forked at the same time has its writing end too."""
    pipe, kept = os.pipe, []

    def pipe_and_keep():
        reader, writer = pipe()
        kept.append(os.dup(writer))
        return reader, writer

    monkeypatch.setattr(os, "pipe", pipe_and_keep)
    try:
        assert _child.in_child(lambda: b"z", "it", 20) == b"z"
        with pytest.raises(_child.ChildFailed, match="SIGSEGV"):
            _child.in_child(crash, "it", 20)
    finally:
        for each in kept:
            os.close(each)


def test_ends_what_takes_too_long(monkeypatch):
    def work():
        time.sleep(30)
        return b""

    sentence = "^it did not end within 1 s; pass export=False to do without it$"
    with pytest.raises(_child.ChildFailed, match=sentence):
        _child.in_child(work, "it", 1)
    # Where nobody ends it, it does so itself.
    monkeypatch.setattr(_child, "_read", lambda *_: (b"", True))
    begun = time.monotonic()
    with pytest.raises(_child.ChildFailed, match=sentence):
        _child.in_child(work, "it", 1)
    assert time.monotonic() - begun < 20
