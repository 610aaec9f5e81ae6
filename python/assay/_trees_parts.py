"""What is found in a tree model of another library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class CannotConvert(Exception):
    """Why a model's trees cannot be converted, as the end of a sentence: "its init is another estimator"."""


@dataclass(frozen=True)
class TreeParts:
    """A tree model in the engine's form, and its library for comparison."""

    # The bytes of the engine's file.
    content: bytes
    # The library's own scores for its rows, in the default unit of the engine's model.
    scores: Callable[[Any], Any]
    # For features that are categories, by index: the values that codes 0, 1, ... stand for.
    values: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    # Whether arrays hold these values, or the codes themselves.
    arrays_hold_values: bool = False


def has_class(model: Any, names: Sequence[str], package: str) -> bool:
    """Whether its class or a base class is one of these of a package, without importing the package."""
    return any(each.__name__ in names and each.__module__.partition(".")[0] == package for each in type(model).__mro__)
