"""Leverage SHAP's table of errors, played again: the same kind of games, each library with the same evaluations.

Musco and Witter (2025), "Provably accurate Shapley value estimation via leverage score sampling", arXiv:2410.01917;
figures of tables/main_shap_error.tex in github.com/rtealwitter/leverageshap. They train an XGBoost regressor (100 trees
of depth 4) on each of eight data sets, explain a row against the mean row, and give the squared error over the square
of the values, with 8 evaluations a feature, over 100 rows.
"""

import time

import numpy as np
import pandas as pd
import shap
import xgboost
from harness import Row, Table, Workload
from published import raw_adult

import assay

TREES, DEPTH, EACH, RUNS = 100, 4, 8, 100
# Published means and medians of the data sets at hand: Permutation SHAP, Kernel SHAP, Leverage SHAP.
PUBLISHED = {
    "IRIS": [(0.00576, 3.14e-8), (5.35e-9, 2.17e-13), (5.35e-9, 2.17e-13)],
    "Diabetes": [(0.00937, 0.00471), (0.0124, 0.00536), (0.00307, 0.00131)],
    "Adult": [(0.0188, 0.00311), (0.014, 0.0071), (0.00427, 0.00107)],
    "Correlated": [(0.0179, 0.0124), (0.0145, 0.0105), (0.00765, 0.00553)],
    "Independent": [(0.00785, 0.00461), (0.0062, 0.00453), (0.00331, 0.00245)],
}
LEVERAGE, KERNEL, PERMUTATION = "Leverage SHAP, published", "shap KernelExplainer", "shap PermutationExplainer"
# Below this, squared errors over squares are float32's rounding: those games are exact with their evaluations.
NOTHING = 1e-9


def adult():
    """The columns of shap.datasets.adult, from the file itself: categories as codes, education as years alone."""
    raw = raw_adult()
    y = raw.pop("income").str.startswith(">50K").to_numpy().astype(float)
    table = raw.drop(columns=["fnlwgt", "education"])
    codes = {
        name: each if each.dtype.kind in "if" else each.astype("category").cat.codes for name, each in table.items()
    }
    return pd.DataFrame(codes), y


LOADERS = {
    "IRIS": shap.datasets.iris,
    "Diabetes": shap.datasets.diabetes,
    "Adult": adult,
    "Correlated": shap.datasets.corrgroups60,
    "Independent": shap.datasets.independentlinear60,
}


class Game:
    """A regressor, and rows to explain against the mean: each cell of a row is another one than the mean's."""

    def __init__(self, name, run):
        table, y = LOADERS[name]()
        x = np.asarray(table, dtype=np.float32)
        self.name, self.players = name, x.shape[1]
        self.budget = EACH * self.players
        self.regressor = xgboost.XGBRegressor(n_estimators=TREES, max_depth=DEPTH, n_jobs=1).fit(x, y)
        self.reference = x.mean(axis=0, keepdims=True, dtype=np.float64).astype(np.float32)
        file = run.folder / f"{name}.json"
        self.regressor.get_booster().save_model(file)
        self.model = assay.load(file)
        random = np.random.default_rng(0)
        self.rows = x[random.integers(len(x), size=10 if run.quick else RUNS)].copy()
        same = self.rows == self.reference
        while same.any():  # As they do: another row's cell instead.
            others = x[random.integers(len(x), size=len(self.rows))]
            self.rows = np.where(same, others, self.rows)
            same = self.rows == self.reference
        self.exact = np.asarray(self.explain("tree_shap", 0).values, dtype=np.float64)
        theirs = shap.TreeExplainer(self.regressor, self.reference).shap_values(self.rows, check_additivity=False)
        np.testing.assert_allclose(self.exact, theirs, atol=1e-4 * np.abs(self.exact).max())

    def explain(self, method, seed, rows=None, **options):
        given = {"baseline": self.reference, "seed": seed, "threads": 1, "progress": False}
        return assay.explain(self.model, self.rows if rows is None else rows, method, **given, **options)

    def errors(self, values):
        return np.sum((values - self.exact) ** 2, axis=1) / np.sum(self.exact**2, axis=1)

    def ours(self):
        """A seed for each row, as each of theirs is a run of its own."""
        found = [
            self.explain("kernel_shap", seed, row[np.newaxis], samples=self.budget)
            for seed, row in enumerate(self.rows)
        ]
        assert all(each.evaluations <= self.budget for each in found)
        return np.concatenate([each.values for each in found])

    def kernel(self):
        explainer = shap.KernelExplainer(self.regressor.predict, self.reference)
        # The reference and the row are evaluated beside the sample.
        options = {"nsamples": self.budget - 2, "l1_reg": False, "silent": True}
        found = []
        for seed, row in enumerate(self.rows):
            np.random.seed(seed)
            found.append(explainer.shap_values(row[np.newaxis], **options)[0])
        return np.array(found)

    def permutation(self):
        """Its orders go forth and back, 2 evaluations a player."""
        masker = shap.maskers.Independent(self.reference, 1)
        found = []
        for seed, row in enumerate(self.rows):
            explainer = shap.explainers.Permutation(self.regressor.predict, masker, seed=seed)
            found.append(explainer(row[np.newaxis], max_evals=self.budget, silent=True).values[0])
        return np.array(found)


