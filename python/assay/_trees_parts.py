"""What is found in a tree model of another library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class CannotConvert(Exception):
    """Why a model's trees cannot be the engine's, as the end of a sentence: "its init is another estimator"."""


@dataclass(frozen=True)
class TreeParts:
    """A tree model as the engine has it, and its library for comparison."""

    # The engine's file of it.
    content: bytes
    # The library's own scores of rows as it takes them: what the engine's model gives where no unit is asked for.
    scores: Callable[[Any], Any]
    # Of a category, by the number of its feature: the values that its codes 0, 1, ... stand for.
    values: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    # Whether arrays hold those values; else they hold the codes themselves.
    arrays_hold_values: bool = False


def has_class(model: Any, names: Sequence[str], package: str) -> bool:
    """Whether its class, or one that it derives from, is one of these of a package, which is not imported."""
    return any(each.__name__ in names and each.__module__.partition(".")[0] == package for each in type(model).__mro__)
