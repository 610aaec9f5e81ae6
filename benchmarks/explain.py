"""Explanation functions beside Captum and SHAP, in one run: part of `make bench`; `--quick` for fewer rounds and rows.

Assay trains the paper's networks for Adult and MNIST; the same weights go into PyTorch modules, and outputs and
attributions of both sides are compared before anything is timed. In each round every side runs once, on the same
threads; figures are medians over the rounds, for one row. Each peer runs at the best of several batch sizes, tried
before the rounds; weights need no gradients there, which is faster. Captum's gradients take time that grows with the
square of a batch (it differentiates each output by itself), so its best batches are small. Slow peers get fewer rows:
their time for a row does not depend on how many there are.

Assay's time is that of explain() in a process of its own (benchmarks/explain_bench.cpp).
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np
import onnx
import shap
import threadpoolctl
import torch
from captum import attr
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
BENCHMARKS = os.environ.get("ASSAY_BENCHMARKS", str(ROOT / "build" / "assay_benchmarks"))
ADULT, IMAGES, SAMPLES, PERMUTATIONS, STEPS = 48842, 1000, 2076, 25, 50
FIFTY = f"integrated_gradients:rule=gauss_legendre:steps={STEPS}:tolerance=0"


# Models and rows


def assay(*arguments):
    subprocess.run([PROGRAM, "--quiet", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def torch_module(file, module):
    """The weights of Assay's file in a module of the same architecture."""
    graph = onnx.load(file).graph
    weights = [torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy()) for tensor in graph.initializer]
    for parameter, weight in zip(module.parameters(), weights, strict=True):
        assert parameter.shape == weight.shape
        parameter.data = weight
        parameter.requires_grad_(False)
    return module.eval()


def without_encoder(source, target):
    """The graph alone, which takes encoded rows: scaling is part of its first layer."""
    model = onnx.load(source)
    del model.metadata_props[:]
    onnx.save(model, target)


@dataclasses.dataclass
class Subject:
    """A model with its rows and baseline, as tensors and as files for Assay."""

    name: str
    module: nn.Module
    rows: torch.Tensor
    baseline: torch.Tensor
    targets: torch.Tensor
    folder: pathlib.Path

    def explained(self, method, count):
        """Assay's attributions of the first rows."""
        np.save(self.folder / "few.npy", self.rows[:count].reshape(count, -1).numpy())
        file = self.folder / "found.npz"
        given = ("--model", self.folder / f"{self.name}.onnx", "--data", self.folder / "few.npy")
        given += ("--baseline", self.folder / f"{self.name}_baseline.npy")
        assay("explain", *given, "--method", method, "--out", file)
        with np.load(file) as found:
            return found["values"].astype(np.float64)


def subject(folder, name, module, shape, count, training, encoding):
    trained, encoded = folder / f"{name}_trained.onnx", folder / f"{name}.npz"
    assay("train", "--data", name, *training, "--out", trained)
    without_encoder(trained, folder / f"{name}.onnx")
    assay("data", name, *encoding, "--out", encoded)
    with np.load(encoded) as table:
        rows = table["values"][:count, : int(np.prod(shape))].astype(np.float32)
    assert len(rows) == count
    # Pixels of zero are MNIST's background; the mean is the default of tables.
    baseline = np.zeros_like(rows[:1]) if len(shape) > 1 else rows.mean(axis=0, keepdims=True, dtype=np.float64)
    baseline = baseline.astype(np.float32)
    np.save(folder / f"{name}.npy", rows)
    np.save(folder / f"{name}_baseline.npy", baseline)
    module = torch_module(folder / f"{name}.onnx", module)
    rows = torch.from_numpy(rows).reshape(count, *shape)
    outputs = module(rows)
    assay("predict", "--model", folder / f"{name}.onnx", "--data", folder / f"{name}.npy", "--out", folder / "y.npy")
    np.testing.assert_allclose(np.load(folder / "y.npy"), outputs.softmax(dim=1).numpy(), rtol=1e-3, atol=1e-4)
    targets = outputs.argmax(dim=1) if outputs.shape[1] > 2 else torch.ones(count, dtype=torch.int64)
    return Subject(name, module, rows, torch.from_numpy(baseline).reshape(1, *shape), targets, folder)


