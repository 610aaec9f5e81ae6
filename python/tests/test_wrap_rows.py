"""assay.wrap: rows as functions get them and people see them: batches, order, and cells that float32 does not hold."""

import numpy as np
import pytest

import assay

WEIGHTS = np.array([1.5, -2.0, 0.25, 4.0])
ROWS = np.random.default_rng(3).normal(size=(7, 4))


def linear(rows):
    return np.asarray(rows, np.float64) @ WEIGHTS


@pytest.mark.parametrize("depends", [lambda rows: rows - rows.mean(axis=0), lambda rows: rows / np.abs(rows).sum()])
def test_functions_of_the_whole_batch_are_refused(depends):
    with pytest.raises(assay.UnsupportedError, match="gives a row other outputs when other rows are beside it"):
        assay.wrap(lambda rows: linear(depends(np.asarray(rows)))).predict(ROWS)


def test_functions_of_chance_are_refused():
    draws = np.random.default_rng(0)
    with pytest.raises(assay.UnsupportedError, match="gives the same rows other outputs when it is called again"):
        assay.wrap(lambda rows: linear(rows) + draws.normal(size=len(rows))).predict(ROWS)


def test_cells_that_float32_cannot_tell_apart_are_noted():
    """The function gets them exactly; distances between rows are not to scale, and a note says so."""
    seconds = np.column_stack([np.linspace(0, 100, 30), np.arange(30.0)])
    late = np.add(seconds, [1.7e9, 0])
    model = assay.wrap(lambda rows: (np.asarray(rows)[:, 0] - 1.7e9) / 10)
    found = assay.explain(model, late, "exact_shapley", baseline=late[:1])
    np.testing.assert_allclose(found.values[:, 0], seconds[:, 0] / 10, atol=1e-5)
    assert any("'0': cells lie closer together than float32 tells apart" in note for note in found.notes), found.notes
    few = {"methods": "occlusion", "criteria": "complexity", "aggregators": None, "progress": False}
    assert any("closer together" in note for note in assay.study(model, late, pool=late, **few).notes)
    tenth = assay.wrap(lambda rows: np.asarray(rows)[:, 0] / 10)
    assert not assay.explain(tenth, seconds, "occlusion", baseline="zero").notes
    # One row, or one number in all of them, has no distances.
    assert not assay.explain(tenth, ROWS[:1], "occlusion", baseline="zero").notes
    assert not assay.explain(tenth, np.full((3, 2), 0.1), "occlusion", baseline="zero").notes
    # One number far away hides nothing.
    found = assay.explain(model, np.vstack([late, [[0, 0]]]), "occlusion", baseline="zero")
    assert any("closer together" in note for note in found.notes)


def test_functions_that_need_two_rows_and_first_rows_of_zero_are_fine():
    centred = ROWS - ROWS[:1]
    assert assay.wrap(lambda rows: linear(rows).squeeze()).predict(ROWS).shape == (7, 1)
    assert assay.wrap(lambda rows: linear(rows) + 1e-6 * len(rows)).predict(centred).shape == (7, 1)
    kept = np.empty(7)

    def reuses(rows):
        out = kept[: len(rows)]
        out[:] = linear(rows) - linear(rows).mean()
        return out

    with pytest.raises(assay.UnsupportedError, match="when other rows are beside it"):
        assay.wrap(reuses).predict(ROWS)


def test_labels_in_another_order_than_their_rows_are_refused():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(ROWS, index=[f"r{i}" for i in range(len(ROWS))])
    y = pandas.Series(linear(X), index=X.index)
    model = assay.wrap(linear)
    options = {"pool": X, "criteria": "complexity", "methods": "occlusion", "aggregators": None, "progress": False}
    assay.study(model, X, y=y, **options)
    with pytest.raises(ValueError, match="y: expected 'r0' as row 1, as in X, found 'r6'"):
        assay.study(model, X, y=y[::-1], **options)
    # Names of something else are nobody's; then position counts.
    assay.study(model, X, y=y.set_axis(range(100, 107)), **options)
    made = assay.explain(model, X, "occlusion", pool=X)
    with pytest.raises(ValueError, match="y: expected 'r0' as row 1, as in X, found 'r6'"):
        assay.evaluate(made, "roar", y=y[::-1], pool_y=y)


