"""How far the hot paths are from what the processor can do: their rate over the peak of multiply-adds measured beside
them, on one thread and in its own time.

Work is what a path cannot do without, counted by hand below: padding of vectors, copies and set-up are time and not
work. A path that calculates little is counted by what it does instead.
"""

import dataclasses
import statistics
import time

import cpp_benchmarks
import numpy as np
import torch
import xgboost
from engine import BATCH, CNN_WORK, MLP_WORK, ROWS, export
from harness import Table, Workload, alternate, digits
from subjects import adult_module, mnist_module

import assay

MLP_WEIGHTS, CNN_WEIGHTS = 14 * 40 + 40 + 40 * 2 + 2, 25 * 32 + 32 + 800 * 64 + 64 + 10240 + 10
ADAM = 12  # operations for each weight
LOGARITHM = 20  # of one: a polynomial, a division, and what takes the exponent apart
FEATURES, PAIRS = 14, 1037
# Of four regressions, 32 pairs each.
LEFT_OUT = 128
LEAST_SHARE = 0.25
SHORT_PRODUCTS = (
    "inner dimensions of 2, 14 and 40 end a product after a few steps: less than half of the time is products, the "
    "rest is leaky ReLUs, transposes and copies of layers that are as long as their products are short"
)


@dataclasses.dataclass
class Path:
    """A hot path: so much work in the seconds of each round, in units of so many operations."""

    name: str
    counted: str
    work: float
    rounds: list
    reason: str  # why it is under a quarter of the peak, where it is
    unit: str = "FLOP"
    operations: float = 1

    def rate(self):
        return self.work / statistics.median(self.rounds)

    def line(self, peak):
        share = self.rate() * self.operations / peak
        rate = f"{digits(self.rate() / 1e9)} G {self.unit}/s"
        return [self.name, self.counted, rate, f"{100 * share:.1f} %", self.reason if share < LEAST_SHARE else ""]


# Benchmark: (name, what is counted, work, why it may be under a quarter, unit, operations of one).
COMPILED = {
    "engine_mlp_forward/threads:1": (
        f"MLP 14-40-2 forward, {ROWS:,} rows",
        "2 x 640 a row",
        2 * ROWS * MLP_WORK,
        SHORT_PRODUCTS,
    ),
    "engine_mlp_all_gradients/threads:1": (
        f"MLP 14-40-2 forward and all gradients, {ROWS:,} rows",
        "3 x 2 x 640 a row",
        6 * ROWS * MLP_WORK,
        SHORT_PRODUCTS,
    ),
    "train_mlp_step/threads:1": (
        "MLP 14-40-2 Adam step, 32 rows",
        f"3 x 2 x 640 a row and {ADAM} a weight",
        6 * 32 * MLP_WORK + ADAM * MLP_WEIGHTS,
        "of some 5 microseconds products take two fifths and the loss a quarter, whose logarithms come one by one; the "
        "rest is Adam, transposes and calls",
    ),
    "engine_cnn_forward/threads:1": (
        f"CNN forward, {BATCH} images",
        "2 x 3.75 million an image",
        2 * BATCH * CNN_WORK,
        "products take three quarters of the time, patches and pooling most of the rest",
    ),
    "engine_cnn_all_gradients/threads:1": (
        f"CNN forward and all gradients, {BATCH} images",
        "3 x 2 x 3.75 million an image",
        6 * BATCH * CNN_WORK,
        "patches are copied out of images and added back",
    ),
    "train_cnn_step/threads:1": (
        f"CNN Adam step, {BATCH} images",
        f"3 x 2 x 3.75 million an image and {ADAM} a weight",
        6 * BATCH * CNN_WORK + ADAM * CNN_WEIGHTS,
        "patches are copied out of images and added back",
    ),
    "engine_trees_forward/threads:1": (
        "tree prediction, 500 trees of depth 6, 10,000 rows",
        "6 visits of nodes for each tree and row; not bound by arithmetic: a visit is one comparison",
        10000 * 500 * 6,
        "a visit waits for the node that the one before led to; several rows walk at once to fill the wait",
        "visit",
        1,
    ),
    "stream/table_two_scaled": (
        "neighbours, 976 x 48,842 pairs of 14 coordinates, l-infinity",
        "a difference, its size and a maximum for each pair and coordinate",
        976 * 48842 * FEATURES * 3,
        "the three are an instruction each, where a multiply-add is two operations in one: half of the peak is the "
        "limit; the rest is what hands out the neighbours found",
    ),
    "evaluate_entropies": (
        "complexity, 48,842 rows of 14",
        f"a logarithm for each value, of about {LOGARITHM} operations",
        48842 * FEATURES,
        "float64, whose peak is half; a logarithm waits for a division, and few rows are in flight at once",
        "logarithm",
        LOGARITHM,
    ),
}
BYTES = ("csv_numeric", "csv_memory_copy")


