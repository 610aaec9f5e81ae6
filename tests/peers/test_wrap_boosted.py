"""assay.wrap of the estimators of XGBoost and LightGBM, with categories and missing numbers."""

import numpy as np
import pytest

import assay


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosted_trees(library, classes):
    module = pytest.importorskip(library, reason=f"wraps {library}")
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    generator = np.random.default_rng(0)
    frame = pandas.DataFrame(generator.normal(size=(80, 4)), columns=list("abcd"))
    frame.iloc[::5, 2] = np.nan
    frame["e"] = pandas.Categorical(generator.choice(["x", "y", "z"], 80))
    y = np.digitize(frame["a"] + (frame["e"] == "x"), np.linspace(-0.5, 1, classes - 1))
    if library == "xgboost":
        fitted = module.XGBClassifier(n_estimators=5, max_depth=3, enable_categorical=True, n_jobs=1).fit(frame, y)
    else:
        fitted = module.LGBMClassifier(n_estimators=5, min_child_samples=2, verbose=-1, n_jobs=1).fit(frame, y)
    model = assay.wrap(fitted, value="probability")
    expected = fitted.predict_proba(frame)
    outputs = expected[:, 1:] if classes == 2 else expected
    np.testing.assert_allclose(model.predict(frame), outputs, rtol=0, atol=1e-6)
    found = assay.explain(model, frame[:4], "exact_shapley", baseline=frame[7:8], target="1")
    assert found.provenance["unit"] == "probability"
    gap = expected[:4, 1] - expected[7, 1]
    np.testing.assert_allclose(found.values.sum(axis=1), gap, rtol=0, atol=1e-5)
    roar = assay.evaluate(
        assay.explain(model, frame, "occlusion", baseline=frame[7:8], pool=frame), "roar", y=y, pool_y=y, seeds=1
    )
    assert all(np.isfinite(each.values).all() for each in roar.values())


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_regressions_of_probabilities_have_them(library):
    """reg:logistic and cross_entropy are no classifiers, and predict probabilities all the same."""
    module = pytest.importorskip(library, reason=f"wraps {library}")
    generator = np.random.default_rng(3)
    x = generator.normal(size=(300, 4)).astype(np.float32)
    y = 1 / (1 + np.exp(-x[:, 0] - x[:, 1] * x[:, 2]))
    if library == "xgboost":
        fitted = module.XGBRegressor(objective="reg:logistic", n_estimators=8, max_depth=3, n_jobs=1).fit(x, y)
        boosters = [fitted, fitted.get_booster()]
    else:
        fitted = module.LGBMRegressor(objective="cross_entropy", n_estimators=8, verbose=-1, n_jobs=1).fit(x, y)
        boosters = [fitted, fitted.booster_]
    expected = fitted.predict(x)
    for booster in boosters:
        model = assay.wrap(booster)
        assert model.unit == "value"
        np.testing.assert_allclose(model.predict(x, value="probability")[:, 0], expected, atol=1e-6)
        for unit in (None, "log_odds"):
            log_odds = model.predict(x, value=unit)[:, 0]
            np.testing.assert_allclose(log_odds, np.log(expected / (1 - expected)), rtol=1e-4, atol=1e-5)
        found = assay.explain(model, x[:5], "exact_shapley", baseline=x[7:8], value="probability")
        assert found.provenance["unit"] == "probability"
        np.testing.assert_allclose(found.values.sum(axis=1), expected[:5] - expected[7], atol=1e-5)
        kept = assay.wrap(booster, value="probability")
        np.testing.assert_allclose(kept.predict(x)[:, 0], expected, atol=1e-6)
        found = assay.explain(kept, x[:5], "kernel_shap", background=x[:20])
        np.testing.assert_allclose(found.output, expected[:5], atol=1e-5)
        with pytest.raises(assay.UnsupportedError, match="probability"):
            assay.explain(kept, x[:5], "tree_shap", background=x[:20])
        assay.evaluate(found, ["faithfulness", "deletion_auc"], model=kept, X=x[:5], pool=x)
