"""assay.evaluate and assay.aggregate beside Quantus, NumPy and SciPy in one process.

Attributions come from Captum, SHAP and Assay; evaluating those made elsewhere is one call with arrays, as Quantus' own
is. Quantus gets all subsets where it draws some, and Assay's noise where it draws noise (tests/fixtures/criteria), so
scores are equal and not only alike. docs/quantus.md says which definitions are the same.
"""

import pathlib
import sys
import warnings

import numpy as np
import pandas
import pytest
import quantus
import shap
import torch
from captum import attr
from scipy import stats
from torch import nn

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peer_values as peers
import record
from make_criteria import gradient_x_input

SEED, CLASSES = 11, ["a", "b", "c"]
NETWORKS = {
    "relu": lambda: nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 3)),
    "tanh": lambda: nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 3)),
}


@pytest.fixture(autouse=True)
def quiet():
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Subject:
    """A network with attributions of one output by Captum, SHAP and Assay."""

    def __init__(self, name):
        torch.manual_seed(sum(name.encode()))
        module = NETWORKS[name]()
        columns = module[0].in_features
        x, baseline = torch.randn(9, columns).numpy(), 0.3 * torch.randn(1, columns).numpy()
        self.peer = made = peers.Network(module, x, baseline, x[:4])
        self.model = assay.wrap(module, classes=CLASSES)
        self.given = {"model": self.model, "X": x, "baseline": baseline, "target": "b"}
        rows, base = made.tensor(x), made.tensor(baseline)
        masker = shap.maskers.Independent(baseline.astype(np.float64), max_samples=1)
        explain = {"target": "b", "baseline": baseline}
        self.attributions = {
            "captum DeepLift": attr.DeepLift(made.double).attribute(rows, base, made.target).detach(),
            "captum InputXGradient": attr.InputXGradient(made.double).attribute(rows, made.target).detach(),
            "shap Exact": shap.explainers.Exact(made.margin, masker)(x.astype(np.float64), silent=True),
            "assay shapley_sampling": assay.explain(self.model, x, "shapley_sampling", **explain),
            "assay gradient_x_input": assay.explain(self.model, x, "gradient_x_input", **explain),
        }

    def arrays(self, source):
        """The numbers alone, in float64."""
        found = self.attributions[source]
        return np.asarray(getattr(found, "values", found) if "captum" not in source else found, dtype=np.float64)


@pytest.fixture(scope="module", params=NETWORKS)
def subject(request):
    return Subject(request.param)


SOURCES = pytest.mark.parametrize(
    "source",
    ["captum DeepLift", "captum InputXGradient", "shap Exact", "assay shapley_sampling", "assay gradient_x_input"],
)


def scores_of(explanations, case, **given):
    found = assay.evaluate(explanations, (case.criterion, case.options), **given)
    (scores,) = found.values()
    assert scores.criterion == case.criterion
    return scores


def assert_same(scores, case, tolerance=1e-5):
    assert scores.coverage == 1, (case.criterion, case.peer)
    message = f"{case.criterion} {case.options} {case.peer}"
    np.testing.assert_allclose(scores.values, case.values, rtol=tolerance, atol=tolerance, err_msg=message)


@SOURCES
def test_attributions_from_anywhere_have_quantus_scores(subject, source):
    """Tensors, shap.Explanation and Explanations go in as they are; those of Assay know model and rows already."""
    explanations, values = subject.attributions[source], subject.arrays(source)
    given = {} if source.startswith("assay") else subject.given
    for case in [*peers.of_values(values), *peers.of_model(peers.judge_of(subject.peer, values))]:
        assert_same(scores_of(explanations, case, **given), case)


@SOURCES
def test_attributions_alone_are_enough_for_criteria_of_attributions(subject, source):
    values = subject.arrays(source)
    for case in peers.of_values(values):
        assert_same(scores_of(values, case), case)
        frame = pandas.DataFrame(values, columns=[f"f{j}" for j in range(values.shape[1])])
        assert_same(scores_of(frame, case), case)


