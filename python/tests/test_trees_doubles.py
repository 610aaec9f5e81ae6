"""Trees whose library compares float64 cells: rows are float32 here, and no row may silently end at another leaf."""

import math
import pickle

import numpy as np
import pytest

import assay

pandas = pytest.importorskip("pandas", reason="makes tables of several kinds")


def columns(rows, seed):
    """Columns of float64 numbers that lie close together, each in a way of its own."""
    generator = np.random.default_rng(seed)
    centre = generator.choice([0.1, 1.0, -3.5, 1e-3])
    return {
        "random": generator.random(rows),
        "one ulp apart": centre + np.spacing(centre) * generator.integers(0, 40, rows),
        "beyond 2^24": 2.0**24 + generator.integers(0, 4000, rows),
        "identifiers": 1e9 + generator.integers(0, 300_000, rows),
        "milliseconds": 1.7e12 + generator.integers(0, 30 * 24 * 3600, rows) * 1e3,
    }


def label(x, generator):
    """Jumps in every column, so that leaves are far apart."""
    ranks = np.argsort(np.argsort(x, axis=0), axis=0) / len(x)
    return (np.floor(ranks * 37) % 5).sum(axis=1) + generator.normal(size=len(x))


def compare(model, x, expected):
    """How many rows are right; a refusal must name a row and a column. Anything else fails."""
    try:
        found = model.predict(x, progress=False)[:, 0]
    except ValueError as error:
        assert "row " in str(error)
        assert "column" in str(error)
        assert "between the model's thresholds" in str(error)
        return 0
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    return len(found)


@pytest.mark.parametrize("seed", range(4))
def test_no_row_of_hist_gradient_boosting_differs(seed):
    ensemble = pytest.importorskip("sklearn.ensemble", reason="trains trees")
    generator = np.random.default_rng(100 + seed)
    right, rounded = 0, 0
    for name, column in columns(3000, seed).items():
        x = np.column_stack([column, generator.random(3000)])
        fitted = ensemble.HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=63, min_samples_leaf=2)
        fitted.fit(x, label(x, generator))
        expected = fitted.predict(x)
        rounded += int((np.abs(fitted.predict(x.astype(np.float32).astype(np.float64)) - expected) > 1e-9).sum())
        model = assay.wrap(fitted)
        good = compare(model, x, expected)
        right += good
        # The same rows as a table that has names, and one more kind of each number.
        frame = pandas.DataFrame(x, columns=["a", "b"])
        with_names = assay.wrap(fitted.__class__(max_iter=20, min_samples_leaf=2).fit(frame, label(x, generator)))
        compare(with_names, frame, with_names._model.predict(frame))
        if good and name == "beyond 2^24":
            assert model.check(x.astype(object).astype(np.int64)).holds
    # Plain rounding would have changed rows, and most columns can be had.
    assert rounded > 10
    assert right >= 9000


# A LightGBM file, and what it means, written without LightGBM.


def lightgbm_file(thresholds, leaves):
    """For each tree a chain of branches: x <= t1 ? leaf : x <= t2 ? ..."""
    features = sum(1 for _ in thresholds[0])
    text = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={features - 1}",
        "objective=regression",
        "feature_names=" + " ".join(f"name_{j}" for j in range(features)),
        "feature_infos=" + " ".join(["[-inf:inf]"] * features),
        "",
    ]
    number = 0
    for of_features, values_of_features in zip(thresholds, leaves, strict=True):
        for feature, (ends, values) in enumerate(zip(of_features, values_of_features, strict=True)):
            branches = range(len(ends))
            text += [
                f"Tree={number}",
                f"num_leaves={len(ends) + 1}",
                "num_cat=0",
                "split_feature=" + " ".join(str(feature) for _ in branches),
                "threshold=" + " ".join(repr(float(end)) for end in ends),
                "decision_type=" + " ".join("2" for _ in branches),
                "left_child=" + " ".join(str(~k) for k in branches),
                "right_child=" + " ".join(str(k + 1 if k + 1 < len(ends) else ~len(ends)) for k in branches),
                "leaf_value=" + " ".join(repr(float(value)) for value in values),
                "",
            ]
            number += 1
    return "\n".join([*text, "end of trees", ""])


