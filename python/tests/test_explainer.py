"""assay.Explainer: prepared once, called for rows as they come; the same bits as assay.explain."""

import dataclasses
import pathlib
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures"
PARTS = ("values", "base", "output", "gap", "target_index", "standard_error", "background_error")
QUICK = {"kernel_shap": {"samples": 200}, "lime": {"samples": 200}, "shapley_sampling": {"permutations": 10}}


def rows_of(folder):
    return pd.read_csv(FIXTURES / folder / "rows.csv")


def assert_same(prepared, plain):
    for part in PARTS:
        mine, other = getattr(prepared, part), getattr(plain, part)
        assert (mine is None) == (other is None), part
        if mine is not None:
            np.testing.assert_array_equal(mine, other, err_msg=part)
    for word in ("features", "target_names", "ids", "evaluations", "notes", "provenance"):
        assert getattr(prepared, word) == getattr(plain, word), word


@pytest.fixture(scope="module")
def mlp():
    return assay.load(FIXTURES / "models" / "torch_mlp_script" / "model.onnx")


@pytest.fixture(scope="module")
def x():
    return rows_of("models/torch_mlp_script").to_numpy()


@pytest.fixture(scope="module")
def iris():
    train = assay.dataset("iris", split="train")
    return assay.train(train), train, assay.dataset("iris", split="test")


@pytest.mark.parametrize("method", [name for name in assay.methods().names if not name.startswith("tree")])
@pytest.mark.parametrize("reference", ["baseline", "background"])
def test_networks_have_the_bits_of_explain(mlp, x, method, reference):
    given = {"baseline": x[-1]} if reference == "baseline" else {"background": x[-4:]}
    options = QUICK.get(method, {})
    explainer = assay.Explainer(mlp, method, seed=5, **given, **options)
    for rows in (x[:1], x[:7], x[3:4].astype(np.float32), x[::2]):
        assert_same(explainer(rows), assay.explain(mlp, rows, method, seed=5, **given, **options))


@pytest.mark.parametrize("method", ["tree_shap", "tree_shap_path"])
@pytest.mark.parametrize("folder", ["xgboost_three", "lightgbm_categories", "lightgbm_deep", "xgboost_binary"])
def test_trees_have_the_bits_of_explain(method, folder):
    frame = rows_of(f"trees/{folder}")
    file = next(iter((FIXTURES / "trees" / folder).glob("model.[jt]*")))
    model = assay.load(file)
    given = {"background": frame.iloc[-5:]} if method == "tree_shap" else {}
    explainer = assay.Explainer(model, method, **given)
    for rows in (frame.iloc[:1], frame.iloc[:6]):
        assert_same(explainer(rows), assay.explain(model, rows, method, **given))


def test_encoded_tables_and_single_rows(iris):
    model, train, test = iris
    explainer = assay.Explainer(model, "kernel_shap", pool=train, target="virginica")
    whole = assay.explain(model, test, "kernel_shap", pool=train, target="virginica")
    assert_same(explainer(test), whole)
    row = {name: float(test[name][4]) for name in test.features}
    np.testing.assert_array_equal(explainer(row).values, whole.values[4:5])
    np.testing.assert_array_equal(explainer(pd.Series(row)).values, whole.values[4:5])
    np.testing.assert_array_equal(explainer(pd.DataFrame([row]).iloc[:, ::-1]).values, whole.values[4:5])
    named = explainer(pd.DataFrame([row], index=["case 7"]))
    assert named.ids == ["case 7"]
    assert explainer(pd.DataFrame([row]), ids=["mine"]).ids == ["mine"]


def test_one_row_of_one_dimension(mlp, x):
    explainer = assay.Explainer(mlp, "gradient")
    np.testing.assert_array_equal(explainer(x[2]).values, explainer(x[2:3]).values)
    np.testing.assert_array_equal(explainer(x[2].astype(np.float32)).values, explainer(x[2:3]).values)


def test_the_first_call_may_tell_the_columns(iris):
    model, _, test = iris
    explainer = assay.Explainer(model, "gradient")  # no rows here, and columns that the encoder knows
    assert_same(explainer(test), assay.explain(model, test, "gradient"))
    assert explainer._prepared is not None