def test_what_explains_perturbed_rows_is_that_of_quantus_with_the_same_noise(subject):
    ours = subject.attributions["assay gradient_x_input"]
    judge = peers.judge_of(subject.peer, subject.arrays("captum InputXGradient"), gradient_x_input)
    for case in peers.of_explainer(judge, SEED):
        scores = scores_of(ours, case, seed=SEED)
        # A row that some noise moves to another class: no number there, and the other draws here.
        same = ~np.isnan(case.values)
        assert same.sum() > len(same) // 2 and scores.coverage == 1
        # A quotient of small differences in float32.
        tolerance = 2e-3 if "stability" in case.criterion else 1e-5
        np.testing.assert_allclose(scores.values[same], case.values[same], rtol=tolerance, err_msg=case.criterion)


def test_attributions_made_elsewhere_cannot_be_made_again(subject):
    """Nobody knows how to explain a perturbed row, which Quantus is told in `explain_func`."""
    (scores,) = assay.evaluate(subject.arrays("shap Exact"), "max_sensitivity_yeh", **subject.given).values()
    assert np.isnan(scores.values).all() and scores.coverage == 0
    assert scores.undefined == {"attributions made elsewhere cannot be made again": len(scores.values)}


def test_drawn_subsets_of_quantus_come_near_all_of_ours(subject):
    """As one calls both without more ado; Quantus draws 2,000 subsets for each row."""
    values = subject.arrays("shap Exact")
    exact = assay.evaluate(values, "faithfulness", subset=3, **subject.given)
    exact = exact["faithfulness:subset=3"].values
    judge = peers.judge_of(subject.peer, values)
    metric = quantus.FaithfulnessCorrelation(
        nr_runs=2000, subset_size=3, perturb_func=judge.replaced, normalise=False, return_aggregate=False
    )
    np.random.seed(0)
    drawn = judge.scores(metric)
    assert (np.abs(drawn - exact) < 6 * (1 - exact**2) / np.sqrt(2000) + 1e-9).all()


def test_undefined_is_counted_here_and_a_number_there():
    attributions = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    found = assay.evaluate(attributions, ["complexity", "sparseness"])
    for scores in found.values():
        assert np.isnan(scores.values).tolist() == [False, True]
        assert scores.coverage == 0.5
    theirs = quantus.Sparseness(disable_warnings=True)(
        model=None, x_batch=attributions[:, None], y_batch=np.zeros(2, dtype=int), a_batch=attributions[:, None].copy()
    )
    assert theirs[1] == pytest.approx(0)


# Aggregates


def units(arrays):
    return np.stack([rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in arrays])


@pytest.mark.parametrize("count", [2, 3, 5])
def test_aggregates_of_members_from_anywhere_are_those_of_numpy_and_scipy(subject, count):
    sources = list(subject.attributions)[:count]
    members = units([subject.arrays(source) for source in sources])
    given = [subject.attributions[source] for source in sources]
    players = members.shape[2]
    expected = {
        "mean": members.mean(axis=0),
        "median": np.median(members, axis=0),
        "borda": (players + 1 - stats.rankdata(-np.abs(members), axis=2)).mean(axis=0) / players,
    }
    if count > 2:
        expected["geometric_median"] = np.stack(
            [record.geometric_median(members[:, r]) for r in range(len(members[0]))]
        )
    for aggregator, values in expected.items():
        found = assay.aggregate(given, aggregator, names=sources)
        np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-5, err_msg=aggregator)
        assert found.members == sources
    weights = np.arange(1, count + 1) / np.arange(1, count + 1).sum()
    found = assay.aggregate(given, "convex", names=sources, weights=weights)
    np.testing.assert_allclose(found.values, np.tensordot(weights, members, axes=1), rtol=0, atol=1e-6)


def test_aggregates_are_evaluated_as_members_are(subject):
    """Explain, aggregate, evaluate: Quantus' scores of the mean of three peers' attributions."""
    sources = ["captum DeepLift", "shap Exact", "assay shapley_sampling"]
    found = assay.aggregate([subject.attributions[source] for source in sources], "mean", names=sources)
    values = units([subject.arrays(source) for source in sources]).mean(axis=0)
    for case in [*peers.of_values(values), *peers.of_model(peers.judge_of(subject.peer, values))]:
        assert_same(scores_of(found, case, **subject.given), case, 2e-5)
