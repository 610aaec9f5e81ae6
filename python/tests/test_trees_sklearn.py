"""assay.wrap of scikit-learn's trees: scores, categories and Shapley values against the estimators themselves."""

import itertools
import math
import pickle
import warnings

import numpy as np
import pytest

import assay

pandas = pytest.importorskip("pandas", reason="some of these estimators are fitted on DataFrames")
pytest.importorskip("sklearn", reason="wraps scikit-learn estimators")

from sklearn.dummy import DummyClassifier  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402


@pytest.fixture(autouse=True)
def no_warnings():
    """scikit-learn warns where it is called with other columns than it was fitted on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def data(missing=False, rows=150):
    """Decimal numbers, which float32 does not hold, some of them often; two classes, three classes, values."""
    generator = np.random.default_rng(3)
    x = generator.normal(size=(rows, 4))
    x[:, 2] = np.round(x[:, 2], 1)
    score = x[:, 0] + x[:, 1] * x[:, 2]
    if missing:
        x[generator.random(x.shape) < 0.15] = np.nan
    return x, {"two": (score > 0).astype(int), "three": np.digitize(score, [-0.5, 0.5]), "value": score * 3}


CLASSIFIERS = [
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    DecisionTreeClassifier(max_depth=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    GradientBoostingClassifier(n_estimators=5, init=DummyClassifier(strategy="most_frequent"), random_state=0),
    HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5),
]
REGRESSORS = [
    RandomForestRegressor(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    DecisionTreeRegressor(random_state=0),
    GradientBoostingRegressor(n_estimators=5, random_state=0),
    GradientBoostingRegressor(n_estimators=5, loss="huber", random_state=0),
    HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=5),
    HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=5, loss="absolute_error"),
]


def with_missing(estimators):
    """Each on complete rows, and on rows with missing cells if it takes those."""
    return [
        (each, missing)
        for each in estimators
        for missing in (False, True)
        if not (missing and type(each).__name__.startswith("GradientBoosting"))
    ]


def own_scores(estimator, x):
    """What is explained of an estimator, by itself."""
    if not hasattr(estimator, "classes_"):
        return estimator.predict(x).reshape(-1, 1)
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(x)
        return scores.reshape(len(x), -1)
    scores = estimator.predict_proba(x)
    return scores[:, 1:] if scores.shape[1] == 2 else scores


def shapley_values(function, row, background):
    """By the formula, over all coalitions, with the background's cells for those that are left out."""
    players = len(row)
    value = {}
    for kept in itertools.product([False, True], repeat=players):
        mixed = background.copy()
        mixed[:, list(kept)] = row[list(kept)]
        value[kept] = function(mixed).mean()
    out = np.zeros(players)
    for kept in value:
        size = sum(kept)
        weight = (
            math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players) if size < players else 0
        )
        for j in (j for j in range(players) if not kept[j]):
            out[j] += weight * (value[(*kept[:j], True, *kept[j + 1 :])] - value[kept])
    return out


