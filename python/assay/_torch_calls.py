"""Calls of a PyTorch module with rows of the engine."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._text import in_quotes

# Steps of torch that only move numbers.
_RESHAPES = {"ReshapeAlias", "Squeeze", "UnsafeView", "Unsqueeze", "View"}
_SAME_NUMBERS = _RESHAPES | {"Alias", "Clone", "Permute", "Select", "Slice", "T", "ToCopy", "Transpose"}


class Calls:
    """One module, and the shape and dtype in which it takes rows."""

    def __init__(self, module: Any, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        self.torch = sys.modules["torch"]
        self.module = module
        self.name = name
        self.shape = shape
        floating = [each for each in module.parameters() if each.is_floating_point()]
        anything = [*floating, *module.buffers()]
        self.dtype = dtype or (floating[0].dtype if floating else self.torch.float32)
        self.whole = not self.dtype.is_floating_point and not self.dtype.is_complex
        self.device = anything[0].device if anything else self.torch.device("cpu")

    def tensor(self, rows: NDArray[np.float32]) -> Any:
        """A copy, because modules may work in place."""
        if self.whole:
            rows = np.rint(rows)
        return self.torch.tensor(rows.reshape(len(rows), *self.shape), dtype=self.dtype, device=self.device)

    def _numpy(self, found: Any) -> NDArray[np.float32]:
        return np.ascontiguousarray(found.detach().to("cpu", self.torch.float32).numpy())

    def outputs(
        self, rows: NDArray[np.float32], link: Callable[[Any], Any], columns: int | None = None
    ) -> NDArray[np.float32]:
        """The outputs that are explained; a ValueError where there are other than `columns`."""
        with self.evaluating(), self.torch.no_grad():
            found = link(self.scores(self.tensor(rows)))
        if columns is not None and found.shape[1] != columns:
            raise ValueError(f"outputs of {self.name}: expected {columns} columns as before, found {found.shape[1]}")
        return self._numpy(found)

    def scores(self, x: Any) -> Any:
        """What the module returns, rows x outputs; a ValueError where it is something else."""
        found = self.traced_scores(x)
        if found.ndim != 2 or len(found) != len(x) or found.shape[1] == 0:
            shape = tuple(found.shape)
            raise ValueError(
                f"outputs of {self.name}: expected {len(x)} rows of numbers, found a tensor of shape {shape}"
            )
        return found

    def traced_scores(self, x: Any) -> Any:
        """As scores, but without checks of sizes: a tracer would record them as branches."""
        found = self.module(x)
        if not isinstance(found, self.torch.Tensor):
            raise ValueError(f"outputs of {self.name}: expected a tensor, found {type(found).__name__}")
        if found.is_complex():
            raise ValueError(f"outputs of {self.name}: expected real numbers, found {found.dtype}")
        return found.unsqueeze(1) if found.ndim == 1 else found

    def gradient(
        self, rows: NDArray[np.float32], weights: NDArray[np.float32], link: Callable[[Any], Any]
    ) -> NDArray[np.float32]:
        """The gradient of sum(weights * outputs) by the rows."""
        found = self._gradient(rows, weights, link)
        # Other rows have a gradient, so these took a branch that ignores its input.
        return np.zeros(rows.shape, np.float32) if found is None else found

    def _gradient(
        self, rows: NDArray[np.float32], weights: NDArray[np.float32], link: Callable[[Any], Any]
    ) -> NDArray[np.float32] | None:
        """None if autograd finds no path from the outputs to the rows."""
        torch = self.torch
        # The caller may be inside no_grad or inference_mode.
        with self.evaluating(), torch.inference_mode(False), torch.enable_grad():
            x = self.tensor(rows).requires_grad_()
            # Not a leaf: a module may work in place, which leaves do not allow.
            found = link(self.scores(x.clone()))
            total = (found * torch.as_tensor(weights, dtype=found.dtype, device=found.device)).sum()
            if not total.requires_grad:
                return None
            (by_rows,) = torch.autograd.grad(total, x, allow_unused=True)
        return None if by_rows is None else self._numpy(by_rows).reshape(rows.shape)

    def last_operation(self, rows: NDArray[np.float32]) -> str:
        """The last operation that computes the scores, as torch calls it: Sigmoid, Addmm (linear); empty if unknown."""
        with self.evaluating(), self.torch.inference_mode(False), self.torch.enable_grad():
            x = self.tensor(rows)
            x = x.requires_grad_().clone() if x.is_floating_point() else x
            try:
                step = self.scores(x).grad_fn
            except RuntimeError:  # it can be called, but not with gradients
                return ""
        while step is not None and step.next_functions and _operation(step) in _SAME_NUMBERS:
            step = step.next_functions[0][0]
        return "" if step is None else _operation(step)

    def why_no_gradient(self, rows: NDArray[np.float32], link: Callable[[Any], Any]) -> str:
        """Why there is no gradient; empty if there is one."""
        if not (self.dtype.is_floating_point or self.dtype.is_complex):
            return f"its inputs are whole numbers ({self.dtype})"
        try:
            columns = self.outputs(rows, link).shape[1]
            found = self._gradient(rows, np.ones((len(rows), columns), np.float32), link)
        except RuntimeError as error:
            return f"torch says {in_quotes(str(error).splitlines()[0])}"
        return "its output is not connected to its input for autograd" if found is None else ""

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Puts every part of the module into evaluation mode, and afterwards back. One thread at a time: two would
        restore each other's state."""
        with _lock_of(self.module):
            parts = [(part, part.training) for part in self.module.modules()]
            try:
                for part, _ in parts:
                    part.training = False
                yield
            finally:
                for part, training in parts:
                    part.training = training


_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # one for each module
_locks_lock = threading.Lock()


def _lock_of(module: Any) -> Any:
    with _locks_lock:
        return _locks.setdefault(module, threading.RLock())


def _operation(step: Any) -> str:
    """SigmoidBackward0 is the step back through a sigmoid."""
    return str(step.name()).partition("Backward")[0]
