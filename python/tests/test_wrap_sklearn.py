"""assay.wrap of scikit-learn estimators: what is asked of them, held against closed forms and against themselves."""

import itertools
import math
import warnings

import numpy as np
import pytest

import assay

pandas = pytest.importorskip("pandas", reason="these estimators are fitted on DataFrames")
pytest.importorskip("sklearn", reason="wraps scikit-learn estimators")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.multioutput import MultiOutputClassifier  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402


@pytest.fixture(autouse=True)
def no_warnings():
    """scikit-learn warns where it is called with other columns than it was fitted on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def numbers(rows=60, columns=4, classes=2, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, columns))
    y = np.digitize(x @ generator.normal(size=columns), np.linspace(-1, 1, classes + 1)[1:-1])
    return x, y


def coalitions(players):
    """One row for each, a column for each player: whether it takes part."""
    return np.array(list(itertools.product([False, True], repeat=players)))


def shapley_values(values):
    """By the formula, from the values of all coalitions in their order."""
    players = int(np.log2(len(values)))
    of = dict(zip(map(tuple, coalitions(players)), values, strict=True))
    out = np.zeros(players)
    for absent in coalitions(players):
        for player in np.flatnonzero(~absent):
            present = absent.copy()
            present[player] = True
            weight = 1 / (math.comb(players - 1, int(absent.sum())) * players)
            out[player] += weight * (of[tuple(present)] - of[tuple(absent)])
    return out


# What is asked of them


def test_a_regression_is_explained_by_its_weights():
    x, _ = numbers()
    fitted = LinearRegression().fit(x, x @ [1.0, 2.0, -3.0, 0.5] + 7)
    baseline = x[:1]
    for method in ("occlusion", "exact_shapley"):
        found = assay.explain(assay.wrap(fitted), x[:9], method, baseline=baseline)
        np.testing.assert_allclose(found.values, fitted.coef_ * (x[:9] - baseline), rtol=1e-5, atol=2e-6)
        assert found.provenance["unit"] == "value"
    np.testing.assert_allclose(found.output, fitted.predict(x[:9]), rtol=1e-6)


def test_a_classifier_is_explained_in_margins_where_it_has_some():
    x, y = numbers()
    fitted = LogisticRegression().fit(x, np.array(["bad", "good"])[y])
    found = assay.explain_all(assay.wrap(fitted), x[:9], "exact_shapley", baseline=x[:1])
    assert list(found) == ["bad", "good"]
    assert found["good"].provenance["unit"] == "margin"
    expected = fitted.coef_[0] * (x[:9] - x[:1])
    np.testing.assert_allclose(found["good"].values, expected, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(found["bad"].values, -expected, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(found["good"].output, fitted.decision_function(x[:9]), rtol=1e-5)


def test_several_classes_have_a_margin_each():
    x, y = numbers(classes=3)
    fitted = LogisticRegression().fit(x, y)
    found = assay.explain_all(assay.wrap(fitted), x[:5], "occlusion", baseline=x[:1])
    assert list(found) == ["0", "1", "2"]
    for column, each in enumerate(found.values()):
        np.testing.assert_allclose(each.values, fitted.coef_[column] * (x[:5] - x[:1]), rtol=1e-5, atol=2e-6)
    predicted = assay.explain(assay.wrap(fitted), x[:5], "occlusion", baseline=x[:1])
    assert list(predicted.target) == [str(each) for each in fitted.predict(x[:5])]


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_and_log_odds_are_those_of_predict_proba(classes):
    x, y = numbers(classes=classes)
    fitted = LogisticRegression().fit(x, y)
    model = assay.wrap(fitted)
    expected = fitted.predict_proba(x)
    columns = slice(1, 2) if classes == 2 else slice(None)
    np.testing.assert_allclose(model.predict(x, value="probability"), expected[:, columns], rtol=1e-6)
    log_odds = np.log(expected / (1 - expected))[:, columns]
    np.testing.assert_allclose(model.predict(x, value="log_odds"), log_odds, rtol=1e-5, atol=1e-6)
    if classes == 2:
        np.testing.assert_allclose(model.predict(x)[:, 0], fitted.decision_function(x), rtol=1e-5)
    # The unit of wrap is the default, and that of a call is stronger.
    asked = assay.wrap(fitted, value="log_odds")
    np.testing.assert_allclose(asked.predict(x), log_odds, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(asked.predict(x, value="probability"), expected[:, columns], rtol=1e-6)


def test_log_odds_do_not_round_probabilities_to_one():
    class Sure(ClassifierMixin, BaseEstimator):
        def fit(self, x, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, x):
            return np.full(len(x), self.classes_[2])

        def predict_proba(self, x):
            rest = 10.0 ** -np.asarray(x)[:, 0]
            return np.column_stack([rest / 4, 3 * rest / 4, 1 - rest])

    x = np.array([[2.0], [12.0], [20.0], [30.0]])
    found = assay.wrap(Sure().fit(x, [0, 1, 2, 2])).predict(x, value="log_odds")
    # ln (1 - 10^-k) - ln 10^-k, and the same for the two others
    np.testing.assert_allclose(found[1:, 2], np.log(10) * x[1:, 0], rtol=1e-6)
    np.testing.assert_allclose(found[1:, 0], np.log(0.25) - np.log(10) * x[1:, 0], rtol=1e-6)
    np.testing.assert_allclose(found[0], [np.log(p / (1 - p)) for p in (0.0025, 0.0075, 0.99)], rtol=1e-6)


def test_trees_have_probabilities_alone():
    x, y = numbers()
    fitted = RandomForestClassifier(5, random_state=0).fit(x, y)
    found = assay.explain(assay.wrap(fitted), x[:5], "exact_shapley", baseline=x[:1])
    assert found.provenance["unit"] == "probability"
    np.testing.assert_allclose(found.output, fitted.predict_proba(x[:5])[:, 1], rtol=1e-6)
    with pytest.raises(assay.UnsupportedError, match=r"has no decision_function.*value='probability'"):
        assay.explain(assay.wrap(fitted), x, "occlusion", baseline="zero", value="margin")


def test_what_an_estimator_lacks_is_named():
    x, y = numbers()
    with pytest.raises(assay.UnsupportedError, match="RidgeClassifier has no predict_proba"):
        assay.wrap(RidgeClassifier().fit(x, y)).predict(x, value="probability")
    with pytest.raises(assay.UnsupportedError, match="LinearRegression has no classes to give a margin of"):
        assay.wrap(LinearRegression().fit(x, y)).predict(x, value="margin")
    with pytest.raises(assay.UnsupportedError, match="expected margin, probability or log_odds of a classifier"):
        assay.wrap(LogisticRegression().fit(x, y), value="value").predict(x)
    with pytest.raises(ValueError, match="which has no predict"):
        assay.wrap(StandardScaler().fit(x))
    with pytest.raises(assay.UnsupportedError, match="needs a gradient, and LogisticRegression has none"):
        assay.explain(assay.wrap(LogisticRegression().fit(x, y)), x, "gradient")


def test_several_outputs_at_once_are_refused():
    x, y = numbers()
    both = np.column_stack([y, 1 - y])
    for several in (LinearRegression(), RandomForestClassifier(3), MultiOutputClassifier(LogisticRegression())):
        with pytest.raises(assay.UnsupportedError, match="predicts several outputs at once"):
            assay.wrap(several.fit(x, both)).predict(x)


def test_pairs_of_classes_are_refused_with_what_to_do():
    for classes in (3, 4):
        x, y = numbers(classes=classes)
        fitted = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")).fit(x, y)
        with pytest.raises(assay.UnsupportedError, match="set decision_function_shape='ovr'"):
            assay.wrap(fitted).predict(x)
        fitted.set_params(svc__decision_function_shape="ovr")
        np.testing.assert_allclose(assay.wrap(fitted).predict(x), fitted.decision_function(x), rtol=1e-5)


def test_clusters_are_refused_and_outliers_scored():
    x, _ = numbers()
    with pytest.raises(assay.UnsupportedError, match="which cluster a row belongs to"):
        assay.wrap(KMeans(3, n_init=1).fit(x)).predict(x)
    forest = IsolationForest(n_estimators=10, random_state=0).fit(x)
    np.testing.assert_allclose(assay.wrap(forest).predict(x)[:, 0], forest.decision_function(x), rtol=1e-4, atol=1e-6)


class LikeCatBoost(BaseEstimator):
    """Its regressions have classes_, which are none, and no other attribute of a fitted classifier."""

    def fit(self, x, y):
        self.weights_ = np.linalg.lstsq(np.asarray(x), np.asarray(y), rcond=None)[0]
        self.n_features_in_ = np.shape(x)[1]
        return self

    @property
    def classes_(self):
        return np.array([], dtype=object)

    def predict(self, x):
        return np.asarray(x) @ self.weights_


def test_a_regression_with_no_classes_is_one():
    x = np.random.default_rng(0).normal(size=(50, 3))
    fitted = LikeCatBoost().fit(x, x @ [1.0, -2.0, 0.5])
    model = assay.wrap(fitted)
    np.testing.assert_allclose(model.predict(x)[:, 0], fitted.predict(x), rtol=1e-5, atol=1e-6)
    found = assay.explain(model, x[:4], "exact_shapley", baseline="zero")
    np.testing.assert_allclose(found.values, x[:4] * [1.0, -2.0, 0.5], rtol=1e-4, atol=1e-6)
    with pytest.raises(assay.UnsupportedError, match="has no classes to give a probability of"):
        model.predict(x, value="probability")


def test_an_unfitted_estimator_says_so_itself():
    x, _ = numbers()
    for unfitted in (
        LogisticRegression(),
        LinearRegression(),
        make_pipeline(StandardScaler(), RandomForestClassifier()),
    ):
        with pytest.raises(NotFittedError):
            assay.explain(assay.wrap(unfitted), x, "occlusion", baseline="zero")


def test_names_of_classes_may_be_said():
    x, y = numbers()
    fitted = LogisticRegression().fit(x, y)
    found = assay.explain(assay.wrap(fitted, classes=["no", "yes"]), x[:4], "occlusion", baseline="zero", target="no")
    np.testing.assert_allclose(found.output, -fitted.decision_function(x[:4]), rtol=1e-5)
    with pytest.raises(ValueError, match="classes: expected 2 names, for 0 and 1, found 3"):
        assay.wrap(fitted, classes=["a", "b", "c"]).predict(x)
    with pytest.raises(ValueError, match="classes: expected None"):
        assay.wrap(LinearRegression().fit(x, y), classes=["a", "b"]).predict(x)


def test_margins_stand_beside_probabilities_only_where_they_are_their_logits():
    x, y = numbers()
    frame = [("X", x)]
    logistic = assay.wrap(LogisticRegression().fit(x, y))._bind(frame, "probability")
    assert logistic.margins is not None
    assert logistic.margins.unit == "margin"

    class Unrelated(LogisticRegression):
        def decision_function(self, x):
            return 3 * super().decision_function(x)

        def predict_proba(self, x):
            p = 1 / (1 + np.exp(-super().decision_function(x)))
            return np.column_stack([1 - p, p])

    assert assay.wrap(Unrelated().fit(x, y))._bind(frame, "probability").margins is None
    assert assay.wrap(KNeighborsClassifier().fit(x, y))._bind(frame, None).margins is None
    x, y = numbers(classes=3)
    assert assay.wrap(LogisticRegression().fit(x, y))._bind([("X", x)], "log_odds").margins is not None


# What they are called with


class Probe(ClassifierMixin, BaseEstimator):
    """Refuses anything but the columns, order and dtypes that it was fitted on."""

    def fit(self, frame, y):
        self.feature_names_in_ = np.array(frame.columns, object)
        self.dtypes_ = frame.dtypes
        self.classes_ = np.unique(y)
        return self

    def _score(self, frame):
        pandas.testing.assert_series_equal(frame.dtypes, self.dtypes_)
        score = (frame["city"] == "Bonn").astype(float) + frame["price"] * frame["rooms"].fillna(3).astype(float)
        return np.asarray(score + frame["note"].isna().astype(float) + frame["owned"].fillna(True).astype(float) / 2)

    def decision_function(self, frame):
        return self._score(frame)

    def predict(self, frame):
        return self.classes_[(self._score(frame) > 0).astype(int)]


def mixed_frame(rows=40, seed=5):
    generator = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "city": pandas.Categorical(generator.choice(["Bonn", "Oslo", "Rome"], rows)),
            "price": generator.normal(size=rows),
            "rooms": pandas.array(generator.integers(1, 6, rows), dtype="Int64"),
            "note": pandas.array(generator.choice(["old", "new"], rows), dtype="string"),
            "owned": pandas.array(generator.choice([True, False], rows), dtype="boolean"),
        }
    )
    frame.loc[1, "rooms"] = pandas.NA
    frame.loc[2, "note"] = pandas.NA
    frame.loc[3, "owned"] = pandas.NA
    frame.loc[4, "city"] = None
    y = ((frame["city"] == "Bonn") | (frame["price"] > 0.5)).to_numpy().astype(int)
    return frame, y


def brute_force(frame, baseline, row, function):
    """Shapley values of a row of a frame, by one call with frames that hold some of its cells."""
    taken = coalitions(len(frame.columns))
    mixed = {
        name: pandas.concat([baseline[name], frame[name].iloc[[row]]], ignore_index=True)
        .take(taken[:, j].astype(int))
        .reset_index(drop=True)
        for j, name in enumerate(frame.columns)
    }
    return shapley_values(function(pandas.DataFrame(mixed)))


def test_frames_come_as_they_were_fitted_on():
    frame, y = mixed_frame()
    probe = Probe().fit(frame, y)
    # More columns in another order: those of the estimator are found by name.
    shuffled = frame.assign(label=y)[["owned", "label", "note", "rooms", "price", "city"]]
    found = assay.explain(assay.wrap(probe), shuffled[:6], "exact_shapley", baseline=frame[7:8], pool=frame)
    assert list(found.features) == list(frame.columns)
    for row in range(6):
        expected = brute_force(frame, frame[7:8], row, probe.decision_function)
        np.testing.assert_allclose(found.values[row], expected, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="X: expected a column 'price', found none"):
        assay.wrap(probe).predict(frame.drop(columns="price"))


def pipeline():
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["price", "rooms"]),
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["city", "note", "owned"]),
        ]
    )
    return Pipeline([("columns", columns), ("classifier", LogisticRegression())])


def for_pipeline():
    """As scikit-learn's imputer and encoder take it: they do not know pandas.NA in all dtypes."""
    frame, y = mixed_frame()
    frame["rooms"] = frame["rooms"].astype("Float64").astype("float64")
    frame["note"] = frame["note"].fillna("none").astype(object)
    frame["owned"] = frame["owned"].fillna(False).astype("category")
    return frame, y


