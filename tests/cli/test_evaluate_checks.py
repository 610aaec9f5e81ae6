"""`assay evaluate` through the program: explanations of the pool, what is noted and what is refused."""

import csv
import json
import math
import pathlib

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def assay_scores(assay, folder, explanations, criteria, *arguments):
    """The values of explanations of alike.csv."""
    files = ("--model", folder / "m.onnx", "--data", "alike.csv", "--pool", folder / "train.csv", "--baseline", "zero")
    command = ("--json", "evaluate", *files, "--explanations", explanations, "--criteria", criteria, *arguments)
    result = assay(*command)
    assert result.returncode == 0, result.stderr
    return [each["values"] for each in json.loads(result.stdout)["scores"]]


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


def test_another_reference_is_noted(assay, evaluate, folder, tmp_path, load):
    phi = load(folder / "phi.npz")
    result = evaluate("--criteria", "faithfulness,complexity")
    assert f"explained against another reference (zero): its base for row 1 is {phi['base'][0]:.6g}" in result.stdout
    assert ", that of mean of " in result.stdout
    assert "another reference" not in evaluate("--criteria", "complexity").stdout
    # A file of zeros is the same reference by another name.
    (tmp_path / "zeros.csv").write_text(",".join(FEATURES) + "\n0,0,0,0\n")
    command = ("--criteria", "faithfulness", "--baseline", "zeros.csv")
    assert "another reference" not in evaluate(*command).stdout
    # The same name is another reference when the file has changed.
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "test.csv", "--label", "species")
    explain = (*explain, "--method", "occlusion", "--baseline", "zeros.csv")
    assert assay(*explain, "--out", "own.npz").returncode == 0 and assay(*explain, "--out", "own.csv").returncode == 0
    (tmp_path / "zeros.csv").write_text(",".join(FEATURES) + "\n5,3,1,1\n")
    for file in ("own.npz", "own.csv"):
        shown = evaluate(*command, explanations=tmp_path / file).stdout
        assert "explained against another reference: its base for row 1 is" in shown and "zeros.csv is" in shown


def test_a_method_without_a_reference_has_no_other(assay, evaluate, folder, tmp_path):
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "test.csv", "--method", "gradient")
    assert assay(*explain, "--out", "g.npz").returncode == 0
    assert "another reference" not in evaluate("--criteria", "faithfulness", explanations=tmp_path / "g.npz").stdout


def test_pool_rows_are_explained_for_what_the_file_says(assay, folder, tmp_path, load, edit):
    """Rows that happen to be predicted alike are explained for that class, or for the predicted one: it is not the same
    for the rows of a pool."""
    rows = (folder / "test.csv").read_text().splitlines()
    (tmp_path / "alike.csv").write_text("\n".join([rows[0], *(row for row in rows if row.endswith(",setosa"))]) + "\n")
    explain = ("explain", "--model", folder / "m.onnx", "--label", "species", "--baseline", "zero")
    explain = (*explain, "--method", "exact_shapley")
    values = {}
    for target in ("predicted", "setosa"):
        phi, pool = (f"{name}.{target}.npz" for name in ("phi", "pool"))
        assert assay(*explain, "--data", "alike.csv", "--target", target, "--out", phi).returncode == 0
        assert assay(*explain, "--data", folder / "train.csv", "--target", target, "--out", pool).returncode == 0
        assert set(load(tmp_path / phi)["target"]) == {0}
        found = [
            assay_scores(assay, folder, tmp_path / phi, "conviction", *given)
            for given in ((), ("--pool-explanations", pool))
        ]
        assert found[0] == found[1]
        values[target] = found[0]
    assert values["predicted"] != values["setosa"]
    # Older files do not say it: what all rows share.
    edit(tmp_path / "phi.predicted.npz", tmp_path / "old.npz", target="")
    assert assay_scores(assay, folder, tmp_path / "old.npz", "conviction") == values["setosa"]


