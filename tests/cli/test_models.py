"""`assay train`, `predict` and `inspect` through the program: models of others, models of our own, and bad ones."""

import csv
import json
import math
import pathlib

import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
STORED = sorted(file.parent.name for file in FIXTURES.glob("*/model.onnx"))


def read(file):
    with open(file, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def numbers(file):
    header, rows = read(file)
    return header, [[float(cell) for cell in row] for row in rows]


@pytest.mark.parametrize("name", STORED)
def test_models_of_others_predict_as_their_source(assay, name):
    folder = FIXTURES / name
    options = ("--model", folder / "model.onnx", "--data", folder / "rows.csv")
    result = assay("predict", *options, "--check", folder / "expected.csv", "--tolerance", "1e-5")
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert "largest difference" in result.stdout
    columns = len(read(folder / "expected.csv")[0])
    assert f"{columns} columns" in result.stdout or columns == 1


@pytest.mark.parametrize("name", STORED)
def test_every_model_can_be_looked_at(assay, name):
    shown = assay("inspect", FIXTURES / name / "model.onnx")
    assert (shown.returncode, shown.stderr) == (0, "")
    facts = json.loads(assay("--json", "inspect", FIXTURES / name / "model.onnx").stdout)
    assert facts["capabilities"][0] == "predict"
    assert f"explained  {facts['explained']} of " in shown.stdout
    trees = any("TreeEnsemble" in node["operator"] for node in facts["nodes"])
    text = name.startswith("sklearn_columns")
    assert ("gradients" in facts["capabilities"]) == (not trees and not text)


def softmax(row):
    top = max(row)
    shares = [math.exp(value - top) for value in row]
    return [share / sum(shares) for share in shares]


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("xgboost_binary", "sigmoid"),
        ("lightgbm_three", "softmax"),
        ("sklearn_logistic_iris", "softmax"),
        ("sklearn_mlp_binary", "sigmoid"),
        ("torch_grouped_cnn_dynamo", "softmax"),
        ("torch_mlp_script", "softmax"),
    ],
)
def test_units_are_functions_of_each_other(assay, tmp_path, name, link):
    tables = {}
    for unit in ("margin", "probability", "log_odds"):
        options = ("--model", FIXTURES / name / "model.onnx", "--data", FIXTURES / name / "rows.csv")
        result = assay("predict", *options, "--output", unit, "--out", f"{unit}.csv")
        assert result.returncode == 0, result.stderr
        header, tables[unit] = numbers(tmp_path / f"{unit}.csv")
        assert all(column.startswith(f"{unit}.") for column in header)
    for margins, probabilities, odds in zip(*tables.values(), strict=True):
        expected = softmax(margins) if link == "softmax" else [1 / (1 + math.exp(-z)) for z in margins]
        # A binary booster's probabilities are those of both classes.
        found = probabilities[-len(expected) :]
        assert found == pytest.approx(expected, abs=1e-6)
        assert [1 / (1 + math.exp(-z)) for z in odds] == pytest.approx(expected, abs=1e-6)


def test_only_probabilities_says_so(assay):
    forest = FIXTURES / "sklearn_forest"
    assert "probabilities, for the model has no margins" in assay("inspect", forest / "model.onnx").stdout
    result = assay("predict", "--model", forest / "model.onnx", "--data", forest / "rows.csv", "--output", "margin")
    assert result.returncode == 1
    assert "output margin is not available: the trees' leaves hold probabilities" in result.stderr