class TestScores:
    @pytest.mark.parametrize("labels", ["two", "three"])
    @pytest.mark.parametrize(("estimator", "missing"), with_missing(CLASSIFIERS), ids=str)
    def test_classifiers(self, estimator, missing, labels):
        x, y = data(missing)
        names = np.array(["low", "middle", "high"])[y[labels]]
        fitted = estimator.fit(x, names)
        model = assay.wrap(fitted)
        assert "trees" in model.capabilities
        assert model.classes == [str(each) for each in fitted.classes_]
        assert model.check(x).holds
        np.testing.assert_allclose(model.predict(x), own_scores(fitted, x), atol=1e-5)
        probabilities = fitted.predict_proba(x)
        probabilities = probabilities[:, 1:] if labels == "two" else probabilities
        np.testing.assert_allclose(model.predict(x, value="probability"), probabilities, atol=1e-5)

    @pytest.mark.parametrize(("estimator", "missing"), with_missing(REGRESSORS), ids=str)
    def test_regressors(self, estimator, missing):
        x, y = data(missing)
        model = assay.wrap(estimator.fit(x, y["value"]))
        assert model.classes == [] and model.unit == "value"
        np.testing.assert_allclose(model.predict(x), own_scores(estimator, x), atol=1e-5)

    @pytest.mark.parametrize("loss", ["poisson", "gamma"])
    def test_losses_with_a_link(self, loss):
        x, y = data()
        fitted = HistGradientBoostingRegressor(max_iter=8, loss=loss).fit(x, np.exp(y["value"] / 6))
        model = assay.wrap(fitted)
        np.testing.assert_allclose(model.predict(x)[:, 0], np.log(fitted.predict(x)), atol=1e-5)
        assert "logarithm of what it predicts" in model.note

    def test_exponential_loss(self):
        x, y = data()
        fitted = GradientBoostingClassifier(n_estimators=5, loss="exponential", random_state=0).fit(x, y["two"])
        model = assay.wrap(fitted)
        np.testing.assert_allclose(model.predict(x)[:, 0], 2 * fitted.decision_function(x), atol=1e-5)
        np.testing.assert_allclose(
            model.predict(x, value="probability")[:, 0], fitted.predict_proba(x)[:, 1], atol=1e-6
        )
        assert "twice its decision function" in model.note

    def test_weights_of_rows(self):
        x, y = data()
        fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, y["three"], np.linspace(0.1, 3, len(x)))
        np.testing.assert_allclose(assay.wrap(fitted).predict(x), fitted.predict_proba(x), atol=1e-6)

    def test_single_leaf(self):
        x, y = data()
        fitted = DecisionTreeRegressor(max_depth=1, min_samples_leaf=len(x)).fit(x, y["value"])
        np.testing.assert_allclose(assay.wrap(fitted).predict(x[:3]), y["value"].mean(), rtol=1e-6)

    def test_thresholds_that_are_cells(self):
        """0.1 is more than 0.1 after it was rounded to float32, and as much as a threshold of 0.1 that was too."""
        x = np.repeat([[0.1], [0.2], [0.3], [0.7]], 50, axis=0)
        x[:2] += np.array([[1e-9], [2e-9]])
        y = (x[:, 0] > 0.15).astype(float)
        fitted = HistGradientBoostingRegressor(max_iter=3, max_bins=3, min_samples_leaf=1).fit(x, y)
        thresholds = np.concatenate([each[0].nodes["num_threshold"] for each in fitted._predictors])
        assert any(each in x for each in thresholds)
        np.testing.assert_allclose(assay.wrap(fitted).predict(x)[:, 0], fitted.predict(x), atol=1e-6)

    def test_neighbours_of_float32_stay_apart(self):
        low = np.float32(1)
        high = np.nextafter(low, np.float32(2))
        higher = np.nextafter(high, np.float32(2))
        x = np.repeat([[low], [high], [higher]], 30, axis=0).astype(np.float64)
        y = np.repeat([0.0, 1.0, 5.0], 30)
        fitted = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(x, y)
        np.testing.assert_allclose(assay.wrap(fitted).predict(x)[:, 0], fitted.predict(x), atol=1e-6)

    def test_numbers_that_float32_cannot_tell_apart(self):
        """One threshold between two numbers that are one float32 number: they become two."""
        x = np.repeat([[2.0**24], [2.0**24 + 1]], 30, axis=0)
        fitted = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(x, np.repeat([0.0, 1.0], 30))
        model = assay.wrap(fitted)
        np.testing.assert_allclose(model.predict(x)[:, 0], fitted.predict(x), atol=1e-6)
        assert model.check(x).holds

    def test_fitted_anew(self):
        x, y = data()
        fitted = DecisionTreeRegressor(max_depth=3).fit(x, y["value"])
        model = assay.wrap(fitted)
        fitted.fit(x, -y["value"])
        with pytest.raises(ValueError, match="differs from its library"):
            model.predict(x)


def frame(rows=120):
    """Categories of texts and of numbers, some missing; booleans; numbers. With a label."""
    generator = np.random.default_rng(5)
    made = pandas.DataFrame(
        {
            "size": generator.normal(size=rows),
            "colour": pandas.Categorical(generator.choice(["red", "green", "blue"], rows)),
            "on": generator.random(rows) < 0.5,
            "grade": pandas.Categorical(generator.choice([30, 10, 20], rows)),
        }
    )
    made.loc[::9, "colour"] = np.nan
    label = (made["size"] + (made["colour"] == "red") - 2 * (made["grade"] == 20) + made["on"] > 0).astype(int)
    return made, label


