"""Explanations: what every explanation function and aggregator returns."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrow_files import is_arrow_file, lacks_plugin, read_arrow, write_arrow
from ._core import Explanations as _Engine
from ._core import UnsupportedError
from ._files import Path, check_folder, path_text, system_errors
from ._html import explanations_html
from ._indexing import chosen_features, chosen_rows, feature_number
from ._optional import data_frame, named_index
from ._order import RowNames
from ._run import ProgressLike, run_of
from ._text import explanations_text

if TYPE_CHECKING:
    import pandas

    from ._plots import Plots
    from ._reasons import Reasons


class Explanations:
    """What each feature adds to the prediction for each row, and how that was found.

    `assay.explain` and `assay.aggregate` make them; `from_array` and `from_shap` take attributions made elsewhere.

    >>> e = assay.explain(model, X, "kernel_shap")
    >>> e.values                # rows x features, NumPy, no copy
    >>> e["age"]                # one feature's values for all rows
    >>> e[3], e[2:5], e[mask]   # some of the rows: Explanations again
    >>> e[mask, ["age", "sex"]] # some of the values: an array

    Those that were made in this process remember model, rows and pool, so `assay.evaluate(e)` needs nothing else.
    Some of their rows (`e[2:5]`), copies and files do not: pass `model=` and `X=` there.
    """

    _core: _Engine
    _data: NDArray[Any] | Callable[[], NDArray[Any]] | None
    _item_shape: tuple[int, ...]
    _row_names: RowNames

    def __init__(self) -> None:
        raise TypeError(
            "Explanations are made by assay.explain, assay.aggregate, Explanations.load, Explanations.from_array and "
            "Explanations.from_shap"
        )

    @classmethod
    def _of(
        cls,
        core: _Engine,
        data: NDArray[Any] | Callable[[], NDArray[Any]] | None = None,
        item_shape: Sequence[int] = (),
        row_names: RowNames | None = None,
    ) -> Explanations:
        """data: the explained rows for people to read, or a function that makes them; None: the engine's own.
        row_names: of the rows and the pool that they remember."""
        made = object.__new__(cls)
        made._core = core
        made._data = data
        made._item_shape = tuple(item_shape)
        made._row_names = row_names or RowNames()
        return made

    @property
    def values(self) -> NDArray[np.float32]:
        """Attributions, rows x features: the engine's own memory, read-only."""
        return self._core.values

    @property
    def features(self) -> list[str]:
        """Names of the features that have values: columns, or groups of columns."""
        return self._core.features

    @property
    def base(self) -> NDArray[np.float64]:
        """For each row the explained value at the reference; NaN where it is not known."""
        return self._core.base

    @property
    def output(self) -> NDArray[np.float64]:
        """For each row the explained value itself; NaN where it is not known."""
        return self._core.output

    @property
    def gap(self) -> NDArray[np.float64]:
        """For each row output - base - sum of values: 0 for complete methods; NaN where base or output is not known."""
        return self._core.gap

    @property
    def target(self) -> NDArray[np.object_] | None:
        """For each row the name of the class or output that is explained; None where it is not known."""
        index = self.target_index
        if index is None:
            return None
        return np.array(self.target_names, dtype=object)[index]

    @property
    def target_index(self) -> NDArray[np.uint32] | None:
        """For each row the index of its target in target_names; None if it is not known."""
        index = self._core.target
        return index if len(index) or not len(self) else None

    @property
    def target_names(self) -> list[str]:
        """The classes or outputs that rows may have as targets."""
        return self._core.target_names

    @property
    def standard_error(self) -> NDArray[np.float32] | None:
        """The standard error of each value, from sampling coalitions or noise; None if nothing is sampled."""
        return self._core.standard_error

    @property
    def background_error(self) -> NDArray[np.float32] | None:
        """The standard error of each value from a sample of background rows; None if there is no such error."""
        return self._core.background_error

    @property
    def replicates(self) -> NDArray[np.float32] | None:
        """What the values might be with another draw of background rows and of what the method samples: rows x
        replicates x features, jointly over features; None where there are none (explain(..., replicates=1000))."""
        kept = self._core.replicates
        return None if kept is None else kept.reshape(len(self), -1, self.shape[1])

    @property
    def ids(self) -> list[str] | None:
        """Names of the rows; None where they have none."""
        return self._core.ids or None

    @property
    def evaluations(self) -> int:
        """How many rows the model predicted or differentiated, coalitions included."""
        return self._core.evaluations

    @property
    def notes(self) -> list[str]:
        """Remarks on these values, one sentence each."""
        return self._core.notes

    @property
    def provenance(self) -> dict[str, Any]:
        """How they came to be: method, options, seed, unit, target, model, data, players, reference, draw
        (whether background rows were drawn from a pool), version and vector_target."""
        return self._core.provenance

    @property
    def method(self) -> str:
        """The explanation function or aggregator; empty for attributions made elsewhere."""
        return str(self.provenance["method"])

    @property
    def unit(self) -> str:
        """What is explained: margin, probability, log_odds, value or information; empty where it is not known."""
        return str(self.provenance["unit"])

    @property
    def members(self) -> list[str] | None:
        """For an aggregate: the names of the explanations it is made of."""
        members: list[str] | None = self._combined("members")
        return members

    @property
    def weights(self) -> NDArray[np.float32] | None:
        """For an aggregate that is a weighted sum: its weights, rows x members or rows x antecedents."""
        weights: NDArray[np.float32] | None = self._combined("weights")
        return weights

    @property
    def antecedents(self) -> NDArray[np.int64] | None:
        """For an aggregate of the pool's explanations: for each weight, a row of the pool; -1 for none."""
        antecedents: NDArray[np.int64] | None = self._combined("antecedents")
        return antecedents

    @property
    def measures(self) -> dict[str, NDArray[np.float64]] | None:
        """For an aggregate: numbers for each row, by name, such as its norm and its cosine to the members' mean."""
        measures: dict[str, NDArray[np.float64]] | None = self._combined("measures")
        return measures

    @property
    def data(self) -> NDArray[Any] | None:
        """The explained rows: the cells of the table where each column is a feature, else as the model takes them
        (where columns are grouped, there are more of them than features); None where they are not known."""
        if callable(self._data):
            self._data = self._data()
        if self._data is not None:
            return self._data
        subject = self._core.subject
        if subject is None:
            return None
        shown = subject.data.shown
        if not shown:
            return subject.data.x
        cells: NDArray[Any] = subject.data.x.astype(np.float64)
        for column, those in shown.items():
            cells[:, column] = those
        return cells

    @property
    def item_shape(self) -> tuple[int, ...]:
        """The shape of one row's values where they are an image or the like; empty for tables."""
        if self._item_shape:
            return self._item_shape
        subject = self._core.subject
        shape = () if subject is None else tuple(subject.data.item_shape)
        return shape if int(np.prod(shape)) == self.shape[1] and len(shape) > 1 else ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        rows, features = self._core.values.shape
        return rows, features

    @property
    def plot(self) -> Plots:
        """Plots: `e.plot.bar()`, `e.plot.beeswarm()`, `e.plot.waterfall(row)`, `e.plot.image(row)`; needs plotly."""
        from ._plots import Plots

        return Plots(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Explanations]:
        """Row by row, each as Explanations of one row."""
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is None:
            return np.asarray(self.values, dtype=dtype)
        return np.array(self.values, dtype=dtype, copy=copy)  # type: ignore[arg-type, unused-ignore]

    def __getitem__(self, key: Any) -> Any:
        """Some of the rows as Explanations (e[3], e[2:5], e[[1, 4]], e[mask]), the values of one feature (e["age"]),
        or an array of some values (e[rows, features])."""
        if isinstance(key, str):
            return self.values[:, feature_number(key, self.features)]
        if isinstance(key, tuple):
            if len(key) != 2:
                raise IndexError(f"expected rows, or rows and features, found {len(key)} indices")
            rows, features = key
            places = chosen_rows(rows, len(self), self._core.ids)
            return self.values[places][..., chosen_features(features, self.features)]
        chosen = np.atleast_1d(chosen_rows(key, len(self), self._core.ids))
        data = self.data
        return self._of(self._core.select(chosen.tolist()), None if data is None else data[chosen], self.item_shape)

    def to_numpy(self) -> NDArray[np.float32]:
        """A copy of the values that can be written to."""
        return np.array(self.values)

    def to_pandas(self, errors: bool = False) -> pandas.DataFrame:
        """The values as a DataFrame: a column for each feature, the ids as index. errors: with columns
        "feature (stderr)", NaN where nothing is sampled, and "feature (background stderr)" where there are such errors.
        """
        parts = [self.to_numpy()]
        columns = self.features
        if errors:
            sampled = np.full(self.shape, np.nan, np.float32) if self.standard_error is None else self.standard_error
            for kind, numbers in (("stderr", sampled), ("background stderr", self.background_error)):
                if numbers is not None:
                    parts.append(numbers)
                    columns = columns + [f"{feature} ({kind})" for feature in self.features]
        return data_frame("to_pandas()", np.hstack(parts), index=self._pandas_index(), columns=columns)

    def importance(self) -> dict[str, float]:
        """For each feature the mean of its absolute values over the rows, largest first. Undefined values are left out;
        NaN for a feature that has no others."""
        means, features = self._mean_sizes(), self.features
        return {features[j]: float(means[j]) for j in self._by_importance()}

    def reasons(
        self,
        top: int = 3,
        direction: str = "against",
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        exclude: Sequence[str] = (),
        template: Mapping[str, Any] | None = None,
        background: str | None = None,
        replicates: int = 1000,
        threads: int = 0,
        progress: ProgressLike = None,
    ) -> Reasons:
        """For each row the features that speak most against what is explained, and how sure that is.

        >>> e.reasons(top=3, exclude=["age"]).to_pandas()

        top         how many for a row
        direction   "against": features that lower the explained value; "for": features that raise it
        groups      features that make one reason: {"credit history": ["column", ...]}
        exclude     features that are never named; the column withheld says where they would have been
        template    sentences: {"against": {"above": "{feature} of {value} is above {reference}"}}, see docs/reasons.md
        background  instead of the reference they were made with: "approved" (rows of the pool that the model accepts),
                    "pool:100" or "spread:100"
        replicates  how many to make where certainty needs some and there are none; explanations that were not made in
                    this process cannot have them made
        """
        from ._reasons import reasons_of

        return reasons_of(
            self,
            top,
            direction,
            groups=groups,
            exclude=exclude,
            template=template,
            background=background or "",
            replicates=replicates,
            others=[],
            run=run_of(0, threads, progress),
        )

    def save(self, path: Path) -> None:
        """Writes a file by its extension: .npz keeps everything; .csv, .tsv, .parquet, .feather and .json as
        `assay explain --out` writes them. .parquet and .feather need pyarrow."""
        name = path_text("path", path)
        self._check_rows()
        check_folder(os.path.dirname(name))
        _check_texts(name, self._core)
        try:
            with system_errors():
                self._core.write(name)
        except UnsupportedError as problem:
            if not lacks_plugin(problem) or not is_arrow_file(name):
                raise
            write_arrow(self._core, name)

    @staticmethod
    def load(path: Path) -> Explanations:
        """Reads what `save` or `assay explain` wrote, or attributions made elsewhere: .npy, .npz, tables of numbers."""
        name = path_text("path", path)
        try:
            with system_errors():
                return Explanations._of(_Engine.read(name))
        except UnsupportedError as problem:
            if not lacks_plugin(problem) or not is_arrow_file(name):
                raise
        core, table = read_arrow(name)
        if core is not None:
            return Explanations._of(core)
        from ._interop import from_array

        # pandas restores its index, which names the rows.
        indexed = b"pandas" in (table.schema.metadata or {})
        return from_array(table.to_pandas() if indexed else table, argument=name)

    @staticmethod
    def from_array(
        values: Any,
        *,
        features: Sequence[str] | None = None,
        base: ArrayLike | None = None,
        output: ArrayLike | None = None,
        target: Any = None,
        target_names: Sequence[str] | None = None,
        standard_error: Any = None,
        ids: Sequence[Any] | None = None,
        data: Any = None,
        method: str = "",
        unit: str = "",
        model: str = "",
        notes: Sequence[str] = (),
    ) -> Explanations:
        """Attributions made elsewhere: a NumPy array, a tensor (as Captum returns), a DataFrame or a list of lists.

        values: rows x features; of a DataFrame, columns are the features and a named index the ids. Arrays of more
        dimensions (images) are flattened, and item_shape keeps their shape. NaN means undefined; infinity is refused.
        features: their names, "0", "1", ... by default. base, output: the explained value at the reference and at each
        row, one number or one for each row. target: which class or output is explained, by name or by its place among
        the model's, from 0: one, or one for each row. target_names: the names of all. standard_error: of each value.
        ids: names of the rows. data: the explained rows, for plots and as_shap(). method, unit, model, notes: what one
        knows about them.

        >>> attributions = captum.attr.IntegratedGradients(net).attribute(torch.tensor(X), target=1)
        >>> e = assay.Explanations.from_array(attributions, features=list(X.columns), target=1)
        >>> assay.evaluate(e, "faithfulness", model=assay.wrap(net), X=X)
        """
        from ._interop import from_array

        return from_array(
            values,
            features=features,
            base=base,
            output=output,
            target=target,
            target_names=target_names,
            standard_error=standard_error,
            ids=ids,
            data=data,
            method=method,
            unit=unit,
            model=model,
            notes=notes,
        )

    @staticmethod
    def from_shap(explanation: Any, *, output: int | str | None = None) -> Explanations:
        """From a shap.Explanation, or from what older versions of SHAP return (an array, or a list of one for each
        output). output: which one, by index or name, where there are several."""
        from ._shap import from_shap

        return from_shap(explanation, output=output)

    def as_shap(self) -> Any:
        """As a shap.Explanation, for SHAP's own plots. Without data where columns are grouped."""
        from ._shap import as_shap

        return as_shap(self)

    def __repr__(self) -> str:
        return explanations_text(self)

    def _repr_html_(self) -> str:
        return explanations_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles everything except the model, rows and pool."""
        self._check_rows()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "explanations.npz")
            self._core.write(path)
            with open(path, "rb") as file:
                content = file.read()
        return _restored, (content, None if self.data is None else np.array(self.data), self.item_shape)

    def _pandas_index(self) -> pandas.Index[Any] | range:
        if self.ids is None:
            return range(len(self))
        return named_index("to_pandas()", self.ids, self._core.id_name or None)

    def _check_rows(self) -> None:
        """Refuses to write explanations without rows: no file can hold them."""
        if not len(self):
            raise ValueError("explanations: expected one row or more to write, found none")

    def _combined(self, part: str) -> Any:
        combination = self._core.combination
        return None if combination is None else combination.get(part)

    def _mean_sizes(self) -> NDArray[np.float64]:
        values = self.values
        defined = np.isfinite(values)
        counts = defined.sum(axis=0)
        sums = np.abs(values).sum(axis=0, dtype=np.float64, where=defined)
        means = np.full(len(counts), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    def _by_importance(self) -> list[int]:
        """Indices of the features by mean absolute value, largest first, undefined last."""
        return [int(j) for j in np.argsort(-self._mean_sizes(), kind="stable")]


def _check_texts(path: str, core: _Engine) -> None:
    """Refuses texts that could not be read back from a table."""
    if path.lower().removesuffix(".gz").removesuffix(".xz").endswith((".npz", ".json")):
        return
    for what, texts, may_be_empty in (
        ("features", core.features, False),
        ("target names", [core.target_names[k] for k in np.unique(core.target)], False),
        ("ids", core.ids, True),
    ):
        wrong = next((text for text in texts if "\0" in text or not (text or may_be_empty)), None)
        if wrong is not None:
            expected = "without NUL" if may_be_empty else "that are not empty and without NUL"
            raise ValueError(f"{what}: expected texts {expected} in a table (.npz and .json take any), found {wrong!r}")


def _restored(content: bytes, data: NDArray[Any] | None, item_shape: tuple[int, ...]) -> Explanations:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "explanations.npz")
        with open(path, "wb") as file:
            file.write(content)
        return Explanations._of(_Engine.read(path), data, item_shape)