def by_hand(x, thresholds, leaves):
    """In Python's floats, which are doubles."""
    total = np.zeros(len(x))
    for row, cells in enumerate(x.tolist()):
        for of_features, values_of_features in zip(thresholds, leaves, strict=True):
            for cell, ends, values in zip(cells, of_features, values_of_features, strict=True):
                total[row] += next((v for end, v in zip(ends, values, strict=False) if cell <= end), values[-1])
    return total


@pytest.fixture
def close(tmp_path):
    """A model with thresholds among the cells, the cells and what it says of them."""
    generator = np.random.default_rng(3)
    x = np.column_stack([generator.random(200), 1.7e12 + 1e3 * generator.integers(0, 2_000_000, 200)])
    # Just below, at and just above cells, each of them once: two thresholds around one leave no float32 number for it.
    order = [generator.permutation(200) for _ in range(2)]
    thresholds = [
        [
            sorted({float(np.nextafter(cell, way)) if way else float(cell) for cell, way in picked})
            for picked in (
                [(x[k, j], generator.choice([-math.inf, math.inf, 0])) for k in order[j][15 * t : 15 * t + 15]]
                for j in range(2)
            )
        ]
        for t in range(4)
    ]
    leaves = [[generator.normal(size=len(ends) + 1).tolist() for ends in of_tree] for of_tree in thresholds]
    path = tmp_path / "model.txt"
    path.write_text(lightgbm_file(thresholds, leaves))
    # Among floats the rows would be others.
    expected = by_hand(x, thresholds, leaves)
    assert (np.abs(by_hand(x.astype(np.float32).astype(float), thresholds, leaves) - expected) > 1e-6).sum() > 10
    return path, x, expected


