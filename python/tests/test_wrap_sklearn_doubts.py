"""assay.wrap of scikit-learn estimators that are not what they seem: margins that are none, calls that change rows."""

import numpy as np
import pytest

import assay

pytest.importorskip("sklearn", reason="wraps scikit-learn estimators")

from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC


def numbers(classes=2):
    generator = np.random.default_rng(0)
    x = generator.normal(size=(60, 4))
    y = np.digitize(x @ generator.normal(size=4), np.linspace(-1, 1, classes + 1)[1:-1])
    return x, y


def test_pairs_of_classes_inside_others_are_refused():
    x, y = numbers(classes=3)
    pairs = SVC(decision_function_shape="ovo")
    # Three pairs of three classes look like three margins.
    fitted = BaggingClassifier(pairs, n_estimators=3, random_state=0).fit(x, y)
    assert fitted.decision_function(x).shape == (60, 3)
    for rows in (x, x[np.argsort(y, kind="stable")], x[y == 2]):
        with pytest.raises(assay.UnsupportedError, match="compares classes in pairs, and has no margin of each"):
            assay.wrap(fitted).predict(rows)
    # Machines for two classes each have no pairs.
    each = OneVsRestClassifier(pairs).fit(x, y)
    np.testing.assert_allclose(assay.wrap(each).predict(x), each.decision_function(x), rtol=1e-5, atol=1e-6)


def test_margins_that_contradict_the_predictions_are_refused():
    x, y = numbers(classes=3)

    class Turned(LogisticRegression):
        turned = np.inf

        def decision_function(self, x):
            margins = super().decision_function(x)
            turned = x[:, 0] <= self.turned
            margins[turned] = np.roll(margins[turned], 1, axis=1)
            return margins

        def predict(self, x):
            return self.classes_[super().decision_function(x).argmax(axis=1)]

    fitted = Turned().fit(x, np.array(["low", "middle", "high"])[y])
    with pytest.raises(assay.UnsupportedError, match="largest for another class than predict names, for 16 of 16 rows"):
        assay.wrap(fitted).predict(x)
    # Other names do not change what it is compared with.
    with pytest.raises(assay.UnsupportedError, match="for 16 of 16 rows"):
        assay.wrap(fitted, classes=["a", "b", "c"]).predict(x)
    # As for a tie of votes in a support vector machine, here and there.
    fitted.turned = np.sort(x[:, 0])[0]
    np.testing.assert_allclose(assay.wrap(fitted).predict(x), fitted.decision_function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("value", ["margin", "probability"])
def test_an_estimator_may_work_in_place(value):
    class InPlace(LogisticRegression):
        def fit(self, x, y):
            x -= 1
            return super().fit(x, y)

        def predict(self, x):
            x -= 1
            return super().predict(x)

        def decision_function(self, x):
            x -= 1
            return x @ self.coef_[0].astype(np.float32) + self.intercept_[0].astype(np.float32)

        def predict_proba(self, x):
            p = 1 / (1 + np.exp(-self.decision_function(x)))
            return np.column_stack([1 - p, p])

    x, y = numbers()
    x = x.astype(np.float32)
    fitted = InPlace().fit(x.copy(), y)
    before = x.copy()
    bound = assay.wrap(fitted)._bind([("X", x)], value)
    assert (bound.margins is not None) == (value == "probability")
    found = assay.explain(assay.wrap(fitted), x, "occlusion", baseline="mean", pool=x, value=value)
    np.testing.assert_array_equal(x, before)
    expected = (x - 1) @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(
        found.output, expected if value == "margin" else 1 / (1 + np.exp(-expected)), rtol=1e-4, atol=1e-5
    )
    (scores,) = assay.evaluate(found, "roar", y=y, pool_y=y, seeds=1, k=[0.5], control=False).values()
    assert np.isfinite(scores.mean)


def test_a_threshold_of_its_own_is_noted():
    """What counts as predicted here is the more probable class, which is not what such a classifier predicts."""
    selection = pytest.importorskip("sklearn.model_selection")
    if not hasattr(selection, "FixedThresholdClassifier"):
        pytest.skip("scikit-learn before 1.5 has no FixedThresholdClassifier")
    X = np.random.default_rng(0).normal(size=(40, 3))
    base = LogisticRegression().fit(X, X[:, 0] > 0)
    fixed = selection.FixedThresholdClassifier(base, threshold=0.8).fit(X, X[:, 0] > 0)
    found = assay.explain(assay.wrap(fixed), X[:5], "occlusion", baseline="zero")
    assert any("predicts by a threshold of its own" in note for note in found.notes), found.notes
    assert not any(
        "threshold" in note for note in assay.explain(assay.wrap(base), X[:5], "occlusion", baseline="zero").notes
    )
