"""A model that is called as it is can change after it was explained: then old explanations are not scored by it."""

from __future__ import annotations

import numpy as np
import pytest

import assay

sklearn_linear = pytest.importorskip("sklearn.linear_model")

AGAIN = "the explained value of row 1 is .*explain again if it was fitted again"


@pytest.fixture
def rows():
    return np.random.default_rng(2).normal(size=(60, 4))


@pytest.fixture
def estimator(rows):
    return sklearn_linear.LogisticRegression().fit(rows, rows[:, 0] + rows[:, 1] > 0)


@pytest.fixture
def explained(rows, estimator):
    model = assay.wrap(estimator)
    made = assay.explain(model, rows[:20], "kernel_shap", background=rows, pool=rows)
    assert assay.evaluate(made, "faithfulness", interval=False)["faithfulness"].mean == pytest.approx(1)
    return model, made


def fit_again(estimator, rows):
    estimator.fit(-rows, rows[:, 0] + rows[:, 1] > 0)


@pytest.mark.parametrize("criterion", ["faithfulness", "deletion_auc", "avg_sensitivity", "identity"])
def test_old_explanations_are_not_scored_by_a_model_that_was_fitted_again(rows, estimator, explained, criterion):
    model, made = explained
    fit_again(estimator, rows)
    with pytest.raises(ValueError, match=AGAIN):
        assay.evaluate(made, criterion, interval=False)
    with pytest.raises(ValueError, match=AGAIN):
        assay.evaluate(made[:5], criterion, interval=False)
    with pytest.raises(ValueError, match=AGAIN):
        assay.evaluate(made, criterion, model=model, X=rows[:20], background=rows, pool=rows, interval=False)


def test_what_asks_no_model_is_scored_as_before(rows, estimator, explained):
    _, made = explained
    before = assay.evaluate(made, "complexity", interval=False)["complexity"].mean
    fit_again(estimator, rows)
    assert assay.evaluate(made, "complexity", interval=False)["complexity"].mean == before


def test_new_explanations_of_the_model_are_scored(rows, estimator, explained):
    model, _ = explained
    fit_again(estimator, rows)
    made = assay.explain(model, rows[:20], "kernel_shap", background=rows)
    assert assay.evaluate(made, "faithfulness", interval=False)["faithfulness"].mean == pytest.approx(1)


def test_reasons_are_not_made_again_by_a_model_that_was_fitted_again(rows, estimator):
    made = assay.explain(assay.wrap(estimator), rows[:5], "shapley_sampling", background=rows, pool=rows)
    first = made.reasons(replicates=20)
    assert len(first) > 0
    fit_again(estimator, rows)
    for arguments in ({"replicates": 20}, {"background": "pool:30"}):
        with pytest.raises(ValueError, match=AGAIN):
            made.reasons(**arguments)


def test_aggregates_that_ask_the_model_ask_the_one_that_was_explained(rows, estimator, explained):
    model, made = explained
    other = assay.explain(model, rows[:20], "occlusion", background=rows, pool=rows)
    plain = assay.aggregate([made, other], "mean")
    learned = assay.aggregate([made, other], "convex_min")
    fit_again(estimator, rows)
    assert np.array_equal(assay.aggregate([made, other], "mean").values, plain.values)
    with pytest.raises(ValueError, match=AGAIN):
        assay.aggregate([made, other], "convex_min")
    with pytest.raises(ValueError, match=AGAIN):
        assay.evaluate(learned, "faithfulness", interval=False)
