"""Sessions of a worker process: one for each job, however many tasks it gets."""

from __future__ import annotations

from collections.abc import Callable

from .batch import Job, Session

_MOST_SESSIONS = 4
_sessions: dict[str, Session] = {}


def session_of(key: str, content: Callable[[], bytes]) -> Session:
    """The session of the job with this hash; content() gives the job's bytes when it is not open yet."""
    if key not in _sessions:
        while len(_sessions) >= _MOST_SESSIONS:  # the oldest goes: a notebook may make many jobs
            _sessions.pop(next(iter(_sessions)))
        _sessions[key] = Job.from_bytes(content()).open(threads=1)
    return _sessions[key]
