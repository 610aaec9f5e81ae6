"""Which class or output is explained: as users say it, and as explanations from elsewhere do."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._interop import are_numbers
from ._text import in_quotes, joined

PREDICTED = "the predicted class"  # what the engine's files call it

# One word for all rows, or an index for each.
Targets = tuple[str, NDArray[np.uint32] | None]


def target_of(said: Any, explained: _core.Explanations | None, model: _core.Model, information: bool) -> Targets:
    """explained: explanations from elsewhere, which say it where the user does not."""
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
        names = _names(model)
        if int(explained.target.max()) >= len(names):
            raise ValueError(f"target: expected a number from 0 to {len(names) - 1}, found {explained.target.max()}")
        return "auto", explained.target
    return "auto", _listed_targets(np.asarray(explained.target_names, dtype=object)[explained.target], model)


def _names(model: _core.Model) -> list[str]:
    return model.class_names or model.output_names


def _expected(names: Sequence[str], most: int = 8) -> str:
    listed = [in_quotes(name) for name in names[:most]] + ([f"{len(names) - most} more"] if len(names) > most else [])
    return f"{joined(listed, 'or')} or an index from 0 to {len(names) - 1}"


def _shown(said: Any) -> str:
    return in_quotes(said) if isinstance(said, str) else repr(said)


def _word(said: Any, model: _core.Model) -> str:
    """As the engine reads it; a ValueError where it could not."""
    names = _names(model)
    plain = said.item() if isinstance(said, np.generic) else said
    word = str(plain)
    if word in names:
        return word
    if word == "auto":
        if not model.class_names and len(names) > 1:
            raise ValueError(
                f"target: expected {_expected(names)}, as {model.name} gives {len(names)} values, found none; "
                "assay.explain_all explains each"
            )
        return word
    if word == "predicted":
        if not model.class_names:
            raise ValueError(f"target: expected {_expected(names)}, as {model.name} has no classes, found 'predicted'")
        return word
    if word == "all":
        raise ValueError(f"target: expected {_expected(names)}, found 'all'; assay.explain_all explains each")
    if isinstance(plain, (str, Integral)) and word.isascii() and word.isdigit() and int(word) < len(names):
        return word
    expected = f"'predicted', {_expected(names)}" if model.class_names else _expected(names)
    raise ValueError(f"target: expected {expected}, found {_shown(plain)}")


def _listed_targets(said: Any, model: _core.Model) -> NDArray[np.uint32]:
    """For each row a name; where some are no names, all are indices. So it is with one for all rows."""
    names = _names(model)
    listed = np.asarray(said)
    if listed.ndim != 1:
        raise ValueError(f"target: expected one for each row, found an array of {listed.ndim} dimensions")
    cells = listed.tolist()
    index = {name: position for position, name in enumerate(names)}
    found = [index.get(str(each)) for each in cells]
    if None not in found:
        return np.asarray(found, dtype=np.uint32)
    for row, (each, position) in enumerate(zip(cells, found, strict=True)):
        is_index = isinstance(each, Integral) and not isinstance(each, bool) and 0 <= int(each) < len(names)
        if is_index or (position is not None and isinstance(each, str)):
            continue
        raise ValueError(f"target, row {row} (counted from 0): expected {_expected(names)}, found {_shown(each)}")
    mixed = next((each for each in cells if isinstance(each, str)), None)
    if mixed is not None:
        raise ValueError(f"target: expected names or indices, found {in_quotes(mixed)} among indices")
    return np.asarray(cells, dtype=np.uint32)
