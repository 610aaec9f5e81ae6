"""Study: what assay.study returns."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._explanations import Explanations
from ._files import Path, check_folder, path_text
from ._optional import data_frame, named_index
from ._order import RowNames
from ._run import ProgressLike, run_of
from ._scores import Evaluation, Scores
from ._study_html import html_text, number

if TYPE_CHECKING:
    import pandas

    from ._reasons import Reasons


class Study:
    """All methods and their aggregates on one model, scored by all criteria, and what the numbers support.

    `assay.study` makes them; `Study.load` reads one from a folder that it or `assay study` wrote.

    >>> study = assay.study(model, X_test, pool=X_train, y=y_test)
    >>> study                                  # the table, and which explanation to use when
    >>> study.best("faithfulness")             # names of the best, and of those that cannot be told from it
    >>> study.explanations["kernel_shap"]      # attributions of the studied rows
    >>> study.scores["kernel_shap"]["complexity"].values
    >>> study.show()                           # the report, in a browser
    """

    explanations: dict[str, Explanations]
    """The attributions of the studied rows, by the name of the entry: methods first, then aggregates."""

    scores: dict[str, Evaluation]
    """By the name of the entry, its scores by each criterion."""

    json: dict[str, Any]
    """All results and where they came from: study.json, as docs/study-format.md describes it."""

    folder: pathlib.Path
    """Where the files are. Without `out` a temporary folder, which goes with the Study; `save` keeps it."""

    def __init__(self) -> None:
        raise TypeError("a Study is made by assay.study and Study.load")

    @classmethod
    def _of(cls, result: _core.StudyResult, row_names: RowNames | None = None) -> Study:
        made = object.__new__(cls)
        made.folder = pathlib.Path(result.folder)
        made._json_text = result.json
        made.json = json.loads(result.json)
        made._screen, made._table, made._conclusions = result.screen, result.table, result.conclusions
        made._groups = result.groups
        made.explanations, made.scores = {}, {}
        for name, _, explained, scored in result.entries:
            made.explanations[name] = Explanations._of(explained, row_names=row_names)
            by_criterion = dict(zip(made.criteria, map(Scores._of, scored), strict=True))
            made.scores[name] = Evaluation(made.explanations[name], by_criterion, [])
        made._for_reasons, made._faithful = result.for_reasons, result.faithful_methods
        return made

    _json_text: str
    _screen: str
    _table: str
    _conclusions: str
    _for_reasons: tuple[str, str]
    _faithful: list[str]
    _groups: str

    @staticmethod
    def load(folder: Path) -> Study:
        """A study from the folder that `assay study` or `assay.study` wrote.

        Its explanations do not remember model and rows: pass `model=` and `X=` to `assay.evaluate`."""
        name = path_text("folder", folder, "folder")
        check_folder(name)
        return Study._of(_core.read_study(name))

    @property
    def entries(self) -> list[str]:
        """Names of the methods and aggregates, as they were asked for: "kernel_shap:samples=64"."""
        return [entry["name"] for entry in self.json["entries"]]

    @property
    def methods(self) -> list[str]:
        """The entries that are methods."""
        return [entry["name"] for entry in self.json["entries"] if entry["kind"] == "method"]

    @property
    def aggregates(self) -> list[str]:
        """The entries that are aggregates."""
        return [entry["name"] for entry in self.json["entries"] if entry["kind"] == "aggregate"]

    @property
    def criteria(self) -> list[str]:
        """The criteria, as they were asked for: "faithfulness:subset=2"."""
        return [criterion["spec"] for criterion in self.json["criteria"]]

    @property
    def advice(self) -> dict[str, Any]:
        """Which explanation to use, as data: "recommended" (overall, for faithfulness, stability and simplicity, each
        with its scores, its cost and what it was chosen over), "faithful", "undecided", "gains", "drivers", ... as
        docs/study-format.md describes them. The verdict says the same in sentences."""
        return dict(self.json["advice"])

    @property
    def verdict(self) -> list[str]:
        """The advice in sentences."""
        return list(self.json["verdict"])

    @property
    def warnings(self) -> list[str]:
        """What the numbers do not support, in sentences."""
        return list(self.json["warnings"])

    @property
    def notes(self) -> list[str]:
        """What was chosen for you, in sentences."""
        return list(self.json["notes"])

    @property
    def facts(self) -> dict[str, Any]:
        """What was studied: model, data, pool, target, reference, rows, seed, accuracy, version, ..."""
        return dict(self.json["facts"])

    @property
    def cohorts(self) -> list[dict[str, Any]]:
        """Groups of rows: for each its "column", "name" and "rows", the model's "quality" on it, main "drivers", the
        recommended explanation's "faithfulness" and "stability", and "differences" from all other rows, tested over all
        groups at once, as docs/study-format.md describes them. Empty for studies of older versions."""
        columns = self.json.get("cohorts", {}).get("columns", [])
        return [{"column": column["name"], **cohort} for column in columns for cohort in column["cohorts"]]

    @property
    def left_out(self) -> list[dict[str, str]]:
        """What cannot work here and was not asked for by name: the kind, name and reason for each."""
        return [dict(each) for each in self.json["left_out"]]

    @property
    def report(self) -> pathlib.Path:
        """The path of report.html, a single file that works offline."""
        return self.folder / "report.html"

    def best(self, criterion: str) -> list[str]:
        """Names of the entries that are best by a criterion: the first, and those that cannot be told from it.

        criterion: as in `.criteria`, or its name where only one has it. Empty where the criterion does not rank."""
        position = self._position(criterion)
        order = self.json["criteria"][position]["order"]
        standing = {entry["name"]: entry["scores"][position]["standing"] for entry in self.json["entries"]}
        return [name for name in order if standing[name] in ("best", "tied")]

    def dominated(self) -> dict[str, str]:
        """Entries that another one is at least as good as by faithfulness, average sensitivity and complexity, and
        better by one: their names, and that other one."""
        return {each["name"]: each["dominated_by"] for each in self.json["entries"] if each["dominated"]}

    def reasons(
        self,
        top: int = 3,
        direction: str = "against",
        *,
        explanation: str | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        exclude: Sequence[str] = (),
        template: Mapping[str, Any] | None = None,
        background: str | None = None,
        replicates: int = 1000,
        threads: int = 0,
        progress: ProgressLike = None,
    ) -> Reasons:
        """For each studied row the features that speak most against what is explained, and how sure that is: by the
        explanation that the study recommends, against the whole pool (up to 1,000 rows of it).

        >>> study.reasons(top=3, background="approved").to_pandas()

        explanation   another method of the study. The other arguments are those of `Explanations.reasons`.
        A study that was read from a folder does not know its model: `assay reasons FOLDER` opens it again."""
        from ._reasons import reasons_of

        name, why = self._for_reasons
        if explanation is not None:
            if explanation not in self.methods:
                raise ValueError(f"explanation: expected one of {', '.join(self.methods)}, found {explanation!r}")
            name, why = explanation, f"reasons are by {explanation}, as asked"
        if not name:
            raise ValueError(why)
        if self.explanations[name]._core.subject is None:
            raise ValueError(
                "a study that was read from a folder does not know its model and rows: expected one of assay.study in "
                "this process, or `assay reasons FOLDER`"
            )
        return reasons_of(
            self.explanations[name],
            top,
            direction,
            groups=groups,
            exclude=exclude,
            template=template,
            background=background or "whole",
            replicates=replicates,
            others=[self.explanations[each] for each in self._faithful],
            run=run_of(0, threads, progress),
            whole_pool=int(self.json["facts"]["pool_rows_available"]),
            why=why,
        )

    def table(self) -> str:
        """The table of results as text, all criteria."""
        return self._table

    def conclusions(self) -> str:
        """Verdict, warnings and what was left out, as text."""
        return self._conclusions

    def groups(self) -> str:
        """Groups of rows and how they differ, as text."""
        return self._groups

    def to_pandas(self, errors: bool = False) -> pandas.DataFrame:
        """Means over the rows, a line for each entry and a column for each criterion; NaN where there is no score.

        errors: instead of each mean three columns (criterion, what): "mean", "error" (its standard error) and
        "standing" (best, tied, worse or undefined; None where the criterion does not rank)."""
        index = named_index("to_pandas()", self.entries, "explanation")
        columns: dict[Any, list[Any]] = {}
        for position, spec in enumerate(self.criteria):
            scores = [entry["scores"][position] for entry in self.json["entries"]]
            means = [number(score["mean"]) for score in scores]
            if errors:
                columns[spec, "mean"] = means
                columns[spec, "error"] = [number(score["stderr"]) for score in scores]
                columns[spec, "standing"] = [score["standing"] for score in scores]
            else:
                columns[spec] = means
        frame = data_frame("to_pandas()", columns, index=index)
        frame.columns.names = ["criterion", "what"] if errors else ["criterion"]
        return frame

    def cohorts_to_pandas(self) -> pandas.DataFrame:
        """The groups of rows, a line for each (column, group): rows, accuracy, auc, rmse, output (mean of the explained
        value), faithfulness, stability, driver (the main one), and whether the group differs significantly from all
        other rows; NaN where something is not defined."""
        groups = self.cohorts
        columns: dict[str, list[Any]] = {"column": [each["column"] for each in groups]}
        columns["group"] = [each["name"] for each in groups]
        columns["rows"] = [each["rows"] for each in groups]
        for name in ("accuracy", "auc", "rmse"):
            columns[name] = [number(each["quality"][name]) for each in groups]
        columns["output"] = [number(each["mean_output"]) for each in groups]
        for name in ("faithfulness", "stability"):
            columns[name] = [number(each[name]["mean"]) for each in groups]
        columns["driver"] = [each["drivers"][0]["feature"] if each["drivers"] else None for each in groups]
        columns["different"] = [each["different"] for each in groups]
        frame = data_frame("cohorts_to_pandas()", columns)
        return frame.set_index(["column", "group"])

    def save(self, folder: Path) -> None:
        """Copies all files of the study to a new or empty folder: what `assay gate`, `assay diff` and `Study.load`
        take."""
        target = pathlib.Path(path_text("folder", folder, "folder"))
        if os.path.lexists(target) and not (target.is_dir() and not target.is_symlink() and not any(target.iterdir())):
            found = "one with files in it" if target.is_dir() else "something else"
            raise FileExistsError(f"folder: expected a new or empty folder, found {found}: {os.fspath(folder)}")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Copied beside the target, then moved: it appears whole or not at all.
        with tempfile.TemporaryDirectory(prefix=".assay-study-", dir=target.parent) as beside:
            shutil.copytree(self.folder, os.path.join(beside, "study"), symlinks=True)
            os.replace(os.path.join(beside, "study"), target)

    def show(self) -> None:
        """Opens the report in a browser."""
        import webbrowser

        webbrowser.open(self.report.absolute().as_uri())

    def __repr__(self) -> str:
        """What `assay study` prints: the model's quality, what drives it, and which explanation to use."""
        return self._screen.rstrip("\n")

    def _repr_html_(self) -> str:
        return html_text(self.json)

    def _position(self, criterion: str) -> int:
        if criterion in self.criteria:
            return self.criteria.index(criterion)
        named = [i for i, each in enumerate(self.json["criteria"]) if each["name"] == criterion]
        if len(named) != 1:
            raise ValueError(f"criterion: expected one of {', '.join(self.criteria)}, found {criterion!r}")
        return named[0]
