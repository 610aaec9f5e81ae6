"""What belongs to rows, but has the rows' own names in another order, is refused: positions would mix it up."""

import numpy as np
import pytest
from small_graphs import onnx_of_casts

import assay

pandas = pytest.importorskip("pandas", reason="its tables and columns have names")

FRAME = pandas.DataFrame(np.arange(12.0).reshape(6, 2) ** 2, columns=["a", "b"])
SWAPPED = FRAME[["b", "a"]]
REFUSED = "its column 1 is 'b' where X has 'a'; the model takes columns by position, so both need one order"


def positional_models(tmp_path):
    """An ONNX file without names of columns, and trees that were fitted on an array."""
    (tmp_path / "m.onnx").write_bytes(onnx_of_casts(1))
    ensemble = pytest.importorskip("sklearn.ensemble", reason="trees are scikit-learn's")
    forest = ensemble.RandomForestRegressor(3, random_state=0).fit(FRAME.to_numpy(), FRAME["a"])
    boosting = ensemble.HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(FRAME.to_numpy(), FRAME["a"])
    return [(assay.load(tmp_path / "m.onnx"), 0), (assay.wrap(forest), None), (assay.wrap(boosting), None)]


def test_columns_in_another_order_than_those_of_x(tmp_path):
    arrow = pytest.importorskip("pyarrow").Table
    for model, target in positional_models(tmp_path):
        made = {}
        for form in (lambda table: table, lambda table: arrow.from_pandas(table, preserve_index=False)):
            for argument, rows in {"pool": 6, "background": 3, "baseline": 1}.items():
                options = {"target": target, "progress": False}
                found = assay.explain(model, FRAME[:2], "occlusion", **{argument: form(FRAME[:rows])}, **options)
                made.setdefault(argument, found.base[0])
                assert found.base[0] == made[argument]
                with pytest.raises(ValueError, match=f"{argument}: {REFUSED}"):
                    assay.explain(model, FRAME[:2], "occlusion", **{argument: form(SWAPPED[:rows])}, **options)
                # Arrays have no names, and those of others say nothing.
                others = FRAME[:rows].set_axis(["c", "d"], axis=1)
                for table in (FRAME[:rows].to_numpy(), form(others)):
                    found = assay.explain(model, FRAME[:2], "occlusion", **{argument: table}, **options)
                    assert found.base[0] == made[argument]
        with pytest.raises(ValueError, match=f"pool: {REFUSED}"):
            assay.study(model, FRAME[:2], pool=SWAPPED, methods="occlusion", aggregators=None, target=target)
        explained = assay.explain(model, FRAME[:2], "occlusion", pool=FRAME, target=target)
        with pytest.raises(ValueError, match=f"pool: {REFUSED}"):
            assay.evaluate(explained, "avg_sensitivity", model=model, X=FRAME[:2], pool=SWAPPED)


def test_estimators_without_names_take_columns_by_position():
    """scikit-learn keeps no names of columns that are called by numbers."""
    linear = pytest.importorskip("sklearn.linear_model")
    numbered = pandas.DataFrame(FRAME.to_numpy())
    model = assay.wrap(linear.LinearRegression().fit(numbered, FRAME["a"] + 2 * FRAME["b"]))
    refused = "its column 1 is '1' where X has '0'; the model takes columns by position, so both need one order"
    for argument, rows in {"pool": 6, "background": 3, "baseline": 1}.items():
        right = assay.explain(model, numbered[:2], "occlusion", **{argument: numbered[:rows]})
        scores = (FRAME["a"] + 2 * FRAME["b"])[:rows]
        assert right.base[0] == pytest.approx(scores.mean(), rel=1e-5)
        with pytest.raises(ValueError, match=f"{argument}: {refused}"):
            assay.explain(model, numbered[:2], "occlusion", **{argument: numbered[[1, 0]][:rows]})
    # Names that the estimator knows, or that it was told, decide.
    told = assay.wrap(linear.LinearRegression().fit(FRAME.to_numpy(), FRAME["a"]), features=["a", "b"])
    named = assay.wrap(linear.LinearRegression().fit(FRAME, FRAME["a"]))
    for by_name in (told, named):
        assert assay.explain(by_name, SWAPPED[:2], "occlusion", background=FRAME[:3]).base[0] == pytest.approx(
            FRAME["a"][:3].mean(), abs=1e-5
        )


def test_columns_that_one_before_them_moves(tmp_path):
    (tmp_path / "m.onnx").write_bytes(onnx_of_casts(1))
    model = assay.load(tmp_path / "m.onnx")
    pool = FRAME.set_axis(["id", "a"], axis=1)
    with pytest.raises(ValueError, match="pool: its column 2 is 'a' where X has 'b'; the model takes columns by pos"):
        assay.explain(model, FRAME[:2], "occlusion", pool=pool, target=0)


