"""Models of trees through the program: boosters of XGBoost and LightGBM and trees in ONNX, against what the libraries
said of them (tests/fixtures/trees), with missing values, categories and bad files."""

import csv
import gzip
import json
import lzma
import math
import pathlib

import numpy as np
import pytest

TREES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "trees"
MODELS = sorted(f"{file.parent.name}/{file.name}" for file in TREES.glob("*/model.*"))
BINARY = ("xgboost_binary/model.json", "lightgbm_binary/model.txt", "onnx_xgboost/model.onnx")


def golden(model):
    return json.loads(((TREES / model).parent / "golden.json").read_text())


def files(model, background="background.csv"):
    """Model, rows and background as options."""
    folder = (TREES / model).parent
    absent = ("--background", folder / background) if background else ()
    return ("--model", TREES / model, "--data", folder / "rows.csv", *absent)


def read(path):
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


@pytest.fixture
def explained(assay, load, tmp_path):
    """explained(*arguments) explains all targets: values by row, target and feature, and base by row and target."""

    def run(*arguments, before=()):
        for old in tmp_path.glob("phi*.npz"):
            old.unlink()
        result = assay("--quiet", *before, "explain", *arguments, "--target", "all", "--out", "phi.npz")
        assert (result.returncode, result.stderr) == (0, "")
        results = [load(path) for path in sorted(tmp_path.glob("phi*.npz"))]
        return [np.stack([one[part] for one in results], axis=1).astype(float) for part in ("values", "base")]

    return run


def for_class_one(values, base, truth):
    """Where the library has one score for two classes, class 1 is that score and class 0 its negative."""
    if values.shape[1] == 2 and truth.shape[1] == 1:
        assert np.array_equal(values[:, 0], -values[:, 1])
        assert np.array_equal(base[:, 0], -base[:, 1])
        return values[:, 1:], base[:, 1:]
    return values, base


# Predictions


def test_every_fixture_is_found():
    assert len(MODELS) >= 28
    assert {model.split("_")[0] for model in MODELS} == {"xgboost", "lightgbm", "onnx"}
    assert {model.split(".")[1] for model in MODELS} == {"json", "ubj", "txt", "onnx"}


@pytest.mark.parametrize("model", MODELS)
def test_predictions_are_the_librarys(assay, load, tmp_path, model):
    expected = np.array(golden(model)["predictions"], dtype=float)
    result = assay("--quiet", "predict", *files(model, background=None), "--out", "p.npz")
    assert (result.returncode, result.stderr) == (0, "")
    found = load(tmp_path / "p.npz")["values"][:, -expected.shape[1] :]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("model", ["xgboost_three/model.json", "xgboost_binary/model.ubj", "lightgbm_three/model.txt"])
def test_packed_models_are_the_same_model(assay, tmp_path, model):
    content = (TREES / model).read_bytes()
    (tmp_path / "model.gz").write_bytes(gzip.compress(content))
    (tmp_path / "model.xz").write_bytes(lzma.compress(content))
    rows = ("--data", (TREES / model).parent / "rows.csv")
    plain = assay("predict", "--model", TREES / model, *rows).stdout
    assert plain.startswith("probability")
    assert assay("predict", "--model", "model.gz", *rows).stdout == plain
    assert assay("predict", "--model", "model.xz", *rows).stdout == plain


def test_the_librarys_scores_are_held_against_ours(assay, tmp_path):
    scores = [[f"{row[0]:.9g}"] for row in golden("lightgbm_binary/model.txt")["predictions"]]
    write(tmp_path / "own.csv", ["p"], scores)
    options = ("predict", *files("lightgbm_binary/model.txt", background=None), "--check")
    same = assay(*options, "own.csv", "--tolerance", "1e-6")
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.startswith("largest difference from own.csv: ")
    scores[7][0] = str(float(scores[7][0]) + 0.125)
    write(tmp_path / "off.csv", ["p"], scores)
    assert assay(*options, "off.csv").stdout.startswith("largest difference from off.csv: 0.125 (row 8, ")
    assert assay(*options, "off.csv", "--tolerance", "0.1").returncode == 1


# Explanations


@pytest.mark.parametrize("model", MODELS)
def test_three_methods_give_the_values_of_brute_force(explained, model):
    truth = golden(model)["exact_interventional"]
    values, base = np.array(truth["values"]), np.array(truth["base"])
    for method in ("tree_shap", "exact_shapley", "kernel_shap:samples=64"):
        found, at = for_class_one(*explained(*files(model), "--method", method), values)
        assert found == pytest.approx(values, abs=1e-6), method
        assert at == pytest.approx(np.broadcast_to(base, at.shape), abs=1e-6), method


