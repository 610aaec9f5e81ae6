"""Aggregators on real explanations, with the bars that they must keep: part of `make bench`; `--quick` for fewer rows.

Assay trains the paper's network for MNIST and explains images by the paper's six methods; aggregate() of the six is
timed in a process of its own (benchmarks/aggregate_bench.cpp), medians over rounds, for one row. No peer aggregates
explanations, so there is nobody to compare with. What AVA costs on Adult is in benchmarks/ava_bench.cpp."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
BENCHMARKS = os.environ.get("ASSAY_BENCHMARKS", str(ROOT / "build" / "assay_benchmarks"))
METHODS = [
    "kernel_shap:samples=4096",
    "shapley_sampling:permutations=2",
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "deeplift",
]
# Seconds for one row of six explanations of 784 pixels, on one thread.
BARS = {"region_shrinking:rounds=10": 15e-3, "gradient_descent_style": 0.5e-3}


def assay(*arguments):
    subprocess.run([PROGRAM, "--quiet", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def explain_images(folder, rows):
    model, members = folder / "mnist.onnx", folder / "members"
    members.mkdir()
    assay("train", "--data", "mnist", "--split", "train", "--cnn", "32,64", "--training", "epochs=1", "--out", model)
    given = ("--model", model, "--data", "mnist", "--split", "test", "--rows", f"1-{rows}", "--baseline", "zero")
    assay("explain", *given, "--groups", "none", "--method", ",".join(METHODS), "--out", members / "member.npz")
    return members


def measure(members, rounds):
    """Seconds of each benchmark, one for each round."""
    found = {}
    for _ in range(rounds):
        command = [BENCHMARKS, "--benchmark_filter=^aggregate_mnist_", "--benchmark_format=json"]
        environment = os.environ | {"ASSAY_BENCH_MEMBERS": str(members)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        for entry in json.loads(done.stdout)["benchmarks"]:
            if "error_message" in entry:
                raise RuntimeError(f"{entry['name']}: {entry['error_message']}")
            name = entry["name"].removeprefix("aggregate_mnist_").removesuffix("/real_time")
            assert entry["members"] == len(METHODS) and entry["players"] == 784
            found.setdefault(name, []).append(entry["real_time"] * 1e-3 / entry["rows"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds")
    quick = parser.parse_args().quick
    if not (pathlib.Path(os.environ.get("ASSAY_DATA", "nowhere")) / "mnist").is_dir():
        print("benchmarks/aggregate.py left out: ASSAY_DATA has no mnist")
        return
    with tempfile.TemporaryDirectory() as name:
        members = explain_images(pathlib.Path(name), 20 if quick else 100)
        found = measure(members, 1 if quick else 5)
    print(f"{'aggregator of six explanations of 784 pixels':50} {'threads':>7} {'ms a row':>9} {'bar':>6} holds")
    failed = False
    for name, seconds in found.items():
        aggregator, threads = name.split("/threads:")
        took, bar = statistics.median(seconds), BARS.get(aggregator) if threads == "1" else None
        holds = "-" if bar is None else "yes" if took <= bar else "NO"
        failed |= holds == "NO"
        print(f"{aggregator:50} {threads:>7} {took * 1e3:9.3f} {'-' if bar is None else f'{bar * 1e3:g}':>6} {holds}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
