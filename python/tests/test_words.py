"""Names, texts and paths as arguments: entries of the catalogues, text that is none, and what is no path."""

import re
import types

import numpy as np
import pytest

import assay

COLUMNS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


@pytest.fixture(scope="module")
def iris():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    matrix, pool = (np.column_stack([table[name] for name in COLUMNS]) for table in (test, train))
    model = assay.train(train)
    made = assay.explain(model, matrix, "occlusion", pool=pool)
    return types.SimpleNamespace(train=train, test=test, matrix=matrix, pool=pool, model=model, made=made)


def refused(message):
    """A ValueError of one line that begins so; `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    return pytest.raises(ValueError, match=f"^{pattern}")


def test_what_the_catalogues_hold_may_be_said(iris):
    """An entry in place of its name, and a catalogue in place of a list."""
    lime = assay.methods()["lime"]
    wanted = assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, samples=40)
    for method in (lime, (lime, {"samples": 40})):
        options = {} if isinstance(method, tuple) else {"samples": 40}
        made = assay.explain(iris.model, iris.matrix, method, pool=iris.pool, **options)
        assert made.values.tobytes() == wanted.values.tobytes()
    complexity = assay.criteria()["complexity"]
    for criteria in (complexity, [complexity], [(complexity, {})]):
        assert list(assay.evaluate(iris.made, criteria)) == ["complexity"]
    some = assay.evaluate(iris.made, [each for each in assay.criteria() if not each.needs])
    assert list(some) == [each.name for each in assay.criteria() if not each.needs]
    mean = assay.aggregate([iris.made] * 2, assay.aggregators()["mean"])
    assert mean.values.tobytes() == assay.aggregate([iris.made] * 2, "mean").values.tobytes()
    with refused("criteria: expected one of faithfulness, ... found 'lime'"):
        assay.evaluate(iris.made, lime)
    with refused("criteria: expected one of faithfulness, ... found 'gradient'"):
        assay.evaluate(iris.made, assay.methods())


# Text that is none, and what is no text

HALF = "\udcff"
NO_TEXT = {
    "label": (lambda iris: assay.train(iris.train, label=5), "label: expected text, found int"),
    "empty label": (lambda iris: assay.train(iris.train, label=""), "table: expected ... label"),
    "half label": (lambda iris: assay.train(iris.train, label=HALF), "label: expected text of whole characters"),
    "encode": (lambda iris: assay.train(iris.train, encode=None), "encode: expected text, found NoneType"),
    "half encode": (lambda iris: assay.train(iris.train, encode=HALF), "encode: expected text of whole characters"),
    "method": (lambda iris: assay.explain(iris.model, iris.matrix, HALF), "method: expected text of whole"),
    "option": (
        lambda iris: assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, samples=HALF),
        "lime, option samples: expected text of whole",
    ),
    "options": (
        lambda iris: assay.explain(iris.model, iris.matrix, ("lime", {"samples": HALF}), pool=iris.pool),
        "lime, option samples: expected text of whole",
    ),
    "background": (
        lambda iris: assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, background=f"pool:{HALF}"),
        "background: expected text of whole",
    ),
    "groups": (
        lambda iris: assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, groups=HALF),
        "groups: expected text of whole",
    ),
    "group": (
        lambda iris: assay.explain(iris.model, iris.matrix, "lime", pool=iris.pool, groups={HALF: ["petal_width"]}),
        "groups: expected text of whole",
    ),
    "criteria": (lambda iris: assay.evaluate(iris.made, HALF), "criteria: expected text of whole"),
    "others": (
        lambda iris: assay.evaluate(iris.made, "complexity", others={HALF: iris.made}),
        "others: expected text of whole",
    ),
    "members": (lambda iris: assay.aggregate({HALF: iris.made}, "mean"), "members: expected text of whole"),
    "names": (lambda iris: assay.aggregate([iris.made], "mean", names=[HALF]), "names: expected text of whole"),
    "wrap": (lambda iris: assay.wrap(len, name=HALF), "name: expected text of whole characters, found '\\udcff'"),
}


@pytest.mark.parametrize(("call", "message"), NO_TEXT.values(), ids=NO_TEXT.keys())
def test_text_that_the_engine_cannot_take_is_refused_by_its_argument(call, message, iris):
    with refused(message):
        call(iris)


@pytest.mark.parametrize("use", [assay.load, assay.Explanations.load, assay.Study.load, "save", "model", "study"])
def test_what_is_no_path_is_refused_by_its_argument(use, iris):
    made = {
        "save": iris.made.save,
        "model": iris.model.save,
        "study": lambda out: assay.study(iris.model, iris.test, pool=iris.train, out=out),
    }
    call = made.get(use, use)
    argument = {"study": "out", assay.Study.load: "folder"}.get(use, "path")
    what = "file" if argument == "path" else "folder"
    for path in (5, 1.5, ["a"]):
        with pytest.raises(TypeError) as found:
            call(path)
        assert str(found.value) == f"{argument}: expected the name of a {what}, found {path!r}"
    for path in (f"{HALF}.npz", "a\0b.npz"):
        with refused(f"{argument}: expected a name of whole characters, found {path!r}"):
            call(path)