@pytest.mark.parametrize("model", [model for model in MODELS if not model.startswith("onnx")])
def test_values_along_paths_are_the_librarys(explained, model):
    truth = np.array(golden(model)["contribs"])
    options = (*files(model, background=None), "--method", "tree_shap_path")
    values, base = for_class_one(*explained(*options), truth)
    assert values == pytest.approx(truth[..., :-1], abs=1e-6)
    assert base == pytest.approx(truth[..., -1], abs=1e-6)


def test_paths_need_covers(assay, one_sentence, tmp_path):
    options = ("--method", "tree_shap_path", "--out", "phi.npz")
    sentence = one_sentence(assay("explain", *files("onnx_xgboost/model.onnx"), *options))
    assert "covers" in sentence
    assert "use tree_shap with a background" in sentence
    assert list(tmp_path.iterdir()) == []


def test_groups_of_columns_get_the_value_of_one_player(explained, tmp_path):
    groups = {"first": ["x0", "x1"], "last": ["x4", "x5"]}
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    for model in BINARY[:2]:
        options = (*files(model), "--groups", "groups.json", "--method")
        trees, _ = explained(*options, "tree_shap")
        exact, _ = explained(*options, "exact_shapley")
        assert trees.shape == (12, 2, 4)
        assert trees == pytest.approx(exact, abs=1e-6)
        alone, _ = explained(*files(model), "--method", "tree_shap")
        assert trees.sum(axis=2) == pytest.approx(alone.sum(axis=2), abs=1e-5)
        assert np.abs(trees[..., 0] - alone[..., 0] - alone[..., 1]).max() > 1e-3  # they interact


@pytest.mark.parametrize("model", BINARY[:2])
def test_probabilities_are_for_games_alone(assay, explained, one_sentence, tmp_path, model):
    for method in ("tree_shap", "tree_shap_path"):
        wrong = ("--method", method, "--value", "probability", "--out", "no.npz")
        sentence = one_sentence(assay("explain", *files(model), *wrong))
        assert sentence.startswith(f"{method} explains raw scores of trees")
    assert list(tmp_path.iterdir()) == []
    predictions = np.array(golden(model)["predictions"])[:, 0]
    exact, base = explained(*files(model), "--method", "exact_shapley", "--value", "probability")
    kernel, _ = explained(*files(model), "--method", "kernel_shap:samples=64", "--value", "probability")
    assert exact == pytest.approx(kernel, abs=1e-6)
    assert (base + exact.sum(axis=2))[:, 1] == pytest.approx(predictions, abs=1e-6)
    assert 0 < base[0, 1] < 1


@pytest.mark.parametrize("method", ["tree_shap", "tree_shap:background_error=true", "tree_shap_path"])
@pytest.mark.parametrize("model", ["xgboost_categories/model.json", "lightgbm_deep/model.txt"])
def test_bits_depend_on_neither_threads_nor_other_rows(assay, load, tmp_path, model, method):
    options = ("explain", *files(model), "--method", method, "--out")
    for threads in (1, 2):
        assert assay("--threads", threads, *options, f"{threads}.npz").returncode == 0
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    assert assay(*options, "some.npz", "--rows", "3,8-9").returncode == 0
    some, all_rows = load(tmp_path / "some.npz"), load(tmp_path / "1.npz")
    for part in ("values", "base", "output", "stderr"):
        assert np.array_equal(some[part], all_rows[part][[2, 7, 8]], equal_nan=True), part


# Missing values


@pytest.mark.parametrize("model", BINARY)
def test_a_missing_value_may_be_the_baseline(assay, explained, tmp_path, model):
    header, rows = read((TREES / model).parent / "rows.csv")
    write(tmp_path / "nothing.csv", header, [[""] * len(header)])
    options = (*files(model, background=None), "--baseline", "nothing.csv", "--method")
    values, base = explained(*options, "tree_shap")
    assert values == pytest.approx(explained(*options, "exact_shapley")[0], abs=1e-6)
    gaps = np.array([[cell == "" for cell in row] for row in rows])
    assert gaps.any()
    assert (values[:, 1][gaps] == 0).all()  # nothing against nothing
    of_nothing = assay("predict", "--model", TREES / model, "--data", "nothing.csv").stdout.splitlines()[-1]
    chance = float(of_nothing.split(",")[-1])
    assert base[:, 1] == pytest.approx(math.log(chance / (1 - chance)), abs=1e-5)


def test_missing_is_a_level_of_its_own_in_distances(assay, tmp_path):
    write(tmp_path / "t.csv", ["a", "b", "y"], [["1", "", 0], ["1", "", 1], ["1", "2", 0], ["1", "9", 0]])
    options = ("neighbours", "t.csv", "--label", "y", "--rows", "1", "--k", "3", "--norm", "l1")
    facts = json.loads(assay("--json", *options).stdout)
    found = [(near["row"], near["distance"]) for near in facts["rows"][0]["neighbours"]]
    assert found == [(2, 0), (3, 1), (4, 1)]


