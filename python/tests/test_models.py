"""assay.load, assay.train and the models they make, beside the command line; and that nothing of them is left over."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from small_graphs import onnx_of_casts

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "models"
FOLDERS = sorted(each.name for each in FIXTURES.iterdir() if (each / "model.onnx").exists())
VALUES = ["margin", "probability", "log_odds"]


@pytest.fixture(scope="module")
def command(root, program):
    """command(*arguments) runs the program of the package, or the one that was built beside it."""
    path = program if program.exists() else root / "build" / "assay"

    def run(*arguments):
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture(scope="module")
def train():
    return assay.dataset("iris", split="train")


@pytest.fixture(scope="module")
def test():
    return assay.dataset("iris", split="test")


@pytest.fixture
def saved(train, tmp_path):
    assay.train(train).save(tmp_path / "iris.onnx")
    return tmp_path / "iris.onnx"


# Predictions


@pytest.mark.parametrize("value", VALUES)
def test_predictions_are_those_of_the_command_line(value, saved, test, command, tmp_path):
    out = tmp_path / "scores.npy"
    rows = ["--data", "iris", "--split", "test"]
    result = command("predict", "--model", saved, *rows, "--output", value, "--out", out)
    assert result.returncode == 0, result.stderr
    theirs = np.load(out)
    ours = assay.load(saved).predict(test, value=value)
    assert ours.dtype == np.float32 and ours.shape == (30, 3)
    assert np.array_equal(ours, theirs[:, :3])
    assert np.array_equal(assay.load(saved, value=value).predict(test), ours)
    for threads in (1, 2, 7):
        assert assay.load(saved).predict(test, value=value, threads=threads).tobytes() == ours.tobytes()


def test_values_are_functions_of_the_margins(saved, test):
    model = assay.load(saved)
    margins = model.predict(test).astype(np.float64)
    scores = np.exp(margins - margins.max(axis=1, keepdims=True))
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    assert model.predict(test, value="probability") == pytest.approx(probabilities, abs=1e-6)
    rest = np.stack([np.delete(scores, c, axis=1).sum(axis=1) for c in range(3)], axis=1)
    assert model.predict(test, value="log_odds") == pytest.approx(np.log(scores / rest), abs=1e-4)


@pytest.mark.parametrize("folder", FOLDERS)
def test_models_of_other_libraries_say_what_those_say(folder):
    """expected.csv is what the library that made the model gives: one of the values, beside labels perhaps."""
    rows = assay.dataset(FIXTURES / folder / "rows.csv")
    expected = assay.dataset(FIXTURES / folder / "expected.csv")
    model = assay.load(FIXTURES / folder / "model.onnx")
    numbers = [expected[name] for name in expected.columns if expected[name].dtype != object]
    found = [model.predict(rows)]
    for value in VALUES if model.classes else []:
        with contextlib.suppress(ValueError):  # trees of probabilities have no margins
            found.append(model.predict(rows, value=value))
    found += [np.log(each) for each in found if (each > 0).all()]  # of networks that end in a logarithm
    differences = [
        np.abs(each - np.column_stack(numbers[j : j + each.shape[1]])).max()
        for each in found
        for j in range(len(numbers) - each.shape[1] + 1)
    ]
    assert min(differences) < 1e-5 * (1 + np.abs(numbers).max())


# Files


def test_a_model_comes_back_from_its_file_bit_by_bit(train, test, tmp_path):
    model = assay.train(train)
    model.save(tmp_path / "first.onnx")
    loaded = assay.load(str(tmp_path / "first.onnx"))
    loaded.save(tmp_path / "second.onnx")
    assert (tmp_path / "first.onnx").read_bytes() == (tmp_path / "second.onnx").read_bytes()
    assert loaded.predict(test).tobytes() == model.predict(test).tobytes()
    assert sorted(os.listdir(tmp_path)) == ["first.onnx", "second.onnx"]
    for name in ("features", "outputs", "classes", "unit", "capabilities"):
        assert getattr(loaded, name) == getattr(model, name)


def test_a_model_stays_what_it_was_when_its_file_changes(saved, train, test):
    model = assay.load(saved)
    wanted = assay.load(saved).predict(test, value="probability")
    assay.train(train, seed=3).save(saved)
    assert assay.load(saved).predict(test, value="probability").tobytes() != wanted.tobytes()
    assert model.predict(test, value="probability").tobytes() == wanted.tobytes()
    saved.unlink()
    assert model.predict(test, value="log_odds").shape == (30, 3)
    model.save(saved)
    assert assay.load(saved).predict(test, value="probability").tobytes() == wanted.tobytes()


def test_external_data_is_found_beside_the_model_and_saved_within(tmp_path):
    folder = FIXTURES / "torch_mlp_dynamo"
    rows = assay.dataset(folder / "rows.csv")
    model = assay.load(folder / "model.onnx")
    model.save(tmp_path / "whole.onnx")
    assert assay.load(tmp_path / "whole.onnx").predict(rows).tobytes() == model.predict(rows).tobytes()
    shutil.copy(folder / "model.onnx", tmp_path / "model.onnx")
    with pytest.raises(
        ValueError, match=r"model\.onnx: tensor .* external data in the file 'model\.onnx\.data', found no"
    ):
        assay.load(tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, OSError, r"nothing\.onnx: cannot open it: No such file or directory"),
        ("folder", ValueError, "expected a file, found a folder"),
        (b"", ValueError, r"nothing\.onnx: expected an ONNX model, or what .* writes, found an empty file"),
        (b"no model " * 20, ValueError, r"nothing\.onnx: expected an ONNX model, .* found a text of another kind"),
        (b"\x00\x01\x02" * 20, ValueError, r"nothing\.onnx: expected .* protobuf"),
        ("half", ValueError, r"nothing\.onnx: expected .*, found one that is cut short"),
    ],
)
def test_what_is_no_model_is_refused(content, error, message, saved, tmp_path):
    path = tmp_path / "nothing.onnx"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        data = saved.read_bytes()
        path.write_bytes(data[: len(data) // 2] if content == "half" else content)
    with pytest.raises(error, match=message):
        assay.load(path)


@pytest.mark.parametrize(
    ("path", "error"), [(None, TypeError), (3, TypeError), ("a\0b", ValueError), ("\udcff.onnx", ValueError)]
)
def test_what_is_no_path_is_refused(path, error):
    with pytest.raises(error, match="expected"):
        assay.load(path)


@pytest.mark.parametrize("value", ["information", "logit", "", 3])
def test_what_is_no_value_is_refused(value, saved, test):
    for call in (lambda: assay.load(saved, value=value), lambda: assay.load(saved).predict(test, value=value)):
        with pytest.raises(
            ValueError, match=f"^value: expected one of margin, probability, log_odds, found {value!r}$"
        ):
            call()


def test_models_that_cannot_be_written_say_so_and_leave_nothing(train, tmp_path):
    model = assay.train(train)
    for path in (tmp_path / "no" / "such.onnx", tmp_path):
        with pytest.raises(OSError):
            model.save(path)
    assert os.listdir(tmp_path) == []
    assert [name for name in os.listdir(tmp_path.parent) if "tmp-" in name] == []


def test_what_a_model_says_of_itself(saved, train):
    wanted = "4 features -> classes setosa, versicolor, virginica"
    assert repr(assay.load(saved)) == f"<assay.Model {saved}: {wanted} (margin)>"
    assert repr(assay.load(saved, value="probability")) == f"<assay.Model {saved}: {wanted} (probability)>"
    assert repr(assay.train(train)) == f"<assay.Model a network trained on iris (train part): {wanted} (margin)>"
    regressor = assay.load(FIXTURES / "sklearn_scaled_linear" / "model.onnx")
    assert repr(regressor).endswith("5 features -> outputs variable (value)>")
    many = assay.load(FIXTURES / "torch_activations_script" / "model.onnx")
    assert "-> classes 0, 1, 2, 3, 4, ... (margin)>" in repr(many)


# Training


def test_training_is_that_of_the_command_line(train, command, tmp_path):
    for seed in (0, 4):
        out = tmp_path / f"{seed}.onnx"
        result = command("--seed", seed, "train", "--data", "iris", "--split", "train", "--out", out)
        assert result.returncode == 0, result.stderr
        rows = assay.dataset("iris", split="train", seed=seed)
        assay.train(rows, seed=seed).save(tmp_path / "ours.onnx")
        assert (tmp_path / "ours.onnx").read_bytes() == out.read_bytes()


def test_the_same_seed_trains_the_same_bytes_from_any_table(train, tmp_path):
    def trained(table, **said):
        assay.train(table, **said).save(tmp_path / "model.onnx")
        return (tmp_path / "model.onnx").read_bytes()

    wanted = trained(train)
    assert trained(train, threads=1) == trained(train, threads=2) == wanted
    assert trained(train, seed=1) != wanted
    frame = train.to_pandas() if pytest.importorskip("pandas", reason="pandas makes tables") else None
    assert trained(frame, label="species") == wanted
    assert trained(frame.astype({"species": str}), label="species") == wanted
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow makes tables")
    assert trained(pyarrow.Table.from_pandas(frame, preserve_index=False), label="species") == wanted


def test_a_network_learns_what_its_label_says(train, test):
    model = assay.train(train)
    classes = np.array(model.classes)[model.predict(test).argmax(axis=1)]
    assert np.mean(classes == test.labels) > 0.85
    width = assay.train(train, label="petal_width")
    assert width.classes == [] and width.features == [name for name in train.columns if name != "petal_width"]
    found = width.predict(test)[:, 0]
    assert np.corrcoef(found, test["petal_width"])[0, 1] > 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "colour"}, "expected a column 'colour' for the label, found none"),
        ({"encode": "hash"}, "encode hash.*expected label or one_hot, found 'hash'"),
        ({"encode": "label:impute=guess"}, "impute: expected none, mean, median, mode or constant, found 'guess'"),
        ({"table": "array"}, "^table: expected named columns and a label among them, found an array$"),
        ({"table": None}, "^table: expected rows x columns, found a single value$"),
        ({"table": "none"}, "expected rows to train on, found none"),
        ({"table": "one class"}, "expected at least two classes to tell apart, found one"),
        ({"table": "no label"}, "expected a column of labels to predict; label names it, found none"),
        ({"seed": -1}, "^seed: expected a whole number from 0"),
        ({"threads": 0.5}, "^threads: expected a whole number from 0"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(change, message, train):
    tables = {
        "array": np.ones((5, 3)),
        "none": train[:0],
        "one class": train[:5],
        "no label": assay.dataset(FIXTURES / "sklearn_mlp" / "rows.csv"),
    }
    said = dict(change)
    table = said.pop("table", train)
    with pytest.raises(ValueError, match=message):
        assay.train(tables.get(table, table) if isinstance(table, str) else table, **said)


# What is left over

SESSION = """
    import numpy as np
    import assay

    def session():
        train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
        model = assay.train(train)
        made = [assay.explain(model, test, name, pool=train) for name in ("kernel_shap", "gradient")]
        assay.evaluate(made[0])
        mean = assay.aggregate(made, "mean")
        assay.evaluate(mean, ["faithfulness", "max_sensitivity"])
        repr(mean), mean[:3], mean.values
        function = assay.wrap(lambda rows: rows.sum(axis=1))
        rows = np.ones((5, 3)) * np.arange(5)[:, None]
        black = assay.explain(function, rows, "occlusion", pool=rows)
        assay.evaluate(black)
        try:
            assay.explain(assay.wrap(lambda rows: 1 / 0), rows, "occlusion", pool=rows)
        except ZeroDivisionError:
            pass
        try:
            assay.explain(function, rows, "gradient")
        except assay.UnsupportedError:
            pass
        done = assay.study(model, test, pool=train, methods="gradient,occlusion", aggregators="mean", curves=False,
                           criteria="complexity,faithfulness", progress=False)
        repr(done)

    session()
    print("done")
