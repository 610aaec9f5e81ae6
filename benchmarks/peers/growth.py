"""How time and memory grow with rows, features, background rows and samples: curves of Assay alone, with the exponents
fitted to them. growth_child.py measures them, each point in a process of its own."""

import dataclasses
import json
import math
import statistics
import subprocess
import sys

import lightgbm
import numpy as np
import onnx
from harness import PROGRAM, ROOT, ROUNDS, Table, Workload, digits, seconds_text
from onnx import helper, numpy_helper

HERE = ROOT / "benchmarks" / "peers"
# How far above what is expected an exponent may come out before the curve counts as bent.
SLACK = 0.1
# Arenas of the allocator and huge pages: less memory than this says nothing.
LEAST_MEMORY = 1_000_000
# Seconds that one call may take for the curve to go on.
MOST, QUICK_MOST = 2, 0.006
HIDDEN, FEATURES, GROUPS, TREES, LEAVES = 40, 8, 20, 50, 16


@dataclasses.dataclass
class Axis:
    name: str  # the field of growth_child.Setting
    title: str
    one: str
    sizes: list
    setting: dict
    paths: list
    groups: dict = dataclasses.field(default_factory=dict)  # path -> number of groups
    expected: dict = dataclasses.field(default_factory=dict)  # path -> exponent of its time, at most; else 1
    text: str = ""


NETWORK = ["deeplift", "integrated_gradients", "exact_shapley", "kernel_shap", "shapley_sampling", "lime"]
EVERY_PATH = ["predict", "gradient", *NETWORK, "tree_shap", "tree_shap_path"]
EVERY_PATH += ["faithfulness", "avg_sensitivity", "complexity", "mean", "region_shrinking"]
AXES = [
    Axis(
        "rows",
        "rows",
        "a row",
        [100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000],
        {"features": FEATURES, "samples": 64, "radius": 1.5},
        EVERY_PATH,
        text=f"{FEATURES} features, 64 samples, permutations or subsets; avg_sensitivity against a pool of 500 rows; "
        "aggregates of three members. The values of the first 100 rows are the same bits at every size.",
    ),
    Axis(
        "features",
        "features",
        "a feature",
        [5, 10, 20, 50, 100, 200, 500, 1000],
        {"rows": 1000, "samples": 64},
        EVERY_PATH,
        groups={"exact_shapley": 10, "kernel_shap": GROUPS, "lime": GROUPS, "faithfulness": GROUPS},
        text="1,000 rows; 64 samples, permutations or subsets. Beyond that many columns, kernel_shap, lime and "
        f"faithfulness have {GROUPS} groups of columns as players and exact_shapley 10; the other paths have every "
        "column.",
    ),
    Axis(
        "background",
        "background rows",
        "a background row",
        [1, 3, 10, 32, 100, 316, 1000],
        {"rows": 50, "features": FEATURES, "samples": 64},
        [*NETWORK, "tree_shap", "faithfulness"],
        text=f"50 rows of {FEATURES} features, 64 samples, permutations or subsets.",
    ),
    Axis(
        "samples",
        "samples",
        "a sample",
        [2**power for power in range(6, 17)],
        {"rows": 20, "features": 20},
        ["kernel_shap", "kernel_shap:interactions=false", "shapley_sampling", "lime", "faithfulness"],
        expected={"kernel_shap": 3},
        text="20 rows of 20 features. Samples are coalitions of kernel_shap, permutations of shapley_sampling, masks "
        "of lime and subsets of faithfulness. kernel_shap solves for the interactions of all its pairs once for all "
        "rows, by their cube, up to a number of pairs beyond which it does without; `interactions=false` never does.",
    ),
]


# Why a curve bends, printed where it does.
REASONS = {
    "features": {
        "avg_sensitivity": "avg_sensitivity: the search for neighbours leaves a pair at the first columns that are too "
        "far apart, which may help less the more columns there are. Where columns double, instructions grow by 2.12.",
        "mean": "mean: where columns double, instructions grow by 1.98; what is left are probably caches.",
    },
    "samples": {
        "lime": "lime: where samples double, instructions grow by 2.00; what is left are probably caches.",
        "faithfulness": "faithfulness: subsets are drawn until they are distinct, looked up in a search tree, and the "
        "more of all 184,756 there are, the more draws repeat. Where samples double, instructions grow by 2.19.",
    },
}


