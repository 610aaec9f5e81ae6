"""baseline=: a row in every form, for tables of every form."""

import re
import types

import numpy as np
import pytest

import assay

COLUMNS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
ROW = dict(zip(COLUMNS, [5.5, 3.0, 2.25, 0.75], strict=True))


@pytest.fixture(scope="module")
def iris():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    matrix = np.column_stack([test[name] for name in COLUMNS])
    return types.SimpleNamespace(train=train, test=test, matrix=matrix, model=assay.train(train))


@pytest.fixture(scope="module")
def frames(iris):
    pytest.importorskip("pandas", reason="pandas makes tables")
    return types.SimpleNamespace(test=iris.test.to_pandas()[COLUMNS], train=iris.train.to_pandas())


def refused(message):
    """A ValueError of one line that begins so; `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    return pytest.raises(ValueError, match=f"^{pattern}")


def frame_row():
    import pandas

    return pandas.DataFrame([ROW])


def arrow_of(frame):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow makes tables")
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


NAMED = {
    "dict": lambda: dict(ROW),
    "dict in another order": lambda: dict(reversed(ROW.items())),
    "series": lambda: frame_row().iloc[0],
    "frame": frame_row,
    "arrow": lambda: arrow_of(frame_row()),
}
UNNAMED = {
    "list": lambda: list(ROW.values()),
    "tuple": lambda: tuple(ROW.values()),
    "array": lambda: np.array(list(ROW.values())),
    "one row": lambda: np.array([list(ROW.values())], np.float32),
    "list of a list": lambda: [list(ROW.values())],
}
RAW = {
    "table": lambda iris, frames: iris.test,
    "frame": lambda iris, frames: frames.test,
    "frame of another order": lambda iris, frames: frames.test.assign(extra=1)[["extra", *COLUMNS[::-1]]],
    "arrow of another order": lambda iris, frames: arrow_of(frames.test.assign(extra=1)[["extra", *COLUMNS[::-1]]]),
    "array": lambda iris, frames: iris.matrix,
}


@pytest.mark.parametrize("rows", RAW)
@pytest.mark.parametrize("form", [*NAMED, *UNNAMED])
def test_a_row_of_any_form_is_a_baseline(form, rows, iris, frames):
    wanted = assay.explain(iris.model, iris.matrix, "occlusion", baseline=np.array([list(ROW.values())]))
    assert wanted.base[0] == pytest.approx(iris.model.predict([list(ROW.values())])[0, wanted.target_index[0]])
    baseline = (NAMED | UNNAMED)[form]()
    X = RAW[rows](iris, frames)
    if rows == "array" and form in ("dict", "dict in another order", "series"):
        with refused("baseline: expected a row of numbers, as X has no names of columns, found names"):
            assay.explain(iris.model, X, "occlusion", baseline=baseline)
        return
    if form in UNNAMED and rows.endswith("another order"):
        with refused(
            "baseline: expected names of columns, because X has 'petal_width' where the model has 'sepal_length'"
        ):
            assay.explain(iris.model, X, "occlusion", baseline=baseline)
        return
    made = assay.explain(iris.model, X, "occlusion", baseline=baseline)
    assert made.values.tobytes() == wanted.values.tobytes()


@pytest.mark.parametrize("rows", ["frame of another order", "arrow of another order", "table"])
@pytest.mark.parametrize("form", ["dict", "series"])
def test_a_row_by_name_is_a_baseline_of_functions(form, rows, iris, frames):
    slopes = {"sepal_length": 1.0, "sepal_width": -2.0, "petal_length": 4.0, "petal_width": 8.0}
    model = assay.wrap(lambda frame: sum(frame[name] * slope for name, slope in slopes.items()), features=COLUMNS)
    made = assay.explain(model, RAW[rows](iris, frames), "occlusion", baseline=NAMED[form]())
    wanted = (iris.matrix - np.array(list(ROW.values()))) * np.array(list(slopes.values()))
    assert made.values == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    "baseline", [np.ones((3, 3)), np.ones((1, 3, 3)), np.ones((3, 3)).tolist(), 1, 1.0, np.float32(1)]
)
def test_an_image_or_a_number_is_a_baseline_of_images(baseline):
    images = np.random.default_rng(0).normal(size=(5, 3, 3))
    model = assay.wrap(lambda rows: rows.sum(axis=(1, 2)))
    made = assay.explain(model, images, "occlusion", baseline=baseline)
    assert made.values == pytest.approx(images.reshape(5, 9) - 1, abs=1e-5)


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (np.ones((2, 4)), "baseline: expected one row, to be the baseline, found 2 (several rows are a background)"),
        ([1.0, 2.0], "baseline: expected 4 columns, found 2"),
        ([], "baseline: expected 4 columns, found 0"),
        ({"sepal_length": 1.0}, "baseline: there is no column 'sepal_width', which the model needs"),
        (ROW | {"colour": 1}, "baseline: expected names of columns of X, found 'colour'"),
        (ROW | {"petal_width": "wide"}, "baseline...'petal_width'...found 'wide'"),
        (ROW | {"petal_width": np.inf}, "baseline...'petal_width'...found inf"),
        ([1, 2, np.inf, 3], "baseline, row 0 (counted from 0), column 'petal_length': expected a finite number"),
        (object(), "baseline: expected ... found"),
    ],
)
@pytest.mark.parametrize("rows", ["table", "frame"])
def test_what_is_no_baseline(baseline, message, rows, iris, frames):
    with refused(message):
        assay.explain(iris.model, RAW[rows](iris, frames), "occlusion", baseline=baseline)


def pressures(rows=3000):
    """Numbers closer together than float32 numbers of their size."""
    rng = np.random.default_rng(8)
    import pandas

    return pandas.DataFrame({"p": 101325 + rng.exponential(5, rows), "i": 2**40 + rng.integers(0, 99, rows)})


@pytest.mark.parametrize("said", [{}, {"baseline": "mean"}])
@pytest.mark.parametrize("own", [False, True])
def test_the_mean_of_crowded_cells_is_that_of_the_cells(said, own, frames):
    pool = pressures()
    X = pool if own else pool[:3]
    model = assay.wrap(lambda frame: (frame["p"] - 101325) + 100 * (frame["i"] - 2**40))
    made = assay.explain(model, X, "occlusion", pool=pool, **said)
    wanted = pool["p"].mean() - 101325 + 100 * np.rint((pool["i"] - 2**40).mean())
    assert made.base == pytest.approx(np.full(len(X), wanted), rel=1e-6)
    assert made.provenance["reference"] == ("mean of X" if own else "mean of pool")
    array = pool.to_numpy()
    model = assay.wrap(lambda rows: rows[:, 0] - 101325)
    made = assay.explain(model, array[:3], "occlusion", pool=array, **said)
    assert made.base[0] == pytest.approx(pool["p"].mean() - 101325, rel=1e-6)


def test_the_mean_of_crowded_cells_of_an_estimator(frames):
    linear_model = pytest.importorskip("sklearn.linear_model", reason="estimators are scikit-learn's")
    pool = pressures()
    fitted = linear_model.LinearRegression().fit(pool - [101325, 2**40], pool["p"] - 101325)
    fitted.intercept_ -= 101325
    wanted = pool["p"].mean() - 101325
    for table in (pool, pool.to_numpy()):  # an array gets the names of the columns
        made = assay.explain(assay.wrap(fitted), table[:3], "occlusion", pool=table)
        assert made.base[0] == pytest.approx(wanted, abs=1e-3)


def test_the_mean_of_what_float32_holds_is_the_engines(iris, frames):
    X, pool = frames.test, frames.train[COLUMNS]
    model = assay.wrap(lambda frame: frame["petal_width"])
    made = assay.explain(model, X, "occlusion", pool=pool)
    mean = iris.model._bind([("X", pool)], None).encode("X", pool).x.astype(np.float64).mean(axis=0)
    assert made.base[0] == np.float32(mean[3])
    assert made.provenance["reference"] == "mean of pool"
    with refused("pool: expected rows to take a baseline from, found none"):
        assay.explain(assay.wrap(lambda frame: frame["p"]), pressures(3), "occlusion", pool=pressures(0))


MIXED = {"n": 7.0, "c": "x", "b": True, "t": "p"}


def mixed_frame():
    import pandas

    return pandas.DataFrame({"n": [0.0, 1.0], "c": pandas.Categorical(["x", "y"]), "b": [True, False], "t": ["p", "q"]})


def rows_seen(baseline):
    seen = []
    model = assay.wrap(lambda frame: seen.append(frame.astype(object)) or frame["n"])
    assay.explain(model, mixed_frame(), "occlusion", baseline=baseline)
    return {tuple(row) for frame in seen for row in frame.to_numpy().tolist()}


@pytest.mark.parametrize("cells", [{"c": "w"}, {"t": "w"}, {"c": "w", "t": "v", "b": False}, {"n": 3}])
def test_new_cells_of_a_baseline_reach_the_model_in_every_form(cells, frames):
    import pandas

    row = MIXED | cells
    wanted = rows_seen(pandas.DataFrame([row]))
    assert tuple(row.values()) in wanted
    for form in (row, pandas.Series(row), list(row.values()), tuple(row.values()), [list(row.values())]):
        assert rows_seen(form) == wanted


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"t": 5}, "baseline, column 't': expected texts, found '5' of type int"),
        ({"b": "w"}, "baseline, column 'b': expected a value that X, pool or background has, found 'w'"),
        ({"n": "w"}, "baseline, column 'n': expected a cell of float64, found 'w'"),
        ({"c": ["x"]}, "baseline, column 'c': expected a cell of category, found"),
        ({"c": "\udc80"}, "baseline, column 'c': expected texts of whole characters, found '\\udc80'"),
    ],
)
def test_cells_that_a_column_cannot_take(cells, message, frames):
    with refused(message):
        rows_seen(MIXED | cells)


def test_names_of_half_characters(frames):
    import pandas

    model = assay.wrap(lambda frame: frame["n"])
    with refused("ids: expected texts of whole characters, found '\\udc80'"):
        assay.explain(model, mixed_frame(), "occlusion", baseline=MIXED, ids=["a", "\udc80"])
    with refused("X, index: expected texts of whole characters, found '\\udc80'"):
        frame = mixed_frame()
        frame.index = pandas.Index(["a", "\udc80"], dtype=object)
        assay.explain(model, frame, "occlusion", baseline=MIXED)


def test_text_cells_of_a_baseline(frames):
    """By their texts, whatever the table."""
    frame = frames.train.assign(species=frames.train["species"].astype(str))
    frame["wide"] = np.where(frame["petal_width"] > 1, "yes", "no")
    model = assay.train(frame.drop(columns="petal_width"), label="wide", encode="one_hot")
    row = {name: frame[name].iloc[0] for name in model._core.raw_columns}
    wanted = assay.explain(model, frame, "occlusion", baseline=frame[:1]).values
    for table in (frame, arrow_of(frame)):
        for form in (row, list(row.values()), [tuple(row.values())]):
            assert assay.explain(model, table, "occlusion", baseline=form).values.tobytes() == wanted.tobytes()
        with refused(
            "baseline, row 1, column 'species': expected one of the categories of the training rows, found 'w'"
        ):
            assay.explain(model, table, "occlusion", baseline=row | {"species": "w"})
        other = assay.explain(model, table, "occlusion", baseline=row | {"species": "virginica"}).values
        assert other.tobytes() != wanted.tobytes()


def test_an_image_is_a_baseline_of_a_network(root):
    folder = root / "tests" / "fixtures" / "models" / "torch_cnn_script"
    model, table = assay.load(folder / "model.onnx"), assay.dataset(folder / "rows.csv")
    flat = np.column_stack([table[name] for name in table.columns])
    wanted = assay.explain(model, flat, "occlusion", baseline=np.full(64, 0.5))
    for shape in ((8, 8), (1, 8, 8)):
        images = flat.reshape(-1, *shape)
        made = assay.explain(model, images, "occlusion", baseline=np.full(shape, 0.5))
        assert made.values.tobytes() == wanted.values.tobytes()


def test_backgrounds_that_are_spread_over_scores(iris):
    """ "spread:N" is what a study takes, for explain, evaluate and aggregate too."""
    made = assay.explain(iris.model, iris.test, "exact_shapley", pool=iris.train, background="spread:12", seed=3)
    assert made.provenance["reference"] == "12 rows of iris (train part), spread over its scores"
    few = {"methods": ["exact_shapley"], "criteria": "faithfulness", "aggregators": "none", "seed": 3}
    study = assay.study(iris.model, iris.test, pool=iris.train, background="spread:12", sample="all", **few)
    assert study.json["facts"]["reference"] == made.provenance["reference"]
    np.testing.assert_array_equal(study.explanations["exact_shapley"].values, made.values)
    np.testing.assert_array_equal(study.explanations["exact_shapley"].base, made.base)
    plan = assay.study_plan(iris.model, iris.test, pool=iris.train, background="spread:12", **few)
    assert "reference: 12 rows of iris (train part), spread over its scores" in plan
    # By default a study takes spread:100.
    default = assay.study(iris.model, iris.test, pool=iris.train, sample="all", time=None, **few)
    hundred = assay.explain(iris.model, iris.test, "exact_shapley", pool=iris.train, background="spread:100", seed=3)
    np.testing.assert_array_equal(default.explanations["exact_shapley"].values, hundred.values)
    options = {"model": iris.model, "X": iris.test, "pool": iris.train, "background": "spread:12", "seed": 3}
    alone = assay.Explanations.from_array(made.values, features=made.features)
    expected = assay.evaluate(made, "faithfulness")["faithfulness"].mean
    assert assay.evaluate(alone, "faithfulness", target="predicted", **options)["faithfulness"].mean == expected
    assert assay.aggregate([alone, alone], "mean", target="predicted", **options).values.shape == made.values.shape
    information = assay.explain(
        iris.model, iris.test, "occlusion", pool=iris.train, background="spread:9", value="information"
    )
    assert information.provenance["reference"].startswith("9 rows of ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"background": "spread:0"},
            "background: expected spread:N with a number of rows, 1 or more, found 'spread:0'",
        ),
        ({"background": "spread:x"}, "background: expected spread:N with a number of rows"),
        (
            {"background": "spread"},
            "background: expected pool:100 or spread:100 (for so many of it) or rows, found 'spread'",
        ),
        (
            {"background": "spread:9", "baseline": "mean"},
            "baseline: expected one of baseline and background, found both",
        ),
        ({"background": "spread:9", "pool": None}, "...expected "),
    ],
)
def test_words_of_spread_backgrounds_that_are_refused(iris, options, message):
    given = {"pool": iris.train, **options}
    for call in (
        lambda: assay.explain(iris.model, iris.test, "occlusion", **given),
        lambda: assay.study_plan(iris.model, iris.test, **given),
    ):
        with refused(message):
            call()


def test_spread_backgrounds_need_a_rule_of_targets(iris):
    listed = np.arange(len(iris.test)) % 3
    with refused("background spread:9: expected one class or output for all rows, or the predicted class"):
        assay.explain(iris.model, iris.test, "occlusion", pool=iris.train, background="spread:9", target=listed)
