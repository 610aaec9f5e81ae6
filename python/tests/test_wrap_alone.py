"""assay.wrap: what a model gives for a row must not depend on the other rows of a call."""

import functools

import numpy as np
import pytest

import assay

pandas = pytest.importorskip("pandas", reason="its tables are joined, grouped and ranked")

RATES = pandas.DataFrame({"region": ["n", "s", "e", "w"], "rate": [1.0, 5.0, 2.0, 9.0]})
REFUSED = (
    "gives a row other outputs when other rows are beside it or in another order.*; return the outputs in the order"
)


def table(seed, rows=60):
    draws = np.random.default_rng(seed)
    numbers = draws.normal(size=(rows, 2))
    return pandas.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "region": draws.choice(list("nsew"), rows)})


def joined(made):
    return (made["a"] * made["rate"] + made["b"]).to_numpy()


def by_region(rows):
    rates = RATES.set_index("region").rate
    return np.concatenate([(part["a"] * rates[key] + part["b"]).to_numpy() for key, part in rows.groupby("region")])


def min_max(rows):
    numbers = rows[["a", "b"]]
    return ((numbers - numbers.min()) / (numbers.max() - numbers.min())).sum(axis=1).to_numpy()


DEPENDING = {
    "groups one after the other": by_region,
    "a sorted join": lambda rows: joined(rows.merge(RATES, on="region", sort=True)),
    "an outer join": lambda rows: joined(rows.merge(RATES, on="region", how="outer").dropna(subset=["a"])),
    "a join to the other table": lambda rows: joined(RATES.merge(rows, on="region")),
    "ranks": lambda rows: (rows["a"].rank(pct=True) + rows["b"]).to_numpy(),
    "the least and the largest": min_max,
    "the mean": lambda rows: (rows["a"] - rows["a"].mean() + rows["b"]).to_numpy(),
}


@pytest.mark.parametrize("kind", DEPENDING)
def test_functions_that_mix_rows_are_refused(kind):
    for seed in range(4):
        X = table(seed)
        for rows, pool in ((X[:12], X), (X.sort_values("region"), None), (X[:2], X.sort_values("a"))):
            with pytest.raises(assay.UnsupportedError, match=REFUSED):
                assay.explain(assay.wrap(DEPENDING[kind]), rows, "occlusion", baseline="zero", pool=pool)


def test_a_rare_segment_in_a_long_table_is_found():
    X = table(0, 5000)
    X["region"] = np.where(np.arange(5000) % 501 == 0, "e", "w")
    with pytest.raises(assay.UnsupportedError, match=REFUSED):
        assay.wrap(by_region).predict(X)


def test_steps_of_pipelines_that_mix_rows_are_refused():
    pytest.importorskip("sklearn", reason="pipelines are scikit-learn's")
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    X = table(1)[["a", "b"]]
    scaled = FunctionTransformer(lambda rows: rows - np.asarray(rows).mean(axis=0))
    for last, y in ((LinearRegression(), X["a"]), (LogisticRegression(), X["a"] > 0)):
        with pytest.raises(assay.UnsupportedError, match=REFUSED):
            assay.wrap(make_pipeline(scaled, last).fit(X, y)).predict(X)
        assay.wrap(make_pipeline(StandardScaler(), last).fit(X, y)).predict(X)


def large_float32(rows):
    """Outputs near a million, of which float32 holds a tenth."""
    weights = np.random.default_rng(0).normal(size=(2, 300)).astype(np.float32)
    hidden = np.tanh(np.asarray(rows[["a", "b"]], np.float32) @ weights)
    return (hidden @ np.ones((300, 1), np.float32))[:, 0] + np.float32(1e6)


def cached():
    @functools.cache
    def one(a, b):
        return a * b

    return lambda rows: [one(a, b) for a, b in zip(rows["a"], rows["b"], strict=True)]


ALONE = {
    "float32 products": large_float32,
    "a cache": cached(),
    "row by row": lambda rows: rows.apply(lambda row: row["a"] * 2 + (row["region"] == "n"), axis=1),
    "a join in the order of rows": lambda rows: joined(rows.merge(RATES, on="region", how="left")),
    "a constant": lambda rows: np.full(len(rows), 0.1),
    "undefined for some": lambda rows: np.sqrt(rows["a"].to_numpy()) / (rows["region"] != "n"),
    "float16": lambda rows: (rows["a"] * 3).to_numpy().astype(np.float16),
    "one row as a number": lambda rows: (rows["a"] + rows["b"]).to_numpy().squeeze(),
}


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("kind", ALONE)
def test_functions_of_single_rows_are_taken(kind):
    for seed in range(5):
        X = table(seed)
        assert assay.wrap(ALONE[kind]).predict(X).shape == (60, 1)
        assert assay.wrap(ALONE[kind]).predict(X[:3]).shape == (3, 1)


def test_estimators_of_single_rows_are_taken():
    pytest.importorskip("sklearn", reason="estimators are scikit-learn's")
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.svm import SVC

    X = table(2)[["a", "b"]]
    for model in (GaussianProcessRegressor(), MLPRegressor(hidden_layer_sizes=(30, 30), max_iter=20)):
        assay.wrap(model.fit(X, X["a"] * X["b"])).predict(X)
    for model in (KNeighborsClassifier(), MLPClassifier(hidden_layer_sizes=(30, 30), max_iter=20), SVC()):
        assay.wrap(model.fit(X, X["a"] > 0)).predict(X.astype(np.float32))


def test_modules_of_single_rows_are_taken_and_others_are_not():
    torch = pytest.importorskip("torch", reason="modules are PyTorch's")
    X = np.asarray(table(3)[["a", "b"]], np.float32)
    torch.manual_seed(0)
    layers = [
        torch.nn.Linear(2, 64),
        torch.nn.BatchNorm1d(64),
        torch.nn.ReLU(),
        torch.nn.Dropout(),
        torch.nn.Linear(64, 1),
    ]
    assay.wrap(torch.nn.Sequential(*layers).eval()).predict(X)

    class Scaled(torch.nn.Module):
        def forward(self, x):
            return ((x - x.amin(0)) / (x.amax(0) - x.amin(0))).sum(1)

    with pytest.raises(assay.UnsupportedError, match=REFUSED):
        assay.wrap(Scaled()).predict(X)


def test_few_rows_are_called_to_find_out():
    X, calls = table(4, 2000), []

    def counted(rows):
        calls.append(len(rows))
        return rows["a"].to_numpy()

    assay.wrap(counted)._bind([("X", X), ("pool", X[::-1])], None)
    assert calls == [16, 8, 8]
    calls.clear()
    assay.wrap(counted, batch=1)._bind([("X", X)], None)
    assert set(calls) == {1}


def test_missing_cells_of_a_pool_are_not_tried_where_x_has_none():
    X = table(5)
    pool = X.copy()
    pool.loc[::2, "a"] = np.nan

    def strict(rows):
        assert rows["a"].notna().all()
        return rows["a"].to_numpy()

    assay.explain(assay.wrap(strict), X[:3], "occlusion", pool=pool, baseline="mean")


def test_slow_functions_are_called_with_few_rows_more(monkeypatch):
    from assay import _probe

    monkeypatch.setattr(_probe, "_SLOW", -1.0)
    calls = []
    assay.wrap(lambda rows: calls.append(len(rows)) or rows["a"])._bind([("X", table(6))], None)
    assert calls == [16, 4]
    with pytest.raises(assay.UnsupportedError, match=REFUSED):
        assay.wrap(min_max)._bind([("X", table(6))], None)
