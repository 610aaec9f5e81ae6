"""Assay beside its peers, in one run, one thread on one core: `make bench-peers`; `--quick` for smaller workloads.

Assay is timed through the program: start, reading, work and printing its results all count. Peers are timed inside
this process: their imports do not count. Both read the same files, from memory where there is a /dev/shm. In each round
every side runs once, after a first round that is not counted; figures are medians over the rounds, +- half the range
between quartiles. Each workload also checks that both sides gave the same answer.

A workload is a function that takes `quick` and a folder, and yields `Row`s; add it to WORKLOADS. Rows go to the
terminal and to build/bench/peers.json.
"""

import argparse
import dataclasses
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import faiss
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
import threadpoolctl
from sklearn.neighbors import BallTree, KDTree
from sklearn.preprocessing import StandardScaler

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
ROUNDS = 5
K = 10


class Unavailable(Exception):
    """A workload whose data is not here."""


@dataclasses.dataclass
class Row:
    """One workload against one peer: seconds of each round. `limit` is what Assay may take, or `least_ratio` how many
    times faster it must be; `bar` says it in words."""

    workload: str
    peer: str
    peer_rounds: list
    assay_rounds: list
    limit: float | None = None
    bar: str | None = None
    least_ratio: float | None = None

    def facts(self):
        peer, assay = statistics.median(self.peer_rounds), statistics.median(self.assay_rounds)
        limit = self.limit if self.least_ratio is None else peer / self.least_ratio
        # A difference of two times can drown in the noise of a busy machine; then it says nothing.
        clear = spread(self.assay_rounds) < assay / 2
        return {
            "workload": self.workload,
            "peer": self.peer,
            "peer_s": peer,
            "assay_s": assay,
            "ratio": peer / assay if clear else None,
            "bar": self.bar,
            "holds": assay <= limit if clear and limit is not None else None,
            "peer_spread_s": spread(self.peer_rounds),
            "assay_spread_s": spread(self.assay_rounds),
            "rounds": len(self.assay_rounds),
            "threads": 1,
        }


def spread(rounds):
    low, _, high = statistics.quantiles(rounds, n=4, method="inclusive")
    return (high - low) / 2


