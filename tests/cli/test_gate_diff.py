"""`assay gate`, `assay diff` and `assay verify` through the program, on studies of iris."""

import hashlib
import json
import math
import shutil
import subprocess

import pytest

NOT_PASSED = 3
ENTRIES = ("gradient", "occlusion", "mean")


@pytest.fixture(scope="module")
def studies(program, tmp_path_factory):
    """A folder with rows and two models, a study of each, and one that trained its own."""
    where = tmp_path_factory.mktemp("studies")

    def run(*arguments):
        subprocess.run([program, "--quiet", *arguments], cwd=where, check=True, capture_output=True)

    for part in ("train", "test"):
        run("data", "iris", "--split", part, "--out", f"{part}.csv")
    train = ("--label", "species", "--hidden", "8", "--training", "epochs=30")
    run("train", "--data", "train.csv", *train, "--out", "m.onnx")
    run("--seed", "5", "train", "--data", "train.csv", *train, "--out", "other.onnx")
    rows = ("--data", "test.csv", "--pool", "train.csv", "--label", "species")
    small = ("--methods", "gradient,occlusion", "--aggregators", "mean", "--criteria", "faithfulness,complexity")
    small += ("--no-curves", "--no-variations")
    # Drawn by pool and seed alone, so that differences can be tested.
    plain = ("--background", "pool:60")
    run("study", "--model", "m.onnx", *rows, *small, *plain, "--out", "study")
    run("study", "--model", "other.onnx", *rows, *small, *plain, "--out", "after")
    run("study", "iris", "--out", "iris", *small)
    return where


@pytest.fixture
def study(studies, tmp_path):
    """Copies beside each other that a test may spoil: study, after, iris, and what they were made of."""
    shutil.copytree(studies, tmp_path, dirs_exist_ok=True)
    return tmp_path / "study"


@pytest.fixture
def gate(assay, study):
    """gate(*rules) runs the gate and gives its result."""

    def run(*rules, arguments=()):
        path = study.parent / "rules.json"
        path.write_text(json.dumps({"schema": "assay.rules/1", "rules": rules}))
        return assay("gate", "study", "rules.json", *arguments)

    return run


def means(folder, criterion):
    found = json.loads((folder / "study.json").read_text())
    place = [each["name"] for each in found["criteria"]].index(criterion)
    return {entry["name"]: entry["scores"][place]["mean"] for entry in found["entries"]}


def test_a_rule_passes_and_fails_at_the_recorded_mean(gate, study):
    for name, mean in means(study, "complexity").items():
        above, below = math.nextafter(mean, 9), math.nextafter(mean, -9)
        rule = {"criterion": "complexity", "explanation": name}
        kept = gate({**rule, "least": mean}, {**rule, "most": mean})
        assert (kept.returncode, kept.stderr) == (0, "")
        assert kept.stdout.endswith("2 of 2 rules passed\n")
        for bound in ({"least": above}, {"most": below}):
            broken = gate({**rule, **bound}, {**rule, "most": mean})
            assert (broken.returncode, broken.stderr) == (NOT_PASSED, "")
            assert broken.stdout.startswith(f"failed  complexity of {name}: ")
            assert broken.stdout.endswith("1 of 2 rules passed\n")


def test_the_gate_as_json(gate, study):
    result = gate({"criterion": "complexity", "most": 0}, arguments=("--json",))
    assert result.returncode == NOT_PASSED
    found = json.loads(result.stdout)
    assert found["passed"] is False
    checks = {check["explanation"]: check for check in found["rules"][0]["checks"]}
    assert set(checks) == set(ENTRIES)
    assert {name: check["mean"] for name, check in checks.items()} == means(study, "complexity")


def advised(folder, aim):
    return json.loads((folder / "study.json").read_text())["advice"]["recommended"][aim]


def test_rules_about_what_is_recommended(gate, study):
    """By the mean of the entry that the study names: complexity is a criterion that tells the entries apart."""
    complexity = means(study, "complexity")
    for rule, aim in (("recommended", "overall"), ("recommended:faithfulness", "faithfulness")):
        name = advised(study, aim)["explanation"]
        about = {"criterion": "complexity", "explanation": rule}
        kept = gate({**about, "most": complexity[name]})
        assert (kept.returncode, kept.stderr) == (0, "")
        assert kept.stdout.startswith(f"passed  complexity of the recommended, {name}: ")
        assert gate({**about, "most": math.nextafter(complexity[name], -9)}).returncode == NOT_PASSED
    # The study has no criterion of stability, so that it recommends nothing for it.
    assert advised(study, "stability") is None
    failed = gate({"criterion": "complexity", "explanation": "recommended:stability", "most": 9})
    assert (failed.returncode, failed.stderr) == (NOT_PASSED, "")
    assert "no explanation is recommended for stability" in failed.stdout
    assert failed.stdout.endswith("0 of 1 rule passed\n")


def test_the_drivers_of_a_diff_are_those_of_the_first_screen(assay, study):
    found = json.loads(assay("diff", "study", "study", "--json").stdout)
    assert found["drivers"]["explanation"] == advised(study, "overall")["explanation"]


