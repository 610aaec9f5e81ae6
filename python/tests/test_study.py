"""assay.study and Study: against the command line, NumPy and what the folder holds."""

import gc
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import assay
from assay import _study_html

QUICK = {"methods": ["occlusion", "shapley_sampling:permutations=6", "lime"], "aggregators": ["mean"]}
QUICK |= {"criteria": "faithfulness,complexity,avg_sensitivity", "curves": False}
ROWS = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)


def smooth(rows):
    return np.tanh(rows @ np.array([1, -2, 0.5, 0.25], np.float32)) + rows[:, 0] * rows[:, 1]


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def results_of(folder):
    """What must be the same from run to run: everything but times, and the manifest, which has their hashes."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {
        name: content for name, content in files.items() if name not in ("run.json", "report.html", "manifest.json")
    }


@pytest.fixture(scope="module")
def command(root, program):
    """command(*arguments) runs the program of the package, or the one that was built beside it."""
    path = program if program.exists() else root / "build" / "assay"
    options = {"capture_output": True, "text": True, "timeout": 300}
    return lambda *arguments, cwd=None: subprocess.run([path, *map(str, arguments)], cwd=cwd, **options)


@pytest.fixture(scope="module")
def printed(command, tmp_path_factory):
    """The default study of iris by the command line: its folder and what it prints."""
    folder = tmp_path_factory.mktemp("command") / "study"
    result = command("study", "iris", "--all", "--out", folder)
    assert (result.returncode, result.stderr) == (0, "")
    return folder, result.stdout.partition("\n\n")[2].rpartition("\nwrote ")[0]


@pytest.fixture(scope="module")
def parts():
    return assay.dataset("iris", split="train"), assay.dataset("iris", split="test")


@pytest.fixture(scope="module")
def iris(printed, parts, tmp_path_factory):
    """The same study through Python, of the model that the command line trained."""
    train, test = parts
    model = assay.load(printed[0] / "model.onnx")
    return assay.study(model, test, pool=train, out=tmp_path_factory.mktemp("python") / "study")


@pytest.fixture(scope="module")
def black_box(tmp_path_factory):
    """A small study of a function, which is called as it is."""
    out = tmp_path_factory.mktemp("function") / "study"
    return assay.study(assay.wrap(smooth), ROWS[:20], pool=ROWS, out=out, **QUICK)


# The same as the command line -------------------------------------------------------------------------------------


def test_scores_are_those_of_the_command_line(printed, iris):
    theirs = printed[0]
    names = sorted(path.name for path in (theirs / "scores").iterdir())
    assert len(names) == 27
    assert sorted(path.name for path in (iris.folder / "scores").iterdir()) == names
    for name in [*(f"scores/{name}" for name in names), "scores.csv"]:
        assert (iris.folder / name).read_bytes() == (theirs / name).read_bytes(), name
    found, expected = iris.json, read_json(theirs / "study.json")
    for key in ("verdict", "warnings", "criteria", "left_out", "notes"):
        assert found[key] == expected[key]
    for ours, other in zip(found["entries"], expected["entries"], strict=True):
        assert ours["scores"] == other["scores"] and ours["variations"] == other["variations"]


def test_attributions_are_those_of_the_command_line(printed, iris):
    for entry in iris.json["entries"]:
        with np.load(printed[0] / "explanations" / f"{entry['stem']}.npz") as theirs:
            ours = iris.explanations[entry["name"]]
            assert ours.values.tobytes() == theirs["values"].tobytes(), entry["name"]
            assert ours.base.tobytes() == theirs["base"].tobytes(), entry["name"]


def test_a_data_set_by_name_is_studied_as_the_command_line_does(printed):
    study = assay.study("iris")
    theirs = read_json(printed[0] / "study.json")
    assert [entry["scores"] for entry in study.json["entries"]] == [entry["scores"] for entry in theirs["entries"]]
    assert all(study.facts[name] == theirs["facts"][name] for name in ("accuracy", "title"))
    hashes = {each["role"]: each["sha256"] for each in theirs["facts"]["inputs"]}
    assert {each["sha256"] for each in study.facts["inputs"]} == set(hashes.values())


def test_it_prints_what_the_command_line_prints(printed, iris):
    folder, text = printed
    loaded = assay.Study.load(folder)
    text = re.sub(r"\nNext .*\n(?: {11}.*\n)*", "\n", text)  # which is a command
    assert text.startswith(f"{loaded!r}\n\n{loaded.table()}\n{loaded.conclusions()}")
    assert repr(iris) == repr(loaded)


def test_the_seed_draws_the_split_as_the_command_line_does(command, tmp_path):
    words = ("--methods", "gradient", "--criteria", "complexity", "--aggregators", "none", "--no-variations")
    result = command("--seed", 3, "study", "iris", *words, "--out", tmp_path / "study")
    assert result.returncode == 0, result.stderr
    ours = assay.study("iris", methods="gradient", criteria="complexity", aggregators="none", variations=False, seed=3)
    theirs = assay.Study.load(tmp_path / "study")
    assert ours.explanations["gradient"].values.tobytes() == theirs.explanations["gradient"].values.tobytes()
    assert {each["sha256"] for each in ours.facts["inputs"]} == {each["sha256"] for each in theirs.facts["inputs"]}


def test_it_prints_shares_and_reasons_as_the_command_line_does(command, tmp_path):
    words = ("--criteria", "max_sensitivity:radius=0.15,conviction,identity,separability", "--no-curves")
    # Seven without a score: each by its name, not "and 1 more".
    words += ("--aggregators", "mean,median,borda,copeland,convex,centroid,kemeny_young")
    result = command("study", "iris", *words, "--all", "--out", tmp_path / "study")
    assert result.returncode == 0 and " %)" in result.stdout and "no score" in result.stdout
    text = result.stdout.partition("\n\n")[2].rpartition("\nwrote ")[0]
    loaded = assay.Study.load(tmp_path / "study")
    assert text.startswith(f"{loaded!r}\n\n{loaded.table()}\n{loaded.conclusions()}")


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, ""), (0.999, "(99 %)"), (0.675, "(68 %)"), (0.672, "(67 %)"), (0.001, "(1 %)")]
)
def test_shares_are_never_rounded_to_all_or_nothing(share, text):
    assert _study_html.coverage_text({"mean": 1.0, "coverage": share}) == text
    assert _study_html.coverage_text({"mean": None, "coverage": share}) == ""


def test_the_plan_is_that_of_the_command_line(command, printed, parts, tmp_path):
    train, test = parts
    theirs = command("study", "iris", "--plan", cwd=tmp_path)
    ours = assay.study_plan(assay.load(printed[0] / "model.onnx"), test, pool=train)
    wanted = [line for line in theirs.stdout.splitlines() if line.startswith(("rows: ", "11 ", "16 ", "note: "))]
    assert len(wanted) == 6 and set(wanted) <= set(ours.splitlines())
    with pytest.raises(TypeError, match="polo"):
        assay.study_plan(assay.wrap(smooth), ROWS, polo=ROWS)


def test_gate_diff_and_verify_take_the_folder(command, iris, printed, tmp_path):
    rules = tmp_path / "rules.json"
    bound = {"criterion": "complexity", "explanation": "best"}
    for most, code in ((10, 0), (0.001, 3)):
        rules.write_text(json.dumps({"schema": "assay.rules/1", "rules": [{**bound, "most": most}]}))
        assert command("gate", iris.folder, rules).returncode == code
    same = command("diff", printed[0], iris.folder, "--json")
    assert same.returncode == 0
    assert not [each for each in json.loads(same.stdout)["scores"] if each["change"] not in ("same", "not significant")]
    assert command("verify", "--files-only", iris.folder).returncode == 0
    copy = tmp_path / "copy"
    iris.save(copy)
    assert command("verify", "--files-only", copy).returncode == 0
    with open(copy / "scores.csv", "a") as file:
        file.write("\n")
    assert command("verify", "--files-only", copy).returncode == 3


# What a Study says ------------------------------------------------------------------------------------------------


def test_the_table_holds_means_of_the_rows(iris):
    pandas = pytest.importorskip("pandas", reason="to_pandas needs it")
    frame = iris.to_pandas()
    assert list(frame.index) == iris.entries and list(frame.columns) == iris.criteria
    rows = pandas.read_csv(iris.folder / "scores.csv")
    means = rows.groupby("explanation")[iris.criteria].mean().loc[iris.entries]
    np.testing.assert_allclose(frame.to_numpy(), means.to_numpy(), rtol=1e-12)
    # Rows are independent for complexity: the standard error of a mean.
    both = iris.to_pandas(errors=True)
    assert both.shape == (27, 33) and list(both.columns.names) == ["criterion", "what"]
    errors = rows.groupby("explanation")["complexity"].sem().loc[iris.entries]
    np.testing.assert_allclose(both["complexity", "error"], errors, rtol=1e-9, atol=1e-15)
    assert both["complexity", "mean"].equals(frame["complexity"])


def test_best_are_the_first_and_those_tied_with_it(iris):
    frame = iris.to_pandas(errors=True)
    for criterion in iris.json["criteria"]:
        spec = criterion["spec"]
        best = iris.best(spec)
        means = frame[spec, "mean"].dropna()
        first = means.max() if criterion["direction"] == "higher" else means.min()
        assert means[best[0]] == first
        assert set(best) == set(frame.index[frame[spec, "standing"].isin(["best", "tied"])])
    with pytest.raises(ValueError, match=r"criterion: expected one of faithfulness, .* found 'beauty'"):
        iris.best("beauty")


def test_entries_have_explanations_and_scores(iris, printed, parts):
    train, test = parts
    assert iris.entries == [*iris.methods, *iris.aggregates] and len(iris.aggregates) == 16
    assert list(iris.explanations) == list(iris.scores) == iris.entries
    model = assay.load(printed[0] / "model.onnx")
    own = assay.explain(model, test, "kernel_shap", pool=train)
    few = {"methods": "kernel_shap", "criteria": "complexity", "aggregators": "none", "variations": False}
    of_mean = assay.study(model, test, pool=train, baseline="mean", curves=False, **few)
    assert of_mean.explanations["kernel_shap"].values.tobytes() == own.values.tobytes()
    for name in iris.entries:
        shares = np.abs(iris.explanations[name].values.astype(np.float64))
        shares /= shares.sum(axis=1, keepdims=True)
        entropy = -np.sum(shares * np.log(shares, out=np.zeros_like(shares), where=shares > 0), axis=1)
        np.testing.assert_allclose(iris.scores[name]["complexity"].values, entropy, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("name", "spec"), [("lime", "avg_sensitivity"), ("mean", "faithfulness")])
def test_explanations_of_a_study_can_be_scored_again(iris, name, spec):
    again = assay.evaluate(iris.explanations[name], spec)[spec]
    np.testing.assert_array_equal(again.values, iris.scores[name][spec].values)


def test_sentences_and_facts(iris):
    assert iris.verdict[0].startswith("Use ")
    assert iris.warnings and iris.facts["rows"] == 30 and iris.facts["pool_rows"] == 120
    assert iris.left_out == [] and iris.notes
    assert set(iris.dominated()) <= set(iris.entries) and set(iris.dominated().values()) <= set(iris.entries)


def test_html_marks_the_best_and_has_the_verdict(iris):
    shown = iris._repr_html_()
    assert shown.count("<tr>") == 28 and "<b>Verdict</b>" in shown
    for criterion in ("faithfulness", "max_sensitivity", "avg_sensitivity", "complexity"):
        assert criterion in shown
    tied = sum(len(iris.best(name)) for name in ("faithfulness", "max_sensitivity", "avg_sensitivity", "complexity"))
    assert shown.count("</b>~</td>") + shown.count("</b>*</td>") == tied
    assert "7 more criteria" in shown


def test_show_opens_the_report(iris, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    iris.show()
    assert opened == [iris.report.absolute().as_uri()] and opened[0].startswith("file:///")
    assert iris.report.read_text().startswith("<!")


# Folders ----------------------------------------------------------------------------------------------------------


def same_scores(first, second):
    assert first.criterion == second.criterion and first.options == second.options
    np.testing.assert_array_equal(first.values, second.values)
    assert (first.standard_error is None) == (second.standard_error is None)
    if first.standard_error is not None:
        np.testing.assert_array_equal(first.standard_error, second.standard_error)
    np.testing.assert_array_equal(
        [first.mean, first.error, *first.interval], [second.mean, second.error, *second.interval]
    )
    for part in ("direction", "of_rows", "undefined", "coverage", "notes", "evaluations"):
        assert getattr(first, part) == getattr(second, part), part
    assert repr(first.tables) == repr(second.tables)


def test_load_gives_back_what_was_run(iris):
    loaded = assay.Study.load(iris.folder)
    assert loaded.json == iris.json and repr(loaded) == repr(iris) and loaded._repr_html_() == iris._repr_html_()
    assert loaded.entries == list(loaded.explanations) == list(loaded.scores)
    for name in iris.entries:
        ours, theirs = iris.explanations[name], loaded.explanations[name]
        assert ours.values.tobytes() == theirs.values.tobytes() and ours.provenance == theirs.provenance
        assert list(loaded.scores[name]) == iris.criteria
        for criterion in iris.criteria:
            same_scores(iris.scores[name][criterion], loaded.scores[name][criterion])


def test_a_temporary_folder_goes_with_the_study(tmp_path):
    study = assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, **QUICK)
    folder = study.folder
    assert study.report.exists()
    child = os.fork()
    if child == 0:
        # What ends here is a copy of the study.
        del study
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.exists()
    study.save(tmp_path / "new" / "kept")
    text = repr(study)
    del study
    gc.collect()
    assert not folder.exists() and not folder.parent.exists()
    assert repr(assay.Study.load(tmp_path / "new" / "kept")) == text


def test_save_refuses_what_is_not_empty(black_box, tmp_path):
    (tmp_path / "empty").mkdir()
    black_box.save(tmp_path / "empty")
    assert results_of(tmp_path / "empty") == results_of(black_box.folder)
    kept = results_of(tmp_path / "empty")
    (tmp_path / "file").write_text("precious")
    for name in ("empty", "file"):
        with pytest.raises(FileExistsError, match="folder: expected a new or empty folder"):
            black_box.save(tmp_path / name)
    assert results_of(tmp_path / "empty") == kept and (tmp_path / "file").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


def test_a_folder_with_a_study_is_kept(black_box, tmp_path):
    black_box.save(tmp_path / "study")
    before = results_of(tmp_path / "study")
    with pytest.raises(ValueError, match=r"out: expected a folder without a study.*resume=True.*overwrite=True"):
        assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, out=tmp_path / "study", **QUICK)
    assert results_of(tmp_path / "study") == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match=r"mine\.txt"):
            assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, out=tmp_path / "other", overwrite=overwrite, **QUICK)
    other = assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, out=tmp_path / "study", overwrite=True, **QUICK)
    assert other.facts["rows"] == 10


OTHERS = {
    "methods": {"methods": "occlusion,lime"},
    "seed": {"seed": 1},
    "sample": {"sample": 10},
    "baseline": {"baseline": [0.0, 0.0, 0.0, 1.0]},
    "cells": {"cells": False},
    "groups": {"groups": {"both": ["0", "1"]}},
    "curves": {"curves": True},
    "variations": {"variations": False},
    "members": {"members": ["lime", "occlusion"]},
    "ids": {"ids": np.arange(20)},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_resume_refuses_other_settings(black_box, tmp_path, other):
    black_box.save(tmp_path / "study")
    before = results_of(tmp_path / "study")
    with pytest.raises(ValueError, match="settings of this study"):
        assay.study(assay.wrap(smooth), ROWS[:20], pool=ROWS, out=tmp_path / "study", resume=True, **{**QUICK, **other})
    assert results_of(tmp_path / "study") == before


@pytest.mark.parametrize("what", ["rows", "pool", "model"])
def test_resume_refuses_other_inputs(black_box, tmp_path, what):
    black_box.save(tmp_path / "study")
    rows = ROWS[:20] + np.float32(what == "rows")
    pool = ROWS + np.float32(what == "pool")
    model = assay.wrap(smooth) if what != "model" else assay.wrap(lambda rows: -smooth(rows), name="smooth")
    with pytest.raises(ValueError, match="changed since the study"):
        assay.study(model, rows, pool=pool, out=tmp_path / "study", resume=True, **QUICK)


def test_resume_takes_the_same_said_otherwise(black_box, tmp_path):
    black_box.save(tmp_path / "study")
    (tmp_path / "study" / "study.json").unlink()
    said = {**QUICK, "methods": "occlusion,shapley_sampling:permutations=6,lime", "aggregators": "mean"}
    said["criteria"] = [("faithfulness", {}), "complexity", "avg_sensitivity"]
    called = []

    def watched(rows):
        called.append(len(rows))
        return smooth(rows)

    again = assay.study(
        assay.wrap(watched, name="smooth"), ROWS[:20], pool=ROWS, out=tmp_path / "study", resume=True, **said
    )
    assert results_of(again.folder) == results_of(black_box.folder)
    assert repr(again.scores) == repr(black_box.scores)
    # Nothing is explained again: what is left is the trial of the plan.
    assert 0 < sum(called) < sum(entry["evaluations"] for entry in again.json["entries"]) / 2


def test_what_stops_a_study_leaves_its_finished_parts(black_box, tmp_path):
    folder = tmp_path / "study"

    def failing(rows):
        if list(folder.glob("scores/shapley_sampling*")):
            raise KeyboardInterrupt
        return smooth(rows)

    with pytest.raises(KeyboardInterrupt):
        assay.study(assay.wrap(failing, name="smooth"), ROWS[:20], pool=ROWS, out=folder, **QUICK)
    assert sorted(path.stem for path in folder.glob("scores/*")) == ["occlusion", "shapley_sampling-permutations-6"]
    with pytest.raises(ValueError, match=r"finished study, found no file study\.json"):
        assay.Study.load(folder)
    study = assay.study(assay.wrap(smooth), ROWS[:20], pool=ROWS, out=folder, resume=True, **QUICK)
    assert results_of(folder) == results_of(black_box.folder)
    assert study.explanations["lime"].values.tobytes() == black_box.explanations["lime"].values.tobytes()
    assert "made by an earlier run" in study.table()


SLOW = textwrap.dedent(
    """
    import sys
    import numpy, assay
    rows = numpy.random.default_rng(0).normal(size=(4000, 4)).astype("f")
    model = assay.load(sys.argv[1])
    assay.study(model, rows, pool=rows[:500], sample="all", out=sys.argv[2],
                methods="gradient,shapley_sampling:permutations=3000,lime:samples=5000", aggregators="none",
                criteria="complexity", variations=False, curves=False, threads=1)
    """
)


def test_control_c_stops_a_study(printed, tmp_path):
    folder = tmp_path / "study"
    command = [sys.executable, "-c", SLOW, str(printed[0] / "model.onnx"), str(folder)]
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **heed) as process:
        while process.poll() is None and not list(folder.glob("scores/gradient.json")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=100)
    assert said.splitlines()[-1] == "KeyboardInterrupt" and process.returncode == -signal.SIGINT
    assert (folder / "settings.json").exists() and not (folder / "study.json").exists()
    assert (folder / "scores" / "gradient.json").exists()


def test_a_failed_study_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def failing(rows):
        if any(tmp_path.glob("*/study/scores/occlusion.json")):
            raise ZeroDivisionError
        return smooth(rows)

    with pytest.raises(ZeroDivisionError):
        assay.study(assay.wrap(failing), ROWS[:10], pool=ROWS, **QUICK)
    assert list(tmp_path.iterdir()) == []


# Models of others -------------------------------------------------------------------------------------------------


def test_a_function_is_studied_on_the_rows_it_takes(black_box):
    assert black_box.methods == ["occlusion", "shapley_sampling:permutations=6", "lime"]
    # The study's background is the whole pool, in the order of its scores.
    background = ROWS[np.argsort(smooth(ROWS), kind="stable")]
    own = assay.explain(assay.wrap(smooth), ROWS[:20], "occlusion", background=background)
    np.testing.assert_allclose(black_box.explanations["occlusion"].values, own.values, rtol=1e-5, atol=1e-6)
    # Occlusion by hand: the output less its mean over the pool's rows with one feature of theirs.
    for j in range(4):
        absent = np.repeat(ROWS[:20, None], len(ROWS), axis=1)
        absent[:, :, j] = ROWS[:, j]
        without = smooth(absent.reshape(-1, 4)).reshape(20, len(ROWS)).mean(axis=1)
        np.testing.assert_allclose(own.values[:, j], smooth(ROWS[:20]) - without, atol=1e-5)


def test_the_reference_is_a_background_unless_it_is_said(black_box):
    facts = black_box.facts
    assert facts["reference"] == "all 60 rows of pool"
    about = facts["reference_facts"]
    assert (about["rows"], about["background"], about["probability"]) == (60, True, None)
    assert about["value"] == pytest.approx(smooth(ROWS).mean(), abs=1e-6)
    assert about["pool_value"] == pytest.approx(smooth(ROWS).mean(), abs=1e-6)
    varied = {each["value"] for entry in black_box.json["entries"] for each in entry["variations"]}
    assert "mean of pool" in varied
    few = {**QUICK, "methods": ["occlusion"], "aggregators": "none", "criteria": "complexity"}
    many = np.random.default_rng(4).normal(size=(400, 4)).astype(np.float32)
    spread = assay.study(assay.wrap(smooth), ROWS[:5], pool=many, **few)
    assert spread.facts["reference"] == "100 rows of pool, spread over its scores"
    # One row of each four along the scores: its mean is within the mean width of a stratum.
    order = np.sort(smooth(many))
    width = (order[3::4] - order[::4]).mean()
    assert abs(spread.facts["reference_facts"]["value"] - order.mean()) < width
    said = assay.study(assay.wrap(smooth), ROWS[:5], pool=many, baseline="mean", **few)
    assert said.facts["reference"] == "mean of pool" and said.facts["reference_facts"]["rows"] == 1
    drawn = assay.study(assay.wrap(smooth), ROWS[:5], pool=many, background="pool:9", **few)
    assert drawn.facts["reference"] == "9 rows of pool"
    plan = assay.study_plan(assay.wrap(smooth), ROWS[:5], pool=many, **few)
    assert "\nreference: 100 rows of pool, spread over its scores; the model gives " in plan


def test_samples_and_rows_of_the_pool(black_box):
    drawn = {"sample": 7, "pool_sample": 30, "baseline": "mean"}
    study = assay.study(assay.wrap(smooth), ROWS[:20], pool=ROWS[20:], **drawn, **QUICK)
    facts = study.facts
    assert (facts["rows"], facts["rows_available"]) == (7, 20)
    assert (facts["pool_rows"], facts["pool_rows_available"]) == (30, 40)
    numbers = [int(name) - 1 for name in study.explanations["occlusion"].ids]
    own = assay.explain(assay.wrap(smooth), ROWS[numbers], "occlusion", pool=ROWS[20:])
    assert study.explanations["occlusion"].values.tobytes() == own.values.tobytes()


@pytest.mark.parametrize("none", ["none", []])
def test_without_aggregates(none):
    study = assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, **{**QUICK, "aggregators": none})
    assert study.aggregates == [] and len(study.entries) == 3