class Network:
    """The paper's network for Adult with made-up weights and rows, and how many of its units bend."""

    def __init__(self, folder):
        torch.manual_seed(1)
        module = adult_module()
        export(module, torch.zeros(2, FEATURES), folder / "mlp.onnx")
        export(mnist_module(), torch.zeros(2, 1, 28, 28), folder / "cnn.onnx")
        self.variables = {"ASSAY_BENCH_MLP": folder / "mlp.onnx", "ASSAY_BENCH_CNN": folder / "cnn.onnx"}
        self.model = assay.load(folder / "mlp.onnx")
        self.rows = np.random.default_rng(1).normal(size=(50000, FEATURES)).astype(np.float32)
        # A unit that keeps its sign in all coalitions of a row is a linear part of its game, and costs nothing in each.
        weight, bias = module[0].weight.detach().numpy(), module[0].bias.detach().numpy()
        deltas = self.rows[:1000, None, :] * weight
        lowest, highest = bias + np.minimum(deltas, 0).sum(axis=2), bias + np.maximum(deltas, 0).sum(axis=2)
        self.bending = float(((lowest < 0) & (highest > 0)).sum(axis=1).mean())

    def path(self, method, title, counted, work, rows, reason, **options):
        """The path without its rounds, and the call."""
        x = self.rows[:rows]
        path = Path(f"{title}, {rows:,} rows", counted, rows * work, [], reason)
        return path, lambda: assay.explain(self.model, x, method, baseline="zero", threads=1, **options)


def methods(network, more):
    units = network.bending
    bending = f"of the {units:.1f} hidden units that bend in a row's game on average"
    yield network.path(
        "exact_shapley",
        "exact_shapley, all 16,384 coalitions",
        f"a maximum and an addition for each coalition and each {bending}; it needs no products",
        2**FEATURES * 2 * units,
        500 * more,
        "both are an instruction each, where a multiply-add is two operations in one: half of the peak is the limit; a "
        "quarter of the time folds the coalitions' values into Shapley values and sets rows up",
    )
    yield network.path(
        "kernel_shap",
        "kernel_shap, 2,076 coalitions",
        f"a maximum and a multiply-add for each coalition and each {bending}; for each of {PAIRS:,} pairs a "
        f"multiply-add for {LEFT_OUT} left-out residuals and, in float64, for 14 values",
        2 * PAIRS * 3 * units + PAIRS * 2 * (LEFT_OUT + FEATURES),
        6000 * more,
        "a third of the time is the game's loop, which loads two vectors for each multiply-add; a fifth are the "
        "residuals, a product of eight rows at a time; a tenth the values, in float64, whose peak is half; a tenth "
        "sets rows up; the rest solves for the design that all rows share and makes tables",
        samples=2 * PAIRS + 2,
    )
    yield network.path(
        "shapley_sampling",
        "shapley_sampling, 25 orders",
        "an addition, a maximum and a multiply-add for each of 327 coalitions and 40 units",
        327 * 40 * 4,
        5000 * more,
        "the walk is half of the time, at 4 operations in 3 instructions; the rest transposes values and sums what "
        "players add, with its errors, in float64",
        permutations=25,
        antithetic=False,
    )
    yield network.path(
        "integrated_gradients",
        "integrated_gradients, 50 points",
        "forward and backward, 2 x 2 x 640, at each point",
        50 * 4 * MLP_WORK,
        5000 * more,
        SHORT_PRODUCTS,
        rule="gauss_legendre",
        steps=50,
        tolerance=0,
    )
    yield network.path(
        "deeplift",
        "deeplift",
        "forward and backward, 2 x 2 x 640 a row",
        4 * MLP_WORK,
        50000,
        "a row is met once: reading, checking and writing it takes as long as its short products",
    )


