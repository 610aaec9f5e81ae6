"""What cannot be is refused with one sentence that names the argument, what was expected and what was found."""

import pathlib
import re
import types

import numpy as np
import pytest

import assay

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "models"
COLUMNS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


@pytest.fixture(scope="module")
def iris():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    matrix, pool = (np.column_stack([table[name] for name in COLUMNS]) for table in (test, train))
    model = assay.train(train)
    made = assay.explain(model, test, "occlusion", pool=train)
    return types.SimpleNamespace(train=train, test=test, matrix=matrix, pool=pool, model=model, made=made)


@pytest.fixture(scope="module")
def frames(iris):
    pytest.importorskip("pandas", reason="pandas makes tables")
    return types.SimpleNamespace(test=iris.test.to_pandas()[COLUMNS], train=iris.train.to_pandas())


def refused(message):
    """A ValueError of one line that begins so; `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    return pytest.raises(ValueError, match=f"^{pattern}")


# Keyword arguments that nobody knows


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda iris, **said: assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, **said), "lime does not"),
        (
            lambda iris, **said: assay.explain_all(iris.model, iris.matrix, pool=iris.pool, **said),
            "kernel_shap does not",
        ),
        (lambda iris, **said: assay.evaluate(iris.made, "complexity", **said), "complexity does not"),
        (lambda iris, **said: assay.evaluate(iris.made, **said), "options need one criterion"),
        (lambda iris, **said: assay.evaluate(iris.made, "complexity,sparseness", **said), "with several criteria"),
        (lambda iris, **said: assay.aggregate([iris.made] * 2, "mean", **said), "mean does not take it"),
        (lambda iris, **said: assay.load("model.onnx", **said), r"load\(\) got an"),
        (lambda iris, **said: assay.train(iris.train, **said), r"train\(\) got an"),
        (lambda iris, **said: assay.dataset("iris", **said), r"dataset\(\) got an"),
        (lambda iris, **said: iris.model.predict(iris.matrix, **said), r"predict\(\) got an"),
        (lambda iris, **said: assay.wrap(len, **said), r"wrap\(\) got an"),
        (lambda iris, **said: assay.study(iris.model, iris.test, pool=iris.train, **said), r"study\(\) got an"),
    ],
)
def test_unknown_keyword_arguments_are_type_errors(call, message, iris):
    with pytest.raises(TypeError, match=f"unexpected keyword argument 'smaples'|{message}") as found:
        call(iris, smaples=3)
    assert "'smaples'" in str(found.value) and re.search(message, str(found.value))


def test_options_that_are_given_twice_or_to_nobody(iris):
    with pytest.raises(TypeError, match=r"^'samples' is given twice: in method and as a keyword argument$"):
        assay.explain(iris.model, iris.matrix, "lime:samples=64", pool=iris.pool, samples=5)
    with pytest.raises(TypeError, match="explain_all explains each of them"):
        assay.explain_all(iris.model, iris.matrix, target="setosa")


# Arguments of assay.explain

WHOLE = "expected a whole number from 0 to"
ONE_OF = "expected 'predicted', 'setosa', 'versicolor' or 'virginica' or an index from 0 to 2, found"
EACH_OF = "expected 'setosa', 'versicolor' or 'virginica' or an index from 0 to 2, found"
EXPLAIN = [
    ({"model": "model.onnx"}, "model: expected what assay.load, ... made, found str; assay.load reads files"),
    ({"model": None}, "model: expected what assay.load, ... found NoneType; assay.wrap(model) makes one of it"),
    ({"model": len}, "model: expected what assay.load, ... found builtin_function_or_method; assay.wrap(model)"),
    ({"method": None}, "method: expected a name, found NoneType"),
    ({"method": "shap"}, "method: expected one of gradient, ... lime, found 'shap'"),
    ({"method": ["lime"]}, "method: expected a name, found list"),
    ({"method": ("lime", 3)}, "method: expected a name and a dict of options, found ('lime', 3)"),
    ({"method": ("lime", {"sample": 3})}, "method: lime has no option 'sample'; it has samples, width, ridge"),
    ({"method": "lime:samples"}, "method: expected option=value after lime:, found 'samples'"),
    ({"method": "lime", "samples": 1}, "lime, option samples: expected a whole number, 2 to 10000000, found '1'"),
    ({"method": "lime", "samples": -5}, "lime, option samples: expected a whole number, 2 to 10000000, found '-5'"),
    ({"method": "lime", "samples": 9.5}, "lime, option samples: expected a whole number, ... found '9.5'"),
    ({"method": "lime", "samples": "many"}, "lime, option samples: expected a whole number, ... found 'many'"),
    ({"method": "lime", "width": float("nan")}, "lime, option width: expected ... found 'nan'"),
    ({"pool": None}, "what stands for absent features is not said; give pool= ... baseline= or background="),
    (
        {"pool": None, "baseline": "mean"},
        "baseline: expected pool= beside 'mean', the rows to take it from, found none",
    ),
    ({"pool": None, "background": "pool:9"}, "background: expected pool= beside 'pool:9', the rows to take it from"),
    ({"baseline": "average"}, "baseline: expected zero, mean, median, neutral or a row, found 'average'"),
    ({"baseline": ""}, "baseline: expected zero, mean, median, neutral or a row, found ''"),
    ({"background": "all"}, "background: expected pool:100 or spread:100 (for so many of it) or rows, found 'all'"),
    ({"background": "pool:0"}, "background: expected pool:N with a number of rows, 1 or more, found 'pool:0'"),
    ({"background": "pool:x"}, "background: expected pool:N with a number of rows, 1 or more, found 'pool:x'"),
    ({"baseline": "zero", "background": "pool:3"}, "baseline: expected one of baseline and background, found both"),
    ({"value": "logit"}, "value: expected one of margin, probability, log_odds, information, found 'logit'"),
    ({"value": ""}, "value: expected one of margin, probability, log_odds, information, found ''"),
    ({"value": "information", "target": 1}, "target: expected none with value='information', ... found 1"),
    ({"target": "rose"}, f"target: {ONE_OF} 'rose'"),
    ({"target": 3}, f"target: {ONE_OF} 3"),
    ({"target": -1}, f"target: {ONE_OF} -1"),
    ({"target": 1.5}, f"target: {ONE_OF} 1.5"),
    ({"target": True}, f"target: {ONE_OF} True"),
    ({"target": "all"}, f"target: {EACH_OF} 'all'; assay.explain_all explains each"),
    ({"target": [0, 1]}, "target: expected 30, one for each row, found 2"),
    ({"target": []}, "target: expected 30, one for each row, found 0"),
    ({"target": [0, 1, 5] * 10}, f"target, row 2 (counted from 0): {EACH_OF} 5"),
    ({"target": [0, -1, 2] * 10}, f"target, row 1 (counted from 0): {EACH_OF} -1"),
    ({"target": ["setosa", "rose", "setosa"] * 10}, f"target, row 1 (counted from 0): {EACH_OF} 'rose'"),
    ({"target": [0.0, 1.0, np.nan] * 10}, f"target, row 0 (counted from 0): {EACH_OF} 0.0"),
    ({"target": np.zeros((30, 2), int)}, "target: expected one for each row, found an array of 2 dimensions"),
    ({"groups": 3}, "groups: expected a word or a dict of names and columns, found int"),
    ({"groups": "pairs"}, "groups: expected auto, none, grid:4 or a dict of names and their columns, found 'pairs'"),
    ({"groups": "grid:2"}, "grid: expected rows that are images, ... found rows without a shape"),
    ({"groups": {"a": ["petal_width", "colour"]}}, "groups, group 'a': expected columns of the rows, found 'colour'"),
    (
        {"groups": {"a": ["petal_width"] * 2}},
        "groups, group 'a': expected columns that are in no other group and named",
    ),
    (
        {"groups": {"a": ["petal_width"], "b": ["petal_width"]}},
        "groups, group 'b': expected columns that are in no other",
    ),
    ({"groups": {"a": []}}, "groups, group 'a': expected a list of its columns, found"),
    ({"groups": {"a": None}}, "groups, group 'a': expected a list of its columns, found None"),
    ({"ids": ["a"]}, "ids: expected 30, one for each row, found 1"),
    ({"ids": 3}, "ids: expected 30, one for each row, found 3"),
    ({"ids": "abcdefghijklmnopqrstuvwxyzABCD"}, "ids: expected 30, one for each row, found 'abc"),
    ({"progress": "yes"}, "progress: expected True, False, None or an object with update(task, done, total), found"),
    *(
        ({"seed": value}, f"seed: {WHOLE} 18446744073709551615, found {value!r}")
        for value in (1.5, -1, None, "1", True)
    ),
    ({"seed": 2**64}, f"seed: {WHOLE} 18446744073709551615, found 18446744073709551616"),
    *(({"threads": value}, f"threads: {WHOLE} 4096, found {value!r}") for value in (1.5, -1, None, "1", 4097)),
]


@pytest.mark.parametrize(("change", "message"), EXPLAIN, ids=[str(change) for change, _ in EXPLAIN])
def test_what_explain_refuses(change, message, iris):
    said = {"model": iris.model, "method": "occlusion", "pool": iris.pool} | change
    with refused(message) as found:
        assay.explain(said.pop("model"), iris.matrix, said.pop("method"), **said)
    assert "\n" not in str(found.value) and "--" not in str(found.value)


@pytest.mark.parametrize(
    "said", [{"seed": 2.0}, {"seed": np.uint64(2**63)}, {"threads": np.int32(2)}, {"ids": range(30)}]
)
def test_numbers_of_every_kind_are_numbers(said, iris):
    assert assay.explain(iris.model, iris.matrix, "occlusion", pool=iris.pool, **said).values.shape == (30, 4)


# Tables


def changed(matrix, cell, value):
    out = np.array(matrix)
    out[cell] = value
    return out


ARRAYS = [
    (lambda x: x[0], "expected rows x columns, found one dimension; {name}.reshape(1, -1) is one row"),
    (lambda x: 3.0, "expected rows x columns, found a single value"),
    (lambda x: x[:, :3], "expected 4 columns, found 3"),
    (lambda x: np.hstack([x, x]), "expected 4 columns, found 8"),
    (lambda x: x.astype(str), "expected numbers of at most 64 bits, found dtype <U32"),
    (lambda x: x.astype(complex), "expected numbers of at most 64 bits, found dtype complex128"),
    (lambda x: x.astype(object), "expected numbers of at most 64 bits, found dtype object; {name}.astype(float) tries"),
    (lambda x: np.zeros((3, 4), "M8[s]"), "expected numbers of at most 64 bits, found dtype datetime64[s]"),
    (lambda x: [[1, 2, 3, 4], [1, 2]], "expected rows of equal length, found list"),
]


NO_TABLES = [
    # None is no pool, and a text says where a background is from.
    ("X", lambda x: None, "expected rows x columns, found a single value"),
    ("X", lambda x: "iris", "expected rows x columns, found the text 'iris'; assay.dataset opens files"),
    ("pool", lambda x: "iris", "expected rows x columns, found the text 'iris'; assay.dataset opens files"),
    *((argument, *case) for argument in ("X", "pool", "background") for case in ARRAYS),
]


@pytest.mark.parametrize(("argument", "change", "message"), NO_TABLES)
def test_arrays_that_are_no_rows(argument, change, message, iris):
    said = {"X": iris.matrix, argument: change(iris.matrix)}
    with refused(f"{argument}: {message.format(name=argument)}"):
        assay.explain(iris.model, said.pop("X"), "occlusion", **(said or {"baseline": "zero"}))


@pytest.mark.parametrize("argument", ["X", "pool", "background"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.inf, "expected a finite number, or NaN for missing, found inf"),
        (-np.inf, "expected a finite number, or NaN for missing, found -inf"),
        (1e300, "expected a number within the range of float32, found 1e+300"),
    ],
)
@pytest.mark.parametrize("form", ["array", "frame"])
def test_numbers_that_are_none_are_named_by_row_and_column(form, value, message, argument, iris, request):
    given = changed(iris.matrix, (3, 2), value)
    rows = iris.matrix
    if form == "frame":
        request.getfixturevalue("frames")
        import pandas

        given, rows = (pandas.DataFrame(each, columns=COLUMNS) for each in (given, rows))
    said = {"X": rows, argument: given}
    with refused(f"{argument}, ...: {message}") as found:
        assay.explain(iris.model, said.pop("X"), "occlusion", **(said or {"baseline": "zero"}))
    assert "row 3 (counted from 0)" in str(found.value) and "column 'petal_length'" in str(found.value)


def test_missing_cells_are_imputed_or_named(iris):
    """A model with an encoder fills them in; a bare network gives no number for them."""
    missing = changed(iris.matrix, (3, 2), np.nan)
    made = assay.explain(iris.model, missing, "occlusion", pool=iris.pool)
    mean = changed(
        iris.matrix, (3, 2), np.float32(iris.train["petal_length"].astype(np.float32).mean(dtype=np.float64))
    )
    wanted = assay.explain(iris.model, mean, "occlusion", pool=iris.pool)
    assert made.values == pytest.approx(wanted.values, abs=1e-5)
    network = assay.load(FIXTURES / "sklearn_mlp" / "model.onnx")
    with pytest.raises(ValueError, match=r"row .* has no value \(NaN\) in column 'X\.2', .*; impute it first"):
        assay.explain(network, changed(np.ones((3, 5)), (1, 2), np.nan), "gradient")


def test_no_rows_of_a_tree_model_are_refused():
    pytest.importorskip("sklearn", reason="its trees take arrays as they are")
    from sklearn.tree import DecisionTreeClassifier

    rows = np.random.default_rng(0).normal(size=(20, 3))
    model = assay.wrap(DecisionTreeClassifier(max_depth=2).fit(rows, rows[:, 0] > 0))
    with pytest.raises(ValueError, match=r"^X: expected at least one row, found none$"):
        assay.explain(model, rows[:0], "occlusion", pool=rows)
    with pytest.raises(ValueError, match=r"^X: expected at least one row, found none$"):
        assay.study(model, rows[:0], pool=rows)


@pytest.mark.parametrize("kind", ["array", "frame", "table"])
def test_no_rows_are_refused(kind, iris, frames):
    empty = {"array": iris.matrix[:0], "frame": frames.test[:0], "table": iris.test[:0]}[kind]
    with pytest.raises(ValueError, match=r"expected at least one row, found none$"):
        assay.explain(iris.model, empty, "occlusion", pool=iris.train)
    with pytest.raises(ValueError, match=r"expected rows to take a baseline from, found none$"):
        assay.explain(iris.model, iris.test, "occlusion", pool=empty)
    with pytest.raises(ValueError, match=r"at least one row, found none$"):
        assay.explain(iris.model, iris.test, "occlusion", background=empty)


FRAMES = [
    (lambda f: f.drop(columns="petal_width"), "there is no column 'petal_width', which the model needs"),
    (lambda f: f.rename(columns={"petal_width": "width"}), "there is no column 'petal_width', which the model needs"),
    (lambda f: f.rename(columns=dict(zip(COLUMNS, range(4), strict=True))), "there is no column 'sepal_length', which"),
    (lambda f: f[[*COLUMNS, "petal_width"]], "expected column names that differ, found 'petal_width' twice"),
    (lambda f: f.assign(petal_width="wide"), "...column 'petal_width': expected a number, found 'wide'"),
    (lambda f: f.assign(petal_width=[[1]] * len(f)), "...column 'petal_width'"),
    (
        lambda f: f.assign(petal_width=np.datetime64("2020-01-01", "s")),
        "...column 'petal_width': expected numbers, bool",
    ),
]


@pytest.mark.parametrize("argument", ["X", "pool", "background", "baseline"])
@pytest.mark.parametrize(("change", "message"), FRAMES)
def test_columns_that_are_not_as_the_model_needs_them(change, message, argument, iris, frames):
    given = change(frames.test[:1] if argument == "baseline" else frames.test)
    said = {"X": frames.test, argument: given}
    with refused(f"{argument}{'' if message.startswith('...') else ': '}{message}"):
        assay.explain(iris.model, said.pop("X"), "occlusion", **(said or {"baseline": "zero"}))


def test_columns_that_the_model_does_not_need_may_be_there_in_any_order(iris, frames):
    odd = frames.test.assign(note="x", weight=3.0)[["note", *COLUMNS[::-1], "weight"]]
    made = assay.explain(iris.model, odd, "occlusion", pool=frames.train)
    assert made.values.tobytes() == iris.made.values.tobytes()


# Labels


def test_labels_of_a_table_need_not_be_those_of_the_model(iris):
    """Explanations do not need them; what does, says so."""
    model = assay.wrap(lambda frame: frame.sum(axis=1))
    made = assay.explain(model, iris.test, "occlusion", pool=iris.train)
    assert made.shape == (30, 4)
    with pytest.raises(assay.UnsupportedError, match=r"^roar needs labels of the rows; give y=$"):
        assay.evaluate(made, "roar")
    with refused("y: expected numbers, for a model without classes, found 'setosa'"):
        assay.evaluate(made, "roar", y=iris.test.labels)


# Arguments of assay.evaluate

EVALUATE = [
    ({"criteria": "faith"}, "criteria: expected one of faithfulness, ... sign_agreement, found 'faith'"),
    ({"criteria": []}, "criteria: expected at least one of assay.criteria(), found none"),
    ({"criteria": ""}, "criteria: expected a name, as in name:option=value, found ''"),
    ({"criteria": 3}, "criteria: expected names, found int"),
    ({"criteria": [3]}, "criteria: expected a name, found int"),
    ({"criteria": "complexity,complexity"}, "criteria: expected each once, found 'complexity' twice"),
    ({"criteria": ("faithfulness", {"size": 2})}, "criteria: faithfulness has no option 'size'; it has subset, budget"),
    ({"criteria": "faithfulness", "subset": 0}, "faithfulness, option subset: expected auto, or a whole number, 1 to"),
    ({"criteria": "faithfulness", "form": "x"}, "faithfulness, option form: expected per_row or pooled, found 'x'"),
    ({"explanations": None}, "explanations: expected Explanations, a shap.Explanation or an array ... NoneType"),
    ({"explanations": "e.npz"}, "explanations: expected Explanations, found 'e.npz'; Explanations.load reads files"),
    ({"explanations": {}}, "explanations: expected Explanations, a shap.Explanation or an array ... found dict"),
    ({"explanations": "list"}, "explanations: expected those of one method, found a list of 2; evaluate one after"),
    (
        {"explanations": np.ones(3)},
        "explanations: expected rows x features, ... explanations.reshape(1, -1) is one row",
    ),
    ({"explanations": np.full((2, 2), np.inf)}, "explanations, row 0 (counted from 0), column '0': expected a finite"),
    ({"pool": "train"}, "pool: expected model= and X= beside it, found neither"),
    ({"target": "setosa"}, "target: expected model= and X= beside it, found neither"),
    ({"groups": "none"}, "groups: expected model= and X= beside it, found neither"),
    ({"baseline": "zero"}, "baseline: expected model= and X= beside it, found neither"),
    ({"explanations": "array", "y": [1] * 30}, "y: expected model= and X= beside it, found neither"),
    ({"X": "test"}, "X: expected model= beside it, found none"),
    ({"model": "model"}, "model: expected X= beside it, the rows that are explained, found none"),
    ({"y": [0, 1]}, "y: expected a label for each of 30 rows, found 2"),
    ({"y": ["rose"] * 30}, "y: expected one of the classes 'setosa', 'versicolor', 'virginica', found 'rose'"),
    ({"y": [0.5] * 30}, "y: expected one of the classes 'setosa', 'versicolor', 'virginica', found '0.5'"),
    ({"y": [3] * 30}, "y: expected one of the classes 'setosa', 'versicolor', 'virginica', found '3'"),
    ({"y": np.zeros((30, 2))}, "y: expected one label for each row, found an array of shape (30, 2)"),
    ({"pool_y": [0]}, "pool_y: expected a label for each of 120 rows, found 1"),
    ({"others": "made"}, "others: expected a list or dict of explanations, found Explanations"),
    ({"others": [None]}, "others[0]: expected Explanations, a shap.Explanation or an array ... found NoneType"),
    ({"others": [np.ones((3, 4))]}, "other 1: expected 30 rows, as 'explanations' has, found 3"),
    ({"others": [np.ones((30, 3))]}, "other 1: expected 4 columns, one for each player of 'explanations', found 3"),
    ({"pool_explanations": np.ones((3, 4))}, "pool_explanations: expected 120 rows, one for each of iris (train part)"),
    ({"pool_explanations": np.ones((120, 3))}, "pool_explanations: expected 4 columns, one for each player of expl"),
    ({"seed": -1}, f"seed: {WHOLE}"),
]


@pytest.mark.parametrize(("change", "message"), EVALUATE, ids=[str(change)[:60] for change, _ in EVALUATE])
def test_what_evaluate_refuses(change, message, iris):
    things = {"train": iris.train, "test": iris.test, "model": iris.model, "made": iris.made}
    things |= {"list": [iris.made] * 2, "array": iris.made.to_numpy()}
    said = {"explanations": iris.made, "criteria": "complexity"} | change
    said = {
        key: things.get(value, value) if isinstance(value, str) and key != "criteria" else value
        for key, value in said.items()
    }
    with refused(message):
        assay.evaluate(said.pop("explanations"), said.pop("criteria"), **said)


@pytest.mark.parametrize(
    "criteria",
    [
        "faithfulness:subset=2,roar:k=[0.25,0.5]:seeds=1,complexity",
        ["faithfulness:subset=2", ("roar", {"k": [0.25, 0.5], "seeds": 1}), "complexity"],
        [("faithfulness", {"subset": 2}), ("roar", {"k": np.array([0.25, 0.5]), "seeds": 1}), ("complexity", {})],
    ],
)
def test_criteria_may_be_a_text_or_a_list(criteria, iris):
    scores = assay.evaluate(iris.made, criteria)
    assert list(scores) == ["faithfulness:subset=2", "roar:k=[0.25,0.5]:seeds=1", "complexity"]
    assert scores["faithfulness"].options["subset"] == "2" and scores["roar"].options["k"] == "[0.25,0.5]"
    alone = assay.evaluate(iris.made, "roar", k=(0.25, 0.5), seeds=1)["roar"]
    assert alone.values.tobytes() == scores["roar"].values.tobytes()


# Arguments of assay.aggregate

AGGREGATE = [
    ({"members": []}, "there is no explanation to aggregate"),
    ({"members": "made"}, "members: expected a list or dict of explanations, found Explanations"),
    ({"members": np.ones((2, 3, 4))}, "members: expected a list or dict of explanations, found ndarray"),
    ({"members": [None]}, "members[0]: expected Explanations, a shap.Explanation or an array ... found NoneType"),
    (
        {"members": [np.ones((3, 4)), np.ones((3, 2))]},
        "member 2: expected 4 columns, one for each player of 'member 1', found 2",
    ),
    ({"members": [np.ones((3, 4)), np.ones((2, 4))]}, "member 2: expected 3 rows, as 'member 1' has, found 2"),
    ({"aggregator": None}, "aggregator: expected a name, found NoneType"),
    ({"aggregator": "average"}, "aggregator: expected one of mean, ... pareto, found 'average'"),
    ({"aggregator": "convex", "weights": [2, 3]}, "convex, option weights: expected numbers in [ ] ... found '[2,3]'"),
    ({"aggregator": "convex", "weights": [1.0]}, "convex needs a weight for each member: expected 2, found 1"),
    ({"names": ["a"]}, "names: expected 2, one for each member, found 1"),
    ({"names": "ab"}, "names: expected 2, one for each member, found 'ab'"),
    ({"pool": "train"}, "pool: expected model= and X= beside it, found neither"),
    ({"X": "test"}, "X: expected model= beside it, found none"),
    ({"pool_members": [np.ones((120, 4))]}, "pool_members: expected 2, one for each member, found 1"),
    ({"pool_members": 3}, "pool_members: expected a list or dict of explanations, found int"),
    ({"threads": -1}, f"threads: {WHOLE}"),
]


@pytest.mark.parametrize(("change", "message"), AGGREGATE, ids=[str(change)[:60] for change, _ in AGGREGATE])
def test_what_aggregate_refuses(change, message, iris):
    things = {"train": iris.train, "test": iris.test, "made": iris.made}
    said = {"members": [iris.made] * 2, "aggregator": "mean"} | change
    said = {
        key: things.get(value, value) if isinstance(value, str) and key != "aggregator" else value
        for key, value in said.items()
    }
    with refused(message):
        assay.aggregate(said.pop("members"), said.pop("aggregator"), **said)
