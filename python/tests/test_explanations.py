"""Explanations: arrays without copies, rows and features in brackets, files, pickles, tables and what people see."""

import copy
import gc
import html.parser
import pickle

import numpy as np
import pytest

import assay

HOSTILE = '<script>alert("x")</script>\x1b[2J\u202e\n'


@pytest.fixture(scope="module")
def iris():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    return assay.train(train), train, test


@pytest.fixture(scope="module")
def sampled(iris):
    """With standard errors: 4 players in sampled orders."""
    model, train, test = iris
    return assay.explain(model, test, "shapley_sampling", pool=train, permutations=6, ids=[f"r{i}" for i in range(30)])


@pytest.fixture(scope="module")
def aggregate(iris, sampled):
    model, train, test = iris
    return assay.aggregate([sampled, assay.explain(model, test, "lime", pool=train)], "mean")


def small(**more):
    values = np.array([[1, -2, 0.5], [3, 4, np.nan]])
    return assay.Explanations.from_array(values, features=["a", "b", "c"], **more)


def test_values_are_the_engines_memory(sampled):
    values = sampled.values
    assert values.shape == (30, 4) == sampled.shape and values.dtype == np.float32
    assert np.shares_memory(values, sampled.values) and np.shares_memory(values, np.asarray(sampled))
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1
    assert sampled.to_numpy().flags.writeable and not np.shares_memory(sampled.to_numpy(), values)


def test_values_outlive_the_explanations():
    expected = np.random.default_rng(0).normal(size=(2000, 50)).astype(np.float32)
    made = assay.Explanations.from_array(expected, base=1.5)
    values, base = made.values, made.base
    del made
    gc.collect()
    others = [assay.Explanations.from_array(np.zeros((2000, 50))) for _ in range(5)]
    assert len(others) == 5
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(base, np.full(2000, 1.5))


def test_array_protocol(sampled):
    assert np.asarray(sampled, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(sampled), sampled.values)
    np.testing.assert_array_equal(np.mean(sampled, axis=0), sampled.values.mean(axis=0))
    if int(np.__version__.split(".")[0]) >= 2:
        assert np.shares_memory(np.asarray(sampled, copy=False), sampled.values)
        with pytest.raises(ValueError, match="copy"):
            np.asarray(sampled, dtype=np.float64, copy=False)


def test_parts_agree(iris, sampled):
    model, _, test = iris
    np.testing.assert_allclose(
        sampled.gap, sampled.output - sampled.base - sampled.values.sum(axis=1, dtype=np.float64), atol=1e-12
    )
    predicted = np.asarray(model.predict(test)).argmax(axis=1)
    np.testing.assert_array_equal(sampled.target_index, predicted)
    assert sampled.target.tolist() == [["setosa", "versicolor", "virginica"][k] for k in predicted]
    assert sampled.features == ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    assert sampled.method == "shapley_sampling" and sampled.unit == "margin"
    assert sampled.provenance["options"]["permutations"] == "6"
    assert sampled.standard_error.shape == (30, 4) and (sampled.standard_error > 0).any()
    assert sampled.data.shape == (30, 4) and sampled.members is None and sampled.weights is None


def test_what_is_not_known_is_none_or_nan():
    made = small()
    assert made.target is None and made.target_index is None and made.target_names == []
    assert made.ids is None and made.data is None and made.standard_error is None and made.background_error is None
    assert np.isnan(made.base).all() and np.isnan(made.output).all() and np.isnan(made.gap).all()
    assert made.method == "" and made.item_shape == ()


@pytest.mark.parametrize(
    "rows",
    [
        slice(2, 5),
        slice(None, None, -7),
        slice(-3, None),
        [1, 4, 4],
        [-1, 0],
        np.array([3, 2], dtype=np.uint8),
        np.arange(30) % 7 == 0,
        [i == 3 for i in range(30)],
        slice(0, 0),
        [],
        np.zeros(30, bool),
    ],
    ids=lambda rows: " ".join(str(rows).split())[:30],
)
def test_rows_as_numpy_takes_them(sampled, rows):
    some = sampled[rows]
    assert isinstance(some, assay.Explanations)
    numbers = np.arange(30)[rows]
    for part in ("values", "base", "output", "gap", "target", "target_index", "data"):
        np.testing.assert_array_equal(getattr(some, part), getattr(sampled, part)[rows])
    if len(numbers):
        np.testing.assert_array_equal(some.standard_error, sampled.standard_error[rows])
        assert some.ids == [f"r{i}" for i in numbers]
    assert len(some) == len(numbers) and some.provenance == sampled.provenance and some.features == sampled.features


