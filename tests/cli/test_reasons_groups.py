"""Reasons of explanations whose players are groups of columns, some of them called like a column."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def explained(assay, tmp_path):
    """Rows of a network of three columns, beside one that it does not take; explained(groups) makes their file."""
    draw = np.random.default_rng(5)
    rows = pd.DataFrame(draw.normal(size=(60, 3)).round(3), columns=["age", "inc", "debt"])
    rows["y"] = np.where(rows["age"] + rows["inc"] - rows["debt"] > 0, "yes", "no")
    rows.to_csv(tmp_path / "train.csv", index=False)
    rows.assign(sex=draw.choice(["f", "m"], 60)).to_csv(tmp_path / "rows.csv", index=False)
    result = assay("train", "--data", "train.csv", "--label", "y", "--hidden", "none", "--out", "m.onnx")
    assert result.returncode == 0, result.stderr

    def make(groups, file="e.npz"):
        (tmp_path / "groups.json").write_text(json.dumps(groups))
        result = assay(
            *("explain", "--model", "m.onnx", "--data", "rows.csv", "--label", "y", "--pool", "train.csv"),
            *("--method", "exact_shapley", "--target", "yes", "--groups", "groups.json", "--out", file),
        )
        assert result.returncode == 0, result.stderr
        return file

    return make


def told(assay, file, *options):
    result = assay("--quiet", "reasons", file, "--data", "rows.csv", "--label", "y", "--pool", "train.csv", *options)
    assert result.returncode == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.mark.parametrize("file", ["e.npz", "e.json"])
@pytest.mark.parametrize("name", ["inc", "sex", "money"])
def test_a_group_is_not_the_column_of_its_name(explained, assay, tmp_path, name, file):
    explained({name: ["inc", "debt"]}, file)
    cells = pd.read_csv(tmp_path / "rows.csv")
    lines = told(assay, file, "--top", "5", "--out", "-")
    of_group = [line for line in lines if line["feature"] == name]
    assert len(of_group) > 10
    for line in of_group:
        row = cells.iloc[int(line["row"]) - 1]
        assert line["value"] == f"inc {row['inc']:g}, debt {row['debt']:g}"
        assert line["text"] == f"{name}: {line['value']}"
    # Columns outside of the group are themselves.
    assert all(line["text"].startswith("age of ") for line in lines if line["feature"] == "age")


def test_an_aggregate_of_groups_knows_them_too(explained, assay):
    explained({"inc": ["inc", "debt"]})
    explained({"inc": ["inc", "debt"]}, "f.npz")
    result = assay("--quiet", "aggregate", "--members", "e.npz,f.npz", "--aggregator", "mean", "--out", "mean.npz")
    assert result.returncode == 0, result.stderr
    lines = [line for line in told(assay, "mean.npz", "--out", "-") if line["feature"] == "inc"]
    assert lines and all(line["text"].startswith("inc: inc ") for line in lines)


def test_a_file_that_only_says_that_there_are_groups_claims_no_value(explained, assay, tmp_path):
    """As older versions wrote them."""
    file = tmp_path / explained({"inc": ["inc", "debt"]}, "e.json")
    document = json.loads(file.read_text())
    assert document["meta"].pop("columns") == [["age"], ["inc", "debt"]]
    file.write_text(json.dumps(document))
    lines = [line for line in told(assay, "e.json", "--out", "-") if line["feature"] == "inc"]
    assert lines and all((line["text"], line["value"]) == ("inc", "") for line in lines)
    document["meta"]["columns"] = [["age"]]
    file.write_text(json.dumps(document))
    result = assay("reasons", "e.json")
    assert result.returncode == 1
    assert "expected 2 lists in 'columns', one for each feature, found 1" in result.stderr