def test_results_can_be_evaluated(mlp, x):
    explainer = assay.Explainer(mlp, "exact_shapley", pool=x, background=x[:5])
    found = explainer(x[:3])
    assert assay.evaluate(found, "faithfulness")["faithfulness"].mean == pytest.approx(
        assay.evaluate(assay.explain(mlp, x[:3], "exact_shapley", pool=x, background=x[:5]), "faithfulness")[
            "faithfulness"
        ].mean
    )


def test_cells_that_float32_rounds_are_shown(mlp, x):
    rows = x[:2] + 0.1
    assert not np.array_equal(rows, rows.astype(np.float32))
    found = assay.Explainer(mlp, "gradient")(rows)
    np.testing.assert_array_equal(found.data, assay.explain(mlp, rows, "gradient").data)
    np.testing.assert_array_equal(found.data, rows)


def test_models_that_compare_doubles(x):
    frame = rows_of("trees/lightgbm_deep")
    model = assay.load(FIXTURES / "trees" / "lightgbm_deep" / "model.txt")
    explainer = assay.Explainer(model, "tree_shap_path")
    rows = frame.to_numpy(np.float64)[:4] * (1 + 1e-12)
    assert_same(explainer(rows), assay.explain(model, rows, "tree_shap_path"))


def test_a_function_keeps_its_designs(x):
    calls = []

    def score(rows):
        calls.append(len(rows))
        return rows[:, 0] * rows[:, 1] + rows[:, 2]

    model = assay.wrap(score)
    wide = np.hstack([x, x])[:, :12]
    explainer = assay.Explainer(model, "kernel_shap", background=wide[-3:], samples=300)
    assert explainer._prepared is None
    for rows in (wide[:1], wide[:2], wide[:1]):
        plain = assay.explain(model, rows, "kernel_shap", background=wide[-3:], samples=300)
        assert_same(explainer(rows), plain)


def test_the_habit_of_shap_picks_a_method(mlp, x):
    assert assay.Explainer(mlp, x).method == "exact_shapley"
    assert "exact_shapley" in repr(assay.Explainer(mlp, x))
    wide = assay.wrap(lambda rows: rows.sum(axis=1))
    table = np.random.default_rng(0).normal(size=(150, 13))
    explainer = assay.Explainer(wide, table)
    assert explainer.method == "kernel_shap"
    assert explainer(table[:2]).provenance["reference"].startswith("100 rows of")
    np.testing.assert_allclose(explainer(table[:1]).gap, 0, atol=1e-5)
    frame = rows_of("trees/xgboost_binary")
    trees = assay.load(FIXTURES / "trees" / "xgboost_binary" / "model.json")
    assert assay.Explainer(trees, frame).method == "tree_shap"
    in_words = assay.Explainer(trees, frame, value="probability")
    assert in_words.method in ("exact_shapley", "kernel_shap")
    # What is no model yet is wrapped.
    assert assay.Explainer(lambda rows: rows[:, 0], x).method == "exact_shapley"


@pytest.fixture
def boosting():
    rows = np.random.default_rng(3).normal(size=(150, 4)).astype(np.float32).astype(np.float64)
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    return GradientBoostingClassifier(n_estimators=10, random_state=0).fit(rows, labels), rows, labels


@pytest.mark.parametrize("method", ["tree_shap", "tree_shap_path"])
def test_wrapped_trees_are_compared_once(boosting, method, monkeypatch):
    estimator, rows, _ = boosting
    model = assay.wrap(estimator)
    given = {"background": rows[:20]} if method == "tree_shap" else {}
    expected = assay.explain(model, rows[20:30], method, **given)
    compared = []
    plain = type(model)._agreement

    def counted(self, argument, table, data):
        compared.append((argument, len(table)))
        return plain(self, argument, table, data)

    monkeypatch.setattr(type(model), "_agreement", counted)
    explainer = assay.Explainer(model, method, **given)
    frame = pd.DataFrame(rows, columns=list("abcd"))
    for part in (rows[20:30], rows[20:21], rows[20].astype(np.float32), rows[20:30].astype(np.float32)):
        np.testing.assert_array_equal(explainer(part).values, expected.values[: len(np.atleast_2d(part))])
    assert_same(explainer(rows[20:30]), expected)
    np.testing.assert_array_equal(explainer(frame.iloc[20:30]).values, expected.values)
    # The first row of the background stands for rows to come; without background the first rows are compared.
    assert compared == ([("X", 1), ("background", 20)] if method == "tree_shap" else [("X", 1), ("X", 10)])