class TestCategories:
    def test_from_dtype(self):
        x, y = frame()
        fitted = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3).fit(x, y)
        model = assay.wrap(fitted)
        assert model.features == list(x.columns)
        np.testing.assert_allclose(model.predict(x)[:, 0], fitted.decision_function(x), atol=1e-5)
        # Other orders of columns and categories are the same rows.
        other = x[["grade", "on", "size", "colour"]].copy()
        other["colour"] = other["colour"].cat.reorder_categories(["red", "green", "blue"])
        other["grade"] = other["grade"].cat.reorder_categories([20, 30, 10])
        np.testing.assert_array_equal(model.predict(other), model.predict(x))
        assert "trees" in model.capabilities

    def test_unknown_category(self):
        x, y = frame()
        model = assay.wrap(HistGradientBoostingClassifier(max_iter=5).fit(x, y))
        x["colour"] = x["colour"].cat.add_categories("pink")
        x.loc[7, "colour"] = "pink"
        with pytest.raises(ValueError, match="row 8: column 'colour' holds 'pink', which is no category"):
            model.predict(x)

    @pytest.mark.parametrize("missing", [-2.0, 2.0], ids=["missing goes left", "missing goes right"])
    def test_values_in_arrays(self, missing):
        generator = np.random.default_rng(2)
        x = np.column_stack([generator.normal(size=150), generator.choice([2.0, 7.0, 40.0, -3.5], 150)])
        x[::4, 1] = np.nan
        y = x[:, 0] + np.isin(x[:, 1], [7.0, -3.5]) + missing * np.isnan(x[:, 1])
        fitted = HistGradientBoostingRegressor(max_iter=10, categorical_features=[1]).fit(x, y)
        nodes = np.concatenate([each[0].nodes for each in fitted._predictors])
        directions = nodes["missing_go_to_left"][nodes["is_categorical"] == 1]
        assert (directions == (missing < 0)).any()
        model = assay.wrap(fitted)
        np.testing.assert_allclose(model.predict(x)[:, 0], fitted.predict(x), atol=1e-5)
        found = assay.explain(model, x[:40], "tree_shap", background=x[:10], pool=x[40:], progress=False)
        scored = assay.evaluate(found, "roar", y=y[:40], pool_y=y[40:], progress=False, seeds=1, k=1)["roar"]
        assert np.isfinite(scored.mean)
        x[4, 1] = 8.0
        with pytest.raises(ValueError, match=r"X, row 4 \(counted from 0\), column 1: expected a category.*found 8"):
            model.predict(x)

    def test_explained(self):
        x, y = frame()
        fitted = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3).fit(x, y)
        model = assay.wrap(fitted)
        found = assay.explain(model, x[:3], "tree_shap", background=x[20:30], progress=False)
        exact = assay.explain(model, x[:3], "exact_shapley", background=x[20:30], progress=False)
        np.testing.assert_allclose(found.values, exact.values, atol=1e-6)
        # The library itself, on every mix of columns of the first row and the background.
        by_column = {name: pandas.concat([x[name][:1]] * 10, ignore_index=True) for name in x.columns}

        def scores(masks):
            mixed = x[20:30].reset_index(drop=True)
            return fitted.decision_function(
                mixed.assign(**{name: by_column[name] for name, kept in zip(x.columns, masks[0], strict=True) if kept})
            )

        truth = shapley_values(scores, np.ones(4), np.zeros((1, 4)))
        np.testing.assert_allclose(found.values[0], truth, atol=1e-5)