def adult(folder):
    module = nn.Sequential(nn.Linear(14, 40), nn.LeakyReLU(0.01), nn.Linear(40, 2))
    training = ("--hidden", 40, "--training", "epochs=3")
    return subject(folder, "adult", module, (14,), ADULT, training, ("--encode", "label:impute=mean"))


def mnist(folder):
    layers = [nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2)]
    module = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 10))
    training = ("--cnn", "32,64", "--training", "epochs=1")
    return subject(folder, "mnist", module, (1, 28, 28), IMAGES, training, ("--split", "test"))


def one_output(module, output):
    """The margin of one class as a function of NumPy rows, as SHAP wants it: faster here than through PyTorch."""
    first, last = module[0], module[2]
    weights, bias = first.weight.numpy().T.copy(), first.bias.numpy()
    tail, offset = last.weight[output].numpy().copy(), last.bias[output].item()

    def margin(rows):
        hidden = np.asarray(rows, dtype=np.float32) @ weights
        hidden += bias
        np.maximum(hidden, np.float32(0.01) * hidden, out=hidden)
        return hidden @ tail + np.float32(offset)

    return margin


# Peers: a function of rows, targets and a setting gives attributions


@dataclasses.dataclass
class Peer:
    name: str
    run: object  # (rows, targets, setting) -> attributions of all rows
    settings: list
    rows: int  # a round's
    bar: float | None = None


def in_batches(explain):
    """The setting is a batch size, or begins with one."""

    def run(rows, targets, setting):
        size, *more = setting if isinstance(setting, tuple) else (setting,)
        batches = zip(rows.split(size), targets.split(size), strict=True)
        parts = [explain(batch, wanted, *more).detach() for batch, wanted in batches]
        return torch.cat(parts).numpy()

    return run


