"""Criteria beside Quantus, in one run: part of `make bench`; `--quick` for fewer rounds.

Assay trains the paper's network for Adult; the same weights go into a PyTorch module, and both sides get the same rows
and the same explanations, made once by Assay. Before anything is timed, means over the rows are compared: of the same
numbers (all subsets, the same noise) closely, of drawn subsets, which all rows share in Assay, within 15 %. In each
round every side runs once, on the same threads; figures are medians over the rounds, for one row. Quantus runs at the
best of several batch sizes, without warnings, progress bar and normalisation; weights need no gradients there, which is
faster.

Assay's time is that of evaluate() in a process of its own (benchmarks/evaluate_bench.cpp), without the bootstrap
interval of the mean, which Quantus does not have; the time with it is a line of its own.
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from unittest import mock

import numpy as np
import quantus
import threadpoolctl
import torch
from captum import attr
from explain import ADULT, BENCHMARKS, ROOT, adult, print_lines, seconds_text
from torch import nn

sys.path.insert(0, str(ROOT / "tests" / "fixtures" / "criteria"))
from make_criteria import noise

ROWS, SUBSETS, SAMPLES, RADIUS = 1000, 100, 10, 0.2
GRADIENT, PATHS = "gradient_x_input", "integrated_gradients:rule=middle:steps=10:tolerance=0"
BATCHES = [64, 250, 1000]


class Judge:
    """Quantus on the rows of a subject; it wants a channel before the features."""

    def __init__(self, made):
        self.module = nn.Sequential(nn.Flatten(), made.module).eval()
        self.x = made.rows[:ROWS].numpy()[:, None].copy()
        self.y = made.targets[:ROWS].numpy()
        self.baseline = made.baseline.numpy()
        self.explainers = captum_explainers(self.module, self.baseline)
        self.phi = {method: made.explained(method, ROWS).astype(np.float32)[:, None] for method in (GRADIENT, PATHS)}

    def replaced(self, arr, indices, **_):
        """Quantus' own replacement takes one value for all features, so this is a function of the user's."""
        out = arr.copy()
        rows = np.arange(len(arr))[:, None]
        out[rows, indices] = self.baseline[0][indices]
        return out

    def scores(self, metric, batch, method=GRADIENT, **options):
        found = metric(
            model=self.module,
            x_batch=self.x,
            y_batch=self.y,
            a_batch=self.phi[method].copy(),
            softmax=False,
            batch_size=batch,
            **options,
        )
        return np.asarray(found, dtype=np.float64)

    def faithfulness(self, batch, size, runs=SUBSETS):
        options = {"nr_runs": runs, "subset_size": size, "perturb_func": self.replaced}
        options |= {"normalise": False, "return_aggregate": False, "disable_warnings": True}
        return self.scores(quantus.FaithfulnessCorrelation(**options), batch)

    def faithfulness_of_all(self, size):
        """Each subset once."""
        subsets = [list(subset) for subset in itertools.combinations(range(self.x.shape[-1]), size)]
        drawn = [subset for subset in subsets for _ in self.x]
        with mock.patch("numpy.random.choice", side_effect=drawn):
            return self.faithfulness(ROWS, size, len(subsets))

    def complexity(self, batch):
        return self.scores(quantus.Complexity(normalise=False, disable_warnings=True), batch)

    def sensitivity(self, batch, method, **more):
        options = {"nr_samples": SAMPLES, "lower_bound": RADIUS, "disable_warnings": True} | more
        metric = quantus.MaxSensitivity(norm_denominator=lambda a: np.ones(len(a)), **options)
        return self.scores(metric, batch, method, explain_func=self.explainers[method])

    def sensitivity_to_our_noise(self, method):
        drawn = iter(noise("max_sensitivity_yeh", self.x.shape[-1], SAMPLES, RADIUS, seed=0))
        return self.sensitivity(ROWS, method, perturb_func=lambda arr, **_: arr + next(drawn))


def captum_explainers(module, baseline):
    """Captum called directly; quantus.explain() makes the same calls and looks at its arguments before."""
    product, paths = attr.InputXGradient(module), attr.IntegratedGradients(module)
    base = torch.from_numpy(baseline)[:, None]

    def gradients(model, inputs, targets, **_):
        return product.attribute(torch.tensor(inputs, dtype=torch.float32), torch.as_tensor(targets)).detach().numpy()

    def integrated(model, inputs, targets, **_):
        options = {"n_steps": 10, "method": "riemann_middle"}
        x = torch.tensor(inputs, dtype=torch.float32)
        return paths.attribute(x, base, torch.as_tensor(targets), **options).detach().numpy()

    return {GRADIENT: gradients, PATHS: integrated}


@dataclasses.dataclass
class Workload:
    name: str
    benchmark: str
    peer: str | None = None
    run: object = None  # batch size -> scores
    bar: float | None = None
    rows: int = ROWS
    same: object = None  # () -> scores that Assay's must be equal to
    loose: float | None = None  # how far apart the means of drawn scores may be, of their size


def workloads(judge):
    correlation = "Quantus FaithfulnessCorrelation"
    for size in (2, 7):
        yield Workload(
            f"faithfulness, |S| = {size}, {SUBSETS} subsets",
            f"faithfulness_{size}",
            correlation,
            lambda batch, size=size: judge.faithfulness(batch, size),
            100,
            same=(lambda: judge.faithfulness_of_all(2)) if size == 2 else None,
            loose=0.15,
        )
    yield Workload("faithfulness, |S| = 7, all 3,432 subsets", "faithfulness_7_all")
    yield Workload(
        "complexity", "complexity", "Quantus Complexity", judge.complexity, 20, same=lambda: judge.complexity(ROWS)
    )
    yield Workload("complexity, with a bootstrap interval", "complexity_interval")
    for method in (GRADIENT, PATHS):
        label = method.split(":")[0]
        yield Workload(
            f"max_sensitivity_yeh, {SAMPLES} samples, {label.replace('_', ' ')}",
            f"yeh_{label}",
            "Quantus MaxSensitivity",
            lambda batch, method=method: judge.sensitivity(batch, method),
            50,
            same=lambda method=method: judge.sensitivity_to_our_noise(method),
        )
    for kind in ("max", "avg"):
        yield Workload(f"{kind}_sensitivity against all others, r = 2", f"{kind}_sensitivity", rows=ADULT)


def assay_run(folder, benchmark, threads, rows):
    """One run of one benchmark: seconds for one row, and the entry itself."""
    pattern = f"^evaluate_adult_{benchmark}/threads:{threads}/rows:{rows}/"
    command = [BENCHMARKS, f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_min_time=0.1"]
    environment = os.environ | {"ASSAY_BENCH_EXPLAIN": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (entry,) = json.loads(done.stdout)["benchmarks"]
    if "error_message" in entry:
        raise RuntimeError(f"{entry['name']}: {entry['error_message']}")
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]
    return entry["real_time"] * scale / rows, entry


def peer_run(work, batch):
    """Seconds for one row, over at least 0.1 s, as for Assay."""
    begin = time.perf_counter()
    calls = 0
    while time.perf_counter() - begin < 0.1:
        work.run(batch)
        calls += 1
    return (time.perf_counter() - begin) / (calls * work.rows)


def check_answers(work, entry):
    """The mean over the rows, which Assay's benchmark tells."""
    if work.same is not None:
        found = work.same()
        np.testing.assert_allclose(entry["mean"], found.mean(), rtol=1e-3, err_msg=work.name)
    elif work.loose is not None:
        found = work.run(ROWS)
        np.testing.assert_allclose(entry["mean"], found.mean(), rtol=work.loose, err_msg=work.name)


