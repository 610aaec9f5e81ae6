"""The model's quality in a study's facts: against scikit-learn's metrics."""

import numpy as np
import pytest

import assay

pytest.importorskip("sklearn", reason="its metrics are what ours are compared with")

from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score, root_mean_squared_error
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

QUICK = {"methods": ["occlusion"], "aggregators": "none", "criteria": "complexity", "curves": False}
QUICK |= {"variations": False, "sample": "all"}


def rows_of(classes):
    X, y = make_classification(300, 5, n_informative=3, n_redundant=0, n_classes=classes, flip_y=0.2, random_state=1)
    return X[:150].astype(np.float32), y[:150], X[150:].astype(np.float32), y[150:]


def quality_of(model, X, y, pool, **arguments):
    study = assay.study(assay.wrap(model), X, y=y, pool=pool, **QUICK, **arguments)
    assert study.facts["accuracy"] == study.facts["quality"]["accuracy"] or study.facts["accuracy"] is None
    return study.facts["quality"]


def softmax(z):
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("value", ["margin", "probability", "log_odds"])
def test_two_classes(value):
    X, y, pool, pool_y = rows_of(2)
    model = LogisticRegression().fit(pool, pool_y)
    found = quality_of(model, X, y, pool, value=value)
    p = model.predict_proba(X.astype(np.float64))[:, 1]
    assert (found["labelled"], found["classes"], found["auc_classes"]) == (150, 2, 1)
    assert found["accuracy"] == accuracy_score(y, model.predict(X))
    assert found["majority"] == max(np.mean(y), 1 - np.mean(y))
    assert found["auc"] == pytest.approx(roc_auc_score(y, p), abs=1e-9)
    assert found["log_loss"] == pytest.approx(log_loss(y, p), rel=1e-5)
    # Ten bins of fifteen rows each, as scikit-learn's quantiles have them.
    came_true, said = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert found["calibration_bins"] == len(said) == 10
    assert found["calibration_error"] == pytest.approx(np.mean(np.abs(came_true - said)), abs=1e-5)
    low, high = found["auc_interval"]
    assert 0.5 < low < found["auc"] < high < 1
    assert found["rmse"] is None and found["r2_interval"] == [None, None]


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_three_classes(model):
    X, y, pool, pool_y = rows_of(3)
    model.fit(pool, pool_y)
    found = quality_of(model, X, y, pool)
    p = model.predict_proba(X)
    assert found["auc_classes"] == 3
    assert found["accuracy"] == accuracy_score(y, model.predict(X))
    assert found["auc"] == pytest.approx(roc_auc_score(y, p, multi_class="ovr"), abs=1e-6)
    clipped = np.maximum(p, np.finfo(np.float32).eps)
    assert found["log_loss"] == pytest.approx(-np.mean(np.log(clipped[np.arange(150), y])), rel=1e-5)
    said = p.max(axis=1)
    order = np.argsort(said, kind="stable")
    right = (p.argmax(axis=1) == y)[order]
    errors = [abs(right[part].sum() - said[order][part].sum()) for part in np.split(np.arange(150), 10)]
    # Bins may part rows of equal probability either way.
    assert found["calibration_error"] == pytest.approx(sum(errors) / 150, abs=0.02)


def test_scores_of_a_support_vector_machine_are_no_logits():
    X, y, pool, pool_y = rows_of(2)
    model = SVC().fit(pool, pool_y)
    found = quality_of(model, X, y, pool)
    assert found["auc"] == pytest.approx(roc_auc_score(y, model.decision_function(X)), abs=1e-6)
    assert found["log_loss"] is None and found["calibration_error"] is None


def test_margins_that_are_no_logits_leave_the_models_own_probabilities():
    """One against the rest: the probabilities are sigmoids that are divided by their sum."""
    X, y, pool, pool_y = rows_of(3)
    model = OneVsRestClassifier(LogisticRegression()).fit(pool, pool_y)
    study = assay.study(assay.wrap(model), X, y=y, pool=pool, target="1", **QUICK)
    found, facts = study.facts["quality"], study.facts["reference_facts"]
    assert study.facts["unit"] == "margin"
    assert found["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-4)
    assert found["calibration_error"] is not None
    assert facts["pool_probability"] == pytest.approx(model.predict_proba(pool)[:, 1].mean(), abs=1e-5)
    predicted = assay.study(assay.wrap(model), X, y=y, pool=pool, **QUICK)
    assert predicted.facts["reference_facts"]["pool_probability"] is None


def test_numbers():
    X, _, pool, _ = rows_of(2)
    weights = np.array([1, -2, 0.5, 0, 3])
    draw = np.random.default_rng(3)
    y, pool_y = (rows @ weights + draw.normal(size=150) for rows in (X, pool))
    model = Ridge().fit(pool, pool_y)
    found = quality_of(model, X, y, pool)
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, model.predict(X)), rel=1e-4)
    assert found["r2"] == pytest.approx(r2_score(y, model.predict(X)), rel=1e-4)
    assert found["mean_rmse"] == pytest.approx(np.std(y), rel=1e-4)
    # The same bootstrap with NumPy's draws: the ends agree to its noise.
    rows = draw.integers(0, 150, (2000, 150))
    drawn = [r2_score(y[each], model.predict(X)[each]) for each in rows]
    width = np.diff(np.quantile(drawn, [0.025, 0.975]))[0]
    assert found["r2_interval"] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.15 * width)
    assert found["accuracy"] is None


def test_without_labels_nothing_is_known():
    X, _, pool, pool_y = rows_of(2)
    found = quality_of(LogisticRegression().fit(pool, pool_y), X, None, pool)
    assert found["labelled"] == 0 and found["accuracy"] is None and found["auc"] is None


def test_files_without_it_are_read(tmp_path):
    """As earlier versions wrote them."""
    import json

    X, y, pool, pool_y = rows_of(2)
    model = assay.wrap(LogisticRegression().fit(pool, pool_y))
    assay.study(model, X, y=y, pool=pool, out=tmp_path / "study", **QUICK)
    path = tmp_path / "study" / "study.json"
    text = json.loads(path.read_text())
    del text["facts"]["quality"]
    path.write_text(json.dumps(text))
    assert assay.Study.load(tmp_path / "study").facts["accuracy"] == text["facts"]["accuracy"]
