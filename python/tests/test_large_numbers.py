"""Numbers that float32 rounds: seconds and nanoseconds of Unix times, identifiers. Nothing takes their neighbours for
them without a word."""

import numpy as np
import pytest
from small_graphs import onnx_of_casts

import assay

pandas = pytest.importorskip("pandas", reason="makes tables of several kinds")
pyarrow = pytest.importorskip("pyarrow", reason="makes tables of several kinds")

IDS = [123456788 + i for i in range(6)]


@pytest.fixture
def table(tmp_path):
    amounts = [100000000.25 + i for i in range(6)]
    frame = pandas.DataFrame({"id": IDS, "amount": amounts, "x": np.arange(6) / 8, "y": [1e9 + i for i in range(6)]})
    frame.to_csv(tmp_path / "big.csv", index=False)
    return assay.dataset(tmp_path / "big.csv", label="y"), frame


def test_a_table_gives_the_cells_of_its_file(table):
    table, frame = table
    for name in frame.columns:
        np.testing.assert_array_equal(table[name], frame[name])
    np.testing.assert_array_equal(table.labels, frame["y"])
    chosen = table[table["id"] == IDS[1]]
    assert len(chosen) == 1
    assert chosen["amount"].tolist() == [100000001.25]
    assert "123,456,789" in repr(table)
    assert "123,456,789" in repr(chosen)
    assert "1,000,000,001" in table._repr_html_()
    np.testing.assert_array_equal(np.asarray(table, np.float64), frame[["id", "amount", "x"]])
    assert np.asarray(table).dtype == np.float32


# Nanoseconds, a number beyond any whole one, and one that only rounding carries to 2^24.
@pytest.mark.parametrize("cell", [1.7e18 + 256, -1e20, 16777215.75])
def test_numbers_of_any_size_are_refused_in_every_form(tmp_path, cell):
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_of_casts(11))
    model = assay.load(path)
    rows = np.array([[cell, 1], [3, 2]])
    frame = pandas.DataFrame(rows, columns=["x1", "x2"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    np.save(tmp_path / "rows.npy", rows)
    np.savez(tmp_path / "rows.npz", x=rows)
    files = [assay.dataset(tmp_path / f"rows.{kind}") for kind in ("csv", "npy", "npz")]
    for form in [rows, rows.tolist(), frame, pyarrow.Table.from_pandas(frame), *files]:
        with pytest.raises(ValueError, match=r"column 'x.*' holds numbers beyond 2\^24, which tables round"):
            model.predict(form)
    held = np.array([[2.0**60, 1], [3, 2]])
    np.testing.assert_array_equal(model.predict(held), held)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_the_median_of_crowded_cells_is_that_of_the_cells(dtype):
    times = 1_700_000_000 + np.array([0, 1, 2, 3, 50, 5000, 5001, 5002], dtype)
    pool = pandas.DataFrame({"time": times, "b": np.arange(8.0)})
    for rows in (8, 7):
        wanted = np.median(times[:rows] - 1_700_000_000)
        wanted = np.rint(wanted) if dtype == np.int64 else wanted  # the function's column is of whole numbers
        model = assay.wrap(lambda frame: frame["time"] - 1_700_000_000)
        found = assay.explain(model, pool[:2], "occlusion", pool=pool[:rows], baseline="median")
        assert found.base[0] == wanted
        assert found.provenance["reference"] == "median of pool"
        array = pool[:rows].to_numpy(np.float64)
        model = assay.wrap(lambda cells: cells[:, 0] - 1_700_000_000)
        found = assay.explain(model, array[:2], "occlusion", pool=array, baseline="median")
        assert found.base[0] == np.median(array[:, 0] - 1_700_000_000)


def test_the_median_beside_crowded_cells():
    """Columns that float32 holds, categories and missing cells have the engine's median and mode."""
    pool = pandas.DataFrame(
        {"t": 1.7e9 + np.arange(4.0), "n": [1.0, np.nan, 4, 7], "c": pandas.Categorical(["u", "v", "v", "u"])}
    )
    seen = []
    model = assay.wrap(lambda frame: seen.append(frame.astype(object)) or frame["n"].fillna(0) * 1.0)
    found = assay.explain(model, pool[:1], "occlusion", pool=pool, baseline="median")
    assert found.base[0] == 4
    rows = pandas.concat(seen)
    assert ((rows["t"] == 1.7e9 + 1.5) & (rows["n"] == 4) & (rows["c"] == "u")).any()


def kinds_of_tables(tmp_path, frame):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return {"frame": frame, "arrow": arrow, "table": assay.dataset(tmp_path / "rows.csv")}


@pytest.mark.parametrize("kind", ["frame", "arrow", "table"])
@pytest.mark.parametrize("form", [dict, pandas.Series])
def test_the_cells_of_a_row_by_name_are_kept(tmp_path, kind, form):
    row = form({"t": 1700025507.0, "b": 0.5})
    rows = kinds_of_tables(tmp_path, pandas.DataFrame({"t": [1700000000.0, 1700001000], "b": [0.0, 1]}))[kind]
    seen = []
    model = assay.wrap(lambda frame: seen.append(np.asarray(frame["t"], np.float64)) or frame["b"] * 1.0)
    assay.explain(model, rows, "occlusion", baseline=row)
    assert set(np.concatenate(seen)) == {1700000000, 1700001000, 1700025507}
    # A model of doubles refuses such a cell in every form.
    (tmp_path / "m.onnx").write_bytes(onnx_of_casts(11))
    model = assay.load(tmp_path / "m.onnx")
    rows = kinds_of_tables(tmp_path, pandas.DataFrame({"t": [1.0, 2], "b": [0.0, 1]}))[kind]
    with pytest.raises(ValueError, match=r"baseline: column 't' holds numbers beyond 2\^24"):
        assay.explain(model, rows, "occlusion", baseline=row, target=0)
    if kind != "frame":  # whose column of float64 has no such cell
        with pytest.raises(ValueError, match=r"baseline: column 't' holds numbers beyond 2\^24"):
            assay.explain(model, rows, "occlusion", baseline=form({"t": 2**60 + 1, "b": 0}), target=0)


def test_whole_numbers_with_missing_ones_in_arrow_tables():
    """float64, which pandas makes of such columns, cannot tell these apart."""
    ids = [2**60 + 1, 2**60 + 3, None, 2**60 + 7]
    for kind, numbers in ((pyarrow.int64(), ids), (pyarrow.uint64(), [each and each + 2**63 for each in ids])):
        seen = []
        model = assay.wrap(lambda frame: seen.append(frame["id"]) or frame["n"])  # noqa: B023
        table = pyarrow.table({"n": [1.0, 2, 3, 4], "id": pyarrow.array(numbers, kind)})
        assay.explain(model, table, "occlusion", background=table)
        found = {None if each is pandas.NA else int(each) for column in seen for each in column.tolist()}
        assert found == set(numbers)
    small = pyarrow.table({"n": [1.0, 2], "id": pyarrow.array([5, None], pyarrow.int64())})
    seen.clear()
    model.predict(small)
    assert seen[0].dtype == np.float64
