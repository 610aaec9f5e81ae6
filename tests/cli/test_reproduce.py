"""`assay reproduce --quick`: every table runs, shows the paper's numbers beside ours, and says which claims hold."""

import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

EXPERIMENTS = ("mnist", "faithfulness", "sensitivity", "ava")
VERDICTS = (
    "holds",
    "partly",
    "fails",
    "cannot be tested",
    "the paper's own table disagrees",
    "holds by construction",
)
# Table 1 of the paper.
MNIST = {"Best": 3.688, "Convex": 3.685, "Gradient-Descent": 3.575, "Region-Shrinking": 3.208}
NOWHERE = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "/nowhere", "HOME": "/nowhere"}
SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "study" / "verdicts.py"


@pytest.fixture(scope="module")
def recomputed():
    """The verdicts of a document, by the script that knows nothing of the program."""
    spec = importlib.util.spec_from_file_location("verdicts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.verdicts


@pytest.fixture(scope="module")
def made(program, tmp_path_factory):
    """made(*arguments, env) runs the program once for all tests: what it printed, and the folder it ran in."""
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
    return request.param, json.loads((folder / "page.json").read_text()), text


def cells_of(document):
    return {tuple(entry["cell"]): entry for entry in document["cells"]}


def short(value):
    """Four significant digits, thousands as whole numbers."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def test_papers_numbers_stand_beside_ours(table):
    name, document, text = table
    assert any("paper" in entry for entry in document["cells"])
    for entry in document["cells"]:
        variant, of_table, data, row, column = entry["cell"]
        assert variant == "" and of_table in (name, "networks")
        assert len(entry["runs"]) == 2
        defined = [value for value in entry["runs"] if value is not None]
        mean = sum(defined) / len(defined) if defined else None
        pattern = (
            r"^" + r" +".join(map(re.escape, (of_table, data, row, column, short(entry.get("paper"))))) + " +(\\S+) "
        )
        shown = re.search(pattern, text, re.MULTILINE)
        assert shown, pattern
        assert shown.group(1) == "-" if mean is None else float(shown.group(1)) == pytest.approx(mean, rel=6e-4)
        assert 0 <= entry.get("coverage", 1) <= 1


def test_every_claim_has_a_verdict_that_follows_from_the_numbers(table, recomputed):
    _, document, text = table
    assert document["claims"]
    flat = " ".join(text.split())
    again = recomputed(document)
    for claim in document["claims"]:
        assert claim["verdict"] in VERDICTS
        assert claim["verdict"] == again[claim["id"]], claim["id"]
        assert f"- {claim['verdict']}: {claim['claim']} (section {claim['section']}" in flat
        assert len(claim["evidence"]) > 10
        assert "" in claim["our_numbers_alone"]


def test_the_script_sees_a_changed_number(made, recomputed):
    """Or it would prove nothing: by other numbers the same claim fails."""
    _, folder = made("reproduce", "ava", "--quick", "--out", "page.json", env=NOWHERE)
    document = json.loads((folder / "page.json").read_text())
    claim = next(claim for claim in document["claims"] if claim["id"] == "ava-average")
    cells = cells_of(document)
    for part in claim["parts"]:
        for side, values in (("first", [3.0, 3.001]), ("second", [1.0, 1.0])):
            cells[tuple(part[side][0])]["runs"] = values
    assert recomputed(document)["ava-average"] == "holds"
    for part in claim["parts"]:
        cells[tuple(part["first"][0])]["runs"] = [0.5, 0.501]
    assert recomputed(document)["ava-average"] == "fails"


def test_mnist_keeps_what_is_proven(made, data_dir):
    _, folder = made("reproduce", "mnist", "--quick", "--out", "page.json")
    cells = cells_of(json.loads((folder / "page.json").read_text()))
    complexity = {key[3]: entry for key, entry in cells.items() if key[1] == "mnist" and key[4] == "complexity"}
    assert {name: complexity[name]["paper"] for name in MNIST} == MNIST
    for run in range(2):
        ours = {name: entry["runs"][run] for name, entry in complexity.items()}
        members = [ours[name] for name in ("SHAP", "SS", "Grad", "G*I", "IG", "DL")]
        assert ours["Convex"] <= ours["Best"] == min(members)
        assert ours["simplest member of each image"] <= ours["Best"]
        for name in ("Gradient-Descent", "Region-Shrinking", "simplest mixture"):
            assert 0 < ours[name] <= ours["simplest member of each image"]
        for name in ("Convex", "Region-Shrinking", "simplest mixture"):
            assert ours["bound of mixtures"] <= ours[name]
        assert all(0 < value < 6.665 for value in ours.values())  # ln 784


def test_same_bits_on_one_thread(made, data_dir):
    _, folder = made("reproduce", "mnist", "--quick", "--out", "page.json")
    _, again = made("--threads", "1", "reproduce", "mnist", "--quick", "--out", "page.json")
    assert (folder / "page.json").read_bytes() == (again / "page.json").read_bytes()


def test_without_files_all_runs_every_variant_and_names_what_is_missing(made, recomputed):
    """And --json prints what --out writes beside the page."""
    printed, folder = made("--json", "reproduce", "all", "--quick", "--out", "page.md", env=NOWHERE)
    found = json.loads(printed)
    assert printed == (folder / "page.json").read_text()
    assert (found["command"], found["seed"], found["quick"]) == ("assay reproduce all --quick", 0, True)
    missing = " ".join(found["notes"])
    for name in ("adult", "mnist"):
        assert name in missing, f"no word about {name}"
    assert recomputed(found) == {claim["id"]: claim["verdict"] for claim in found["claims"]}
    page = (folder / "page.md").read_text()
    assert page.startswith("# The paper's experiments, run again\n\nWritten by `assay reproduce all --quick` (assay ")
    for variant in filter(None, found["variants"]):
        assert f"| `{variant}` |" in page
        if any(entry["cell"][0] == variant for entry in found["cells"]):
            assert f"<summary>{variant}</summary>" in page
    # Variants of Table 1 alone have no numbers without its images.
    without = {"step=fixed", "step=exact", "candidates=all"}
    assert {entry["cell"][0] for entry in found["cells"]} == set(found["variants"]) - without
    # One table alone gives the same numbers as all of them together.
    cells = cells_of(found)
    for name in EXPERIMENTS[1:]:
        _, again = made("reproduce", name, "--quick", "--out", "page.json", env=NOWHERE)
        for key, entry in cells_of(json.loads((again / "page.json").read_text())).items():
            assert entry == cells[key]


def test_an_option_of_the_set_up_is_its_variant(made):
    printed, _ = made("--json", "reproduce", "all", "--quick", env=NOWHERE)
    changed, _ = made("--json", "reproduce", "faithfulness", "--quick", "--form", "loss", env=NOWHERE)
    found = json.loads(changed)
    assert found["command"] == "assay reproduce faithfulness --quick --form loss"
    assert found["setup"]["form"] == "loss"
    variant = {key[1:]: entry["runs"] for key, entry in cells_of(json.loads(printed)).items() if key[0] == "form=loss"}
    ours = {key[1:]: entry["runs"] for key, entry in cells_of(found).items() if key[1] == "faithfulness"}
    assert ours and ours == variant


def test_what_is_wrong_is_said_before_any_work(assay, one_sentence, tmp_path):
    assert one_sentence(assay("reproduce", "faithfullness")) == (
        "there is no experiment 'faithfullness' (did you mean 'faithfulness'?); the experiments are mnist, "
        "faithfulness, sensitivity, ava, all and setup"
    )
    assert one_sentence(assay("reproduce", "all", "--out", "page.txt")) == (
        "--out: expected a file that ends in .md or .json, found 'page.txt'"
    )
    assert "nowhere" in one_sentence(assay("reproduce", "all", "--out", "nowhere/page.md"))
    assert "raw" in one_sentence(assay("reproduce", "ava", "--norm", "l1"))
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
