"""Whatever users hand in as rows, against what pandas, pyarrow and NumPy say of it."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay import _core
from assay._frames import sorted_levels
from assay._tables import (
    Table,
    as_matrix,
    column_names,
    core_table,
    dataset,
    kind_of,
    labels_of,
    row_count,
    row_names,
    select_rows,
    to_float32,
)

pd = pytest.importorskip("pandas", reason="frames need pandas")
pa = pytest.importorskip("pyarrow", reason="Arrow tables need pyarrow")

cases = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.fixture
def patients(tmp_path: pathlib.Path) -> Table:
    path = tmp_path / "patients.csv"
    path.write_text("case,age,ward,died\np1,61,b,yes\np2,,a,no\np3,47,,yes\np4,30.5,<b>,no\n")
    return dataset(path, label="died", id="case")


def message(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(ValueError) as error:
        call(*arguments, **options)
    return str(error.value)


def test_a_table_of_a_file(patients: Table) -> None:
    assert len(patients) == 4
    assert patients.columns == ["age", "ward", "died"]
    assert patients.features == ["age", "ward"]
    assert patients.label == "died"
    assert patients.ids == ["p1", "p2", "p3", "p4"]
    assert patients.labels is not None and patients.labels.tolist() == ["yes", "no", "yes", "no"]
    assert patients["ward"].tolist() == ["b", "a", None, "<b>"]
    age = patients["age"]
    assert age.dtype == np.float64 and np.array_equal(age, [61, np.nan, 47, 30.5], equal_nan=True)
    with pytest.raises(KeyError, match="height"):
        patients["height"]


def test_to_pandas_is_what_pandas_reads(patients: Table, tmp_path: pathlib.Path) -> None:
    read = pd.read_csv(tmp_path / "patients.csv", index_col="case", dtype={"age": "float32"})
    frame = patients.to_pandas()
    assert frame["ward"].dtype == "category" and frame["age"].dtype == np.float32
    assert frame.index.tolist() == read.index.tolist() and frame.index.name == "case"
    for name in read.columns:
        expected = read[name].astype(object).where(read[name].notna(), None).tolist()
        assert frame[name].astype(object).where(frame[name].notna(), None).tolist() == expected


@pytest.mark.parametrize(
    "which",
    [2, -1, slice(1, 3), slice(None, None, -1), [1, 3], [], np.array([3, 3, 0]), [True, False, True, False], range(2)],
)
def test_rows_are_chosen_as_numpy_chooses_them(patients: Table, which: Any) -> None:
    key = list(which) if isinstance(which, range) else which
    expected = np.atleast_1d(np.arange(4)[np.array(key, int) if isinstance(key, list) and not key else key])
    chosen = patients[which]
    assert isinstance(chosen, Table)
    assert chosen.ids == [f"p{i + 1}" for i in expected]
    assert np.array_equal(chosen["age"], patients["age"][expected], equal_nan=True)
    assert chosen["ward"].tolist() == patients["ward"][expected].tolist()


def test_rows_that_are_none(patients: Table) -> None:
    for which in (4, -5, [0, 9], [True], 1.5, None):
        with pytest.raises(IndexError):
            patients[which]


def test_what_a_table_looks_like(patients: Table) -> None:
    lines = repr(patients).splitlines()
    assert lines[0].endswith("patients.csv: 4 rows x 3 columns, label 'died' (2 classes)")
    assert [line.split() for line in lines[1:4]] == [
        ["case", "age", "ward", "died"],
        ["p1", "61", "b", "yes"],
        ["p2", "missing", "a", "no"],
    ]
    page = patients._repr_html_()
    assert "&lt;b&gt;" in page and "<b>" not in page
    wide = Table(core_table(np.zeros((9, 20)), "X"))
    assert repr(wide).splitlines()[-2:] == ["... 3 more rows", "... 12 more columns"]
    assert "9 rows x 20 columns" in repr(wide) and "label" not in repr(wide)
    hostile = Table(core_table(pd.DataFrame({"a\nb": ["x\ny\x1b[1m"]}), "X"))
    assert len(repr(hostile).splitlines()) == 3 and "\x1b" not in repr(hostile)


def test_data_sets_by_name_and_their_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises((ValueError, OSError)):
        dataset(tmp_path / "nothing.csv")
    with pytest.raises(TypeError):
        dataset(3)  # type: ignore[arg-type]
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    assert dataset(str(path), folders=tmp_path).columns == ["a", "b"]
    assert dataset(path, folders=[tmp_path, str(tmp_path)]).label is None
    assert "c" in message(dataset, path, label="c")
    assert message(dataset, path, split="half").startswith("split: expected all, train or test")
    assert message(dataset, path, split=None) == "split: expected text, found NoneType"
    assert message(dataset, path, label=5) == "label: expected text, found int"
    assert message(dataset, path, id="\udc80") == "id: expected text of whole characters, found '\\udc80'"
    assert message(dataset, "\udc80").startswith("what: expected a name of whole characters")


def test_a_data_set_that_is_not_there_says_where_to_put_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    text = message(dataset, "adult")
    assert "was not found" in text and "folders=" in text and "--data-dir" not in text
    assert len(dataset("iris")) == 150


FRAME = pd.DataFrame({"n": [1.5, np.nan, 3.0], "t": ["b", None, "a"]})
ARROW = pa.table({"n": [1.5, None, 3.0], "t": ["b", None, "a"]})
TABLES: dict[str, Any] = {
    "frame": FRAME,
    "arrow": ARROW,
    "table": Table(core_table(FRAME, "X")),
    "array": np.array([[1.5, 1], [np.nan, np.nan], [3.0, 0]]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_kinds_rows_and_names(kind: Any) -> None:
    table = TABLES[kind]
    assert kind_of(table) == kind
    assert row_count(table) == 3
    assert column_names(table) == (None if kind == "array" else ["n", "t"])
    some = select_rows(table, [2, 0])
    assert kind_of(some) == kind and row_count(some) == 2
    assert np.array_equal(core_table(some, "X").values[:, 0], [3.0, 1.5])
    assert row_names(table) is None


@pytest.mark.parametrize("kind", TABLES)
def test_all_kinds_give_the_same_engine_table(kind: Any) -> None:
    core = core_table(TABLES[kind], "X", names=["n", "t"] if kind == "array" else ())
    assert core.names == ["n", "t"]
    assert core.levels == [None, None if kind == "array" else ["a", "b"]]
    assert np.array_equal(core.values, np.array([[1.5, 1], [np.nan, np.nan], [3, 0]]), equal_nan=True)


def test_other_kinds_of_arrays_and_arrow() -> None:
    assert kind_of([[1, 2], [3, 4]]) == "array" and kind_of(ARROW.to_batches()[0]) == "arrow"
    assert row_count([[1, 2], [3, 4]]) == 2 and row_count(ARROW.to_batches()[0]) == 3
    assert select_rows([[1, 2], [3, 4]], [1]).tolist() == [[3, 4]]
    assert column_names(select_rows(ARROW.to_batches()[0], [1])) == ["n", "t"]

    class OnlyDlpack:
        def __dlpack__(self, **options: Any) -> Any:
            return np.eye(2).__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    assert np.array_equal(as_matrix(OnlyDlpack(), "X"), np.eye(2))
    assert as_matrix(pd.DataFrame({"a": [1, 2], "b": [0.5, 1]}), "X").tolist() == [[1, 0.5], [2, 1]]
    assert as_matrix(pa.table({"a": [1, 2]}), "X").tolist() == [[1], [2]]


def test_text_views_of_arrow() -> None:
    """Texts as polars gives them, and newer pyarrow on demand."""
    texts = ["b", None, "a text of more than twelve bytes", "b"]
    table = pa.table({"t": pa.array(texts, pa.string_view())})
    core = core_table(table, "X")
    assert core.levels == [["a text of more than twelve bytes", "b"]]
    assert np.array_equal(core.values[:, 0], [1, np.nan, 0, 1], equal_nan=True)


def test_frames_of_polars() -> None:
    polars = pytest.importorskip("polars", reason="frames of polars need it")
    frame = polars.DataFrame({"n": [1.5, None, 3.0], "t": ["b", None, "a"]})
    assert (kind_of(frame), row_count(frame), column_names(frame)) == ("arrow", 3, ["n", "t"])
    core = core_table(select_rows(frame, [2, 0]), "X")
    assert core.levels == [None, ["a", "b"]] and core.values.tolist() == [[3, 0], [1.5, 1]]
    assert labels_of(frame["t"], "y", 3, ["a", "b"])[0].tolist()[::2] == [1, 0]


def test_what_is_no_table() -> None:
    one = "X: expected rows x columns, found one dimension; X.reshape(1, -1) is one row"
    assert message(kind_of, np.ones(3)) == one
    assert message(kind_of, ARROW["n"]) == one
    found = "X: expected rows x columns, found "
    assert message(kind_of, pd.Series([1, 2])) == (
        f"{found}a Series; X.to_frame().T is one row, X.to_frame() one column"
    )
    table = "pandas.DataFrame(X) makes a table of it"
    assert message(kind_of, [{"a": 1}, {"a": 2}]) == f"{found}a list of dicts; {table}"
    assert message(kind_of, np.zeros(3, [("a", float), ("b", int)])) == f"{found}a structured array; {table}"
    assert message(kind_of, [1.0, 2.0]) == f"{found}one list of values; [X] is one row"
    assert message(kind_of, 3, "pool") == "pool: expected rows x columns, found a single value"
    assert message(kind_of, {"a": [1]}) == "X: expected rows x columns, found dict"
    assert message(kind_of, "adult").startswith("X: expected rows x columns, found the text 'adult'")
    assert message(kind_of, [[1, 2], [3]]).startswith("X: expected rows of equal length, found list")
    assert message(kind_of, ARROW.to_reader()).startswith("X: expected a table that can be read more than once")
    sparse = pytest.importorskip("scipy.sparse", reason="sparse matrices need SciPy")
    assert message(kind_of, sparse.eye(2)).endswith("found a sparse matrix; X.toarray() makes it dense")


def test_names_of_columns_and_rows() -> None:
    assert column_names(pd.DataFrame([[1, 2]], columns=[7, ("a", 1)])) == ["7", "('a', 1)"]
    twice = message(column_names, pd.DataFrame([[1, 2]], columns=["1", 1]), "pool")
    assert twice == "pool: expected column names that differ, found '1' twice"
    assert row_names(FRAME[1:]) is None
    assert row_names(FRAME.set_index([[5, 7, 11]])) == (["5", "7", "11"], "index")
    named = FRAME.set_index(pd.Index(["x", "y", "z"], name="case"))
    assert row_names(named) == (["x", "y", "z"], "case")
    core = core_table(named, "X")
    assert (core.id_name, core.ids) == ("case", ["x", "y", "z"])
    assert row_names(Table(core)) == (["x", "y", "z"], "case")
    both = FRAME.set_index(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["ward", None]))
    assert row_names(both) == (["a/1", "a/2", "b/1"], "ward/index")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint64", "bool"])
def test_numeric_arrays_keep_their_dtype(dtype: str) -> None:
    array = np.ones((2, 3), dtype)
    assert as_matrix(array, "X") is array or np.shares_memory(as_matrix(array, "X"), array)
    assert as_matrix(array, "X").dtype == dtype
    assert np.array_equal(to_float32(array, "X"), np.ones((2, 3), np.float32))


@pytest.mark.parametrize("dtype", ["complex64", "datetime64[s]", "timedelta64[s]", "U3", "S3", "object"])
def test_other_dtypes_are_named(dtype: str) -> None:
    text = message(as_matrix, np.zeros((2, 2), dtype), "pool")
    assert text.startswith("pool: expected numbers of at most 64 bits, found dtype ")
    assert np.dtype(dtype).name.split("[")[0].rstrip("0123456789") in text or dtype[0] in "US"


def test_masked_cells_are_missing() -> None:
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert np.array_equal(as_matrix(masked, "X"), [[1, np.nan], [3, 4]], equal_nan=True)
    assert as_matrix(masked.astype(np.float32), "X").dtype == np.float32


def test_float32_without_a_copy() -> None:
    images = np.zeros((2, 4, 3), np.float32)
    flat = to_float32(images, "X")
    assert flat.shape == (2, 12) and np.shares_memory(flat, images)
    assert to_float32(np.zeros((0, 4, 3)), "X").shape == (0, 12)
    assert to_float32(np.asfortranarray(np.ones((3, 2), np.float32)), "X").flags.c_contiguous
    swapped = np.array([[1.5, 2]], ">f4")
    assert to_float32(swapped, "X").tolist() == [[1.5, 2]] and to_float32(swapped, "X").dtype.isnative


@cases
@given(arrays.arrays(np.float64, (3, 2), elements=st.floats(-3e38, 3e38) | st.just(np.nan)), st.integers(0, 5))
def test_what_float32_cannot_hold_is_named(array: Any, place: int) -> None:
    assert np.array_equal(to_float32(array, "X"), array.astype(np.float32), equal_nan=True)
    row, column = divmod(place, 2)
    array[row, column] = -np.inf
    where = f"X, row {row} (counted from 0), column"
    assert message(to_float32, array, "X") == (
        f"{where} {column}: expected a finite number, or NaN for missing, found -inf"
    )
    array[row, column] = 1e39
    assert message(to_float32, array, "X", ["a", "b"]) == (
        f"{where} '{'ab'[column]}': expected a number within the range of float32, found 1e+39"
    )


SERIES: dict[str, tuple[Any, list[Any], list[str] | None]] = {
    "int64": (pd.Series([3, 2**24 + 2, -1]), [3, 2**24 + 2, -1], None),
    "bool": (pd.Series([True, False, True]), [1, 0, 1], None),
    "Int64": (pd.Series([1, None, 3], dtype="Int64"), [1, np.nan, 3], None),
    "Float32": (pd.Series([0.5, None, 3], dtype="Float32"), [0.5, np.nan, 3], None),
    "boolean": (pd.Series([True, None, False], dtype="boolean"), [1, np.nan, 0], None),
    "double[pyarrow]": (pd.Series([0.5, None, 3], dtype="double[pyarrow]"), [0.5, np.nan, 3], None),
    "Sparse": (pd.Series([0.0, 2.0, 0.0]).astype(pd.SparseDtype(float, 0.0)), [0, 2, 0], None),
    "str": (pd.Series(["ü", None, "Z"]), [1, np.nan, 0], ["Z", "ü"]),
    "string": (pd.Series(["b", None, "a"], dtype="string"), [1, np.nan, 0], ["a", "b"]),
    "object of texts": (pd.Series(["b", None, "a"], dtype=object), [1, np.nan, 0], ["a", "b"]),
    "object of numbers": (pd.Series([2, None, 0.5], dtype=object), [2, np.nan, 0.5], None),
    "object of booleans": (pd.Series([True, None, False], dtype=object), [1, np.nan, 0], None),
    "object of nothing": (pd.Series([None, None, None], dtype=object), [np.nan] * 3, None),
    "category": (pd.Series(pd.Categorical(["b", None, "a"], ["c", "b", "a"])), [1, np.nan, 0], ["a", "b"]),
    "category of numbers": (pd.Series(pd.Categorical([10, 9, None])), [0, 1, np.nan], ["10", "9"]),
}


@pytest.mark.parametrize("dtype", SERIES)
def test_columns_of_pandas(dtype: str) -> None:
    series, values, levels = SERIES[dtype]
    core = core_table(pd.DataFrame({"x": series, "y": [1, 2, 3]}), "X", label="y")
    assert core.levels == [levels, None] and core.label == "y"
    assert np.array_equal(core.values[:, 0], np.array(values, np.float32), equal_nan=True)


@cases
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3) | st.none(), min_size=1))
def test_texts_are_coded_as_arrow_tables_are(texts: list[str | None]) -> None:
    frame = core_table(pd.DataFrame({"t": pd.Series(texts, dtype=object)}), "X")
    arrow = core_table(pa.table({"t": pa.array(texts, pa.string())}), "X")
    assert (frame.levels[0] or []) == (arrow.levels[0] or [])
    assert np.array_equal(frame.values, arrow.values, equal_nan=True)
    assert frame.levels[0] is None or frame.levels[0] == sorted(frame.levels[0], key=str.encode)


def test_levels_are_counted_anew_in_byte_order() -> None:
    codes, levels = sorted_levels(np.array([3, -1, 0, 1]), ["ü", "Z", "unused", "a"])
    assert levels == ["Z", "a", "ü"] and np.array_equal(codes, [1, np.nan, 2, 0], equal_nan=True)


@pytest.mark.parametrize(
    ("series", "found"),
    [
        (pd.Series(["a", 3], dtype=object), "expected texts or numbers alone, found '3' of type int"),
        (pd.Series([1, [2]], dtype=object), "expected texts or numbers alone, found '[2]' of type list"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])), "found dtype datetime64["),
        (pd.Series(pd.to_timedelta([1, 2])), "found dtype timedelta64["),
        (pd.Series([1j, 2]), "found dtype complex128"),
        (pd.Series([pd.Period("2020"), pd.Period("2021")]), "found dtype period["),
        (pd.Series([1.0, np.inf]), "row 1 (counted from 0): expected a finite number, or NaN for missing, found inf"),
    ],
)
def test_columns_that_cannot_be_used_are_named(series: Any, found: str) -> None:
    text = message(core_table, pd.DataFrame({"x": series}), "pool")
    assert text.startswith("pool, column 'x'") and found in text


def test_half_characters_are_named() -> None:
    """Lone surrogates, which no file can hold."""
    half = pd.Series(["a", "b\udc80"], dtype=object)
    expected = "expected texts of whole characters, found 'b\\udc80'"
    named = pd.DataFrame([[1.0, 2.0]], columns=pd.Index(half, dtype=object))
    assert message(core_table, named, "pool") == f"pool, names of columns: {expected}"
    assert message(column_names, named, "pool") == f"pool, names of columns: {expected}"
    assert message(core_table, pd.DataFrame({"t": half}), "pool") == f"pool, column 't': {expected}"
    category = pd.DataFrame({"t": pd.Categorical.from_codes([0, 1], pd.Index(half, dtype=object))})
    assert message(core_table, category, "pool") == f"pool, column 't': {expected}"
    indexed = pd.DataFrame({"n": [1.0, 2.0]}, index=pd.Index(half, dtype=object))
    assert message(core_table, indexed, "pool") == f"pool, index: {expected}"


def test_names_and_labels_of_arrays() -> None:
    assert core_table(np.ones((2, 2)), "X").names == ["0", "1"]
    assert message(core_table, np.ones((2, 2)), "X", names=["a"]) == "X: expected 1 column, found 2"
    assert core_table(np.ones((2, 2)), "X", names=["a", "b"], label="b").label == "b"
    table = TABLES["table"]
    assert core_table(table, "X") is table._core
    assert core_table(table, "X", label="t").label == "t"
    assert "'z'" in message(core_table, table, "X", label="z")
    assert "'z'" in message(core_table, FRAME, "X", label="z")


def test_features_of_tables_as_matrices(patients: Table) -> None:
    assert message(as_matrix, patients, "X") == "X, column 'ward': expected numbers, found texts"
    numbers = Table(core_table(pd.DataFrame({"a": [1.5], "y": ["b"], "c": [2]}), "X", label="y"))
    assert as_matrix(numbers, "X").tolist() == [[1.5, 2]] == np.asarray(numbers, np.float64).tolist()


CLASSES = ["no", "yes"]


@pytest.mark.parametrize(
    ("y", "classes", "expected"),
    [
        (["yes", None, "no"], CLASSES, [1, np.nan, 0]),
        (np.array(["yes", "no", "yes"]), CLASSES, [1, 0, 1]),
        (pd.Series(["yes", None, "no"]), CLASSES, [1, np.nan, 0]),
        (pd.Series(["yes", "no", "yes"], dtype="category"), CLASSES, [1, 0, 1]),
        (pd.Series([1, None, 0], dtype="Int64"), CLASSES, [1, np.nan, 0]),
        (pd.DataFrame({"y": ["yes", "no", "yes"]}), CLASSES, [1, 0, 1]),
        (pa.chunked_array([["yes", None, "no"]]), CLASSES, [1, np.nan, 0]),
        ([[1], [0], [1]], CLASSES, [1, 0, 1]),
        ([1, 0, 1.0], ["0", "1"], [1, 0, 1]),
        # By name where every label has a class of its name, by position where not.
        ([2, 1, 2], ["1", "2"], [1, 0, 1]),
        ([1, 0, 1], ["1", "2"], [1, 0, 1]),
        (np.array([2.0, np.nan, 1.0]), ["1", "2"], [1, np.nan, 0]),
        ([1, 2, 1], ["1.0", "2.0"], [0, 1, 0]),
        ([True, False, True], ["False", "True"], [1, 0, 1]),
        ([True, False, True], ["0", "1"], [1, 0, 1]),
        (np.array([True, False, True]), ["neg", "pos"], [1, 0, 1]),
        # Equal as numbers, but not as names.
        ([True, 1, None], ["1", "True"], [1, 0, np.nan]),
        ([0.5, 2, None], [], [0.5, 2, np.nan]),
        (pd.Series([1, None, 3], dtype="Int64"), [], [1, np.nan, 3]),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [], [1, np.nan, 3]),
    ],
)
def test_labels(y: Any, classes: list[str], expected: list[float]) -> None:
    labels, names = labels_of(y, "y", 3, classes)
    assert labels.dtype == np.float32 and names == classes
    assert np.array_equal(labels, expected, equal_nan=True)


def test_labels_of_tables(patients: Table) -> None:
    assert labels_of(patients, "y", 4, CLASSES)[0].tolist() == [1, 0, 1, 0]
    assert labels_of(patients["died"], "y", 4, ["yes", "no"])[0].tolist() == [0, 1, 0, 1]
    assert message(labels_of, TABLES["table"], "y", 3, []) == "y: expected a table with a label, found one without"


def test_labels_that_are_none() -> None:
    assert message(labels_of, ["yes", "perhaps"], "y", 2, CLASSES) == (
        "y: expected one of the classes 'no', 'yes', found 'perhaps'"
    )
    assert message(labels_of, [0, 2], "y", 2, CLASSES).endswith("found '0'")
    assert message(labels_of, [0, 0.5], "y", 2, CLASSES).startswith("y: expected one of the classes")
    assert message(labels_of, [0, np.inf], "y", 2, CLASSES).startswith("y: expected one of the classes")
    assert message(labels_of, [0], "pool_y", 2, CLASSES) == "pool_y: expected a label for each of 2 rows, found 1"
    assert message(labels_of, ["a", 1], "y", 2, []) == ("y: expected numbers, for a model without classes, found 'a'")
    assert message(labels_of, [1, 1e39], "y", 2, []).startswith("y, row 1 (counted from 0): expected a number within")
    assert message(labels_of, np.ones((2, 2)), "y", 2, []).endswith("found an array of shape (2, 2)")
    assert "dtype datetime64" in message(labels_of, np.zeros(2, "datetime64[s]"), "y", 2, [])
    assert message(labels_of, ["x"], "y", 1, [str(i) for i in range(20)]).endswith("'7' and 12 more, found 'x'")


def test_errors_of_the_engine_are_value_errors() -> None:
    nested = pa.table({"x": [[1], [2]]})
    assert "column 'x'" in message(core_table, nested, "X")
    assert issubclass(_core.UnsupportedError, ValueError)
