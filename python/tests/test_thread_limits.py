"""Where the system refuses threads: a call goes on with those that there are, or says that it cannot."""

import os
import subprocess
import sys

import pytest

# A user of nobody else: a limit on processes counts all of a user's. All is imported before that user is become.
SCRIPT = """
import os, resource, sys, warnings
import numpy as np
import assay

rows = np.random.default_rng(0).normal(size=(600, 12)).astype(np.float32)
weights = np.random.default_rng(1).normal(size=12).astype(np.float32)
model = assay.wrap(lambda x: np.tanh(x @ weights), batch=64)

def values():
    return assay.explain(model, rows, "shapley_sampling", pool=rows[:50], threads=8).values.tobytes()

expected = assay.explain(model, rows, "shapley_sampling", pool=rows[:50], threads=1).values.tobytes()
os.setgroups([])
os.setgid(54321)
os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 8))
try:
    values()
except OSError as error:
    print("refused:", error)
resource.setrlimit(resource.RLIMIT_NPROC, (3, 8))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert values() == expected
    assert values() == expected
print("warned:", *(f"{each.category.__name__}: {each.message}" for each in caught))
"""


def test_refused_threads_are_a_sentence_or_a_warning():
    if os.geteuid() != 0:
        pytest.skip("only root can become a user with a limit of its own")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120
    )
    if "PermissionError" in result.stderr and "os.set" in result.stderr:
        pytest.skip(f"this root cannot become another user: {result.stderr.splitlines()[-1]}")
    assert result.returncode == 0, result.stderr
    refused, warned = result.stdout.splitlines()
    assert refused.startswith("refused: the system refused the one thread that a call needs")
    assert warned.startswith("warned: RuntimeWarning: the system refused threads") and warned.count("Warning") == 1
    assert ": 2 worked where" in warned  # one is the caller's, who waits