def write_network(file, features):
    """A network features-40-2 with leaky ReLUs and random weights."""
    random = np.random.default_rng(features)
    shapes = {"w1": (features, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 2), "b2": (2,)}
    weights = [
        numpy_helper.from_array((random.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
        helper.make_node("LeakyRelu", ["h"], ["a"], alpha=0.01),
        helper.make_node("Gemm", ["a", "w2", "b2"], ["y"]),
    ]
    kind = onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info("x", kind, ["rows", features])]
    outputs = [helper.make_tensor_value_info("y", kind, ["rows", 2])]
    graph = helper.make_graph(nodes, "network", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


def write_trees(file, features):
    random = np.random.default_rng(features)
    x = random.standard_normal((500, features))
    y = x @ random.standard_normal(features) + x[:, 0] * x[:, 1]
    settings = {"objective": "regression", "num_leaves": LEAVES, "num_threads": 1, "verbose": -1, "seed": 1}
    lightgbm.train(settings, lightgbm.Dataset(x, y), num_boost_round=TREES).save_model(file)


def sizes_of(axis, run):
    """A quick run leaves out the two largest."""
    return axis.sizes[:-2] if run.quick else axis.sizes


def write_models(axis, run):
    folder = run.folder
    for features in sizes_of(axis, run) if axis.name == "features" else [axis.setting["features"]]:
        write_network(folder / f"network_{features}.onnx", features)
        if "tree_shap" in axis.paths:
            write_trees(folder / f"trees_{features}.txt", features)


def measure(axis, run):
    """Curves of one axis; in a quick run up to where a call takes some milliseconds."""
    write_models(axis, run)
    curves = []
    for path in axis.paths:
        setting = {axis.name: 0, **axis.setting, "groups": axis.groups.get(path, 0)}
        curves.append({"path": path, "axis": axis.name, "sizes": sizes_of(axis, run), "setting": setting})
    plan = {"folder": str(run.folder), "curves": curves, "rounds": ROUNDS, "most": QUICK_MOST if run.quick else MOST}
    command = [sys.executable, "-W", "ignore", HERE / "growth_child.py", json.dumps(plan)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def reading(axis, run):
    """The curve of the program reading a CSV file of numbers, whose columns are features."""
    points = []
    for size in sizes_of(axis, run):
        rows, columns = (size, FEATURES) if axis.name == "rows" else (1000, size)
        file = run.folder / "table.csv"
        block = np.random.default_rng(1).standard_normal((min(rows, 1000), columns))
        lines = [",".join(f"{cell:.6g}" for cell in row) + "\n" for row in block]
        whole, rest = divmod(rows, len(lines))
        file.write_text(",".join(f"x{number}" for number in range(columns)) + "\n" + "".join(lines) * whole)
        with file.open("a") as stream:
            stream.writelines(lines[:rest])
        program = [PROGRAM, "--quiet", "--threads", "1", "data", file, "--out", run.folder / "table.npy"]
        command = [sys.executable, "-I", "-S", HERE / "growth_program.py", str(ROUNDS), *program]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        seconds, memory = ([each[key] for each in found] for key in ("seconds", "memory"))
        points.append({"size": size, "seconds": statistics.median(seconds), "memory": max(memory)})
        file.unlink()
    # What the program takes for nothing at all is its start.
    start = points[0]["memory"]
    return {"path": "reading CSV", "points": [{**each, "memory": each["memory"] - start} for each in points]}


def exponent(points, key, least):
    """The exponent of the curve's last decade beyond its smallest point, and its standard error: least squares on the
    logarithms of how much more it takes and of how much larger it is. Points that take less than `least` more are left
    out, because noise is as large; with fewer than two others there is no exponent."""
    start, end = points[0], points[-1]
    upper = [each for each in points[1:] if each["size"] >= 0.099 * end["size"]]
    more = [(each["size"] - start["size"], each[key] - start[key]) for each in upper if each[key] - start[key] > least]
    if len(more) < 2:
        return None
    x, y = np.log(more).T
    x, y = x - x.mean(), y - y.mean()
    found = (x @ y) / (x @ x)
    residuals = y - found * x
    error = math.sqrt((residuals @ residuals) / (len(x) - 2) / (x @ x)) if len(x) > 2 else None
    return float(found), error


def exponent_text(found, points, key):
    if found is None:
        return "flat" if points[-1][key] <= 2 * points[0][key] else "too few points"
    return f"{found[0]:.2f}" if found[1] is None else f"{found[0]:.2f} +- {found[1]:.2f}"


def bytes_text(value):
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{digits(value / scale)} {unit}"
    return f"{value:.0f} B"


def line(curve, expected, quick):
    """Cells and facts of one curve. The short curves of a quick run are not judged: caches bend them."""
    points = curve["points"]
    first, last = points[0], points[-1]
    time = exponent(points, "seconds", first["seconds"])
    memory = exponent(points, "memory", LEAST_MEMORY)
    flat = last["seconds"] <= 2 * first["seconds"]
    holds = None if quick or (time is None and not flat) else flat or time[0] <= expected + SLACK
    each_one = (last["memory"] - first["memory"]) / (last["size"] - first["size"])
    cells = [
        curve["path"],
        f"{first['size']:,} to {last['size']:,} ({len(points)})",
        seconds_text(first["seconds"]),
        seconds_text(last["seconds"]),
        exponent_text(time, points, "seconds"),
        f"<= {expected}",
        {True: "yes", False: "no", None: "-"}[holds],
        bytes_text(first["memory"]),
        bytes_text(last["memory"]),
        exponent_text(memory, points, "memory"),
        "-" if memory is None else bytes_text(each_one),
    ]
    facts = {"path": curve["path"], "points": points, "time_exponent": time, "expected": expected, "holds": holds}
    return cells, facts | {"memory_exponent": memory, "bytes_each": each_one}


def table(axis, run):
    curves = measure(axis, run)
    if axis.name == "rows":
        for curve in curves:
            # Results do not depend on how many other rows there are.
            assert len({point["answer"] for point in curve["points"]}) == 1, curve["path"]
    if axis.name in ("rows", "features"):
        curves.append(reading(axis, run))
    reasons = REASONS.get(axis.name, {})
    lines, facts = zip(*(line(curve, axis.expected.get(curve["path"], 1), run.quick) for curve in curves), strict=True)
    after = " ".join(reasons[each["path"]] for each in facts if each["holds"] is False and each["path"] in reasons)
    head = ["path", f"{axis.title} (points)", "time at the smallest", "at the largest", "exponent", "expected", "holds"]
    head += ["memory at the smallest", "at the largest", "exponent", f"memory {axis.one}"]
    return Table(f"Growth with {axis.title}", head, list(lines), text=axis.text, after=after, facts=list(facts))


def growth(run):
    for axis in AXES:
        yield table(axis, run)


TEXT = (
    f"CPU time of a whole call of the Python package on one thread, medians of {ROUNDS}, and the memory that it takes "
    "beyond rows and model, at its peak, results included; each point in a process of its own. A network with one "
    f"hidden layer of {HIDDEN}, and {TREES} trees of {LEAVES} leaves. Curves end where a call would take more than "
    f"{MOST} s. Exponents are those of a power law through what a point takes more than the smallest one, so that what "
    "any call takes does not matter: least squares on logarithms over the last decade of sizes, where that is as long "
    f"as the smallest again (of memory: {LEAST_MEMORY / 1e6:g} MB more). A curve that does not even double is flat. It "
    f"holds when its exponent is at most {SLACK} above what is expected. Reading CSV is the program's `data`, its "
    "memory beyond that of the smallest file."
)
WORKLOADS = [Workload("growth", "Growth", growth, TEXT)]
