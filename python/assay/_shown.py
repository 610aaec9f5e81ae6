"""The cells that people see, in Explanations.data and reports, where float32 numbers only stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_array, flat_rows, rounded_columns
from ._tables import column_names, core_table


def show_cells(data: _core.Dataset, X: Any) -> None:
    """Keeps the cells of X beside the numbers that the engine made of them. data: the rows of X, whose columns are
    columns of X."""
    names = column_names(X)
    cells: Mapping[int, NDArray[np.float64]]
    if names is None:
        array = as_array(X, "X")
        cells = rounded_columns(flat_rows(array))
    else:
        doubles = _core.Doubles()
        core_table(X, "X", doubles=doubles, used=data.feature_names)
        places = {name: place for place, name in enumerate(data.feature_names)}
        cells = {places[name]: column for name, column in doubles.columns.items() if name in places}
    for column, those in cells.items():
        if column not in data.shown:
            data.set_shown(column, those)
