"""Tree models: files of boosters, boosters of other libraries (stood in for by objects that write such files), and
models from arrays of nodes."""

import json
import pathlib
import pickle

import numpy as np
import pytest

import assay
from assay import _core

FIXTURES = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "fixtures" / "trees"
BOOSTERS = [each for each in sorted(FIXTURES.iterdir()) if each.name.startswith(("xgboost", "lightgbm"))]


def golden(name):
    return json.loads((FIXTURES / name / "golden.json").read_text())


def numbers(cells):
    """null is NaN."""
    return np.array([[np.nan if cell is None else cell for cell in row] for row in cells], np.float64)


def model_file(name):
    return next(
        FIXTURES / name / f"model.{each}"
        for each in ("ubj", "json", "txt")
        if (FIXTURES / name / f"model.{each}").exists()
    )


class XGBoostStandIn:
    """What wrap asks of an xgboost.Booster; its scores are those that the library gave when the file was made."""

    def __init__(self, name, shift=0.0):
        self.name = name
        self.shift = shift

    def save_raw(self, raw_format):
        assert raw_format == "ubj"
        return bytearray(model_file(self.name).read_bytes())

    def inplace_predict(self, rows, predict_type):
        assert predict_type == "margin"
        return known_scores(self.name, rows) + self.shift


class LightGBMStandIn:
    def __init__(self, name):
        self.name = name

    def model_to_string(self):
        return model_file(self.name).read_text()

    def predict(self, rows, raw_score):
        assert raw_score
        trees = self.model_to_string().count("\nTree=")
        return known_scores(self.name, rows) * (trees if self.name == "lightgbm_forest" else 1)


def known_scores(name, rows):
    """The recorded scores of these rows, found by what they hold."""
    facts = golden(name)
    table = numbers(facts["rows"])
    margins = np.asarray(facts["margins"], np.float64)
    margins = margins.reshape(len(table), -1)
    places = [next(i for i, each in enumerate(table) if np.array_equal(each, row, equal_nan=True)) for row in rows]
    return margins[places]


class TestFiles:
    @pytest.mark.parametrize("folder", BOOSTERS, ids=lambda each: each.name)
    def test_scores_are_the_library_s(self, folder):
        facts = golden(folder.name)
        rows = assay.dataset(folder / "rows.csv")
        for file in sorted(folder.glob("model.*")):
            model = assay.load(file)
            found = model.check(rows, facts["margins"])
            assert found.holds and float(found) < 1e-5 and found.rows == len(rows)
            assert "trees" in model.capabilities

    def test_check_names_the_row(self):
        model = assay.load(FIXTURES / "xgboost_binary" / "model.json")
        rows = assay.dataset(FIXTURES / "xgboost_binary" / "rows.csv")
        scores = np.asarray(golden("xgboost_binary")["margins"], np.float64).reshape(len(rows))
        scores[3] += 0.5
        found = model.check(rows, scores)
        assert not found.holds and found.row == 3
        assert float(found) == pytest.approx(0.5, abs=1e-6)
        assert found.theirs - found.ours == pytest.approx(0.5, abs=1e-6)
        assert "row 3 (counted from 0)" in str(found)

    def test_check_of_probabilities_of_both_classes(self):
        model = assay.load(FIXTURES / "xgboost_binary" / "model.json")
        rows = assay.dataset(FIXTURES / "xgboost_binary" / "rows.csv")
        margin = np.asarray(golden("xgboost_binary")["margins"], np.float64).reshape(len(rows))
        positive = 1 / (1 + np.exp(-margin))
        assert model.check(rows, np.column_stack([1 - positive, positive]), value="probability").holds
        assert not model.check(rows, np.column_stack([positive, 1 - positive]), value="probability").holds

    def test_check_refuses(self):
        model = assay.load(FIXTURES / "xgboost_binary" / "model.json")
        rows = assay.dataset(FIXTURES / "xgboost_binary" / "rows.csv")
        with pytest.raises(ValueError, match=r"scores: expected those of the model's library, .*, found None"):
            model.check(rows, None)
        with pytest.raises(ValueError, match=r"scores: expected \d+ x 1 number, found shape \(2,\)"):
            model.check(rows, [1, 2])
        with pytest.raises(ValueError, match="scores: expected numbers, found list"):
            model.check(rows, ["a"] * len(rows))

    def test_saved_as_onnx(self, tmp_path):
        model = assay.load(FIXTURES / "lightgbm_categories" / "model.txt")
        rows = assay.dataset(FIXTURES / "lightgbm_categories" / "rows.csv")
        model.save(tmp_path / "model.onnx")
        again = assay.load(tmp_path / "model.onnx")
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        assert "trees" in again.capabilities

    def test_arrays_hold_codes_of_categories(self):
        for name in ("xgboost_categories", "lightgbm_categories"):
            model = assay.load(model_file(name))
            facts = golden(name)
            assert model.check(numbers(facts["rows"]), facts["margins"]).holds
            rows = numbers(facts["rows"])
            feature = int(next(iter(facts["categories"])))
            rows[1, feature] = 99
            with pytest.raises(ValueError, match=r"X, row 1 \(counted from 0\), column .* code .*found 99"):
                model.predict(rows)

    def test_tree_shap_is_the_truth(self):
        facts = golden("lightgbm_binary")
        model = assay.load(model_file("lightgbm_binary"))
        found = assay.explain(
            model,
            numbers(facts["rows"]),
            "tree_shap",
            background=numbers(facts["background"]),
            target=1,
            progress=False,
        )
        truth = np.asarray(facts["exact_interventional"]["values"], np.float64).reshape(found.values.shape)
        np.testing.assert_allclose(found.values, truth, atol=1e-5)


