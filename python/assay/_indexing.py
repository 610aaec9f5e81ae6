"""Rows and features given in square brackets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._order import index_of, refuse_reordered
from ._text import in_quotes


def chosen_rows(key: Any, rows: int, names: Sequence[str] | None = None) -> Any:
    """The index of one row, or an array of indices. An IndexError names what is not a row. names: of the rows, where
    they have some. A mask that has them in another order is a ValueError."""
    if getattr(getattr(key, "dtype", None), "kind", "") == "b":
        refuse_reordered("mask", index_of(key), "the rows", names or range(rows))
    return _chosen(key, rows, "row")


def chosen_features(key: Any, features: Sequence[str]) -> Any:
    """The index of one feature, or an array of indices. Features may be given by name."""
    if isinstance(key, str):
        return feature_number(key, features)
    if isinstance(key, (list, tuple)) or getattr(getattr(key, "dtype", None), "kind", "") in ("O", "U", "T"):
        key = [feature_number(each, features) if isinstance(each, str) else each for each in key]
    return _chosen(key, len(features), "feature")


def feature_number(name: str, features: Sequence[str]) -> int:
    """The index of the feature with this name; a KeyError lists the names."""
    places = [j for j, feature in enumerate(features) if feature == name]
    if len(places) == 1:
        return places[0]
    if places:
        raise KeyError(f"{in_quotes(name)} names {len(places)} features: take one by number, as in e[:, {places[0]}]")
    known = ", ".join(in_quotes(each) for each in features[:8])
    more = f" and {len(features) - 8:,} others" if len(features) > 8 else ""
    raise KeyError(f"no feature is named {in_quotes(name)}; there are {known}{more}")


def _chosen(key: Any, count: int, what: str) -> Any:
    if not isinstance(key, slice) and key is not Ellipsis:
        try:
            found = np.asarray(key)
        except ValueError:
            raise IndexError(f"{what}s: expected a list of numbers, found lists of different lengths") from None
        if found.size == 0 and found.ndim == 1:
            found = found.astype(np.intp)
        if found.dtype.kind not in ("i", "u", "b") or found.ndim > 1 or (found.ndim == 0 and found.dtype.kind == "b"):
            expected = "numbers, a slice or a mask" + (", or names" if what == "feature" else "")
            kind = type(key).__name__ if found.ndim == 0 else f"{found.ndim} dimensions of {found.dtype}"
            raise IndexError(f"{what}s: expected {expected}, found {kind}")
        if found.dtype.kind == "b" and len(found) != count:
            raise IndexError(f"{what}s: expected a mask of {count:,}, one for each {what}, found one of {len(found):,}")
        if found.dtype.kind != "b":
            outside = np.atleast_1d(found)[(np.atleast_1d(found) < -count) | (np.atleast_1d(found) >= count)]
            if outside.size:
                raise IndexError(f"{what} {outside[0]}: expected one of {count:,} {what}s, numbered from 0")
        key = found
    return np.arange(count)[key]