def test_arrays_beside_named_columns_in_another_order(tmp_path):
    """The model's columns are a and b. An array beside columns b and a may be meant in either order."""
    ensemble = pytest.importorskip("sklearn.ensemble", reason="trees are scikit-learn's")
    model = assay.wrap(ensemble.RandomForestRegressor(3, random_state=0).fit(FRAME, FRAME["a"]))
    by_name = assay.explain(model, SWAPPED[:2], "occlusion", background=SWAPPED[:3])
    array = SWAPPED.to_numpy()
    words = "expected names of columns, because X has 'b' where the model has 'a', found columns without names"
    for argument, table in {"pool": array, "background": array[:3], "baseline": array[0]}.items():
        with pytest.raises(ValueError, match=f"{argument}: {words}"):
            assay.explain(model, SWAPPED[:2], "occlusion", **{argument: table})
    with pytest.raises(ValueError, match=f"explanations: {words}"):
        assay.evaluate(np.ones((2, 2)), "complexity", model=model, X=SWAPPED[:2])
    # In the model's order nothing is doubtful.
    same = assay.explain(model, FRAME[:2], "occlusion", background=FRAME[:3].to_numpy())
    assert np.array_equal(np.asarray(same.values), np.asarray(by_name.values))


def test_models_that_know_names_take_any_order():
    model = assay.wrap(lambda frame: frame["a"] + 10 * frame["b"])
    found = [assay.explain(model, FRAME[:2], "occlusion", pool=pool).base[0] for pool in (FRAME, SWAPPED)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "function",
    [
        lambda rows: pandas.concat([2 * rows["a"][rows["b"] > 40], -rows["a"][rows["b"] <= 40]]),
        lambda rows: rows["a"].iloc[::-1].to_frame(),
    ],
)
def test_outputs_in_another_order_than_the_rows(function):
    message = r"expected '\d+' as row \d+, as in the rows that it was called with, found '\d+'; .*\.sort_index\(\)"
    with pytest.raises(ValueError, match=message):
        assay.explain(assay.wrap(function), FRAME, "occlusion", baseline="zero")
    sorted_again = assay.wrap(lambda rows: function(rows).sort_index())
    found = assay.explain(sorted_again, FRAME, "occlusion", baseline="zero", progress=False)
    np.testing.assert_array_equal(found.output, np.asarray(function(FRAME).sort_index()).ravel())
    # An index of something else says nothing.
    assay.wrap(lambda rows: function(rows).sort_index().set_axis(range(7, 7 + len(rows)))).predict(FRAME)


def test_targets_and_ids_in_another_order_than_the_rows():
    X = FRAME.set_axis(list("hgfedc"))
    model = assay.wrap(lambda rows: rows.to_numpy() @ [[1, 0], [0, 2]], classes=["u", "v"], value="margin")
    target = pandas.Series(["u", "v", "v", "u", "u", "v"], index=X.index)
    assert list(assay.explain(model, X, "occlusion", baseline="zero", target=target).target) == target.tolist()
    for options in ({"target": target.sort_index()}, {"ids": target.sort_index()}):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: expected 'h' as row 1, as in X, found 'c'"):
            assay.explain(model, X, "occlusion", baseline="zero", **options)


def test_masks_in_another_order_than_the_rows(tmp_path):
    X = FRAME.set_axis(list("hgfedc"))
    explained = assay.explain(assay.wrap(lambda rows: rows["a"]), X, "occlusion", baseline="zero")
    X.to_csv(tmp_path / "rows.csv", index_label="id")
    table = assay.dataset(tmp_path / "rows.csv", id="id")
    counted = assay.dataset(tmp_path / "rows.csv")
    mask = X["a"] > 10
    assert explained[mask].ids == table[mask].ids == list("fedc")
    assert explained[mask, "b"].shape == (4,)
    for choose in (lambda by: explained[by], lambda by: explained[by, "b"], lambda by: table[by]):
        with pytest.raises(ValueError, match="mask: expected 'h' as row 1, as in the rows, found 'c'"):
            choose(mask.sort_index())
    with pytest.raises(ValueError, match="mask: expected '0' as row 1, as in the rows, found '5'"):
        counted[(FRAME["a"] > 10)[::-1]]
    # An index of something else says nothing.
    assert len(table[FRAME["a"] > 10]) == 4


def test_what_stands_beside_attributions_in_another_order():
    X = FRAME.set_axis(list("hgfedc"))
    beside = pandas.Series(np.arange(6.0), index=X.index)
    for name, given in {
        "base": beside,
        "output": beside,
        "target": beside.astype(int),
        "standard_error": X,
        "data": X,
    }.items():
        assay.Explanations.from_array(X, **{name: given})
        with pytest.raises(ValueError, match=f"{name}: expected 'h' as row 1, as in values, found 'c'"):
            assay.Explanations.from_array(X, **{name: given.sort_index()})


MIXED_UP = "expected 'h' as row 1, as in pool, found 'c'"


