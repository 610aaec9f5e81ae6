"""Columns of truth values, decimals and dates in DataFrames and Arrow tables, for models that name their columns."""

from __future__ import annotations

import decimal
import pathlib
import pickle

import numpy as np
import pytest

import assay

pd = pytest.importorskip("pandas")

BOOSTER = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/trees/xgboost_binary/model.json"


def drawn(rows, seed):
    made = pd.DataFrame(
        np.random.default_rng(seed).normal(size=(rows, 6)).round(3), columns=[f"x{j}" for j in range(6)]
    )
    made["x1"] = made["x1"] > 0.2
    return made


ROWS, POOL = drawn(40, 1), drawn(60, 2)
TRUTH = {"x1 is True, most often it is False"}  # False speaks against no row


def explained(rows=ROWS, pool=POOL):
    return assay.explain(assay.load(BOOSTER), rows, "tree_shap", background=pool, target="1")


def sentences(made):
    reasons = made.reasons().to_pandas()
    return set(reasons[reasons["feature"] == "x1"]["text"])


def test_truth_values_are_told_in_words():
    made = explained()
    assert sentences(made) == TRUTH
    # To the model they are numbers, as before.
    numbers = explained(ROWS.assign(x1=ROWS["x1"].astype(float)), POOL.assign(x1=POOL["x1"].astype(float)))
    assert np.array_equal(numbers.values, made.values)
    assert not sentences(numbers) & TRUTH
    # One that is missing stays so.
    some = ROWS.assign(x1=ROWS["x1"].astype("boolean"))
    some.loc[0, "x1"] = pd.NA
    texts = explained(some).reasons().to_pandas()
    assert set(texts[(texts["feature"] == "x1") & (texts["row"] == 0)]["text"]) <= {"x1 is missing"}


def test_all_tables_tell_truth_alike(tmp_path):
    arrow = pytest.importorskip("pyarrow").Table.from_pandas
    tables = [arrow(ROWS), ROWS.astype({"x1": object}), ROWS.astype({"x1": "boolean"})]
    for table in tables:
        assert sentences(explained(table)) == TRUTH
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    assert sentences(explained(assay.dataset(tmp_path / "rows.csv"))) == TRUTH


def test_cohorts_of_truth_values(tmp_path):
    arrow = pytest.importorskip("pyarrow").Table.from_pandas
    for rows in (ROWS, arrow(ROWS)):
        made = assay.study(
            assay.load(BOOSTER), rows, pool=POOL, methods=["tree_shap", "occlusion"], aggregators=None, cohort="x1",
            criteria=["faithfulness", "complexity"], time=None, curves=False, variations=False,
        )  # fmt: skip
        assert {each["name"] for each in made.cohorts} == {"True", "False"}


def test_a_pickled_table_keeps_its_truth_values(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    core = assay._core.Table.from_arrow(pyarrow.Table.from_pandas(ROWS), "X")
    assert core.truth == ["x1"]
    again = pickle.loads(pickle.dumps(assay.Table(core)))
    assert again._core.truth == ["x1"]


def test_columns_that_the_model_does_not_take_may_be_of_any_type():
    arrow = pytest.importorskip("pyarrow").Table.from_pandas
    odd = {"when": pd.date_range("2024-01-31", periods=len(ROWS)), "tags": [["a", "b"]] * len(ROWS)}
    expected = explained()
    for rows in (ROWS.assign(**odd), arrow(ROWS.assign(**odd))):
        assert np.array_equal(explained(rows).values, expected.values)
        assert sentences(explained(rows)) == TRUTH
    for rows in (ROWS.assign(x3=odd["when"]), arrow(ROWS.assign(x3=odd["when"]))):
        with pytest.raises(
            ValueError, match=r"X, column 'x3': expected numbers, booleans.*found (timestamps|dtype date)"
        ):
            explained(rows)


def test_decimals_are_numbers():
    pyarrow = pytest.importorskip("pyarrow")
    cells = [decimal.Decimal(str(cell)) for cell in ROWS["x2"]]
    frame = ROWS.assign(x2=pd.Series(cells, dtype=object))
    table = pyarrow.Table.from_pandas(ROWS).set_column(2, "x2", pyarrow.array(cells, pyarrow.decimal128(12, 3)))
    for rows in (frame, table):
        assert np.array_equal(explained(rows).values, explained().values)
