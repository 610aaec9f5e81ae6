"""When and how a PyTorch module is exported: once, in a copy of the process, and only for what needs its layers."""

import threading
import warnings

import pytest
import torch
from test_wrap_torch import Attentive, Checking, bound, close, gradient_of, mlp
from torch import nn

import assay
from assay import _torch_export


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture
def rows():
    return torch.randn(6, 7, generator=torch.Generator().manual_seed(1))


def test_exports_once(rows, monkeypatch):
    calls = []
    export = _torch_export._onnx_apart  # what runs in a process of its own leaves nothing here
    monkeypatch.setattr(_torch_export, "_onnx_apart", lambda *given: (calls.append(1), export(*given))[1])
    module = mlp()
    model = assay.wrap(module)
    for _ in range(3):
        assay.explain(model, rows, "deeplift", baseline="zero", target="0")
    assert len(calls) == 1
    with torch.no_grad():
        module[0].weight.add_(1e-7)  # too little to be seen in the outputs
    assay.explain(model, rows, "deeplift", baseline="zero", target="0")
    assert len(calls) == 2
    assay.explain(assay.wrap(mlp(), export=False), rows, "gradient", target="0")
    assert len(calls) == 2


class Crashing(nn.Module):
    """A division by zero in C++ ends the process in which PyTorch exports this."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Linear(7, 3)

    def forward(self, x):
        return torch.cat([self.layer(x), x[:, :0].reshape(x.shape[0], 0)], 1)


def test_a_crash_of_the_exporter_is_a_reason(rows, capfd):
    module = Crashing()
    model = assay.wrap(module)
    with pytest.raises(assay.UnsupportedError, match=r"PyTorch's exporter crashed \(SIGFPE\); pass export=False"):
        assay.explain(model, rows, "deeplift", baseline="zero", target="0")
    close(assay.explain(model, rows, "gradient", target="1").values, gradient_of(module, rows, 1))
    for method in ("kernel_shap", "integrated_gradients"):
        found = assay.explain(model, rows, method, baseline="zero", target="1")
        close(found.values.sum(axis=1), module(rows)[:, 1] - module(torch.zeros(1, 7))[:, 1], 1e-4)
    assert capfd.readouterr() == ("", "")


def test_only_what_needs_layers_exports(rows, monkeypatch):
    asked = []
    export = _torch_export._onnx_apart
    monkeypatch.setattr(_torch_export, "_onnx_apart", lambda *given: (asked.append(1), export(*given))[1])
    model = assay.wrap(mlp())
    model.predict(rows)
    for method in ("gradient", "gradient_x_input", "smooth_grad"):
        assay.explain(model, rows, method, baseline="zero", target="0")
    assert asked == []
    for method in ("integrated_gradients", "kernel_shap", "deeplift"):
        assay.explain(model, rows, method, baseline="zero", target="0")
    assert asked == [1]


def test_a_module_that_cannot_be_pickled_is_exported(rows):
    module = mlp()
    module.register_forward_hook(lambda *given: None)  # no pickle of a function without a name
    core = bound(assay.wrap(module), rows)
    assert core.no_layers is None
    assert "multipliers" in core.capabilities


def test_exporting_beside_threads(rows):
    """The copy of the process has one thread of several, with their locks as they were."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            torch.randn(300, 300) @ torch.randn(300, 300)

    others = [threading.Thread(target=work) for _ in range(3)]
    for each in others:
        each.start()
    try:
        for _ in range(5):
            assert bound(assay.wrap(mlp()), rows).no_layers is None
    finally:
        stop.set()
        for each in others:
            each.join()


def test_exports_in_silence(rows, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assay.explain(assay.wrap(mlp()), rows, "deeplift", baseline="zero", target="0")
        assay.explain(assay.wrap(Checking()), rows, "deeplift", baseline="zero", target="0")
    # torch itself warns of what it does in training.
    core = bound(assay.wrap(Attentive().eval()), rows)
    assert "multipliers" in core.capabilities
    assert capfd.readouterr() == ("", "")
