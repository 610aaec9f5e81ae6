"""LightGBM and HistGradientBoosting compare doubles: no row of a wrapped model differs from its library in silence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import assay

lightgbm = pytest.importorskip("lightgbm", reason="wraps LightGBM")


def columns(rows, seed):
    generator = np.random.default_rng(seed)
    centre = generator.choice([0.1, 1.0, -3.5, 1e-3, 1e6])
    return {
        "random": generator.random(rows),
        "one ulp apart": centre + np.spacing(centre) * generator.integers(0, 60, rows),
        "decimals": np.round(generator.random(rows), 2),
        "beyond 2^24": 2.0**24 + generator.integers(0, 5000, rows),
        "identifiers": 1e9 + generator.integers(0, 300_000, rows),
        "seconds": 1.7e9 + generator.integers(0, 365 * 24 * 3600, rows),
        "milliseconds": 1.7e12 + generator.integers(0, 30 * 24 * 3600 * 1000, rows),
        "about zero": generator.normal(size=rows) * 10.0 ** generator.integers(-40, -30, rows),
    }


def label(x, generator):
    ranks = np.argsort(np.argsort(x, axis=0), axis=0) / len(x)
    return (np.floor(ranks * 37) % 5).sum(axis=1) + generator.normal(size=len(x))


def models(x, y, seed):
    quiet = {"verbose": -1, "n_jobs": 1, "random_state": seed}
    yield lightgbm.LGBMRegressor(n_estimators=60, num_leaves=63, min_child_samples=2, **quiet).fit(x, y)
    yield lightgbm.LGBMRegressor(n_estimators=20, min_child_samples=2, zero_as_missing=True, **quiet).fit(x, y)
    yield lightgbm.LGBMClassifier(n_estimators=15, min_child_samples=2, **quiet).fit(x, y > np.median(y))
    yield HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=2, random_state=seed).fit(x, y)
    yield HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=2, random_state=seed).fit(x, y > np.median(y))


def raw(fitted, x):
    if hasattr(fitted, "booster_"):
        return fitted.booster_.predict(x, raw_score=True)
    return fitted.decision_function(x) if hasattr(fitted, "classes_") else fitted.predict(x)


@pytest.mark.parametrize("seed", range(3))
def test_no_row_differs_without_a_word(seed):
    generator = np.random.default_rng(1000 + seed)
    right = refused = rounded = 0
    for name, column in columns(4000, seed).items():
        x = np.column_stack([column, generator.random(4000)])
        if name == "random":
            x[::17, 0] = np.nan
        y = label(np.nan_to_num(x), generator)
        for fitted in models(x, y, seed):
            expected = raw(fitted, x)
            rounded += int((np.abs(raw(fitted, x.astype(np.float32).astype(float)) - expected) > 1e-9).sum())
            try:
                found = assay.wrap(fitted).predict(x, progress=False)[:, 0]
            except ValueError as error:
                refused += 1
                assert "X, row " in str(error), error
                assert "between the model's thresholds" in str(error), error
                continue
            right += len(found)
            np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6, err_msg=name)
    assert rounded > 100, "plain rounding would have changed rows"
    assert right >= 30 * 4000, "nearly all of them can be had"
    assert refused > 0


def test_every_row_is_compared_and_right():
    """Of 20,000 rows a few lie within the rounding of a threshold."""
    random = np.random.RandomState(0)
    x = random.rand(20000, 3)
    fitted = lightgbm.LGBMRegressor(n_estimators=200, verbose=-1).fit(x, (x[:, 0] > 0.5) + x[:, 1])
    model = assay.wrap(fitted)
    expected = fitted.predict(x)
    assert (np.abs(fitted.predict(x.astype(np.float32)) - expected) > 1e-6).any()
    np.testing.assert_allclose(model.predict(x)[:, 0], expected, rtol=0, atol=1e-6)
    assert model.check(x).holds
    # A row that differs is found wherever it is, and named.
    model._parts = type(model._parts)(
        model._parts.content, lambda rows: fitted.predict(rows) + (np.arange(len(rows)) == 12345)
    )
    with pytest.raises(ValueError, match=r"differs from its library: row 12345 of X \(counted from 0\)"):
        model.predict(x)


@pytest.mark.parametrize("kind", ["int64", "int32", "uint32", "float32", "frame", "mixed", "arrow"])
def test_dtypes_are_compared_as_the_library_does(kind):
    """LightGBM narrows arrays of whole numbers to float32, and columns of a frame to float64."""
    generator = np.random.default_rng(2)
    whole = 2**24 + generator.integers(0, 3000, (3000, 2))
    y = label(whole, generator)
    if kind in ("frame", "mixed", "arrow"):
        x = pd.DataFrame(whole, columns=["a", "b"])
        x["b"] = x["b"].astype(np.float32) if kind == "mixed" else x["b"]
    else:
        x = whole.astype(kind)
    fitted = lightgbm.LGBMRegressor(n_estimators=30, min_child_samples=2, verbose=-1).fit(x, y)
    given = x
    if kind == "arrow":
        given = pytest.importorskip("pyarrow", reason="an Arrow table").Table.from_pandas(x)
    model = assay.wrap(fitted)
    # None of them is refused: 3,000 whole numbers have thresholds far enough apart.
    np.testing.assert_allclose(model.predict(given)[:, 0], fitted.predict(x), rtol=1e-6, atol=1e-6)


def test_names_with_spaces():
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(200, 3)), columns=["Marital Status", "age", "hours per week"])
    frame["Marital Status"] = pd.Categorical(generator.choice(["never married", "divorced", "other"], 200))
    y = (frame["age"] + (frame["Marital Status"] == "divorced") > 0).astype(int)
    fitted = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=2, verbose=-1).fit(frame, y)
    model = assay.wrap(fitted)
    np.testing.assert_allclose(
        model.predict(frame, value="probability")[:, 0], fitted.predict_proba(frame)[:, 1], atol=1e-6
    )
    found = assay.explain(model, frame[["age", "hours per week", "Marital Status"]], "tree_shap", background=frame)
    assert found.features == ["Marital_Status", "age", "hours_per_week"]
    np.testing.assert_allclose(
        found.values, assay.explain(model, frame, "tree_shap", background=frame).values, rtol=1e-6, atol=1e-7
    )
    with pytest.raises(ValueError, match="column 'hours_per_week' is missing"):
        model.predict(frame.rename(columns={"hours per week": "hours"}))
