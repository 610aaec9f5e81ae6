"""assay.study(cohort=...) and Study.cohorts: names, lists and arrays, against NumPy; what is refused."""

import numpy as np
import pytest

import assay

QUICK = {"methods": ["occlusion", "exact_shapley"], "aggregators": "none", "curves": False, "variations": False}
QUICK |= {"criteria": "faithfulness,complexity,avg_sensitivity", "sample": "all"}
ROWS = np.random.default_rng(5).normal(size=(120, 3)).astype(np.float32)
SEX = np.where(np.arange(120) % 2 == 0, "f", "m")


def value(rows):
    rows = np.asarray(rows, np.float32)
    return np.tanh(rows @ np.array([1, -2, 0.5], np.float32)) + rows[:, 0] * rows[:, 1]


def studied(X=ROWS, **more):
    y = value(X) + np.where(SEX == "f", 2, 0.1) * np.random.default_rng(6).normal(size=120)
    return assay.study(assay.wrap(value), X, pool=X, y=y, **QUICK, **more)


def test_a_dict_of_values_groups_the_rows():
    missing = [None if row < 40 else row % 3 == 0 for row in range(120)]
    study = studied(cohort={"sex": SEX, "third": missing, "number": np.arange(120.0)})
    by = {column: [one for one in study.cohorts if one["column"] == column] for column in ("sex", "third", "number")}
    assert [(one["name"], one["rows"]) for one in by["sex"]] == [("f", 60), ("m", 60)]
    assert [one["name"] for one in by["third"]] == ["False", "True", "missing"]
    assert [one["name"] for one in by["number"]] == ["up to 29", "above 29, up to 59", "above 59, up to 89", "above 89"]
    best = study.advice["recommended"]["overall"]["explanation"]
    scores = study.scores[best]["faithfulness"].values
    sizes = np.abs(study.explanations[best].values.astype(float))
    for one in by["sex"]:
        own = one["name"] == SEX
        assert one["faithfulness"]["mean"] == pytest.approx(np.nanmean(scores[own]), rel=1e-9)
        shares = sizes[own].sum(axis=0) / sizes[own].sum()
        assert sorted((driver["share"] for driver in one["drivers"]), reverse=True) == pytest.approx(
            sorted(shares, reverse=True), rel=1e-6
        )
    # The errors of the first sex are twenty times as large.
    errors = next(one for one in by["sex"][0]["differences"] if one["measure"] == "squared_error")
    assert errors["different"] and errors["difference"] > 0
    assert "Groups of rows" in study.groups() and "mean squared error" in study.groups()


def test_names_of_columns_and_a_table_of_groups():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
    study = studied(frame, cohort="b")
    assert {one["column"] for one in study.cohorts} == {"b"}
    table = study.cohorts_to_pandas()
    assert table.index.names == ["column", "group"] and list(table["rows"]) == [30] * 4
    assert table["faithfulness"].notna().all() and table["auc"].isna().all() and set(table["driver"]) <= {"a", "b", "c"}
    assert list(table.columns)[-1] == "different"


def test_a_loaded_study_has_its_groups(tmp_path):
    study = assay.study(
        "iris", cohort=["species", "prediction"], methods="occlusion", aggregators="none", out=tmp_path / "s"
    )
    again = assay.Study.load(tmp_path / "s")
    assert again.cohorts == study.cohorts and again.groups() == study.groups()
    names = {
        column: [one["name"] for one in study.cohorts if one["column"] == column]
        for column in ("prediction", "species")
    }
    assert names["prediction"][0] == "right" and names["species"] == ["setosa", "versicolor", "virginica"]
    assert "prediction" in dict(study.facts["settings"])["arguments"]


@pytest.mark.parametrize(
    ("cohort", "sentence"),
    [
        ("z", r"cohort: expected a column of X, 'prediction' or 'label', found 'z'|cohort: expected a column of X \("),
        ("predicton", "did you mean 'prediction'"),
        ("prediction", "cohort: expected a model of classes and rows with labels for 'prediction', found a model"),
        ([], "found an empty list"),
        ({}, "expected at least one name"),
        (3, "expected the name of a column, a list of names or a dict of names and values, found int"),
        ({"sex": SEX[:7]}, "cohort 'sex': expected one value for each of 120 rows, found 7"),
        ([3], "expected names of columns, found 3"),
        ({"sex": np.zeros((120, 2))}, "cohort 'sex': expected one"),
    ],
)
def test_what_is_refused(cohort, sentence):
    with pytest.raises(ValueError, match=sentence):
        studied(cohort=cohort)


def test_a_resumed_study_must_have_the_same_groups(tmp_path):
    studied(cohort={"sex": SEX}, out=tmp_path / "s")
    same = studied(cohort={"sex": SEX}, out=tmp_path / "s", resume=True)
    assert {one["column"] for one in same.cohorts} == {"sex"}
    with pytest.raises(ValueError, match="cohort"):
        studied(cohort={"sex": SEX[::-1]}, out=tmp_path / "s", resume=True)