class TestBoosters:
    @pytest.mark.parametrize("folder", BOOSTERS, ids=lambda each: each.name)
    def test_wrapped(self, folder):
        facts = golden(folder.name)
        kind = XGBoostStandIn if folder.name.startswith("xgboost") else LightGBMStandIn
        model = assay.wrap(kind(folder.name))
        rows = numbers(facts["rows"])
        found = model.check(rows)
        assert found.holds and found.rows == len(rows)
        margins = np.asarray(facts["margins"], np.float64).reshape(len(rows), -1)
        np.testing.assert_allclose(model.predict(rows), margins, atol=1e-5)
        assert "trees" in model.capabilities

    def test_difference_is_an_error(self):
        model = assay.wrap(XGBoostStandIn("xgboost_binary", shift=0.01), name="scores")
        rows = numbers(golden("xgboost_binary")["rows"])
        with pytest.raises(ValueError, match=r"model: scores differs from its library: row \d+ of X .* wrap a"):
            model.predict(rows)
        with pytest.raises(ValueError, match="differs from its library"):
            assay.explain(model, rows, "tree_shap", background=rows, progress=False)
        found = model.check(rows)
        assert not found.holds and float(found) == pytest.approx(0.01, rel=1e-3)

    def test_pool_is_compared_too(self):
        rows = numbers(golden("xgboost_binary")["rows"])

        class Odd(XGBoostStandIn):
            def inplace_predict(self, rows, predict_type):
                scores = super().inplace_predict(rows, predict_type)
                return scores + (np.arange(len(rows)) == 4)[:, np.newaxis] if len(rows) > 5 else scores

        with pytest.raises(ValueError, match=r"row 4 of pool \(counted from 0\)"):
            assay.explain(assay.wrap(Odd("xgboost_binary")), rows[:3], "occlusion", pool=rows, progress=False)

    def test_names(self):
        rows = numbers(golden("xgboost_three")["rows"])
        features = [f"f{j}" for j in range(rows.shape[1])]
        model = assay.wrap(XGBoostStandIn("xgboost_three"), classes=["low", "middle", "high"], features=features)
        assert model.classes == ["low", "middle", "high"] and model.features == features
        with pytest.raises(assay.UnsupportedError, match="objective does not say"):
            assay.wrap(XGBoostStandIn("xgboost_three"), classes=["low", "high"])

    def test_probabilities(self):
        rows = numbers(golden("xgboost_binary")["rows"])
        margin = np.asarray(golden("xgboost_binary")["margins"], np.float64).reshape(-1, 1)
        model = assay.wrap(XGBoostStandIn("xgboost_binary"), value="probability")
        assert model.unit == "probability"
        np.testing.assert_allclose(model.predict(rows), 1 / (1 + np.exp(-margin)), atol=1e-6)
        np.testing.assert_allclose(model.predict(rows, value="margin"), margin, atol=1e-5)

    def test_pickled(self):
        rows = numbers(golden("xgboost_binary")["rows"])
        model = assay.wrap(XGBoostStandIn("xgboost_binary"), value="probability")
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        assert again.check(rows).holds

    def test_what_cannot_be_read(self):
        class Linear(XGBoostStandIn):
            def save_raw(self, raw_format):
                return super().save_raw(raw_format)[:100]

        with pytest.raises(assay.UnsupportedError, match="expected trees that can be read, found Linear: "):
            assay.wrap(Linear("xgboost_binary"))

    def test_estimators_around_boosters(self):
        class Estimator:
            """As XGBClassifier after early stopping."""

            missing = np.nan
            classes_ = np.array([0, 1])

            def get_params(self, deep=True):
                return {}

            def get_booster(self):
                return XGBoostStandIn("xgboost_binary")

            def predict(self, rows, output_margin=False):
                return known_scores("xgboost_binary", rows)[:, 0] if output_margin else np.zeros(len(rows), int)

            def predict_proba(self, rows):
                positive = 1 / (1 + np.exp(-np.nan_to_num(rows[:, :1])))
                return np.hstack([1 - positive, positive])

        rows = numbers(golden("xgboost_binary")["rows"])
        model = assay.wrap(Estimator())
        assert model.classes == ["0", "1"] and model.check(rows).holds and model.note.startswith("margins")
        other = Estimator()
        other.missing = -1.0
        black_box = assay.wrap(other)
        assert black_box.note == "explained as a black box: it takes -1.0 for a missing value"
        notes = assay.explain(black_box, rows[:2], "occlusion", baseline=rows[2], progress=False).notes
        assert any("takes -1.0 for a missing value" in note for note in notes)


