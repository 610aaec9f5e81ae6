"""What all workloads share: rounds that alternate, medians with their spread, bars, and the facts that are written.

A workload is a function of a `Run`. It yields `Row`s (one workload against one peer: times of every round, and the bar
that must hold) and `Table`s (anything else worth a section of docs/benchmarks.md). Its module lists it in WORKLOADS as
a `Workload`; __main__.py runs them in order, each in a fresh temporary folder, and writes what they yield.
"""

import contextlib
import dataclasses
import os
import pathlib
import statistics
import subprocess
import time

import threadpoolctl

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
BENCHMARKS = os.environ.get("ASSAY_BENCHMARKS", str(ROOT / "build" / "assay_benchmarks"))
ROUNDS = 5


class Unavailable(Exception):
    """A workload whose data is not here."""


@dataclasses.dataclass
class Row:
    """One workload against one peer: seconds of each round, for what `workload` names ("a row" where it says so).

    A bar is `least_ratio`, how many times faster Assay must be, or `limit`, the seconds it may take; `bar` says
    another one in words, with `holds` decided by the workload. `front` is the row's name in README's table, which has
    the ten that a newcomer understands and no more.
    """

    workload: str
    peer: str | None
    peer_rounds: list
    assay_rounds: list
    least_ratio: float | None = None
    limit: float | None = None
    bar: str | None = None
    holds: bool | None = None
    threads: int = 1
    front: str | None = None
    more: dict = dataclasses.field(default_factory=dict)

    def facts(self):
        ours = statistics.median(self.assay_rounds)
        peer = statistics.median(self.peer_rounds) if self.peer_rounds else None
        bar, limit = self.bar, self.limit
        if self.least_ratio is not None:
            bar, limit = bar or f">= {self.least_ratio:,g}x", peer / self.least_ratio
        elif limit is not None:
            bar = bar or f"<= {seconds_text(limit)}"
        return {
            "workload": self.workload,
            "peer": self.peer,
            "peer_s": peer,
            "assay_s": ours,
            "ratio": None if peer is None else peer / ours,
            "bar": bar,
            "holds": self.holds if limit is None else ours <= limit,
            "peer_spread_s": spread(self.peer_rounds) if self.peer_rounds else None,
            "assay_spread_s": spread(self.assay_rounds),
            "rounds": len(self.assay_rounds),
            "threads": self.threads,
            "front": self.front,
            **self.more,
        }


@dataclasses.dataclass
class Table:
    """A section's table: cells are text. `facts` are the numbers behind it."""

    title: str
    head: list
    lines: list
    text: str = ""  # a paragraph before it
    after: str = ""  # and one after it
    page: str = "benchmarks"  # docs/<page>.md
    facts: object = None


@dataclasses.dataclass
class Workload:
    name: str  # what --only looks for
    title: str  # of its section
    run: object  # Run -> Rows and Tables
    text: str = ""  # what is measured, a paragraph or two
    threads: int = 1


@dataclasses.dataclass
class Run:
    quick: bool
    folder: pathlib.Path  # empty, the workload's own, in memory where there is a /dev/shm
    kept: pathlib.Path  # the whole run's: what several workloads need is made once (subjects.py)


def spread(rounds):
    """Half the range between the quartiles."""
    low, _, high = statistics.quantiles(rounds, n=4, method="inclusive")
    return (high - low) / 2


def timed(work, answers=None, name=None):
    """A side for alternate(): seconds of work(), which also leaves its answer."""

    def run():
        begin = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - begin
        if answers is not None:
            answers[name] = found
        return seconds

    return run


def alternate(sides, rounds=ROUNDS):
    """Runs every side once a round, after a first round that is not counted: a list of seconds for each side. The
    order turns round by round, so that no side always follows the same other one."""
    for side in sides.values():
        side()
    found = {name: [] for name in sides}
    for number in range(rounds):
        names = list(sides) if number % 2 == 0 else list(reversed(sides))
        for name in names:
            found[name].append(sides[name]())
    return found


def assay(*arguments, threads=1):
    """Runs the program; gives its output and the seconds it took."""
    begin = time.perf_counter()
    done = subprocess.run([PROGRAM, "--threads", str(threads), *map(str, arguments)], capture_output=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout, seconds


def data_folder(name):
    folder = pathlib.Path(os.environ.get("ASSAY_DATA", "")) / name
    if not os.environ.get("ASSAY_DATA") or not folder.is_dir():
        raise Unavailable(f"ASSAY_DATA has no {name}")
    return folder


@contextlib.contextmanager
def on_threads(threads):
    """This process and the programs it starts on so many cores, and libraries told so. One core even for those that
    start threads of their own, whatever they are told (pandas since 3.1 for reading CSV, pyarrow for reading ahead)."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-threads:])
    try:
        with threadpoolctl.threadpool_limits(threads):
            yield
    finally:
        os.sched_setaffinity(0, before)


def seconds_text(value):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if value * scale >= 0.9995:
            return f"{digits(value * scale)} {unit}"
    return f"{digits(value * 1e9)} ns"


def digits(value):
    """Three significant digits without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")
