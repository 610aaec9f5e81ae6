"""Benchmarks of the C++ program (benchmarks/*_bench.cpp), run from here: seconds and counters by name."""

import json
import os
import subprocess

from harness import BENCHMARKS

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def run(pattern, least, environment=None):
    """One process that runs every benchmark whose name matches, each for at least `least` seconds: facts by name, with
    the mean "seconds" of an iteration and "cpu_seconds", those of the main thread."""
    command = [BENCHMARKS, f"--benchmark_filter={pattern}", "--benchmark_format=json"]
    variables = os.environ | {name: str(value) for name, value in (environment or {}).items()}
    done = subprocess.run([*command, f"--benchmark_min_time={least:g}"], env=variables, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    found = {}
    for entry in json.loads(done.stdout or '{"benchmarks": []}')["benchmarks"]:
        if "error_message" in entry:
            raise RuntimeError(f"{entry['name']}: {entry['error_message']}")
        entry["seconds"] = entry["real_time"] * UNITS[entry["time_unit"]]
        entry["cpu_seconds"] = entry["cpu_time"] * UNITS[entry["time_unit"]]
        found[entry["name"].removesuffix("/real_time")] = entry
    if not found:
        raise RuntimeError(f"no benchmark is called {pattern}")
    return found


def side(name, least, environment=None):
    """A side for harness.alternate: seconds of the one benchmark of this name."""

    def seconds():
        (entry,) = run(f"^{name}(/real_time)?$", least, environment).values()
        return entry["seconds"]

    return seconds
