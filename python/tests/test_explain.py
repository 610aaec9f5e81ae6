"""assay.explain: the same bits as the command line, every method on every kind of model, and closed forms."""

import json
import pathlib
import types

import numpy as np
import pytest

import assay

METHODS = assay.methods().names
TREES = ["tree_shap", "tree_shap_path"]
GRADIENTS = [
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "smooth_grad",
    "deeplift",
    "deeplift_reveal_cancel",
]
SHAPLEY = ["exact_shapley", "kernel_shap", "shapley_sampling"]
GAMES = [*SHAPLEY, "occlusion", "lime"]
PARTS = ("values", "base", "output", "gap", "target_index", "standard_error", "background_error")
WORDS = ("features", "target_names", "ids", "evaluations", "notes", "provenance")
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "models"
PETAL = {"petal": ["petal_length", "petal_width"], "sepal": ["sepal_length", "sepal_width"]}
ROW = {"sepal_length": 5.5, "sepal_width": 3.0, "petal_length": 2.25, "petal_width": 0.75}


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """A network trained here and its file, with rows for it and files of some of them."""
    folder = tmp_path_factory.mktemp("iris")
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    trained = assay.train(train)
    trained.save(folder / "iris.onnx")
    few = train[[0, 50, 100, 7]]
    for name, table in (("few.csv", few), ("row.csv", None)):
        rows = [[few[column][i] for column in few.features] for i in range(len(few))] if table else [ROW.values()]
        lines = [",".join(few.features), *(",".join(f"{cell:.9g}" for cell in row) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "petal.json").write_text(json.dumps(PETAL))
    return types.SimpleNamespace(
        folder=folder,
        train=train,
        test=test,
        few=few,
        trained=trained,
        model=assay.load(folder / "iris.onnx"),
        arguments=["--model", folder / "iris.onnx", "--data", "iris", "--split", "test"],
        pool=["--pool", "iris", "--pool-split", "train"],
    )


def assert_same(ours, theirs, *, but=(), names=()):
    """Bits of numbers, and every word about them but those of the provenance that `but` lists. names: what Python calls
    what the command line reads from a file."""
    for part in PARTS:
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert (mine is None) == (other is None), part
        assert mine is None or (mine.dtype == other.dtype and mine.tobytes() == other.tobytes()), part
    for part in WORDS:
        mine, other = getattr(ours, part), getattr(theirs, part)
        if part == "provenance":
            mine, other = ({**words, **dict.fromkeys(but)} for words in (mine, other))
        text = json.dumps(other)
        for file, name in names:
            text = text.replace(str(file), name)
        assert mine == json.loads(text), part


# What Python says, and what the command line says.
SAME = {
    "default": ({}, []),
    "predicted": ({"target": "predicted"}, ["--target", "predicted"]),
    "class": ({"target": "versicolor"}, ["--target", "versicolor"]),
    "index": ({"target": 2}, ["--target", "2"]),
    "margin": ({"value": "margin"}, ["--value", "margin"]),
    "probability": ({"value": "probability"}, ["--value", "probability"]),
    "log odds": ({"value": "log_odds", "target": "setosa"}, ["--value", "log_odds", "--target", "setosa"]),
    "information": ({"value": "information"}, ["--value", "information"]),
    "columns": ({"groups": "none"}, ["--groups", "none"]),
    "groups": ({"groups": PETAL}, ["--groups", "{folder}/petal.json"]),
    "zero": ({"baseline": "zero"}, ["--baseline", "zero"]),
    "mean": ({"baseline": "mean"}, ["--baseline", "mean"]),
    "median": ({"baseline": "median"}, ["--baseline", "median"]),
    "neutral": ({"baseline": "neutral"}, ["--baseline", "neutral"]),
    "row": ({"baseline": ROW}, ["--baseline", "{folder}/row.csv"]),
    "some of the pool": ({"background": "pool:20"}, ["--background", "pool:20"]),
    "rows": ({"background": "few"}, ["--background", "{folder}/few.csv"]),
    "threads": ({"threads": 7, "background": "pool:5"}, ["--background", "pool:5"]),
    "one thread": ({"threads": 1}, []),
}


@pytest.mark.parametrize("case", SAME)
def test_the_command_line_gives_the_same_bits(case, iris, command):
    said, arguments = SAME[case]
    said = {name: iris.few if value == "few" else value for name, value in said.items()}
    arguments = [text.format(folder=iris.folder) for text in arguments]
    methods = GAMES if case == "information" else [each for each in METHODS if each not in TREES]
    out = iris.folder / f"{case.replace(' ', '_')}.npz"
    command("explain", *iris.arguments, *iris.pool, *arguments, "--method", ",".join(methods), "--out", out)
    files = {"petal.json": "groups given", "row.csv": "baseline", "few.csv": iris.train._core.source}
    names = [(iris.folder / file, name) for file, name in files.items()]
    for method in methods:
        theirs = assay.Explanations.load(out.with_name(f"{out.stem}.{method}.npz"))
        assert_same(assay.explain(iris.model, iris.test, method, pool=iris.train, **said), theirs, names=names)
        in_memory = assay.explain(iris.trained, iris.test, method, pool=iris.train, **said)
        assert_same(in_memory, theirs, but=["model"], names=names)


@pytest.mark.parametrize("seed", [1, 2**63 + 5])
@pytest.mark.parametrize("method", [each.name for each in assay.methods() if each.sampled])
def test_seeds_are_those_of_the_command_line(method, seed, iris, command):
    out = iris.folder / f"seed-{method}-{seed}.npz"
    command("--seed", seed, "explain", *iris.arguments, *iris.pool, "--method", method, "--out", out)
    # One seed does all there, which of the rows are the test part too.
    test, train = (assay.dataset("iris", split=split, seed=seed) for split in ("test", "train"))
    assert_same(assay.explain(iris.model, test, method, pool=train, seed=seed), assay.Explanations.load(out))


# Every form of a table


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Numbers, texts, missing cells and names of rows, as a file and as a DataFrame."""
    pandas = pytest.importorskip("pandas", reason="pandas makes the table")
    random = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "age": random.integers(18, 80, 80).astype(np.float32),
            "job": random.choice(["cook", "nurse", "smith, retired"], 80),
            "income": np.round(random.normal(50, 20, 80), 1).astype(np.float32),
            "town": random.choice(["x", "y"], 80),
        },
        index=pandas.Index([f"p{i}" for i in range(80)], name="case"),
    )
    frame["bought"] = np.where(frame["income"] + 20 * (frame["job"] == "nurse") > 55, "yes", "no")
    frame.loc["p3", "income"] = np.nan
    frame.loc["p5", "job"] = None
    folder = tmp_path_factory.mktemp("people")
    frame.to_csv(folder / "people.csv")
    table = assay.dataset(folder / "people.csv", label="bought", id="case")
    model = assay.train(table, encode="one_hot:impute=mean")
    model.save(folder / "people.onnx")
    return types.SimpleNamespace(
        folder=folder, frame=frame, table=table, model=model, loaded=assay.load(folder / "people.onnx")
    )


def arrow_of(frame):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow makes the table")
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


FORMS = {
    "table": lambda people: people.table,
    "frame": lambda people: people.frame,
    "frame without the label": lambda people: people.frame.drop(columns="bought"),
    "frame of other order": lambda people: people.frame[["town", "bought", "age", "income", "job"]],
    "frame of categories": lambda people: people.frame.astype({"job": "category", "town": "category"}),
    "frame of wide numbers": lambda people: people.frame.astype({"age": "int64", "income": "float64"}),
    "frame of nullable columns": lambda people: people.frame.convert_dtypes(),
    "arrow": lambda people: arrow_of(people.frame),
    "arrow without the label": lambda people: arrow_of(people.frame.drop(columns="bought")),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["integrated_gradients", "kernel_shap", "lime"])
def test_columns_are_found_by_name_in_every_form_of_table(form, method, people, command):
    out = people.folder / f"{method}.npz"
    if not out.exists():
        rows = ["--data", people.folder / "people.csv", "--label", "bought", "--id", "case"]
        pool = ["--pool", people.folder / "people.csv"]
        command("explain", "--model", people.folder / "people.onnx", *rows, *pool, "--method", method, "--out", out)
    theirs = assay.Explanations.load(out)
    rows = FORMS[form](people)
    ours = assay.explain(people.loaded, rows, method, pool=rows)
    assert ours.features == theirs.features == ["age", "job", "income", "town"]
    for part in PARTS:
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert (mine is None) == (other is None)
        assert mine is None or mine.tobytes() == other.tobytes(), part
    assert ours.ids == (None if "arrow" in form else theirs.ids)
    assert ours.unit == "margin" and ours.target_names == ["no", "yes"]
    assert set(ours.target) == {"yes"}  # of two classes the second is explained


@pytest.mark.parametrize("form", ["array", "columns in memory", "float32", "list", "tensor of another library"])
def test_arrays_have_the_columns_of_the_model_in_order(form, iris):
    matrix = np.column_stack([iris.test[name] for name in iris.test.features])
    wanted = assay.explain(iris.model, iris.test, "kernel_shap", baseline="zero")
    made = {
        "array": matrix,
        "columns in memory": np.asfortranarray(matrix),
        "float32": matrix.astype(np.float32),
        "list": matrix.tolist(),
        "tensor of another library": types.SimpleNamespace(
            __dlpack__=matrix.__dlpack__, __dlpack_device__=matrix.__dlpack_device__
        ),
    }
    ours = assay.explain(iris.model, made[form], "kernel_shap", baseline="zero")
    assert ours.values.tobytes() == wanted.values.tobytes()
    assert ours.features == wanted.features


# Every method on every kind of model: it explains, or refuses before it asks the model anything

ROWS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0], np.float32)
FEW = {"kernel_shap": {"samples": 256}, "lime": {"samples": 256}, "shapley_sampling": {"permutations": 20}}


def softmax(rows):
    scores = np.exp(rows[:, :3] * [1.0, 2.0, 0.5])
    return scores / scores.sum(axis=1, keepdims=True)


FUNCTIONS = {
    "linear": (lambda rows: rows @ WEIGHTS + 3, {}),
    "xor": (lambda rows: np.where((rows[:, 0] > 0) != (rows[:, 1] > 0), 1.0, -1.0), {}),
    "two outputs": (lambda rows: np.stack([rows.sum(axis=1), np.tanh(rows).prod(axis=1)], axis=1), {}),
    "three classes": (softmax, {"classes": ["a", "b", "c"], "value": "probability"}),
    "two classes": (lambda rows: rows[:, 0] - rows[:, 3], {"classes": ["no", "yes"], "value": "margin"}),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_functions_or_refuses_before_it_calls_them(method, kind):
    function, words = FUNCTIONS[kind]
    seen = []

    def counted(rows):
        seen.append(len(rows))
        return function(rows)

    model = assay.wrap(counted, name="toy", **words)
    more = {"target": 1} if kind == "two outputs" else {}
    if method in GRADIENTS:
        with pytest.raises(assay.UnsupportedError, match=f"^{method} needs a gradient, and toy has none: it is a func"):
            assay.explain(model, ROWS, method, pool=ROWS, **more)
        assert seen == [12, 6, 6]  # how many outputs it has, and whether a row gets the same ones in other company
        return
    if method in TREES:
        with pytest.raises(assay.UnsupportedError, match=f"^{method} needs a model of trees, and toy is none"):
            assay.explain(model, ROWS, method, pool=ROWS, **more)
        assert seen == [12, 6, 6]
        return
    made = assay.explain(model, ROWS, method, pool=ROWS, **more, **FEW.get(method, {}))
    assert made.values.shape == (12, 4) and made.features == ["0", "1", "2", "3"]
    assert np.isfinite(made.values).all()
    outputs = np.asarray(function(ROWS)).reshape(12, -1)
    column = outputs.argmax(axis=1) if kind == "three classes" else [outputs.shape[1] - 1] * 12
    assert made.output == pytest.approx(outputs[np.arange(12), column], abs=1e-6)
    assert made.gap == pytest.approx(made.output - made.base - made.values.sum(axis=1), abs=1e-5)
    if assay.methods()[method].complete:
        assert np.abs(made.gap).max() < 1e-5


NETWORKS = [
    "sklearn_logistic_binary",
    "sklearn_mlp",
    "sklearn_scaled_linear",
    "sklearn_forest",
    "sklearn_forest_regressor",
    "sklearn_columns",
    "sklearn_tree_strings",
    "xgboost_three",
    "lightgbm_regressor",
    "torch_mlp_dynamo",
    "torch_cnn_script",
    "torch_attention_dynamo",
]


@pytest.mark.parametrize("network", NETWORKS)
def test_every_method_explains_networks_or_refuses(network):
    model = assay.load(FIXTURES / network / "model.onnx")
    rows = assay.dataset(FIXTURES / network / "rows.csv")
    outputs = model.predict(rows)
    for method in METHODS:
        if method in GRADIENTS and "gradient" not in model.capabilities:
            refusal = f"^{method} needs a gradient, and .*model.onnx has none: it"
        elif method == "exact_shapley" and len(rows.features) > 24:
            refusal = f"at most 24 players, and there are {len(rows.features)}: group features, or use kernel_shap"
        elif method in TREES and "trees" not in model.capabilities:
            refusal = f"^{method} needs a model of trees, and .*model.onnx is none"
        elif method == "tree_shap_path":
            refusal = "^tree_shap_path needs the number of training rows at each node"
        else:
            refusal = None
        if refusal:
            with pytest.raises(assay.UnsupportedError, match=refusal):
                assay.explain(model, rows, method, pool=rows)
            continue
        made = assay.explain(model, rows, method, pool=rows, **FEW.get(method, {}))
        assert made.values.shape == (len(rows), len(rows.features)) and made.features == rows.features
        assert np.isfinite(made.values).all()
        wanted = outputs[:, -1] if len(model.classes) in (0, 2) else outputs.max(axis=1)
        assert made.output == pytest.approx(wanted, rel=1e-6, abs=1e-6), method
        scale = 1 + np.abs(made.output).max() + np.abs(made.base).max()
        if assay.methods()[method].complete:
            # An integral by steps ends where it is near enough; all others add up by their nature.
            near = 1e-3 if method == "integrated_gradients" else 1e-6
            assert np.abs(made.gap).max() < near * scale, method


@pytest.mark.parametrize("method", [each for each in METHODS if each not in TREES])
def test_linear_models_have_closed_forms(method):
    """Of f(x) = w.x + c: the slope is w, and all that share out the output say w (x - reference)."""
    folder = FIXTURES / "sklearn_scaled_linear"
    model, rows = assay.load(folder / "model.onnx"), assay.dataset(folder / "rows.csv")
    x = np.column_stack([rows[name] for name in rows.features])
    steps = np.vstack([np.zeros(5), np.eye(5)])
    at = model.predict(steps)[:, 0].astype(np.float64)
    slope = at[1:] - at[0]
    wanted = {"gradient": np.broadcast_to(slope, x.shape), "gradient_x_input": slope * x}
    wanted["smooth_grad"] = wanted["gradient"]
    reference = np.array([0.5, -1, 0.25, 2, 0])
    made = assay.explain(model, rows, method, baseline=reference, pool=rows)
    expected = wanted.get(method, slope * (x - reference))
    # LIME's ridge draws its coefficients towards zero by about a tenth of a percent here.
    tolerance = 0.02 if method == "lime" else 1e-5
    assert np.abs(made.values - expected).max() < tolerance * np.abs(expected).max()


def test_a_background_averages_over_its_rows():
    """A product of two: with one row r, half of (x1 - r1)(x2 + r2) goes to the first."""
    model = assay.wrap(lambda rows: rows[:, 0] * rows[:, 1])
    made = assay.explain(model, ROWS, "exact_shapley", background=ROWS[:5])
    x, r = ROWS[:, None, :].astype(np.float64), ROWS[None, :5, :].astype(np.float64)
    first = ((x[..., 0] - r[..., 0]) * (x[..., 1] + r[..., 1]) / 2).mean(axis=1)
    assert made.values[:, 0] == pytest.approx(first, abs=1e-6)
    assert np.abs(made.values[:, 2:]).max() < 1e-6
    assert made.base == pytest.approx(np.full(12, (ROWS[:5, 0] * ROWS[:5, 1]).mean()), abs=1e-6)


@pytest.mark.parametrize("value", [None, "probability"])
def test_explain_all_explains_each_class_as_the_command_line_does(value, iris, command):
    out = iris.folder / f"all-{value}.npz"
    words = ["--value", value] if value else []
    arguments = ["--target", "all", *words, "--method", "occlusion", "--out", out]
    command("explain", *iris.arguments, *iris.pool, *arguments)
    made = assay.explain_all(iris.model, iris.test, "occlusion", pool=iris.train, value=value)
    assert list(made) == ["setosa", "versicolor", "virginica"]
    for name, ours in made.items():
        assert_same(ours, assay.Explanations.load(out.with_name(f"{out.stem}.{name}.npz")))
        assert set(ours.target) == {name}


def test_explain_all_explains_each_output_of_a_regression():
    function, _ = FUNCTIONS["two outputs"]
    made = assay.explain_all(assay.wrap(function), ROWS, "occlusion", baseline="zero")
    assert list(made) == ["0", "1"]
    assert made["0"].values == pytest.approx(ROWS, abs=1e-6)  # a sum without one of its terms


def test_targets_of_rows(iris):
    """One for each row, by name or index, is what each row alone is explained for."""
    names = np.resize(["virginica", "setosa", "versicolor"], len(iris.test))
    index = np.resize([2, 0, 1], len(iris.test))
    made = assay.explain(iris.model, iris.test, "kernel_shap", pool=iris.train, target=names)
    assert list(made.target) == list(names)
    for said in (index, index.astype(np.uint8), list(names), [int(each) for each in index]):
        again = assay.explain(iris.model, iris.test, "kernel_shap", pool=iris.train, target=said)
        assert again.values.tobytes() == made.values.tobytes() and list(again.target) == list(names)
    whole = assay.explain_all(iris.model, iris.test, "kernel_shap", pool=iris.train)
    for row, name in enumerate(names):
        assert made.values[row].tobytes() == whole[name].values[row].tobytes()


@pytest.mark.parametrize(
    ("said", "other"),
    [({"samples": 64, "seed": 3}, {"samples": 65, "seed": 3}), ({"samples": 64, "seed": 3}, {"samples": 64})],
)
def test_options_and_seeds_reach_the_method(said, other):
    rows = np.random.default_rng(1).normal(size=(3, 12))
    model = assay.wrap(lambda rows: np.tanh(rows.sum(axis=1)) * rows[:, 1])
    first, second, again = (assay.explain(model, rows, "lime", baseline="zero", **each) for each in (said, other, said))
    assert first.provenance["options"]["samples"] == "64" and first.provenance["seed"] == 3
    assert first.values.tobytes() != second.values.tobytes()
    assert first.values.tobytes() == again.values.tobytes()


@pytest.mark.parametrize(
    "said",
    ["lime:samples=64", ("lime", {"samples": 64}), ("lime", {"samples": np.int64(64)}), ("lime", {"samples": "64"})],
)
def test_options_may_stand_beside_the_name(said):
    model = assay.wrap(lambda rows: np.tanh(rows @ WEIGHTS))
    wanted = assay.explain(model, ROWS, "lime", baseline="zero", samples=64)
    assert assay.explain(model, ROWS, said, baseline="zero").values.tobytes() == wanted.values.tobytes()
