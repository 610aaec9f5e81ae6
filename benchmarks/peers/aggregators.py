"""Aggregators on real explanations. No peer aggregates explanations, so these have limits in seconds."""

import time

import numpy as np
import subjects
from explanations import repeated
from harness import Row, Workload, alternate

import assay

METHODS = [
    "kernel_shap:samples=4096",
    "shapley_sampling:permutations=2",
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "deeplift",
]
PIXELS, TESTED = 784, 1000
# (aggregator, seconds for a row, name in README's table)
LIMITS = [
    ("region_shrinking:rounds=10", 15e-3),
    ("gradient_descent_style", 0.5e-3),
]


def run_images(run):
    made = subjects.mnist(run.kept, run.quick)
    model = assay.load(made.file)
    table, baseline = made.table(3 if run.quick else 24), made.flat_baseline()
    options = {"baseline": baseline, "groups": "none", "threads": 1, "progress": False}
    members = [assay.explain(model, table, method, **options) for method in METHODS]
    assert all(member.values.shape == (len(table), PIXELS) for member in members)
    for aggregator, limit in LIMITS:

        def combine(aggregator=aggregator):
            return assay.aggregate(members, aggregator, threads=1, progress=False)

        combined = np.asarray(combine().values)
        assert combined.shape == (len(table), PIXELS) and np.isfinite(combined).all()
        found = alternate({"assay": repeated(combine, len(table))})
        words = aggregator.replace(":", ", ").replace("=", " = ")
        name = f"{words}, {len(METHODS)} explanations of {PIXELS} pixels, a row"
        yield Row(name, None, [], found["assay"], limit=limit)


def run_ava(run):
    subjects.adult(run.kept)  # which trains the network and leaves its file
    model = assay.load(run.kept / "adult_trained.onnx")
    pool, tested = assay.dataset("adult", split="train"), assay.dataset("adult", split="test")[:TESTED]
    options = {"pool": pool, "threads": 1, "progress": False}

    def combine():
        # Explanations keep those of their pool's rows: fresh ones have none yet, and are not what is timed.
        explained = assay.explain(model, tested, "exact_shapley", **options)
        begin = time.perf_counter()
        made = assay.aggregate([explained], "ava", k=10, method="exact_shapley", threads=1, progress=False)
        return made, time.perf_counter() - begin

    made, _ = combine()
    # Values add up to the weighted outputs of the antecedents less their base.
    total = np.asarray(made.values).sum(axis=1)
    expected = np.asarray(made.measures["antecedents_output"]) - np.asarray(made.base)
    np.testing.assert_allclose(total, expected, rtol=1e-3, atol=1e-3)
    found = alternate({"assay": lambda: combine()[1]})
    name = f"ava, {TESTED:,} test rows of Adult among {len(pool):,} training rows, k = 10, exact Shapley values"
    yield Row(name, None, [], found["assay"], limit=10)


WORKLOADS = [
    Workload(
        "aggregators_mnist",
        "Aggregators",
        run_images,
        "The paper's network for MNIST and the paper's six explanation functions, explained once; then the time of "
        "`assay.aggregate` for one image. No peer aggregates explanations, so the bars are limits.",
    ),
    Workload(
        "aggregators_ava",
        "Aggregate valuation of antecedents",
        run_ava,
        "Test rows of Adult, explained by the exact Shapley values of their ten nearest training rows each: the time "
        "of the whole call, with the search and all Shapley values.",
    ),
]
