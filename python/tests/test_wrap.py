"""assay.wrap: which models it takes, and functions as models, held against closed forms and brute force."""

import itertools
import math
import pathlib
import threading

import numpy as np
import pytest

import assay

WEIGHTS = np.array([1.5, -2.0, 0.25, 4.0])
ROWS = np.random.default_rng(3).normal(size=(7, 4))
BASELINE = np.array([[0.5, -1.0, 2.0, 0.0]])


def linear(rows):
    return np.asarray(rows, np.float64) @ WEIGHTS


def shapley_values(value_of, players):
    """By the formula, over all coalitions. value_of: a set of players -> number."""
    values = {
        frozenset(coalition): value_of(frozenset(coalition))
        for size in range(players + 1)
        for coalition in itertools.combinations(range(players), size)
    }
    out = np.zeros(players)
    for player in range(players):
        for coalition, value in values.items():
            if player in coalition:
                continue
            size = len(coalition)
            weight = math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players)
            out[player] += weight * (values[coalition | {player}] - value)
    return out


class Recorder:
    """A function that keeps what it was called with."""

    def __init__(self, function=linear):
        self.function = function
        self.seen = []
        self.threads = set()

    def __call__(self, rows):
        self.seen.append(rows)
        self.threads.add(threading.get_ident())
        return self.function(rows)


# Which models it takes


def test_a_path_points_to_load():
    for path in ("model.onnx", pathlib.Path("model.onnx")):
        with pytest.raises(ValueError, match=r"found a path; assay\.load"):
            assay.wrap(path)