def test_what_cannot_be_checked_is_bad_input(assay, gate, study, one_sentence):
    assert "'faithfulnes'" in one_sentence(gate({"criterion": "faithfulnes", "least": 0}))
    assert "'lime'" in one_sentence(gate({"criterion": "complexity", "explanation": "lime", "least": 0}))
    assert "at least one rule" in one_sentence(gate())
    assert "rules.csv" in one_sentence(assay("gate", "study", "rules.csv"))
    (study / "study.json").unlink()
    assert "no file study.json" in one_sentence(gate({"criterion": "complexity", "least": 0}))
    assert assay("gate", "study").returncode == 2


def test_a_study_does_not_differ_from_itself(assay, study):
    result = assay("diff", "study", "study", "--fail-on-worse")
    assert (result.returncode, result.stderr) == (0, "")
    assert "compared row by row" in result.stdout
    assert "6 scores: 6 same" in result.stdout


def paired(before, after):
    """Mean, standard error and number of the differences of two lists of scores."""
    differences = [b - a for a, b in zip(before, after, strict=True) if a is not None and b is not None]
    mean = sum(differences) / len(differences)
    variance = sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)
    return mean, math.sqrt(variance / len(differences))


def test_differences_are_those_of_the_rows(assay, study):
    result = assay("diff", "study", "after", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert found["same_rows"] is True
    changed = {each["what"] for each in found["inputs"]}
    assert {"input model", "input model sha256"} <= changed
    assert "input data sha256" not in changed
    assert len(found["scores"]) == 2 * len(ENTRIES)
    for score in found["scores"]:
        sides = []
        for folder in ("study", "after"):
            entry = json.loads((study.parent / folder / "scores" / f"{score['explanation']}.json").read_text())
            sides += [each["values"] for each in entry["scores"] if each["criterion"] == score["criterion"]]
        mean, error = paired(*sides)
        assert score["difference"] == pytest.approx(mean, rel=1e-9)
        assert score["stderr"] == pytest.approx(error, rel=1e-9)
        assert score["p_adjusted"] >= score["p"]
        significant = score["p_adjusted"] < 0.05
        better = (score["difference"] > 0) == (score["criterion"] == "faithfulness")
        unclear = "same" if abs(mean) < 1e-6 else "unclear"
        assert score["change"] == (("better" if better else "worse") if significant else unclear)


def test_worse_fails_when_asked_to(assay, study):
    # Complexity is at most ln 4: every row of this study is more complex than any that there was.
    for path in (study.parent / "after" / "scores").glob("*.json"):
        entry = json.loads(path.read_text())
        for scores in entry["scores"]:
            if scores["criterion"] == "complexity":
                scores["values"] = [10 + i / 100 for i in range(len(scores["values"]))]
                scores["mean"] = sum(scores["values"]) / len(scores["values"])
        path.write_text(json.dumps(entry))
    text = json.loads((study.parent / "after" / "study.json").read_text())
    for entry in text["entries"]:
        entry["scores"][1]["mean"] = 10.0
    (study.parent / "after" / "study.json").write_text(json.dumps(text))
    result = assay("diff", "study", "after", "--fail-on-worse")
    assert (result.returncode, result.stderr) == (NOT_PASSED, "")
    assert sum("worse" in line and line.startswith("complexity") for line in result.stdout.splitlines()) == 3
    assert assay("diff", "study", "after").returncode == 0
    # The other way round it is better, and nothing of it is a failure.
    back = json.loads(assay("diff", "after", "study", "--json").stdout)
    assert [each["change"] for each in back["scores"] if each["criterion"] == "complexity"] == ["better"] * 3


SMALL = ("--aggregators", "none", "--no-curves", "--no-variations", "--time", "none", "--label", "species")


def test_what_may_come_from_the_draw_of_the_background_is_not_tested(assay, study):
    words = ("study", "--model", "m.onnx", "--data", "test.csv", "--pool", "train.csv", *SMALL)
    words += ("--methods", "gradient,occlusion", "--criteria", "faithfulness,complexity")
    for seed in ("0", "1"):
        assert assay("--seed", seed, *words, "--out", f"spread{seed}").returncode == 0
        same = ("--background", "pool:40", "--target", seed)
        assert assay(*words, *same, "--out", f"plain{seed}").returncode == 0
    result = assay("diff", "spread0", "spread1", "--fail-on-worse")
    assert result.returncode == 1
    assert result.stderr.startswith("assay: --fail-on-worse: expected two studies against the same background rows")
    assert "note: each study drew background rows of its own" in result.stdout
    found = json.loads(assay("diff", "spread0", "spread1", "--json").stdout)
    changes = {(each["explanation"], each["criterion"]): each["change"] for each in found["scores"]}
    assert changes[("occlusion", "complexity")] == changes[("gradient", "faithfulness")] == "untested"
    assert changes[("gradient", "complexity")] == "same"  # neither has anything to do with the background
    assert all(each["p"] is None for each in found["scores"] if each["change"] == "untested")
    # Another target, and the same rows: by the seed and the pool alone.
    found = json.loads(assay("diff", "plain0", "plain1", "--json").stdout)
    assert "untested" not in {each["change"] for each in found["scores"]}


def test_another_pool_of_the_same_name_is_another_reference(assay, study):
    words = ("study", "--model", "m.onnx", "--data", "test.csv", "--pool", "train.csv", *SMALL)
    words += ("--methods", "gradient,occlusion", "--criteria", "faithfulness,deletion")
    assert assay(*words, "--out", "first").returncode == 0
    lines = (study.parent / "train.csv").read_text().splitlines()
    (study.parent / "train.csv").write_text("\n".join(lines[:60]) + "\n")
    assert assay(*words, "--out", "second").returncode == 0
    out = assay("diff", "first", "second").stdout
    why = "the rows that stand for absent features come from tables with other contents"
    assert f"not compared: deletion, because {why}" in out


@pytest.mark.parametrize(("spec", "direction"), [("addition:form=printed", "lower"), ("addition", "higher")])
def test_the_form_of_a_criterion_says_what_is_better(assay, study, spec, direction):
    words = ("study", "--model", "m.onnx", "--data", "test.csv", "--pool", "train.csv", *SMALL, "--out", "forms")
    assert assay(*words, "--methods", "gradient,occlusion,lime", "--criteria", f"faithfulness,{spec}").returncode == 0
    found = json.loads((study.parent / "forms" / "study.json").read_text())
    assert [each["direction"] for each in found["criteria"]] == ["higher", direction]
    scores = means(study.parent / "forms", "addition")
    rules = {"schema": "assay.rules/1", "rules": [{"criterion": spec, "explanation": "best", "least": -1e9}]}
    (study.parent / "rules.json").write_text(json.dumps(rules))
    best = (min if direction == "lower" else max)(scores, key=scores.get)
    assert f"of the best, {best}: " in assay("gate", "forms", "rules.json").stdout


def test_a_study_verifies(assay, study):
    result = assay("verify", "study")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("verified: ")
    assert result.stdout.endswith(" files are the same, bit for bit\n")
    before = sorted(path.name for path in study.parent.iterdir())
    assert not any(".verify-" in name for name in before)
    # One that trained its own model, on any number of threads, and named with a slash at the end.
    result = assay("--threads", "1", "verify", "iris/", "--json")
    found = json.loads(result.stdout)
    assert (result.returncode, found["verified"], found["exact"], found["problems"]) == (0, True, True, [])


def test_inputs_may_have_moved(assay, study):
    (study.parent / "m.onnx").rename(study.parent / "moved.onnx")
    (study.parent / "test.csv").rename(study.parent / "moved.csv")
    result = assay("verify", "study", "--files-only")
    assert (result.returncode, result.stderr) == (NOT_PASSED, "")
    assert "--model says where it is now" in result.stdout
    assert "--data says where it is now" in result.stdout
    result = assay("verify", "study", "--model", "moved.onnx", "--data", "moved.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert "bit for bit" in result.stdout


@pytest.mark.parametrize("name", ["study.json", "scores.csv", "scores/occlusion.json", "explanations/gradient.npz"])
def test_a_changed_file_is_found(assay, study, name):
    content = bytearray((study / name).read_bytes())
    content[len(content) // 2] ^= 1
    (study / name).write_bytes(content)
    result = assay("verify", "study", "--files-only")
    assert (result.returncode, result.stderr) == (NOT_PASSED, "")
    assert f"'{name}' has changed" in result.stdout
    assert "not verified: 1 problem" in result.stdout


def test_files_that_came_or_went_are_found(assay, study):
    (study / "scores" / "gradient.json").unlink()
    (study / "extra.txt").write_text("x")
    (study.parent / "train.csv").write_text((study.parent / "train.csv").read_text() + "\n")
    result = assay("verify", "study")
    assert result.returncode == NOT_PASSED
    assert "'scores/gradient.json' is missing" in result.stdout
    assert "'extra.txt' is extra" in result.stdout
    assert "the pool, 'train.csv', has changed" in result.stdout


def test_a_forged_study_does_not_come_out_again(assay, study):
    """Whoever changes a result and its hash alike is found by running the study again."""
    text = json.loads((study / "study.json").read_text())
    text["entries"][0]["scores"][0]["mean"] += 0.125
    forged = (json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode()
    (study / "study.json").write_bytes(forged)
    manifest = json.loads((study / "manifest.json").read_text())
    for output in manifest["outputs"]:
        if output["name"] == "study.json":
            output["sha256"] = hashlib.sha256(forged).hexdigest()
    (study / "manifest.json").write_text(json.dumps(manifest))
    assert assay("verify", "study", "--files-only").returncode == 0
    result = assay("verify", "study")
    assert (result.returncode, result.stderr) == (NOT_PASSED, "")
    assert "study.json: 1 field differs, entries[0].scores[0].mean: recorded " in result.stdout
    assert not [path for path in study.parent.iterdir() if ".verify-" in path.name]


def test_no_study_is_bad_input(assay, tmp_path, one_sentence):
    assert "the folder of a finished study" in one_sentence(assay("verify", tmp_path))
    assert "the folder of a study" in one_sentence(assay("diff", "nowhere", "nowhere"))