def test_explanations_in_another_order_than_counted_rows_are_refused():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(ROWS)
    model = assay.wrap(linear)
    values = pandas.DataFrame(assay.explain(model, X, "occlusion", baseline="zero").values, columns=list("abcd"))
    given = {"model": model, "X": X.set_axis(list("abcd"), axis=1), "baseline": "zero"}
    assay.evaluate(values, "faithfulness", **given)
    with pytest.raises(ValueError, match="explanations: expected '0' as row 1, as in X, found '6'"):
        assay.evaluate(values[::-1], "faithfulness", **given)


def test_tables_give_functions_the_cells_of_their_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    ids = [2**24 + i for i in range(6)]
    (tmp_path / "ids.csv").write_text("id,b\n" + "".join(f"{each},{each % 5}\n" for each in ids))
    model = assay.wrap(lambda rows: np.asarray(rows["id"], np.float64) % 2)
    for table in (assay.dataset(tmp_path / "ids.csv"), pandas.read_csv(tmp_path / "ids.csv")):
        with pytest.warns(UserWarning, match="closer together"):
            assert model.predict(table).ravel().tolist() == [0, 1, 0, 1, 0, 1]


def test_people_see_their_own_cells(tmp_path):
    """Not the float32 numbers that stand for them, in data and in reports."""
    accounts = np.array([9876543210.0, 9876543211, 9876543212, 9876543299, 9876549999])
    X = np.column_stack([accounts, [123456789.25, 123456789.75, np.nan, 5.5, 7.25]])
    model = assay.wrap(lambda rows: np.nan_to_num(np.asarray(rows)[:, 1]), features=["account", "amount"])
    found = assay.explain(model, X, "occlusion", baseline="zero")
    np.testing.assert_array_equal(found.data, X)
    np.testing.assert_array_equal(found[1:3].data, X[1:3])
    made = assay.study(
        model, X, pool=X, methods="occlusion", aggregators=None, criteria="complexity", out=tmp_path / "s"
    )
    page = (tmp_path / "s" / "report.html").read_text()
    assert (
        made is not None and all(text in page for text in ("9876543211", "123456789.75")) and "9876542464" not in page
    )


def test_a_removed_category_is_the_most_frequent_one_of_the_background():
    """Not the one between, whose code is the mean of the codes."""
    pandas = pytest.importorskip("pandas")
    base = pytest.importorskip("sklearn.base", reason="estimators are scikit-learn's")
    fitted_on = []

    class Recording(base.ClassifierMixin, base.BaseEstimator):
        def fit(self, X, y):
            fitted_on.append(X.copy())
            self.classes_, self.feature_names_in_ = np.unique(y), np.array(X.columns, object)
            return self

        def predict_proba(self, X):
            positive = 1 / (1 + np.exp(-X["b"].to_numpy() - (X["c"] == "a").to_numpy()))
            return np.column_stack([1 - positive, positive])

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

    generator = np.random.default_rng(0)
    kinds = pandas.Categorical(["a", "c"] * 20, categories=["a", "b", "c"])
    X = pandas.DataFrame({"b": generator.normal(size=40), "c": kinds})
    y = (X["b"] > 0).astype(int).to_numpy()
    model = assay.wrap(Recording().fit(X, y))
    fitted_on.clear()
    found = assay.explain(model, X, "occlusion", pool=X, background=X[:11], progress=False)
    assay.evaluate(found, "kar", y=y, pool_y=y, seeds=1, k=[0.5], control=False, progress=False)
    assert fitted_on and all(set(rows["c"]) <= {"a", "c"} for rows in fitted_on)
