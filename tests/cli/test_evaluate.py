"""`assay evaluate` and `assay list criteria` through the program: scores worked out beside it, and bad input."""

import csv
import itertools
import json
import math
import pathlib
import subprocess

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
# One player, two alike, four alike, none: 0, ln 2, ln 4, undefined.
KNOWN = [[3, 0, 0, 0], [0, 1, 0, -1], [2, -2, 2, -2], [0, 0, 0, 0]]
MAIN = ("faithfulness", "max_sensitivity", "avg_sensitivity", "complexity")


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    """A folder with train.csv and test.csv of iris, m.onnx trained on the first, mixed.csv and mixed.onnx (a number and
    a one-hot category, 2 classes), and explanations of the test rows (phi.npz) and of the training rows (pool.npz)."""
    made = tmp_path_factory.mktemp("evaluate")

    def run(*arguments):
        subprocess.run([program, "--quiet", *arguments], cwd=made, check=True, capture_output=True)

    for part in ("train", "test"):
        run("data", "iris", "--split", part, "--out", f"{part}.csv")
    run(
        "train",
        "--data",
        "train.csv",
        "--label",
        "species",
        "--hidden",
        "8",
        "--training",
        "epochs=30",
        "--out",
        "m.onnx",
    )
    rows = [f"{i % 10},{['red', 'green', 'blue'][i % 3]},{'yes' if i % 10 > 4 else 'no'}" for i in range(60)]
    (made / "mixed.csv").write_text("\n".join(["size,colour,answer", *rows]) + "\n")
    options = ("--label", "answer", "--encode", "one_hot", "--hidden", "4", "--training", "epochs=10")
    run("train", "--data", "mixed.csv", *options, "--out", "mixed.onnx")
    explain = ("explain", "--model", "m.onnx", "--label", "species", "--baseline", "zero", "--method", "exact_shapley")
    run(*explain, "--data", "test.csv", "--out", "phi.npz")
    run(*explain, "--data", "train.csv", "--out", "pool.npz")
    return made


@pytest.fixture
def evaluate(assay, folder):
    """evaluate(*arguments) scores explanations of the test rows with model, rows and pool."""

    def run(*arguments, before=(), explanations=None, label="--label"):
        files = ("--model", folder / "m.onnx", "--data", folder / "test.csv", "--pool", folder / "train.csv")
        explanations = folder / "phi.npz" if explanations is None else explanations
        return assay(*before, "evaluate", *files, label, "species", "--explanations", explanations, *arguments)

    return run


@pytest.fixture
def scores(evaluate):
    """scores(criteria, *arguments) gives the list of scores as JSON has it."""

    def run(criteria, *arguments, before=(), **options):
        baseline = () if "--background" in arguments or "--baseline" in arguments else ("--baseline", "zero")
        result = evaluate(*baseline, "--criteria", criteria, *arguments, before=("--json", *before), **options)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)["scores"]

    return run


