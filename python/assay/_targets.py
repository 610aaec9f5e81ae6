"""Which class or output is explained: as users give it, and as explanations made elsewhere do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._interop import are_numbers
from ._text import in_quotes, joined

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")
PREDICTED = "the predicted class"  # what the engine's files call it

# One word for all rows, or an index for each.
Targets = tuple[str, NDArray[np.uint32] | None]


def target_of(said: Any, explained: _core.Explanations | None, model: _core.Model, information: bool) -> Targets:
    """explained: explanations made elsewhere; their targets are used if the user gives none."""
    if information:
        if said is not None and not (isinstance(said, str) and said == "auto"):
            raise ValueError(f"target: expected none with value='information', which is of all classes, found {said!r}")
        return "auto", None
    if said is None and explained is not None:
        return _target_of_file(explained, model)
    if said is None:
        return _word("auto", model), None
    if isinstance(said, str) or np.ndim(said) == 0:
        return _word(said, model), None
    return "auto", _listed_targets(said, model)


def _target_of_file(explained: _core.Explanations, model: _core.Model) -> Targets:
    said = explained.provenance["target"]
    if said == PREDICTED:
        return "predicted", None
    if len(explained.target) == 0 or said == "information":
        return _word("auto" if said == "information" else said or "auto", model), None
    if are_numbers(explained.target_names) and explained.provenance["method"] == "":
        names = _Names(model)
        if int(explained.target.max()) >= len(names.all):
            raise ValueError(
                f"target: expected a number from 0 to {len(names.all) - 1}, found {explained.target.max()}"
            )
        return "auto", explained.target
    return "auto", _places_of_names([explained.target_names[place] for place in explained.target], model)


class _Names:
    """The names of a model's classes or outputs, and the ways to refer to them."""

    def __init__(self, model: _core.Model) -> None:
        self.all = model.class_names or model.output_names
        self._places = {name: place for place, name in reversed(list(enumerate(self.all)))}
        # If all names are whole numbers (1 or 1.0): their positions by number. Else empty.
        self._by_number: dict[int, int] = {}
        if all(_WHOLE_NUMBER.fullmatch(name) for name in self.all):
            numbers = [int(name.partition(".")[0]) for name in self.all]
            if len(set(numbers)) == len(numbers):
                self._by_number = {number: place for place, number in enumerate(numbers)}

    def place(self, said: Any) -> int | None:
        """Of one target, whatever the others of a list are; None where there is no such target.

        Integers are names where all names are whole numbers, and indices where not. Of texts, names come before
        indices."""
        if _is_integer(said):
            if self._by_number:
                return self._by_number.get(int(said))
            return int(said) if 0 <= int(said) < len(self.all) else None
        named = self.named(str(said))
        if named is not None or not isinstance(said, str):
            return named
        return int(said) if said.isascii() and said.isdigit() and int(said) < len(self.all) else None

    def named(self, name: str) -> int | None:
        return self._places.get(name)

    def listed(self, most: int = 8) -> str:
        shown = [in_quotes(name) for name in self.all[:most]]
        shown += [f"{len(self.all) - most} more"] if len(self.all) > most else []
        return joined(shown, "or")

    def expected(self, said: Any = "") -> str:
        """The valid targets, for a message."""
        if _is_integer(said) and self._by_number:
            return self.listed()
        return f"{self.listed()} or an index from 0 to {len(self.all) - 1}"


def _is_integer(said: Any) -> bool:
    return isinstance(said, Integral) and not isinstance(said, bool)


def _shown(said: Any) -> str:
    return in_quotes(said) if isinstance(said, str) else repr(said)


def _plain(said: Any) -> Any:
    return said.item() if isinstance(said, np.generic) else said


def _word(said: Any, model: _core.Model) -> str:
    """The target as a word for the engine, which looks for names before indices; a ValueError if it is none."""
    names = _Names(model)
    plain = _plain(said)
    word = str(plain)
    place = names.place(plain)
    if place is not None:
        # If the engine would read it as another target's name or index, its own name is passed.
        return word if word == str(place) and names.named(word) is None else names.all[place]
    if word == "auto":
        if not model.class_names and len(names.all) > 1:
            raise ValueError(
                f"target: expected {names.expected()}, as {model.name} gives {len(names.all)} values, found none; "
                "assay.explain_all explains each"
            )
        return word
    if word == "predicted":
        if not model.class_names:
            raise ValueError(f"target: expected {names.expected()}, as {model.name} has no classes, found 'predicted'")
        return word
    if word == "all":
        raise ValueError(f"target: expected {names.expected()}, found 'all'; assay.explain_all explains each")
    predicted = "'predicted', " if model.class_names else ""
    raise ValueError(f"target: expected {predicted}{names.expected(plain)}, found {_shown(plain)}")


def _listed_targets(said: Any, model: _core.Model) -> NDArray[np.uint32]:
    """One target for each row, each read in the same way as a single target."""
    names = _Names(model)
    # NumPy would make one text of [1, "a"].
    listed = said if isinstance(said, (list, tuple)) and not any(map(np.ndim, said)) else np.asarray(said)
    if isinstance(listed, np.ndarray) and listed.ndim != 1:
        raise ValueError(f"target: expected one for each row, found an array of {listed.ndim} dimensions")
    places = []
    for row, each in enumerate(listed):
        plain = _plain(each)
        place = names.place(plain)
        if place is None:
            raise ValueError(
                f"target, row {row} (counted from 0): expected {names.expected(plain)}, found {_shown(plain)}"
            )
        places.append(place)
    return np.asarray(places, dtype=np.uint32)


def _places_of_names(said: Sequence[str], model: _core.Model) -> NDArray[np.uint32]:
    """Positions of the targets of explanations, which are always names, never indices."""
    names = _Names(model)
    places = []
    for row, name in enumerate(said):
        place = names.named(name)
        if place is None:
            raise ValueError(f"target, row {row} (counted from 0): expected {names.listed()}, found {in_quotes(name)}")
        places.append(place)
    return np.asarray(places, dtype=np.uint32)