def tree_shap(folder, more):
    """Made-up rows and labels: trees as full as they can be."""
    draw = np.random.default_rng(2)
    x, y = draw.normal(size=(4000, FEATURES)).astype(np.float32), draw.integers(2, size=4000)
    settings = {"max_depth": 6, "objective": "binary:logistic", "min_child_weight": 0, "nthread": 1, "seed": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(x, y), num_boost_round=50)
    booster.save_model(folder / "booster.json")
    branches = sum(tree.count(":[") for tree in booster.get_dump())
    model, rows = assay.load(folder / "booster.json"), draw.normal(size=(20000 * more, FEATURES)).astype(np.float32)
    path = Path(
        f"tree_shap, 50 trees of depth 6, {len(rows):,} rows",
        f"the decision of each of {branches:,} branches for each row; not bound by arithmetic: a decision is one "
        "comparison",
        len(rows) * branches,
        [],
        "decisions of 32 rows are one instruction; the time goes to look-ups in tables, a cache line of 16 numbers for "
        "each part of a tree and row, and to making the tables",
        "decision",
    )
    return path, lambda: assay.explain(model, rows, "tree_shap", background=x[:100], threads=1)


def own_time(call):
    """A side for alternate(): seconds of this process, as the peak is measured, for others may share the machine."""

    def run():
        begin = time.process_time()
        call()
        return time.process_time() - begin

    return run


def reading(seconds, bytes_per_second):
    """The table's line for CSV, whose limit is memory."""
    share = seconds["csv_memory_copy"] / seconds["csv_numeric"]
    return [
        "CSV, 100,000 rows of 20 numbers",
        "bytes of text; not bound by arithmetic: its limit is a copy in memory",
        f"{digits(bytes_per_second / 1e9)} G byte/s",
        f"{100 * share:.1f} % of a copy",
        "finding fields and turning digits into correctly rounded numbers, some 12 nanoseconds each, not memory",
    ]


def limit(run):
    network, more = Network(run.folder), 1 if run.quick else 4
    least = 0.01 if run.quick else 0.2
    pattern = "^(" + "|".join(["peak", *COMPILED, *BYTES]) + ")(/|$)"
    facts = []

    def compiled():
        facts.append(cpp_benchmarks.run(pattern, least, network.variables))
        return 0

    called = [*methods(network, more), tree_shap(run.folder, more)]
    rounds = alternate({"compiled": compiled} | {path.name: own_time(call) for path, call in called})
    facts = facts[1:]
    peak = statistics.median(each["peak/iterations:1"]["flops"] for each in facts)
    seconds = {name: [each[name]["cpu_seconds"] for each in facts] for name in (*COMPILED, *BYTES)}
    paths = [Path(*about[:3], seconds[name], *about[3:]) for name, about in COMPILED.items()]
    for path, _ in called:
        path.rounds = rounds[path.name]
        paths.append(path)
    text = statistics.median(each["csv_numeric"]["bytes_per_second"] for each in facts)
    medians = {name: statistics.median(seconds[name]) for name in BYTES}
    lines = [path.line(peak) for path in paths] + [reading(medians, text)]
    rates = {path.name: {"rate": path.rate(), "share": path.rate() * path.operations / peak} for path in paths}
    target = facts[0]["peak/iterations:1"]["label"]
    yield Table(
        "Hot paths",
        ["hot path", "work counted", "rate", "share of peak", f"why it is under {100 * LEAST_SHARE:.0f} %"],
        lines,
        f"The peak is {digits(peak / 1e9)} G FLOP/s: twelve independent chains of float32 multiply-adds on one thread "
        f"with the widest vectors there are ({target}), the fastest of 200 short runs.",
        facts={"peak": peak, "target": target, "paths": rates, "csv": medians},
    )


WORKLOADS = [
    Workload(
        "limit",
        "Distance to the limit",
        limit,
        "Achieved rates of the hot paths over the peak of multiply-adds that the same processor reached in the same "
        "run, on one thread, in medians over the rounds. Only work that cannot be left out counts; calls from Python "
        "include the checks of their arguments and the copies of their results. A share is no grade: a path that "
        "leaves work out has a lower one and ends earlier.",
    )
]