def test_a_file_decides_on_doubles(close, tmp_path):
    path, x, expected = close
    model = assay.load(path)
    frame = pandas.DataFrame(x, columns=["name_0", "name_1"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    np.save(tmp_path / "rows.npy", x)
    kinds = [x, frame, assay.dataset(tmp_path / "rows.csv")]
    pyarrow = pytest.importorskip("pyarrow", reason="an Arrow table")
    kinds.append(pyarrow.table({"name_0": x[:, 0], "name_1": x[:, 1]}))
    for table in kinds:
        np.testing.assert_allclose(model.predict(table)[:, 0], expected, rtol=1e-5, atol=1e-6)
        found = assay.explain(model, table, "tree_shap", background=x[:20])
        np.testing.assert_allclose(found.output, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), expected, rtol=1e-4, atol=1e-5)
    # Kept as a model of ours.
    model.save(tmp_path / "kept.onnx")
    np.testing.assert_allclose(assay.load(tmp_path / "kept.onnx").predict(x)[:, 0], expected, rtol=1e-5, atol=1e-6)


def test_tables_keep_their_doubles(close, tmp_path):
    path, x, expected = close
    pandas.DataFrame(x, columns=["name_0", "name_1"]).to_csv(tmp_path / "rows.csv", index=False)
    table = assay.dataset(tmp_path / "rows.csv")
    model = assay.load(path)
    order = np.random.default_rng(0).permutation(200)
    for other, rows in ((table[order], order), (pickle.loads(pickle.dumps(table[50:])), np.arange(50, 200))):
        np.testing.assert_allclose(model.predict(other)[:, 0], expected[rows], rtol=1e-5, atol=1e-6)
    assert table.to_pandas()["name_0"].dtype == np.float32


def test_where_no_float32_number_stands_for_a_cell(tmp_path):
    thresholds, leaves = [[[1e8 + 0.5, 1e8 + 1.5]]], [[[1.0, 2.0, 4.0]]]
    path = tmp_path / "model.txt"
    path.write_text(lightgbm_file(thresholds, leaves))
    x = np.array([[1e8], [1e8 + 2], [1e8 + 1]])
    model = assay.load(path)
    assert model.predict(x[:2])[:, 0].tolist() == [1, 4]
    expected = "lies with 100000001 between the model's thresholds 100000000.5 and 100000001.5"
    with pytest.raises(ValueError, match=rf"X, row 2 \(counted from 0\), column 'name_0': no float32 .*{expected}"):
        model.predict(x)
    with pytest.raises(ValueError, match=rf"X: row 3: column 'name_0': no float32 .*{expected}"):
        model.predict(pandas.DataFrame(x, columns=["name_0"]))
    # Rows of float32 have no such cell.
    assert model.predict(x.astype(np.float32))[:, 0].tolist() == [1, 1, 1]


# The mean and the median of the times lie between a threshold and the next float32 number, 128 seconds apart.
TIMES = 1.7e9 + np.array([10.0, 20, 40, 90])
CENTRES = {"mean": 1.7e9 + 40, "median": 1.7e9 + 30}


@pytest.mark.parametrize("word", [None, "mean", "median"])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_centre_of_the_pool_takes_the_branches_of_its_doubles(tmp_path, word, side):
    centre = CENTRES[word or "mean"]
    assert np.float32(centre) == 1.7e9
    (tmp_path / "model.txt").write_text(lightgbm_file([[[centre + side]]], [[[1.0, 2.0]]]))
    expected = 1 if side > 0 else 2
    frame = pandas.DataFrame({"name_0": TIMES})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = assay.load(tmp_path / "model.txt")
    for pool in (frame, frame.to_numpy(), assay.dataset(tmp_path / "rows.csv")):
        found = assay.explain(model, pool[:2], "tree_shap", pool=pool, baseline=word)
        assert found.base.tolist() == [expected] * 2
        np.testing.assert_array_equal(found.data, frame[:2])  # the cells, not the numbers that stand for them


def test_the_centre_of_the_pool_of_a_wrapped_estimator():
    ensemble = pytest.importorskip("sklearn.ensemble", reason="trees are scikit-learn's")
    generator = np.random.default_rng(0)
    for _ in range(30):
        x = 1.7e9 + generator.integers(0, 2000, (25, 1)).astype(float)
        fitted = ensemble.HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=1, max_leaf_nodes=3)
        fitted.fit(x, (x[:, 0] > x.mean()) * 2.0 + (x[:, 0] > np.median(x) - 0.5))
        for word, row in (("mean", x.mean(axis=0)), ("median", np.median(x, axis=0))):
            try:
                found = assay.explain(assay.wrap(fitted), x[:1], "tree_shap", pool=x, baseline=word)
            except ValueError as error:
                assert "no float32 number" in str(error)
                continue
            assert found.base[0] == pytest.approx(fitted.predict([row])[0], rel=1e-6)


def test_a_centre_without_a_float32_number_is_refused(tmp_path):
    pool = np.array([[1.7e9 - 48], [1.7e9 + 128]])
    (tmp_path / "model.txt").write_text(lightgbm_file([[[1.7e9 + 39, 1.7e9 + 41]]], [[[1.0, 2.0, 4.0]]]))
    model = assay.load(tmp_path / "model.txt")
    assert model.predict(pool)[:, 0].tolist() == [1, 4]
    with pytest.raises(ValueError, match=r"mean of pool, .*column 'name_0': no float32 number.* with 1700000040 "):
        assay.explain(model, pool[:1], "tree_shap", pool=pool)
    assert assay.explain(model, pool[:1], "tree_shap", baseline="zero").base[0] == 1


def test_spaces_of_names_are_underscores(close):
    path, x, expected = close
    model = assay.load(path)
    frame = pandas.DataFrame(x[:, ::-1], columns=["name 1", "name 0"])
    np.testing.assert_allclose(model.predict(frame)[:, 0], expected, rtol=1e-5, atol=1e-6)
    # A column that has the very name is the one.
    frame["name_0"], frame["name 0"] = frame["name 0"], 0.0
    np.testing.assert_allclose(model.predict(frame)[:, 0], expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="column 'name_1' is missing"):
        model.predict(frame.rename(columns={"name 1": "name-1"}))
