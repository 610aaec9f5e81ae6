"""What was missing in the user's table is told as missing, whatever an encoder put in its place."""

import csv
import io
import json
import subprocess

import numpy as np


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_what_was_missing_is_missing_in_reasons_and_in_the_report(program, tmp_path):
    """The encoder of the trained network puts means and modes there; a person knows what was left out."""
    draw = np.random.default_rng(4)

    def write(name, rows, gaps):
        lines = ["age,job,y"]
        for i in range(rows):
            age, job = draw.integers(20, 70), draw.choice(["clerk", "nurse", "pilot"])
            verdict = "good" if (job != "pilot") == (age > 35) else "bad"
            shown_age, shown_job = ("" if gaps and i % 3 == 0 else age), ("" if gaps and i % 3 == 1 else job)
            lines.append(f"{shown_age},{shown_job},{verdict}")
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return [line.split(",") for line in lines[1:]]

    write("pool.csv", 200, False)
    cells = write("rows.csv", 30, True)
    words = ("--data", "rows.csv", "--pool", "pool.csv", "--label", "y", "--time", "none", "--no-curves")
    words += ("--no-variations", "--methods", "exact_shapley,occlusion", "--aggregators", "none", "--out", "study")
    for command in (("study", *words), ("reasons", "study", "--top", "2", "--out", "reasons.csv")):
        done = subprocess.run([program, *command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    found = lines_of((tmp_path / "reasons.csv").read_text())
    told = {"age": set(), "job": set()}
    for line in found:
        cell = cells[int(line["row"]) - 1][["age", "job"].index(line["feature"])]
        assert line["value"] == (cell or "missing")
        assert ("missing" in line["text"]) == (cell == "")
        told[line["feature"]].add(cell == "")
    assert told == {"age": {False, True}, "job": {False, True}}, "the rows do not show what is tested"
    page = (tmp_path / "study" / "report.html").read_text()
    data = page.split('<script type="application/json" id="assay-data">')[1].split("</script>")[0]
    for row, own in zip(json.loads(data)["rows"], cells, strict=True):
        assert row["cells"] == [own[0] or "missing", own[1] or "missing"]
        assert (row["cell_scale"][0] is None) == (own[0] == "")