"""


def test_nothing_of_a_session_is_left_over(tmp_path):
    """nanobind lists on standard error what is alive when a process ends."""
    words = {**os.environ, "ASSAY_LEAK_WARNINGS": "1"}
    program = [sys.executable, "-c", textwrap.dedent(SESSION)]
    result = subprocess.run(program, env=words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


def test_the_list_of_what_is_left_over_is_written_at_all(tmp_path):
    """Else the test above could not fail."""
    held = "import assay, sys; table = assay.dataset('iris'); sys.modules['assay']._core.held = table"
    script = f"{held}; import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(table._core))"
    words = {**os.environ, "ASSAY_LEAK_WARNINGS": "1"}
    result = subprocess.run([sys.executable, "-c", script], env=words, cwd=tmp_path, capture_output=True, text=True)
    assert "nanobind: leaked" in result.stderr


def test_times_with_fractions_are_refused_and_lost_digits_are_told(tmp_path):
    """A model of doubles sees seconds of a Unix time, and float32 has none."""
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_of_casts(11))
    model = assay.load(path)
    pandas = pytest.importorskip("pandas")
    times = np.array([[1700000060.25, 1], [1700000010.75, 2]])
    for form in [times, times.tolist(), pandas.DataFrame(times, columns=["x.0", "x.1"])]:
        with pytest.raises(ValueError, match=r"column 'x.0' holds numbers beyond 2\^24, which tables round"):
            model.predict(form)
    days = np.array([[738000.123, 1], [738000.987, 2]])
    for form in [days, pandas.DataFrame(days, columns=["x.0", "x.1"])]:
        with pytest.warns(UserWarning, match="column 'x.0' of X lies near 738001 and spreads over 0.87"):
            model.predict(form)
        made = assay.explain(model, form, "occlusion", baseline="zero", target=0, progress=False)
        assert any("its cells are rounded by up to 0.04" in note for note in made.notes)


@pytest.mark.parametrize(("element", "dtype"), [(7, np.int64), (11, np.float64)])
def test_whole_numbers_that_float32_rounds_are_refused_in_every_form(tmp_path, element, dtype):
    """An identifier that indexes something must not become its neighbour."""
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_of_casts(element))
    model = assay.load(path)
    held = np.array([[16777216, 3], [16777218, 0]], dtype)
    np.testing.assert_array_equal(model.predict(held), held)
    rounded = np.array([[16777216, 3], [16777217, 0]], dtype)
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    forms = [
        rounded,
        rounded.tolist(),
        pandas.DataFrame(rounded, columns=["x.0", "x.1"]),
        arrow.table({"x.0": rounded[:, 0], "x.1": rounded[:, 1]}),
    ]
    for form in forms:
        with pytest.raises(ValueError, match=r"column 'x.0' holds numbers beyond 2\^24, which tables round"):
            model.predict(form)