@pytest.mark.parametrize("row", [0, 7, -1, np.int64(29)])
def test_one_row_is_explanations_of_one_row(sampled, row):
    one = sampled[row]
    assert one.shape == (1, 4) and one.ids == [f"r{int(row) % 30}"]
    np.testing.assert_array_equal(one.values[0], sampled.values[row])


def test_iteration_is_row_by_row(sampled):
    np.testing.assert_array_equal(np.vstack([row.values for row in sampled]), sampled.values)


def test_rows_of_an_aggregate(aggregate):
    some = aggregate[[3, 1]]
    assert some.members == aggregate.members == ["shapley_sampling", "lime"]
    np.testing.assert_array_equal(some.weights, aggregate.weights[[3, 1]])
    for name, numbers in aggregate.measures.items():
        np.testing.assert_array_equal(some.measures[name], numbers[[3, 1]])


def test_features_and_cells(sampled):
    values = sampled.values
    np.testing.assert_array_equal(sampled["petal_width"], values[:, 3])
    np.testing.assert_array_equal(sampled[:, "sepal_width"], values[:, 1])
    np.testing.assert_array_equal(sampled[5, "sepal_width"], values[5, 1])
    np.testing.assert_array_equal(sampled[2:4, ["petal_width", 0]], values[2:4][:, [3, 0]])
    np.testing.assert_array_equal(sampled[[1, 9], np.array(["petal_width"])], values[[1, 9]][:, [3]])
    np.testing.assert_array_equal(sampled[..., -1], values[:, -1])
    np.testing.assert_array_equal(sampled[[0, 1, 2], 1:3], values[[0, 1, 2]][:, 1:3])