def test_what_is_no_model_is_refused():
    class Booster:
        def predict(self, rows):
            return rows

    with pytest.raises(ValueError, match="found the class Booster"):
        assay.wrap(Booster)
    with pytest.raises(ValueError, match=r"found Booster; wrap its Booster\.predict"):
        assay.wrap(Booster())
    with pytest.raises(ValueError, match="found int"):
        assay.wrap(3)
    with pytest.raises(ValueError, match="found a model of assay"):
        assay.wrap(assay.wrap(linear))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"features": "abcd"}, "features: expected a list of names"),
        ({"features": 4}, "features: expected a list of names, found '4'"),
        ({"classes": 2}, "classes: expected a list of names, found '2'"),
        ({"features": ["a", "b", "a"]}, "features: expected each name once, found 'a' twice"),
        ({"classes": ["a"]}, "classes: expected at least 2 names, found 1"),
        ({"value": "logit"}, "value: expected one of margin, probability, log_odds, value, found 'logit'"),
        ({"value": "margin"}, "classes: expected the names of the classes"),
        ({"value": "value", "classes": ["a", "b"]}, "value: expected margin, probability or log_odds"),
        ({"batch": 0}, "batch: expected at least one row"),
        ({"batch": 1.5}, "batch: expected a whole number"),
        ({"example": ROWS}, "example: expected None"),
        ({"returns": "margin"}, "returns: expected None for what is no PyTorch module"),
        ({"returns": "value"}, "returns: expected one of margin, probability, found 'value'"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        assay.wrap(linear, **arguments)


def test_unknown_arguments_are_type_errors():
    with pytest.raises(TypeError):
        assay.wrap(linear, feature=["a"])


# Functions


@pytest.mark.parametrize("method", ["occlusion", "exact_shapley"])
def test_a_linear_function_is_its_closed_form(method):
    found = assay.explain(assay.wrap(linear), ROWS, method, baseline=BASELINE)
    np.testing.assert_allclose(found.values, WEIGHTS * (ROWS - BASELINE), rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(found.output, linear(ROWS), rtol=1e-6)
    np.testing.assert_allclose(found.base, np.repeat(linear(BASELINE), len(ROWS)), rtol=1e-6)


def test_predicts_what_the_function_gives():
    model = assay.wrap(linear)
    np.testing.assert_allclose(model.predict(ROWS)[:, 0], linear(ROWS), rtol=1e-6)


def test_names_come_from_the_arguments():
    names = ["age", "income", "debt", "rate"]
    model = assay.wrap(linear, features=names, name="scorecard")
    found = assay.explain(model, ROWS, "occlusion", baseline=BASELINE)
    assert list(found.features) == names
    assert found.provenance["model"] == "scorecard"
    assert found.provenance["unit"] == "value"
    assert "scorecard" in repr(model)


def test_one_output_with_two_classes_is_that_of_the_second():
    model = assay.wrap(linear, classes=["refused", "granted"], value="margin")
    assert model._bind([("X", ROWS)], None).model.output_names == ["granted"]
    found = assay.explain_all(model, ROWS, "occlusion", baseline=BASELINE)
    assert list(found) == ["refused", "granted"]
    expected = WEIGHTS * (ROWS - BASELINE)
    np.testing.assert_allclose(found["granted"].values, expected, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(found["refused"].values, -expected, rtol=2e-6, atol=1e-6)


def test_probabilities_of_the_first_class_are_the_rest():
    def probability(rows):
        return 1 / (1 + np.exp(-linear(rows)))

    model = assay.wrap(probability, classes=["no", "yes"])
    found = assay.explain_all(model, ROWS, "exact_shapley", baseline=BASELINE)
    assert found["yes"].provenance["unit"] == "probability"
    np.testing.assert_allclose(found["yes"].output, probability(ROWS), rtol=1e-6)
    np.testing.assert_allclose(found["no"].output, 1 - probability(ROWS), rtol=0, atol=1e-6)


def test_several_outputs_are_classes_or_values():
    matrix = np.random.default_rng(0).normal(size=(4, 3))

    def scores(rows):
        return (rows @ matrix).tolist()

    by_class = assay.explain_all(
        assay.wrap(scores, classes=["a", "b", "c"], value="margin"), ROWS, "occlusion", baseline=BASELINE
    )
    by_value = assay.explain_all(assay.wrap(scores), ROWS, "occlusion", baseline=BASELINE)
    assert list(by_class) == ["a", "b", "c"]
    assert list(by_value) == ["0", "1", "2"]
    for column, (of_class, of_value) in enumerate(zip(by_class.values(), by_value.values(), strict=True)):
        expected = matrix[:, column] * (ROWS - BASELINE)
        np.testing.assert_allclose(of_class.values, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(of_value.values, expected, rtol=1e-5, atol=1e-6)


def test_a_function_gives_one_unit():
    model = assay.wrap(linear, classes=["a", "b"], value="margin")
    with pytest.raises(assay.UnsupportedError, match="value: expected margin, which is what linear gives"):
        assay.explain(model, ROWS, "occlusion", baseline=BASELINE, value="probability")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda rows: linear(rows)[:-1], r"expected an array of 7 rows, found one of shape \(6,\)"),
        (lambda rows: 1.0, r"expected an array of 7 rows, found one of shape \(\)"),
        (lambda rows: np.zeros((len(rows), 2, 2)), r"found one of shape \(7, 2, 2\)"),
        (lambda rows: np.zeros((len(rows), 0)), r"found one of shape \(7, 0\)"),
        (lambda rows: ["yes"] * len(rows), "expected numbers, found"),
        (lambda rows: [[1, 2], [1]], "outputs of scorecard: expected"),
        (lambda rows: [object()] * len(rows), "expected numbers, found"),
        (lambda rows: linear(rows) * 1j, "expected numbers, found an array of complex128"),
        (lambda rows: None, "expected an array of 7 rows, found NoneType"),
        (lambda rows: (each for each in linear(rows)), "found generator; return a list of what it yields"),
        (lambda rows: map(float, linear(rows)), "found map; return a list of what it yields"),
        (lambda rows: set(linear(rows)), "expected an array of 7 rows, found set$"),
    ],
)
def test_wrong_outputs_are_named(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        assay.explain(assay.wrap(wrong, name="scorecard"), ROWS, "occlusion", baseline=BASELINE)
    assert str(caught.value).startswith("outputs of scorecard: expected")


def test_a_wrong_number_of_classes_is_named():
    def three(rows):
        return np.zeros((len(rows), 3))

    with pytest.raises(
        ValueError, match=r"outputs of three: expected 2 columns or 1 of the positive class, .* found 3"
    ):
        assay.explain(assay.wrap(three, classes=["a", "b"]), ROWS, "occlusion", baseline=BASELINE)
    with pytest.raises(ValueError, match=r"outputs of linear: expected 3 columns, .* found 1"):
        assay.explain(assay.wrap(linear, classes=["a", "b", "c"]), ROWS, "occlusion", baseline=BASELINE)


def test_outputs_that_change_their_number_are_named():
    def changing(rows):
        return np.zeros((len(rows), 2 if len(rows) <= 3 else 1))

    with pytest.raises(ValueError, match=r"outputs of changing: expected an array of .*, found one of shape \(.*, 2\)"):
        assay.explain(assay.wrap(changing), ROWS, "occlusion", baseline=BASELINE)


def test_what_a_function_raises_reaches_the_caller_itself():
    raised = KeyError("no such model")

    def failing(rows):
        if len(rows) > 2:
            raise raised
        return linear(rows)

    with pytest.raises(KeyError) as caught:
        assay.explain(assay.wrap(failing), ROWS, "kernel_shap", baseline=BASELINE)
    assert caught.value is raised
    # The engine is as good as before.
    assert assay.explain(assay.wrap(linear), ROWS, "occlusion", baseline=BASELINE).values.shape == ROWS.shape


def test_calls_come_on_the_calling_thread_in_large_batches():
    rows = np.random.default_rng(1).normal(size=(64, 12))
    recorder = Recorder(lambda each: np.sin(each).sum(axis=1))
    found = assay.explain(
        assay.wrap(recorder), rows, "kernel_shap", baseline=np.zeros((1, 12)), samples=2048, threads=2
    )
    assert recorder.threads == {threading.get_ident()}
    evaluated = sum(len(each) for each in recorder.seen)
    assert evaluated >= found.evaluations >= 64 * 2048
    # Beside the probe, the rows and the baseline: a handful of calls.
    assert len(recorder.seen) < 24


def test_batch_is_the_most_rows_of_a_call():
    recorder = Recorder()
    limited = assay.explain(assay.wrap(recorder, batch=5), ROWS, "exact_shapley", baseline=BASELINE)
    assert max(len(each) for each in recorder.seen) == 5
    free = assay.explain(assay.wrap(linear), ROWS, "exact_shapley", baseline=BASELINE)
    np.testing.assert_array_equal(limited.values, free.values)


def test_may_be_used_from_a_thread_of_ones_own():
    recorder = Recorder()
    done = []

    def work():
        done.append(threading.get_ident())
        assay.explain(assay.wrap(recorder), ROWS, "occlusion", baseline=BASELINE)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert recorder.threads == set(done)


# What functions are called with


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_arrays_keep_their_dtype(dtype):
    rows = np.arange(12).reshape(3, 4).astype(dtype)
    recorder = Recorder()
    found = assay.explain(assay.wrap(recorder), rows, "occlusion", baseline=np.zeros((1, 4), dtype))
    assert {each.dtype for each in recorder.seen} == {np.dtype(dtype)}
    assert {type(each) for each in recorder.seen} == {np.ndarray}
    np.testing.assert_allclose(found.values, WEIGHTS * rows, rtol=1e-6)


@pytest.mark.parametrize("form", ["array", "one row", "frame", "read-only"])
def test_a_function_may_work_in_place(form):
    def doubled(rows):
        rows *= 2
        return np.asarray(rows).sum(axis=1)

    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    if form == "one row":
        x = x[:1]
    if form == "frame":  # of one column: a transposed view would be no copy
        x = pytest.importorskip("pandas", reason="frames need pandas").DataFrame({"a": x[:, 0]})
    if form == "read-only":
        x.flags.writeable = False
    before = np.array(x)
    found = assay.explain(assay.wrap(doubled), x, "occlusion", baseline="zero")
    np.testing.assert_array_equal(np.asarray(x), before)
    np.testing.assert_array_equal(found.values, 2 * before)


def test_images_keep_their_shape():
    images = np.random.default_rng(2).normal(size=(3, 2, 4, 5)).astype(np.float32)
    weights = np.arange(40.0).reshape(2, 4, 5)
    recorder = Recorder(lambda rows: (rows * weights).sum(axis=(1, 2, 3)))
    found = assay.explain(assay.wrap(recorder), images, "occlusion", baseline=np.zeros((1, 2, 4, 5), np.float32))
    assert {each.shape[1:] for each in recorder.seen} == {(2, 4, 5)}
    np.testing.assert_allclose(found.values, (images * weights).reshape(3, 40), rtol=1e-4, atol=1e-4)


def test_float64_is_not_rounded_on_its_way():
    threshold = 0.1
    above = np.nextafter(threshold, 1)
    assert np.float32(threshold) == np.float32(above)
    rows = np.array([[threshold, 5.0], [above, 5.0]])
    found = assay.explain(
        assay.wrap(lambda each: (each[:, 0] > threshold).astype(float)), rows, "occlusion", baseline=np.zeros((1, 2))
    )
    np.testing.assert_array_equal(found.values, [[0, 0], [1, 0]])


def test_missing_numbers_reach_the_function():
    rows = np.array([[np.nan, 1.0], [2.0, np.nan]])
    found = assay.explain(
        assay.wrap(lambda each: np.isnan(each) @ [10.0, 1.0]), rows, "exact_shapley", baseline=np.zeros((1, 2))
    )
    np.testing.assert_allclose(found.values, [[10, 0], [0, 1]])


def test_frames_keep_columns_order_and_dtypes():
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame(
        {
            "city": pandas.Categorical(["Bonn", "Rome", "Bonn"], categories=["Rome", "Bonn", "Oslo"]),
            "note": pandas.Series(["x", None, "z"], dtype="string"),
            "count": pandas.Series([1, None, 3], dtype="Int64"),
            "flag": pandas.Series([True, False, None], dtype="boolean"),
            "price": np.array([0.1, 0.2, 0.3]),
            "small": np.array([1, 2, 3], np.int8),
        }
    )

    def score(rows):
        return (
            (rows["city"] == "Bonn").astype(float) * 2
            + rows["note"].isna().astype(float) * 3
            + rows["count"].fillna(7).astype(float)
            + rows["flag"].fillna(False).astype(float) * 5
            + rows["price"] * rows["small"]
        )

    recorder = Recorder(score)
    found = assay.explain(assay.wrap(recorder), frame, "exact_shapley", baseline=frame.iloc[1:2])
    assert recorder.seen
    for each in recorder.seen:
        assert list(each.columns) == list(frame.columns)
        assert list(each.dtypes) == list(frame.dtypes)
    for row in range(3):

        def value_of(coalition, row=row):
            mixed = frame.iloc[1:2].copy()
            for player in coalition:
                mixed.isetitem(player, frame.iloc[row : row + 1, player].to_numpy(dtype=object))
            return float(score(mixed.astype(frame.dtypes)).iloc[0])

        np.testing.assert_allclose(found.values[row], shapley_values(value_of, 6), rtol=0, atol=1e-5)


def test_features_choose_and_order_the_columns_of_a_frame():
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"label": [0, 1], "b": [1.0, 2.0], "a": [3.0, 5.0]})
    recorder = Recorder(lambda rows: rows["a"] - rows["b"])
    model = assay.wrap(recorder, features=["a", "b"])
    found = assay.explain(model, frame, "occlusion", baseline=pandas.DataFrame({"b": [0.0], "a": [0.0]}))
    assert {tuple(each.columns) for each in recorder.seen} == {("a", "b")}
    np.testing.assert_allclose(found.values, [[3, -1], [5, -2]])
    with pytest.raises(ValueError, match="'c'"):
        assay.explain(assay.wrap(recorder, features=["a", "c"]), frame, "occlusion", baseline="mean")


def test_gradients_are_refused_with_the_reason():
    with pytest.raises(assay.UnsupportedError, match="linear has none: it is a function that only predicts"):
        assay.explain(assay.wrap(linear), ROWS, "gradient")


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="X"):
        assay.explain(assay.wrap(linear), ROWS[:0], "occlusion", baseline=BASELINE)


def test_large_outputs_that_differ_by_little_are_told():
    """Outputs are kept as float32: what is lost of their differences is said, in part or as a whole."""
    rows = np.random.default_rng(0).normal(size=(5, 3))
    weights = np.array([1, 2, 3.0])

    def explained(offset):
        model = assay.wrap(lambda x: offset + x @ weights)
        return assay.explain(model, rows, "exact_shapley", background=rows)

    assert not explained(100.0).notes
    assert any("outputs are near 1e+06" in note for note in explained(1e6).notes)
    with pytest.warns(UserWarning, match=r"near 1e\+10 and differ by .* which is lost"):
        lost = explained(1e10)
    # Models of the engine have no doubles to compare with: a large constant is all that shows.
    assert any("outputs are near 1e+10 and all equal to the base value" in note for note in lost.notes)
