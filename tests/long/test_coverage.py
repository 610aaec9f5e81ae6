"""How often the simultaneous intervals of a study hold, over 2,000 draws of real scores."""

import os
import subprocess
from pathlib import Path


def test_simultaneous_intervals_hold_as_often_as_they_say(program):
    tests = Path(program).parent / "core_tests"
    made = subprocess.run(
        [tests, "--gtest_filter=*SimultaneousCoverage*"],
        env={**os.environ, "ASSAY_COVERAGE": "full"},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    print(made.stdout)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("all intervals hold in") == 6
