"""Tables as pandas' `to_csv` writes them by default: a first column without a name, which counts the rows."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(3)
    made = pd.DataFrame(draw.normal(size=(120, 3)).round(4), columns=["age", "inc", "debt"])
    made["y"] = np.where(made["age"] + made["inc"] - made["debt"] + draw.normal(size=120) > 0, "yes", "no")
    return made


def columns_of(described, path, *options):
    told = described(path, *options)
    return [each["name"] for each in told["columns"]], told


def test_an_index_that_counts_is_left_out(frame, tmp_path, described):
    frame.to_csv(tmp_path / "plain.csv")
    names, told = columns_of(described, "plain.csv", "--label", "y")
    assert names == ["age", "inc", "debt", "y"] and told["rows"] == 120
    assert "id" not in told or not told["id"]


def test_it_is_no_feature_beside_an_id(frame, tmp_path, described):
    with_id = frame.assign(cust=[f"c{i}" for i in range(len(frame))])
    with_id.to_csv(tmp_path / "plain.csv")
    with_id.sample(frac=1, random_state=1).to_csv(tmp_path / "shuffled.csv")
    for name in ("plain.csv", "shuffled.csv"):
        names, told = columns_of(described, name, "--label", "y", "--id", "cust")
        assert names == ["age", "inc", "debt", "y"], name
        assert told["id"] == "cust", name


def test_the_index_of_a_part_names_its_rows(frame, tmp_path, described):
    frame.sample(frac=0.5, random_state=1).to_csv(tmp_path / "half.csv")
    names, told = columns_of(described, "half.csv", "--label", "y")
    assert names == ["age", "inc", "debt", "y"]
    assert told["id"] == "index"


def test_a_column_that_is_called_index_is_another_one(frame, tmp_path, described):
    frame.reset_index().to_csv(tmp_path / "both.csv")
    assert columns_of(described, "both.csv", "--label", "y")[0] == ["index", "age", "inc", "debt", "y"]


def test_an_array_is_read_as_it_was_written(tmp_path, described):
    array = np.random.default_rng(0).normal(size=(30, 4)).round(3)
    pd.DataFrame(array).to_csv(tmp_path / "array.csv")
    names, told = columns_of(described, "array.csv")
    assert (names, told["rows"]) == (["0", "1", "2", "3"], 30)


def test_attributions_keep_their_names(frame, tmp_path, assay, one_sentence):
    rows = frame[["age", "inc", "debt"]]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert assay("train", "--data", "rows.csv", "--label", "y", "--hidden", "none", "--out", "m.onnx").returncode == 0
    explained = ("explain", "--model", "m.onnx", "--data", "rows.csv", "--label", "y", "--baseline", "zero")
    assert assay(*explained, "--method", "gradient_x_input", "--out", "phi.csv").returncode == 0
    values = pd.read_csv(tmp_path / "phi.csv")[list(rows.columns)]
    values.to_csv(tmp_path / "indexed.csv")
    values[["debt", "age", "inc"]].to_csv(tmp_path / "turned.csv")

    def scored(file):
        return assay(
            "evaluate", "--explanations", file, "--model", "m.onnx", "--data", "rows.csv", "--label", "y",
            "--baseline", "zero", "--criteria", "faithfulness", "--json",
        )  # fmt: skip

    values.to_csv(tmp_path / "plain.csv", index=False)
    indexed, plain = scored("indexed.csv"), scored("plain.csv")
    assert indexed.returncode == 0 and indexed.stdout.replace("indexed.csv", "plain.csv") == plain.stdout
    assert "debt" in one_sentence(scored("turned.csv"))


def test_numbers_of_rows_are_not_names(frame, tmp_path, assay):
    """Two files of other rows with one index, and one model: no row is the same."""
    first, second = frame.iloc[:60], frame.iloc[60:].set_axis(range(60))
    shuffled = np.random.default_rng(1).permutation(60)
    first.iloc[shuffled].to_csv(tmp_path / "a.csv")
    second.iloc[shuffled].to_csv(tmp_path / "b.csv")
    assert assay("train", "--data", "a.csv", "--label", "y", "--hidden", "none", "--out", "m.onnx").returncode == 0
    for name in "ab":
        made = assay(
            "study", "--data", f"{name}.csv", "--model", "m.onnx", "--label", "y", "--methods",
            "gradient_x_input,occlusion", "--aggregators", "none", "--baseline", "zero", "--no-curves", "--out", name,
            "--pool", "a.csv",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    told = assay("diff", "a", "b")
    assert told.returncode in (0, 3), told.stderr
    assert "by name" not in told.stdout
    assert "not the same rows" in told.stdout
    same = assay("diff", "a", "a")
    assert "row by row" in same.stdout


@pytest.mark.parametrize("word", ["NULL", "null", "None", "N/A", "n/a", "#N/A", "<NA>", "nan"])
def test_words_for_nothing_among_numbers(frame, tmp_path, described, word):
    text = frame.astype({"inc": object})
    text.loc[[3, 50], "inc"] = word
    text.to_csv(tmp_path / "words.csv", index=False)
    column = next(each for each in described("words.csv", "--label", "y")["columns"] if each["name"] == "inc")
    assert (column["kind"], column["missing"]) == ("numeric", 2)


def test_words_for_nothing_are_levels_among_texts(tmp_path, described):
    (tmp_path / "t.csv").write_text("a,b\nNone,1\nNULL,2\nsome,3\nNA,4\n")
    column = described("t.csv")["columns"][0]
    assert (column["kind"], column["missing"]) == ("categorical", 1)
    assert [each["level"] for each in column["levels"]] == ["NULL", "None", "some"]


def test_more_words_for_nothing_do_not_replace_the_usual(tmp_path, described):
    (tmp_path / "t.csv").write_text("a,b\n-999,1\n3,NA\n4,NaN\n5,2\n")
    first, second = described("t.csv", "--missing", "-999")["columns"]
    assert (first["kind"], first["missing"]) == ("numeric", 1)
    assert (second["kind"], second["missing"]) == ("numeric", 2)


@pytest.mark.parametrize("extension", ["csv", "parquet", "feather"])
def test_a_column_of_numbers_that_names_rows_is_no_attribution(tmp_path, assay, needs, extension):
    """`df.reset_index()` and SQL exports have customer numbers as the first column."""
    needs(f".{extension}")
    draw = np.random.default_rng(1)
    values = pd.DataFrame(draw.normal(size=(30, 3)), columns=["age", "inc", "debt"])
    numbered = values.copy()
    numbered.insert(0, "cust", 1_000_000_000 + np.arange(30))

    def scored(frame, name):
        file = f"{name}.{extension}"
        if extension == "csv":
            frame.to_csv(tmp_path / file, index=False)
        else:
            getattr(frame, f"to_{extension}")(tmp_path / file)
        result = assay("evaluate", "--explanations", file, "--criteria", "complexity", "--json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout), file

    expected, _ = scored(values, "plain")
    found, file = scored(numbered, "numbered")
    assert found["scores"][0]["values"] == expected["scores"][0]["values"]
    assert "taken for the names of rows" in json.dumps(found)
    _, other = scored(numbered, "again")
    result = assay("aggregate", "--members", f"{file},{other}", "--aggregator", "mean", "--out", "mean.csv")
    assert result.returncode == 0, result.stderr
    mean = pd.read_csv(tmp_path / "mean.csv")
    assert mean["cust"].tolist() == numbered["cust"].tolist()

    # Whole numbers beside whole numbers are ranks.
    ranks = pd.DataFrame(np.argsort(draw.normal(size=(3, 3)), axis=0) + 1.0, columns=["age", "inc", "debt"])
    scored(ranks, "ranks")
