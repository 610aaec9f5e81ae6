"""Packages that are imported only when something needs them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def needed(package: str, extra: str, purpose: str) -> Any:
    """The package, or an ImportError that says how to install it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as problem:
        if problem.name != package:
            raise
        raise ImportError(f"{purpose} needs {package}: pip install assay-xai[{extra}]") from None


def data_frame(purpose: str, content: Any, **options: Any) -> pandas.DataFrame:
    """A DataFrame, as its constructor makes it."""
    frame: pandas.DataFrame = needed("pandas", "pandas", purpose).DataFrame(content, **options)
    return frame


def named_index(purpose: str, names: Sequence[str], name: str | None) -> pandas.Index[Any]:
    """An index for a DataFrame with the names of rows."""
    index: pandas.Index[Any] = needed("pandas", "pandas", purpose).Index(list(names), name=name, dtype=object)
    return index
