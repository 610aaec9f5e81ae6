"""The model engine beside PyTorch and onnxruntime, in one run: `make bench`; `--quick` for fewer rounds.

Models are made here by PyTorch, exported to ONNX, and given to all three. In each round every side runs once, on the
same threads, after a first round that is not counted; figures are medians over the rounds. PyTorch is measured eagerly
and as an optimised trace where that runs, and the faster one counts. "peak" is the rate of independent multiply-adds
that this machine reaches on as many threads in the same run, and "share" Assay's part of it.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "build" / "assay_benchmarks"
ROWS, BATCH = 102400, 64


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(14, 40), torch.nn.LeakyReLU(0.01), torch.nn.Linear(40, 2))


def cnn():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(1024, 10),
    )


# Multiply-adds of one row forward; derivatives by inputs cost as many again, those by weights once more.
MLP_WORK = 14 * 40 + 40 * 2
CNN_WORK = 576 * 25 * 32 + 64 * 800 * 64 + 10240


def seconds(work, least=0.05):
    """The mean time of a call over calls that take `least` seconds together."""
    begin = time.perf_counter()
    calls = 0
    while time.perf_counter() - begin < least:
        work()
        calls += 1
    return (time.perf_counter() - begin) / calls


def torch_forward(model, x):
    sides = [model]
    try:
        with torch.inference_mode():
            traced = torch.jit.optimize_for_inference(torch.jit.trace(model.eval(), x))
            traced(x)
            sides.append(traced)
    except (RuntimeError, AttributeError):
        pass

    def run():
        with torch.inference_mode():
            return min(seconds(lambda side=side: side(x)) for side in sides)

    return run


def torch_gradients(model, x, weights):
    """Derivatives by the input, and by all weights when `weights`."""
    model = model.train()
    for parameter in model.parameters():
        parameter.requires_grad_(weights)
    x = x.clone().requires_grad_()
    seed = torch.ones_like(model(x))
    wanted = [x, *model.parameters()] if weights else [x]

    def run():
        for parameter in model.parameters():
            parameter.requires_grad_(weights)
        return seconds(lambda: torch.autograd.grad(model(x), wanted, seed))

    return run


def torch_step(model, x, labels):
    """One step of Adam: loss, derivatives, update; as one kernel over all weights where PyTorch has one."""
    model = model.train()
    for parameter in model.parameters():
        parameter.requires_grad_()
    optimisers = [torch.optim.Adam(model.parameters(), lr=1e-4, fused=fused) for fused in (True, False)]
    loss = torch.nn.CrossEntropyLoss()

    def step(optimiser):
        optimiser.zero_grad()
        loss(model(x), labels).backward()
        optimiser.step()

    return lambda: min(seconds(lambda o=o: step(o)) for o in optimisers)


def runtime_forward(file, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x.numpy()}
    return lambda: seconds(lambda: session.run(None, feed))


class Assay:
    """Runs all wanted benchmarks of one round in one process."""

    def __init__(self, environment):
        self.environment = os.environ | environment

    def round(self, pattern):
        command = [BENCHMARKS, f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_min_time=0.1"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True)
        found = {}
        for entry in json.loads(done.stdout)["benchmarks"]:
            if "error_message" in entry:
                raise RuntimeError(f"{entry['name']}: {entry['error_message']}")
            scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]
            found[entry["name"].replace("/real_time", "")] = entry
            entry["seconds"] = entry["real_time"] * scale
        return found


def check_answers(files, folder):
    """The program's outputs on the exported files are onnxruntime's."""
    for name, columns in (("mlp", (14,)), ("cnn", (1, 28, 28))):
        x = np.random.default_rng(2).uniform(-1, 1, (100, *columns)).astype(np.float32)
        np.save(folder / "x.npy", x.reshape(100, -1))
        program = ROOT / "build" / "assay"
        command = [program, "--quiet", "predict", "--model", files[name], "--data", folder / "x.npy"]
        subprocess.run([*command, "--out", folder / "y.npy"], check=True)
        session = onnxruntime.InferenceSession(str(files[name]), providers=["CPUExecutionProvider"])
        expected = session.run(None, {session.get_inputs()[0].name: x})[0]
        np.testing.assert_allclose(np.load(folder / "y.npy"), expected, rtol=1e-4, atol=1e-5)


def export(folder):
    torch.manual_seed(0)
    files = {}
    for name, model, shape in (("mlp", mlp(), (14,)), ("cnn", cnn(), (1, 28, 28))):
        files[name] = folder / f"{name}.onnx"
        x = torch.zeros(2, *shape)
        names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
        torch.onnx.export(model.eval(), x, files[name], dynamo=False, opset_version=17, **names)
    width = 5000  # 100 MB
    weight = onnx.numpy_helper.from_array(
        np.random.default_rng(0).normal(size=(width, width)).astype(np.float32) / width, "w"
    )
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "large",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", width])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", width])],
        [weight],
    )
    files["large"] = folder / "large.onnx"
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), files["large"])
    return files


def workloads(files, threads):
    """(workload, Assay's benchmark, multiply-adds of one call, {peer: (run, the ratio it must reach)})."""
    x = torch.rand(ROWS, 14) * 2 - 1
    images = torch.rand(BATCH, 1, 28, 28) * 2 - 1
    yield (
        f"MLP 14-40-2 forward, {ROWS:,} rows",
        "engine_mlp_forward",
        ROWS * MLP_WORK,
        {"PyTorch": (torch_forward(mlp(), x), 3), "onnxruntime": (runtime_forward(files["mlp"], x, threads), 1.5)},
    )
    for name, by_weights, work in (("input", False, 2), ("all", True, 3)):
        yield (
            f"MLP 14-40-2 forward and {name} gradients, {ROWS:,} rows",
            f"engine_mlp_{name}_gradients",
            work * ROWS * MLP_WORK,
            {"PyTorch": (torch_gradients(mlp(), x, by_weights), 3)},
        )
    if threads == 1:
        step = torch_step(mlp(), x[:32], torch.randint(2, (32,)))
        yield "MLP 14-40-2 Adam step, 32 rows", "train_mlp_step", 3 * 32 * MLP_WORK, {"PyTorch": (step, 20)}
    yield (
        f"CNN forward, {BATCH} images",
        "engine_cnn_forward",
        BATCH * CNN_WORK,
        {
            "PyTorch": (torch_forward(cnn(), images), 1),
            "onnxruntime": (runtime_forward(files["cnn"], images, threads), None),
        },
    )
    for name, by_weights, work in (("input", False, 2), ("all", True, 3)):
        run = torch_gradients(cnn(), images, by_weights)
        benchmark = f"engine_cnn_{name}_gradients"
        label = f"CNN forward and {name} gradients, {BATCH} images"
        yield label, benchmark, work * BATCH * CNN_WORK, {"PyTorch": (run, 1)}
    step = torch_step(cnn(), images, torch.randint(10, (BATCH,)))
    yield f"CNN Adam step, {BATCH} images", "train_cnn_step", 3 * BATCH * CNN_WORK, {"PyTorch": (step, 1)}
    if threads == 1:

        def load():
            begin = time.perf_counter()
            onnxruntime.InferenceSession(str(files["large"]), providers=["CPUExecutionProvider"])
            return time.perf_counter() - begin

        yield "load a file of 100 MB", "engine_load", 0, {"onnxruntime": (load, None)}


def measure(threads, files, assay, rounds):
    torch.set_num_threads(threads)
    listed = list(workloads(files, threads))
    ours = {benchmark: [] for _, benchmark, _, _ in listed}
    peers = {(w, peer): [] for w, _, _, sides in listed for peer in sides}
    peaks = []
    for number in range(rounds + 1):
        found = assay.round(f"^(engine_.*threads:{threads}/|train_.*threads:{threads}|engine_load|peak)")
        for workload, benchmark, _, sides in listed:
            key = next(name for name in found if name.split("/")[0] == benchmark)
            for peer, (run, _) in sides.items():
                taken = run()
                if number > 0:
                    peers[workload, peer].append(taken)
            if number > 0:
                ours[benchmark].append(found[key]["seconds"])
        rate = [entry for name, entry in found.items() if "peak" in name]
        if rate:
            peaks.append(threads * rate[0]["flops"])
    peak = max(peaks) if peaks else None
    for workload, benchmark, work, sides in listed:
        mine = statistics.median(ours[benchmark])
        for peer, (_, bar) in sides.items():
            theirs = statistics.median(peers[workload, peer])
            yield {
                "workload": workload,
                "peer": peer,
                "threads": threads,
                "peer_s": theirs,
                "assay_s": mine,
                "ratio": theirs / mine,
                "bar": None if bar is None else f">= {bar:g}x",
                "holds": None if bar is None else theirs / mine >= bar,
                "flops": 2 * work / mine if work else None,
                "share_of_peak": 2 * work / mine / peak if work and peak else None,
                "rounds": rounds,
            }


def seconds_text(value):
    unit, scale = ("s", 1) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("us", 1e6)
    return f"{value * scale:.3g} {unit}"


def print_table(facts):
    lines = [["workload", "threads", "peer", "peer", "assay", "ratio", "bar", "holds", "share of peak"]]
    for row in facts:
        share = "-" if row["share_of_peak"] is None else f"{100 * row['share_of_peak']:.0f} %"
        holds = {None: "-", True: "yes", False: "NO"}[row["holds"]]
        times = [seconds_text(row["peer_s"]), seconds_text(row["assay_s"])]
        cells = [row["workload"], str(row["threads"]), row["peer"], *times, f"{row['ratio']:.1f}x"]
        lines.append([*cells, row["bar"] or "-", holds, share])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main():
    parser = argparse.ArgumentParser(description="Measure the model engine beside PyTorch and onnxruntime.")
    parser.add_argument("--quick", action="store_true", help="three rounds instead of seven")
    arguments = parser.parse_args()
    facts = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = export(folder)
        check_answers(files, folder)
        variables = {f"ASSAY_BENCH_{key.upper()}": str(file) for key, file in files.items()}
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            facts += measure(threads, files, Assay(variables), 3 if arguments.quick else 7)
    print_table(facts)
    out = ROOT / "build" / "bench" / "engine.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