def assay(*arguments):
    """Runs the program; gives its output and the seconds it took."""
    begin = time.perf_counter()
    done = subprocess.run([PROGRAM, "--threads", "1", *map(str, arguments)], capture_output=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout, seconds


def alternate(sides):
    """Runs every side once a round. A side gives a dictionary of seconds; so does this, with the rounds of each."""
    for side in sides.values():
        side()
    rounds = [{name: side() for name, side in sides.items()} for _ in range(ROUNDS)]
    return {name: {key: [r[name][key] for r in rounds] for key in rounds[0][name]} for name in sides}


def data_folder(name):
    folder = pathlib.Path(os.environ.get("ASSAY_DATA", "")) / name
    if not os.environ.get("ASSAY_DATA") or not folder.is_dir():
        raise Unavailable(f"ASSAY_DATA has no {name}")
    return folder


# Neighbours


def flat_index(x):
    """faiss: every query looks at every row."""
    index = faiss.IndexFlat(x.shape[1], faiss.METRIC_Linf)
    index.add(x)
    return lambda queries: index.search(queries, K + 1)[0]


def tree_index(kind):
    def build(x):
        tree = kind(x, metric="chebyshev")
        return lambda queries: tree.query(queries, k=K + 1)[0]

    return build


def neighbour_rows(workload, x, queries, peers, folder, limit, bar):
    """The K nearest others of some rows under l-infinity: time a query, and time of the whole job from file to answer.

    Assay's time a query is what a job of ten times the queries takes longer, over those more, so that it includes
    printing the answer. Peers count a row as its own neighbour and are asked for one more.
    """
    file = folder / "pool.npy"
    np.save(file, x)
    rows = np.linspace(0, len(x) - 1, queries, dtype=int)
    many = np.linspace(0, len(x) - 1, 10 * queries, dtype=int)
    answers = {}

    def job(asked):
        options = ("--k", K, "--norm", "linf", "--space", "raw", "--rows", ",".join(str(row + 1) for row in asked))
        return assay("--json", "neighbours", file, *options)

    def ours():
        out, seconds = job(rows)
        answers["assay"] = [[near["distance"] for near in row["neighbours"]] for row in json.loads(out)["rows"]]
        return {"query": (job(many)[1] - seconds) / (len(many) - len(rows)), "job": seconds}

    def side(name, build):
        def run():
            begin = time.perf_counter()
            pool = np.load(file)
            search = build(pool)
            built = time.perf_counter()
            distances = search(pool[rows])
            end = time.perf_counter()
            answers[name] = distances[:, 1:]
            return {"query": (end - built) / queries, "job": end - begin}

        return run

    rounds = alternate({"assay": ours} | {name: side(name, build) for name, build in peers.items()})
    for name in peers:
        np.testing.assert_allclose(answers["assay"], answers[name], rtol=1e-5, atol=1e-6)
        yield Row(f"{workload}, a query", name, rounds[name]["query"], rounds["assay"]["query"], limit, bar)
        yield Row(f"{workload}, {queries} queries from file", name, rounds[name]["job"], rounds["assay"]["job"])


def neighbours_adult(quick, folder):
    """Adult, 48,842 x 14: label codes and numbers, all standardised."""
    data_folder("adult")
    assay("data", "adult", "--encode", "label", "--out", folder / "adult.npz")
    with np.load(folder / "adult.npz") as table:
        x = StandardScaler().fit_transform(table["values"][:, :14].astype(np.float64)).astype(np.float32)
    peers = {
        "faiss IndexFlat": flat_index,
        "sklearn BallTree": tree_index(BallTree),
        "sklearn KDTree": tree_index(KDTree),
    }
    yield from neighbour_rows("neighbours adult", x, 300 if quick else 1000, peers, folder, 60e-6, "assay <= 60 us")


def neighbours_mnist(quick, folder):
    """MNIST's training images, 60,000 x 784 raw pixels."""
    with gzip.open(data_folder("mnist") / "train-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    peers = {"faiss IndexFlat": flat_index}
    yield from neighbour_rows("neighbours mnist", x, 25 if quick else 100, peers, folder, 5e-3, "assay <= 5 ms")


# Reading


def csv_to_npy(quick, folder):
    """A numeric CSV file to a float32 NPY file: reading it, and a write that costs each side the same."""
    megabytes = 30 if quick else 100
    columns = [f"x{j}" for j in range(20)]
    random = np.random.default_rng(1)
    count = megabytes * 4600  # of rows, about 217 bytes each
    x = random.normal(size=(count, len(columns))).astype(np.float32)
    pyarrow.csv.write_csv(pyarrow.table(dict(zip(columns, x.T.copy(), strict=True))), folder / "x.csv")
    size = (folder / "x.csv").stat().st_size / 1e6

    def timed(read):
        def run():
            begin = time.perf_counter()
            np.save(folder / "peer.npy", read())
            seconds = time.perf_counter() - begin
            np.testing.assert_allclose(np.load(folder / "peer.npy", mmap_mode="r"), x, rtol=1e-6)
            return {"job": seconds}

        return run

    def ours():
        _, seconds = assay("data", folder / "x.csv", "--out", folder / "assay.npy")
        np.testing.assert_array_equal(np.load(folder / "assay.npy", mmap_mode="r"), x)
        return {"job": seconds}

    def with_pandas():
        return pd.read_csv(folder / "x.csv", engine="c", dtype=np.float32).to_numpy()

    def with_pyarrow():
        table = pyarrow.csv.read_csv(
            folder / "x.csv",
            read_options=pyarrow.csv.ReadOptions(use_threads=False),
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(columns, pyarrow.float32())),
        )
        return np.column_stack([column.to_numpy() for column in table.columns])

    rounds = alternate({"assay": ours, "pandas read_csv": timed(with_pandas), "pyarrow.csv": timed(with_pyarrow)})
    for peer in ("pandas read_csv", "pyarrow.csv"):
        name = f"{size:.0f} MB of CSV to NPY"
        yield Row(name, peer, rounds[peer]["job"], rounds["assay"]["job"], size / 150, "assay >= 150 MB/s")


# Trees


def tree_workload(name):
    """Those of benchmarks/trees.py, each imported when it runs: its libraries are large."""

    def run(quick, folder):
        import trees

        data_folder("adult")
        model, rows, background = trees.adult_booster(assay, folder, quick)
        for each in getattr(trees, name)(model, rows, background, folder, alternate):
            yield Row(*each)

    run.__name__ = name
    return run


TREES = ["trees_interventional", "trees_path_dependent", "trees_prediction"]
WORKLOADS = [neighbours_adult, neighbours_mnist, csv_to_npy, *map(tree_workload, TREES)]


def seconds_text(value):
    unit, scale = ("s", 1) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("us", 1e6)
    return f"{value * scale:.3g} {unit}"


def print_table(facts):
    lines = [["workload", "peer", "peer", "+-", "assay", "+-", "ratio", "bar", "holds"]]
    for row in facts:
        times = [seconds_text(row[key]) for key in ("peer_s", "peer_spread_s", "assay_s", "assay_spread_s")]
        ratio = "noise" if row["ratio"] is None else f"{row['ratio']:.1f}x"
        holds = {None: "-", True: "yes", False: "NO"}[row["holds"]]
        lines.append([row["workload"], row["peer"], *times, ratio, row["bar"] or "-", holds])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if 2 <= j <= 6 else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description="Measure Assay beside its peers.")
    parser.add_argument("--quick", action="store_true", help="smaller workloads")
    parser.add_argument("--only", default="", help="workloads whose name has this in it")
    arguments = parser.parse_args()
    # One core for this process and the programs it starts: some peers start threads of their own, whatever they are
    # told (pandas since 3.1 for reading CSV, pyarrow for reading ahead). Told as well, so that they do not take turns.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    threadpoolctl.threadpool_limits(1)
    pd.set_option("mode.max_threads", 1)
    faiss.omp_set_num_threads(1)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)

    facts = []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for workload in WORKLOADS:
        if arguments.only not in workload.__name__:
            continue
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            try:
                facts += [row.facts() for row in workload(arguments.quick, pathlib.Path(folder))]
            except Unavailable as reason:
                print(f"{workload.__name__} left out: {reason}")
    print(f"One thread on one core, medians of {ROUNDS} alternating rounds; ratio = peer / assay.\n")
    print_table(facts)
    out = ROOT / "build" / "bench" / "peers.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