def stump(**changed):
    """x0 <= 0.5 ? -1 : 2, missing to the left."""
    whole, real = (lambda *cells: np.array(cells, np.int64)), (lambda *cells: np.array(cells, np.float64))
    parts = {
        "modes": whole(0, 7, 7),
        "features": whole(0, 0, 0),
        "thresholds": real(0.5, 0, 0),
        "missing_true": whole(1, 0, 0),
        "true_child": whole(1, 0, 0),
        "false_child": whole(2, 0, 0),
        "first_weight": whole(0, 0, 1),
        "weight_count": whole(0, 1, 1),
        "covers": real(3, 1, 2),
        "weight_targets": whole(0, 0),
        "weight_values": real(-1, 2),
        "set_lengths": whole(),
        "set_members": real(),
        "roots": whole(0),
        "feature_count": 2,
        "targets": 1,
        "base": real(10),
        "aggregate": "sum",
        "link": "none",
        "classification": False,
        "class_names": [],
        "feature_names": ["a", "b"],
        "categories": {},
    }
    return _core.Model.from_trees("stump", **(parts | changed))


class TestArrays:
    def test_scores(self):
        model = stump()
        rows = np.array([[0.5, 0], [0.75, 0], [np.nan, 0]], np.float32)
        data = _core.Dataset.from_matrix(rows, ["a", "b"], "X")
        np.testing.assert_array_equal(model.predict(data, _core.Run(0, 1)), [[9], [12], [9]])

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"modes": np.array([0, 7, 99])}, r"modes\[2\]: expected a number from 0 to 9, found 99"),
            ({"modes": np.array([-1, 7, 7])}, r"modes\[0\]: expected a number from 0 to 9, found -1"),
            ({"features": np.array([0, 0])}, "features: expected 3 numbers, one for each node, found 2"),
            ({"features": np.array([2, 0, 0])}, "feature 2"),
            ({"features": np.array([-1, 0, 0])}, "feature -1"),
            ({"thresholds": np.array([0.5])}, "thresholds: expected 3 numbers"),
            ({"true_child": np.array([3, 0, 0])}, r"true_child\[0\]: expected a number from 0 to 2, found 3"),
            ({"false_child": np.array([-7, 0, 0])}, r"false_child\[0\]: expected a number from 0 to 2, found -7"),
            ({"false_child": np.array([0, 0, 0])}, "stump"),  # a circle
            ({"first_weight": np.array([0, 0, 2])}, r"first_weight\[2\]: expected a number from 0 to 1, found 2"),
            ({"weight_count": np.array([0, 1, 3])}, r"weight_count\[2\]: expected a number from 0 to 2, found 3"),
            ({"weight_count": np.array([0, 1, 2**62])}, r"weight_count\[2\]"),
            ({"covers": np.array([1.0])}, "covers: expected 3 numbers"),
            ({"weight_targets": np.array([0, 1])}, r"weight_targets\[1\]: expected a number from 0 to 0, found 1"),
            ({"weight_values": np.array([1.0])}, "weight_values: expected 2 numbers"),
            ({"set_lengths": np.array([1])}, r"set_lengths\[0\]: expected a number from 0 to 0, found 1"),
            ({"set_members": np.array([1.0])}, "set_members: expected 1 fewer"),
            ({"modes": np.array([9, 7, 7])}, r"thresholds\[0\]: expected one of 0 sets, found 0.5"),
            ({"roots": np.array([3])}, r"roots\[0\]: expected a number from 0 to 2, found 3"),
            ({"feature_count": 0}, "at least one feature"),
            ({"targets": 0}, "targets: expected a number from 1"),
            ({"base": np.array([1.0, 2.0])}, "expected 1 base values, found 2"),
            ({"aggregate": "mode"}, "aggregate: expected one of average, sum, minimum, maximum, found 'mode'"),
            ({"link": "probit"}, "link: expected one of none, .*, found 'probit'"),
            ({"feature_names": ["a"]}, "expected 2 names of features, found 1"),
            ({"feature_names": ["a", "a"]}, "two features are named 'a'"),
            ({"categories": {7: ["x"]}}, "feature 7 has categories, of 2 features"),
            ({"classification": True, "class_names": ["x"]}, "expected 2 names of classes, found 1"),
        ],
        ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
    )
    def test_nothing_is_believed(self, changed, message):
        with pytest.raises(ValueError, match=message):
            stump(**changed)
