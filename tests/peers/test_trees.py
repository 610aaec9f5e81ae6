"""Model files of XGBoost, LightGBM and ONNX, trained on the spot: scores and predictions are those of the library."""

import json
import os
import pathlib
import subprocess
import sys

import lightgbm
import numpy as np
import pytest
import xgboost

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tree_models as trees

# Whose training leaves out trees or rows at random: versions of XGBoost draw differently.
DRAWN = {"xgboost_dart", "xgboost_forest"}
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "trees"


def assert_scores(found, expected):
    """Libraries sum in float32."""
    expected = trees.make.by_target(expected)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


# The fixtures


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    command = [sys.executable, "-W", "ignore", FIXTURES / "make_trees.py", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_script_makes_what_is_stored(fresh):
    stored = sorted(file.parent.name for file in FIXTURES.glob("*/golden.json"))
    assert sorted(each.name for each in fresh.iterdir()) == stored and stored
    for name in stored:
        kept, made = (json.loads((folder / name / "golden.json").read_text()) for folder in (FIXTURES, fresh))
        assert list(made) == list(kept), name
        if name in DRAWN and kept["versions"]["xgboost"] != made["versions"]["xgboost"]:
            made |= said_of_the_stored(FIXTURES / name, kept)
        for key in ("rows", "background", "margins", "predictions"):
            expected = np.array(kept[key], dtype=float)
            np.testing.assert_allclose(np.array(made[key], dtype=float), expected, rtol=1e-5, atol=1e-9, err_msg=name)


def said_of_the_stored(folder, kept):
    """What today's XGBoost says of the model that an older one trained, in the shape that is stored."""
    booster = xgboost.Booster(model_file=folder / "model.json")
    rows = xgboost.DMatrix(np.array(kept["rows"], dtype=np.float32), feature_names=booster.feature_names)
    found = {"margins": booster.predict(rows, output_margin=True), "predictions": booster.predict(rows)}
    return {key: values.reshape(np.shape(kept[key])) for key, values in found.items()}


@pytest.mark.parametrize(
    ("program", "tests"), [("model_tests", "TreeFixtures.*"), ("explain_tests", "TreeShapFixtures.*")]
)
def test_the_engine_agrees_with_models_of_today(root, fresh, program, tests):
    """The test programs compare; the stored fixtures are compared by `make test`."""
    result = subprocess.run(
        [root / "build" / program, f"--gtest_filter={tests}", "--gtest_brief=1"],
        env={**os.environ, "ASSAY_TREE_FIXTURES": str(fresh)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout
    assert "PASSED" in result.stdout and "PASSED  ] 0 tests" not in result.stdout


# Trained now


@pytest.mark.parametrize("name", trees.MODELS)
def test_scores_are_those_of_the_library(name, tmp_path):
    file, made = trees.saved(name, tmp_path)
    assert_scores(assay.load(file).predict(made.rows), made.margins(made.rows))


@pytest.mark.parametrize("name", trees.CLASSIFIERS)
def test_probabilities_are_those_of_the_library(name, tmp_path):
    file, made = trees.saved(name, tmp_path)
    expected = trees.make.by_target(made.predictions(made.rows))
    found = assay.load(file, value="probability").predict(made.rows)
    if found.size * 2 == expected.size:
        expected = expected[:, 1]
    assert_scores(found, expected)


@pytest.mark.parametrize("name", ["xgboost_categories", "lightgbm_categories"])
def test_frames_of_categories_are_read_by_their_texts(name, tmp_path):
    """Also where the frame has its categories in another order, or not all of them."""
    file, made = trees.saved(name, tmp_path)
    seed, texts = (23, trees.make.COLOURS) if name.startswith("xgboost") else (25, trees.make.ACCENTS)
    frame = trees.make.with_categories(seed, texts, trees.ROWS)[0].iloc[: len(made.rows)]
    model = assay.load(file)
    expected = made.margins(made.rows)
    assert_scores(model.predict(frame), expected)
    shuffled = frame.assign(colour=frame["colour"].cat.reorder_categories(texts[::-1]))
    assert_scores(model.predict(shuffled), expected)
    assert_scores(model.predict(frame.assign(colour=frame["colour"].astype(object))), expected)
    unknown = frame.assign(colour=frame["colour"].astype(object).where(frame.index != 3, "ultramarine"))
    with pytest.raises(ValueError, match=r"colour.*ultramarine"):
        model.predict(unknown)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_adult(library, data_dir, tmp_path):
    """8 of its 14 columns are texts, three of them with missing ones."""
    frame, y = trees.adult_frame(data_dir)
    if library == "xgboost":
        model = xgboost.XGBClassifier(n_estimators=60, max_depth=6, enable_categorical=True, n_jobs=1).fit(frame, y)
        model.save_model(tmp_path / "model.json")
        expected = model.predict(frame, output_margin=True)
        loaded = assay.load(tmp_path / "model.json")
    else:
        model = lightgbm.LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1).fit(frame, y)
        model.booster_.save_model(tmp_path / "model.txt")
        expected = model.predict(frame, raw_score=True)
        loaded = assay.load(tmp_path / "model.txt")
    assert_scores(loaded.predict(frame), expected)
    rows, background = frame[:3], frame[3:9]
    found = assay.explain(loaded, rows, "tree_shap", background=background)
    exact = assay.explain(loaded, rows, "exact_shapley", background=background)
    np.testing.assert_allclose(found.values, exact.values, rtol=0, atol=1e-6 * np.abs(exact.values).max())
    path = assay.explain(loaded, rows, "tree_shap_path")
    if library == "xgboost":
        given = xgboost.DMatrix(rows, enable_categorical=True)
        contribs = model.get_booster().predict(given, pred_contribs=True)
    else:
        contribs = model.predict(rows, pred_contrib=True)
    scale = np.abs(contribs).max()
    np.testing.assert_allclose(path.values, contribs[:, :-1], rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(path.base, contribs[:, -1], rtol=0, atol=1e-5 * scale)
