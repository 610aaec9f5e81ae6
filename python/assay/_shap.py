"""Converts from and to shap.Explanation. It is recognised by its attributes, so reading one does not need SHAP."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_array
from ._explanations import Explanations
from ._interop import from_array
from ._optional import needed
from ._text import in_quotes

# What SHAP calls outputs whose names it does not know.
_INVENTED_NAME = re.compile(r"Output ([0-9]{1,6})")


def is_shap(obj: Any) -> bool:
    """Whether it is a shap.Explanation, or like one."""
    return all(hasattr(obj, name) for name in ("values", "base_values", "data", "feature_names"))


def from_shap(explanation: Any, *, output: int | str | None = None, argument: str = "explanation") -> Explanations:
    """Explanations.from_shap. argument: the name of the argument for messages."""
    if isinstance(explanation, Explanations):
        raise ValueError(f"{argument}: expected a shap.Explanation or arrays, found Explanations of Assay already")
    parts = _parts_of(explanation, argument)
    values, base = parts.values, parts.base
    target: int | str | None = output
    target_names: list[str] | None = None
    if parts.several:
        outputs = values.shape[-1]
        target = chosen = _output_number(output, parts.names, outputs, argument)
        target_names = parts.names or [str(k) for k in range(outputs)]
        if base is not None and base.ndim and base.shape[-1] == outputs:
            base = base[..., chosen]
        values = values[..., chosen]
    elif output is None and len(parts.names) == 1:
        numbered = _INVENTED_NAME.fullmatch(parts.names[0])
        target = int(numbered[1]) if numbered else parts.names[0]
    data = parts.data
    return from_array(
        values,
        features=parts.features
        if parts.features is not None and [len(parts.features)] == [*values.shape[1:]]
        else None,
        base=base,
        target=target,
        target_names=target_names,
        data=data if data is not None and data.ndim > 1 and len(data) == len(values) else None,
        argument=argument,
    )


@dataclass
class _Parts:
    values: NDArray[Any]
    several: bool  # whether the last dimension of values is that of the model's outputs
    base: NDArray[Any] | None = None
    data: NDArray[Any] | None = None
    features: list[str] | None = None
    names: list[str] = field(default_factory=list)  # of outputs


def _parts_of(explanation: Any, argument: str) -> _Parts:
    """The parts, with a dimension of rows. A single row of a shap.Explanation lacks it."""
    if isinstance(explanation, (list, tuple)):
        arrays = [as_array(each, f"{argument}[{i}]") for i, each in enumerate(explanation)]
        if not arrays or any(each.ndim < 2 or each.shape != arrays[0].shape for each in arrays):
            shapes = ", ".join(str(each.shape) for each in arrays) or "none"
            raise ValueError(f"{argument}: expected arrays of rows x features of one shape, found {shapes}")
        return _Parts(np.stack(arrays, axis=-1), several=True)
    if not is_shap(explanation):
        values = as_array(explanation, argument)
        return _Parts(values, several=values.ndim == 3)
    values = as_array(explanation.values, f"{argument}.values")
    base, data = (
        None if each is None else as_array(each, f"{argument}.{name}")
        for name, each in (("base_values", explanation.base_values), ("data", explanation.data))
    )
    # If SHAP does not know the names, they are not a list of texts.
    names = explanation.feature_names
    features = None if names is None or isinstance(names, str) else [str(name) for name in names]
    if values.ndim == 1 or (values.ndim == 2 and data is not None and data.ndim == 1 and len(data) == len(values)):
        values = values[None]
        base, data = (None if each is None else each[None] for each in (base, data))
    several = values.shape[:-1] == data.shape if data is not None and data.ndim > 1 else values.ndim == 3
    return _Parts(values, several, base, data, features, _output_names(explanation, values.shape[-1] if several else 1))


def as_shap(explanations: Explanations) -> Any:
    """Explanations.as_shap."""
    shap = needed("shap", "shap", "as_shap()")
    shape = (len(explanations), *(explanations.item_shape or explanations.shape[1:]))
    data = explanations.data
    if data is not None:
        data = data.reshape(shape) if data.size == int(np.prod(shape)) else None
    targets = explanations.target
    one_target = targets is not None and len(targets) and (targets == targets[0]).all()
    return shap.Explanation(
        explanations.values.astype(np.float64).reshape(shape),
        base_values=None if np.isnan(explanations.base).all() else np.array(explanations.base),
        data=data,
        feature_names=None if explanations.item_shape else explanations.features,
        output_names=str(targets[0]) if targets is not None and one_target else None,
    )


def _output_names(explanation: Any, count: int) -> list[str]:
    """The names of the outputs; none if SHAP does not know them."""
    names = getattr(explanation, "output_names", None)
    if names is None:
        return []
    names = [names] if isinstance(names, str) else [str(name) for name in np.ravel(names)]
    invented = count > 1 and names == [f"Output {k}" for k in range(count)]
    return names if len(names) == count and not invented else []


def _output_number(output: int | str | None, names: list[str], count: int, argument: str) -> int:
    if output is None and count == 1:
        return 0
    there = ", ".join(in_quotes(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    choice = f"one of {there}, or a number from 0 to {count - 1}" if names else f"a number from 0 to {count - 1}"
    if output is None and argument != "explanation":  # there is no other argument to choose one
        raise ValueError(
            f"{argument}: expected values of one output, as {argument}[..., 1] or Explanations.from_shap(e, output=1) "
            f"has them; {argument} has values for {count} outputs"
        )
    if output is None:
        raise ValueError(f"output: expected {choice}, because {argument} has values for {count} outputs, found none")
    if isinstance(output, str) and output in names:
        return names.index(output)
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool) and 0 <= output < count:
        return int(output)
    raise ValueError(f"output: expected {choice}, found {output!r}")
