"""Trees that came from another library: rows are given to them as that library takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ._frames import frame_of_arrow
from ._models import GraphModel
from ._tables import column_names, kind_of
from ._trees_frames import coded_array, plain_frame


class TreeRows(GraphModel):
    """Trees of another library without that library.

    values, arrays_hold_values: see TreeParts. underscores: whether names of columns have underscores for spaces."""

    def __init__(
        self,
        name: str,
        content: bytes,
        value: str | None,
        values: Mapping[int, Sequence[Any]],
        arrays_hold_values: bool,
        underscores: bool,
    ) -> None:
        super().__init__(name, content, value)
        self._values = values
        self._arrays_hold_values = arrays_hold_values
        self._underscores = underscores
        own = self._core.feature_names
        self._named = own != [f"features.{j}" for j in range(len(own))] and own != ["features"]

    @property
    def features(self) -> list[str]:
        """Names of what the model takes; where it was not told any, the numbers of its columns."""
        return self._names_of_arrays()

    def _prepared(self, argument: str, table: Any) -> Any:
        kind = kind_of(table, argument)
        if kind == "arrow":
            table = frame_of_arrow(table, argument)
        elif kind != "frame":
            return table
        names = self._own_columns(column_names(table, argument) or [])
        place = self._core.feature_names if self._named else names
        features = {name: feature for feature, name in enumerate(place)}
        return plain_frame(table, names, features, self._core.categories, self._values)

    def _own_columns(self, names: list[str]) -> list[str]:
        """The names of a table's columns as the model has them: LightGBM writes spaces as underscores."""
        if not self._named or not self._underscores:
            return names
        written = [name.replace(" ", "_") for name in names]
        counts = Counter(written)
        return [own if counts[own] == 1 else name for name, own in zip(names, written, strict=True)]

    def _codes_of(self, argument: str, array: NDArray[Any]) -> NDArray[Any]:
        return coded_array(argument, array, self._values) if self._arrays_hold_values else array

    def _names_of_arrays(self) -> list[str]:
        own = self._core.feature_names
        return own if self._named else [str(j) for j in range(len(own))]

    def _own_names(self) -> list[str]:
        return self._core.feature_names if self._named else []

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeRows, (
            self.name,
            self._kept,
            self._value,
            dict(self._values),
            self._arrays_hold_values,
            self._underscores,
        )
