"""`assay evaluate` and `assay list criteria` through the program: scores worked out beside it, and where they go."""

import csv
import itertools
import json
import math
import pathlib

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
# One player, two alike, four alike, none: 0, ln 2, ln 4, undefined.
KNOWN = [[3, 0, 0, 0], [0, 1, 0, -1], [2, -2, 2, -2], [0, 0, 0, 0]]
MAIN = ("faithfulness", "max_sensitivity", "avg_sensitivity", "complexity")


def iris_rows(path):
    with open(path, newline="") as stream:
        return np.array([[row[name] for name in FEATURES] for row in csv.DictReader(stream)], dtype=float)


def margins(assay, folder, rows, tmp_path):
    """The model's margins for rows of raw numbers."""
    lines = [",".join(FEATURES), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "asked.csv").write_text("\n".join(lines) + "\n")
    command = (
        "predict",
        "--model",
        folder / "m.onnx",
        "--data",
        "asked.csv",
        "--output",
        "margin",
        "--out",
        "asked.npy",
    )
    result = assay("--quiet", *command)
    assert result.returncode == 0, result.stderr
    return np.load(tmp_path / "asked.npy")


def test_complexity_of_known_attributions(assay, tmp_path):
    np.save(tmp_path / "known.npy", np.array(KNOWN, dtype=np.float32))
    result = assay("evaluate", "--explanations", "known.npy", "--criteria", "complexity", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    (score,) = document["scores"]
    assert score["values"][:3] == pytest.approx([0, math.log(2), math.log(4)], abs=1e-12) and score["values"][3] is None
    # Over 0, ln 2 and 2 ln 2: mean ln 2, standard deviation ln 2.
    assert score["mean"] == pytest.approx(math.log(2)) and score["stderr"] == pytest.approx(math.log(2) / math.sqrt(3))
    low, high = score["interval"]
    assert 0 <= low <= score["mean"] <= high <= math.log(4)
    assert score["coverage"] == 0.75 and score["direction"] == "lower" and score["per"] == "row"
    assert score["undefined"] == [{"reason": "all attributions are 0", "rows": 1}]
    assert score["criterion"] == "complexity" and score["explanations"] == "known.npy"
    assert score["options"] == {"part": "absolute"} and score["tables"] == [] and score["evaluations"] == 0
    (about,) = document["explanations"]
    assert (about["file"], about["method"], about["rows"], about["players"]) == ("known.npy", None, 4, list("0123"))


def test_the_papers_example(assay, tmp_path):
    (tmp_path / "phi.csv").write_text("a,b\n-1,0\n0,1\n-0.5,0.5\n")
    result = assay("--json", "evaluate", "--explanations", "phi.csv", "--criteria", "complexity")
    assert json.loads(result.stdout)["scores"][0]["values"] == pytest.approx([0, 0, math.log(2)])


def test_options_change_what_is_needed(assay, tmp_path):
    np.save(tmp_path / "known.npy", np.array(KNOWN, dtype=np.float32))
    result = assay("--json", "evaluate", "--explanations", "known.npy", "--criteria", "effective_complexity:form=count")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["scores"][0]["values"][:3] == [1, 2, 4]


def test_the_terminal_has_a_line_for_each_criterion(assay, tmp_path):
    np.save(tmp_path / "known.npy", np.array(KNOWN, dtype=np.float32))
    command = ("evaluate", "--explanations", "known.npy", "--criteria", "complexity")
    result = assay(*command)
    assert (result.returncode, result.stderr) == (0, "")
    head, columns, line, undefined = result.stdout.splitlines()
    assert head == "known.npy: 4 rows, 4 players"
    assert columns.split()[:3] == ["criterion", "mean", "stderr"]
    assert line.split()[:3] == ["complexity", "0.6931", "0.4002"] and line.endswith("75 %  4 rows  lower")
    assert undefined == "complexity: 1 of 4 rows undefined: all attributions are 0"
    assert assay("--quiet", *command).stdout.splitlines() == [head, columns, line]


def test_the_command_of_the_issue(assay, evaluate, folder, tmp_path, load):
    criteria = "faithfulness:subset=2,complexity,avg_sensitivity:normalise=raw:radius=2:space=raw:weighting=uniform"
    options = ("--pool-explanations", folder / "pool.npz", "--baseline", "zero", "--criteria", criteria, "--json")
    result = evaluate(*options, label="--labels")
    assert (result.returncode, result.stderr) == (0, "")
    faithfulness, complexity, sensitivity = json.loads(result.stdout)["scores"]
    names = [each["criterion"] for each in (faithfulness, complexity, sensitivity)]
    assert names == ["faithfulness", "complexity", "avg_sensitivity"]
    assert [each["direction"] for each in (faithfulness, complexity, sensitivity)] == ["higher", "lower", "lower"]
    assert faithfulness["options"]["subset"] == "2" and sensitivity["options"]["space"] == "raw"
    for each in (faithfulness, complexity, sensitivity):
        defined = [value for value in each["values"] if value is not None]
        assert len(each["values"]) == 30 and each["coverage"] == len(defined) / 30
        assert each["mean"] == pytest.approx(np.mean(defined)) and each["interval"][0] <= each["mean"]

    phi, pool = load(folder / "phi.npz"), load(folder / "pool.npz")
    size = np.abs(phi["values"].astype(float))
    p = size / size.sum(axis=1, keepdims=True)
    assert complexity["values"] == pytest.approx(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=1), abs=1e-9)

    rows, training = iris_rows(folder / "test.csv"), iris_rows(folder / "train.csv")
    pairs = list(itertools.combinations(range(4), 2))
    asked = [np.where(np.isin(range(4), pair), 0, row) for row in rows for pair in pairs]
    changed = margins(assay, folder, asked, tmp_path).reshape(30, 6, 3)
    own = margins(assay, folder, rows, tmp_path)
    for r, target in enumerate(phi["target"]):
        drops = own[r, target] - changed[r, :, target]
        sums = [phi["values"][r, list(pair)].astype(float).sum() for pair in pairs]
        assert faithfulness["values"][r] == pytest.approx(np.corrcoef(sums, drops)[0, 1], abs=1e-4)

    classes = margins(assay, folder, training, tmp_path).argmax(axis=1)
    for r, row in enumerate(rows):
        distance = np.abs(training - row).max(axis=1)
        near = (distance <= 2) & (distance > 0) & (classes == own[r].argmax())
        expected = np.linalg.norm(pool["values"][near] - phi["values"][r], axis=1).mean() if near.any() else None
        assert sensitivity["values"][r] == (None if expected is None else pytest.approx(expected, rel=1e-4))