def timed_values(work):
    begin = time.perf_counter()
    values = np.asarray(work(), dtype=np.float64)
    return values, time.perf_counter() - begin


def error_text(errors):
    return f"{np.mean(errors):.3g} ({np.median(errors):.3g})"


def leverage(run):
    lines = []
    for name, published in PUBLISHED.items():
        game = Game(name, run)
        found = {}
        for who, work in {"assay": game.ours, KERNEL: game.kernel, PERMUTATION: game.permutation}.items():
            values, seconds = timed_values(work)
            found[who] = game.errors(values), seconds / len(game.rows)
        errors, seconds = found["assay"]
        theirs = {LEVERAGE: published[2][0], KERNEL: found[KERNEL][0].mean(), PERMUTATION: found[PERMUTATION][0].mean()}
        for peer, error in theirs.items():
            rounds = [found[peer][1]] * 2 if peer in found else []
            ours = float(errors.mean())
            yield Row(
                f"{name}, {game.players} features, {game.budget} evaluations, a row",
                peer,
                rounds,
                [seconds] * 2,
                # Published ones are of other rows and boosters: nothing to hold.
                bar="<= its mean error" if peer in found else None,
                holds=ours <= max(float(error), NOTHING) if peer in found else None,
                more={"peer_error": float(error), "assay_error": ours},
            )
        cells = [error_text(found[who][0]) for who in ("assay", KERNEL, PERMUTATION)]
        lines.append(
            [f"{name}, {game.players}", *cells, *(f"{mean:.3g} ({median:.3g})" for mean, median in published[::-1])]
        )
    head = ["data, features", "Assay kernel_shap", KERNEL, PERMUTATION]
    head += ["published: Leverage SHAP", "Kernel SHAP", "Permutation SHAP"]
    yield Table(
        "Leverage SHAP's table of errors",
        head,
        lines,
        text=f"Squared error over the square of the exact values: mean (median) over {len(game.rows)} rows, each with "
        f"a seed of its own, {EACH} evaluations a feature in all. The first three were run here, the others are the "
        "paper's, on rows and boosters of its own. California housing, NHANES and Communities are not at hand.",
    )


WORKLOADS = [
    Workload(
        "published_leverage",
        "Published errors: Leverage SHAP's table",
        leverage,
        f"""Musco and Witter (arXiv:2410.01917) compare estimators of Shapley values on XGBoost regressors of {TREES}
trees of depth {DEPTH}, one row against the mean row (figures of github.com/rtealwitter/leverageshap). Five of their
eight data sets are at hand: two are bundled with scikit-learn, two are drawn by SHAP, and Adult. Exact values are those
of the trees, by Assay and by SHAP.""",
    )
]
