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


def test_columns_that_one_before_them_moves(tmp_path):
    (tmp_path / "m.onnx").write_bytes(onnx_of_casts(1))
    model = assay.load(tmp_path / "m.onnx")
    pool = FRAME.set_axis(["id", "a"], axis=1)
    with pytest.raises(ValueError, match="pool: its column 2 is 'a' where X has 'b'; the model takes columns by pos"):
        assay.explain(model, FRAME[:2], "occlusion", pool=pool, target=0)


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
    message = r"expected '0' as row 1, as in the rows that it was called with, found '.'; .*\.sort_index\(\)"
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
    for name, given in {"base": beside, "output": beside, "target": beside.astype(int), "standard_error": X}.items():
        assay.Explanations.from_array(X, **{name: given})
        with pytest.raises(ValueError, match=f"{name}: expected 'h' as row 1, as in values, found 'c'"):
            assay.Explanations.from_array(X, **{name: given.sort_index()})
