"""Reading CSV beside pandas and pyarrow: a table of numbers to a float32 NPY file."""

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
from harness import Row, Workload, alternate, assay, timed

COLUMNS = [f"x{j}" for j in range(20)]
LEAST = 150  # MB/s


def write_table(file, megabytes):
    """A CSV file of about this size, and its values."""
    count = megabytes * 4600  # of rows, about 217 bytes each
    x = np.random.default_rng(1).normal(size=(count, len(COLUMNS))).astype(np.float32)
    pyarrow.csv.write_csv(pyarrow.table(dict(zip(COLUMNS, x.T.copy(), strict=True))), file)
    return x


def with_pandas(file):
    return pd.read_csv(file, engine="c", dtype=np.float32).to_numpy()


def with_pyarrow(file):
    table = pyarrow.csv.read_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(use_threads=False),
        convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pyarrow.float32())),
    )
    return np.column_stack([column.to_numpy() for column in table.columns])


def csv_to_npy(run):
    # They start threads of their own unless told; on one core these would only take turns.
    pd.set_option("mode.max_threads", 1)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
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
        _, took = assay("data", file, "--out", run.folder / "assay.npy")
        np.testing.assert_array_equal(np.load(run.folder / "assay.npy", mmap_mode="r"), x)
        return took

    rounds = alternate({"assay": ours, "pandas read_csv": peer(with_pandas), "pyarrow.csv": peer(with_pyarrow)})
    name = f"{size:.0f} MB of CSV to NPY"
    for each in ("pandas read_csv", "pyarrow.csv"):
        first = each == "pandas read_csv"  # The bar is Assay's own: told once.
        yield Row(
            name,
            each,
            rounds[each],
            rounds["assay"],
            limit=size / LEAST if first else None,
            bar=f">= {LEAST} MB/s" if first else None,
            front=name if first else None,
            more={"megabytes": size},
        )


WORKLOADS = [
    Workload(
        "reading_csv",
        "Reading CSV",
        csv_to_npy,
        """A file of normal numbers in 20 columns, read and written as a float32 matrix, from memory to memory where the
system has a /dev/shm. Assay is timed through the program, its start included, and its values must equal those that were
written, bit for bit; pandas and pyarrow are told the type of the columns and that there is one thread.""",
    )
]