def test_a_given_pool_must_be_for_the_same_targets(assay, evaluate, folder, one_sentence, tmp_path, load, edit):
    explain = ("explain", "--model", folder / "m.onnx", "--data", folder / "train.csv", "--label", "species")
    explain = (*explain, "--baseline", "zero", "--method", "exact_shapley")
    for name in ("pool.npz", "pool.csv"):
        assert assay(*explain, "--target", "setosa", "--out", name).returncode == 0
        first = next(r for r, t in enumerate(load(folder / "pool.npz")["target"]) if t != 0)
        names = load(folder / "pool.npz")["target_names"]
        expected = names[load(folder / "pool.npz")["target"][first]]
        sentence = one_sentence(evaluate("--criteria", "complexity", "--pool-explanations", name))
        assert f"{name}: expected the target '{expected}' for row {first + 1}, " in sentence
        assert sentence.endswith("found 'setosa'")
    # A target of all rows is known without the model.
    edit(folder / "phi.npz", tmp_path / "one.npz", target="setosa", arrays={"target": np.zeros(30, dtype=np.int64)})
    command = ("evaluate", "--explanations", "one.npz", "--criteria", "conviction", "--pool-explanations")
    assert "expected the target 'setosa' for row" in one_sentence(assay(*command, folder / "pool.npz"))
    assert assay(*command, "pool.npz").returncode == 0


def test_a_given_pool_of_another_unit_is_refused(assay, evaluate, folder, one_sentence, tmp_path, edit):
    edit(folder / "pool.npz", tmp_path / "pool.npz", unit="probability")
    for result in (
        evaluate("--criteria", "complexity", "--pool-explanations", "pool.npz"),
        assay("evaluate", "--explanations", folder / "phi.npz", "--pool-explanations", "pool.npz"),
    ):
        sentence = one_sentence(result)
        assert "pool.npz: expected explanations in the unit margin" in sentence and "found probability" in sentence


def test_a_given_pool_made_otherwise_is_noted(assay, evaluate, folder, tmp_path, edit):
    command = ("--criteria", "avg_sensitivity", "--baseline", "zero", "--json", "--pool-explanations")

    def notes(pool, explanations=None):
        result = evaluate(*command, pool, explanations=explanations)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["explanations"][0]["notes"]

    assert notes(folder / "pool.npz") == []
    explain = ("explain", "--model", folder / "m.onnx", "--label", "species", "--data")
    train = (*explain, folder / "train.csv")
    assert assay(*train, "--method", "occlusion", "--baseline", "zero", "--out", "occlusion.npz").returncode == 0
    (note,) = notes("occlusion.npz")
    assert note.startswith("occlusion.npz was made by another method (occlusion) than ")
    assert note.endswith("phi.npz (exact_shapley)")
    mean = ("--baseline", "mean", "--pool", folder / "train.csv")
    assert assay(*train, "--method", "exact_shapley", *mean, "--out", "mean.npz").returncode == 0
    (note,) = notes("mean.npz")
    assert "mean.npz was made against another reference (mean of " in note and note.endswith("phi.npz (zero)")
    edit(folder / "pool.npz", tmp_path / "named.npz", reference="nothing at all")
    assert notes("named.npz") == []
    sampling = "shapley_sampling:permutations={}"
    for file, data, draws in (("phi.npz", "test.csv", 4), ("few.npz", "train.csv", 6)):
        method = ("--method", sampling.format(draws), "--baseline", "zero", "--out", file)
        assert assay(*explain, folder / data, *method).returncode == 0
    (note,) = notes("few.npz", tmp_path / "phi.npz")
    assert "few.npz was made with other options (permutations=6) than " in note
    assert note.endswith("phi.npz (permutations=4)")


