"""Spoilt files of every format (tests/hostile), other ones than in `make test`, for HOSTILE_SECONDS in all."""

import itertools
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hostile"))
import runner
from formats import FORMATS

FIRST = 1_000_000  # cases of `make test` have lower numbers


def test_hours_of_spoilt_files(program, tmp_path):
    farm = runner.Farm(program, tmp_path)
    end = time.monotonic() + float(os.environ.get("HOSTILE_SECONDS", 7200))
    failures = []
    for first in itertools.count(FIRST, 200):
        for name in FORMATS:
            failures += farm.try_cases(name, range(first, first + 200))
        if time.monotonic() > end or len(failures) > 20:
            break
    farm.close()
    print(f"{first + 200 - FIRST} spoilt files of each of {len(FORMATS)} formats")
    assert not failures, "\n".join(failures)