def captum_gradients(made, quick):
    """(Assay's method, peer) for the methods that follow gradients."""
    saliency, product = attr.Saliency(made.module), attr.InputXGradient(made.module)
    deeplift, paths = attr.DeepLift(made.module), attr.IntegratedGradients(made.module)
    images = made.name == "mnist"
    small = [20, 50, 200, 1000] if images else [128, 256, 512, 1024, 4096]
    rows, few = (IMAGES, 50 if quick else 200) if images else (ADULT // 8 if quick else ADULT, 512 if quick else 4096)
    bar = 1 if images else 100

    def ig(x, target, internal=None):
        return paths.attribute(x, made.baseline, target, n_steps=STEPS, internal_batch_size=internal)

    path_settings = [2, 4, 10, (50, 100)] if images else [5, 10, 20, 40, (512, 256), (512, 512), (512, 1024)]
    runs = {
        "gradient": ("Captum Saliency", lambda x, target: saliency.attribute(x.clone(), target, abs=False)),
        "gradient_x_input": ("Captum InputXGradient", lambda x, target: product.attribute(x.clone(), target)),
        "deeplift": ("Captum DeepLift", lambda x, target: deeplift.attribute(x.clone(), made.baseline, target)),
    }
    if quick:
        del runs["gradient_x_input"]
    for method, (name, run) in runs.items():
        yield method, Peer(name, in_batches(run), small, rows, bar)
    label = f"Captum IntegratedGradients, {STEPS} steps"
    yield FIFTY, Peer(label, in_batches(ig), path_settings, few, bar)
    if not images:
        yield "integrated_gradients", Peer(label, in_batches(ig), path_settings, few, bar)


def shap_exact(made):
    explainer = shap.explainers.Exact(one_output(made.module, 1), shap.maskers.Independent(made.baseline.numpy(), 1))
    return lambda rows, _targets, _setting: explainer(rows.numpy().astype(np.float64), silent=True).values


def shap_kernel(made):
    explainer = shap.KernelExplainer(one_output(made.module, 1), made.baseline.numpy())
    options = {"nsamples": SAMPLES, "l1_reg": False, "silent": True}
    return lambda rows, _targets, _setting: explainer.shap_values(rows.numpy(), **options)


def captum_kernel(made):
    explainer = attr.KernelShap(made.module)

    def run(row, target, at_once):
        options = {"n_samples": SAMPLES, "perturbations_per_eval": at_once}
        return explainer.attribute(row, made.baseline, target=target, **options)

    return lambda rows, targets, at_once: in_batches(run)(rows, targets, (1, at_once))


def captum_sampling(made):
    explainer = attr.ShapleyValueSampling(made.module)

    def run(x, target, at_once):
        options = {"n_samples": PERMUTATIONS, "perturbations_per_eval": at_once}
        return explainer.attribute(x, made.baseline, target, **options)

    return in_batches(run)


def coalition_games(made, quick):
    few = 5 if quick else 20
    kernel, sampling = (
        f"kernel_shap:samples={SAMPLES}",
        f"shapley_sampling:permutations={PERMUTATIONS}:antithetic=false",
    )
    yield "exact_shapley", Peer("shap.explainers.Exact", shap_exact(made), [None], few, 300)
    yield kernel, Peer("shap.KernelExplainer", shap_kernel(made), [None], few, 300)
    yield kernel, Peer("Captum KernelShap", captum_kernel(made), [1, SAMPLES], 2, 10000)
    batches = [(1000, 14), (4096, 1)] if quick else [(1000, 14), (4096, 14), (4096, 1), (16384, 1), (ADULT, 1)]
    peer = Peer("Captum ShapleyValueSampling", captum_sampling(made), batches, 4096 if quick else ADULT, 50)
    yield sampling, peer


# Exact values by brute force


def exact_values(made, rows):
    """Shapley values of the baseline game from all coalitions, in float64."""
    first, last = made.module[0], made.module[2]
    weights, bias = first.weight.numpy().astype(np.float64).T, first.bias.numpy().astype(np.float64)
    tail, offset = last.weight[1].numpy().astype(np.float64), float(last.bias[1])
    base = made.baseline.numpy()[0].astype(np.float64)
    players = len(base)
    masks = (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)
    sizes = masks.sum(axis=1)
    # The weight of a coalition without i is |S|! (d - |S| - 1)! / d!.
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, players + 1)]))
    with_i = np.where(sizes > 0, factorial[sizes - 1] * factorial[players - sizes], 0) / factorial[players]
    without_i = np.where(sizes < players, factorial[sizes] * factorial[(players - sizes - 1)], 0) / factorial[players]
    found = []
    for row in rows.numpy().astype(np.float64):
        hidden = np.where(masks, row, base) @ weights + bias
        value = np.maximum(hidden, 0.01 * hidden) @ tail + offset
        found.append([(value * np.where(masks[:, i], with_i, -without_i)).sum() for i in range(players)])
    return np.array(found)


def error_rows(made, quick):
    """Mean squared errors of the estimators at equal budgets, relative to the mean square of the exact values."""
    count = 10 if quick else 50
    rows, targets = made.rows[: 16 * count : 16], made.targets[:count]
    few = dataclasses.replace(made, rows=rows)
    exact = exact_values(made, rows)
    scale = np.mean(exact**2)

    def error(found):
        return float(np.mean((np.asarray(found, dtype=np.float64).reshape(exact.shape) - exact) ** 2) / scale)

    yield "exact_shapley", "float64 brute force", 0.0, error(few.explained("exact_shapley", count)), None
    np.random.seed(0)
    torch.manual_seed(0)
    kernel = error(few.explained(f"kernel_shap:samples={SAMPLES}", count))
    for name, peer in (("shap.KernelExplainer", shap_kernel(made)), ("Captum KernelShap", captum_kernel(made))):
        found = peer(rows[:10] if quick else rows, targets, SAMPLES)
        yield f"kernel_shap, {SAMPLES} samples", name, error(found), kernel, kernel < error(found)
    sampling = f"shapley_sampling:permutations={PERMUTATIONS}:antithetic=false"
    theirs = error(captum_sampling(made)(rows, targets, (count, 1)))
    for label, method in (
        (f"{PERMUTATIONS} permutations", sampling),
        (f"{PERMUTATIONS - 1} in antithetic pairs", None),
    ):
        ours = error(few.explained(method or f"shapley_sampling:permutations={PERMUTATIONS - 1}", count))
        yield f"shapley_sampling, {label}", "Captum ShapleyValueSampling", theirs, ours, None


