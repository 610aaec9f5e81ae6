"""Attributions made elsewhere: arrays, tables and what looks like a shap.Explanation."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import assay
from assay import _interop

VALUES = np.array([[1.0, -2.0], [3.0, 4.0], [0.5, 0.25]])


def from_array(values=VALUES, **more):
    return assay.Explanations.from_array(values, **more)


class ShapLike:
    """Has what a shap.Explanation has."""

    def __init__(self, values, base_values=None, data=None, feature_names=None, output_names=None):
        self.values, self.base_values, self.data = values, base_values, data
        self.feature_names, self.output_names = feature_names, output_names


class TensorLike:
    """Known to NumPy by DLPack alone."""

    def __init__(self, values):
        self.held = values

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        VALUES.astype(np.float16),
        VALUES.astype(">f8"),
        np.asfortranarray(VALUES),
        VALUES[:, ::-1][:, ::-1],
        VALUES.tolist(),
        tuple(map(tuple, VALUES.tolist())),
        (VALUES,),
        TensorLike(VALUES),
        np.ma.masked_array(VALUES, mask=False),
    ],
    ids=["float64", "float16", "big endian", "fortran", "strides", "list", "tuple", "captum", "dlpack", "masked"],
)
def test_every_array_is_the_same(values):
    made = from_array(values)
    np.testing.assert_array_equal(made.values, VALUES.astype(np.float32))
    assert made.features == ["0", "1"] and made.values.flags.c_contiguous


def test_whole_numbers_and_undefined_values():
    assert from_array([[True, False]]).values.tolist() == [[1, 0]]
    assert from_array(np.array([[2**31 - 1]], dtype=np.int64)).values[0, 0] == np.float32(2**31 - 1)
    masked = np.ma.masked_array(VALUES, mask=[[True, False]] * 3)
    assert np.isnan(from_array(masked).values[:, 0]).all()
    assert np.isnan(from_array([[np.nan]]).values).all()


def test_images_are_flattened_and_remember_their_shape():
    images = np.arange(2 * 3 * 4 * 5, dtype=np.float64).reshape(2, 3, 4, 5)
    made = from_array(images, data=images + 1, standard_error=images)
    assert made.shape == (2, 60) and made.item_shape == (3, 4, 5)
    np.testing.assert_array_equal(made.values.reshape(images.shape), images)
    np.testing.assert_array_equal(made.standard_error.reshape(images.shape), images)
    np.testing.assert_array_equal(made[1].data, (images + 1)[1:].reshape(1, 60))
    assert made[1].item_shape == (3, 4, 5)


def test_what_is_known_beside_the_values():
    made = from_array(
        features=["a", "b"],
        base=0.5,
        output=[-0.5, 7.5, 1],
        target=["no", "yes", "no"],
        target_names=["yes", "maybe", "no"],
        ids=[7, 8, 9],
        unit="margin",
        model="m",
        notes=["n"],
        method="theirs",
    )
    # output - base - sum of values
    np.testing.assert_allclose(made.gap, [-0.5 - 0.5 + 1, 7.5 - 0.5 - 7, 1 - 0.5 - 0.75])
    assert made.target_index.tolist() == [2, 0, 2] and made.target.tolist() == ["no", "yes", "no"]
    assert made.ids == ["7", "8", "9"] and made.unit == "margin" and made.provenance["model"] == "m"
    # Nothing here can make them again, so they have no method; who made them is a note.
    assert made.method == "" and made.notes == ["n", "made elsewhere by theirs"]


@pytest.mark.parametrize(
    ("target", "names", "index", "known"),
    [
        (1, None, [1, 1, 1], ["0", "1"]),
        ([0, 2, 1], None, [0, 2, 1], ["0", "1", "2"]),
        (np.int64(1), ["a", "b"], [1, 1, 1], ["a", "b"]),
        ("b", ["a", "b"], [1, 1, 1], ["a", "b"]),
        ("b", None, [0, 0, 0], ["b"]),
        (np.array(["b", "a", "b"]), None, [0, 1, 0], ["b", "a"]),
        (None, ["a"], [0, 0, 0], ["a"]),
    ],
)
def test_targets_by_name_or_number(target, names, index, known):
    made = from_array(target=target, target_names=names)
    assert made.target_index.tolist() == index and made.target_names == known


INFINITE = np.array([[1.0, 2.0], [3.0, -np.inf]])


@pytest.mark.parametrize(
    ("values", "more", "words"),
    [
        (np.zeros(3), {}, r"values: expected rows x features, .* \(3,\); values.reshape\(1, -1\) is one row"),
        (5.0, {}, r"values: expected rows x features"),
        (np.zeros((0, 3)), {}, r"values: expected rows x features, at least one of each, found the shape \(0, 3\)"),
        (np.zeros((3, 0)), {}, "at least one of each"),
        ([["a", "b"]], {}, "values: expected numbers of at most 64 bits, found dtype <U1"),
        (np.zeros((2, 2), complex), {}, "found dtype complex128"),
        (np.array([[None]]), {}, "found dtype object"),
        ([[1.0], [1.0, 2.0]], {}, "values: expected rows of equal length"),
        (INFINITE, {"features": ["a", "b"]}, r"values, row 1 \(counted from 0\), column 'b': expected a finite"),
        (np.array([[1e300]]), {}, r"values, row 0 .*: expected a number within the range of float32, found 1e\+300"),
        ((VALUES, VALUES), {}, "values: expected one array of rows x features, found a tuple of 2"),
        (VALUES, {"features": ["a"]}, "features: expected 2 names, one for each feature, found 1"),
        (VALUES, {"features": "ab"}, "features: expected 2 names, one for each feature, found one text"),
        (VALUES, {"features": ["a", "a"]}, "features: expected different names, found 'a' twice"),
        (VALUES, {"features": ["a", "\ud800"]}, "features: expected text of whole characters"),
        (VALUES, {"base": [1, 2]}, r"base: expected one number, or 3, one for each row, found the shape \(2,\)"),
        (VALUES, {"base": "x"}, "base: "),
        (VALUES, {"output": [1, np.inf, 2]}, r"output, row 1 \(counted from 0\): expected a finite number or NaN"),
        (VALUES, {"standard_error": np.zeros((3, 3))}, r"standard_error: expected the shape of the values, \(3, 2\)"),
        (VALUES, {"standard_error": -VALUES}, r"standard_error, row 0 .* column '0': expected 0 or more"),
        (VALUES, {"ids": ["a"]}, "ids: expected 3 names, one for each row, found 1"),
        (VALUES, {"data": np.zeros((2, 2))}, r"data: expected 3 rows, one for each of the values"),
        (VALUES, {"target": [1, 2]}, r"target: expected one, or 3, one for each row"),
        (VALUES, {"target": -1}, r"target, row 0 .*: expected a number from 0 to"),
        (VALUES, {"target": 2, "target_names": ["a", "b"]}, "expected a number from 0 to 1, found 2"),
        (VALUES, {"target": 10**9}, "expected a number from 0 to 999999"),
        (VALUES, {"target": 0.5}, "target: expected names or whole numbers, found dtype float64"),
        (VALUES, {"target": True}, "target: expected names or whole numbers, found dtype bool"),
        (
            VALUES,
            {"target": ["a", "b", "c"], "target_names": ["a", "b"]},
            "row 2 .*: expected one of 'a', 'b', found 'c'",
        ),
        (VALUES, {"target_names": ["a", "b"]}, "target: expected which of 2 target_names"),
        (VALUES, {"unit": "logit"}, "unit: expected margin, probability, .* found 'logit'"),
        (VALUES, {"method": None}, "method: expected text, found NoneType"),
        (VALUES, {"method": "\udcff"}, "method: expected text of whole characters"),
        (VALUES, {"model": "\udcff"}, "model: expected text of whole characters"),
        (VALUES, {"target": "\udcff"}, "target: expected text of whole characters"),
        (VALUES, {"notes": ["\udcff"]}, "notes: expected text of whole characters"),
        (VALUES, {"notes": [5]}, "notes: expected text, found int"),
        (VALUES, {"notes": 5}, "notes: expected a list of texts, found 5"),
        (VALUES, {"notes": "one"}, "notes: expected a list of texts, found 'one'"),
    ],
)
def test_wrong_arguments_are_named(values, more, words):
    with pytest.raises(ValueError, match=words):
        from_array(values, **more)


def test_unknown_arguments_are_type_errors():
    with pytest.raises(TypeError, match="feature_names"):
        from_array(feature_names=["a", "b"])


def test_data_frames():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    index = pandas.Index([3, 1, 2], name="patient")
    made = from_array(pandas.DataFrame(VALUES, columns=["a", 5], index=index))
    assert made.features == ["a", "5"] and made.ids == ["3", "1", "2"] and made.to_pandas().index.name == "patient"
    np.testing.assert_array_equal(made.values, VALUES)
    assert from_array(pandas.DataFrame(VALUES)).ids is None
    assert from_array(pandas.DataFrame(VALUES, index=index), ids=["x", "y", "z"]).ids == ["x", "y", "z"]
    nullable = pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64"), "b": [True, False]})
    np.testing.assert_array_equal(from_array(nullable).values, [[1, 1], [np.nan, 0]])
    for column, words in (
        (["x"], "values, column 'c': expected numbers"),
        (pandas.to_datetime(["2020-01-01"]), "values, column 'c': expected numbers"),
        ([np.inf], r"values, row 0 \(counted from 0\), column 'c'"),
    ):
        with pytest.raises(ValueError, match=words):
            from_array(pandas.DataFrame({"b": [1.0], "c": column}))
    with pytest.raises(ValueError, match="found 'a' twice"):
        from_array(pandas.DataFrame(VALUES, columns=["a", "a"]))


def test_arrow_tables():
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made = from_array(arrow.table({"a": [1.0, None], "b": arrow.array([2, 3], arrow.int8())}))
    assert made.features == ["a", "b"] and made.ids is None
    np.testing.assert_array_equal(made.values, [[1, 2], [np.nan, 3]])


def test_shap_of_one_output():
    made = assay.Explanations.from_shap(ShapLike(VALUES, np.float64(0.5), VALUES + 1, ["a", "b"], "yes"))
    np.testing.assert_array_equal(made.values, VALUES)
    np.testing.assert_array_equal(made.data, VALUES + 1)
    assert made.base.tolist() == [0.5] * 3 and made.features == ["a", "b"] and made.target.tolist() == ["yes"] * 3
    each = assay.Explanations.from_shap(ShapLike(VALUES, np.array([[1.0], [2.0], [3.0]])), output=1)
    assert each.base.tolist() == [1, 2, 3] and each.target_index.tolist() == [1, 1, 1] and each.data is None
    row = assay.Explanations.from_shap(ShapLike(VALUES[1], np.float64(0.5), VALUES[1], ["a", "b"]))
    assert row.shape == (1, 2) and row.base.tolist() == [0.5] and row.data.tolist() == [[3, 4]]


def test_shap_of_several_outputs():
    values = np.stack([VALUES, VALUES * 10, VALUES * 100], axis=-1)
    base = np.array([[1.0, 2.0, 3.0]] * 3)
    known = ShapLike(values, base, VALUES, ["a", "b"], ["x", "y", "z"])
    for output, number in ((1, 1), ("y", 1), ("z", 2), (np.int64(0), 0)):
        made = assay.Explanations.from_shap(known, output=output)
        np.testing.assert_array_equal(made.values, VALUES.astype(np.float32) * np.float32(10**number))
        assert made.base.tolist() == [number + 1.0] * 3
        assert made.target_index.tolist() == [number] * 3 and made.target_names == ["x", "y", "z"]
    with pytest.raises(
        ValueError, match=r"output: expected one of 'x', 'y', 'z', or a number from 0 to 2, because exp"
    ):
        assay.Explanations.from_shap(known)
    for wrong in ("w", 3, -1, True, 0.5):
        with pytest.raises(ValueError, match="output: expected one of 'x', 'y', 'z', or a number from 0 to 2, found"):
            assay.Explanations.from_shap(known, output=wrong)
    # As older versions have it: a list of arrays, one base for each output.
    listed = assay.Explanations.from_shap([values[..., k] for k in range(3)], output=2)
    np.testing.assert_array_equal(listed.values, VALUES * 100)
    by_output = assay.Explanations.from_shap(ShapLike(values, base[0], VALUES), output=2)
    assert by_output.base.tolist() == [3.0] * 3
    # One row: features x outputs.
    row = assay.Explanations.from_shap(ShapLike(values[1], base[1], VALUES[1], ["a", "b"]), output=1)
    assert row.values.tolist() == [[30, 40]] and row.base.tolist() == [2.0]
    single = assay.Explanations.from_shap(ShapLike(values[..., :1], base[:, :1], VALUES))
    np.testing.assert_array_equal(single.values, VALUES)
    with pytest.raises(ValueError, match=r"one shape, found \(3, 2\), \(2, 2\)"):
        assay.Explanations.from_shap([VALUES, VALUES[:2]], output=0)
    with pytest.raises(ValueError, match="already"):
        assay.Explanations.from_shap(made)


def test_names_that_shap_invents_are_numbers():
    values = np.stack([VALUES, VALUES * 2], axis=-1)
    known = ShapLike(values, None, VALUES, ["a", "b"], ["Output 0", "Output 1"])
    assert assay.Explanations.from_shap(known, output=1).target_names == ["0", "1"]
    sliced = assay.Explanations.from_shap(ShapLike(VALUES, None, VALUES, None, "Output 1"))
    assert sliced.target_index.tolist() == [1, 1, 1] and sliced.target_names == ["0", "1"]


def test_shap_images():
    images = np.arange(24.0).reshape(2, 3, 4)
    made = assay.Explanations.from_shap(ShapLike(images, None, images))
    assert made.item_shape == (3, 4) and made.shape == (2, 12)
    several = np.stack([images, -images], axis=-1)
    made = assay.Explanations.from_shap(ShapLike(several, None, images), output=1)
    np.testing.assert_array_equal(made.values, -images.reshape(2, 12))


def test_targets_by_number_get_the_names_of_a_model():
    numbered = from_array(target=[0, 2, 1], base=1, ids=["x", "y", "z"], data=VALUES, notes=["n"])
    named = _interop.with_target_names(numbered, ["a", "b", "c"])
    assert named.target.tolist() == ["a", "c", "b"] and named.ids == numbered.ids and named.notes == ["n"]
    np.testing.assert_array_equal(named.values, numbered.values)
    np.testing.assert_array_equal(named.base, numbered.base)
    assert named.data is not None
    assert _interop.with_target_names(named, ["d", "e", "f"]) is named
    assert _interop.with_target_names(numbered, ["0", "1", "2"]) is numbered
    unknown = from_array()
    assert _interop.with_target_names(unknown, ["a"]) is unknown
    with pytest.raises(ValueError, match="target: expected a number from 0 to 1, found 2"):
        _interop.with_target_names(numbered, ["a", "b"])


def test_what_can_be_evaluated_and_aggregated():
    made = from_array()
    assert _interop.as_explanations(made, "members") is made
    np.testing.assert_array_equal(_interop.as_explanations(ShapLike(VALUES), "members").values, VALUES)
    np.testing.assert_array_equal(_interop.as_explanations(VALUES.tolist(), "members").values, VALUES)
    for wrong in (None, {}, 3, "e.npz", b"e", SimpleNamespace(), print, [1, 2], [["a"]], object()):
        with pytest.raises(ValueError, match=r"^members\[1\]"):
            _interop.as_explanations(wrong, "members[1]")
    with pytest.raises(ValueError, match=r"Explanations\.load"):
        assay.evaluate("e.npz", "complexity")


def test_scores_of_attributions_made_elsewhere():
    # Entropies of (1, 2) / 3, (3, 4) / 7 and (2, 1) / 3.
    halves = [np.array([1, 2]) / 3, np.array([3, 4]) / 7, np.array([2, 1]) / 3]
    expected = [-(share * np.log(share)).sum() for share in halves]
    for given in (VALUES, ShapLike(VALUES), VALUES.tolist()):
        scores = assay.evaluate(given, "complexity")["complexity"]
        np.testing.assert_allclose(scores.values, expected, rtol=1e-6)


def test_targets_by_number_are_those_of_the_model():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    model = assay.train(train)
    own = assay.explain(model, test, "occlusion", pool=train, target="versicolor")
    known = assay.evaluate(own, "faithfulness")["faithfulness"].values
    for made in (from_array(own.values, target=1), assay.Explanations.from_shap([-own.values, own.values], output=1)):
        scored = assay.evaluate(made, "faithfulness", model=model, X=test, pool=train)
        np.testing.assert_array_equal(scored["faithfulness"].values, known)
        assert set(scored.explanations.target) == {"versicolor"}
    with pytest.raises(ValueError, match="target"):
        assay.evaluate(from_array(own.values, target=3), "faithfulness", model=model, X=test, pool=train)


def test_without_shap_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"as_shap\(\) needs shap: pip install assay-xai\[shap\]"):
        from_array().as_shap()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_pandas\(\) needs pandas: pip install assay-xai\[pandas\]"):
        from_array().to_pandas()


def test_a_broken_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "shap.py").write_text("import a_module_that_is_not_there")
    monkeypatch.delitem(sys.modules, "shap", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="a_module_that_is_not_there"):
        from_array().as_shap()


def test_as_shap_hands_over_what_shap_knows(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(Explanation=lambda values, **more: (values, more)))
    values, more = from_array(features=["a", "b"], base=0.5, target="yes", data=VALUES).as_shap()
    np.testing.assert_array_equal(values, VALUES)
    assert values.flags.writeable and more["feature_names"] == ["a", "b"] and more["output_names"] == "yes"
    assert more["base_values"].tolist() == [0.5] * 3
    np.testing.assert_array_equal(more["data"], VALUES)
    grouped = from_array(data=np.zeros((3, 5)), target=["a", "b", "a"]).as_shap()[1]
    assert grouped["data"] is None and grouped["base_values"] is None and grouped["output_names"] is None
    image, more = from_array(np.arange(12.0).reshape(1, 3, 4), data=np.zeros((1, 12))).as_shap()
    assert image.shape == more["data"].shape == (1, 3, 4) and more["feature_names"] is None


def test_nothing_optional_is_imported_before_it_is_needed():
    code = (
        "import assay, sys; e = assay.Explanations.from_array([[1.0]]); repr(e), e._repr_html_(); "
        "print(*(sys.modules.keys() & {'pandas', 'pyarrow', 'sklearn', 'torch', 'plotly', 'shap'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ""


def test_values_of_several_outputs_beside_no_output_argument_say_how_to_choose_one():
    several = ShapLike(np.ones((3, 2, 4)), data=np.ones((3, 2)))
    words = r"expected values of one output, as {0}\[\.\.\., 1\] or .* has them; {0} has values for 4 outputs$"
    with pytest.raises(ValueError, match="^explanations: " + words.format("explanations")):
        assay.evaluate(several, "complexity")
    with pytest.raises(ValueError, match=r"^members\[1\]: " + words.format(r"members\[1\]")):
        assay.aggregate([VALUES, several], "mean")


def test_a_first_column_of_row_names_is_no_attribution(tmp_path):
    pandas = pytest.importorskip("pandas")
    values = pandas.DataFrame(np.random.default_rng(0).normal(size=(12, 3)), columns=["a", "b", "c"])
    numbered = values.copy()
    numbered.insert(0, "cust", np.arange(1001, 1013))
    numbered.to_csv(tmp_path / "numbered.csv", index=False)
    found = [assay.Explanations.from_array(numbered), assay.Explanations.load(tmp_path / "numbered.csv")]
    for made in found:
        assert made.features == ["a", "b", "c"] and made.ids == [str(each) for each in range(1001, 1013)]
        assert any("'cust' of whole numbers" in note for note in made.notes)
        np.testing.assert_allclose(made.values, values, rtol=1e-6)
    # Ranks are whole numbers in all columns, and attributions that are whole by chance are not all different.
    ranks = pandas.DataFrame(np.argsort(values, axis=0) + 1.0, columns=values.columns)
    assert assay.Explanations.from_array(ranks).features == ["a", "b", "c"]
    zeros = values.assign(a=0.0)
    assert assay.Explanations.from_array(zeros).features == ["a", "b", "c"]


def test_files_of_pandas_keep_the_names_of_their_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    values = pandas.DataFrame(
        np.random.default_rng(0).normal(size=(3, 2)),
        columns=["a", "b"],
        index=pandas.Index(["c0", "c1", "c2"], name="id"),
    )
    for name, write in (("e.parquet", values.to_parquet), ("e.feather", values.to_feather)):
        write(tmp_path / name)
        made = assay.Explanations.load(tmp_path / name)
        assert (made.features, made.ids) == (["a", "b"], ["c0", "c1", "c2"])
