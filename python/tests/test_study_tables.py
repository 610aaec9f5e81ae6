"""assay.study of tables as people have them: hostile names, categories, missing cells."""

import numpy as np
import pytest

import assay

QUICK = {"methods": ["occlusion", "lime"], "aggregators": ["mean"], "curves": False}
QUICK |= {"criteria": "faithfulness,complexity,avg_sensitivity"}
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "'; drop --\n\x1b[31m", "plain"]
ROWS = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)


def smooth(rows):
    return np.tanh(rows @ np.array([1, -2, 0.5, 0.25], np.float32)) + rows[:, 0] * rows[:, 1]


def test_hostile_names_stay_text(tmp_path):
    pandas = pytest.importorskip("pandas", reason="names of columns come from a DataFrame")
    frame = pandas.DataFrame(ROWS, columns=HOSTILE, index=[f"<script>alert({i})</script>" for i in range(60)])
    wrapped = assay.wrap(lambda rows: smooth(rows.to_numpy()), name="<script>alert('model')</script>")
    study = assay.study(wrapped, frame[:10], pool=frame, out=tmp_path / "study", **QUICK)
    assert study.facts["features"] == HOSTILE
    for text in (study.report.read_text(), study._repr_html_()):
        assert "<script>alert" not in text and "<img" not in text
    assert "\x1b" not in repr(study) and "\x1b" not in str(study.table())
    loaded = assay.Study.load(tmp_path / "study")
    assert loaded.facts["features"] == HOSTILE and loaded.explanations["lime"].features == HOSTILE


def test_a_pipeline_is_studied_on_its_raw_columns(tmp_path):
    pandas = pytest.importorskip("pandas", reason="the pipeline takes a DataFrame")
    pytest.importorskip("sklearn", reason="a pipeline of scikit-learn is studied")
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    draw = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "age": np.where(draw.random(80) < 0.2, np.nan, draw.normal(40, 10, 80)),
            "colour": pandas.Categorical(draw.choice(["red", "green", "blue"], 80)),
            "visits": draw.integers(0, 9, 80),
        }
    )
    label = np.where((frame["visits"] > 4) ^ (frame["colour"] == "red"), "yes", "no")
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough")
    pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(frame, label)
    study = assay.study(
        assay.wrap(pipeline),
        frame[:12],
        y=label[:12],
        pool=frame,
        pool_y=label,
        baseline="mean",
        out=tmp_path / "study",
        **QUICK,
    )
    assert study.facts["features"] == ["age", "colour", "visits"]
    own = assay.explain(assay.wrap(pipeline), frame[:12], "lime", pool=frame)
    assert study.explanations["lime"].values.tobytes() == own.values.tobytes()
    accuracy = np.mean(pipeline.predict(frame[:12]) == label[:12])
    assert study.facts["accuracy"] == accuracy
    # Other texts behind the same codes are other rows.
    renamed = frame.assign(colour=frame["colour"].cat.rename_categories({"red": "rot"}))
    refit = make_pipeline(columns, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(renamed, label)
    with pytest.raises(ValueError, match="changed since the study"):
        assay.study(
            assay.wrap(refit), renamed[:12], y=label[:12], pool=renamed, pool_y=label, baseline="mean",
            out=tmp_path / "study", resume=True, **QUICK,
        )  # fmt: skip