def test_a_pipeline_over_raw_columns_equals_brute_force():
    frame, y = for_pipeline()
    fitted = pipeline().fit(frame, y)
    baseline = frame[8:9]
    found = assay.explain(assay.wrap(fitted), frame[:5], "exact_shapley", baseline=baseline)
    assert list(found.features) == list(frame.columns)
    for row in range(5):
        expected = brute_force(frame, baseline, row, fitted.decision_function)
        np.testing.assert_allclose(found.values[row], expected, rtol=0, atol=1e-6)
    probabilities = assay.explain(
        assay.wrap(fitted), frame[:5], "exact_shapley", baseline=baseline, value="probability"
    )
    for row in range(5):
        expected = brute_force(frame, baseline, row, lambda each: fitted.predict_proba(each)[:, 1])
        np.testing.assert_allclose(probabilities.values[row], expected, rtol=0, atol=1e-6)
    assert "LogisticRegression" in repr(assay.wrap(fitted))


def test_arrays_for_an_estimator_of_frames_get_its_names():
    x, y = numbers()
    fitted = LogisticRegression().fit(pandas.DataFrame(x, columns=list("abcd")), y)
    found = assay.explain(assay.wrap(fitted), x[:5], "occlusion", baseline=x[0])
    assert list(found.features) == list("abcd")
    np.testing.assert_allclose(found.values, fitted.coef_[0] * (x[:5] - x[:1]), rtol=1e-5, atol=2e-6)
    with pytest.raises(ValueError, match="X: expected the 4 columns that LogisticRegression was fitted on, found 3"):
        assay.wrap(fitted).predict(x[:, :3])


