"""Columns of Parquet and Feather files beside those of a CSV file: truth values, decimals, dates and times."""

import csv
import decimal
import io
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

NAMES = [f"x{j}" for j in range(6)]
FORMATS = ["csv", "parquet", "feather"]


def write(frame, path):
    """By its extension."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_feather(path)


def drawn(rows, seed):
    made = pd.DataFrame(np.random.default_rng(seed).normal(size=(rows, 6)).round(3), columns=NAMES)
    made["x1"] = made["x1"] > 0.2
    return made


@pytest.fixture
def tables(root, tmp_path, arrow_plugin):
    """A booster of numbers, and rows with a column of truth values in each format."""
    shutil.copy(root / "tests/fixtures/trees/xgboost_binary/model.json", tmp_path / "m.json")
    rows, pool = drawn(40, 1), drawn(60, 2)
    for each in FORMATS:
        write(rows, tmp_path / f"rows.{each}")
        write(pool, tmp_path / f"pool.{each}")
    return rows, pool


def given(extension):
    return ("--model", "m.json", "--data", f"rows.{extension}", "--pool", f"pool.{extension}")


def done(result):
    assert result.returncode == 0, result.stderr
    return result.stdout


STUDY = (
    "--methods",
    "tree_shap,occlusion",
    "--aggregators",
    "none",
    "--criteria",
    "faithfulness,complexity",
    "--time",
    "none",
)


def test_truth_is_told_in_the_words_of_a_csv_file(tables, assay, tmp_path):
    told = {}
    for each in FORMATS:
        done(
            assay(
                *("explain", *given(each), "--method", "tree_shap", "--background", f"pool.{each}"),
                *("--out", f"{each}.npz", "--target", "1"),
            )
        )
        of_file = done(assay("--quiet", "reasons", f"{each}.npz", *given(each)[2:], "--out", "-"))
        folder = f"study-{each}"
        done(assay("--quiet", "study", *given(each), *STUDY, "--cohort", "x1", "--no-curves", "--out", folder))
        of_study = done(assay("--quiet", "reasons", folder, "--out", "-"))
        cohorts = json.loads((tmp_path / folder / "study.json").read_text())["cohorts"]
        told[each] = (of_file, of_study, json.dumps(cohorts))
        with np.load(tmp_path / f"{each}.npz") as file:
            told[each] += (file["values"].tolist(),)
    assert told["parquet"] == told["csv"] and told["feather"] == told["csv"]
    for text in told["csv"][:2]:
        found = {line["text"] for line in csv.DictReader(io.StringIO(text)) if line["feature"] == "x1"}
        assert "x1 is True, most often it is False" in found
        assert found <= {"x1 is True, most often it is False", "x1 is False"}
    assert '"True"' in told["csv"][2] and '"False"' in told["csv"][2]
    pages = [(tmp_path / f"study-{each}" / "report.html").read_text() for each in FORMATS]
    levels = '"levels"' in pages[0]
    assert [('"levels"' in page) for page in pages] == [levels] * 3


def with_odd_columns(frame):
    """The same rows in Arrow, with columns that no table holds."""
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    times = pd.date_range("2024-01-31", periods=len(frame), freq="h")
    table = table.add_column(0, "when", pyarrow.array(times))
    table = table.append_column("day", pyarrow.array([time.date() for time in times]))
    return table.append_column("tags", pyarrow.array([["a", "b"]] * len(frame)))


def test_columns_that_the_model_does_not_take_may_be_of_any_type(tables, assay, tmp_path):
    for name, frame in zip(("rows", "pool"), tables, strict=True):
        pyarrow.parquet.write_table(with_odd_columns(frame), tmp_path / f"{name}_odd.parquet")
        pyarrow.feather.write_feather(with_odd_columns(frame), tmp_path / f"{name}_odd.feather")
    plain = done(assay("predict", "--model", "m.json", "--data", "rows.csv"))
    for each in ("parquet", "feather"):
        odd = ("--model", "m.json", "--data", f"rows_odd.{each}", "--pool", f"pool_odd.{each}")
        assert done(assay("predict", *odd[:4])) == plain
        done(assay("explain", *odd, "--method", "tree_shap", "--out", "odd.npz"))
        done(assay("--quiet", "reasons", "odd.npz", *odd[2:]))
        done(assay("--quiet", "study", *odd, *STUDY, "--no-curves", "--out", f"odd-{each}"))
        done(assay("--quiet", "reasons", f"odd-{each}"))


def test_columns_that_the_model_takes_may_not(tables, assay, tmp_path, one_sentence):
    rows, _ = tables
    times = pd.date_range("2024-01-31", periods=len(rows), freq="h")
    rows.assign(x3=times).to_parquet(tmp_path / "needed.parquet")
    expected = "needed.parquet, column 'x3': expected numbers, booleans or text, found timestamps"
    assert expected in one_sentence(assay("predict", "--model", "m.json", "--data", "needed.parquet"))
    # So is a column that somebody names, and all of them where nobody says which are used.
    rows.assign(when=times, y=1).to_parquet(tmp_path / "when.parquet")
    expected = "when.parquet, column 'when': expected numbers, booleans or text, found timestamps"
    named = ("--model", "m.json", "--data", "when.parquet")
    assert expected in one_sentence(assay("predict", *named, "--label", "when"))
    assert expected in one_sentence(assay("train", *named[2:], "--label", "y", "--out", "n.onnx"))
    # A position counts all columns, so none is left out.
    assert expected in one_sentence(assay("predict", *named, "--label", "-1"))


def test_decimals_are_numbers(tables, assay, tmp_path):
    rows, _ = tables
    table = pyarrow.Table.from_pandas(rows, preserve_index=False)
    for bits, kind in {"128": pyarrow.decimal128(20, 3), "38": pyarrow.decimal128(38, 30)}.items():
        cells = [decimal.Decimal(str(cell)) for cell in rows["x2"]]
        exact = table.set_column(2, "x2", pyarrow.array(cells, kind))
        pyarrow.parquet.write_table(exact, tmp_path / f"decimal{bits}.parquet")
        predicted = done(assay("predict", "--model", "m.json", "--data", f"decimal{bits}.parquet"))
        assert predicted == done(assay("predict", "--model", "m.json", "--data", "rows.csv"))