@pytest.mark.parametrize(
    ("key", "kind", "words"),
    [
        (30, IndexError, "row 30: expected one of 30 rows"),
        (-31, IndexError, "row -31"),
        ([2, 44], IndexError, "row 44"),
        ([0.5], IndexError, "rows: expected numbers, a slice or a mask, found 1 dimensions of float64"),
        (None, IndexError, "found NoneType"),
        (True, IndexError, "found bool"),
        ([True] * 29, IndexError, "a mask of 30, one for each row, found one of 29"),
        ([[1], [2]], IndexError, "found 2 dimensions"),
        ([[1], [2, 3]], IndexError, "different lengths"),
        ((0, 0, 0), IndexError, "found 3 indices"),
        ((0, 4), IndexError, "feature 4: expected one of 4 features"),
        ("petal", KeyError, "no feature is named 'petal'; there are 'sepal_length', "),
        ((slice(None), ["petal_width", "x\x1b"]), KeyError, "no feature is named 'x"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_what_is_not_there(sampled, key, kind, words):
    with pytest.raises(kind) as found:
        sampled[key]
    assert words in str(found.value) and "\x1b" not in str(found.value)


def same(a, b):
    """Everything that files keep."""
    for part in ("values", "base", "output", "gap", "target_index", "standard_error", "background_error", "weights"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    for part in ("features", "target_names", "ids", "evaluations", "notes", "provenance", "members", "antecedents"):
        assert getattr(a, part) == getattr(b, part), part
    assert (a.measures is None) == (b.measures is None)
    for name in a.measures or {}:
        np.testing.assert_array_equal(a.measures[name], b.measures[name])


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_copies_keep_all_but_the_subject(iris, sampled, aggregate, again):
    for made in (sampled, aggregate, small(base=[1, 2], target=["x", "y"])):
        same(again(made), made)
    again_made = again(sampled)
    np.testing.assert_array_equal(again_made.data, sampled.data)
    with pytest.raises(ValueError, match="model"):
        assay.evaluate(again_made, "faithfulness")
    model, train, test = iris
    # The same model and rows, said again, give the same scores.
    known = assay.evaluate(sampled, "faithfulness")["faithfulness"].values
    said = assay.evaluate(again_made, "faithfulness", model=model, X=test, pool=train)["faithfulness"].values
    np.testing.assert_array_equal(known, said)


def test_npz_keeps_everything_and_numpy_reads_it(tmp_path, sampled, aggregate):
    for made in (sampled, aggregate):
        made.save(tmp_path / "e.npz")
        same(assay.Explanations.load(tmp_path / "e.npz"), made)
    sampled.save(str(tmp_path / "e.npz"))
    with np.load(tmp_path / "e.npz") as arrays:
        np.testing.assert_array_equal(arrays["values"], sampled.values)
        np.testing.assert_array_equal(arrays["stderr"], sampled.standard_error)
        assert arrays["features"].tolist() == sampled.features


@pytest.mark.parametrize("extension", ["csv", "tsv", "json"])
def test_other_files_keep_the_values(tmp_path, sampled, extension):
    path = tmp_path / f"e.{extension}"
    sampled.save(path)
    read = assay.Explanations.load(path)
    np.testing.assert_array_equal(read.values, sampled.values)
    np.testing.assert_array_equal(read.standard_error, sampled.standard_error)
    assert read.features == sampled.features and read.ids == sampled.ids
    assert read.target.tolist() == sampled.target.tolist()


def test_files_that_cannot_be(tmp_path, sampled):
    with pytest.raises(ValueError, match="ends in"):
        sampled.save(tmp_path / "e.xyz")
    for extension in ("npz", "csv", "json", "parquet"):
        with pytest.raises(FileNotFoundError, match=f"nothing.{extension}"):
            assay.Explanations.load(tmp_path / f"nothing.{extension}")
        with pytest.raises(FileNotFoundError, match="missing"):
            sampled.save(tmp_path / "missing" / f"e.{extension}")
    (tmp_path / "file").write_text("")
    for use in (sampled.save, assay.Explanations.load):
        with pytest.raises(NotADirectoryError, match="file"):
            use(tmp_path / "file" / "e.npz")
    for name in ("-", "", b"e.npz"):
        for use in (sampled.save, assay.Explanations.load):
            with pytest.raises(ValueError, match="path: expected the name of a file, found "):
                use(name)
    with pytest.raises(TypeError, match=r"^path: expected the name of a file, found None$"):
        sampled.save(None)
    with pytest.raises(ValueError, match="one row or more"):
        sampled[[]].save(tmp_path / "e.npz")
    with pytest.raises(ValueError, match="one row or more"):
        pickle.dumps(sampled[0:0])
    assert not (tmp_path / "e.npz").exists()


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"features": ["", "b", "c"]}, "features: expected .* found ''"),
        ({"features": ["a\0", "b", "c"]}, r"features: expected .* found 'a\\x00'"),
        ({"ids": ["a\0", "b"]}, r"ids: expected .* found 'a\\x00'"),
        ({"target": ["", "b"]}, "target names: expected .* found ''"),
    ],
)
def test_tables_that_could_not_be_read_again_are_not_written(tmp_path, more, message, extension):
    made = assay.Explanations.from_array(np.ones((2, 3)), **more)
    with pytest.raises(ValueError, match=f"^{message}"):
        made.save(tmp_path / f"e.{extension}")
    assert list(tmp_path.iterdir()) == []
    made.save(tmp_path / "e.json")
    read = assay.Explanations.load(tmp_path / "e.json")
    assert (read.features, read.ids) == (made.features, made.ids)