def test_criteria_that_nobody_chose(assay, evaluate, folder):
    result = assay("--json", "evaluate", "--explanations", folder / "phi.npz")
    document = json.loads(result.stdout)
    assert [each["criterion"] for each in document["scores"]] == ["complexity"]
    assert any("left out: faithfulness needs the model" in note for note in document["notes"])
    assert [each["criterion"] for each in json.loads(evaluate("--json").stdout)["scores"]] == list(MAIN)
    assert "note: no --criteria: " in evaluate().stdout


def test_bits_do_not_depend_on_threads(evaluate):
    arguments = ("--background", "pool:10", "--criteria", ",".join((*MAIN, "deletion", "identity")), "--json")
    one, two = (evaluate(*arguments, before=("--threads", threads, "--seed", 3)).stdout for threads in (1, 2))
    assert one == two and json.loads(one)["scores"]


def test_several_files_and_agreement(assay, evaluate, folder, tmp_path):
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "test.csv", "--label", "species")
    assert assay(*explain, "--method", "gradient", "--out", "g.npz").returncode == 0
    both = f"{folder / 'phi.npz'},g.npz"
    result = evaluate("--criteria", "complexity,rank_correlation", "--json", explanations=both)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["scores"]
    pairs = [(each["explanations"], each["criterion"]) for each in found]
    files = (str(folder / "phi.npz"), "g.npz")
    assert pairs == [(file, name) for file in files for name in ("complexity", "rank_correlation")]
    # Each is compared with the other file, either way.
    assert found[1]["values"] == pytest.approx(found[3]["values"])
    shown = evaluate("--criteria", "complexity", explanations=both).stdout
    first, second = shown.split("\n\n")
    assert first.startswith(f"{files[0]}: exact_shapley") and second.startswith("g.npz: gradient, margin of ")
    alone = assay("--json", "evaluate", "--explanations", "g.npz", "--criteria", "complexity")
    assert json.loads(alone.stdout)["scores"][0]["values"] == found[2]["values"]
    # A file beside itself agrees wholly.
    same = evaluate("--criteria", "rank_correlation", "--others", folder / "phi.npz", "--json")
    assert json.loads(same.stdout)["scores"][0]["values"] == pytest.approx([1] * 30)


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".npz", ".parquet"])
def test_scores_of_rows_go_to_tables(assay, evaluate, tmp_path, needs, extension):
    needs(extension)
    criteria = ("--baseline", "zero", "--criteria", "complexity,deletion", "--json")
    result = evaluate(*criteria, "--out", f"scores{extension}")
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert assay("data", f"scores{extension}", "--out", "back.csv").returncode == 0
    with open(tmp_path / "back.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["complexity", "deletion"] and len(rows) == 30
    for c, score in enumerate(document["scores"]):
        found = [float(row[c]) if row[c] else None for row in rows]
        assert found == [None if value is None else pytest.approx(value, rel=1e-6) for value in score["values"]]


def test_ids_come_first_and_undefined_cells_are_empty(assay, tmp_path):
    lines = ["who,target,output,base,gap,a,b", "ann,,,,,1,1", "bob,,,,,0,0"]
    (tmp_path / "phi.csv").write_text("\n".join(lines) + "\n")
    result = assay("evaluate", "--explanations", "phi.csv", "--criteria", "complexity", "--out", "-")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["who,complexity", "ann,0.6931472", "bob,"]
    assert "complexity" in result.stderr


def test_json_files_hold_everything(evaluate, tmp_path):
    command = ("--baseline", "zero", "--criteria", "faithfulness:subset=1,faithfulness:subset=2", "--json")
    result = evaluate(*command, "--out", "scores.json")
    assert (tmp_path / "scores.json").read_text() == result.stdout
    assert [each["options"]["subset"] for each in json.loads(result.stdout)["scores"]] == ["1", "2"]
    shown = evaluate("--criteria", "complexity", "--out", "scores.csv")
    assert shown.stdout.endswith("wrote scores.csv\n")
    assert evaluate("--criteria", "complexity", "--out", "scores.csv", before=("--quiet",)).stdout == ""


def test_bare_arrays_score_like_the_file_they_came_from(scores, folder, tmp_path, load):
    np.save(tmp_path / "bare.npy", load(folder / "phi.npz")["values"])
    named, bare = (scores("faithfulness,deletion", explanations=e) for e in (None, tmp_path / "bare.npy"))
    assert [each["values"] for each in named] == [each["values"] for each in bare]
    other = scores("faithfulness", "--target", "setosa", explanations=tmp_path / "bare.npy")
    assert other[0]["values"] != bare[0]["values"]


def test_what_must_be_explained_again_is_undefined_for_bare_arrays(assay, scores, folder, tmp_path, load):
    np.save(tmp_path / "bare.npy", load(folder / "phi.npz")["values"])
    result = assay("--json", "evaluate", "--explanations", "bare.npy", "--criteria", "identity,randomisation")
    assert result.returncode == 0, result.stderr
    for score in json.loads(result.stdout)["scores"]:
        assert score["values"] == [None] * 30 and score["mean"] is None and score["interval"] == [None, None]
        assert score["coverage"] == 0 and "made elsewhere" in score["undefined"][0]["reason"]
    # A method without chance gives the same explanation twice.
    assert scores("identity")[0]["values"] == [0] * 30


def test_retraining_scores_runs(scores, evaluate, one_sentence, tmp_path):
    (score,) = scores("roar")
    assert score["per"] == "run" and len(score["values"]) != 30 and score["tables"]
    for table in score["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    result = evaluate("--criteria", "roar", "--out", "scores.csv")
    assert "none of the criteria scores single rows" in one_sentence(result)
    assert not (tmp_path / "scores.csv").exists()
    # Beside criteria of rows they have no column.
    assert evaluate("--criteria", "roar:seeds=1,complexity", "--out", "scores.csv").returncode == 0
    assert (tmp_path / "scores.csv").read_text().startswith("complexity\n")


@pytest.mark.parametrize("value", ["probability", "log_odds", "information"])
def test_explanations_are_scored_in_their_own_unit(assay, scores, folder, tmp_path, value):
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "test.csv", "--label", "species")
    explain = (*explain, "--baseline", "zero", "--method", "occlusion", "--value", value)
    assert assay(*explain, "--out", "phi.npz").returncode == 0
    # Occlusion is what is lost with one player, in the same unit: faithfulness of subsets of one is 1.
    (score,) = scores("faithfulness:subset=1", explanations=tmp_path / "phi.npz")
    assert score["values"] == pytest.approx([1] * 30, abs=1e-4)
    # The file may be of a table, which does not say its unit.
    assert assay(*explain, "--out", "phi.csv").returncode == 0
    (table,) = scores("faithfulness:subset=1", "--value", value, explanations=tmp_path / "phi.csv")
    assert table["values"] == pytest.approx([1] * 30, abs=1e-4)


@pytest.mark.parametrize("value", ["probability", "log_odds"])
def test_log_odds_of_a_saturated_model_come_from_its_margins(assay, folder, tmp_path, value):
    """Far rows have probabilities of exactly 0 and 1, whose log-odds are infinite."""
    rows = 1000 * iris_rows(folder / "test.csv")
    (tmp_path / "far.csv").write_text(
        "\n".join([",".join(FEATURES), *(",".join(map(str, row)) for row in rows)]) + "\n"
    )
    files = ("--model", folder / "m.onnx", "--data", "far.csv")
    assert assay("predict", *files, "--output", "probability", "--out", "p.npy").returncode == 0
    assert set(np.load(tmp_path / "p.npy").flat) == {0, 1}
    np.save(tmp_path / "bare.npy", np.tile([4, 3, 2, 1], (30, 1)).astype(np.float32))
    files = (*files, "--explanations", "bare.npy", "--baseline", "zero", "--criteria", "deletion", "--json")
    found = [json.loads(assay("evaluate", *files, "--value", unit).stdout)["scores"][0] for unit in (value, "margin")]
    assert [each["coverage"] for each in found] == [1, 1] and found[0]["values"] == found[1]["values"]


def test_margins_of_a_model_of_texts_know_the_same_texts(assay, tmp_path):
    model = FIXTURES / "sklearn_columns"
    np.save(tmp_path / "bare.npy", np.tile([1, 2, 4, 3], (16, 1)).astype(np.float32))
    files = ("--model", model / "model.onnx", "--data", model / "rows.csv", "--pool", model / "rows.csv", "--value")
    command = ("--explanations", "bare.npy", "--criteria", "deletion", "--json")
    found = [assay("evaluate", *files, unit, *command).stdout for unit in ("probability", "margin")]
    values = [json.loads(each)["scores"][0]["values"] for each in found]
    assert values[0] == values[1] and len(set(values[0])) > 1


def test_tables_of_explanations_know_their_targets(assay, scores, folder, tmp_path):
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "test.csv", "--label", "species")
    explain = (*explain, "--baseline", "zero", "--method", "exact_shapley")
    assert assay(*explain, "--target", "virginica", "--out", "phi.csv").returncode == 0
    assert assay(*explain, "--target", "virginica", "--out", "phi.npz").returncode == 0
    table, full = (scores("faithfulness", explanations=tmp_path / f"phi{end}") for end in (".csv", ".npz"))
    assert table[0]["values"] == pytest.approx(full[0]["values"], abs=1e-5)


