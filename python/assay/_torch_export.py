"""The graph of a PyTorch module, for methods that need its layers: exported to ONNX, and compared with the module."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import logging
import math
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._child import first_line, in_child
from ._torch_calls import Calls

# Allowed difference, relative to the largest output.
_TOLERANCE = 1e-4
# Time limit of one export, far more than any takes.
_MOST_SECONDS = 300.0


class ExportedGraphs:
    """The graphs of one module: made when first asked for, and again when the module's weights have changed."""

    def __init__(self, module: Any, name: str) -> None:
        self._module = module
        self._name = name
        # By unit and shape of rows: the state of the weights, and the graph or the reason why there is none.
        self._made: dict[tuple[str, tuple[int, ...]], tuple[int, _core.Model | None, str]] = {}

    def of(
        self,
        calls: Calls,
        unit: str,
        link: Callable[[Any], Any],
        rows: NDArray[np.float32],
        outputs: NDArray[np.float32],
    ) -> tuple[_core.Model | None, str]:
        """The graph, or why there is none. It must give these outputs for these rows."""
        key = (unit, calls.shape)
        state = _state_of(self._module)
        made = self._made.get(key)
        if made is not None and made[0] == state:
            _, graph, reason = made
            # Weights can be changed behind torch's back (p.data): then it is exported again.
            if graph is None or _difference(graph, rows, outputs) <= _TOLERANCE:
                return graph, reason
        graph, reason = self._export(calls, unit, link, rows, outputs)
        self._made[key] = (state, graph, reason)
        return graph, reason

    def _export(
        self,
        calls: Calls,
        unit: str,
        link: Callable[[Any], Any],
        rows: NDArray[np.float32],
        outputs: NDArray[np.float32],
    ) -> tuple[_core.Model | None, str]:
        if not np.isfinite(outputs).all():
            return None, "its outputs are not all finite, so that an export cannot be held against them"
        reason, nearest = "", math.inf
        # The engine would read a graph that ends in log-softmax as a graph of the margins before it. If `sealed`, the
        # end is kept.
        for sealed in (False, True):
            try:
                # The engine computes log-odds of several classes itself, as one operator.
                of_graph = None if unit == "log_odds" and outputs.shape[1] > 1 else link
                data = _onnx_apart(calls, of_graph, rows[:2], sealed)
            except Exception as error:
                return None, f"its export to ONNX failed: {first_line(error)}"
            loaded = False
            for graph_unit in dict.fromkeys([_graph_unit(unit, outputs.shape[1]), None, "probability"]):
                try:
                    graph = _core.Model.from_bytes(self._name, data, graph_unit, rows.shape[1])
                except ValueError as error:
                    reason = reason or first_line(error).removeprefix(f"{self._name}: ")
                    continue
                loaded = True
                nearest = min(nearest, _difference(graph, rows, outputs))
                if nearest <= _TOLERANCE:
                    return graph, ""
                reason = f"the outputs of its export to ONNX differ by {nearest:.1e} of the largest"
            if not loaded:
                break
        return None, reason


def _graph_unit(unit: str, columns: int) -> str | None:
    """What the engine is to make of the exported scores."""
    return unit if columns > 1 and unit in ("margin", "log_odds", "probability") else None


def _difference(graph: _core.Model, rows: NDArray[np.float32], outputs: NDArray[np.float32]) -> float:
    """The largest difference, relative to the largest output."""
    names = [str(column) for column in range(rows.shape[1])]
    found = graph.predict(_core.Dataset.from_matrix(rows, names, "rows"), _core.Run(0, 1, None))
    if found.shape != outputs.shape or not np.isfinite(found).all():
        return math.inf
    largest = float(np.abs(outputs).max())
    return float(np.abs(found - outputs).max()) / max(largest, float(np.finfo(np.float32).tiny))


