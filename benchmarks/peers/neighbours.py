"""Exact nearest neighbours under l-infinity, which sensitivity over the data and AVA ask for, beside faiss and
scikit-learn.

The Python package has no search of its own, so Assay is timed through the program: start, reading, work and printing
the answer all count. Peers work in this process on the same file, and their imports do not count.
"""

import gzip
import json
import time

import faiss
import numpy as np
from harness import Row, Workload, alternate, assay, data_folder
from scipy.spatial import cKDTree
from sklearn.neighbors import KDTree, NearestNeighbors
from sklearn.preprocessing import StandardScaler

K = 10
IMAGES = 60000


def flat_index(x):
    """Every query looks at every row: faiss has no other exact index for this norm."""
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlat(x.shape[1], faiss.METRIC_Linf)
    index.add(x)
    return lambda queries: index.search(queries, K + 1)[0]


def tree_index(x):
    # Of 5 to 80 rows in a leaf, 10 is fastest here; a ball tree takes three times as long.
    tree = KDTree(x, leaf_size=10, metric="chebyshev")
    return lambda queries: tree.query(queries, k=K + 1)[0]


def scipy_index(x):
    """SciPy's k-d tree, the fastest of the peers in a table."""
    tree = cKDTree(x)
    return lambda queries: tree.query(queries, k=K + 1, p=np.inf)[0]


def brute_index(x):
    index = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric="chebyshev", n_jobs=1).fit(x)
    return lambda queries: index.kneighbors(queries)[0]


def spaced(count, of):
    return np.linspace(0, of - 1, count, dtype=int)


def neighbour_rows(workload, x, queries, peers, folder, limit):
    """Time a query, and time of the whole job from file to answer.

    Assay's time a query is what a job of ten times the queries takes longer, over those more, so that it includes
    printing the answer. Peers count a row as its own neighbour and are asked for one more.
    """
    file = folder / "pool.npy"
    np.save(file, x)
    few, many = spaced(queries, len(x)), spaced(10 * queries, len(x))
    answers = {}

    def job(asked):
        options = ("--k", K, "--norm", "linf", "--space", "raw", "--rows", ",".join(str(row + 1) for row in asked))
        return assay("--json", "neighbours", file, *options)

    def ours():
        out, seconds = job(few)
        answers["assay"] = [[near["distance"] for near in row["neighbours"]] for row in json.loads(out)["rows"]]
        return (job(many)[1] - seconds) / (len(many) - len(few)), seconds

    def side(name, build):
        def run():
            begin = time.perf_counter()
            pool = np.load(file)
            search = build(pool)
            built = time.perf_counter()
            distances = search(pool[few])
            end = time.perf_counter()
            answers[name] = distances[:, 1:]
            return (end - built) / queries, end - begin

        return run

    rounds = alternate({"assay": ours} | {name: side(name, build) for name, build in peers.items()})
    query, whole = ({name: [one[part] for one in found] for name, found in rounds.items()} for part in (0, 1))
    for name in peers:
        own = limit if name == next(iter(peers)) else None  # The bar is Assay's own: told once.
        np.testing.assert_allclose(answers["assay"], answers[name], rtol=1e-5, atol=1e-6)
        yield Row(f"{workload}, a query", name, query[name], query["assay"], limit=own)
        yield Row(f"{workload}, {queries:,} queries from file to answer", name, whole[name], whole["assay"])


def adult(run):
    data_folder("adult")
    assay("data", "adult", "--encode", "label", "--out", run.folder / "adult.npz")
    with np.load(run.folder / "adult.npz") as table:
        x = StandardScaler().fit_transform(table["values"][:, :14].astype(np.float64)).astype(np.float32)
    peers = {
        "faiss IndexFlat": flat_index,
        "scikit-learn brute": brute_index,
        "scikit-learn KDTree": tree_index,
        "SciPy cKDTree": scipy_index,
    }
    workload = f"{K} nearest of {len(x):,} rows x 14"
    yield from neighbour_rows(workload, x, 200 if run.quick else 1000, peers, run.folder, 60e-6)


def mnist(run):
    with gzip.open(data_folder("mnist") / "train-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784)
    x = x[: IMAGES // 6 if run.quick else IMAGES].astype(np.float32)
    limit = None if run.quick else 5e-3  # for all images
    peers = {"faiss IndexFlat": flat_index, "scikit-learn brute": brute_index}
    workload = f"{K} nearest of {len(x):,} images x 784 pixels"
    yield from neighbour_rows(workload, x, 10 if run.quick else 20, peers, run.folder, limit, {})


HOW = """Rows of the set itself are asked for, all at once, and both sides must give the same distances. Assay is timed
through the program. Its time a query is what a job of ten times the queries takes longer, over those more: printing the
answer is in it. Peers search an index that is already built; the second line of each has building it and reading the
file in it, and for Assay the start of the program too."""

WORKLOADS = [
    Workload(
        "neighbours_adult",
        "Neighbours in a table",
        adult,
        f"Adult as label codes and numbers, all standardised; exact search under l-infinity.\n\n{HOW}",
    ),
    Workload(
        "neighbours_mnist",
        "Neighbours among images",
        mnist,
        "MNIST's training images as raw pixels, measured as in the table above. In 784 dimensions scikit-learn's trees "
        "are no faster than its scan of every row, and take longer to build: they are left out.",
    ),
]
