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
