"""assay beside onnx, torch, onnxruntime and pyarrow in one process, imported in any order.

Each of them brings libraries that are known to clash: protobuf in onnx, torch and onnxruntime, Arrow, OpenMP, C++
runtimes. A fresh process imports all five in some order, uses each of them, loads a model and explains with it; it must
end well, and attributions must have the same bits whatever the order. What a library finds at its start is decided by
those before it, so `make test-peers` runs 20 orders, one for each pair that can come first; all 120 take some minutes
and are run with --every-order.
"""

import concurrent.futures
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

PACKAGES = ("assay", "onnx", "torch", "onnxruntime", "pyarrow")
ORDERS = list(itertools.permutations(PACKAGES))

CHILD = """
import hashlib, importlib, json, sys

order, model, rows = sys.argv[1].split(","), sys.argv[2], sys.argv[3]
for name in order:
    importlib.import_module(name)

import numpy, assay, onnx, onnxruntime, pyarrow, torch

x = numpy.load(rows)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
graph = onnx.load(model).graph
theirs = session.run(None, {graph.input[0].name: x})[0]
loaded = assay.load(model)
explained = assay.explain(loaded, x, "integrated_gradients", baseline="zero", target="1", progress=False)
columns = [pyarrow.array(column) for column in x.T]
table = pyarrow.table(columns, names=[f"x{j}" for j in range(x.shape[1])])
torch.manual_seed(0)
module = torch.nn.Linear(x.shape[1], 2)
wrapped = assay.explain(assay.wrap(module), x, "gradient", target="1", progress=False)
facts = {
    "order": [name for name in sys.modules if name in order],
    "explained": hashlib.sha256(numpy.asarray(explained.values).tobytes()).hexdigest(),
    "complete": bool(numpy.abs(explained.gap).max() < 1e-3),
    "predicted": float(numpy.abs(loaded.predict(x) - theirs).max()),
    "gradient": float(numpy.abs(wrapped.values - module.weight[1].detach().numpy()).max()),
    "table": hashlib.sha256(loaded.predict(table).tobytes()).hexdigest(),
}
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def files(root, tmp_path_factory):
    """A network's file and rows for it."""
    rows = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(rows, np.random.default_rng(2).normal(size=(50, 6)).astype(np.float32))
    return root / "tests" / "fixtures" / "models" / "torch_mlp_script" / "model.onnx", rows


@pytest.fixture(scope="module")
def runs(request, files):
    """What each process printed, two of them at a time."""
    orders = ORDERS if request.config.getoption("every_order", False) else ORDERS[:: len(ORDERS) // 20]

    def run(order):
        command = [sys.executable, "-W", "ignore", "-c", CHILD, ",".join(order), *map(str, files)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(orders, pool.map(run, orders), strict=True))


def test_every_package_comes_first_and_before_every_other(runs):
    assert {order[:2] for order in runs} == set(itertools.permutations(PACKAGES, 2))


def test_no_order_of_imports_ends_badly(runs):
    failed = {order: (done.returncode, done.stderr[-2000:]) for order, done in runs.items() if done.returncode != 0}
    assert failed == {}


def test_every_order_gives_the_same_bits(runs):
    found = [json.loads(done.stdout) for done in runs.values()]
    assert len({facts["explained"] for facts in found}) == 1
    assert len({facts["table"] for facts in found}) == 1
    for facts in found:
        assert facts["complete"] and facts["predicted"] < 1e-5 and facts["gradient"] < 1e-6


def test_packages_were_imported_in_the_order_said(runs):
    """None of them imports another by itself, and assay none at all."""
    for order, done in runs.items():
        assert json.loads(done.stdout)["order"] == list(order)
