"""CatBoost's estimators are black boxes: regressions by predict, classifiers by predict_proba."""

import numpy as np
import pytest

import assay

catboost = pytest.importorskip("catboost", reason="wraps CatBoost, which is not among the pinned peers")
QUIET = {"iterations": 10, "verbose": False, "allow_writing_files": False, "thread_count": 1}


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(200, 3))


def test_a_regression(rows):
    fitted = catboost.CatBoostRegressor(**QUIET).fit(rows, rows[:, 0] + rows[:, 1])
    model = assay.wrap(fitted)
    np.testing.assert_allclose(model.predict(rows)[:, 0], fitted.predict(rows), rtol=1e-6, atol=1e-6)
    found = assay.explain(model, rows[:5], "exact_shapley", baseline="zero")
    gap = fitted.predict(rows[:5]) - fitted.predict(np.zeros((1, 3)))
    np.testing.assert_allclose(found.values.sum(axis=1), gap, atol=1e-5)
    with pytest.raises(assay.UnsupportedError, match="has no classes to give a probability of"):
        model.predict(rows, value="probability")


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier(rows, classes):
    labels = np.digitize(rows[:, 0] + rows[:, 1], [0, 1][: classes - 1])
    fitted = catboost.CatBoostClassifier(**QUIET).fit(rows, labels)
    expected = fitted.predict_proba(rows)
    found = assay.wrap(fitted).predict(rows)
    np.testing.assert_allclose(found, expected[:, 1:] if classes == 2 else expected, atol=1e-6)
