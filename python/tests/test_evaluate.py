"""assay.evaluate: the scores of the command line, what explanations remember, and what is said of what lacks."""

import json
import math
import pathlib
import types

import numpy as np
import pytest

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "models"
CRITERIA = assay.criteria().names
OTHERS = [each.name for each in assay.criteria() if "other explanations" in each.needs]
RETRAINING = [each.name for each in assay.criteria() if "trainer" in each.needs]
ROWS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
POOL = np.random.default_rng(1).normal(size=(40, 4)).astype(np.float32)
NUMBERS = np.random.default_rng(2).normal(size=(12, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """A network, and explanations of its predictions in memory and in files."""
    folder = tmp_path_factory.mktemp("iris")
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    assay.train(train).save(folder / "iris.onnx")
    model = assay.load(folder / "iris.onnx")
    made = {name: assay.explain(model, test, name, pool=train) for name in ("kernel_shap", "gradient", "lime")}
    for name, explanations in made.items():
        explanations.save(folder / f"{name}.npz")
    rows = ["--model", folder / "iris.onnx", "--data", "iris", "--split", "test"]
    return types.SimpleNamespace(
        folder=folder,
        train=train,
        test=test,
        model=model,
        made=made,
        arguments=[*rows, "--pool", "iris", "--pool-split", "train"],
        matrix=np.column_stack([test[name] for name in test.features]),
    )


def numbers(values):
    """NaN as JSON has it."""
    return [None if math.isnan(value) else value for value in values]


def assert_same(ours, theirs):
    """Scores beside those in the command line's JSON: all of them, digit by digit."""
    assert numbers(ours.values.tolist()) == theirs["values"]
    assert numbers([ours.mean, ours.error, *ours.interval]) == [theirs["mean"], theirs["stderr"], *theirs["interval"]]
    assert (ours.criterion, ours.direction, ours.coverage) == tuple(
        theirs[key] for key in ("criterion", "direction", "coverage")
    )
    assert (ours.options, ours.evaluations) == (theirs["options"], theirs["evaluations"])
    assert ours.notes == theirs["notes"]
    assert ours.of_rows == (theirs["per"] == "row")
    errors = None if ours.standard_error is None else numbers(ours.standard_error.tolist())
    assert errors == theirs.get("values_stderr")
    assert ours.undefined == {each["reason"]: each["rows"] for each in theirs["undefined"]}
    assert list(ours.tables) == [each["name"] for each in theirs["tables"]]
    for table, other in zip(ours.tables.values(), theirs["tables"], strict=True):
        assert table.columns == other["columns"]
        assert [numbers(row) for row in table.rows] == other["rows"]


def assert_equal(first, second):
    """Two evaluations, bit by bit."""
    assert list(first) == list(second)
    for name, ours in first.items():
        theirs = second[name]
        assert ours.values.tobytes() == theirs.values.tobytes(), name
        assert np.array_equal([ours.mean, ours.error], [theirs.mean, theirs.error], equal_nan=True), name
        assert ours.undefined == theirs.undefined


@pytest.mark.parametrize("method", ["kernel_shap", "gradient"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_command_line_gives_the_same_scores(criterion, method, iris, command):
    """Those that explain the pool or the rows again, or train again, too."""
    others = {"lime": iris.made["lime"]} if criterion in OTHERS else None
    words = ["--others", iris.folder / "lime.npz"] if others else []
    few = {"seeds": 2} if criterion in RETRAINING else {}
    spec = ":".join([criterion, *(f"{key}={value}" for key, value in few.items())])
    file = iris.folder / f"{method}.npz"
    printed = command("--json", "evaluate", "--explanations", file, *iris.arguments, "--criteria", spec, *words)
    scores = assay.evaluate(iris.made[method], criterion, others=others, **few)
    assert list(scores) == [spec]
    assert_same(scores[criterion], json.loads(printed)["scores"][0])


IN_LOG_ODDS = ["deletion", "addition", "necessity", "sufficiency", "deletion_auc", "irof"]


@pytest.mark.parametrize("value", ["probability", "log_odds"])
@pytest.mark.parametrize("network", ["iris", "sklearn_columns", "sklearn_mlp_binary"])
def test_scores_of_other_values_are_found_from_margins_as_the_command_line_does(network, value, iris, command):
    """Log-odds of probabilities near 1 would be rounded; and texts are texts in the model of margins, too."""
    if network == "iris":
        path, rows, words = iris.folder / "iris.onnx", iris.test, ["--data", "iris", "--split", "test"]
    else:
        path = FIXTURES / network / "model.onnx"
        rows, words = assay.dataset(FIXTURES / network / "rows.csv"), ["--data", FIXTURES / network / "rows.csv"]
    made = assay.explain(assay.load(path), rows, "occlusion", pool=rows, value=value)
    file = iris.folder / f"{network}-{value}.npz"
    made.save(file)
    pool = ["--pool", *words[1:2], *(["--pool-split", "test"] if network == "iris" else [])]
    criteria = ",".join(IN_LOG_ODDS)
    arguments = ["--explanations", file, "--model", path, *words, *pool, "--criteria", criteria]
    scores = assay.evaluate(made, criteria)
    for theirs in json.loads(command("--json", "evaluate", *arguments))["scores"]:
        assert_same(scores[theirs["criterion"]], theirs)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("seed", [0, 11])
def test_seeds_and_threads_are_those_of_the_command_line(seed, threads, iris, command):
    """Rows are those of the default seed, from a file, as the command line has one seed for all."""
    files = {}
    for name, table in (("test", iris.test), ("train", iris.train)):
        files[name] = iris.folder / f"{name}.csv"
        columns = [table[each] for each in table.columns]
        lines = [
            ",".join(f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row)
            for row in zip(*columns, strict=True)
        ]
        files[name].write_text("\n".join([",".join(table.columns), *lines]) + "\n")
    criteria = "infidelity,max_sensitivity,avg_sensitivity,randomisation,max_sensitivity_yeh"
    arguments = ["--model", iris.folder / "iris.onnx", "--data", files["test"], "--pool", files["train"]]
    explanations = iris.folder / "kernel_shap.npz"
    printed = command(
        *["--seed", seed, "--threads", threads, "--json", "evaluate", "--explanations", explanations],
        *[*arguments, "--label", "species", "--criteria", criteria],
    )
    scores = assay.evaluate(iris.made["kernel_shap"], criteria, seed=seed, threads=threads)
    for theirs in json.loads(printed)["scores"]:
        assert_same(scores[theirs["criterion"]], theirs)


def test_rows_of_the_pool_are_no_neighbours_of_themselves(iris, command):
    """Rows are one by their place in one table: the pool is X, or the command line's --pool is its --data."""
    explanations = assay.explain(iris.model, iris.train, "occlusion", pool=iris.train)
    file = iris.folder / "own.npz"
    explanations.save(file)
    rows = ["--data", "iris", "--split", "train", "--pool", "iris", "--pool-split", "train"]
    words = ["--model", iris.folder / "iris.onnx", *rows, "--criteria", "max_sensitivity,avg_sensitivity"]
    printed = command("--json", "evaluate", "--explanations", file, *words)
    own = assay.evaluate(explanations, ["max_sensitivity", "avg_sensitivity"])
    for theirs in json.loads(printed)["scores"]:
        assert_same(own[theirs["criterion"]], theirs)


# What explanations remember

MAKINGS = {
    "default": {},
    "a class": {"target": "versicolor"},
    "rows' own targets": {"target": np.resize([0, 2, 1], 30)},
    "probability": {"value": "probability"},
    "log odds": {"value": "log_odds"},
    "information": {"value": "information"},
    "groups": {"groups": {"petal": ["petal_length", "petal_width"]}},
    "zero": {"baseline": "zero"},
    "background": {"background": "pool:10"},
}
SCORED = ["faithfulness", "max_sensitivity", "complexity", "identity", "monotonicity", "compatibility", "deletion_auc"]


@pytest.mark.parametrize("making", MAKINGS)
def test_what_is_remembered_is_what_is_said(making, iris):
    """Explanations in memory need nothing. Arrays need all that they were made with, files what they do not hold."""
    said = MAKINGS[making]
    made = assay.explain(iris.model, iris.test, "exact_shapley", pool=iris.train, **said)
    path = iris.folder / f"remembered-{making.replace(' ', '-')}.npz"
    made.save(path)
    criteria = [each for each in SCORED if making != "rows' own targets" or each != "max_sensitivity"]
    wanted = assay.evaluate(made, criteria)
    beside = {"model": iris.model, "X": iris.test, "pool": iris.train}
    not_in_files = {key: value for key, value in said.items() if key in ("groups", "baseline", "background")}
    assert_equal(assay.evaluate(assay.Explanations.load(path), criteria, **beside, **not_in_files), wanted)
    assert_equal(assay.evaluate(made, criteria, **beside, **said), wanted)
    of_arrays = [each for each in criteria if each in ("faithfulness", "complexity", "monotonicity", "deletion_auc")]
    again = assay.evaluate(made.to_numpy(), of_arrays, **beside, **said)
    assert_equal(again, assay.evaluate(made, of_arrays))


@pytest.mark.parametrize("source", ["memory", "file", "array"])
def test_functions_of_data_frames_are_remembered_too(source, tmp_path):
    """Their columns are learnt from all tables of a call, here again from the same ones."""
    pandas = pytest.importorskip("pandas", reason="pandas makes the tables")
    random = np.random.default_rng(4)

    def people(rows):
        numbers = {"age": random.integers(18, 80, rows), "income": random.normal(50.1, 20, rows)}
        return pandas.DataFrame(numbers | {"job": random.choice(["cook", "smith", "nurse"], rows)})

    rows, pool = people(15), people(40)
    pool.loc[3, "job"] = "pilot"
    model = assay.wrap(lambda frame: frame["age"] / 50 + frame["income"] / 70 * (frame["job"] == "nurse"))
    made = assay.explain(model, rows, "exact_shapley", pool=pool)
    criteria = ["faithfulness", "complexity", "monotonicity", "deletion_auc"]
    wanted = assay.evaluate(made, [*criteria, "max_sensitivity", "identity"])
    beside = {"model": model, "X": rows, "pool": pool}
    if source == "memory":
        assert_equal(assay.evaluate(made, list(wanted), **beside), wanted)
    elif source == "file":
        made.save(tmp_path / "made.npz")
        assert_equal(assay.evaluate(assay.Explanations.load(tmp_path / "made.npz"), list(wanted), **beside), wanted)
    else:
        found = assay.evaluate(made.to_pandas(), criteria, **beside)
        assert_equal(found, {name: wanted[name] for name in criteria})


@pytest.mark.parametrize("target", [2, [0, 1, 2] * 10, "virginica"])
def test_attributions_made_elsewhere_say_what_they_explain(target, iris):
    """By number or name, as one would say it here."""
    beside = {"model": iris.model, "X": iris.test, "pool": iris.train}
    values = iris.made["lime"].to_numpy()
    criteria = ["faithfulness", "monotonicity", "infidelity"]
    wanted = assay.evaluate(values, criteria, target=target, **beside)
    named = assay.Explanations.from_array(values, target=target)
    assert_equal(assay.evaluate(named, criteria, **beside), wanted)
    predicted = assay.evaluate(values, criteria, **beside)
    assert predicted["faithfulness"].values.tobytes() != wanted["faithfulness"].values.tobytes()
    with pytest.raises(ValueError, match=r"^target: expected a number from 0 to 2, found 7$"):
        assay.evaluate(assay.Explanations.from_array(values, target=7), criteria, **beside)


def test_columns_of_an_array_are_those_of_the_rows_where_they_are_as_many(tmp_path):
    """A one-hot encoder makes three columns of two: an array may have a value for each, or for each of the two."""
    texts = [f"{number},{'abb'[number % 3]},{'no' if number % 4 else 'yes'}" for number in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,kind,big", *texts]) + "\n")
    rows = assay.dataset(tmp_path / "rows.csv", label="big")
    model = assay.train(rows, encode="one_hot")
    assert model.features != ["size", "kind"]
    width = len(model.features)
    for columns, groups in ((width, "none"), (2, "auto")):
        values = np.random.default_rng(0).normal(size=(60, columns))
        beside = {"model": model, "X": rows, "pool": rows}
        wanted = assay.evaluate(values, "monotonicity", groups=groups, **beside)
        assert_equal(assay.evaluate(values, "monotonicity", **beside), wanted)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"model": "other"},
            "the explained value of row 1 is .*: the explanations are of another model, of other rows",
        ),
        ({"X": "reversed"}, "expected the target 'virginica' for row 1, as target= has it, found 'setosa'"),
        ({"X": "shifted"}, "the explained value of row 1 is .*: the explanations are of another model, of other rows"),
        ({"X": "fewer"}, "expected 29 rows, one for each of iris .test part., found 30"),
        ({"value": "probability"}, "expected the unit probability, which value= names, found margin"),
        ({"target": "setosa"}, "expected the target 'setosa' for row 11, as target= has it, found 'versicolor'"),
        ({"groups": {"petal": ["petal_length", "petal_width"]}}, "expected 3 columns, .*; groups= says which"),
    ],
)
@pytest.mark.parametrize("source", ["memory", "file"])
def test_what_does_not_fit_is_refused(source, changed, message, iris):
    others = {
        "other": assay.train(iris.train, seed=5),
        "reversed": iris.test[::-1],
        "shifted": iris.test[[1, 0, *range(2, 30)]],
        "fewer": iris.test[1:],
    }
    words = {key: others.get(value, value) if isinstance(value, str) else value for key, value in changed.items()}
    made = iris.made["kernel_shap"]
    found = made if source == "memory" else assay.Explanations.load(iris.folder / "kernel_shap.npz")
    with pytest.raises(ValueError, match=f"^explanations: {message}"):
        assay.evaluate(found, "faithfulness", **{"model": iris.model, "X": iris.test, "pool": iris.train} | words)


def test_intervals_can_be_left_out(iris):
    whole = assay.evaluate(iris.made["gradient"], "complexity")["complexity"]
    without = assay.evaluate(iris.made["gradient"], "complexity", interval=False)["complexity"]
    assert np.isnan(without.interval).all() and np.isfinite(whole.interval).all()
    assert (without.mean, without.error) == (whole.mean, whole.error)
    np.testing.assert_array_equal(without.values, whole.values)
    with pytest.raises(ValueError, match="interval: expected True or False, found 'no'"):
        assay.evaluate(iris.made["gradient"], "complexity", interval="no")


@pytest.mark.parametrize("form", ["list", "array", "codes", "table", "frame", "categories"])
def test_labels_may_come_later(form, iris):
    """Explanations of arrays know no labels; what they score is what those of the labelled table do."""
    pandas = pytest.importorskip("pandas", reason="pandas makes labels") if form in ("frame", "categories") else None
    pool = np.column_stack([iris.train[name] for name in iris.train.features])
    made = assay.explain(iris.model, iris.matrix, "kernel_shap", pool=pool)
    with pytest.raises(assay.UnsupportedError, match=r"^roar needs labels of the rows; give y=$"):
        assay.evaluate(made, "roar")

    def labels(table):
        texts = table.labels
        return {
            "list": lambda: list(texts),
            "array": lambda: texts,
            "codes": lambda: np.array([iris.model.classes.index(text) for text in texts]),
            "table": lambda: table,
            "frame": lambda: pandas.DataFrame({"species": texts}),
            "categories": lambda: pandas.Series(texts).astype("category"),
        }[form]()

    wanted = assay.evaluate(iris.made["kernel_shap"], "roar", seeds=1)
    said = {"y": labels(iris.test), "pool_y": labels(iris.train)}
    assert_equal(assay.evaluate(made, "roar", seeds=1, **said), wanted)
    joined = {"model": iris.model, "X": iris.matrix, "pool": pool}
    file = assay.Explanations.load(iris.folder / "kernel_shap.npz")
    assert_equal(assay.evaluate(file, "roar", seeds=1, **joined, **said), wanted)


def test_explanations_of_the_pool_may_be_given(iris):
    """Made by us where we can; the same numbers from elsewhere give the same scores."""
    pool = assay.explain(iris.model, iris.train, "kernel_shap", pool=iris.train, target="predicted")
    wanted = assay.evaluate(iris.made["kernel_shap"], ["max_sensitivity", "avg_sensitivity", "conviction"])
    given = assay.evaluate(
        iris.made["kernel_shap"].to_numpy(),
        ["max_sensitivity", "avg_sensitivity", "conviction"],
        **{"model": iris.model, "X": iris.test, "pool": iris.train, "pool_explanations": pool.to_numpy()},
    )
    assert_equal(given, wanted)


# What lacks, and the arguments that would help


def refusals_of(explanations, **said):
    found = {}
    for criterion in CRITERIA:
        try:
            assay.evaluate(explanations, criterion, **said)
        except assay.UnsupportedError as refusal:
            found[criterion] = str(refusal)
    return found


NEEDS = {each.name: set(each.needs) for each in assay.criteria()}
AGAIN = "attributions made elsewhere cannot be made again"


def test_attributions_alone_are_told_what_they_lack():
    found = refusals_of(NUMBERS)
    for criterion, needs in NEEDS.items():
        if "other explanations" in needs:
            wanted = "needs other explanations of the same rows to compare with; give others="
        elif "model" in needs and "explainer" not in needs:
            wanted = "needs the model and the rows that were explained; give model= and X="
        else:
            wanted = None
        assert found.get(criterion) == (wanted and f"{criterion} {wanted}"), criterion
    again = [criterion for criterion, needs in NEEDS.items() if "explainer" in needs]
    for criterion, scores in assay.evaluate(NUMBERS, again).items():
        assert scores.undefined == {AGAIN: 12}, criterion
        assert np.isnan(scores.values).all() and math.isnan(scores.mean)


@pytest.mark.parametrize("remembered", [True, False])
def test_explanations_without_a_pool_are_told_what_they_lack(remembered, iris):
    made = assay.explain(iris.model, iris.matrix, "gradient")
    said = {} if remembered else {"model": iris.model, "X": iris.matrix}
    there = " to assay.explain, or here beside model= and X=" if remembered else ""
    found = refusals_of(made, **said)
    for criterion, needs in NEEDS.items():
        if "reference" in needs:
            arguments = "pool= (its mean is the default), baseline= or background="
            wanted = f"stands for absent features; give {arguments}{there}"
        elif "pool" in needs:
            wanted = f"needs a pool of training rows; give pool={there}"
        elif "other explanations" in needs:
            wanted = "to compare with; give others="
        elif "explainer" in needs and criterion not in ("identity", "randomisation"):
            wanted = f"whose columns' deviations are its unit, or space=raw; give pool={there}"
        else:
            assert criterion not in found, criterion
            continue
        assert found[criterion].startswith(f"{criterion} needs ") and found[criterion].endswith(wanted), criterion


def test_black_boxes_are_told_what_they_lack():
    model = assay.wrap(lambda rows: rows @ [1.0, 2.0, -1.0, 0.5])
    found = refusals_of(assay.explain(model, ROWS, "occlusion", pool=POOL))
    assert set(found) == {"conditional_conviction", "irof", "posthoc_accuracy", "randomisation", *RETRAINING, *OTHERS}
    assert all(found[criterion] == f"{criterion} needs labels of the rows; give y=" for criterion in RETRAINING)
    made = assay.explain(model, ROWS, "occlusion", pool=POOL)
    for criterion in RETRAINING:
        with pytest.raises(assay.UnsupportedError, match=f"^{criterion} needs a model that can be trained again$"):
            assay.evaluate(made, criterion, y=np.zeros(12), pool_y=np.zeros(40))


def test_without_criteria_the_main_ones_are_scored_as_far_as_they_can_be(iris):
    whole = assay.evaluate(iris.made["gradient"])
    assert list(whole) == ["faithfulness", "max_sensitivity", "avg_sensitivity", "complexity"] and not whole.left_out
    bare = assay.evaluate(NUMBERS)
    assert list(bare) == ["complexity"]
    assert [each.split()[0] for each in bare.left_out] == ["faithfulness", "max_sensitivity", "avg_sensitivity"]
    assert all(each.endswith("; give model= and X=") for each in bare.left_out)


# Numbers by hand


def test_faithfulness_is_a_correlation_that_numpy_finds_too():
    """Of attributions with what each player's removal changes, for a function that is no sum."""
    function = lambda rows: np.asarray(rows[:, 0] * rows[:, 1] + np.tanh(rows[:, 2]) - rows[:, 3], np.float64)  # noqa: E731
    base = np.array([0.5, -0.5, 0.25, 0], np.float32)
    scores = assay.evaluate(NUMBERS, "faithfulness", model=assay.wrap(function), X=ROWS, baseline=base, subset=1)
    for row, attributions, score in zip(ROWS, NUMBERS, scores["faithfulness"].values, strict=True):
        without = np.where(np.eye(4, dtype=bool), base, row)
        change = function(row[np.newaxis])[0] - function(without)
        assert score == pytest.approx(np.corrcoef(attributions, change)[0, 1], abs=1e-5)


def test_complexity_and_agreement_are_those_of_numpy():
    shares = np.abs(NUMBERS.astype(np.float64))
    shares /= shares.sum(axis=1, keepdims=True)
    found = assay.evaluate(NUMBERS, "complexity")["complexity"].values
    assert found == pytest.approx(-(shares * np.log(shares)).sum(axis=1), abs=1e-6)
    other = np.random.default_rng(9).normal(size=(12, 4))
    ranks = [np.argsort(np.argsort(np.abs(each), axis=1), axis=1) for each in (NUMBERS, other)]
    wanted = [np.corrcoef(a, b)[0, 1] for a, b in zip(*ranks, strict=True)]
    scores = assay.evaluate(NUMBERS, "rank_correlation", others=[other])["rank_correlation"]
    assert scores.values == pytest.approx(wanted, abs=1e-6)