def measure(work, folder, threads, rounds):
    _, entry = assay_run(folder, work.benchmark, threads, work.rows)
    batch = None
    if work.run is not None:
        check_answers(work, entry)
        batch = min(BATCHES, key=lambda size: peer_run(work, size))
    theirs, ours = [], []
    for _ in range(rounds):
        theirs += [peer_run(work, batch)] if work.run is not None else []
        ours.append(assay_run(folder, work.benchmark, threads, work.rows)[0])
    peer_s, assay_s = statistics.median(theirs) if theirs else None, statistics.median(ours)
    ratio = peer_s / assay_s if theirs else None
    return {
        "workload": f"adult: {work.name}, {work.rows:,} rows",
        "peer": work.peer,
        "threads": threads,
        "batch": batch,
        "peer_s": peer_s,
        "assay_s": assay_s,
        "whole_s": assay_s * work.rows,
        "ratio": ratio,
        "bar": None if work.bar is None else f">= {work.bar:g}x",
        "holds": None if work.bar is None else ratio >= work.bar,
        "mean": entry["mean"],
        "coverage": entry["coverage"],
        "rounds": rounds,
    }


def print_table(facts):
    words = {None: "-", True: "yes", False: "NO"}
    lines = [["workload", "threads", "peer", "batch", "peer", "assay", "ratio", "bar", "holds", "all rows", "coverage"]]
    for row in facts:
        peer = [row["peer"], str(row["batch"]), seconds_text(row["peer_s"])] if row["peer"] else ["-", "-", "-"]
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:,.1f}x"
        judged = [seconds_text(row["assay_s"]), ratio, row["bar"] or "-", words[row["holds"]]]
        lines.append(
            [
                row["workload"],
                str(row["threads"]),
                *peer,
                *judged,
                seconds_text(row["whole_s"]),
                f"{100 * row['coverage']:.0f} %",
            ]
        )
    print_lines("Criteria: seconds for one row, and for all in Assay", lines)


def main():
    parser = argparse.ArgumentParser(description="Measure criteria beside Quantus.")
    parser.add_argument("--quick", action="store_true", help="three rounds instead of five")
    parser.add_argument("--only", default="", help="workloads with this in their name")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    folder = os.environ.get("ASSAY_DATA", "")
    if not folder or not (pathlib.Path(folder) / "adult").is_dir():
        print("benchmarks/evaluate.py left out: ASSAY_DATA has no adult")
        return
    facts = []
    np.random.seed(0)
    with tempfile.TemporaryDirectory() as name:
        judge = Judge(adult(pathlib.Path(name)))
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            torch.set_num_threads(threads)
            with threadpoolctl.threadpool_limits(threads):
                chosen = [work for work in workloads(judge) if arguments.only in work.name]
                facts += [measure(work, name, threads, 3 if arguments.quick else 5) for work in chosen]
    print_table(facts)
    out = ROOT / "build" / "bench" / "evaluate.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
