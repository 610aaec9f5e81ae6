"""tree_shap and tree_shap_path beside shap.TreeExplainer, the libraries' own contributions and exact computations."""

import pathlib
import sys

import numpy as np
import pytest

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tree_models as trees
from golden_values import exact_interventional, shap_values

# shap cannot, or differs from brute force on the small models of tests/fixtures/trees, whose README says why.
NOT_SHAP = {
    "xgboost_dart": "ignores the weights of trees",
    "xgboost_forest": "refuses parallel trees",
    "xgboost_categories": "takes codes for numbers",
    "lightgbm_categories": "takes codes for numbers",
    "lightgbm_zero_missing": "takes zeros for numbers",
    "lightgbm_binary": "sends NaN elsewhere in columns that were complete in training",
    "onnx_lightgbm": "sends NaN elsewhere in columns that were complete in training",
    "lightgbm_one_against_all": "takes a Booster for one score",
}
WITH_COVERS = [name for name in trees.MODELS if not name.startswith("onnx_")]


def explained(model, made, method, **options):
    """By target: what one score says, the second class of two, or each of several."""
    targets = trees.make.by_target(made.margins(made.rows[:1])).shape[1]
    if targets == 1:
        return [assay.explain(model, made.rows, method, **options)]
    return [assay.explain(model, made.rows, method, target=str(each), **options) for each in range(targets)]


def assert_values(found, values, base, tolerance):
    """found by target; values rows x targets x features."""
    scale = np.abs(values).max()
    for target, each in enumerate(found):
        np.testing.assert_allclose(each.values, values[:, target], rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(each.base, base[:, target], rtol=0, atol=tolerance * max(scale, np.abs(base).max()))


def repeated(base, rows):
    return np.broadcast_to(base, (rows, len(base)))


@pytest.mark.parametrize("name", trees.MODELS)
def test_interventional_is_exact_shapley(name, tmp_path):
    """On the same game, which mixes rows with the background and runs the model."""
    file, made = trees.saved(name, tmp_path)
    model = assay.load(file)
    found = explained(model, made, "tree_shap", background=made.background)
    exact = explained(model, made, "exact_shapley", background=made.background)
    for mine, theirs in zip(found, exact, strict=True):
        scale = np.abs(theirs.values).max()
        np.testing.assert_allclose(mine.values, theirs.values, rtol=0, atol=1e-6 * scale)
        np.testing.assert_allclose(mine.base, theirs.base, rtol=0, atol=1e-6 * max(scale, np.abs(theirs.base).max()))
        assert np.abs(mine.gap).max() < 1e-6 * max(scale, np.abs(mine.output).max())


@pytest.mark.parametrize("name", [name for name in trees.MODELS if name not in NOT_SHAP])
def test_interventional_is_that_of_shap(name, tmp_path):
    file, made = trees.saved(name, tmp_path)
    values, base = shap_values(made, "interventional")
    found = explained(assay.load(file), made, "tree_shap", background=made.background)
    assert_values(found, values, repeated(base, len(made.rows)), 1e-4)


@pytest.mark.parametrize("name", [name for name in WITH_COVERS if name not in NOT_SHAP])
def test_path_dependent_is_that_of_shap(name, tmp_path):
    file, made = trees.saved(name, tmp_path)
    values, base = shap_values(made, "tree_path_dependent")
    assert_values(explained(assay.load(file), made, "tree_shap_path"), values, repeated(base, len(made.rows)), 1e-4)


@pytest.mark.parametrize("name", WITH_COVERS)
def test_path_dependent_is_that_of_the_library(name, tmp_path):
    """XGBoost's pred_contribs and LightGBM's pred_contrib."""
    file, made = trees.saved(name, tmp_path)
    contribs = np.asarray(made.contribs(made.rows)).reshape(len(made.rows), -1, made.rows.shape[1] + 1)
    assert_values(explained(assay.load(file), made, "tree_shap_path"), contribs[:, :, :-1], contribs[:, :, -1], 1e-4)


def test_files_without_covers_have_no_path_dependent_values(tmp_path):
    file, made = trees.saved("onnx_hist_boosting", tmp_path)
    with pytest.raises(assay.UnsupportedError, match="cover"):
        assay.explain(assay.load(file), made.rows, "tree_shap_path")


@pytest.mark.parametrize("name", ["xgboost_binary", "xgboost_three", "lightgbm_categories", "lightgbm_zero_missing"])
def test_groups_are_brute_force_over_groups(name, tmp_path):
    """Columns of a group come from the row or from the background together; asked of the library itself."""
    file, made = trees.saved(name, tmp_path)
    last = made.rows.shape[1] - 1
    players = [[0, 2], [1, last], *([column] for column in range(3, last))]
    values, base = exact_interventional(made.margins, made.rows, made.background, players)
    named = {"first": [made.features[0], made.features[2]], "second": [made.features[1], made.features[last]]}
    found = explained(assay.load(file), made, "tree_shap", background=made.background, groups=named)
    assert list(found[0].features) == ["first", "second", *made.features[3:last]]
    # The library's scores are float32 sums.
    assert_values(found, values, repeated(base, len(made.rows)), 1e-5)


# Deep trees


def test_long_paths_keep_their_digits(tmp_path):
    """A path of 50 features: each value, however small beside the largest, is right to float32's last digits. XGBoost's
    own are not: those of 3.2 not even the large ones, those of 3.4 the small ones."""
    booster, rows = trees.staircase()
    booster.save_model(tmp_path / "model.json")
    exact = trees.exact_path(booster, rows)
    found = assay.explain(assay.load(tmp_path / "model.json"), rows, "tree_shap_path")
    np.testing.assert_allclose(found.values, exact, rtol=2e-7, atol=1e-14 * np.abs(exact).max())
    assert np.abs(found.gap).max() < 1e-7 * np.abs(exact).max()
    theirs = booster.predict(trees.xgboost.DMatrix(rows), pred_contribs=True)[:, :-1]
    there = exact != 0
    assert np.abs(theirs / np.where(there, exact, 1) - 1)[there].max() > 1e-5


def test_deep_forests_keep_their_digits(tmp_path):
    """Trees of unlimited depth whose paths meet features again: right to the rounding of float32, two units in the last
    place of the largest value, for tables hold float32 numbers."""
    x, signal = trees.make.table(27, 150, 10, gaps=False)
    options = {"objective": "reg:squarederror", "grow_policy": "lossguide", "max_depth": 0, "min_child_weight": 0}
    made = trees.make.of_xgboost("m", x, signal, options | {"lambda": 0, "eta": 0.5, "base_score": 0}, rounds=3)
    made.save["model.json"](str(tmp_path / "model.json"))
    rows = made.rows[:4]
    exact = trees.exact_path(made.explained, rows)
    found = assay.explain(assay.load(tmp_path / "model.json"), rows, "tree_shap_path")
    np.testing.assert_allclose(found.values, exact, rtol=0, atol=2 * np.finfo(np.float32).eps * np.abs(exact).max())