def test_an_estimator_of_arrays_takes_arrays():
    x, y = numbers()
    fitted = LogisticRegression().fit(x, y)
    np.testing.assert_allclose(assay.wrap(fitted).predict(x)[:, 0], fitted.decision_function(x), rtol=1e-5)
    with pytest.raises(ValueError, match="has 3 features"):
        assay.wrap(fitted).predict(x[:, :3])


def test_float64_is_not_rounded_on_its_way_to_a_tree():
    low, high = 0.1, np.nextafter(0.1, 1)

    class Threshold(BaseEstimator):
        def fit(self, x, y=None):
            return self

        def predict(self, x):
            return (np.asarray(x)[:, 0] > low).astype(float)

    frame = pandas.DataFrame({"a": [low, high], "b": [1.0, 2.0]})
    found = assay.explain(assay.wrap(Threshold()), frame, "occlusion", baseline=frame[:1])
    np.testing.assert_array_equal(found.values, [[0, 0], [1, 0]])


def test_missing_numbers_reach_models_that_accept_them():
    x, y = numbers(rows=120)
    x[::3, 1] = np.nan
    fitted = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3).fit(x, y)
    model = assay.wrap(fitted)
    np.testing.assert_allclose(model.predict(x)[:, 0], fitted.decision_function(x), rtol=1e-5)
    found = assay.explain(model, x[:4], "exact_shapley", baseline=x[4:5])
    for row in range(4):
        values = fitted.decision_function(np.where(coalitions(4), x[row], x[4]))
        np.testing.assert_allclose(found.values[row], shapley_values(values), rtol=0, atol=1e-5)