@pytest.mark.parametrize("counted", [False, True])
def test_what_goes_with_the_pool_in_another_order(counted):
    """A pool with names, and one whose rows pandas counts."""
    pool = FRAME if counted else FRAME.set_axis(list("hgfedc"))
    message = "expected '0' as row 1, as in pool, found '5'" if counted else MIXED_UP
    model = assay.wrap(lambda rows: rows["a"] * rows["b"] + rows["a"])
    options = {"model": model, "X": pool[:3], "pool": pool}
    own = assay.explain(model, pool[:3], "occlusion", pool=pool)
    beside = pandas.DataFrame(assay.explain(model, pool, "occlusion", pool=pool).values, pool.index, FRAME.columns)
    backwards = assay.Explanations.from_array(beside[::-1])
    assert backwards.ids == [str(name) for name in pool.index[::-1]]
    for given in (beside[::-1], backwards):
        for more in ({}, options):
            with pytest.raises(ValueError, match=f"pool_explanations: {message}"):
                assay.evaluate(own, "avg_sensitivity", pool_explanations=given, **more)
            with pytest.raises(ValueError, match=rf"pool_members\[0\]: {message}"):
                assay.aggregate([own], "ava:k=2", pool_members=[given], **more)
    assay.evaluate(own, "avg_sensitivity", pool_explanations=beside)
    assay.aggregate([own], "ava:k=2", pool_members=[beside])
    labels = pandas.Series(np.arange(6.0), index=pool.index)
    for more in ({}, options):
        with pytest.raises(ValueError, match=f"pool_y: {message}"):
            assay.evaluate(own, "complexity", pool_y=labels[::-1], **more)
        assay.evaluate(own, "complexity", pool_y=labels, **more)
    with pytest.raises(ValueError, match=f"pool_y: {message}"):
        assay.study(model, pool[:3], pool=pool, pool_y=labels[::-1], methods="occlusion", aggregators=None)


def test_what_goes_with_counted_rows_in_another_order():
    model = assay.wrap(lambda rows: rows["a"] * rows["b"] + rows["a"])
    own = assay.explain(model, FRAME, "occlusion", pool=FRAME)
    labels = pandas.Series(np.arange(6.0))
    values = pandas.DataFrame(own.values, columns=FRAME.columns)
    message = "expected '0' as row 1, as in {}, found '5'"
    assay.evaluate(own, "complexity", y=labels)
    with pytest.raises(ValueError, match=f"y: {message.format('X')}"):
        assay.evaluate(own, "complexity", y=labels[::-1])
    with pytest.raises(ValueError, match=rf"members\[1\]: {message.format('X')}"):
        assay.aggregate([own, values[::-1]], "mean")
    with pytest.raises(ValueError, match=rf"members\[1\]: {message.format('members.0.')}"):
        assay.aggregate([values, values[::-1]], "mean")
    with pytest.raises(ValueError, match=rf"others\[0\]: {message.format('explanations')}"):
        assay.evaluate(values, "rank_correlation", others=[values[::-1]])
    combined = assay.aggregate([own, own], "mean")
    with pytest.raises(ValueError, match=f"y: {message.format('X')}"):
        assay.evaluate(combined, "complexity", y=labels[::-1])
    study = assay.study(model, FRAME, pool=FRAME, methods="occlusion", criteria="complexity", aggregators=None)
    with pytest.raises(ValueError, match=f"pool_y: {message.format('pool')}"):
        assay.evaluate(study.explanations["occlusion"], "complexity", pool_y=labels[::-1])
    # Arrays have no names: a Series that was shuffled with them is in their order.
    plain = assay.explain(
        assay.wrap(lambda rows: np.asarray(rows)[:, 0]), FRAME.to_numpy(), "occlusion", baseline="zero"
    )
    assay.evaluate(plain, "complexity", y=labels[::-1])


def test_every_argument_that_goes_with_rows_is_known_to_the_check():
    """Whoever adds one must say whether it goes with X or with the pool."""
    import inspect

    from assay import _order

    elsewhere = {"model", "X", "pool", "criteria", "aggregator", "method", "methods", "aggregators", "names", "classes"}
    elsewhere |= {"baseline", "background", "value", "groups", "interval", "seed", "threads", "progress", "options"}
    elsewhere |= {"sample", "pool_sample", "time", "margin", "tie", "retrain", "curves", "variations", "cells", "out"}
    elsewhere |= {"replicates"}
    elsewhere |= {"resume", "overwrite"}
    for function in (assay.explain, assay.evaluate, assay.aggregate, assay.study):
        arguments = set(inspect.signature(function).parameters)
        assert arguments <= elsewhere | set(_order.OF_X) | set(_order.OF_POOL), function


def test_values_of_groups_in_another_order():
    model = assay.wrap(lambda frame: frame["a"] + 10 * frame["b"])
    turned = pandas.Series(["u", "v"] * 3, index=FRAME.index[::-1])
    with pytest.raises(ValueError, match=r"cohort\[0\]: expected '0' as row 1, as in X, found '5'"):
        assay.study(model, FRAME, pool=FRAME, methods="occlusion", aggregators=None, cohort={"who": turned})
