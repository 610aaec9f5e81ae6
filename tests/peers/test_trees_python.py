"""assay.wrap of live tree models of XGBoost, LightGBM and scikit-learn: scores, Shapley values, early stopping,
categories and retraining against the libraries and shap.TreeExplainer."""

import warnings

import lightgbm
import numpy as np
import pandas
import pytest
import shap
import xgboost
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import assay

ROWS = 300


@pytest.fixture(autouse=True)
def no_warnings():
    """Libraries warn where they are called with other rows than they were fitted on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # XGBoost 3.4 says so whenever such a booster is made.
        warnings.filterwarnings("ignore", ".*booster=(dart|gblinear).* is deprecated", UserWarning)
        yield


def table(form="array", missing=True):
    """Decimal numbers, which float32 does not hold; two classes, three classes, values, counts."""
    generator = np.random.default_rng(11)
    x = generator.normal(size=(ROWS, 5))
    x[:, 3] = np.round(x[:, 3], 1)
    signal = x[:, 0] + x[:, 1] * x[:, 2]
    if missing:
        x[generator.random(x.shape) < 0.1] = np.nan
    labels = {
        "two": (signal > 0).astype(int),
        "three": np.digitize(signal, [-0.5, 0.5]),
        "value": signal,
        "count": generator.poisson(np.exp(signal / 3)),
    }
    return (pandas.DataFrame(x, columns=list("abcde")) if form == "frame" else x), labels


def categories():
    """Texts, numbers as categories, booleans, missing ones."""
    x, _ = table("frame")
    generator = np.random.default_rng(12)
    x["b"] = pandas.Categorical(generator.choice(["red", "green", "blue"], ROWS))
    x["d"] = pandas.Categorical(generator.choice([30, 10, 20], ROWS))
    x["e"] = generator.random(ROWS) < 0.5
    x.loc[::7, "b"] = np.nan
    y = (x["a"].fillna(0) + (x["b"] == "red") - 2 * (x["d"] == 20) + x["e"] > 0).astype(int)
    return x, y


def xgboosted(kind="XGBRegressor", **options):
    return getattr(xgboost, kind)(**({"n_estimators": 12, "max_depth": 4, "n_jobs": 1} | options))


def lightgbm_of(kind="LGBMRegressor", **options):
    return getattr(lightgbm, kind)(**({"n_estimators": 12, "verbose": -1, "n_jobs": 1} | options))


GROUPS = {"group": [20] * (ROWS // 20)}
# name -> (estimator, labels, what fit takes besides)
ESTIMATORS = {
    "XGBClassifier": (xgboosted("XGBClassifier"), "two", {}),
    "XGBClassifier of three": (xgboosted("XGBClassifier"), "three", {}),
    "XGBRegressor": (xgboosted(), "value", {}),
    "XGBRegressor of counts": (xgboosted(objective="count:poisson"), "count", {}),
    "XGBRegressor, dart": (xgboosted(booster="dart", rate_drop=0.3), "value", {}),
    "XGBRFClassifier": (xgboosted("XGBRFClassifier"), "two", {}),
    "XGBRFRegressor": (xgboosted("XGBRFRegressor"), "value", {}),
    "XGBRanker": (xgboosted("XGBRanker"), "three", GROUPS),
    "LGBMClassifier": (lightgbm_of("LGBMClassifier"), "two", {}),
    "LGBMClassifier of three": (lightgbm_of("LGBMClassifier"), "three", {}),
    "LGBMRegressor": (lightgbm_of(), "value", {}),
    "LGBMRegressor of counts": (lightgbm_of(objective="poisson"), "count", {}),
    "LGBMRegressor, dart": (lightgbm_of(boosting_type="dart"), "value", {}),
    "LGBMClassifier, rf": (
        lightgbm_of("LGBMClassifier", boosting_type="rf", subsample=0.5, subsample_freq=1),
        "three",
        {},
    ),
    "LGBMRanker": (lightgbm_of("LGBMRanker"), "three", GROUPS),
    "RandomForestClassifier": (RandomForestClassifier(8, random_state=0), "three", {}),
    "RandomForestRegressor": (RandomForestRegressor(8, random_state=0), "value", {}),
    "ExtraTreesClassifier": (ExtraTreesClassifier(8, random_state=0), "two", {}),
    "ExtraTreesRegressor": (ExtraTreesRegressor(8, random_state=0), "value", {}),
    "DecisionTreeClassifier": (DecisionTreeClassifier(random_state=0), "two", {}),
    "DecisionTreeRegressor": (DecisionTreeRegressor(random_state=0), "value", {}),
    "GradientBoostingClassifier": (GradientBoostingClassifier(n_estimators=8, random_state=0), "three", {}),
    "GradientBoostingRegressor": (GradientBoostingRegressor(n_estimators=8, random_state=0), "value", {}),
    "HistGradientBoostingClassifier": (HistGradientBoostingClassifier(max_iter=8), "two", {}),
    "HistGradientBoostingRegressor": (HistGradientBoostingRegressor(max_iter=8), "value", {}),
}


def own_scores(fitted, x):
    """What is explained of a model, by its own library alone."""
    name = type(fitted).__name__
    if name.startswith("XGB"):
        scores = fitted.predict(x, output_margin=True)
    elif name.startswith("LGBM"):
        scores = fitted.predict(x, raw_score=True)
        scores = scores / fitted.n_estimators_ if fitted.boosting_type == "rf" else scores
    elif hasattr(fitted, "decision_function"):
        scores = fitted.decision_function(x)
    elif hasattr(fitted, "predict_proba"):
        scores = fitted.predict_proba(x)
        scores = scores[:, 1:] if scores.shape[1] == 2 else scores
    else:
        scores = fitted.predict(x)
    return np.asarray(scores, np.float64).reshape(len(x), -1)


def fitted_on(name, form):
    estimator, labels, more = ESTIMATORS[name]
    x, y = table(form, missing=not name.startswith("GradientBoosting"))
    return estimator.fit(x, y[labels], **more), x


@pytest.mark.parametrize("form", ["array", "frame"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_scores(name, form):
    fitted, x = fitted_on(name, form)
    model = assay.wrap(fitted)
    assert "trees" in model.capabilities
    scores = own_scores(fitted, x)
    np.testing.assert_allclose(model.predict(x), scores, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(scores).max()))
    found = model.check(x)
    assert found.holds and found.rows == ROWS
    # Columns by position where the model was not told names.
    if form == "array":
        named = pandas.DataFrame(x, columns=list("vwxyz"))
        np.testing.assert_array_equal(model.predict(named), model.predict(x))


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("form", ["array", "frame"])
def test_boosters(library, form):
    x, y = table(form)
    if library == "xgboost":
        options = {"objective": "binary:logistic", "max_depth": 4}
        booster = xgboost.train(options, xgboost.DMatrix(x, y["two"]), 12)
        margin = booster.predict(xgboost.DMatrix(x), output_margin=True)
    else:
        options = {"objective": "binary", "verbose": -1, "num_threads": 1}
        booster = lightgbm.train(options, lightgbm.Dataset(x, y["two"]), 12)
        margin = booster.predict(x, raw_score=True)
    model = assay.wrap(booster, classes=["no", "yes"])
    assert model.classes == ["no", "yes"] and model.check(x).holds
    np.testing.assert_allclose(model.predict(x)[:, 0], margin, atol=1e-5)
    np.testing.assert_allclose(model.predict(x, value="probability")[:, 0], 1 / (1 + np.exp(-margin)), atol=1e-6)


def test_early_stopping():
    x, y = table()
    last = slice(200, None)
    stopped = xgboosted("XGBClassifier", n_estimators=150, early_stopping_rounds=3, learning_rate=0.8)
    stopped.fit(x[:200], y["two"][:200], eval_set=[(x[last], y["two"][last])], verbose=False)
    assert stopped.best_iteration + 1 < stopped.get_booster().num_boosted_rounds()
    assert assay.wrap(stopped).check(x).holds
    stopping = [lightgbm.early_stopping(3, verbose=False)]
    options = {"objective": "binary", "verbose": -1, "learning_rate": 0.8, "num_threads": 1}
    booster = lightgbm.train(
        options,
        lightgbm.Dataset(x[:200], y["two"][:200]),
        150,
        valid_sets=[lightgbm.Dataset(x[last], y["two"][last])],
        callbacks=stopping,
    )
    assert 0 < booster.best_iteration < 150
    assert assay.wrap(booster).check(x).holds


def categorical_model(library):
    x, y = categories()
    if library == "xgboost":
        return xgboosted("XGBClassifier", enable_categorical=True).fit(x, y), x, y
    if library == "lightgbm":
        return lightgbm_of("LGBMClassifier", min_child_samples=5).fit(x, y), x, y
    return HistGradientBoostingClassifier(max_iter=12).fit(x, y), x, y


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "sklearn"])
def test_categories(library):
    fitted, x, _ = categorical_model(library)
    model = assay.wrap(fitted)
    np.testing.assert_allclose(model.predict(x), own_scores(fitted, x), atol=1e-5)
    # The order of categories and columns is nobody's business but the library's.
    other = x[["e", "d", "c", "b", "a"]].copy()
    other["b"] = other["b"].cat.reorder_categories(["red", "green", "blue"])
    np.testing.assert_array_equal(model.predict(other), model.predict(x))
    if library != "sklearn":  # arrays hold codes
        coded = x.copy()
        for name in ("b", "d"):
            coded[name] = coded[name].cat.codes.replace(-1, np.nan)
        assert model.check(coded.to_numpy(np.float64)).holds
        np.testing.assert_array_equal(model.predict(coded.to_numpy(np.float64)), model.predict(x))
    x["b"] = x["b"].cat.add_categories("pink")
    x.loc[3, "b"] = "pink"
    with pytest.raises(ValueError, match="row 4: column 'b' holds 'pink', which is no category"):
        model.predict(x)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "sklearn"])
def test_retraining(library):
    fitted, x, y = categorical_model(library)
    model = assay.wrap(fitted)
    found = assay.explain(model, x[:60], "tree_shap", background=x[:10], pool=x[60:], progress=False)
    for criterion in ("roar", "kar"):
        scores = assay.evaluate(found, criterion, y=y[:60], pool_y=y[60:], seeds=1, k=1, progress=False)[criterion]
        assert np.isfinite(scores.values).all()


@pytest.mark.parametrize(
    "name", ["XGBClassifier", "XGBRegressor", "LGBMClassifier", "LGBMRegressor", "GradientBoostingRegressor"]
)
def test_tree_shap(name):
    fitted, x = fitted_on(name, "array")
    x = np.nan_to_num(x).astype(np.float32).astype(np.float64)
    model = assay.wrap(fitted)
    found = assay.explain(model, x[:20], "tree_shap", background=x[100:150], progress=False)
    theirs = shap.TreeExplainer(fitted, x[100:150], feature_perturbation="interventional").shap_values(x[:20])
    size = np.abs(theirs).max()
    np.testing.assert_allclose(found.values, theirs, atol=1e-4 * size)
    path = assay.explain(model, x[:20], "tree_shap_path", progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it returns a list
        theirs = shap.TreeExplainer(fitted, feature_perturbation="tree_path_dependent").shap_values(x[:20])
    theirs = theirs[1] if isinstance(theirs, list) else theirs
    np.testing.assert_allclose(path.values, theirs, atol=1e-4 * size)
    again = path.as_shap()
    assert isinstance(again, shap.Explanation)
    np.testing.assert_allclose(again.base_values + again.values.sum(axis=1), model.predict(x[:20])[:, 0], atol=1e-4)


def test_tree_shap_of_a_forest():
    """On multiples of 1/64: shap puts other cells that are a threshold's float32 on the wrong side."""
    x, y = table(missing=False)
    x = np.round(x * 64) / 64
    fitted = RandomForestClassifier(8, random_state=0).fit(x, y["three"])
    found = assay.explain(assay.wrap(fitted), x[:20], "tree_shap", background=x[100:150], target=1, progress=False)
    explainer = shap.TreeExplainer(fitted, x[100:150], feature_perturbation="interventional")
    np.testing.assert_allclose(found.values, explainer.shap_values(x[:20])[:, :, 1], atol=1e-5)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: xgboosted(booster="gblinear", max_depth=None), "gblinear"),
        (lambda: xgboosted(missing=-1.0), "it takes -1.0 for a missing value"),
        (lambda: lightgbm_of(linear_tree=True), "linear"),
    ],
    ids=["gblinear", "missing", "linear trees"],
)
def test_black_boxes_say_why(made, reason):
    x, y = table(missing=False)
    fitted = made().fit(x, y["value"])
    model = assay.wrap(fitted)
    assert model.note.startswith("explained as a black box: ") and reason in model.note
    np.testing.assert_allclose(model.predict(x)[:, 0], fitted.predict(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(assay.UnsupportedError):
        assay.explain(model, x[:3], "tree_shap", background=x[:10], progress=False)


def test_a_steeper_sigmoid_is_in_the_scores():
    """Scores are log-odds: twice LightGBM's own where its sigmoid is twice as steep."""
    x, y = table("array")
    fitted = lightgbm.LGBMClassifier(n_estimators=12, sigmoid=2.0, verbose=-1, n_jobs=1).fit(x, y["two"])
    model = assay.wrap(fitted)
    assert model.check(x).holds
    np.testing.assert_allclose(model.predict(x)[:, 0], 2 * fitted.predict(x, raw_score=True), rtol=1e-5, atol=1e-5)
    probability = model.predict(x, value="probability")[:, -1]
    np.testing.assert_allclose(probability, fitted.predict_proba(x)[:, 1], rtol=1e-5, atol=1e-6)


def test_numbers_that_float32_cannot_tell_apart():
    """They are one cell in float32, and yet each takes the branch of its own double."""
    x = np.repeat([[2.0**24], [2.0**24 + 1]], 40, axis=0)
    fitted = lightgbm_of(min_child_samples=2).fit(x, np.repeat([0.0, 1.0], 40))
    model = assay.wrap(fitted)
    np.testing.assert_allclose(model.predict(x)[:, 0], fitted.predict(x), rtol=1e-6)
    assert model.check(x).holds