@pytest.mark.parametrize("groups", ["auto", "none", "groups.json"])
def test_players_are_those_of_the_explanations(assay, folder, tmp_path, groups):
    (tmp_path / "groups.json").write_text(json.dumps({"looks": ["colour=red", "colour=green", "colour=blue"]}))
    files = ("--model", folder / "mixed.onnx", "--data", folder / "mixed.csv", "--rows", "1-9", "--pool")
    files = (*files, folder / "mixed.csv")
    command = ("explain", *files, "--method", "exact_shapley", "--groups", groups, "--out", "phi.npz")
    assert assay(*command).returncode == 0
    # A file of groups is not opened on the word of the explanations.
    files = (*files, "--groups", groups) if groups.endswith(".json") else files
    result = assay("--json", "evaluate", *files, "--explanations", "phi.npz", "--criteria", "faithfulness:subset=1")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert len(document["explanations"][0]["players"]) == (4 if groups == "none" else 2)
    assert len(document["scores"][0]["values"]) == 9


def test_squares_of_an_image(assay, tmp_path):
    files = ("--model", FIXTURES / "torch_cnn_script" / "model.onnx", "--data")
    files = (*files, FIXTURES / "torch_cnn_script" / "rows.csv", "--baseline", "zero")
    command = ("explain", *files, "--method", "occlusion", "--groups", "grid:4", "--out", "phi.npz")
    assert assay(*command).returncode == 0
    criteria = ("--criteria", "deletion,faithfulness:subset=1")
    result = assay("--json", "evaluate", *files, "--explanations", "phi.npz", *criteria)
    assert result.returncode == 0, result.stderr
    # Occlusion is what is lost with one square: faithfulness of subsets of one is 1.
    assert json.loads(result.stdout)["scores"][1]["values"] == pytest.approx([1] * 16, abs=1e-4)


def test_criteria_are_listed(assay):
    shown = assay("list", "criteria")
    assert (shown.returncode, shown.stderr) == (0, "")
    listed = json.loads(assay("list", "criteria", "--json").stdout)["criteria"]
    names = [each["name"] for each in listed]
    assert {*MAIN, "identity", "roar", "deletion", "randomisation", "rank_correlation"} <= set(names)
    assert len(names) == len(set(names))
    for each in listed:
        assert f"\n{each['name']} " in shown.stdout
        assert all(each[key] for key in ("title", "family", "citation", "cost", "range"))
        assert each["direction"] in ("higher", "lower", "neither") and isinstance(each["sampled"], bool)
        for option in each["options"]:
            assert option["name"] and option["default"] != "" and option["range"] and option["meaning"]
        one = assay("list", "criteria", each["name"])
        assert one.returncode == 0 and all(option["meaning"] in one.stdout for option in each["options"])
        assert all(need in one.stdout for need in each["needs"])
    assert json.loads(assay("--json", "list", "criteria", "complexity").stdout)["criteria"][0]["needs"] == []
    unknown = assay("list", "criteria", "complexty")
    assert unknown.returncode == 1 and "did you mean 'complexity'" in unknown.stderr
