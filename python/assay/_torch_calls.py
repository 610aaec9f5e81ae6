"""Calls of a PyTorch module with rows of the engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._text import in_quotes


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
        self.device = anything[0].device if anything else self.torch.device("cpu")

    def tensor(self, rows: NDArray[np.float32]) -> Any:
        """A copy, because modules may work in place."""
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
        """As scores, without checks of sizes, which a tracer would take for branches."""
        found = self.module(x)
        if not isinstance(found, self.torch.Tensor):
            raise ValueError(f"outputs of {self.name}: expected a tensor, found {type(found).__name__}")
        return found.unsqueeze(1) if found.ndim == 1 else found

    def gradient(
        self, rows: NDArray[np.float32], weights: NDArray[np.float32], link: Callable[[Any], Any]
    ) -> NDArray[np.float32]:
        """By the rows, of the sum of weights * outputs."""
        torch = self.torch
        # Somebody may call from within no_grad or inference_mode.
        with self.evaluating(), torch.inference_mode(False), torch.enable_grad():
            x = self.tensor(rows).requires_grad_()
            # A module that works in place may not begin with a leaf.
            found = link(self.scores(x.clone()))
            total = (found * torch.as_tensor(weights, dtype=found.dtype, device=found.device)).sum()
            (by_rows,) = torch.autograd.grad(total, x, allow_unused=True)
        if by_rows is None:
            return np.zeros(rows.shape, np.float32)
        return self._numpy(by_rows).reshape(rows.shape)

    def why_no_gradient(self, row: NDArray[np.float32], link: Callable[[Any], Any]) -> str:
        """Empty where there is one."""
        if not (self.dtype.is_floating_point or self.dtype.is_complex):
            return f"its inputs are whole numbers ({self.dtype})"
        try:
            columns = self.outputs(row, link).shape[1]
            self.gradient(row, np.ones((1, columns), np.float32), link)
        except RuntimeError as error:
            return f"torch says {in_quotes(str(error).splitlines()[0])}"
        return ""

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Every part of the module as after training, and then as it was."""
        parts = [(part, part.training) for part in self.module.modules()]
        try:
            for part, _ in parts:
                part.training = False
            yield
        finally:
            for part, training in parts:
                part.training = training