def load(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


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
    assert score["options"] == {} and score["tables"] == [] and score["evaluations"] == 0
    (about,) = document["explanations"]
    assert (about["file"], about["method"], about["rows"], about["players"]) == ("known.npy", None, 4, list("0123"))


def test_the_papers_example(assay, tmp_path):
    (tmp_path / "phi.csv").write_text("a,b\n-1,0\n0,1\n-0.5,0.5\n")
    result = assay("--json", "evaluate", "--explanations", "phi.csv", "--criteria", "complexity")
    assert json.loads(result.stdout)["scores"][0]["values"] == pytest.approx([0, 0, math.log(2)])


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


def test_the_command_of_the_issue(assay, evaluate, folder, tmp_path):
    criteria = "faithfulness:subset=2,complexity,avg_sensitivity:radius=2:space=raw:weighting=uniform"
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


@pytest.mark.parametrize("method", ["exact_shapley", "shapley_sampling:permutations=4"])
def test_pool_explanations_are_made_as_the_others_were(assay, scores, folder, tmp_path, method):
    explain = ("explain", "--model", folder / "m.onnx", "--label", "species", "--method", method, "--baseline", "zero")
    for data, out in (("test.csv", "phi.npz"), ("train.csv", "pool.npz")):
        assert assay("--seed", "7", *explain, "--data", folder / data, "--out", out).returncode == 0
    given = scores(
        "max_sensitivity,avg_sensitivity", "--pool-explanations", "pool.npz", explanations=tmp_path / "phi.npz"
    )
    made = scores("max_sensitivity,avg_sensitivity", explanations=tmp_path / "phi.npz")
    assert made == given and any(value is not None for value in made[0]["values"])


def test_pool_explanations_are_counted(evaluate):
    result = evaluate("--baseline", "zero", "--criteria", "max_sensitivity", "--json")
    about = json.loads(result.stdout)["explanations"][0]
    assert 0 < about["pool_rows_explained"] <= 120 and about["reference"] == "zero" and about["notes"] == []
    shown = evaluate("--baseline", "zero", "--criteria", "max_sensitivity").stdout
    assert f"{about['pool_rows_explained']} rows of the pool explained by exact_shapley" in shown


def test_another_reference_is_noted(evaluate):
    result = evaluate("--criteria", "faithfulness,complexity")
    assert "another reference (zero) than these scores (mean of " in result.stdout
    assert "another reference" not in evaluate("--criteria", "complexity").stdout


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


def test_bare_arrays_score_like_the_file_they_came_from(scores, folder, tmp_path):
    np.save(tmp_path / "bare.npy", load(folder / "phi.npz")["values"])
    named, bare = (scores("faithfulness,deletion", explanations=e) for e in (None, tmp_path / "bare.npy"))
    assert [each["values"] for each in named] == [each["values"] for each in bare]
    other = scores("faithfulness", "--target", "setosa", explanations=tmp_path / "bare.npy")
    assert other[0]["values"] != bare[0]["values"]


def test_what_must_be_explained_again_is_undefined_for_bare_arrays(assay, scores, folder, tmp_path):
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
    assert result.returncode == 1 and "none of the criteria scores single rows" in result.stderr
    assert "\nroar " in result.stdout and not (tmp_path / "scores.csv").exists()


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
    result = assay("--json", "evaluate", *files, "--explanations", "phi.npz", "--criteria", "deletion,faithfulness")
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


# What is wrong | --explanations | --criteria | other options | words of the sentence
BAD = """
no model | phi.npz | faithfulness | | faithfulness needs the model and the rows that were explained: give --model and --
no rows | phi.npz | faithfulness | MODEL | the model and the rows that were explained: give --data
no reference | phi.npz | faithfulness | MODEL DATA | give --baseline, --background or --pool
no pool | phi.npz | complexity,avg_sensitivity | MODEL DATA ZERO | needs a pool of training rows: give --pool
no reference to explain again | phi.npz | identity | MODEL DATA | something that stands for absent features
pool explanations of nobody | bare.npy | max_sensitivity | MODEL DATA POOL | give --pool-explanations
no labels | phi.npz | roar | MODEL --data plain.csv POOL | give --labels
no training | torch.npy | roar | TORCH --pool-explanations torch.npy | a model that can be trained again
no others | phi.npz | rank_correlation | | rank_correlation needs other explanations of the same rows: give --others
unknown criterion | phi.npz | faithfullness | | did you mean 'faithfulness'
unknown option | phi.npz | faithfulness:subsets=2 | | 'subsets'
a criterion twice | phi.npz | complexity,complexity | | 'complexity' twice
a model alone | phi.npz | complexity | MODEL | --model is of no use without --data
rows alone | phi.npz | complexity | DATA | --data is of no use without --model
a pool alone | phi.npz | complexity | POOL | --pool is of no use without --model and --data
other rows | phi.npz | complexity | MODEL --data train.csv | train.csv, found 30 (made of test.csv); --rows and --split
rows in another order | phi.npz | complexity | MODEL --data turned.csv | the explained value of row 1 is
another model | phi.npz | complexity | --model other.onnx DATA | the explanations are of another model
another unit | phi.npz | complexity | MODEL DATA --value probability | of another unit
a target beside its own | phi.npz | complexity | MODEL DATA --target setosa | --target: expected none for 'phi.npz'
an unknown target | bare.npy | complexity | MODEL DATA --target rose | 'rose'
all targets at once | bare.npy | complexity | MODEL DATA --target all | one class or output
other players | phi.npz | complexity | MODEL DATA --groups parts.json | one for each player of test.csv, found 4
players of other names | names.csv | complexity | MODEL DATA | 'sepal_width' as player 2, as in test.csv, found 'wide'
an array of another width | wide.npy | complexity | MODEL DATA | wide.npy: expected 4 columns
other ids | ids.csv | complexity | MODEL --data named.csv --id who | 'bob' as row 2, as in named.csv, found 'eve'
a pool of other rows | phi.npz | complexity | MODEL DATA POOL --pool-explanations phi.npz | one for each of train.csv
a pool of other players | phi.npz | complexity | --pool-explanations wide.npy | one for each player of 'phi.npz'
pool explanations for one of two | phi.npz,bare.npy | complexity | --pool-explanations pool.npz | of --explanations
others of other rows | phi.npz | rank_correlation | --others pool.npz | pool.npz: expected 30 rows, as 'phi.npz' has
files of other rows | phi.npz,pool.npz | complexity | | files of as many rows as each other
no such file | none.npz | complexity | | none.npz
a file that is no explanations | m.onnx | complexity | | m.onnx
rows out of range | phi.npz | complexity | MODEL DATA --rows 1-31 | rows from 1 to 30
"""
SHORT = {
    "MODEL": "--model m.onnx",
    "DATA": "--data test.csv --label species",
    "POOL": "--pool train.csv",
    "ZERO": "--baseline zero",
    "TORCH": "--model torch.onnx --data torch.csv --label y --pool torch.csv",
}
CASES = [[cell.strip() for cell in line.split("|")] for line in BAD.strip().splitlines()]


@pytest.fixture
def files(folder, tmp_path, assay):
    """What the bad runs read, beside the good files."""
    for name in ("m.onnx", "train.csv", "test.csv", "phi.npz", "pool.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    values = load(folder / "phi.npz")["values"]
    np.save(tmp_path / "bare.npy", values)
    np.save(tmp_path / "wide.npy", np.ones((30, 5), dtype=np.float32))
    header, *rows = (tmp_path / "test.csv").read_text().splitlines()
    (tmp_path / "turned.csv").write_text("\n".join([header, *reversed(rows)]) + "\n")
    (tmp_path / "plain.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in (header, *rows)) + "\n")
    (tmp_path / "parts.json").write_text(json.dumps({"petal": FEATURES[2:]}))
    (tmp_path / "names.csv").write_text("sepal_length,wide,petal_length,petal_width\n" + "1,2,3,4\n" * 30)
    (tmp_path / "named.csv").write_text("who," + ",".join(FEATURES) + "\nann,5,3,1,1\nbob,6,3,4,1\n")
    ids = ["who,target,output,base,gap," + ",".join(FEATURES), "ann,,,,,1,2,3,4", "eve,,,,,1,2,3,4"]
    (tmp_path / "ids.csv").write_text("\n".join(ids) + "\n")
    torch = FIXTURES / "torch_mlp_script"
    (tmp_path / "torch.onnx").write_bytes((torch / "model.onnx").read_bytes())
    header, *rows = (torch / "rows.csv").read_text().splitlines()
    (tmp_path / "torch.csv").write_text(
        "\n".join([f"{header},y", *(f"{row},{i % 3}" for i, row in enumerate(rows))]) + "\n"
    )
    np.save(tmp_path / "torch.npy", np.ones((len(rows), 6), dtype=np.float32))
    train = ("train", "--data", "train.csv", "--label", "species", "--hidden", "3", "--training", "epochs=2")
    assert assay("--quiet", *train, "--out", "other.onnx").returncode == 0
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_bad_input_gets_one_sentence_and_writes_nothing(assay, one_sentence, files, case):
    _, explanations, criteria, options, words = case
    arguments = " ".join(SHORT.get(option, option) for option in options.split()).split()
    (files / "kept.csv").write_bytes(b"precious")
    before = sorted(path.name for path in files.iterdir())
    command = ("evaluate", "--explanations", explanations, "--criteria", criteria, *arguments, "--out", "kept.csv")
    assert words in one_sentence(assay(*command))
    assert (files / "kept.csv").read_bytes() == b"precious"
    assert sorted(path.name for path in files.iterdir()) == before


def test_an_input_is_never_written_over(assay, one_sentence, files):
    before = (files / "phi.npz").read_bytes()
    command = ("evaluate", "--explanations", "phi.npz", "--criteria", "complexity", "--out", "./phi.npz")
    assert "a file of its own" in one_sentence(assay(*command))
    assert (files / "phi.npz").read_bytes() == before


@pytest.mark.parametrize(
    ("out", "words"),
    [("no/s.csv", "no folder no"), ("s.npy", "'.npy'"), ("s", "without an extension"), ("a.json", "a folder")],
)
def test_outputs_are_checked_before_anything_is_read(assay, one_sentence, tmp_path, out, words):
    (tmp_path / "a.json").mkdir()
    command = ("evaluate", "--explanations", "none.npz", "--criteria", "complexity")
    assert words in one_sentence(assay(*command, "--out", out))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(
    "arguments",
    ["--criteria complexity", "--explanations a.npz --labels y --label y", "--explanations a.npz --value logit",
     "--explanations a.npz --baseline zero --background pool:3", "--explanations"],
)  # fmt: skip
def test_bad_usage(assay, arguments):
    result = assay("evaluate", *arguments.split())
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("assay: ") and result.stderr.count("\n") == 1
