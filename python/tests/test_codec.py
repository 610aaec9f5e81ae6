"""Cells of frames and arrays go to float32 and come back as they were."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay._codec import ArrayCodec, FrameCodec, PoolCentre, codec_for
from assay._images import NumberImages, strictly_increasing

pd = pytest.importorskip("pandas", reason="frames need pandas")

# The same cases in every run, however slow the machine is.
cases = settings(max_examples=60, deadline=None, derandomize=True)

LARGEST = float(np.finfo(np.float32).max)
doubles = st.floats(-LARGEST, LARGEST)
longs = st.integers(-(2**63), 2**63 - 1)


def there_and_back(frame: Any, *others: Any) -> FrameCodec:
    codec = FrameCodec.fit([("X", frame), *(("pool", other) for other in others)])
    rows = codec.encode("X", frame)
    assert rows.dtype == np.float32
    back = codec.decode(rows)
    pd.testing.assert_frame_equal(back, frame.reset_index(drop=True), check_exact=True)
    for column in frame.columns:
        assert back[column].dtype == frame[column].dtype
    return codec


@st.composite
def crowded(draw: Any) -> list[float]:
    """Doubles, many of them neighbours of each other, that float32 cannot tell apart."""
    out = []
    for start in draw(st.lists(doubles | st.sampled_from([0.0, -0.0, 1.0, LARGEST, -LARGEST, 1e-45, 5e-324]))):
        out.append(start)
        for _ in range(draw(st.integers(0, 6))):
            out.append(float(np.nextafter(out[-1], draw(st.sampled_from([-1, 1])) * np.inf)))
    return [value for value in out if abs(value) <= LARGEST]


@cases
@given(crowded())
def test_images_increase_strictly_and_keep_signs(values: list[float]) -> None:
    originals = np.unique(np.array(values))
    images = strictly_increasing(originals)
    assert np.all(np.diff(images.astype(np.float64)) > 0)
    assert np.all(np.isfinite(images))
    assert np.array_equal(np.sign(images), np.sign(originals))


@cases
@given(crowded())
def test_uncrowded_images_are_the_nearest(values: list[float]) -> None:
    nearest = np.unique(np.array(values).astype(np.float32))
    # One double for each float32, a little off it.
    originals = nearest.astype(np.float64) * (1 - 2.0**-30)
    originals = originals[originals.astype(np.float32) == nearest]
    assert np.array_equal(strictly_increasing(originals), originals.astype(np.float32))


def test_crowded_images_stay_within_half_the_crowd() -> None:
    # 101 doubles around 1, all nearest to 1.0f: the images are the 50 float32 numbers on each side, and 1 itself.
    ulps = np.arange(-50, 51)
    originals = 1 + ulps * 2.0**-52
    images = strictly_increasing(originals)
    assert np.array_equal(images.view(np.int32) - np.float32(1).view(np.int32), ulps)


@cases
@given(crowded().filter(len))
def test_doubles_come_back_bit_for_bit(values: list[float]) -> None:
    originals = np.array(values)
    images = NumberImages([originals], np.dtype(np.float64))
    back = images.decode(images.encode(originals))
    assert np.array_equal(back.view(np.int64), originals.view(np.int64))


@cases
@given(st.lists(longs | st.integers(2**53, 2**53 + 8), min_size=1))
def test_long_integers_come_back(values: list[int]) -> None:
    originals = np.array(values, np.int64)
    images = NumberImages([originals], np.dtype(np.int64))
    assert np.array_equal(images.decode(images.encode(originals)), originals)


def test_images_that_share_a_slot_are_found() -> None:
    # Far more numbers than the look-up table has slots free of a second one.
    originals = np.random.default_rng(1).normal(size=300_000)
    images = NumberImages([originals], np.dtype(np.float64))
    assert np.array_equal(images.decode(images.encode(originals)), originals)


@cases
@given(arrays.arrays(np.float32, 12, elements=st.floats(width=32, allow_infinity=False)))
def test_unseen_cells_are_widened(rows: Any) -> None:
    images = NumberImages([np.array([0.1, 0.2])], np.dtype(np.float64))
    seen = np.isin(rows, np.array([0.1, 0.2], np.float32))
    assert np.array_equal(images.decode(rows)[~seen], rows[~seen].astype(np.float64), equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "rows", "expected"),
    [
        ("int8", [1.4, 1.6, -300, 300], [1, 2, -128, 127]),
        ("uint16", [-1, 2.5, 70000], [0, 2, 65535]),
        ("int32", [3e9, -3e9], [2**31 - 1, -(2**31)]),
        ("int64", [1e19, -1e19], [2**63 - 1024, -(2**63)]),
        ("uint64", [1e20, -1], [2**64 - 2048, 0]),
    ],
)
def test_unseen_cells_of_whole_numbers_are_rounded_into_range(dtype: str, rows: list[float], expected: Any) -> None:
    codec = FrameCodec.fit([("X", pd.DataFrame({"n": np.array([1], dtype)}))])
    back = codec.decode(np.array(rows, np.float32)[:, np.newaxis])
    assert back["n"].dtype == dtype
    assert back["n"].tolist() == expected


cells: dict[str, Any] = {
    "float64": doubles | st.just(np.nan),
    "float32": st.floats(-LARGEST, LARGEST, width=32) | st.just(np.nan),
    "int64": longs,
    "uint64": st.integers(0, 2**64 - 1),
    "int8": st.integers(-128, 127),
    "bool": st.booleans(),
    "Int64": longs | st.just(None),
    "UInt8": st.integers(0, 255) | st.just(None),
    "Float64": doubles | st.just(None),
    "boolean": st.booleans() | st.just(None),
    "str": st.text(st.characters(exclude_categories=["Cs"])) | st.just(None),
    "string": st.text(st.characters(exclude_categories=["Cs"])) | st.just(None),
    "object": st.text(st.characters(exclude_categories=["Cs"])) | st.just(None),
    "category": st.sampled_from(["b", "a", "ü", "1"]) | st.just(None),
    "int64[pyarrow]": longs | st.just(None),
    "double[pyarrow]": doubles | st.just(None),
    "bool[pyarrow]": st.booleans() | st.just(None),
    "string[pyarrow]": st.text(st.characters(exclude_categories=["Cs"])) | st.just(None),
    "dictionary[pyarrow]": st.sampled_from(["b", "a", "ü", "1"]) | st.just(None),
}


def dtype_of(word: str) -> Any:
    if "pyarrow" not in word:
        return word
    arrow = pytest.importorskip("pyarrow", reason="dtypes of pyarrow need it")
    return pd.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.string())) if word.startswith("dictionary") else word


@pytest.mark.parametrize("dtype", cells)
@cases
@given(data=st.data())
def test_every_dtype_comes_back(dtype: str, data: Any) -> None:
    values = data.draw(st.lists(cells[dtype], min_size=1, max_size=30))
    there_and_back(pd.DataFrame({"column": pd.Series(values, dtype=dtype_of(dtype))}))


@cases
@given(st.data())
def test_frames_of_all_dtypes_come_back_with_their_columns(data: Any) -> None:
    rows = data.draw(st.integers(1, 8))
    dtypes = data.draw(st.lists(st.sampled_from([each for each in cells if "pyarrow" not in each]), min_size=1))
    columns = {
        j: pd.Series(data.draw(st.lists(cells[dtype], min_size=rows, max_size=rows)), dtype=dtype)
        for j, dtype in enumerate(dtypes)
    }
    frame = pd.DataFrame(columns)
    frame.index = [f"row {i}" for i in range(rows)]
    codec = there_and_back(frame)
    assert codec.names == [str(j) for j in columns]
    # Objects that are all missing say nothing; they are numbers.
    numbers = [each.dtype.kind in "fiu" or (each.dtype == object and each.isna().all()) for each in columns.values()]
    assert [kind is None for kind in codec.kinds] == numbers


def test_an_ordered_category_keeps_its_dtype_and_unused_levels() -> None:
    dtype = pd.CategoricalDtype(["low", "high", "unused"], ordered=True)
    frame = pd.DataFrame({"c": pd.Categorical(["high", None, "low"], dtype=dtype)})
    codec = there_and_back(frame)
    assert codec.kinds == [["low", "high", "unused"]]
    assert np.array_equal(codec.encode("X", frame), np.array([[1], [np.nan], [0]], np.float32), equal_nan=True)
    assert codec.decode(codec.encode("X", frame))["c"].dtype == dtype


def test_new_levels_of_a_category_keep_its_order() -> None:
    x = pd.DataFrame({"c": pd.Categorical(["high"], ["low", "high"], ordered=True)})
    pool = pd.DataFrame({"c": pd.Categorical(["top"], ["top", "unused"])})
    codec = there_and_back(x, pool[:0])
    codec = FrameCodec.fit([("X", x), ("pool", pool)])
    dtype = codec.decode(codec.encode("pool", pool))["c"].dtype
    assert dtype.categories.tolist() == ["low", "high", "top"] and dtype.ordered


def test_categories_of_numbers_and_equal_texts() -> None:
    codec = there_and_back(pd.DataFrame({"c": pd.Categorical([3, 1, 2]), "o": pd.Series([1, "1", "x"], dtype=object)}))
    assert codec.kinds == [["1", "2", "3"], ["1 (int)", "1 (str)", "x (str)"]]


def test_equal_objects_of_other_types_are_others() -> None:
    given = [1, 1.0, True, "1", None, np.float64(1), 0, False, "x"]
    frame = pd.DataFrame({"o": pd.Series(given, dtype=object)})
    codec = FrameCodec.fit([("X", frame)])
    back = codec.decode(codec.encode("X", frame))["o"].tolist()
    kinds = [type(value) for value in given]
    kinds[5] = float  # NumPy's scalars are Python's
    assert [type(value) for value in back] == kinds and back == given
    # What was never seen with its type is what it equals; categories cannot be told apart so.
    assert codec.decode(codec.encode("X", pd.DataFrame({"o": [0.0]})))["o"].tolist() == [0]
    codec = FrameCodec.fit(
        [("X", pd.DataFrame({"c": pd.Categorical([1, 2])})), ("pool", pd.DataFrame({"c": [2.0, 1.0]}))]
    )
    assert codec.kinds == [["1", "2"]]


def test_cells_of_a_dictionary_of_other_types_are_named() -> None:
    arrow = pytest.importorskip("pyarrow", reason="dtypes of pyarrow need it")
    dtype = pd.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.int64()))
    x = pd.DataFrame({"c": pd.Series([1, 2], dtype=dtype)})
    there_and_back(x)
    with pytest.raises(ValueError, match=r"^X, column 'c': expected cells of dictionary<.* in every table, found "):
        FrameCodec.fit([("X", x), ("pool", pd.DataFrame({"c": ["a"]}))])


def test_half_characters_of_levels_are_named() -> None:
    x = pd.DataFrame({"t": pd.Series(["a", "b\udc80"], dtype=object)})
    with pytest.raises(ValueError, match=r"^X, column 't': expected texts of whole characters, found 'b\\udc80'$"):
        FrameCodec.fit([("X", x)])


def test_the_mean_of_the_pool_is_learnt_from_its_cells() -> None:
    rng = np.random.default_rng(3)
    far = 2**60 + rng.integers(0, 1000, 400)
    pool = pd.DataFrame(
        {
            "p": 101325 + rng.exponential(5, 400),
            "i": far,
            "gaps": pd.Series(far).astype("Int64").mask(rng.random(400) < 0.3),
            "none": np.full(400, np.nan),
            "exact": np.arange(400.0),
            "whole": np.arange(400),
            "c": pd.Categorical(["low", "high", "high", "low"] * 100, ["low", "high", "unused"]),
            "t": ["b", "a", "b", "b"] * 100,
        }
    )
    mean = PoolCentre("pool")
    codec = codec_for([("X", pool[:2]), ("pool", pool), ("baseline", mean)])
    row = codec.decode(codec.encode("mean of pool", mean))
    assert row["p"][0] == pool["p"].mean()
    assert row["i"][0] == round(Fraction(sum(far.tolist()), 400)) and row["i"].dtype == np.int64
    there = pool["gaps"].dropna().tolist()
    assert row["gaps"][0] == round(Fraction(sum(there), len(there)))
    assert np.isnan(row["none"][0])
    assert row["exact"][0] == 199.5
    assert mean.row is not None and mean.row[0, 5] == 199.5  # as the engine has it; the model sees whole numbers
    assert row["c"][0] == "low" and row["t"][0] == "b"
    # X and every other table come back as before.
    pd.testing.assert_frame_equal(codec.decode(codec.encode("pool", pool)), pool, check_exact=True)


def test_the_mean_of_an_array_is_learnt_from_its_cells() -> None:
    rng = np.random.default_rng(4)
    pool = np.column_stack([101325 + rng.exponential(5, 300), np.arange(300.0), np.full(300, np.nan)])
    pool[::7, 0] = np.nan
    mean = PoolCentre("X")
    codec = codec_for([("X", pool), ("baseline", mean)])
    row = codec.decode(codec.encode("mean of X", mean))
    assert row[0, 0] == np.mean(pool[~np.isnan(pool[:, 0]), 0])
    assert row[0, 1] == 149.5 and np.isnan(row[0, 2])
    assert np.array_equal(codec.decode(codec.encode("X", pool)), pool, equal_nan=True)


def test_rows_that_a_model_sees_encoded_are_the_nearest() -> None:
    crowded = 101325 + np.random.default_rng(5).exponential(5, (3000, 1))
    for table in (crowded, pd.DataFrame(crowded, columns=["p"])):
        mean = PoolCentre("X")
        codec = codec_for([("X", table), ("baseline", mean)], nearest=True)
        assert np.array_equal(codec.encode("X", table), crowded.astype(np.float32))
        assert mean.row is None


def test_the_engine_takes_the_mean_of_what_float32_holds() -> None:
    for table in (pd.DataFrame({"n": [0.5, 1.5], "t": ["a", "b"]}), np.ones((2, 2)), np.ones((2, 2), np.int64)):
        mean = PoolCentre("X")
        codec_for([("X", table), ("baseline", mean)])
        assert mean.row is None


def test_objects_keep_what_stands_for_missing() -> None:
    for missing in (None, np.nan, pd.NA):
        frame = pd.DataFrame({"o": pd.Series(["a", missing, "b", missing], dtype=object)})
        codec = FrameCodec.fit([("X", frame)])
        assert codec.decode(codec.encode("X", frame))["o"].tolist()[1] is missing
        numbers = pd.DataFrame({"o": pd.Series([2**60 + 1, missing], dtype=object)})
        codec = FrameCodec.fit([("X", numbers)])
        back = codec.decode(codec.encode("X", numbers))["o"]
        assert back.dtype == object and back.tolist() == [2**60 + 1, missing] and back[1] is missing


def test_sparse_columns_stay_sparse() -> None:
    numbers = pd.Series([0.0, 0.1, 0.0]).astype(pd.SparseDtype(float, 0.0))
    flags = pd.Series([True, False, False]).astype(pd.SparseDtype(bool, False))
    codec = there_and_back(pd.DataFrame({"n": numbers, "b": flags}))
    assert codec.kinds == [None, ["False", "True"]]


def test_levels_and_numbers_of_other_tables_are_learnt() -> None:
    x = pd.DataFrame({"t": ["b", "b"], "c": pd.Categorical(["b", "b"]), "n": [0.1, 0.2]})
    pool = pd.DataFrame({"label": [1, 0], "n": [0.3, 1 / 3], "c": pd.Categorical(["c", "a"]), "t": ["a", None]})
    codec = FrameCodec.fit([("X", x), ("pool", pool)])
    assert codec.kinds == [["a", "b"], ["b", "a", "c"], None]
    back = codec.decode(codec.encode("pool", pool))
    assert back["t"].tolist()[0] == "a" and back["t"].isna().tolist() == [False, True]
    assert back["c"].tolist() == ["c", "a"]
    assert back["n"].tolist() == [0.3, 1 / 3]


def test_whole_numbers_are_widened_where_the_pool_needs_it() -> None:
    x = pd.DataFrame({"n": [1, 2], "b": [True, False], "w": [1, 2]})
    pool = pd.DataFrame({"n": [np.nan, 3.5], "b": pd.Series([None, True], dtype=object), "w": [7.0, 8.0]})
    codec = FrameCodec.fit([("X", x), ("pool", pool)])
    back = codec.decode(codec.encode("pool", pool))
    assert back.dtypes.astype(str).tolist() == ["float64", "object", "int64"]
    assert back["n"].tolist()[1] == 3.5 and np.isnan(back["n"][0])
    assert back["b"].tolist() == [None, True]
    assert back["w"].tolist() == [7, 8]
    # The same dtype for all rows, also those where nothing is missing.
    assert codec.decode(codec.encode("X", x))["b"].dtype == object
    codec = FrameCodec.fit([("X", x), ("pool", pool.assign(n=[np.nan, 3.0]))])
    assert codec.decode(codec.encode("X", x))["n"].dtype == np.float64


def test_noise_on_codes_is_the_nearest_level() -> None:
    codec = FrameCodec.fit([("X", pd.DataFrame({"t": ["a", "b", "c"]}))])
    rows = np.array([[-3], [0.4], [0.6], [1.9], [99], [np.nan]], np.float32)
    assert codec.decode(rows)["t"].tolist()[:5] == ["a", "a", "b", "c", "c"]
    assert codec.decode(rows)["t"].isna().tolist() == [False] * 5 + [True]


def test_original_labels_of_columns_come_back() -> None:
    frame = pd.DataFrame([[1.5, 2.5]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"]))
    assert there_and_back(frame).names == ["('a', 1)", "('b', 2)"]
    assert there_and_back(pd.DataFrame({0: [1], "b": [2]})).names == ["0", "b"]


def test_features_choose_and_order_the_columns() -> None:
    frame = pd.DataFrame({"label": [0, 1], "b": [1.5, 2.5], "a": ["x", "y"]})
    codec = codec_for([("X", frame)], ["a", "b"])
    assert codec.names == ["a", "b"]
    pd.testing.assert_frame_equal(codec.decode(codec.encode("X", frame)), frame[["a", "b"]])
    with pytest.raises(ValueError, match=r"^X: expected a column 'c', found none$"):
        codec_for([("X", frame)], ["a", "c"])


@pytest.mark.parametrize(
    "baseline",
    [
        {"n": 1.5, "t": "z", "c": "q", "extra": 1},
        pd.Series({"t": "z", "c": "q", "n": 1.5}),
        pd.Series([1.5, "q", "z"]),
        np.array([[1.5, "q", "z"]], dtype=object),
        [1.5, "q", "z"],
        [[1.5, "q", "z"]],
        pd.DataFrame({"c": ["q"], "t": ["z"], "n": [1.5]}),
    ],
)
def test_one_row_in_a_looser_form(baseline: Any) -> None:
    x = pd.DataFrame({"n": [1, 2], "c": pd.Categorical(["p", "p"]), "t": ["y", "y"]})
    codec = codec_for([("X", x), ("baseline", baseline)])
    back = codec.decode(codec.encode("baseline", baseline))
    assert back.to_dict("list") == {"n": [1.5], "c": ["q"], "t": ["z"]}


def test_what_does_not_fit_is_named() -> None:
    x = pd.DataFrame({"n": [1.0, 2.0], "t": ["a", "b"]})

    def message(*tables: Any) -> str:
        with pytest.raises(ValueError) as error:
            codec_for(tables)
        return str(error.value)

    assert message(("X", x), ("pool", x[["n"]])) == "pool: expected a column 't', found none"
    assert message(("X", x.assign(n=[1, np.inf]))) == (
        "X, column 'n', row 1 (counted from 0): expected a finite number, or NaN for missing, found inf"
    )
    assert message(("X", x.assign(n=[1, 1e300]))) == (
        "X, column 'n', row 1 (counted from 0): expected a number within the range of float32, found 1e+300"
    )
    assert message(("X", x), ("pool", x.assign(n=["a", 1]))) == (
        "pool, column 'n': expected numbers, found 'a' of type str"
    )
    assert (
        message(("X", x.astype({"t": "string"})), ("pool", x.assign(t=[1, 2])))
        == "pool, column 't': expected texts, found '1' of type int"
    )
    assert "expected an array as X is, found DataFrame" in message(("X", x[["n"]].to_numpy()), ("pool", x))
    assert "expected a table with named columns as X is, found ndarray" in message(("X", x), ("pool", np.ones((3, 2))))
    assert message(("X", x), ("baseline", [1.0])) == ("baseline: expected 2 values, one for each column, found 1")
    assert "dtype datetime64" in message(("X", x.assign(t=pd.to_datetime(["2020-01-01", "2020-01-02"]))))
    assert "unhashable" in message(("X", x.assign(t=[[1], [2]])))
    codec = FrameCodec.fit([("X", x)])
    with pytest.raises(ValueError, match=r"^X, column 't': expected a value that X, pool or background has, found 'c'"):
        codec.encode("X", x.assign(t=["a", "c"]))


def test_arrow_and_tables_of_assay_are_frames() -> None:
    arrow = pytest.importorskip("pyarrow", reason="Arrow tables need pyarrow")
    table = arrow.table({"n": [0.1, 0.2], "t": arrow.array(["a", None]).dictionary_encode(), "i": [2**53 + 1, 5]})
    codec = codec_for([("X", table), ("pool", table.to_pandas())])
    back = codec.decode(codec.encode("X", table))
    pd.testing.assert_frame_equal(back, table.to_pandas(), check_exact=True)


dtypes_of_arrays = st.sampled_from(["float64", "float32", "float16", "int64", "int32", "uint8", "bool"])


@cases
@given(
    dtypes_of_arrays.flatmap(
        lambda dtype: arrays.arrays(
            dtype,
            arrays.array_shapes(min_dims=2, max_dims=4, max_side=4),
            elements={"allow_infinity": False} if "float" in dtype else None,
        ).filter(lambda array: dtype != "float64" or not np.nanmax(np.abs(array), initial=0) > LARGEST)
    )
)
def test_arrays_come_back(array: Any) -> None:
    codec = codec_for([("X", array)])
    rows = codec.encode("X", array)
    assert rows.dtype == np.float32 and rows.shape == (len(array), array[0].size)
    back = codec.decode(rows)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert np.array_equal(back, array, equal_nan="f" in array.dtype.kind)
    assert codec.kinds == [None] * rows.shape[1]
    assert codec.item_shape == (array.shape[1:] if array.ndim > 2 else ())


def test_float32_arrays_are_not_copied() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    codec = codec_for([("X", array)])
    rows = codec.encode("X", array)
    assert np.shares_memory(rows, array) and np.shares_memory(codec.decode(rows), array)


def test_arrays_of_other_dtypes_beside_the_first() -> None:
    x = np.array([[1, 2], [3, 4]])
    pool = np.array([[0.1, np.nan]])
    codec = codec_for([("X", x), ("pool", pool), ("baseline", np.array([0.7, 0.8]))], ["a", "b"])
    assert codec.names == ["a", "b"]
    assert np.array_equal(codec.decode(codec.encode("pool", pool)), pool, equal_nan=True)
    assert codec.decode(codec.encode("baseline", [0.7, 0.8])).tolist() == [[0.7, 0.8]]
    assert codec.decode(codec.encode("X", x)).tolist() == x.tolist()
    # float32 stays: models of float32 are seldom models of float64.
    codec = codec_for([("X", x.astype(np.float32)), ("pool", pool)])
    assert codec.decode(codec.encode("pool", pool)).dtype == np.float32
    # A float32 array beside float64: the caller's own memory is left alone.
    mine = np.array([[0.7]], np.float32)
    codec = codec_for([("X", np.array([[0.7]])), ("pool", mine)])
    assert codec.encode("pool", mine)[0, 0] != np.float32(0.7) == mine[0, 0]


def test_missing_cells_of_whole_arrays_reach_the_model() -> None:
    codec = ArrayCodec.fit([("X", np.array([[1, 2]]))])
    assert np.array_equal(codec.decode(np.array([[np.nan, 2]], np.float32)), [[np.nan, 2]], equal_nan=True)
    assert FrameCodec.fit([("X", pd.DataFrame({"n": [1]}))]).decode(np.array([[np.nan]], np.float32))["n"].isna().all()
    with pytest.raises(ValueError, match="expected 3 columns, found 2"):
        ArrayCodec.fit([("X", np.array([[1, 2]]))], ["a", "b", "c"])
    with pytest.raises(ValueError, match="pool: expected rows of 2 columns as X has, found 3"):
        ArrayCodec.fit([("X", np.array([[1, 2]])), ("pool", np.ones((4, 3)))])