# What is wrong | --explanations | --criteria | other options | words of the sentence
BAD = """
no model | phi.npz | faithfulness | | faithfulness needs the model and the rows that were explained: give --model and --
no model by its options | phi.npz | effective_complexity | | effective_complexity needs the model and the rows that
no rows | phi.npz | faithfulness | MODEL | the model and the rows that were explained: give --data
no reference | phi.npz | faithfulness | MODEL DATA | give --pool (its mean is the default), --baseline
no pool | phi.npz | complexity,avg_sensitivity | MODEL DATA ZERO | needs a pool of training rows: give --pool
no reference to explain again | phi.npz | identity | MODEL DATA | something that stands for absent features
pool explanations of nobody | bare.npy | max_sensitivity | MODEL DATA POOL | give --pool-explanations
no labels | phi.npz | complexity,roar | MODEL --data plain.csv POOL | give --labels
no training | torch.npy | complexity,roar | TORCH --pool-explanations torch.npy | a model that can be trained again
no others | phi.npz | rank_correlation | | rank_correlation needs other explanations of the same rows: give --others
unknown criterion | phi.npz | faithfullness | | did you mean 'faithfulness'
unknown option | phi.npz | faithfulness:subsets=2 | | 'subsets'
no criteria after a comma | phi.npz | complexity, | | --criteria: expected a name
a criterion of runs alone | none.npz | roar,faithfulness:form=pooled | | none of the criteria scores single rows
too few rows | few.npy | faithfulness:form=pooled,complexity | MODEL --data few.csv ZERO | form, and there are 2
other labels than the model's | phi.npz | complexity | MODEL --data test.csv --labels petal_width | OTHER_LABEL
other labels by position | phi.npz | complexity | MODEL --data test.csv --label 4 | --label OTHER_LABEL
other labels, of the pool | phi.npz | complexity | MODEL --data plain.csv POOL --labels petal_width | OTHER_LABEL
a criterion twice | phi.npz | complexity,complexity | | 'complexity' twice
a model alone | phi.npz | complexity | MODEL | --model is of no use without --data
rows alone | phi.npz | complexity | DATA | --data is of no use without --model
a pool alone | phi.npz | complexity | POOL | --pool is of no use without --model and --data
a part of the pool alone | phi.npz | complexity | --pool-split train | --pool-split is of no use without --model and --
a baseline alone | phi.npz | complexity | ZERO | --baseline is of no use without --model and --data
a background alone | phi.npz | complexity | --background train.csv | --background is of no use without --model and --
a target alone | bare.npy | complexity | --target setosa | --target is of no use without --model and --data
a unit alone | bare.npy | complexity | --value margin | --value is of no use without --model and --data
labels alone | phi.npz | complexity | --labels species | --labels is of no use without --model and --data
a label alone | phi.npz | complexity | --label species | --label is of no use without --model and --data
missing cells alone | phi.npz | complexity | --missing NA | --missing is of no use without --model and --data
ids alone | phi.npz | complexity | --id 1 | --id is of no use without --model and --data
numbers alone | phi.npz | complexity | --numeric a | --numeric is of no use without --model and --data
categories alone | phi.npz | complexity | --categorical a | --categorical is of no use without --model and --data
a delimiter alone | phi.npz | complexity | --delimiter tab | --delimiter is of no use without --model and --data
a header alone | phi.npz | complexity | --header detect | --header is of no use without --model and --data
names of columns alone | phi.npz | complexity | --names a,b | --names is of no use without --model and --data
lines to skip alone | phi.npz | complexity | --skip-lines 0 | --skip-lines is of no use without --model and --data
groups alone | phi.npz | complexity | --groups none | --groups is of no use without --model and --data
chosen rows alone | phi.npz | complexity | --rows 1-3 | --rows is of no use without --model and --data
a part of the rows alone | phi.npz | complexity | --split test | --split is of no use without --model and --data
others for nothing | phi.npz | complexity | --others bare.npy | --others is of no use without a criterion of agreement
a file twice | phi.npz,bare.npy,phi.npz | complexity | | --explanations: expected each file once, found 'phi.npz' twice
a file by two names | phi.npz,./phi.npz | complexity | | expected each file once, found './phi.npz' twice
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
an array, not its pool | bare.npy,wide.npy | complexity | MODEL DATA --pool-explanations TWO | wide.npy: expected 4
others of other rows | phi.npz | rank_correlation | --others pool.npz | pool.npz: expected 30 rows, as 'phi.npz' has
files of other rows | phi.npz,pool.npz | complexity | | files of as many rows as each other
no file after a comma | phi.npz, | complexity | | --explanations: expected names of files, joined by commas
no pool file before a comma | phi.npz | complexity | --pool-explanations ,pool.npz | --pool-explanations: expected names
no other file between commas | phi.npz | complexity | --others phi.npz,,phi.npz | --others: expected names of files
no such file | none.npz | complexity | | none.npz
a file that is no explanations | m.onnx | complexity | | m.onnx
rows out of range | phi.npz | complexity | MODEL DATA --rows 1-31 | rows from 1 to 30
"""
SHORT = {
    "MODEL": "--model m.onnx",
    "DATA": "--data test.csv --label species",
    "POOL": "--pool train.csv",
    "ZERO": "--baseline zero",
    "TWO": "bare.npy,bare.npy",
    "TORCH": "--model torch.onnx --data torch.csv --label y --pool torch.csv",
}
OTHER_LABEL = "names the column 'petal_width', and m.onnx takes its labels from 'species'"
CASES = [[cell.strip() for cell in line.split("|")] for line in BAD.strip().splitlines()]