def write(file, header, rows):
    with open(file, "w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


def test_a_difference_is_found_and_can_be_an_error(assay, tmp_path):
    folder = FIXTURES / "xgboost_regressor"
    header, rows = read(folder / "expected.csv")
    here = float(rows[3][0])
    rows[3][0] = repr(here + 0.25)
    rows[5][0] = repr(float(rows[5][0]) + 0.01)
    rows[7][0] = repr(float(rows[7][0]) + 1e-6)  # rounding
    write(tmp_path / "off.csv", header, rows)
    options = ("predict", "--model", folder / "model.onnx", "--data", folder / "rows.csv", "--check", "off.csv")
    result = assay(*options)
    assert result.returncode == 0
    first, second, *_ = result.stdout.splitlines()
    assert first.startswith("largest difference from off.csv: 0.25 (row 4, column variable: ")
    both = first.split("variable: ")[1].split(")")[0]
    found, expected = (float(part.split()[0]) for part in both.split(", "))
    assert (found, expected) == pytest.approx((here, here + 0.25), abs=1e-6)
    assert first.endswith(f"{len(rows)} rows and 1 columns")
    assert second == f"rows: 2 of {len(rows)} differ by more than 1e-5 of their column's largest score"
    assert assay(*options, "--tolerance", "0.3").returncode == 0
    strict = assay(*options, "--tolerance", "0.2")
    assert strict.returncode == 1
    assert "row 4" in strict.stderr
    facts = json.loads(assay("--json", *options).stdout)
    assert next(iter(facts)) == "check"
    check = facts["check"]
    assert next(iter(check)) == "largest_difference"
    assert check["largest_difference"] == pytest.approx(0.25, abs=1e-6)
    assert (check["row"], check["column"], check["different_rows"]) == (4, "variable", 2)
    assert (check["found"], check["expected"]) == pytest.approx((here, here + 0.25), abs=1e-6)


def test_columns_without_a_counterpart_are_named(assay, tmp_path):
    """A misspelt column would turn the check off for it."""
    folder = FIXTURES / "sklearn_logistic_iris"
    header, rows = read(folder / "expected.csv")
    assert len(header) > 1
    write(tmp_path / "off.csv", [*header[:-1], "misspelt"], rows)
    result = assay("predict", "--model", folder / "model.onnx", "--data", folder / "rows.csv", "--check", "off.csv")
    assert result.returncode == 0, result.stderr
    assert f"not compared: {header[-1]}, which off.csv does not have" in result.stdout


def test_the_comparison_comes_before_accuracy(assay, tmp_path):
    folder = FIXTURES / "torch_mlp_script"
    options = ("--model", folder / "model.onnx", "--data", "rows.csv", "--label", "kind")
    header, rows = read(folder / "rows.csv")
    write(tmp_path / "rows.csv", [*header, "kind"], [[*row, i % 2] for i, row in enumerate(rows)])
    result = assay("predict", *options, "--check", folder / "expected.csv", "--out", "p.csv")
    assert result.returncode == 0, result.stderr
    lines = [line.split()[0] for line in result.stdout.splitlines()]
    assert lines[0] == "largest"
    assert lines[-2:] == ["wrote", "accuracy"]


def test_a_missing_score_is_the_largest_difference(assay, tmp_path):
    folder = FIXTURES / "xgboost_regressor"
    header, rows = read(folder / "expected.csv")
    rows[1][0] = "nan"
    write(tmp_path / "off.csv", header, rows)
    options = ("predict", "--model", folder / "model.onnx", "--data", folder / "rows.csv", "--check", "off.csv")
    first, second, *_ = assay(*options).stdout.splitlines()
    assert "largest difference from off.csv: inf (row 2, column variable: " in first
    assert " here, nan there)" in first
    assert second.startswith("rows: 1 of ")
    check = json.loads(assay("--json", *options).stdout)["check"]
    assert (check["largest_difference"], check["row"], check["expected"]) == (None, 2, None)
    assert assay(*options, "--tolerance", "1e9").returncode == 1


TREES = FIXTURES.parent / "trees"


def walked(tree):
    """Branches, leaves, deepest and categories of an XGBoost tree."""
    left, right = tree["left_children"], tree["right_children"]
    depths = {0: 0}
    for node, (a, b) in enumerate(zip(left, right, strict=True)):
        if a >= 0:
            depths[a] = depths[b] = depths[node] + 1
    branches = sum(child >= 0 for child in left)
    kinds = sum(kind == 1 and child >= 0 for kind, child in zip(tree["split_type"], left, strict=True))
    return branches, len(left) - branches, max(depths.values()), kinds


@pytest.mark.parametrize("name", ["xgboost_binary", "xgboost_three", "xgboost_categories"])
def test_trees_are_counted_as_in_their_file(assay, name):
    file = TREES / name / "model.json"
    trees = json.loads(file.read_text())["learner"]["gradient_booster"]["model"]["trees"]
    branches, leaves, depths, kinds = zip(*map(walked, trees), strict=True)
    facts = json.loads(assay("--json", "inspect", file).stdout)
    assert facts["trees"] == {
        "count": len(trees),
        "branches": sum(branches),
        "leaves": sum(leaves),
        "deepest": max(depths),
        "categories": sum(kinds),
        "covers": True,
    }
    assert (sum(kinds) > 0) == (name == "xgboost_categories")
    assert facts["parameters"] == sum(branches) + sum(leaves)
    assert "trees (tree_shap, tree_shap_path)" in facts["capabilities"]
    shown = assay("inspect", file).stdout
    assert f"trees      {len(trees)}: {sum(branches)} branches, {sum(leaves)} leaves, deepest {max(depths)}, " in shown
    assert ("branches on categories" in shown) == (sum(kinds) > 0)


def test_trees_without_covers_say_so(assay):
    shown = assay("inspect", TREES / "onnx_xgboost" / "model.onnx").stdout
    assert ", without covers\n" in shown
    assert "trees (tree_shap)" in shown
    network = json.loads(assay("--json", "inspect", FIXTURES / "torch_mlp_script" / "model.onnx").stdout)
    assert "trees" not in network
    assert not any("tree" in word for word in network["capabilities"])


def test_iris_is_learned_and_raw_rows_are_predicted(assay, tmp_path):
    trained = assay("--quiet", "train", "--data", "iris", "--hidden", "16", "--out", "iris.onnx")
    assert (trained.returncode, trained.stderr) == (0, "")
    result = assay("predict", "--model", "iris.onnx", "--data", "iris", "--split", "test", "--out", "p.csv")
    assert result.returncode == 0, result.stderr
    share = float(result.stdout.split("accuracy ")[1].split()[0])
    assert share >= 0.96
    header, rows = numbers(tmp_path / "p.csv")
    assert header == ["probability.0", "probability.1", "probability.2"]
    assert len(rows) == 30
    assert all(abs(sum(row) - 1) < 1e-5 for row in rows)
    shown = assay("inspect", "iris.onnx").stdout
    assert "classes    3: setosa, versicolor, virginica" in shown
    assert "retraining" in shown
    assert "encoder    takes 4 raw columns" in shown


def test_a_saved_model_is_the_same_on_any_number_of_threads(assay, tmp_path):
    for threads in (1, 2, 7):
        options = ("--threads", threads, "--seed", "5", "--quiet", "train", "--data", "iris", "--hidden", "8,8")
        assert assay(*options, "--training", "epochs=5", "--out", f"{threads}.onnx").returncode == 0
    first = (tmp_path / "1.onnx").read_bytes()
    assert (tmp_path / "2.onnx").read_bytes() == first
    assert (tmp_path / "7.onnx").read_bytes() == first
    assay(
        "--seed",
        "6",
        "--quiet",
        "train",
        "--data",
        "iris",
        "--hidden",
        "8,8",
        "--training",
        "epochs=5",
        "--out",
        "o.onnx",
    )
    assert (tmp_path / "o.onnx").read_bytes() != first


def test_adult_reaches_the_papers_accuracy(assay, data_dir):
    trained = assay("--json", "--quiet", "train", "--data", "adult", "--hidden", "40", "--out", "adult.onnx")
    assert trained.returncode == 0, trained.stderr
    facts = json.loads(trained.stdout)
    assert facts["test"]["accuracy"] >= 0.82
    result = assay("predict", "--model", "adult.onnx", "--data", "adult", "--split", "test", "--out", "p.npy")
    share = float(result.stdout.split("accuracy ")[1].split()[0])
    assert share == pytest.approx(facts["test"]["accuracy"], abs=1e-4)


def test_labels_in_other_words_give_no_accuracy(assay, tmp_path):
    (tmp_path / "rows.csv").write_text("x0,x1,x2,x3,x4,x5,kind\n1,2,3,4,5,6,cat\n1,2,3,4,5,7,dog\n")
    model = FIXTURES / "torch_mlp_script" / "model.onnx"
    result = assay("predict", "--model", model, "--data", "rows.csv", "--label", "kind", "--out", "p.csv")
    assert result.returncode == 0, result.stderr
    assert "no accuracy: the classes of column 'kind' are not those of the model" in result.stderr
    assert "accuracy" not in result.stdout


def test_a_category_that_only_test_rows_have_is_no_failure(assay, tmp_path):
    rows = [f"{i},k{i if i % 7 == 0 else 1},{'yes' if i % 3 else 'no'}" for i in range(100)]
    (tmp_path / "rare.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    result = assay("--quiet", "train", "--data", "rare.csv", "--label", "y", "--out", "m.onnx")
    assert (result.returncode, result.stderr) == (0, "")


def test_digits_are_learned_by_convolutions(assay, data_dir):
    network = ("--cnn", "8,16", "--network", "kernel=3:padding=same", "--training", "epochs=30:rate=0.003")
    result = assay("--json", "--quiet", "train", "--data", "digits", *network, "--out", "m.onnx")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["test"]["accuracy"] > 0.9


BAD_TRAINING = {
    "weights of no classes": (
        ("--data", "values.csv", "--label", "y", "--training", "class_weights=balanced", "--out", "m.onnx"),
        "class_weights: expected classes to weigh, found a regression",
    ),
    "standard input twice": (("--data", "-", "--out", "m.onnx"), "standard input is read once"),
    "no labels": (("--data", "rows.csv", "--out", "m.onnx"), "a column of labels to predict; --label names it"),
    "not a model file": (("--data", "iris", "--out", "m.csv"), "--out: expected a file that ends in .onnx"),
    "no folder": (("--data", "iris", "--out", "no/m.onnx"), "expected a folder to write into"),
    "no width": (("--data", "iris", "--hidden", "40,x", "--out", "m.onnx"), "--hidden: expected whole numbers above 0"),
    "unknown option": (("--data", "iris", "--training", "epoch=5", "--out", "m.onnx"), "'epoch'"),
    "out of range": (("--data", "iris", "--training", "rate=-1", "--out", "m.onnx"), "rate"),
    "images for a table": (("--data", "iris", "--cnn", "8", "--out", "m.onnx"), "image"),
    "diverges": (("--data", "iris", "--training", "rate=100:schedule=constant:epochs=200", "--out", "m.onnx"), None),
}


@pytest.mark.parametrize("what", BAD_TRAINING)
def test_bad_training_is_refused_and_nothing_is_written(assay, tmp_path, what):
    arguments, words = BAD_TRAINING[what]
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "values.csv").write_text("a,y\n" + "".join(f"{i},{i / 4 + 0.1}\n" for i in range(60)))
    result = assay("--quiet", "train", *arguments)
    if words is None:  # whatever becomes of it, it is one of two things
        assert (result.returncode == 0) == (tmp_path / "m.onnx").exists()
        return
    assert result.returncode == 1
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.csv", "values.csv"]


BAD_MODELS = {
    "no file": (None, "nowhere.onnx"),
    "empty": (b"", "bad.onnx"),
    "text": (b"not a model at all", "bad.onnx"),
    "cut": ((FIXTURES / "torch_mlp_script" / "model.onnx").read_bytes()[:-40], "bad.onnx"),
}


@pytest.mark.parametrize("what", BAD_MODELS)
@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_bad_models_get_one_sentence(assay, tmp_path, what, command):
    content, name = BAD_MODELS[what]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    arguments = ("inspect", name) if command == "inspect" else ("predict", "--model", name, "--data", "iris")
    result = assay(*arguments)
    assert result.returncode == 1
    assert name in result.stderr
    assert result.stderr.startswith("assay: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_rows_that_do_not_fit_are_refused_by_name(assay, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    result = assay("predict", "--model", FIXTURES / "torch_mlp_script" / "model.onnx", "--data", "rows.csv")
    assert result.returncode == 1
    assert "takes 6 features, found 2 columns" in result.stderr
    result = assay("predict", "--model", FIXTURES / "sklearn_columns" / "model.onnx", "--data", "rows.csv")
    assert result.returncode == 1
    assert "column 'age' is missing" in result.stderr or "is missing, which" in result.stderr
    result = assay(
        "predict", "--model", FIXTURES / "torch_mlp_script" / "model.onnx", "--data", "iris", "--out", "p.xyz"
    )
    assert result.returncode == 1
    assert "p.xyz" in result.stderr


def test_predictions_do_not_replace_what_is_read(assay, tmp_path):
    folder = FIXTURES / "sklearn_mlp"
    rows, model = tmp_path / "rows.csv", tmp_path / "model.onnx"
    rows.write_bytes((folder / "rows.csv").read_bytes())
    model.write_bytes((folder / "model.onnx").read_bytes())
    (tmp_path / "link.csv").symlink_to("rows.csv")
    before = rows.read_bytes()
    for out in ("rows.csv", "./rows.csv", "link.csv"):
        for command in (("predict", "--model", "model.onnx", "--data", "rows.csv"), ("data", "rows.csv")):
            result = assay(*command, "--out", out)
            assert result.returncode == 1
            assert result.stderr == f"assay: --out: expected a file of its own, found '{out}', which is read\n"
    assert rows.read_bytes() == before
    assert assay("data", "rows.csv", "--out", "-").returncode == 0


def test_columns_at_another_place_than_those_of_the_rows_are_refused(assay, tmp_path):
    """The model knows no names, so it would take them by position."""
    folder = FIXTURES / "sklearn_mlp"
    header, rows = read(folder / "rows.csv")
    for name, names in {
        "rows": header,
        "others": [f"other {name}" for name in header],
        "turned": [*header[1:], header[0]],
        "moved": ["id", *header[:-1]],
    }.items():
        with open(tmp_path / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([names, *rows])
    for option in ("--pool", "--background"):
        for name, place in {"others": 0, "turned": 1, "moved": 2}.items():
            options = ("--model", folder / "model.onnx", "--data", "rows.csv", option, f"{name}.csv")
            result = assay("explain", *options, "--method", "occlusion", "--out", f"{name}{option}.npz", "--quiet")
            assert (result.returncode == 0) == (place == 0), result.stderr
            if place:
                found = header[1] if name == "turned" else header[0]
                assert result.stderr.startswith(
                    f"assay: {name}.csv: its column {place} is '{found}' where rows.csv has"
                )
