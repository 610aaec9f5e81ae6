"""Options do what they say, or are refused: none is silently ignored, wraps around or means something else."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        "neighbours iris --radius nan",
        "neighbours iris --radius inf",
        "neighbours iris --radius -1",
        "neighbours iris --k 99999999999999999999",
        "neighbours iris --k 0",
        "neighbours iris --k -1",
        "neighbours iris --rows -1",
        "neighbours iris --rows 0x10",
        "neighbours iris --k 3 --radius 1",
        "describe iris --skip-lines -1",
        "describe iris --seed 18446744073709551616",
        "describe iris --seed 1.5",
    ],
)
def test_numbers_out_of_range_are_bad_usage(assay, arguments):
    result = assay(*arguments.split())
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("assay: ") and result.stderr.count("\n") == 1 and len(result.stderr) < 200


def test_an_unknown_command_is_named(assay):
    result = assay("descibe", "iris")
    assert result.returncode == 2
    assert result.stderr.startswith("assay: there is no command 'descibe' (did you mean 'describe'?); the commands are")


@pytest.mark.parametrize("option", ["--delimiter tab", "--names q,r", "--skip-lines 7", "--header yes", "--missing x"])
@pytest.mark.parametrize("table", ["iris", "x.npy"])
def test_options_of_text_files_are_refused_elsewhere(assay, one_sentence, tmp_path, option, table):
    np.save(tmp_path / "x.npy", np.zeros((3, 2), "f4"))
    sentence = one_sentence(assay("describe", table, *option.split()))
    assert table in sentence and "text file" in sentence


def test_skipping_more_lines_than_there_are_ends(assay, one_sentence, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "empty file" in one_sentence(assay("describe", "a.csv", "--skip-lines", 10**12))


def test_a_list_does_not_swallow_the_next_word(assay, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    result = assay("describe", "--categorical", "a,b", "a.csv")
    assert result.returncode == 0 and result.stdout.count("2 levels") + result.stdout.count("2 classes") == 2


def test_numbers_that_float32_confuses_are_no_levels(assay, one_sentence, tmp_path):
    """100000001 to 100000003 are one number in float32: refused as levels, not merged. As ids they stay as they are."""
    table = pa.table({"key": pa.array([100000001, 100000002, 100000003]), "x": [1.0, 2.0, 3.0]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    sentence = one_sentence(assay("describe", "t.parquet", "--categorical", "key"))
    assert "t.parquet, column 'key'" in sentence and "float32" in sentence
    result = assay("data", "t.parquet", "--id", "key", "--out", "-")
    assert result.stdout.splitlines() == ["key,x", "100000001,1", "100000002,2", "100000003,3"], result.stderr


def test_standard_input_is_csv(assay):
    result = assay("describe", "-", input="a,b\n1,x\n2,y\n")
    assert result.returncode == 0 and "2 rows" in result.stdout


def test_compression_by_name_in_any_case(assay, tmp_path):
    assert assay("data", "iris", "--out", "X.CSV.GZ").returncode == 0
    assert gzip.decompress((tmp_path / "X.CSV.GZ").read_bytes()).startswith(b"sepal_length,")


def test_bad_outputs_are_refused_before_the_table_is_read(assay, one_sentence, tmp_path):
    """The input does not exist: the sentence must be about the output."""
    assert "'.docx'" in one_sentence(assay("data", "none.csv", "--out", "x.docx"))
    assert "no folder" in one_sentence(assay("data", "none.csv", "--out", "no/where.csv"))
    empty = tmp_path / "empty"
    empty.mkdir()
    sentence = one_sentence(assay("data", "none.csv", "--out", "x.parquet", env={"ASSAY_PLUGIN_DIR": str(empty)}))
    assert "Arrow plugin" in sentence


def test_whole_numbers_are_written_without_exponent(assay, tmp_path):
    (tmp_path / "a.csv").write_text("n,m\n100000,1\n2000000,2\n")
    assert assay("data", "a.csv", "--out", "-").stdout == "n,m\n100000,1\n2000000,2\n"


def test_a_part_without_rows_is_refused(assay, one_sentence, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "training and a test part" in one_sentence(assay("describe", "a.csv", "--split", "test"))


def test_rows_are_chosen_alike_everywhere(assay, one_sentence):
    """Ranges and lists, as `explain` takes them."""
    listed = assay("neighbours", "iris", "--rows", "1,2,3,5", "--k", 2)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert assay("neighbours", "iris", "--rows", "1-3,5", "--k", 2).stdout == listed.stdout
    for rows in ("0-3", "3-1", "140-151", "151"):
        sentence = one_sentence(assay("neighbours", "iris", "--rows", rows))
        assert "--rows: expected rows from 1 to 150, as in 1,5,10-20" in sentence and rows in sentence


def test_a_column_too_small_to_scale_is_named(assay, one_sentence, tmp_path):
    lines = [f"{i % 7}e-42,{i % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(70)]
    (tmp_path / "x.csv").write_text("\n".join(["tiny,plain,y", *lines]) + "\n")
    sentence = one_sentence(assay("train", "--data", "x.csv", "--label", "y", "--out", "m.onnx"))
    assert "x.csv, column 'tiny'" in sentence and "rate" not in sentence
    assert not (tmp_path / "m.onnx").exists()


def test_a_wish_for_help_is_no_setting_of_a_study(assay, one_sentence, tmp_path):
    (tmp_path / "made").mkdir()
    settings = {"schema": "assay.settings/1", "program": "assay study", "version": "0.1.0", "vector_target": "AVX2"}
    settings |= {"seed": 0, "arguments": ["iris", "--help"], "inputs": []}
    (tmp_path / "made" / "settings.json").write_text(json.dumps(settings))
    sentence = one_sentence(assay("study", "--out", "made", "--resume"))
    assert (
        "made/settings.json: its arguments are not those of a study" in sentence and "not expected: --help" in sentence
    )
