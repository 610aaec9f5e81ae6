"""Reading CSV beside pandas and pyarrow: a table of numbers to a float32 NPY file."""

import os

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
from harness import Row, Unavailable, Workload, alternate, assay, timed

COLUMNS = [f"x{j}" for j in range(20)]
LEAST = 1.2  # times faster than pandas on one thread


def write_table(file, megabytes):
    """A CSV file of about this size, and its values."""
    count = megabytes * 4600  # of rows, about 217 bytes each
    x = np.random.default_rng(1).normal(size=(count, len(COLUMNS))).astype(np.float32)
    pyarrow.csv.write_csv(pyarrow.table(dict(zip(COLUMNS, x.T.copy(), strict=True))), file)
    return x


def with_pandas(file):
    return pd.read_csv(file, engine="c", dtype=np.float32).to_numpy()


def with_pyarrow(file, threads):
    table = pyarrow.csv.read_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(use_threads=threads > 1),
        convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pyarrow.float32())),
    )
    return np.column_stack([column.to_numpy() for column in table.columns])


def csv_to_npy(run, threads):
    if len(os.sched_getaffinity(0)) < threads:
        raise Unavailable(f"fewer than {threads} cores")
    # They start threads of their own unless told; on one core these would only take turns.
    pd.set_option("mode.max_threads", threads)
    pyarrow.set_cpu_count(threads)
    pyarrow.set_io_thread_count(threads)
    file = run.folder / "x.csv"
    x = write_table(file, 30 if run.quick else 100)
    size = file.stat().st_size / 1e6

    def peer(read):
        def work():
            np.save(run.folder / "peer.npy", read(file))

        seconds = timed(work)

        def side():
            took = seconds()
            # They may round the last bit of a float32 otherwise.
            np.testing.assert_allclose(np.load(run.folder / "peer.npy", mmap_mode="r"), x, rtol=1e-6)
            return took

        return side

    def ours():
        _, took = assay("data", file, "--out", run.folder / "assay.npy", threads=threads)
        np.testing.assert_array_equal(np.load(run.folder / "assay.npy", mmap_mode="r"), x)
        return took

    peers = {"pandas read_csv": with_pandas, "pyarrow.csv": lambda file: with_pyarrow(file, threads)}
    rounds = alternate({"assay": ours} | {name: peer(read) for name, read in peers.items()})
    name = f"{size:.0f} MB of CSV to NPY"
    for each in peers:
        judged = each == "pandas read_csv" and threads == 1
        yield Row(
            name,
            each,
            rounds[each],
            rounds["assay"],
            least_ratio=LEAST if judged else None,
            threads=threads,
            front=name if judged else None,
            more={"megabytes": size},
        )


WORKLOADS = [
    Workload(
        "reading_csv",
        "Reading CSV",
        lambda run: csv_to_npy(run, 1),
        """A file of normal numbers in 20 columns, read and written as a float32 matrix, from memory to memory where the
system has a /dev/shm. Assay is timed through the program, its start included, and its values must equal those that were
written, bit for bit; pandas and pyarrow are told the type of the columns and that there is one thread.""",
    ),
    Workload(
        "reading_csv_2",
        "Reading CSV, two threads",
        lambda run: csv_to_npy(run, 2),
        "The same on two threads on all sides.",
        threads=2,
    ),
]