# Columns and categories


def with_cell(rows, row, column, text):
    return [[text if (i, j) == (row, column) else cell for j, cell in enumerate(r)] for i, r in enumerate(rows)]


@pytest.mark.parametrize("model", ["xgboost_categories/model.json", "lightgbm_categories/model.txt"])
def test_columns_are_found_by_name_and_cells_by_text(assay, one_sentence, tmp_path, model):
    header, rows = read((TREES / model).parent / "rows.csv")
    write(tmp_path / "turned.csv", ["more", *header[::-1]], [["x", *row[::-1]] for row in rows])
    write(tmp_path / "lacking.csv", header[:2] + header[3:], [row[:2] + row[3:] for row in rows])
    write(tmp_path / "unknown.csv", header, with_cell(rows, 2, header.index("colour"), "mauve"))
    write(tmp_path / "words.csv", header, [["heavy", *row[1:]] for row in rows])

    def predict(data):
        return assay("predict", "--model", TREES / model, "--data", data)

    assert predict("turned.csv").stdout == predict((TREES / model).parent / "rows.csv").stdout != ""
    assert "column 'age' is missing" in one_sentence(predict("lacking.csv"))
    sentence = one_sentence(predict("unknown.csv"))
    assert "unknown.csv: row 3: column 'colour' holds 'mauve'" in sentence
    assert "amber" in sentence
    assert "column 'weight' is text" in one_sentence(predict("words.csv"))


# Studies


@pytest.mark.parametrize("model", ["xgboost_categories/model.ubj", "lightgbm_binary/model.txt"])
def test_a_booster_is_studied_like_a_network(assay, tmp_path, model):
    folder = (TREES / model).parent
    study = ("study", "--model", TREES / model, "--data", folder / "rows.csv", "--pool", folder / "background.csv")
    chosen = ("--methods", "tree_shap,tree_shap_path,occlusion", "--aggregators", "mean,ava", "--no-variations")
    result = assay("--quiet", *study, *chosen, "--no-curves", "--out", "studied")
    assert (result.returncode, result.stderr) == (0, "")
    header, rows = read(tmp_path / "studied" / "scores.csv")
    assert {row[header.index("explanation")] for row in rows} == {
        "tree_shap",
        "tree_shap_path",
        "occlusion",
        "mean",
        "ava",
    }
    page = (tmp_path / "studied" / "report.html").read_text(encoding="utf-8")
    if "categories" in model:
        assert "fawn" in page  # cells as their texts
    verified = assay("verify", "studied")
    assert verified.returncode == 0, verified.stderr
    assert "bit for bit" in verified.stdout


# Bad files


def cut(model, share):
    content = (TREES / model).read_bytes()
    return content[: int(len(content) * share)]


def changed(model, old, new):
    content = (TREES / model).read_bytes()
    assert old in content
    return content.replace(old, new, 1)