def test_other_estimators_of_pipelines_and_searches():
    x, y = numbers(classes=3)
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]})
    fitted = search.fit(x, y)
    np.testing.assert_allclose(assay.wrap(fitted).predict(x), fitted.decision_function(x), rtol=1e-5, atol=1e-6)
    assert "LogisticRegression" in repr(assay.wrap(fitted))


# Retraining


def test_retrains_a_fresh_copy_on_the_raw_columns():
    frame, y = for_pipeline()
    names = np.array(["cheap", "dear"])
    fitted = pipeline().fit(frame, names[y])
    before = fitted.named_steps["classifier"].coef_.copy()
    model = assay.wrap(fitted)
    explanations = assay.explain(model, frame, "occlusion", baseline=frame[8:9], pool=frame)
    (scores,) = assay.evaluate(
        explanations, "roar", y=names[y], pool_y=names[y], seeds=1, k=[0.5], control=False
    ).values()
    np.testing.assert_array_equal(fitted.named_steps["classifier"].coef_, before)
    # The same by hand: each row loses the half of its columns that weighs most, then the pipeline is fitted anew.
    changed = frame.copy()
    count = 3  # of 5
    for row in range(len(frame)):
        strongest = np.argsort(-np.abs(explanations.values[row]), kind="stable")[:count]
        for column in strongest:
            changed.iloc[row, column] = frame.iloc[8, column]
    again = pipeline().fit(changed, names[y])
    expected = np.mean(fitted.predict(frame) == names[y]) - np.mean(again.predict(changed) == names[y])
    assert scores.values[0] == pytest.approx(expected, abs=1e-6)


