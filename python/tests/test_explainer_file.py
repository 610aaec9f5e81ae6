"""Explainers in files and pickles: the same bits in another process, no code in them, and sentences on spoilt ones."""

import copy
import hashlib
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures"
PARTS = ("values", "base", "output", "gap", "target_index", "standard_error", "background_error")
QUICK = {"kernel_shap": {"samples": 200}, "lime": {"samples": 200}, "shapley_sampling": {"permutations": 10}}


def assert_same(found, expected):
    for part in PARTS:
        mine, other = getattr(found, part), getattr(expected, part)
        assert (mine is None) == (other is None), part
        if mine is not None:
            np.testing.assert_array_equal(mine, other, err_msg=part)
    for word in ("features", "target_names", "ids", "evaluations", "notes", "provenance"):
        assert getattr(found, word) == getattr(expected, word), word


@pytest.fixture
def again(tmp_path):
    """An explainer that went through a file, and through a pickle of what came out."""

    def through(explainer):
        path = tmp_path / "saved.explainer"
        explainer.save(path)
        return pickle.loads(pickle.dumps(assay.Explainer.load(path)))

    return through


@pytest.fixture(scope="module")
def mlp():
    return assay.load(FIXTURES / "models" / "torch_mlp_script" / "model.onnx")


@pytest.fixture(scope="module")
def x():
    return pd.read_csv(FIXTURES / "models" / "torch_mlp_script" / "rows.csv").to_numpy()


@pytest.fixture(scope="module")
def iris():
    train = assay.dataset("iris", split="train")
    return assay.train(train), train, assay.dataset("iris", split="test")


@pytest.mark.parametrize("method", [name for name in assay.methods().names if not name.startswith("tree")])
def test_networks_have_the_same_bits(mlp, x, method, again):
    explainer = assay.Explainer(mlp, method, seed=5, background=x[-4:], **QUICK.get(method, {}))
    restored = again(explainer)
    assert repr(restored) == repr(explainer)
    for rows in (x[:1], x[:7], x[3].astype(np.float32)):
        assert_same(restored(rows), explainer(rows))


@pytest.mark.parametrize("method", ["tree_shap", "tree_shap_path"])
@pytest.mark.parametrize("folder", ["xgboost_three", "lightgbm_categories", "lightgbm_deep", "xgboost_binary"])
def test_tree_files_have_the_same_bits(method, folder, again):
    frame = pd.read_csv(FIXTURES / "trees" / folder / "rows.csv")
    file = next(iter((FIXTURES / "trees" / folder).glob("model.[jt]*")))
    given = {"background": frame.iloc[-5:]} if method == "tree_shap" else {}
    explainer = assay.Explainer(assay.load(file), method, **given)
    restored = again(explainer)
    for rows in (frame.iloc[:1], frame.iloc[:6]):
        assert_same(restored(rows), explainer(rows))


def test_units_targets_and_groups(mlp, x, again):
    frame = pd.DataFrame(x, columns=mlp.features)
    for more in (
        {"value": "probability", "target": 0},
        {"value": "information"},
        {"target": "predicted"},
        {"groups": {"both": list(mlp.features[:2])}},
        {"baseline": "neutral"},
        {"background": "pool:3", "seed": 9},
    ):
        explainer = assay.Explainer(mlp, "exact_shapley", pool=frame, **more)
        restored = again(explainer)
        assert_same(restored(frame.iloc[:3]), explainer(frame.iloc[:3]))
        # The pool is there too.
        found = assay.evaluate(restored(frame.iloc[:3]), "max_sensitivity:radius=3", progress=False)
        known = assay.evaluate(explainer(frame.iloc[:3]), "max_sensitivity:radius=3", progress=False)
        assert found["max_sensitivity:radius=3"].mean == known["max_sensitivity:radius=3"].mean
    in_probability = assay.load(FIXTURES / "models" / "torch_mlp_script" / "model.onnx", value="probability")
    explainer = assay.Explainer(in_probability, "occlusion", baseline=x[-1])
    assert_same(again(explainer)(x[:2]), explainer(x[:2]))
    assert again(explainer).model.unit == "probability"


def test_encoders_and_rows_of_any_form(iris, again):
    model, train, test = iris
    explainer = assay.Explainer(model, "kernel_shap", pool=train, target="virginica")
    restored = again(explainer)
    assert_same(restored(test), explainer(test))
    row = {name: float(test[name][4]) for name in test.features}
    for each in (row, pd.Series(row), pd.DataFrame([row]).iloc[:, ::-1]):
        np.testing.assert_array_equal(restored(each).values, explainer(test[[4]]).values)
    without_rows = assay.Explainer(model, "gradient")
    assert_same(again(without_rows)(test), without_rows(test))
    np.testing.assert_array_equal(again(without_rows)(row).values, without_rows(test[[4]]).values)