BAD_FILES = {
    "XGBoost JSON, cut": ("m.json", cut("xgboost_binary/model.json", 0.6)),
    "XGBoost UBJSON, cut": ("m.ubj", cut("xgboost_binary/model.ubj", 0.6)),
    "LightGBM, cut": ("m.txt", cut("lightgbm_binary/model.txt", 0.4)),
    "trees in ONNX, cut": ("m.onnx", cut("onnx_forest/model.onnx", 0.6)),
    "nothing": ("m.json", b""),
    "an empty object": ("m.json", b"{}"),
    "no booster inside": ("m.json", b'{"learner": {}, "version": [3, 2, 0]}'),
    "deep": ("m.json", b'{"learner":' * 200_000),
    "a dump of trees": ("m.json", b'[{"nodeid": 0, "leaf": 0.5}]'),
    "a table": ("m.csv", b"x0,x1\n1,2\n"),
    "a pickle": ("m.pkl", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00."),
    "packed, cut": ("m.json.gz", gzip.compress((TREES / "xgboost_binary/model.json").read_bytes())[:200]),
    "two thousand million leaves": (
        "m.txt",
        changed("lightgbm_binary/model.txt", b"num_leaves=8", b"num_leaves=2000000000"),
    ),
    "two thousand million features": (
        "m.txt",
        changed("lightgbm_binary/model.txt", b"max_feature_idx=5", b"max_feature_idx=2000000000"),
    ),
    "a base score of no number": (
        "m.json",
        changed("xgboost_binary/model.json", b'"base_score":"[', b'"base_score":"[1E400,'),
    ),
    "an infinite leaf": (
        "m.txt",
        changed("lightgbm_binary/model.txt", b"leaf_value=-0.5141460308929654 ", b"leaf_value=inf "),
    ),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_bad_files_get_one_sentence_and_nothing_is_written(assay, one_sentence, tmp_path, what):
    name, content = BAD_FILES[what]
    (tmp_path / name).write_bytes(content)
    rows = ("--data", TREES / "xgboost_binary" / "rows.csv")
    explain = ("explain", "--model", name, *rows, "--baseline", "zero", "--method", "tree_shap", "--out", "phi.npz")
    for command in (("inspect", name), ("predict", "--model", name, *rows, "--out", "p.csv"), explain):
        assert name in one_sentence(assay(*command))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_names_that_a_library_makes_up_go_by_name(assay, tmp_path):
    """LightGBM calls columns of arrays Column_0, Column_1, ...; a table with these names may have them in any order."""
    text = (TREES / "lightgbm_regression/model.txt").read_text()
    header, rows = read(TREES / "lightgbm_regression/rows.csv")
    line = next(line for line in text.splitlines() if line.startswith("feature_names="))
    names = line.removeprefix("feature_names=").split(" ")
    made_up = [f"Column_{i}" for i in range(len(names))]
    (tmp_path / "m.txt").write_text(text.replace(line, "feature_names=" + " ".join(made_up)))
    cells = {name: [row[header.index(name)] for row in rows] for name in names}
    for order in (list(range(len(names))), list(reversed(range(len(names))))):
        write(tmp_path / "rows.csv", [made_up[i] for i in order], zip(*(cells[names[i]] for i in order), strict=True))
        made = assay("--quiet", "predict", "--model", "m.txt", "--data", "rows.csv", "--out", "p.csv")
        assert (made.returncode, made.stderr) == (0, "")
        found = (tmp_path / "p.csv").read_text()
        if order[0] == 0:
            first = found
    assert found == first


def test_categories_beyond_exact_numbers_are_refused(assay, tmp_path):
    """A cell that is an identifier must not be taken for the code of a category."""
    model = json.loads((TREES / "xgboost_categories/model.json").read_text())
    encodings = model["learner"]["gradient_booster"]["model"]["cats"]["enc"]
    encodings[3] = {"values": [2**53, 2**53 + 2, 5], "type": encodings[3].get("type", 3)}
    (tmp_path / "m.json").write_text(json.dumps(model))
    header, rows = read(TREES / "xgboost_categories/rows.csv")
    names = model["learner"]["feature_names"]
    for row in rows:
        row[header.index(names[3])] = str(2**53 + 2)
    write(tmp_path / "rows.csv", header, rows)
    made = assay("predict", "--model", "m.json", "--data", "rows.csv")
    assert made.returncode == 1
    assert "column 'size' holds '9007199254740994', which is no category that m.json knows" in made.stderr


def test_trees_that_cannot_be_shifted_are_said_so(assay, one_sentence, tmp_path):
    """They test for zero: a shifted zero is none. The model is one of trees all the same."""
    rows = files("lightgbm_zero_missing/model.txt")
    pool = ("--pool", TREES / "lightgbm_zero_missing" / "rows.csv")
    made = assay("explain", *rows, *pool, "--method", "tree_shap", "--out", "e.npz")
    assert made.returncode == 0, made.stderr
    said = one_sentence(assay("evaluate", "--explanations", "e.npz", *rows, *pool, "--criteria", "input_invariance"))
    assert "cannot shift the trees of " in said and "is none" not in said


def test_the_baseline_zero_says_which_categories_nobody_chose(assay, tmp_path):
    model = "lightgbm_categories/model.txt"
    made = assay(
        "explain", *files(model, background=""), "--baseline", "zero", "--method", "occlusion", "--out", "e.npz"
    )
    assert made.returncode == 0, made.stderr
    assert "the baseline zero puts column " in made.stdout + made.stderr


def test_a_booster_that_stopped_early_says_that_all_rounds_are_used(assay, root, tmp_path):
    source = root / "tests" / "fixtures" / "trees" / "xgboost_categories"
    model = json.loads((source / "model.json").read_text())
    model["learner"]["attributes"]["best_iteration"] = "0"
    (tmp_path / "stopped.json").write_text(json.dumps(model))
    words = ("--data", source / "rows.csv", "--background", source / "background.csv", "--method", "tree_shap")
    caution = "XGBClassifier and XGBRegressor stop at the file's best_iteration, 0, and predict otherwise"
    for name, told in (("stopped.json", True), (source / "model.json", False)):
        result = assay("explain", "--model", name, *words)
        assert result.returncode == 0, result.stderr
        assert (caution in " ".join(result.stdout.split())) == told
    study = ("study", "--model", "stopped.json", "--data", source / "rows.csv", "--pool", source / "background.csv")
    result = assay(*study, "--methods", "tree_shap,occlusion", "--time", "none", "--all", "--out", "study")
    assert result.returncode == 0, result.stderr
    assert caution in " ".join(result.stdout.split())