def test_retraining_draws_seeds_and_keeps_parameters():
    x, y = numbers()
    seen = []

    class Noted(DecisionTreeClassifier):
        def fit(self, x, y):
            seen.append((self.max_depth, self.random_state, type(x), x.dtype, sorted(set(y))))
            return super().fit(x, y)

    fitted = Noted(max_depth=2).fit(x, np.array(["a", "b"])[y])
    explanations = assay.explain(assay.wrap(fitted), x, "occlusion", baseline="mean", pool=x)
    labels = np.array(["a", "b"])[y]
    assay.evaluate(explanations, "roar", y=labels, pool_y=labels, seeds=2, k=[0.5])
    trained = seen[1:]
    assert len(trained) >= 4
    assert {each[0] for each in trained} == {2}
    assert all(isinstance(each[1], int) for each in trained)
    assert len({each[1] for each in trained}) >= 2
    assert {each[2:4] for each in trained} == {(np.ndarray, np.dtype(np.float64))}
    assert {tuple(each[4]) for each in trained} == {("a", "b")}


def test_a_regression_is_retrained_too():
    x, _ = numbers()
    y = np.sin(x @ [1.0, 2.0, -3.0, 0.5])
    fitted = LinearRegression().fit(x, y)
    explanations = assay.explain(assay.wrap(fitted), x, "occlusion", baseline="mean", pool=x)
    (scores,) = assay.evaluate(explanations, "roar", y=y, pool_y=y, seeds=1, k=[0.5], control=False).values()
    changed = x.copy()
    for row, values in zip(changed, explanations.values, strict=True):
        strongest = np.argsort(-np.abs(values))[:2]
        row[strongest] = x.mean(axis=0)[strongest]
    again = LinearRegression().fit(changed, y)
    assert scores.values[0] == pytest.approx(fitted.score(x, y) - again.score(changed, y), abs=1e-5)


def test_rows_without_a_class_cannot_retrain():
    x, y = numbers(classes=3)
    explanations = assay.explain(
        assay.wrap(DecisionTreeClassifier().fit(x, y)), x, "occlusion", baseline="mean", pool=x[y != 1]
    )
    with pytest.raises(ValueError, match=r"labels: expected rows of each class .*, found '0' and '2' alone"):
        assay.evaluate(explanations, "roar", y=y, pool_y=y[y != 1], seeds=1)
