"""What the Python package adds to the explanation functions: part of `make bench`; `--quick` for fewer rounds.

The models, rows and methods are those of benchmarks/peers/explanations.py, at 10,000 rows and more. Python's time is
that of assay.explain() with a float32 array. The C++ side is benchmarks/explain_rows.cpp, a process of its own that
is asked call by call, in turn with Python; both have warmed up, and the bits of both results are the same. It takes
the way of the program: from a table in memory to the explanations; what of it is explain() alone stands beside.
Figures are medians over the rounds, with the quartiles of the overhead. The overhead in CPU seconds is for machines
that do something else at the same time. A call of Python costs some 0.4 ms of its own, whatever it computes: next to
methods of a few milliseconds that is more than the bar, which is for all of them together.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import subjects
from explanations import PERMUTATIONS, SAMPLES, STEPS
from harness import seconds_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY_EXPLAIN_ROWS", str(ROOT / "build" / "explain_rows"))
BAR, IMAGES, SECONDS = 0.05, 10000, 2
TABLE = {
    "exact_shapley": {},
    "kernel_shap": {"samples": SAMPLES},
    "shapley_sampling": {"permutations": PERMUTATIONS, "antithetic": False},
    "gradient": {},
    "gradient_x_input": {},
    "deeplift": {},
    "integrated_gradients": {},
    "integrated_gradients, 50 points": {"rule": "gauss_legendre", "steps": STEPS, "tolerance": 0},
}
PICTURES = {"gradient": {}, "gradient_x_input": {}, "deeplift": {}}


def images(folder):
    """The network for MNIST with more rows."""
    training = ("--cnn", "32,64", "--training", "epochs=1")
    module = subjects.mnist_module()
    return subjects.subject(folder, "mnist", module, (1, 28, 28), IMAGES, training, ("--split", "test"))


class Engine:
    """The C++ side: a process that answers calls."""

    def __init__(self, folder, name):
        files = [str(folder / f"{name}{end}") for end in (".onnx", ".npy", "_baseline.npy")]
        self.process = subprocess.Popen([PROGRAM, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, threads, method, options):
        """Seconds from table to explanations, the same of CPU, seconds in explain(), sum of the attributions' bits."""
        words = [f"{key}={str(value).lower()}" for key, value in options.items()]
        self.process.stdin.write(f"{threads} {':'.join([method, *words])}\n")
        self.process.stdin.flush()
        *seconds, bits = self.process.stdout.readline().split()
        return *map(float, seconds), int(bits)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def python_call(model, rows, baseline, threads, method, options):
    begin, cpu = time.perf_counter(), time.process_time()
    found = assay.explain(model, rows, method, baseline=baseline, threads=threads, **options)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return seconds, cpu, int(np.asarray(found.values).view(np.uint32).sum(dtype=np.uint64))


def quartiles(values):
    first, _, third = statistics.quantiles(values, n=4)
    return first, third


def measure(made, methods, threads, rounds):
    """Facts of each method: both sides in turn."""
    folder, name = made.folder, made.name
    model = assay.load(folder / f"{name}.onnx")
    rows, baseline = np.load(folder / f"{name}.npy"), np.load(folder / f"{name}_baseline.npy")
    with Engine(folder, name) as engine:
        for label, options in methods.items():
            method = label.split(",")[0]
            # The first call of each side warms up, and tells how many more there is time for.
            first, *_ = python_call(model, rows, baseline, threads, method, options)
            engine.call(threads, method, options)
            calls = []
            for _ in range(min(max(rounds, int(SECONDS / first)), 20 * rounds)):
                *ours, bits = python_call(model, rows, baseline, threads, method, options)
                *theirs, others = engine.call(threads, method, options)
                assert bits == others, f"{label}: the two sides differ"
                calls.append((*ours, *theirs))
            python, python_cpu, whole, whole_cpu, inside = zip(*calls, strict=True)
            overhead = statistics.median(python) / statistics.median(whole) - 1
            overheads = [ours / theirs - 1 for ours, theirs in zip(python, whole, strict=True)]
            yield {
                "workload": f"{name}: {label}, {len(rows):,} rows",
                "threads": threads,
                "python_s": statistics.median(python),
                "cpp_s": statistics.median(whole),
                "cpp_explain_s": statistics.median(inside),
                "overhead": overhead,
                "overhead_quartiles": quartiles(overheads),
                "cpu_overhead": statistics.median(python_cpu) / statistics.median(whole_cpu) - 1,
                "rounds": len(calls),
                "holds": overhead < BAR,
            }


def main():
    parser = argparse.ArgumentParser(description="Measure what the Python package adds to the C++ library.")
    parser.add_argument("--quick", action="store_true", help="seven rounds instead of fifteen, and no images")
    parser.add_argument("--only", default="", help="methods that have this in their name")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    data = pathlib.Path(os.environ.get("ASSAY_DATA", ""))
    if not os.environ.get("ASSAY_DATA") or not all((data / name).is_dir() for name in ("adult", "mnist")):
        print("benchmarks/python_overhead.py left out: ASSAY_DATA has no adult and mnist")
        return
    torch.set_num_threads(1)
    rounds = 7 if arguments.quick else 15
    facts = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        explained = [(subjects.adult(folder), TABLE)] + ([] if arguments.quick else [(images(folder), PICTURES)])
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            for made, methods in explained:
                chosen = {label: options for label, options in methods.items() if arguments.only in label}
                # Seconds each: five calls say enough.
                facts += measure(made, chosen, threads, rounds if made.name == "adult" else 5)
    text = seconds_text
    head = ["C++ explain()", "C++", "Python", "overhead", "quartiles", "of CPU", f"< {BAR:.0%}"]
    lines = [["workload", "threads", *head]]
    for fact in facts:
        times = [text(fact[side]) for side in ("cpp_explain_s", "cpp_s", "python_s")]
        low, high = fact["overhead_quartiles"]
        overhead = [f"{fact['overhead']:+.1%}", f"{low:+.1%} to {high:+.1%}", f"{fact['cpu_overhead']:+.1%}"]
        lines.append([fact["workload"], str(fact["threads"]), *times, *overhead, "yes" if fact["holds"] else "NO"])
    for threads in sorted({fact["threads"] for fact in facts}):
        python, whole = (
            sum(fact[side] for fact in facts if fact["threads"] == threads) for side in ("python_s", "cpp_s")
        )
        share = python / whole - 1
        total = ["all of them", str(threads), "", text(whole), text(python), f"{share:+.1%}", "", ""]
        lines.append([*total, "yes" if share < BAR else "NO"])
    print("\nSeconds for one call, medians of five rounds or more")
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    out = ROOT / "build" / "bench" / "python_overhead.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
