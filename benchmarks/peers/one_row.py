"""One row at a time, as an online service explains: Assay with and without a prepared explainer, beside its peers.

Both sides go through rows of Adult one by one, each call with an array of one row. Prepared explainers are checked to
give the bits that a call with many rows gives, and the peers' answers.
"""

import itertools
import time

import numpy as np
import shap
import subjects
import xgboost
from captum import attr
from explanations import one_output
from harness import Row, Workload, alternate
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from trees import adult_booster

import assay

SAMPLES, ROWS, COLUMNS = 2048, 50, 12
# Seconds that a round takes at least: a call may be over within some microseconds.
LEAST_ROUND = 0.1
NEAR, SLACK = 1e-4, 1.5
TREES, PATHS = "shap TreeExplainer", "XGBoost pred_contribs"


def in_turn(explain, rows):
    """A side for alternate(): seconds of a call with the next row."""
    turn = itertools.cycle([row[np.newaxis] for row in rows])

    def side():
        begin, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - begin < LEAST_ROUND:
            explain(next(turn))
            calls += 1
        return (time.perf_counter() - begin) / calls

    return side


def one_by_one(explain, rows):
    return np.concatenate([np.asarray(explain(row[np.newaxis])).reshape(1, -1) for row in rows])


class Case:
    """A method of a model: Assay's call for one row, prepared and not, and what many rows give."""

    def __init__(self, name, rows, model, method, limit=None, **arguments):
        self.name, self.rows, self.limit = name, rows, limit
        arguments = {"threads": 1} | arguments
        self.explainer = assay.Explainer(model, method, **arguments) if limit else None
        self.explain = lambda row: assay.explain(model, row, method, progress=False, **arguments)

    def sides(self):
        made = {"as it comes": lambda row: self.explain(row).values}
        if self.explainer:
            made["prepared"] = lambda row: self.explainer(row).values
        return made

    def check(self, peers, tolerance=NEAR):
        """The same bits one by one and together; and the peers' answers, unless they are drawn."""
        together = np.asarray(self.explain(self.rows).values)
        for side, explain in self.sides().items():
            np.testing.assert_array_equal(one_by_one(explain, self.rows), together, err_msg=f"{self.name}, {side}")
        for peer, explain in peers.items() if tolerance else ():
            np.testing.assert_allclose(together, one_by_one(explain, self.rows), atol=tolerance, err_msg=peer)


def beside(case, peers, front=None, tolerance=NEAR):
    """Rows of Assay against each peer: prepared by its limit of seconds, and as it comes by the peer's time."""
    case.check(peers, tolerance)
    sides = case.sides() | peers
    rounds = alternate({name: in_turn(explain, case.rows) for name, explain in sides.items()})
    for number, peer in enumerate(peers):
        first = number == 0  # A limit is Assay's own: told once.
        if case.explainer:
            limit, shown = (case.limit, front) if first else (None, None)
            workload = f"{case.name}, prepared, one row"
            yield Row(workload, peer, rounds[peer], rounds["prepared"], limit=limit, front=shown)
        bar = f"<= {SLACK:g}x its time"
        yield Row(f"{case.name}, as it comes, one row", peer, rounds[peer], rounds["as it comes"], 1 / SLACK, bar=bar)


def of_trees(run):
    made = adult_booster(run.kept, run.quick)
    rows, size = made.few[: 10 if run.quick else ROWS], f"{made.trees} trees"
    explainer = shap.TreeExplainer(made.booster, made.background)
    name = f"tree_shap, {size} x {len(made.background)} background rows"
    case = Case(name, rows, made.ours, "tree_shap", 60e-6, background=made.background)
    front = f"the next row's exact values of {size} x {len(made.background)}, prepared"
    yield from beside(case, {TREES: explainer.shap_values}, front)
    covers = shap.TreeExplainer(made.booster, feature_perturbation="tree_path_dependent")
    peers = {
        PATHS: lambda row: made.booster.predict(xgboost.DMatrix(row, nthread=1), pred_contribs=True)[:, :-1],
        TREES: lambda row: covers.shap_values(row, check_additivity=False),
    }
    yield from beside(Case(f"tree_shap_path, {size}", rows, made.ours, "tree_shap_path", 60e-6), peers)
    yield from predictions(made, rows, size)


