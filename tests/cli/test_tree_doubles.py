"""A LightGBM file compares doubles: what the program reads is decided on as the file has it, in every format."""

import csv

import numpy as np
import pytest

ENDS = (0.1, 0.30000000000000004, 1_700_000_000_500.0)
LEAVES = (1.0, 2.0, 4.0, 8.0)
# Each beside its neighbour of the other side of a threshold; with both rounded to float32, they would be one number.
CELLS = (
    0.1,
    float(np.nextafter(0.1, 1)),
    0.3,
    0.30000000000000004,
    float(np.nextafter(0.30000000000000004, 1)),
    1_700_000_000_000.0,
    1_700_000_000_501.0,
    5.0,
)

MODEL = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=regression
feature_names=some_time other
feature_infos=none none

Tree=0
num_leaves={leaves}
num_cat=0
split_feature={features}
threshold={thresholds}
decision_type={types}
left_child={left}
right_child={right}
leaf_value={values}

end of trees
"""


def model_of(ends, leaves):
    """x <= ends[0] ? leaves[0] : x <= ends[1] ? ..."""
    count = len(ends)

    def words(values):
        return " ".join(str(value) for value in values)

    return MODEL.format(
        leaves=count + 1,
        features=words([0] * count),
        thresholds=words(repr(end) for end in ends),
        types=words([2] * count),
        left=words(~k for k in range(count)),
        right=words([*range(1, count), ~count]),
        values=words(leaves),
    )


def leaf_of(cell, ends=ENDS, leaves=LEAVES):
    return next((leaf for end, leaf in zip(ends, leaves, strict=False) if cell <= end), leaves[-1])


EXPECTED = [leaf_of(cell) for cell in CELLS]


@pytest.fixture
def tables(tmp_path):
    """The cells as a file of each kind."""
    (tmp_path / "model.txt").write_text(model_of(ENDS, LEAVES))
    with open(tmp_path / "rows.csv", "w", newline="", encoding="utf-8") as stream:
        # As LightGBM's names: its file has underscores for spaces.
        csv.writer(stream).writerows([["some time", "other"], *([repr(cell), ""] for cell in CELLS)])
    both = np.column_stack([CELLS, np.zeros(len(CELLS))])
    np.savez(tmp_path / "rows.npz", values=both, features=np.array(["some_time", "other"]))
    pyarrow = pytest.importorskip("pyarrow", reason="writes Parquet")
    parquet = pytest.importorskip("pyarrow.parquet", reason="writes Parquet")
    parquet.write_table(pyarrow.table({"other": both[:, 1], "some time": CELLS}), tmp_path / "rows.parquet")
    return tmp_path


def test_rounding_would_change_rows():
    assert [leaf_of(float(np.float32(cell))) for cell in CELLS] != EXPECTED
    assert sorted(set(EXPECTED)) == sorted(LEAVES)


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet"])
def test_predictions_are_those_of_the_doubles(assay, tables, kind):
    result = assay("predict", "--model", "model.txt", "--data", f"rows.{kind}", "--out", "out.npy", "--quiet")
    assert (result.returncode, result.stderr) == (0, "")
    assert np.load(tables / "out.npy")[:, 0].tolist() == EXPECTED


def test_a_matrix_has_columns_by_position(assay, tables):
    (tables / "plain.txt").write_text(model_of(ENDS, LEAVES).replace("some_time other", "Column_0 Column_1"))
    np.save(tables / "rows.npy", np.column_stack([CELLS, np.zeros(len(CELLS))]))
    result = assay("predict", "--model", "plain.txt", "--data", "rows.npy", "--out", "out.npy", "--quiet")
    assert (result.returncode, result.stderr) == (0, "")
    assert np.load(tables / "out.npy")[:, 0].tolist() == EXPECTED


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_explanations_add_up_to_the_leaves_of_the_doubles(assay, load, tables, kind):
    result = assay(
        *("explain", "--model", "model.txt", "--data", f"rows.{kind}", "--pool", f"rows.{kind}"),
        *("--background", "pool:3", "--method", "tree_shap", "--out", "phi.npz", "--quiet"),
    )
    assert (result.returncode, result.stderr) == (0, "")
    found = load(tables / "phi.npz")
    np.testing.assert_allclose(found["base"] + found["values"].sum(axis=1), EXPECTED, rtol=1e-6)


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet"])
def test_a_cell_that_no_float32_number_stands_for_is_refused(assay, tables, kind):
    ends = (1_700_000_000_400.0, 1_700_000_000_500.0)
    (tables / "model.txt").write_text(model_of(ends, LEAVES[:3]))
    cells = [*CELLS, 1_700_000_000_450.0]
    both = np.column_stack([cells, np.zeros(len(cells))])
    with open(tables / "rows.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["some time", "other"], *([repr(cell), ""] for cell in cells)])
    np.savez(tables / "rows.npz", values=both, features=np.array(["some time", "other"]))
    pyarrow = pytest.importorskip("pyarrow", reason="writes Parquet")
    parquet = pytest.importorskip("pyarrow.parquet", reason="writes Parquet")
    parquet.write_table(pyarrow.table({"other": both[:, 1], "some time": cells}), tables / "rows.parquet")
    result = assay("predict", "--model", "model.txt", "--data", f"rows.{kind}", "--out", "out.npy")
    assert result.returncode == 1
    assert not (tables / "out.npy").exists()
    assert result.stderr.startswith(f"assay: rows.{kind}: row 9: column 'some time': no float32 number")
    assert "lies with 1700000000450 between the model's thresholds 1700000000400 and 1700000000500" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_mean_of_the_pool_takes_the_branches_of_its_doubles(assay, load, tables, kind, side):
    """The default reference, and the median. float32 numbers are 128 apart there."""
    cells = [1_700_000_010.0, 1_700_000_020.0, 1_700_000_040.0, 1_700_000_090.0]
    both = np.column_stack([cells, np.zeros(len(cells))])
    with open(tables / "rows.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["some time", "other"], *([repr(cell), ""] for cell in cells)])
    np.savez(tables / "rows.npz", values=both, features=np.array(["some_time", "other"]))
    pyarrow = pytest.importorskip("pyarrow", reason="writes Parquet")
    parquet = pytest.importorskip("pyarrow.parquet", reason="writes Parquet")
    parquet.write_table(pyarrow.table({"other": both[:, 1], "some time": cells}), tables / "rows.parquet")
    for centre, words in ((1_700_000_040.0, []), (1_700_000_030.0, ["--baseline", "median"])):
        (tables / "model.txt").write_text(model_of([centre + side], LEAVES[:2]))
        result = assay(
            *("explain", "--model", "model.txt", "--data", f"rows.{kind}", "--pool", f"rows.{kind}", *words),
            *("--method", "tree_shap", "--out", "phi.npz", "--quiet"),
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert set(load(tables / "phi.npz")["base"]) == {LEAVES[0] if side > 0 else LEAVES[1]}


def test_the_mean_of_a_pool_leaves_out_infinite_cells(assay, load, tables):
    """With them there is none, and trees would take it for a missing cell."""
    (tables / "model.txt").write_text(model_of([5.0], LEAVES[:2]))
    (tables / "rows.csv").write_text("some time,other\n1,0\n8,0\n")
    (tables / "pool.csv").write_text("some time,other\n7,0\n8,0\ninf,0\n9,0\n")
    for words in ([], ["--baseline", "median"]):
        result = assay(
            *("explain", "--model", "model.txt", "--data", "rows.csv", "--pool", "pool.csv", *words),
            *("--method", "tree_shap", "--out", "phi.npz", "--quiet"),
        )
        assert (result.returncode, result.stderr) == (0, "")
        found = load(tables / "phi.npz")
        assert found["base"].tolist() == [LEAVES[1]] * 2
        assert "of pool.csv (without 1 infinite cell)" in str(found["meta"])


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_reports_show_the_cells_of_the_file(assay, tables, root, kind):
    """Not the float32 numbers that stand for them, whether the model compares doubles or takes float32."""
    model, columns = tables / "model.txt", 2
    model.write_text(model_of(ENDS, LEAVES).replace("some_time other", "Column_0 Column_1"))
    if kind == "network":
        model, columns = root / "tests/fixtures/models/sklearn_mlp/model.onnx", 5
    rows = np.zeros((6, columns))
    rows[:, 0] = 1_700_000_011 + 10 * np.arange(6)
    np.save(tables / "rows.npy", rows)
    result = assay(
        *("study", "--model", model, "--data", "rows.npy", "--pool", "rows.npy", "--methods", "occlusion"),
        *("--aggregators", "none", "--criteria", "complexity", "--out", "study", "--quiet"),
    )
    assert result.returncode == 0, result.stderr
    page = (tables / "study" / "report.html").read_text(encoding="utf-8")
    assert "1700000011" in page and "1700000061" in page
    assert "1700000000" not in page