class TestExplained:
    @pytest.mark.parametrize(
        "estimator", [CLASSIFIERS[0], CLASSIFIERS[3], CLASSIFIERS[-1]], ids=lambda each: type(each).__name__
    )
    def test_tree_shap_by_the_formula(self, estimator):
        x, y = data()
        fitted = estimator.fit(x, y["two"])
        found = assay.explain(assay.wrap(fitted), x[:3], "tree_shap", background=x[50:60], progress=False)
        for row in range(3):
            truth = shapley_values(lambda rows: own_scores(fitted, rows)[:, 0], x[row], x[50:60])
            np.testing.assert_allclose(found.values[row], truth, atol=1e-5)

    def test_columns_of_arrays_are_numbered(self):
        x, y = data()
        found = assay.explain(
            assay.wrap(DecisionTreeClassifier(max_depth=3).fit(x, y["two"])),
            x[:3],
            "tree_shap_path",
            progress=False,
        )
        assert found.features == ["0", "1", "2", "3"]
        named = assay.explain(
            assay.wrap(DecisionTreeClassifier(max_depth=3).fit(x, y["two"])),
            pandas.DataFrame(x[:3], columns=list("abcd")),
            "tree_shap_path",
            progress=False,
        )
        assert named.features == list("abcd")

    def test_covers(self):
        """What is expected where nothing is known of a row is the mean of training rows, by their weights."""
        x, y = data()
        weights = np.linspace(0.1, 3, len(x))
        fitted = DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, y["value"], weights)
        found = assay.explain(assay.wrap(fitted), x[:3], "tree_shap_path", progress=False)
        np.testing.assert_allclose(found.base, np.average(y["value"], weights=weights), rtol=1e-5)
        boosted = HistGradientBoostingRegressor(max_iter=3).fit(x, y["value"])
        found = assay.explain(assay.wrap(boosted), x[:3], "tree_shap_path", progress=False)
        leaves = [each[0].nodes[each[0].nodes["is_leaf"] == 1] for each in boosted._predictors]
        expected = sum(np.average(each["value"], weights=each["count"]) for each in leaves)
        np.testing.assert_allclose(found.base, boosted._baseline_prediction.item() + expected, rtol=1e-5)

    def test_log_odds_of_a_forest(self):
        """Leaves hold probabilities; the estimator itself is asked, as before."""
        x, y = data()
        fitted = RandomForestClassifier(5, max_depth=2, random_state=0).fit(x, y["two"])
        p = fitted.predict_proba(x)[:, 1]
        model = assay.wrap(fitted)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(model.predict(x, value="log_odds")[:, 0], np.log(p / (1 - p)), rtol=1e-4)
        with pytest.raises(assay.UnsupportedError, match="has no decision_function, which gives the margin"):
            model.predict(x, value="margin")

    def test_pickled(self):
        x, y = data()
        model = assay.wrap(RandomForestClassifier(3, random_state=0).fit(x, y["three"]), classes=["a", "b", "c"])
        again = pickle.loads(pickle.dumps(model))
        assert again.classes == ["a", "b", "c"]
        np.testing.assert_array_equal(again.predict(x), model.predict(x))

    @pytest.mark.parametrize("labels", ["two", "value"])
    def test_retraining(self, labels):
        x, y = data()
        kind = HistGradientBoostingRegressor if labels == "value" else HistGradientBoostingClassifier
        model = assay.wrap(kind(max_iter=5).fit(x, y[labels]))
        found = assay.explain(model, x[:40], "tree_shap", background=x[:10], pool=x[40:], progress=False)
        scored = assay.evaluate(found, "roar", y=y[labels][:40], pool_y=y[labels][40:], progress=False, seeds=1, k=1)[
            "roar"
        ]
        assert np.isfinite(scored.mean)

    def test_retraining_with_categories(self):
        """What is fitted anew is compared with its library too: codes that stood for other texts would show."""
        x, _ = frame()
        y = (x["colour"] == "red").astype(int)
        model = assay.wrap(HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3).fit(x, y))
        x["colour"] = x["colour"].cat.reorder_categories(["red", "green", "blue"])
        found = assay.explain(model, x[:40], "tree_shap", background=x[:10], pool=x[40:], progress=False)
        scored = assay.evaluate(found, "roar", y=y[:40], pool_y=y[40:], progress=False, seeds=1, k=1)["roar"]
        assert np.isfinite(scored.mean)


class TestBlackBoxes:
    def test_reasons(self):
        x, y = data()
        tree = DecisionTreeClassifier(max_depth=2)
        cases = [
            (
                GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(x, y["value"]),
                "it starts from another estimator, init=LinearRegression",
            ),
            (make_pipeline(StandardScaler(), tree).fit(x, y["two"]), "its trees are those of its last step"),
            (GridSearchCV(tree, {"max_depth": [1, 2]}, cv=2).fit(x, y["two"]), "those of its best_estimator_"),
        ]
        for fitted, reason in cases:
            model = assay.wrap(fitted)
            assert model.note.startswith("explained as a black box: ") and reason in model.note
            notes = assay.explain(model, x[:2], "occlusion", baseline=x[3], progress=False).notes
            assert any(reason in note for note in notes)

    def test_other_estimators_say_nothing(self):
        x, y = data()
        assert assay.wrap(LinearRegression().fit(x, y["value"])).note == ""
        assert assay.wrap(make_pipeline(StandardScaler(), LinearRegression()).fit(x, y["value"])).note == ""

    def test_classes_that_predict_otherwise(self):
        x, y = data()

        class Careful(DecisionTreeClassifier):
            def predict_proba(self, rows):
                return 0.5 * super().predict_proba(rows) + 0.25

        fitted = Careful(max_depth=2).fit(x, y["two"])
        np.testing.assert_allclose(
            assay.wrap(fitted).predict(x[:5])[:, 0], fitted.predict_proba(x[:5])[:, 1], atol=1e-6
        )

    def test_several_outputs(self):
        x, y = data()
        model = assay.wrap(RandomForestRegressor(2).fit(x, np.column_stack([y["value"], y["two"]])))
        assert "several outputs" in model.note
        with pytest.raises(assay.UnsupportedError, match="predicts several outputs at once"):
            model.predict(x)