@pytest.fixture
def files(folder, tmp_path, assay, load):
    """What the bad runs read, beside the good files."""
    for name in ("m.onnx", "train.csv", "test.csv", "phi.npz", "pool.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    values = load(folder / "phi.npz")["values"]
    np.save(tmp_path / "bare.npy", values)
    np.save(tmp_path / "few.npy", values[:2])
    np.save(tmp_path / "wide.npy", np.ones((30, 5), dtype=np.float32))
    header, *rows = (tmp_path / "test.csv").read_text().splitlines()
    (tmp_path / "turned.csv").write_text("\n".join([header, *reversed(rows)]) + "\n")
    (tmp_path / "few.csv").write_text("\n".join((header, *rows[:2])) + "\n")
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
    sentence = one_sentence(assay(*command))
    assert words.replace("OTHER_LABEL", OTHER_LABEL) in sentence
    assert case[0] != "too few rows" or "give" not in sentence
    assert (files / "kept.csv").read_bytes() == b"precious"
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize(
    ("option", "words"),
    [("--explanations", "joined by commas, found nothing"), ("--out", "--out: expected the name of a file"),
     ("--criteria", "--criteria: expected one or more"), ("--others", "--others: expected names of files"),
     ("--pool-explanations", "--pool-explanations: expected names of files")],
)  # fmt: skip
def test_nothing_is_no_name(assay, one_sentence, files, option, words):
    given = {"--explanations": "phi.npz", option: ""}
    assert words in one_sentence(assay("evaluate", *(word for pair in given.items() for word in pair)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"unit": "furlong"}, "odd.npz: expected a unit of margin, probability, log_odds, value, information, found 'fu"),
     ({"players": "grid:7"}, "odd.npz: its players are those of 'grid:7', which do not fit test.csv"),
     ({"players": "none.json"}, "odd.npz: its players are those of 'none.json', which is not opened on its word: give"),
     ({"players": "parts.json"}, "odd.npz: its players are those of 'parts.json', which is not opened on its word: "),
     ({"players": "auto"}, "odd.npz: its players are those of 'auto', which is not opened on its word: give --groups"),
     ({"target": "rose"}, "odd.npz: expected a target of m.onnx: ")],
)  # fmt: skip
def test_a_file_that_says_odd_things_is_named(assay, one_sentence, files, changes, words, edit):
    edit(files / "phi.npz", files / "odd.npz", **changes)
    given = ("--model", "m.onnx", "--data", "test.csv", "--label", "species", "--pool", "train.csv")
    command = ("evaluate", *given, "--criteria", "complexity", "--explanations")
    assert words in one_sentence(assay(*command, "odd.npz"))
    if "unit" in changes:
        for option in ("--others", "--pool-explanations"):
            more = ("phi.npz", "--criteria", "rank_correlation", "--others", "phi.npz")
            more = more[:-2] if option == "--others" else more
            assert words in one_sentence(assay("evaluate", "--explanations", *more, option, "odd.npz"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"method": "nosuch"}, "made by 'nosuch', which this version does not know"),
     ({"options": {"depth": "3"}}, "made by 'exact_shapley', with options that this version refuses (")],
)  # fmt: skip
def test_a_method_of_another_version_is_noted(assay, one_sentence, files, changes, words, edit):
    edit(files / "phi.npz", files / "odd.npz", **changes)
    assert words in assay("evaluate", "--explanations", "odd.npz", "--criteria", "complexity").stdout
    needs = assay("evaluate", "--explanations", "odd.npz", "--criteria", "max_sensitivity")
    assert "this version cannot make them by" in one_sentence(needs)