def predictions(made, rows, size):
    sides = {
        "assay": lambda row: made.ours.predict(row, value="probability", threads=1),
        "XGBoost inplace_predict": made.booster.inplace_predict,
    }
    answers = [one_by_one(predict, rows) for predict in sides.values()]
    np.testing.assert_allclose(*answers, atol=NEAR)
    rounds = alternate({name: in_turn(predict, rows) for name, predict in sides.items()})
    peer = "XGBoost inplace_predict"
    bar = f"<= {SLACK:g}x its time"
    yield Row(f"prediction, {size}, one row", peer, rounds[peer], rounds["assay"], 1 / SLACK, bar=bar)


def of_networks(run):
    import torch

    made = subjects.adult(run.kept)
    rows, model, baseline = made.table(10 if run.quick else ROWS), assay.load(made.file), made.flat_baseline()
    arguments = {"baseline": baseline, "target": 1}
    case = Case(
        f"kernel_shap, {SAMPLES:,} samples, network", rows, model, "kernel_shap", 150e-6, samples=SAMPLES, **arguments
    )
    explainer = shap.KernelExplainer(one_output(made.module, 1), baseline)
    peer = {"shap.KernelExplainer": lambda row: explainer.shap_values(row, nsamples=SAMPLES, l1_reg=False, silent=True)}
    near_exact(case, peer["shap.KernelExplainer"], model, arguments)
    yield from beside(case, peer, tolerance=None)
    saliency, deeplift = attr.Saliency(made.module), attr.DeepLift(made.module)
    peers = {
        "gradient": ("Captum Saliency", lambda x: saliency.attribute(x, 1, abs=False)),
        "deeplift": ("Captum DeepLift", lambda x: deeplift.attribute(x, made.baseline, 1)),
    }
    for method, (peer, attribute) in peers.items():

        def explain(row, attribute=attribute):
            return attribute(torch.from_numpy(row).requires_grad_()).detach().numpy()

        yield from beside(Case(f"{method}, network", rows, model, method, 25e-6, **arguments), {peer: explain})


def near_exact(case, peer, model, arguments):
    """What is drawn is near the exact values on both sides, as in explanations.py."""
    exact = np.asarray(assay.explain(model, case.rows, "exact_shapley", threads=1, progress=False, **arguments).values)
    for explain in (peer, lambda row: case.explain(row).values):
        found = one_by_one(explain, case.rows)
        assert np.mean((found - exact) ** 2) <= 0.05 * np.mean(exact**2), case.name


def of_estimators(run):
    """Kernel SHAP of a pipeline that Python runs, of which only the coalitions' design can be prepared."""
    made = adult_booster(run.kept, run.quick)
    x = made.x[:, :COLUMNS].astype(np.float64)
    estimator = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)).fit(x, made.y)
    rows, baseline = x[: 5 if run.quick else 20], x.mean(axis=0, keepdims=True)
    model = assay.wrap(
        lambda table: estimator.predict_proba(table)[:, 1], features=[f"x{column}" for column in range(COLUMNS)]
    )
    name = f"kernel_shap, {SAMPLES:,} samples, an estimator of {COLUMNS} features"
    case = Case(name, rows, model, "kernel_shap", samples=SAMPLES, baseline=baseline)
    explainer = shap.KernelExplainer(lambda table: estimator.predict_proba(table)[:, 1], baseline)
    explain = lambda row: explainer.shap_values(row, nsamples=SAMPLES, l1_reg=False, silent=True)  # noqa: E731
    near_exact(case, explain, model, {"baseline": baseline})
    yield from beside(case, {"shap.KernelExplainer": explain}, tolerance=None)


def one_row(run):
    yield from of_trees(run)
    yield from of_networks(run)
    yield from of_estimators(run)


WORKLOADS = [
    Workload(
        "one_row",
        "One row at a time",
        one_row,
        f"""The time of a call with one row, through Python, in a loop over rows of Adult. "Prepared" is a call of an
`assay.Explainer`, made before; "as it comes" is `assay.explain`, which begins anew with every row. Peers' explainers
are made before in both cases. XGBoost makes a DMatrix for each row, since its values of features need one. Prepared,
as it comes and together with other rows, Assay gives the same bits; peers' answers agree to {NEAR:g}, and those that
are drawn are near exact values on both sides. The estimator is a scikit-learn pipeline, called back through Python.""",
    )
]
