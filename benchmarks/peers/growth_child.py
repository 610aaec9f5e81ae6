"""Measures curves of growth for growth.py: CPU seconds and peak memory of one path at growing sizes.

A program of its own that imports nothing but NumPy and Assay and computes nothing itself. Every point is measured in a
process forked from it: the peak of a process never comes down, and memory that a smaller point has given back to the
allocator would hide that of a larger one. The first call of a point gives its memory and is not timed.
"""

import ctypes
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import statistics
import sys
import time

import numpy as np

import assay

# Rows of the pool, and how many rows' results are compared between points.
POOL, SAME = 500, 100
MEMBERS = ("gradient", "gradient_x_input", "deeplift")


@dataclasses.dataclass
class Setting:
    """What a point is made of; an axis changes one of these."""

    rows: int
    features: int
    samples: int
    background: int = 0
    groups: int = 0
    radius: float | str = "auto"

    def model(self, folder, kind):
        return assay.load(folder / f"{kind}_{self.features}.{'txt' if kind == 'trees' else 'onnx'}")

    def table(self, rows, seed):
        """Rows that are the same for every number of them, so that results of the first can be compared."""
        return np.random.default_rng(seed).standard_normal((rows, self.features), dtype=np.float32)

    def reference(self):
        if self.background:
            return {"background": self.table(self.background, 2)}
        return {"baseline": np.full((1, self.features), 0.1, np.float32)}

    def players(self, model):
        """Columns in groups of consecutive ones; with too few columns each is a player."""
        if not self.groups or self.features <= self.groups:
            return {}
        parts = np.array_split(np.array(model.features), self.groups)
        return {"groups": {f"group {number}": list(part) for number, part in enumerate(parts)}}


def explained(method, setting, folder, rows, **options):
    model = setting.model(folder, "trees" if method.startswith("tree_shap") else "network")
    given = {"threads": 1, "progress": False, **setting.players(model), **options}
    if method not in ("gradient", "gradient_x_input", "tree_shap_path"):
        given |= setting.reference()
    return lambda: assay.explain(model, rows, method, **given)


def scored(criterion, setting, folder, rows, **options):
    """A criterion of gradients, which are made beforehand, those of the pool too."""
    model = setting.model(folder, "network")
    common = {"threads": 1, "progress": False, **setting.players(model)}
    given = {**common, "model": model, "X": rows}
    values = assay.explain(model, rows, "gradient", **common).values
    if criterion == "faithfulness":
        given |= setting.reference()
    if criterion == "avg_sensitivity":
        given["pool"] = setting.table(POOL, 3)
        given["pool_explanations"] = assay.explain(model, given["pool"], "gradient", **common).values
    if criterion == "complexity":
        given = {"threads": 1, "progress": False}
    return lambda: assay.evaluate(values, criterion, **given, **options)[criterion]


def aggregated(aggregator, setting, folder, rows):
    members = {name: explained(name, setting, folder, rows)().values for name in MEMBERS}
    return lambda: assay.aggregate(members, aggregator, threads=1, progress=False)


def work(path, setting, folder):
    """The call that is measured, with all that it needs made beforehand; it gives the values of its rows."""
    rows = setting.table(setting.rows, 1)
    sampled = {"kernel_shap": "samples", "lime": "samples", "shapley_sampling": "permutations"}
    if path == "predict":
        model = setting.model(folder, "network")
        return lambda: model.predict(rows, threads=1, progress=False)
    if path in ("mean", "region_shrinking"):
        call = aggregated(path, setting, folder, rows)
    elif path == "faithfulness":
        # Half of the players: of this size there are the most subsets, and of too few all would be taken.
        subset = min(setting.features, setting.groups or setting.features) // 2
        call = scored(path, setting, folder, rows, samples=setting.samples, subset=subset, budget=0)
    elif path == "avg_sensitivity":
        call = scored(path, setting, folder, rows, radius=setting.radius)
    elif path == "complexity":
        call = scored(path, setting, folder, rows)
    else:
        name = path.split(":")[0]
        options = {sampled[name]: setting.samples} if name in sampled else {}
        call = explained(path, setting, folder, rows, **options)
    return lambda: call().values


def resident(key):
    """VmRSS or VmHWM of this process, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


def measured(call, rounds):
    """Seconds of the rounds, bytes beyond what was there before, and what the first rows came to."""
    # What making the rows left free would be taken again unseen; 5 sets the peak back to what is resident now.
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    values = call()
    memory = max(resident("VmHWM") - before, 0)
    answer = hashlib.sha256(np.ascontiguousarray(values[:SAME]).tobytes()).hexdigest()
    del values
    seconds = []
    for _ in range(rounds):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    return {"seconds": statistics.median(seconds), "memory": memory, "answer": answer}


def in_child(work):
    """What work() gives, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(write, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        found = stream.read()
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("a point failed")
    return json.loads(found)


def projected(points, size):
    """Seconds at the next size, as the last two points go on, or in proportion where that is more."""
    before, last = points[-2:]
    steepness = math.log(last["seconds"] / before["seconds"]) / math.log(last["size"] / before["size"])
    return last["seconds"] * (size / last["size"]) ** max(1.0, steepness)


def curve(path, axis, sizes, setting, folder, rounds, most):
    """Points at growing sizes, until the next would take more than `most` seconds for one call; three at least."""
    points = []
    for size in sizes:
        if len(points) >= 3 and projected(points, size) > most:
            break
        changed = dataclasses.replace(setting, **{axis: size})
        points.append({"size": size} | in_child(lambda: measured(work(path, changed, folder), rounds)))  # noqa: B023
    return points


def main():
    """Curves of the plan in argv[1], JSON as growth.py writes it; prints them as JSON."""
    plan = json.loads(sys.argv[1])
    folder = pathlib.Path(plan["folder"])
    found = []
    for each in plan["curves"]:
        setting = Setting(**each["setting"])
        points = curve(each["path"], each["axis"], each["sizes"], setting, folder, plan["rounds"], plan["most"])
        found.append({**each, "points": points})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