def test_explained_values_that_nobody_says_are_noted(assay, evaluate, folder, one_sentence, tmp_path, load, edit):
    phi = load(folder / "phi.npz")
    for value in (math.nan, math.inf):
        output = phi["output"].copy()
        output[4] = value
        edit(folder / "phi.npz", tmp_path / "odd.npz", arrays={"output": output})
        result = evaluate("--criteria", "complexity", explanations=tmp_path / "odd.npz")
        if math.isnan(value):
            assert "odd.npz says no explained value for 1 of 30 rows" in result.stdout
        else:
            assert "the explained value of row 5 is inf" in one_sentence(result)
    np.save(tmp_path / "bare.npy", phi["values"])
    assert "explained value" not in evaluate("--criteria", "complexity", explanations=tmp_path / "bare.npy").stdout


def test_rows_in_another_order_are_refused(assay, folder, one_sentence, tmp_path):
    lines = (folder / "test.csv").read_text().splitlines()
    (tmp_path / "turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    rows = ("--model", folder / "m.onnx", "--pool", folder / "train.csv", "--label", "species")
    for data, out in ((folder / "test.csv", "as_is"), ("turned.csv", "turned")):
        made = assay("explain", *rows, "--data", data, "--target", "0", "--method", "occlusion", "--out", f"{out}.npz")
        assert made.returncode == 0, made.stderr
    # Others, with which agreement is measured.
    words = ("evaluate", "--criteria", "rank_correlation", "--explanations", "as_is.npz", "--others", "turned.npz")
    assert "another model, or other rows" in one_sentence(assay(*words))
    # An aggregate of antecedents has the output of its row, not of the antecedents.
    made = assay("aggregate", *rows, "--data", folder / "test.csv", "--aggregator", "ava", "--out", "ava.npz")
    assert made.returncode == 0, made.stderr
    words = ("evaluate", *rows, "--criteria", "faithfulness", "--explanations", "ava.npz")
    assert assay(*words, "--data", folder / "test.csv").returncode == 0
    assert "of another model, of other rows" in one_sentence(assay(*words, "--data", "turned.csv"))
    ava, predicted = np.load(tmp_path / "ava.npz"), np.load(tmp_path / "as_is.npz")
    zero = ava["target"] == 0
    assert zero.any() and np.allclose(ava["output"][zero], predicted["output"][zero], rtol=1e-6)
    assert np.allclose(ava["gap"], ava["output"] - ava["base"] - ava["values"].sum(axis=1), atol=1e-5)
    antecedents = ava["measures"][:, list(ava["measure_names"]).index("antecedents_output")]
    assert np.allclose(antecedents, ava["base"] + ava["values"].sum(axis=1), atol=1e-4)


def test_advice_about_groups_is_given_where_it_helps(assay, one_sentence, files):
    rows = ("--model", "m.onnx", "--data", "test.csv", "--label", "species")
    np.save(files / "thin.npy", np.ones((30, 3), dtype=np.float32))
    advice = "; --groups says which columns go together"
    for file, helps in (("thin.npy", True), ("wide.npy", False), ("names.csv", False)):
        result = assay("evaluate", *rows, "--criteria", "complexity", "--explanations", file)
        assert one_sentence(result).endswith(advice) == helps
    others = assay("evaluate", "--explanations", "phi.npz", "--criteria", "rank_correlation", "--others", "thin.npy")
    assert "one for each player of 'phi.npz'" in one_sentence(others) and "--groups" not in others.stderr


def test_files_of_one_name_have_columns_of_their_own(assay, files):
    (files / "a").mkdir()
    (files / "a" / "phi.npz").write_bytes((files / "phi.npz").read_bytes())
    command = ("--quiet", "evaluate", "--criteria", "complexity", "--out", "-", "--explanations")
    header = assay(*command, "phi.npz,a/phi.npz").stdout.splitlines()[0]
    assert next(csv.reader([header])) == ["complexity (phi.npz)", "complexity (a/phi.npz)"]


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
