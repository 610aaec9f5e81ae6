"""`assay study`: one command, one folder, and what is in it can be checked with other tools."""

import csv
import fcntl
import hashlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

SMALL = ("--methods", "gradient,occlusion,kernel_shap:samples=32", "--aggregators", "mean,ava", "--sample", "12")


def read_json(path):
    return json.loads(path.read_text())


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def results_of(folder):
    """What must be the same from run to run: everything but times."""
    skip = {"run.json", "report.html", "manifest.json"}
    return {name: data for name, data in files_of(folder).items() if name not in skip}


def test_writes_what_it_says(iris):
    folder, _ = iris
    study = read_json(folder / "study.json")
    assert study["schema"] == "assay.study/2"
    names = {entry["name"] for entry in study["entries"]}
    assert {"gradient", "exact_shapley", "mean", "ava", "pareto"} <= names
    for entry in study["entries"]:
        with np.load(folder / "explanations" / f"{entry['stem']}.npz") as explanations:
            assert explanations["values"].shape == (30, 4)
    assert not any(word in (folder / "study.json").read_text() for word in ("seconds", str(folder)))
    run = read_json(folder / "run.json")
    assert run["schema"] == "assay.run/1"


def test_scores_csv_holds_what_study_json_summarises(iris):
    folder, _ = iris
    study = read_json(folder / "study.json")
    with open(folder / "scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30 * len(study["entries"])
    for entry in study["entries"]:
        own = [row for row in rows if row["explanation"] == entry["name"]]
        for criterion, score in zip(study["criteria"], entry["scores"], strict=True):
            if criterion["spec"] not in own[0]:
                continue  # a criterion of the whole data set
            values = [float(row[criterion["spec"]]) for row in own if row[criterion["spec"]] != ""]
            assert len(values) / len(own) == pytest.approx(score["coverage"])
            if values and all(map(math.isfinite, values)):
                assert np.mean(values) == pytest.approx(score["mean"], rel=1e-9, abs=1e-12)


def test_manifest_has_the_hashes_of_all_files(iris):
    folder, _ = iris
    manifest = read_json(folder / "manifest.json")
    outputs = {item["name"]: item["sha256"] for item in manifest["outputs"]}
    found = {name: hashlib.sha256(data).hexdigest() for name, data in files_of(folder).items()}
    found.pop("manifest.json")
    assert outputs == found


def test_the_trained_model_is_one_that_others_can_use(iris, assay):
    folder, _ = iris
    result = assay("predict", "--model", folder / "model.onnx", "--data", "iris", "--split", "test")
    assert result.returncode == 0


@pytest.fixture(scope="module")
def small(program, tmp_path_factory):
    """A small study, for everything that is done to studies."""
    folder = tmp_path_factory.mktemp("small")
    result = subprocess.run(
        [program, "--quiet", "study", "iris", *SMALL, "--out", "study"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return folder / "study"


def test_same_bits_on_one_thread(small, assay, tmp_path):
    assert assay("--threads", "1", "study", "iris", *SMALL, "--out", "one").returncode == 0
    assert results_of(tmp_path / "one") == results_of(small)


def test_a_seed_changes_what_is_sampled(small, assay, tmp_path):
    assert assay("--seed", "1", "study", "iris", *SMALL, "--out", "one").returncode == 0
    assert (tmp_path / "one" / "study.json").read_bytes() != (small / "study.json").read_bytes()


def test_kill_and_resume_to_the_same_bits(small, program, tmp_path):
    """Some of the twenty kills that tests/long makes."""
    draw = random.Random(5)
    for attempt in range(4):
        folder = tmp_path / f"study{attempt}"
        killed = 0
        arguments = [program, "--quiet", "study", "iris", *SMALL, "--out", str(folder)]
        for _ in range(20):
            resume = ["--resume"] if (folder / "settings.json").exists() else []
            process = subprocess.Popen(arguments + resume, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(draw.uniform(0.01, 0.3))
            process.kill()
            _, err = process.communicate()
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, err
            killed += 1
        else:
            assert subprocess.run([*arguments, "--resume"], stdout=subprocess.DEVNULL).returncode == 0
        assert results_of(folder) == results_of(small), f"attempt {attempt}, killed {killed} times"


def test_resume_alone_knows_the_study(small, assay, tmp_path):
    shutil.copytree(small, tmp_path / "copy")
    (tmp_path / "copy" / "scores" / "occlusion.json").unlink()
    (tmp_path / "copy" / "study.json").unlink()
    result = assay("study", "--out", "copy", "--resume")
    assert result.returncode == 0, result.stderr
    assert "finished before: 4 parts" in result.stdout
    assert results_of(tmp_path / "copy") == results_of(small)


def test_a_study_of_the_package_is_left_to_it(small, assay, tmp_path):
    study = tmp_path / "copy"
    shutil.copytree(small, study)
    settings = read_json(study / "settings.json")
    assert settings["program"] == "assay study"
    del settings["program"]  # as files have it that were written before the field was
    (study / "settings.json").write_text(json.dumps(settings))
    (study / "study.json").unlink()
    assert assay("study", "--out", "copy", "--resume").returncode == 0
    (study / "settings.json").write_text(json.dumps({**settings, "program": "assay.study"}))
    manifest = read_json(study / "manifest.json")
    for output in manifest["outputs"]:
        output["sha256"] = hashlib.sha256((study / output["name"]).read_bytes()).hexdigest()
    (study / "manifest.json").write_text(json.dumps(manifest))
    before = files_of(study)
    sentence = (
        "assay: copy/settings.json: it was made by assay.study of the Python package, which goes on with it or runs it "
        "again; `assay verify --files-only` checks its files\n"
    )
    again = ("study", "iris", *SMALL, "--out", "copy", "--resume")
    for command in (("study", "--out", "copy", "--resume"), again, ("verify", "copy")):
        result = assay(*command)
        assert (result.returncode, result.stderr) == (1, sentence), command
    assert assay("verify", "copy", "--files-only").returncode == 0
    assert files_of(study) == before
    assert assay("study", "iris", *SMALL, "--out", "copy", "--overwrite").returncode == 0
    assert read_json(study / "settings.json")["program"] == "assay study"
    assert results_of(study) == results_of(small)


def test_ctrl_c_keeps_finished_parts(program, tmp_path):
    draw = np.random.default_rng(9)
    rows = draw.normal(size=(20_000, 12))  # so many that it takes long after its first part, on any machine
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*(f"x{j}" for j in range(12)), "y"])
        table.writerows([*row, "yes" if row[0] * row[1] > 0 else "no"] for row in rows)
    process = subprocess.Popen(
        [program, "study", "--data", "rows.csv", "--split=test", "--label=y", "--sample=all", "--out", "study"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore it, and so does the program then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "study" / "scores").glob("*.json")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finished parts are kept" in err and "--resume" in err and err.count("\n") == 1
    finished = list((tmp_path / "study" / "scores").glob("*.json"))
    assert 0 < len(finished) < 27
    assert not list(tmp_path.rglob("*.tmp-*"))


REFUSALS = {
    "nothing": (("study",), "a data set by name"),
    "twice": (("study", "iris", "--data", "iris"), "one of a data set by name and --data"),
    "unknown set": (("study", "irsi"), "irsi"),
    "unknown method": (("study", "iris", "--methods", "magic"), "magic"),
    "unknown criterion": (("study", "iris", "--criteria", "magic"), "magic"),
    "unknown aggregator": (("study", "iris", "--aggregators", "magic"), "magic"),
    "unknown member": (("study", "iris", "--methods", "gradient", "--members", "lime"), "--members"),
    "all targets": (("study", "iris", "--target", "all"), "--target"),
    "no pool": (("study", "--data", "rows.csv"), "--pool"),
    "no such file": (("study", "--data", "rows.csv", "--pool", "rows.csv", "--model", "m.onnx"), "m.onnx"),
    "resume nothing": (("study", "--resume", "--out", "nowhere"), "nowhere"),
    "resume without out": (("study", "--resume"), "--out"),
    "encode with a model": (("study", "iris", "--model", "m.onnx", "--encode", "one_hot"), "--encode"),
    "a criterion twice": (("study", "iris", "--criteria", "complexity,complexity"), "twice"),
    "a row twice": (("study", "iris", "--rows", "1,2,1", "--methods", "gradient"), "row 1 twice"),
    "a sample of given rows": (("study", "iris", "--rows", "1,2", "--sample", "2"), "--sample"),
    "no folder": (("study", "iris", "--out", ""), "--out"),
    "no time": (("study", "iris", "--time", ""), "assay: --time: expected a value, found nothing"),
    "no members": (("study", "iris", "--members", ""), "assay: --members: expected a value, found nothing"),
    "no classes": (("study", "iris", "--classes", ""), "assay: --classes: expected a value, found nothing"),
    "no such background": (("study", "iris", "--background", "spread:x"), "assay: --background: expected spread:N"),
    "a folder of too long a name": (("study", "iris", "--out", "d" * 300), "too long"),
    "resume and overwrite": (("study", "iris", "--resume", "--overwrite"), "--overwrite"),
    "resume with half of the arguments": (("study", "--out", "s", "--resume", "--methods", "lime"), "--resume"),
    "grid without images": (("study", "iris", "--groups", "grid:2"), "image"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refuses(case, assay):
    arguments, named = REFUSALS[case]
    result = assay(*arguments)
    assert result.returncode == 1
    assert named in result.stderr and result.stderr.count("\n") == 1, result.stderr


BEFORE_TRAINING = {
    "too short": (("--time", "0.001s"), "--time: expected at least 0.05 s, for no study takes less, found '0.001s'"),
    "unknown member": (("--members", "magic"), "--members: expected methods: "),
    "other member": (
        ("--methods", "gradient", "--members", "lime"),
        "--members: expected methods of the study: gradient, found 'lime'",
    ),
    "unknown class": (("--target", "magic"), "--target of model.onnx: expected auto, predicted, all, setosa, "),
    "all classes": (("--target", "all"), "--target: expected one class or output; "),
}


@pytest.mark.parametrize("case", BEFORE_TRAINING)
def test_what_is_known_before_is_refused_before_a_network_is_trained(case, assay, tmp_path):
    arguments, sentence = BEFORE_TRAINING[case]
    result = assay("study", "iris", *arguments, "--out", "s")
    assert result.returncode == 1
    assert result.stderr.startswith(f"assay: {sentence}") and result.stderr.count("\n") == 1, result.stderr
    assert not (tmp_path / "s" / "model.onnx").exists()


@pytest.mark.parametrize("given", ["--margin=1.5", "--margin=nan", "--margin=some", "--tie=-0.1"])
def test_margins_are_shares(given, assay, tmp_path):
    result = assay("study", "iris", given)
    name, value = given.split("=")
    assert result.returncode == 2
    assert (
        result.stderr == f"assay: {name}: expected a number from 0 to 1, found '{value}' (`assay --help` shows how)\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_never_writes_over_what_it_did_not_make(small, assay, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    result = assay("study", "iris", *SMALL, "--out", "mine")
    assert result.returncode == 1 and "thesis.tex" in result.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    shutil.copytree(small, tmp_path / "copy")
    own = ("notes.txt", "explanations/mine.npz", "scores/mine.json", "pool/mine.npz")
    for name in own:
        (tmp_path / "copy" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "copy" / name).write_text("mine")
    before = files_of(tmp_path / "copy")
    result = assay("study", "iris", *SMALL, "--out", "copy")
    assert result.returncode == 1 and "--overwrite" in result.stderr
    result = assay("study", "iris", "--methods", "gradient", "--out", "copy", "--resume")
    assert result.returncode == 1 and "settings" in result.stderr
    assert files_of(tmp_path / "copy") == before
    result = assay("study", "iris", "--methods", "gradient", "--aggregators", "none", "--out", "copy", "--overwrite")
    assert result.returncode == 0, result.stderr
    assert all((tmp_path / "copy" / name).read_text() == "mine" for name in own)
    assert sorted(path.name for path in (tmp_path / "copy" / "scores").iterdir()) == ["gradient.json", "mine.json"]


def test_a_plan_writes_nothing(assay, tmp_path):
    result = assay("study", "iris", *SMALL, "--plan")
    assert result.returncode == 0 and "model evaluations" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_resume_refuses_an_input_that_changed(assay, tmp_path, root):
    model = root / "tests/fixtures/models/sklearn_logistic_iris/model.onnx"
    assert assay("data", "iris", "--out", "rows.csv").returncode == 0
    arguments = ("study", "--model", model, "--data", "rows.csv", "--pool", "rows.csv", "--label", "species")
    arguments += ("--methods", "occlusion", "--aggregators", "none", "--sample", "9", "--out", "study")
    result = assay(*arguments)
    assert result.returncode == 0, result.stderr
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    (tmp_path / "rows.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    result = assay(*arguments, "--resume")
    assert result.returncode == 1
    assert "rows.csv" in result.stderr and "changed" in result.stderr and result.stderr.count("\n") == 1


def test_a_study_that_fails_leaves_nothing(assay, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i},same\n" for i in range(20)))
    arguments = ("study", "--data", "one.csv", "--pool", "one.csv", "--label", "y", "--out", "deep/study")
    first = assay(*arguments)
    assert first.returncode == 1 and "classes" in first.stderr
    assert not (tmp_path / "deep" / "study").exists()
    assert assay(*arguments).stderr == first.stderr


def test_resume_takes_no_other_seed_and_no_other_parts(small, assay, tmp_path):
    shutil.copytree(small, tmp_path / "copy")
    result = assay("--seed", "5", "study", "--out", "copy", "--resume")
    assert result.returncode == 1 and "--seed" in result.stderr
    other = ("study", "iris", "--methods", "gradient", "--aggregators", "none", "--sample", "12", "--value")
    assert assay(*other, "probability", "--out", "other").returncode == 0
    shutil.copy(tmp_path / "other/explanations/gradient.npz", tmp_path / "copy/explanations/gradient.npz")
    result = assay("study", "--out", "copy", "--resume")
    assert result.returncode == 1
    assert "the margin of" in result.stderr and "made again" in result.stderr and result.stderr.count("\n") == 1


def test_one_study_at_a_time_in_a_folder(small, assay, tmp_path):
    shutil.copytree(small, tmp_path / "copy")
    folder = os.open(tmp_path / "copy", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    result = assay("study", "--out", "copy", "--resume")
    assert result.returncode == 1 and "another study" in result.stderr
    os.close(folder)
    assert assay("study", "--out", "copy", "--resume").returncode == 0


def test_links_in_a_folder_are_refused(small, assay, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    for name in ("report.html", "scores/occlusion.json"):
        shutil.copytree(small, tmp_path / "copy")
        (tmp_path / "copy" / name).unlink()
        (tmp_path / "copy" / name).symlink_to(tmp_path / "precious.txt")
        for arguments in (("--resume",), ("iris", *SMALL, "--overwrite")):
            result = assay("study", "--out", "copy", *arguments)
            assert result.returncode == 1 and "a link" in result.stderr, (name, arguments)
        shutil.rmtree(tmp_path / "copy")
    assert (tmp_path / "precious.txt").read_text() == "mine"


HOSTILE = ['<script>alert("x")</script>', "</script><b>", "a,b\"c'", "naïve {{data}}"]


@pytest.fixture
def hostile(assay, tmp_path):
    """A study whose names and ids are as bad as names can be."""
    draw = np.random.default_rng(3)
    values = draw.normal(size=(60, 4))
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["who", *HOSTILE, "<class>"])
        for i, row in enumerate(values):
            label = "<yes>" if row[0] + row[1] > 0 else "&no;"
            table.writerow([f"<i>{i}</i>", *(f"{v:.6f}" for v in row), label])
    arguments = ("study", "--data", "rows.csv", "--split", "test", "--label", "<class>", "--id", "who")
    result = assay(*arguments, "--methods", "gradient,occlusion", "--aggregators", "mean", "--out", "study")
    assert result.returncode == 0, result.stderr
    return tmp_path / "study", values


def test_text_from_files_stays_text(hostile):
    folder, _ = hostile
    page = (folder / "report.html").read_text()
    for text in (*HOSTILE[:2], "<i>", "<yes>", "<class>"):
        assert text not in page, text
    assert read_json(folder / "study.json")["facts"]["features"] == HOSTILE


def test_ids_name_rows_everywhere(hostile):
    folder, _ = hostile
    with open(folder / "scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["id"].startswith("<i>") for row in rows)
    with np.load(folder / "explanations" / "gradient.npz") as explanations:
        assert list(explanations["ids"]) == [row["id"] for row in rows[: len(explanations["ids"])]]


def test_no_cells_keeps_values_out(assay, tmp_path):
    (tmp_path / "rows.csv").write_text(
        "a,b,y\n" + "".join(f"{i}.0625,{(i * 7) % 11}.03125,{'yn'[i % 2]}\n" for i in range(40))
    )
    arguments = ("study", "--data", "rows.csv", "--split", "test", "--label", "y", "--methods", "gradient")
    arguments += ("--aggregators", "none")
    assert assay(*arguments, "--out", "shown").returncode == 0
    assert assay(*arguments, "--out", "hidden", "--no-cells").returncode == 0
    shown = (tmp_path / "shown" / "report.html").read_text()
    hidden = (tmp_path / "hidden" / "report.html").read_text()
    values = [f"{i}.0625" for i in range(10, 40)]
    assert any(f'"{value}"' in shown for value in values)
    assert not any(value in hidden for value in values)


# Models that others made, as users have them: gradients where there are some, refusals with a reason where not.
MODELS = {"sklearn_logistic_iris": True, "sklearn_forest": False, "lightgbm_three": False}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_others(name, assay, root, tmp_path):
    folder = root / "tests" / "fixtures" / "models" / name
    shutil.copy(folder / "rows.csv", tmp_path / "rows.csv")
    result = assay(
        "study", "--model", folder / "model.onnx", "--data", "rows.csv", "--pool", "rows.csv", "--all", "--out", "study"
    )
    assert result.returncode == 0, result.stderr
    study = read_json(tmp_path / "study" / "study.json")
    left_out = {each["name"]: each["reason"] for each in study["left_out"]}
    names = {entry["name"] for entry in study["entries"]}
    assert ("gradient" in names) == MODELS[name]
    assert {"kernel_shap", "shapley_sampling", "occlusion", "lime", "mean", "ava"} <= names
    if not MODELS[name]:
        assert "gradient" in left_out["gradient"] and "left out: " in result.stdout


def test_retraining_is_asked_for(assay, tmp_path):
    arguments = ("study", "iris", "--methods", "gradient", "--aggregators", "none", "--sample", "10")
    result = assay(*arguments, "--criteria", "complexity", "--retrain", "--out", "study")
    assert result.returncode == 0, result.stderr
    names = {criterion["name"] for criterion in read_json(tmp_path / "study" / "study.json")["criteria"]}
    assert {"roar", "kar"} <= names


def test_adult_when_it_is_here(assay, data_dir, tmp_path):
    result = assay("study", "adult", "--sample", "60", "--pool-sample", "2000", "--out", "study")
    assert result.returncode == 0, result.stderr
    assert "60 of the 16,281 rows of adult (test part)" in result.stdout
    assert read_json(tmp_path / "study" / "study.json")["facts"]["rows"] == 60
    assert os.path.getsize(tmp_path / "study" / "report.html") < 20e6