def test_categories_of_an_encoder(again):
    table = pd.DataFrame({"size": np.arange(40.0), "colour": ["red", "green", "blue", "green"] * 10})
    table["answer"] = (np.arange(40) % 3 == 0).astype(int)
    model = assay.train(
        assay.Table.from_pandas(table) if hasattr(assay.Table, "from_pandas") else table, label="answer"
    )
    rows = table.drop(columns="answer")
    explainer = assay.Explainer(model, "exact_shapley", background=rows.iloc[:6])
    restored = again(explainer)
    assert_same(restored(rows.iloc[:3]), explainer(rows.iloc[:3]))
    one = {"size": 3.5, "colour": "blue"}
    np.testing.assert_array_equal(restored(one).values, explainer(one).values)


def wrapped(kind):
    rows = np.random.default_rng(0).normal(size=(120, 5)).astype(np.float32).astype(np.float64)
    labels = (rows[:, 0] * rows[:, 1] + rows[:, 2] > 0).astype(int)
    return assay.wrap(kind.fit(rows, labels)), rows


@pytest.mark.parametrize(
    "kind",
    [
        GradientBoostingClassifier(n_estimators=8, random_state=0),
        RandomForestClassifier(n_estimators=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=6),
    ],
)
def test_wrapped_trees_are_saved_as_trees(kind, again):
    model, rows = wrapped(kind)
    explainer = assay.Explainer(model, "tree_shap", background=rows[:10])
    restored = again(explainer)
    assert restored.model.capabilities == ["trees"]
    for each in (rows[:4], rows[:1], rows[2].astype(np.float32)):
        assert_same(restored(each), explainer(each))
        assert_same(restored(each), assay.explain(model, np.atleast_2d(each), "tree_shap", background=rows[:10]))


def test_wrapped_trees_with_categories(again):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a b": random.normal(size=90), "kind": random.choice(["x", "y", "z"], 90)})
    frame["kind"] = frame["kind"].astype("category")
    frame["code"] = pd.Categorical(random.choice([1.0, 2.5, 7.0], 90))
    labels = (frame["a b"] > 0) ^ (frame["kind"] == "x")
    forest = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(frame, labels)
    model = assay.wrap(forest)
    explainer = assay.Explainer(model, "tree_shap", background=frame.iloc[:9])
    restored = again(explainer)
    assert_same(restored(frame.iloc[:5]), explainer(frame.iloc[:5]))
    row = {"a b": 0.25, "kind": "y", "code": 7.0}
    np.testing.assert_array_equal(restored(row).values, explainer(row).values)


def test_columns_in_another_order(mlp, x, again):
    frame = pd.DataFrame(x, columns=mlp.features)
    # A background without names may have been made in either order.
    by_position = again(assay.Explainer(mlp, "occlusion", background=x[-3:]))
    with pytest.raises(ValueError, match="background: expected names of columns"):
        by_position(frame.iloc[:2, ::-1])
    # This model takes columns by position.
    by_name = assay.Explainer(mlp, "occlusion", background=frame.iloc[-3:])
    for explainer in (by_name, again(by_name)):
        with pytest.raises(ValueError, match=r"background: its column 1 is 'x.0' where X has 'x.5'"):
            explainer(frame.iloc[:2, ::-1])
        assert_same(explainer(frame.iloc[:2]), assay.explain(mlp, frame[:2], "occlusion", background=frame.iloc[-3:]))


def test_another_process_gives_the_same_bits(mlp, x, tmp_path):
    explainer = assay.Explainer(mlp, "kernel_shap", background=x[-3:], samples=100, seed=3)
    explainer.save(tmp_path / "one")
    np.save(tmp_path / "x.npy", x[:4])
    program = (
        "import sys, numpy, assay\n"
        "e = assay.Explainer.load(sys.argv[1] + '/one', threads=1)\n"
        "numpy.save(sys.argv[1] + '/found.npy', e(numpy.load(sys.argv[1] + '/x.npy')).values)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=os.environ)
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), explainer(x[:4]).values)