def _onnx_apart(calls: Calls, link: Callable[[Any], Any] | None, rows: NDArray[np.float32], sealed: bool) -> bytes:
    """Exports in a forked copy of this process, because PyTorch's exporter can crash. A copy cannot use GPU memory;
    then it runs in this process."""
    tensors = [*calls.module.parameters(), *calls.module.buffers()]
    if not hasattr(os, "fork") or any(each.device.type != "cpu" for each in tensors):
        return _onnx_of(calls, link, rows, sealed)

    def work() -> bytes:
        calls.torch.set_num_threads(1)  # a copy does not have this process's threads
        return _onnx_of(calls, link, rows, sealed)

    # What is imported here once each copy would import again. Its places are PyTorch's own affair.
    with _silence():
        for part in ("onnx", "torch.onnx._internal.torchscript_exporter.utils", "torch.onnx.utils"):
            with contextlib.suppress(Exception):
                importlib.import_module(part)
    # Holds the module's lock: the copy needs it, so no other thread may have it.
    with calls.evaluating():
        return in_child(work, "PyTorch's exporter", _MOST_SECONDS)


def _onnx_of(calls: Calls, link: Callable[[Any], Any] | None, rows: NDArray[np.float32], sealed: bool) -> bytes:
    """Tracing is quick, but records only the branches that these rows take. If it warns of that, uses torch.export."""
    torch = calls.torch

    class Explained(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.module = calls.module

        def forward(self, x: Any) -> Any:
            scores = calls.traced_scores(x.to(calls.dtype))
            found = (scores if link is None else link(scores)).to(torch.float32)
            return found * 1.0 if sealed else found

    example = torch.tensor(rows.reshape(len(rows), *calls.shape), device=calls.device)
    with calls.evaluating(), torch.no_grad(), _silence():
        explained = Explained()
        explained.training = False  # not train(False): exporters restore all parts to the state of the whole
        try:
            return _traced(torch, explained, example)
        except Exception as why:
            if importlib.util.find_spec("onnxscript") is None:
                raise
            try:
                return _exported(torch, explained, example)
            except Exception:
                raise why from None  # the tracer's words are those that help


def _traced(torch: Any, module: Any, example: Any) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(record=True) as seen, _no_descriptors():
        warnings.simplefilter("always")
        torch.onnx.export(
            module,
            (example,),
            content,
            dynamo=False,
            input_names=["rows"],
            output_names=["outputs"],
            dynamic_axes={"rows": {0: "n"}, "outputs": {0: "n"}},
        )
    for warning in seen:
        if issubclass(warning.category, torch.jit.TracerWarning):
            raise ValueError(str(warning.message))
    return content.getvalue()


def _exported(torch: Any, module: Any, example: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.onnx")
        torch.onnx.export(
            module,
            (example,),
            path,
            dynamo=True,
            verbose=False,
            external_data=False,
            input_names=["rows"],
            output_names=["outputs"],
            dynamic_shapes=({0: torch.export.Dim("n", min=1)},),
        )
        with open(path, "rb") as file:
            return file.read()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Exporters print, warn and log about their own workings; what matters becomes a reason."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    nowhere = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


@contextlib.contextmanager
def _no_descriptors() -> Iterator[None]:
    """What torch's C++ prints of a graph that it cannot export goes past Python. The descriptors are the whole
    process's: with other threads at work, which may print too, it is shown."""
    if any(not each.daemon and each is not threading.current_thread() for each in threading.enumerate()):
        yield
        return
    kept: list[tuple[int, int]] = []
    try:
        with open(os.devnull, "wb") as nowhere:
            for descriptor in (1, 2):
                with contextlib.suppress(OSError):  # closed, as in services
                    kept.append((descriptor, os.dup(descriptor)))
                    os.dup2(nowhere.fileno(), descriptor)
        yield
    finally:
        for descriptor, copy in kept:
            os.dup2(copy, descriptor)
            os.close(copy)


def _state_of(module: Any) -> int:
    """A value that changes when the optimiser takes a step, weights are loaded or the module moves."""
    tensors = [*module.parameters(), *module.buffers()]
    # Tensors of inference mode do not count their changes.
    states = [(each.data_ptr(), 0 if each.is_inference() else each._version, str(each.device)) for each in tensors]
    return hash(tuple(states))
