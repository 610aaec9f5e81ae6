"""`assay reproduce --quick`: every table runs, shows the paper's numbers beside ours, and says which findings hold."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

EXPERIMENTS = ("faithfulness", "sensitivity", "ava", "mnist")
STATUSES = ("replicates", "does not replicate", "cannot be tested here")
# Table 1 of the paper.
MNIST = {"Best": 3.688, "Convex": 3.685, "Gradient-Descent": 3.575, "Region-Shrinking": 3.208}
NOWHERE = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "/nowhere", "HOME": "/nowhere"}


@pytest.fixture(scope="module")
def made(program, tmp_path_factory):
    """made(*arguments, env) runs the program once for all tests: what it printed, and page.md and page.json."""
    runs = {}

    def run(*arguments, env=None):
        key = (arguments, tuple(sorted((env or {}).items())))
        if key not in runs:
            folder = tmp_path_factory.mktemp("reproduce")
            done = subprocess.run(
                [program, *arguments],
                cwd=folder,
                env={**os.environ, **(env or {})},
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert (done.returncode, done.stderr) == (0, "")
            runs[key] = done.stdout, folder
        return runs[key]

    return run


@pytest.fixture(params=EXPERIMENTS)
def table(request, made):
    """One table of those that run without any files, and its text on the terminal; MNIST needs its images."""
    if request.param == "mnist":
        request.getfixturevalue("data_dir")
        env = {}
    else:
        env = NOWHERE
    text, folder = made("reproduce", request.param, "--quick", "--out", "page.json", env=env)
    (found,) = json.loads((folder / "page.json").read_text())["tables"]
    assert found["name"] == request.param
    return found, text


def test_papers_numbers_stand_beside_ours(table):
    found, text = table
    assert found["title"] in text and found["protocol"]
    assert any(entry["paper"] is not None for entry in found["numbers"])
    for entry in found["numbers"]:
        line = [entry["data"], entry["row"], entry["column"]]
        spread = "" if entry["paper_spread"] is None else rf" \+- {re.escape(short(entry['paper_spread']))}"
        paper = "-" if entry["paper"] is None else re.escape(short(entry["paper"])) + spread
        pattern = r"^" + r" +".join(map(re.escape, line)) + rf" +{paper} +{re.escape(short(entry['ours']))} "
        assert re.search(pattern, text, re.MULTILINE), pattern
        if entry["interval"] is not None:
            low, high = entry["interval"]
            assert low <= entry["ours"] <= high
        assert entry["runs"] >= 1 or entry["ours"] is None
        assert 0 <= entry["coverage"] <= 1


def short(value):
    """Four significant digits, thousands as whole numbers."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def test_every_finding_has_a_status_and_evidence(table):
    found, text = table
    assert found["findings"]
    flat = " ".join(text.split())
    for finding in found["findings"]:
        assert finding["status"] in STATUSES
        assert len(finding["evidence"]) > 10
        assert " ".join(f"- {finding['status']}: {finding['claim']} {finding['evidence']}".split()) in flat
    counts = [sum(finding["status"] == status for finding in found["findings"]) for status in STATUSES]
    last = text.strip().splitlines()[-2]
    assert [int(number) for number in re.findall(r"\d+", last)] == [sum(counts), *counts]


def test_mnist_keeps_what_is_proven(made, data_dir):
    _, folder = made("reproduce", "mnist", "--quick", "--out", "page.json")
    numbers = json.loads((folder / "page.json").read_text())["tables"][0]["numbers"]
    complexity = {entry["row"]: entry for entry in numbers if entry["column"] == "complexity"}
    assert {name: complexity[name]["paper"] for name in MNIST} == MNIST
    ours = {name: entry["ours"] for name, entry in complexity.items()}
    members = [ours[name] for name in ("SHAP", "SS", "Grad", "G*I", "IG", "DL")]
    # Means over runs of the least of six are at most the least of six means.
    assert ours["Convex"] <= ours["Best"] <= min(members)
    assert ours["simplest member of each image"] <= ours["Best"]
    for name in ("Gradient-Descent", "Gradient-Descent, fixed steps", "Region-Shrinking", "simplest mixture"):
        assert 0 < ours[name] <= ours["simplest member of each image"]
    for name in ("Convex", "Region-Shrinking", "simplest mixture"):
        assert ours["bound of all mixtures"] <= ours[name]
    assert all(0 < value < 6.665 for value in ours.values())  # ln 784


def test_same_bits_on_one_thread(made, data_dir):
    _, folder = made("reproduce", "mnist", "--quick", "--out", "page.json")
    _, again = made("--threads", "1", "reproduce", "mnist", "--quick", "--out", "page.json")
    assert (folder / "page.json").read_bytes() == (again / "page.json").read_bytes()


def test_without_files_all_runs_and_names_what_is_missing(made):
    """And --json prints what --out writes; other bits for another seed, the same for the same."""
    printed, folder = made("--json", "reproduce", "all", "--quick", "--out", "page.md", env=NOWHERE)
    found = json.loads(printed)
    assert (found["command"], found["seed"], found["quick"]) == ("assay reproduce all --quick", 0, True)
    assert [table["name"] for table in found["tables"]] == list(EXPERIMENTS)
    missing = " ".join(note for table in found["tables"] for note in table["notes"])
    for name in ("adult", "mnist"):
        assert name in missing, f"no word about {name}"
    page = (folder / "page.md").read_text()
    assert page.startswith("# The paper's tables, run again\n\nWritten by `assay reproduce all --quick` (assay ")
    for table in found["tables"]:
        assert f"\n## {table['title']}\n" in page
        for finding in table["findings"]:
            assert f"\n- **{finding['status']}**: " in page
    for name in EXPERIMENTS[:3]:
        _, again = made("reproduce", name, "--quick", "--out", "page.json", env=NOWHERE)
        (alone,) = json.loads((again / "page.json").read_text())["tables"]
        assert alone == found["tables"][EXPERIMENTS.index(name)]


def test_what_is_wrong_is_said_before_any_work(assay, one_sentence, tmp_path):
    assert one_sentence(assay("reproduce", "faithfullness")) == (
        "there is no experiment 'faithfullness' (did you mean 'faithfulness'?); the experiments are faithfulness, "
        "sensitivity, ava, mnist and all"
    )
    assert one_sentence(assay("reproduce", "all", "--out", "page.txt")) == (
        "--out: expected a file that ends in .md or .json, found 'page.txt'"
    )
    assert "nowhere" in one_sentence(assay("reproduce", "all", "--out", "nowhere/page.md"))
    for wrong in (("reproduce",), ("reproduce", "ava", "--sepsis", "sofa")):
        done = assay(*wrong)
        assert (done.returncode, done.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_it_and_leaves_no_file(start, tmp_path, data_dir):
    running = start("reproduce", "mnist", "--out", "page.md")
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    printed, said = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, b"")
    assert said.startswith(b"assay: ")
    assert list(tmp_path.iterdir()) == []
