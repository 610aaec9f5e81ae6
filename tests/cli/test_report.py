"""assay report: a study's page again, on another explanation, as a summary, from inputs that were moved."""

import csv
import json
import re
import shutil

import numpy as np
import pytest


def data_of(page):
    """The JSON in a report's page."""
    text = page.read_text(encoding="utf-8")
    begin = text.index('id="assay-data">') + len('id="assay-data">')
    return json.loads(text[begin : text.index("</script>", begin)])


FEW = ("--methods", "exact_shapley,gradient,occlusion", "--aggregators", "mean,ava", "--no-curves", "--no-variations")
FEW += ("--criteria", "faithfulness,complexity")


@pytest.fixture
def studied(assay, tmp_path):
    """A small study of Iris in the folder `study`."""
    result = assay("--quiet", "study", "iris", *FEW, "--out", "study")
    assert (result.returncode, result.stderr) == (0, "")
    return tmp_path / "study"


def test_the_same_page_again(assay, studied, tmp_path):
    before = sorted(path.name for path in studied.rglob("*"))
    result = assay("report", "study")
    assert (result.returncode, result.stdout, result.stderr) == (0, "wrote report.html\n", "")
    assert (tmp_path / "report.html").read_bytes() == (studied / "report.html").read_bytes()
    assert sorted(path.name for path in studied.rglob("*")) == before
    assert assay("verify", "study").returncode == 0


def test_another_explanation_is_opened(assay, studied, tmp_path):
    assert assay("--quiet", "report", "study", "--explanation", "occlusion", "--out", "other.html").returncode == 0
    recorded, other = data_of(studied / "report.html"), data_of(tmp_path / "other.html")
    names = [entry["name"] for entry in other["entries"]]
    assert names[other["opened"]] == "occlusion" and names[recorded["opened"]] == "exact_shapley"
    assert other["recommended"] == recorded["recommended"]
    assert "opens on another one: occlusion" in other["sentences"][2]["text"]
    changed = {key for key in other if other[key] != recorded[key]}
    assert changed == {"opened", "drivers", "sentences"}


def test_the_drivers_are_those_of_the_explanations(assay, studied, tmp_path):
    """Sizes and intervals, from the numbers of the NPZ file."""
    data = data_of(studied / "report.html")
    with np.load(studied / "explanations" / "exact_shapley.npz") as file:
        values = np.abs(file["values"].astype(float))
    size = values.mean(axis=0)
    half = 2.0452296421327 * values.std(axis=0, ddof=1) / np.sqrt(30)  # Student's t at 0.975, 29 degrees
    for driver in data["drivers"]:
        feature = driver["feature"]
        assert driver["size"] == pytest.approx(size[feature], rel=1e-5)
        assert [driver["low"], driver["high"]] == pytest.approx(
            [max(0, size[feature] - half[feature]), size[feature] + half[feature]], rel=1e-5
        )
        assert driver["share"] == pytest.approx(size[feature] / size.sum(), rel=1e-5)
    assert [driver["size"] for driver in data["drivers"]] == sorted(
        (one["size"] for one in data["drivers"]), reverse=True
    )


def test_probabilities_are_the_models(assay, studied, tmp_path):
    """Those of the report, against `assay predict` with the study's own model; the margins are what is explained."""
    what = ("--model", "study/model.onnx", "--data", "iris", "--split", "test", "--output", "probability")
    assert assay("predict", *what, "--out", "p.csv").returncode == 0
    with open(tmp_path / "p.csv", newline="") as file:
        predicted = [{name.split(".")[1]: float(p) for name, p in line.items()} for line in csv.DictReader(file)]
    rows = data_of(studied / "report.html")["rows"]
    assert len(rows) == 30
    for row in rows:
        expected = predicted[row["number"] - 1]
        assert row["probability"] == pytest.approx(expected[row["predicted"]], abs=1e-5)
        assert row["probability"] == pytest.approx(max(expected.values()), abs=1e-5)
        assert row["target_probability"] == row["probability"]  # the predicted class is explained


def test_summary_is_small_and_has_no_rows(assay, studied, tmp_path):
    result = assay("report", "study", "--summary")
    assert (result.returncode, result.stdout) == (0, "wrote summary.html\n")
    page = tmp_path / "summary.html"
    data = data_of(page)
    assert data["summary_only"] is True and data["rows"] == [] and page.stat().st_size < 400_000
    assert data["sentences"] == data_of(studied / "report.html")["sentences"]
    assert "plotly.js" not in re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.S)


def test_cells_can_be_kept_out_later(assay, studied, tmp_path):
    assert assay("report", "study", "--no-cells", "--out", "shared.html").returncode == 0
    data = data_of(tmp_path / "shared.html")
    assert data["cells"] is False and data["levels"] is None and "cells" not in data["rows"][0]


def test_as_json(assay, studied, tmp_path):
    result = assay("--json", "report", "study", "--out", "page.html")
    said = json.loads(result.stdout)
    assert said == {"wrote": "page.html", "bytes": (tmp_path / "page.html").stat().st_size}


def refused(result, *parts):
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("assay: ") and result.stderr.count("\n") == 1
    assert [part for part in parts if part not in result.stderr] == []


def test_nothing_is_written_over(assay, studied, tmp_path):
    (tmp_path / "report.html").write_text("mine")
    refused(assay("report", "study"), "--out", "'report.html'", "--overwrite")
    assert (tmp_path / "report.html").read_text() == "mine"
    assert assay("report", "study", "--overwrite").returncode == 0
    assert (tmp_path / "report.html").stat().st_size > 10_000
    refused(assay("report", "study", "--out", "study/extra.html"), "--out", "outside of the study's folder")
    assert assay("verify", "study", "--files-only").returncode == 0


def test_what_cannot_be_done_is_one_sentence(assay, studied, tmp_path):
    refused(assay("report", "study", "--explanation", "exact_shaply"), "--explanation", "did you mean 'exact_shapley'")
    refused(assay("report", "nothing"), "nothing")
    refused(assay("report", "study", "--data", "other.csv"), "other.csv")
    (studied / "model.onnx").unlink()
    refused(assay("report", "study"), "model.onnx", "the model that the study trained")
    assert not (tmp_path / "report.html").exists()


def test_inputs_that_were_moved_and_changed(assay, tmp_path):
    assert assay("data", "iris", "--out", "rows.csv").returncode == 0
    what = ("--data", "rows.csv", "--split", "test", "--label", "species", *FEW, "--out", "study")
    result = assay("--quiet", "study", *what)
    assert (result.returncode, result.stderr) == (0, "")
    shutil.move(tmp_path / "rows.csv", tmp_path / "elsewhere.csv")
    refused(assay("report", "study"), "rows.csv")
    moved = ("--data", "elsewhere.csv")
    assert assay("report", "study", *moved).returncode == 0
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "study" / "report.html").read_bytes()
    text = (tmp_path / "elsewhere.csv").read_text()
    (tmp_path / "elsewhere.csv").write_text(text.replace("5.1", "5.2", 1))
    refused(assay("report", "study", *moved, "--overwrite"), "sha256", "elsewhere.csv")