def test_to_pandas(sampled):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = sampled.to_pandas()
    assert list(frame.columns) == sampled.features and list(frame.index) == sampled.ids
    np.testing.assert_array_equal(frame.to_numpy(), sampled.values)
    wide = sampled.to_pandas(errors=True)
    np.testing.assert_array_equal(wide["petal_width (stderr)"], sampled.standard_error[:, 3])
    assert wide.shape == (30, 8)
    plain = small().to_pandas(errors=True)
    assert isinstance(plain.index, pandas.RangeIndex) and plain["a (stderr)"].isna().all()
    # And back: columns are features, a named index the ids.
    back = assay.Explanations.from_array(frame)
    np.testing.assert_array_equal(back.values, sampled.values)
    assert back.features == sampled.features and back.ids == sampled.ids


def test_importance_is_the_mean_absolute_value(sampled):
    expected = np.abs(sampled.values.astype(np.float64)).mean(axis=0)
    found = sampled.importance()
    assert list(found) == [sampled.features[j] for j in np.argsort(-expected)]
    np.testing.assert_allclose([found[name] for name in sampled.features], expected, rtol=1e-12)
    # |1|, |3|; |-2|, |4|; 0.5 alone, the other is undefined.
    assert small().importance() == {"b": 3.0, "a": 2.0, "c": 0.5}
    undefined = assay.Explanations.from_array([[np.nan, 1.0]]).importance()
    assert list(undefined) == ["1", "0"] and np.isnan(undefined["0"])


def test_repr_of_a_small_one():
    made = small(base=1, output=[0.5, 8], target=["yes", "no"], ids=["x", "y"], unit="margin", model="m.onnx")
    assert repr(made).splitlines() == [
        "attributions of m.onnx made elsewhere: 2 rows x 3 features, margin of each row's own target",
        "id  target  output  base  a   b    c",
        "x   yes        0.5     1  1  -2  0.5",
        "y   no           8     1  3   4    -",
        "largest gap 0",
    ]
    assert str(made) == repr(made)


def test_repr_shows_the_strongest_features_where_not_all_fit(sampled):
    values = np.zeros((12, 500))
    values[:, 321] = 7
    values[:, 4] = -2
    lines = repr(assay.Explanations.from_array(values)).splitlines()
    assert lines[0] == "attributions made elsewhere: 12 rows x 500 features"
    assert lines[1].split()[:3] == ["row", "321", "4"] and lines[1].endswith("...")
    assert lines[2].split()[:3] == ["0", "7", "-2"] and len(lines[2]) <= 100
    assert lines[12] == "... 2 more rows" and lines[13].endswith("more features of smaller mean absolute value")
    shown = repr(sampled)
    assert shown.startswith("shapley_sampling of ") and "margin of the predicted class, reference mean of iris" in shown
    assert "largest gap" in shown and "largest standard error" in shown


class Cells(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


def test_html(sampled):
    cells = Cells(sampled._repr_html_())
    assert cells.tags.count("tr") == 11 and cells.tags.count("td") == 10 * 8 and cells.tags.count("th") == 8
    wide = Cells(assay.Explanations.from_array(np.ones((3, 40)))._repr_html_())
    assert wide.tags.count("th") == 1 + 12 and wide.tags.count("td") == 3 * 13
    assert Cells(sampled[[]]._repr_html_()).tags.count("td") == 0
    # The largest value has the full bar, half of it half a bar, NaN and 0 none.
    bars = assay.Explanations.from_array([[2.0, -1.0, np.nan, 0.0]])._repr_html_()
    assert bars.count("linear-gradient") == 2 and " 100%" in bars and " 50%" in bars


def test_hostile_names_are_harmless():
    words = {"target": HOSTILE, "model": HOSTILE, "method": HOSTILE, "notes": [HOSTILE]}
    made = assay.Explanations.from_array([[1.0]], features=[HOSTILE], ids=[HOSTILE], **words)
    for text in (repr(made), made._repr_html_()):
        assert not {"\x1b", "\u202e"} & set(text)
    assert len(repr(made).splitlines()) == 5
    cells = Cells(made._repr_html_())
    assert set(cells.tags) <= {"div", "strong", "small", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(cells.attributes) == {"style"} and "<script>" in cells.text
    assert made[HOSTILE].tolist() == [1]


def test_they_are_not_made_by_hand():
    with pytest.raises(TypeError, match=r"Explanations\.from_array"):
        assay.Explanations()