# Both sides in turn


def benchmark_name(data, method):
    return f"explain_{data}_{method.split(':')[0]}" + (f"_{STEPS}" if method == FIFTY else "")


def assay_run(folder, benchmark, threads, rows):
    """One run of one benchmark: seconds for one row, and bytes of memory at the peak beyond the result."""
    pattern = f"^{benchmark}/threads:{threads}/rows:{rows}/"
    command = [BENCHMARKS, f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_min_time=0.1"]
    environment = os.environ | {"ASSAY_BENCH_EXPLAIN": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (entry,) = json.loads(done.stdout)["benchmarks"]
    if "error_message" in entry:
        raise RuntimeError(f"{entry['name']}: {entry['error_message']}")
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]
    return entry["real_time"] * scale / rows, entry["beyond_result"]


def peer_seconds(made, peer, setting, rows):
    """Seconds for one row."""
    x, targets = made.rows[:rows], made.targets[:rows]
    begin = time.perf_counter()
    peer.run(x, targets, setting)
    return (time.perf_counter() - begin) / len(x)


def best_setting(made, peer):
    """The fastest setting, each tried on a few of its batches."""
    if len(peer.settings) == 1:
        peer_seconds(made, peer, peer.settings[0], 1)
        return peer.settings[0]

    def tried(setting):
        batch = setting[0] if isinstance(setting, tuple) else setting
        rows = min(peer.rows, max(4 * batch, 16 if made.name == "mnist" else 256))
        return min(peer_seconds(made, peer, setting, rows) for _ in range(2))

    return min(peer.settings, key=tried)


def check_answers(made, method, peer, setting):
    """Methods without sampling give what their peer gives."""
    if method.split(":")[0] in ("kernel_shap", "shapley_sampling") or method == "integrated_gradients":
        return
    # Captum 0.9 is wrong where one nonlinear module follows another, as in this network (its issue 1104).
    if method == "deeplift" and made.name == "mnist":
        return
    count = 4
    theirs = np.asarray(peer.run(made.rows[:count], made.targets[:count], setting)).reshape(count, -1)
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(made.explained(method, count), theirs, rtol=0, atol=1e-3 * scale, err_msg=method)


def measure(made, peers, threads, rounds, rows_of):
    for method, peer in peers:
        benchmark = benchmark_name(made.name, method)
        rows = rows_of(method)
        setting = best_setting(made, peer)
        check_answers(made, method, peer, setting)
        times = [
            (peer_seconds(made, peer, setting, peer.rows), assay_run(made.folder, benchmark, threads, rows)[0])
            for _ in range(rounds)
        ]
        theirs, ours = map(statistics.median, zip(*times, strict=True))
        label = method if method != FIFTY else f"integrated_gradients, {STEPS} steps"
        label = label.replace(f":permutations={PERMUTATIONS}:antithetic=false", f", {PERMUTATIONS} permutations")
        label = label.replace(f":samples={SAMPLES}", f", {SAMPLES} samples")
        yield {
            "workload": f"{made.name}: {label}, {rows:,} rows",
            "peer": peer.name,
            "threads": threads,
            "setting": setting,
            "peer_s": theirs,
            "assay_s": ours,
            "ratio": theirs / ours,
            "bar": f">= {peer.bar:,g}x",
            "holds": theirs / ours >= peer.bar,
            "rounds": rounds,
        }


def growth(made, methods, threads, rounds):
    """Time and memory at n and 4 n rows."""
    for method in methods:
        benchmark = benchmark_name(made.name, method)
        most = rows_of(made, method, False)
        runs = [[assay_run(made.folder, benchmark, threads, rows) for _ in range(rounds)] for rows in (most // 4, most)]
        (small, small_bytes), (large, large_bytes) = (
            (statistics.median(seconds for seconds, _ in side), max(found for _, found in side)) for side in runs
        )
        yield {
            "workload": f"{made.name}: {method}",
            "threads": threads,
            "rows": [most // 4, most],
            "time_ratio": most * large / (most // 4 * small),
            "beyond_result_bytes": [small_bytes, large_bytes],
        }


def rows_of(made, method, quick):
    """How many rows a benchmark of Assay takes."""
    most = ADULT if made.name == "adult" else 200 if method == FIFTY else IMAGES
    return most // 4 if quick else most


# Tables


def seconds_text(value):
    unit, scale = ("s", 1) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("us", 1e6)
    unit, scale = (unit, scale) if value >= 1e-6 else ("ns", 1e9)
    return f"{value * scale:.3g} {unit}"


def print_lines(title, lines):
    print(f"\n{title}")
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_tables(facts):
    words = {None: "-", True: "yes", False: "NO"}
    lines = [["workload", "threads", "peer", "peer", "assay", "ratio", "bar", "holds"]]
    for row in facts["times"]:
        times = [seconds_text(row["peer_s"]), seconds_text(row["assay_s"]), f"{row['ratio']:,.1f}x"]
        lines.append([row["workload"], str(row["threads"]), row["peer"], *times, row["bar"], words[row["holds"]]])
    print_lines("Seconds for one row", lines)
    lines = [["estimator", "peer", "peer", "assay", "lower"]]
    for row in facts["errors"]:
        errors = [f"{row['peer_error']:.3g}", f"{row['assay_error']:.3g}"]
        lines.append([row["workload"], row["peer"], *errors, words[row["holds"]]])
    print_lines("Mean squared error against exact values, relative to their mean square", lines)
    lines = [["workload", "threads", "rows", "time grows by", "memory beyond the result"]]
    for row in facts["growth"]:
        small, large = (f"{found / 2**20:.1f}" for found in row["beyond_result_bytes"])
        rows = " to ".join(f"{count:,}" for count in row["rows"])
        grown = f"{row['time_ratio']:.2f}x"
        lines.append([row["workload"], str(row["threads"]), rows, grown, f"{small} to {large} MiB"])
    print_lines("Growth with rows", lines)
    for row in facts["overhead"]:
        cost = seconds_text(row["assay_s"])
        print(f"\nKernel SHAP of a function that costs nothing, {row['threads']} threads: {cost} for each of its rows")


def main():
    parser = argparse.ArgumentParser(description="Measure explanation functions beside Captum and SHAP.")
    parser.add_argument("--quick", action="store_true", help="three rounds instead of five, and fewer rows")
    parser.add_argument("--only", default="", help="workloads whose method has this in its name")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    quick, rounds = arguments.quick, 3 if arguments.quick else 5
    facts = {"times": [], "errors": [], "growth": [], "overhead": []}
    folder = pathlib.Path(os.environ.get("ASSAY_DATA", ""))
    if not os.environ.get("ASSAY_DATA") or not all((folder / name).is_dir() for name in ("adult", "mnist")):
        print("benchmarks/explain.py left out: ASSAY_DATA has no adult and mnist")
        return
    with tempfile.TemporaryDirectory() as name:
        table, images = adult(pathlib.Path(name)), mnist(pathlib.Path(name))
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            torch.set_num_threads(threads)
            with threadpoolctl.threadpool_limits(threads):
                for made, kinds in ((table, (coalition_games, captum_gradients)), (images, (captum_gradients,))):
                    peers = [pair for kind in kinds for pair in kind(made, quick) if arguments.only in pair[0]]
                    rows = functools.partial(rows_of, made, quick=quick)
                    facts["times"] += measure(made, peers, threads, rounds, rows)
            seconds, _ = assay_run(name, "explain_callable", threads, 2048)
            facts["overhead"].append({"threads": threads, "assay_s": seconds / SAMPLES})
        if not arguments.only:
            names = ("workload", "peer", "peer_error", "assay_error", "holds")
            facts["errors"] += [dict(zip(names, row, strict=True)) for row in error_rows(table, quick)]
        grown = [(table, (coalition_games, captum_gradients))] + [(images, (captum_gradients,))] * (not quick)
        for made, kinds in grown:
            methods = dict.fromkeys(
                method for kind in kinds for method, _ in kind(made, quick) if arguments.only in method
            )
            facts["growth"] += growth(made, methods, 1, 1 if quick else 3)
    print_tables(facts)
    out = ROOT / "build" / "bench" / "explain.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