@pytest.mark.parametrize("change", ["again", "more"])
def test_trees_that_were_fitted_again_are_refused(boosting, change):
    estimator, rows, labels = boosting
    explainer = assay.Explainer(estimator, "tree_shap", background=rows[:20])
    explainer(rows[:1])
    if change == "again":
        estimator.fit(rows, 1 - labels)
    else:
        estimator.set_params(warm_start=True, n_estimators=12).fit(rows, labels)
    with pytest.raises(ValueError, match=r"expected GradientBoostingClassifier as it was prepared, found that it was"):
        explainer(rows[:1])


def test_a_forest_that_goes_on_growing_is_refused(boosting):
    _, rows, labels = boosting
    forest = RandomForestClassifier(n_estimators=3, random_state=0, warm_start=True).fit(rows, labels)
    explainer = assay.Explainer(forest, "tree_shap_path")
    explainer(rows[:1])
    forest.set_params(n_estimators=5).fit(rows, labels)
    with pytest.raises(ValueError, match="fitted again"):
        explainer(rows[:1])


def test_trees_that_differ_from_their_library_are_refused(boosting, monkeypatch):
    estimator, rows, _ = boosting
    model = assay.wrap(estimator)
    # The row of zeros that stands for rows to come is like the library's, and others are not.
    shifted = dataclasses.replace(
        model._parts, scores=lambda each: estimator.decision_function(each) + np.any(each != 0, axis=1)
    )
    monkeypatch.setattr(model, "_parts", shifted)
    explainer = assay.Explainer(model, "tree_shap_path")
    for _ in range(2):
        with pytest.raises(ValueError, match="differs from its library: row 0 of X"):
            explainer(rows[:2])
    with pytest.raises(ValueError, match="differs from its library"):
        assay.Explainer(model, "tree_shap", background=rows[:2], target=1)


def test_many_threads(mlp, x):
    explainer = assay.Explainer(mlp, "kernel_shap", baseline=x[-1], samples=200)
    expected = explainer(x).values
    found = [None] * 8

    def work(number):
        for _ in range(20):
            found[number] = explainer(x[number : number + 1]).values

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, values in enumerate(found):
        np.testing.assert_array_equal(values, expected[number : number + 1])


def test_what_is_wrong_is_said(mlp, x):
    explainer = assay.Explainer(mlp, "gradient")
    with pytest.raises(ValueError, match="columns"):
        explainer(x[:, :2])
    bad = x[:2].copy()
    bad[1, 2] = np.inf
    with pytest.raises(ValueError, match=r"row 1 .counted from 0., column"):
        explainer(bad)
    with pytest.raises(ValueError, match="target: expected one class or output for all rows to come, found list"):
        assay.Explainer(mlp, "gradient", target=[0, 1])
    with pytest.raises(ValueError, match="expected the name of one, or background rows"):
        assay.Explainer(mlp)
    with pytest.raises(ValueError, match="method: expected the name of one beside background="):
        assay.Explainer(mlp, x, background=x)
    with pytest.raises(ValueError, match="baseline"):
        assay.Explainer(mlp, "kernel_shap")
    with pytest.raises(assay.UnsupportedError, match="gradient needs a gradient"):
        assay.Explainer(assay.load(FIXTURES / "trees" / "xgboost_binary" / "model.json"), "gradient")
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample'"):
        assay.Explainer(mlp, "lime", baseline="zero", sample=3)
    with pytest.raises(ValueError, match=r"expected a table|columns"):
        assay.Explainer(assay.wrap(lambda rows: rows[:, 0]), "gradient")({"a": 1})
