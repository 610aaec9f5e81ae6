"""`assay study --time`: what is chosen for it is recorded, and from then on no clock is asked."""

import json
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest


def read_json(path):
    return json.loads(path.read_text())


def results_of(folder):
    """What must be the same from run to run: everything but times."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {
        name: content for name, content in files.items() if name not in ("run.json", "report.html", "manifest.json")
    }


def choices_of(folder):
    return dict(read_json(folder / "settings.json")["choices"])


def test_bad_words_are_refused_before_any_work(assay, tmp_path):
    for word in ("soon", "0", "-3s", "1d", "inf", "5 m"):
        result = assay("study", "iris", f"--time={word}")
        assert (result.returncode, result.stdout) == (1, ""), word
        assert result.stderr == (
            f"assay: --time: expected a time such as 30s, 2m or 1h, a number of seconds, or none, found {word!r}\n"
        )
    assert list(tmp_path.iterdir()) == []


def test_everything_is_chosen_where_there_is_time(assay, tmp_path):
    result = assay("study", "iris", "--time=1h", "--methods=gradient,occlusion,lime", "--out=study")
    assert result.returncode == 0, result.stderr
    assert re.search(r"criteria: about \d+ s of the hour that --time allows", result.stdout, re.M)
    assert "left out for time" not in result.stdout
    assert choices_of(tmp_path / "study") == {
        "time": "1h",
        "sample": "30",
        "background": "100",
        "aggregators": "all",
        "curves": "all",
        "variations": "all",
        "members": choices_of(tmp_path / "study")["members"],
    }
    assert ["sample", "30"] in read_json(tmp_path / "study" / "study.json")["facts"]["settings"]
    assert assay("study", "iris", "--time=none", "--methods=gradient,occlusion,lime", "--out=all").returncode == 0
    assert list(choices_of(tmp_path / "all")) == ["members"]
    shutil.rmtree(tmp_path / "study" / "scores")
    shutil.rmtree(tmp_path / "all" / "scores")
    for name in ("explanations", "pool"):
        for path in (tmp_path / "all" / name).iterdir():
            assert path.read_bytes() == (tmp_path / "study" / name / path.name).read_bytes()


@pytest.fixture(scope="module")
def short(program, tmp_path_factory):
    """A study in six seconds of what takes far longer on any machine: all coalitions of 24 columns."""
    folder = tmp_path_factory.mktemp("short")
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(1200, 24))
    lines = [",".join([*(f"x{j}" for j in range(24)), "y"])]
    for row in rows:
        lines.append(",".join([*(f"{value:.4g}" for value in row), "yes" if row[0] * row[1] > row[2] else "no"]))
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    train = [program, "train", "--data", "rows.csv", "--label", "y", "--out", "model.onnx", "--training", "epochs=2"]
    made = subprocess.run(train, cwd=folder, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    words = ["--model=model.onnx", "--data=rows.csv", "--split=test", "--label=y", "--time=6s", "--out=study"]
    result = subprocess.run(
        [program, "study", "--all", *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def test_what_does_not_fit_is_left_out_and_named(short):
    folder, out = short
    chosen = choices_of(folder / "study")
    assert chosen["time"] == "6s"
    assert "exact_shapley" not in chosen["methods"].split(",")
    assert re.search(r"^left out: exact_shapley takes \d+ evaluations of the model for a row, more time", out, re.M)
    assert re.search(r"^left out for time: .*; all of it takes about .*: assay study .* --time=\w+$", out, re.M)
    assert re.search(r"model evaluations, about \d+ s of the 6 s that --time allows$", out, re.M)
    settings = read_json(folder / "study" / "study.json")["facts"]["settings"]
    assert [pair for pair in settings if pair[0] in chosen] == [list(pair) for pair in chosen.items()]


def test_resume_and_verify_replay_the_choices(short, assay, tmp_path):
    folder, _ = short
    for name in ("rows.csv", "model.onnx"):
        shutil.copy(folder / name, tmp_path)
    shutil.copytree(folder / "study", tmp_path / "study")
    result = assay("verify", "study")
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert "verified" in result.stdout
    # As a study that was killed when it had chosen. The clock would choose otherwise now: of all processors one, and
    # less time than any study takes.
    for name in ("study.json", "manifest.json"):
        (tmp_path / "study" / name).unlink()
    for path in sorted((tmp_path / "study" / "scores").iterdir())[:2]:
        path.unlink()
    result = assay("--threads=1", "study", "--out=study", "--resume")
    assert result.returncode == 0, result.stderr
    assert results_of(tmp_path / "study") == results_of(folder / "study")


def test_recorded_choices_decide_not_the_clock(short, assay, tmp_path):
    """An hour would be enough for everything, and the record says otherwise."""
    folder, _ = short
    for name in ("rows.csv", "model.onnx"):
        shutil.copy(folder / name, tmp_path)
    shutil.copytree(folder / "study", tmp_path / "study")
    path = tmp_path / "study" / "settings.json"
    settings = read_json(path)
    settings["arguments"] = [word.replace("--time=6s", "--time=1h") for word in settings["arguments"]]
    settings["choices"] = [["time", "6s"], ["methods", "gradient,occlusion"], ["sample", "11"], ["curves", "none"]]
    path.write_text(json.dumps(settings))
    for name in ("scores", "explanations", "pool"):
        shutil.rmtree(tmp_path / "study" / name)
    result = assay("study", "--out=study", "--resume")
    assert result.returncode == 0, result.stderr
    study = read_json(tmp_path / "study" / "study.json")
    assert [entry["name"] for entry in study["entries"] if entry["kind"] == "method"] == ["gradient", "occlusion"]
    assert study["facts"]["rows"] == 11
    assert {curve["along"] for entry in study["entries"] for curve in entry["curves"]} == set()


def test_the_pinned_command_makes_the_same_study(short, assay, tmp_path):
    folder, out = short
    for name in ("rows.csv", "model.onnx"):
        shutil.copy(folder / name, tmp_path)
    found = re.search(r"^the same study, whatever the clock says: assay (study .*)$", out, re.M)
    words = shlex.split(found[1])
    assert "--time=none" in words and f"--sample={choices_of(folder / 'study')['sample']}" in words
    result = assay(*words, "--out=pinned")
    assert result.returncode == 0, result.stderr
    expected, made = (read_json(path / "study.json") for path in (folder / "study", tmp_path / "pinned"))
    assert made["entries"] == expected["entries"]
    assert made["facts"]["data"] == expected["facts"]["data"]
    changed = assay("diff", folder / "study", "pinned").stdout
    assert "setting sample" in changed and "setting methods" in changed


def test_a_time_that_is_too_short_is_one_sentence(short, assay, tmp_path):
    folder, _ = short
    for name in ("rows.csv", "model.onnx"):
        shutil.copy(folder / name, tmp_path)
    words = ["--model=model.onnx", "--data=rows.csv", "--split=test", "--label=y", "--methods=exact_shapley"]
    result = assay("study", *words, "--time=0.05s", "--out=study")
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch(
        r"assay: --time: expected at least about [\d.]+ (s|min|h) for exact_shapley on 10 rows, found 0\.05s\n",
        result.stderr,
    )
    assert not (tmp_path / "study").exists()