def test_the_file_says_what_it_is(mlp, x, tmp_path):
    explainer = assay.Explainer(mlp, "occlusion", baseline=x[-1], seed=4)
    explainer.save(tmp_path / "one")
    with np.load(tmp_path / "one") as file:  # no pickles in it
        meta = json.loads(str(file["meta"]))
        content = file["model"].tobytes()
        np.testing.assert_array_equal(file["reference"], x[-1:].astype(np.float32))
    assert meta["schema"] == "assay.explainer/1"
    assert meta["model"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert (meta["method"], meta["seed"]) == ("occlusion", 4)
    assert meta["columns"]["names"] == mlp.features
    # The same explainer gives the same file.
    assay.Explainer.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_is_whole_or_not_there(mlp, x, tmp_path):
    explainer = assay.Explainer(mlp, "gradient")
    with pytest.raises(FileNotFoundError):
        explainer.save(tmp_path / "none" / "one")
    (tmp_path / "one").write_text("before")
    explainer.save(tmp_path / "one")
    assert [each.name for each in tmp_path.iterdir()] == ["one"]
    with pytest.raises(FileNotFoundError):
        assay.Explainer.load(tmp_path / "absent")
    with pytest.raises(TypeError, match="path: expected the name of a file"):
        explainer.save(3)


def score(rows):
    return rows[:, 0]


def test_what_python_runs_cannot_be_saved(x, tmp_path):
    explainer = assay.Explainer(assay.wrap(score), "exact_shapley", background=x[:3])
    explainer(x[:1])
    sentence = "expected a model that the engine runs itself, found score, which Python runs and no file can hold"
    with pytest.raises(assay.UnsupportedError, match=sentence):
        explainer.save(tmp_path / "one")
    with pytest.raises(assay.UnsupportedError, match=sentence):
        pickle.dumps(explainer)
    assert copy.copy(explainer) is copy.deepcopy(explainer) is explainer
    assert list(tmp_path.iterdir()) == []


def edited(content, change):
    """The file with another meta."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    meta = json.loads(str(np.load(io.BytesIO(parts["meta.npy"]))))
    change(meta)
    buffer = io.BytesIO()
    np.save(buffer, np.array(json.dumps(meta)))
    parts["meta.npy"] = buffer.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, each in parts.items():
            archive.writestr(name, each)
    return out.getvalue()


def set_to(path, value):
    def change(meta):
        for key in path[:-1]:
            meta = meta[key]
        meta[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (set_to(["schema"], "assay.explainer/2"), "expected \"assay.explainer/1\" as 'schema', found"),
        (set_to(["model", "sha256"], "0" * 64), "expected the model with SHA-256 0000"),
        (set_to(["method"], "magic"), "magic"),
        (set_to(["options"], [["sample", "3"]]), "sample"),
        (set_to(["target"], {"kind": "chosen", "which": 12}), "expected a target below"),
        (set_to(["players", "names"], ["a"]), "expected numbers of 1 players"),
        (set_to(["columns", "names"], []), "names, found 0"),
        (set_to(["front_end"], "[[[["), "expected the fields of a saved explainer"),
        (set_to(["front_end"], "[" * 100_000), "expected the fields of a saved explainer"),
        (set_to(["front_end"], "{}"), "expected the fields of a saved explainer"),
    ],
)
def test_files_that_do_not_fit(mlp, x, tmp_path, change, sentence):
    assay.Explainer(mlp, "kernel_shap", baseline=x[-1], samples=50).save(tmp_path / "one")
    (tmp_path / "one").write_bytes(edited((tmp_path / "one").read_bytes(), change))
    with pytest.raises(ValueError, match=sentence) as found:
        assay.Explainer.load(tmp_path / "one")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("field", ["value", "model_value", "threads", "columns", "unnamed", "beside", "trees"])
@pytest.mark.parametrize("value", [7, "x", {"a": 1}, [1], -1, {"values": {"99": []}}])
def test_front_ends_that_do_not_fit(mlp, x, tmp_path, field, value):
    explainer = assay.Explainer(mlp, "occlusion", baseline=x[-1])
    explainer.save(tmp_path / "one")

    def change(meta):
        front = json.loads(meta["front_end"])
        front[field] = value
        meta["front_end"] = json.dumps(front)

    (tmp_path / "one").write_bytes(edited((tmp_path / "one").read_bytes(), change))
    if (field, value) in (("threads", 7), ("beside", "x")):
        assert_same(assay.Explainer.load(tmp_path / "one")(x[:2]), explainer(x[:2]))
        return
    with pytest.raises(ValueError, match="expected"):
        assay.Explainer.load(tmp_path / "one")


def test_spoilt_files(mlp, x, tmp_path):
    explainer = assay.Explainer(mlp, "occlusion", baseline=x[-1])
    explainer.save(tmp_path / "one")
    sound = (tmp_path / "one").read_bytes()
    expected = explainer(x[:2])
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        spoilt = bytearray(sound)
        spoilt[random.integers(len(sound))] ^= 1 << random.integers(8)
        cut = sound[: random.integers(len(sound))]
        (tmp_path / "one").write_bytes(spoilt)
        try:
            found = assay.Explainer.load(tmp_path / "one")
        except ValueError:
            refused += 1
        else:
            assert_same(found(x[:2]), expected)
        (tmp_path / "one").write_bytes(cut)
        with pytest.raises(ValueError, match="one"):
            assay.Explainer.load(tmp_path / "one")
    assert refused > 100
