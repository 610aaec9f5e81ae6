"""Explanations.reasons and Study.reasons: the columns, what they are against, and what is refused."""

import json

import numpy as np
import pytest

import assay

pandas = pytest.importorskip("pandas")

COLUMNS = ["rank", "feature", "value", "direction", "attribution", "share", "certainty", "order_certainty"]


@pytest.fixture(scope="module")
def two():
    """Two classes of iris: rows, a pool and a model of a known kind."""
    table = assay.dataset("iris").to_pandas()
    table = table[table["species"] != "setosa"].reset_index(drop=True)
    X = table.drop(columns="species")
    X["colour"] = pandas.Categorical(np.where(np.arange(len(X)) % 3 == 0, "blue", "<b>red</b>"))

    def margin(rows):
        other = np.where(rows["colour"].astype(str) == "blue", 0.5, -0.2)
        return np.asarray(rows["petal_length"] * rows["petal_width"] - 8 + other, dtype=np.float32)

    model = assay.wrap(margin)
    return model, X.iloc[::10].reset_index(drop=True), X


def test_a_draw_has_replicates_made_for_it(two):
    model, rows, pool = two
    e = assay.explain(model, rows, "exact_shapley", pool=pool, background="pool:20", seed=3)
    assert e.replicates is None and e.provenance["draw"] == "background"
    reasons = e.reasons(top=2, replicates=300)
    frame = reasons.to_pandas()
    assert list(frame.columns[:9]) == ["row", *COLUMNS]
    assert reasons.replicates == 300 and frame["certainty"].between(0, 1).all()
    assert any("another draw of the background's rows" in note for note in reasons.notes)
    # The same as with replicates that were made before, and counted by hand.
    kept = assay.explain(model, rows, "exact_shapley", pool=pool, background="pool:20", seed=3, replicates=300)
    assert kept.replicates.shape == (len(rows), 300, 5)
    pandas.testing.assert_frame_equal(kept.reasons(top=2).to_pandas(), frame)
    for row, group in frame.groupby("row"):
        order = np.argsort(kept.replicates[row], axis=1)[:, :2]
        for line in group.itertuples():
            j = e.features.index(line.feature)
            assert line.attribution == pytest.approx(float(e.values[row, j]), rel=1e-6)
            named = (order == j) & (np.take_along_axis(kept.replicates[row], order, axis=1) < -1e-5)
            assert line.certainty == pytest.approx(named.any(axis=1).mean(), abs=1e-9)
    assert len(reasons) == len(frame) and next(iter(reasons))["feature"] == frame["feature"][0]
    assert set(reasons.uncertain(1.0)) == set(frame["row"][frame["certainty"] < 1])
    # Some of the rows keep their replicates, and files do.
    assert kept[2:4].replicates.shape == (2, 300, 5)


def test_files_keep_replicates_and_their_reasons(two, tmp_path):
    model, rows, pool = two
    e = assay.explain(model, rows, "exact_shapley", pool=pool, background="pool:20", replicates=50)
    e.save(tmp_path / "e.npz")
    back = assay.Explanations.load(tmp_path / "e.npz")
    np.testing.assert_array_equal(back.replicates, e.replicates)
    assert back.reasons().to_pandas()["certainty"].tolist() == e.reasons().to_pandas()["certainty"].tolist()
    e.save(tmp_path / "e.json")
    without = assay.Explanations.load(tmp_path / "e.json").reasons()
    assert without.to_pandas()["certainty"].isna().all()
    assert any("certainty is not known" in note for note in without.notes)


def test_values_texts_groups_and_what_may_not_be_named(two):
    model, rows, pool = two
    e = assay.explain(model, rows, "exact_shapley", pool=pool, background=pool)
    frame = e.reasons(top=5).to_pandas()
    assert (frame["certainty"] == 1).all()
    for line in frame.itertuples():
        cell = rows[line.feature].iloc[line.row]
        assert line.value == cell if line.feature == "colour" else float(line.value) == pytest.approx(float(cell))
    red = frame[frame["feature"] == "colour"]
    assert (red["text"] == "colour is <b>red</b>").all() and len(red)
    petal = frame[(frame["feature"] == "petal_width") & (frame["row"] == 0)]["text"].iloc[0]
    assert petal == f"petal_width of {rows['petal_width'][0]:g} is below {pool['petal_width'].mean():.4g}"
    grouped = e.reasons(
        groups={"petal": ["petal_length", "petal_width"]},
        exclude=["colour"],
        template={"against": {"group": "{feature} -> {value}"}},
    ).to_pandas()
    assert set(grouped["feature"].dropna()) == {"petal"}
    assert (grouped["withheld"] == "colour").any()
    assert grouped["text"][0].startswith("petal -> petal_length ")
    favour = e.reasons(direction="for").to_pandas()
    assert (favour["attribution"] > 0).all() and (favour["direction"] == "for").all()


def test_shown_and_saved(two, tmp_path):
    model, rows, pool = two
    reasons = assay.explain(model, rows, "exact_shapley", pool=pool, background=pool).reasons()
    assert repr(reasons).startswith("reasons against: 10 rows, at most 3 each")
    page = reasons._repr_html_()
    assert "<b>red" not in page and "&lt;b&gt;red" in page
    reasons.save(tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert [line["row"] - 1 for line in document["reasons"]] == reasons.to_pandas()["row"].tolist()
    reasons.save(tmp_path / "r.csv")
    assert len(pandas.read_csv(tmp_path / "r.csv")) == len(reasons)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"top": 0}, "top: expected 1 or more, found 0"),
        ({"top": "three"}, "top: expected a whole number"),
        ({"direction": "up"}, "direction: expected against or for, found 'up'"),
        ({"exclude": "colour"}, "exclude: expected a list of features"),
        ({"exclude": ["color"]}, "exclude: expected names of features, found 'color'"),
        ({"groups": {"a": ["nobody"]}}, "groups, group 'a': expected columns of the rows, found 'nobody'"),
        ({"groups": ["a"]}, "groups: expected a dict, found list"),
        ({"template": {"against": "{vlaue}"}}, "template, 'against': expected {feature}"),
        ({"background": "approved"}, "background approved: expected a classifier"),
        ({"background": "everything"}, "background: expected"),
        ({"replicates": -1}, "replicates: expected a whole number"),
    ],
)
def test_refuses(two, arguments, expected):
    model, rows, pool = two
    e = assay.explain(model, rows, "exact_shapley", pool=pool)
    with pytest.raises(ValueError) as problem:
        e.reasons(**arguments)
    assert str(problem.value).startswith(expected)


def test_explanations_made_elsewhere_have_reasons_without_certainty():
    e = assay.Explanations.from_array([[-1.0, 2.0, -3.0]], features=["a", "b", "c"], base=1.0, output=-1.0)
    frame = e.reasons(top=2).to_pandas()
    assert frame["feature"].tolist() == ["c", "a"] and frame["certainty"].isna().all()
    assert frame["share"].tolist() == [1.5, 0.5]
    with pytest.raises(ValueError, match="made in this process"):
        e.reasons(background="pool:5")


@pytest.fixture(scope="module")
def study():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    model = assay.train(train)
    return assay.study(
        model,
        test,
        pool=train,
        target="virginica",
        methods=["exact_shapley", "integrated_gradients", "gradient"],
        margin=0.9,  # all are faithful, so that they can agree
        aggregators=[],
        curves=False,
        variations=False,
    )


def test_a_study_takes_what_it_recommends_and_its_whole_pool(study):
    reasons = study.reasons(top=2)
    recommended = study.advice["recommended"]["overall"]["explanation"]
    assert reasons.notes[0] == f"reasons are by {recommended}, which the study recommends"
    assert reasons.notes[1].startswith("they are against all 120 rows of")
    frame = reasons.to_pandas()
    assert (frame["certainty"] == 1).all() and frame["agreement"].between(0, 1).all()
    approved = study.reasons(top=2, background="approved")
    assert "predicted to be virginica" in approved.notes[1]
    named = study.reasons(explanation="integrated_gradients", background="pool:30", replicates=50)
    assert named.replicates == 50 and named.notes[0] == "reasons are by integrated_gradients, as asked"
    with pytest.raises(ValueError, match="explanation: expected one of exact_shapley"):
        study.reasons(explanation="lime")


def test_a_study_from_a_folder_says_how_to_get_reasons(study, tmp_path):
    study.save(tmp_path / "kept")
    with pytest.raises(ValueError, match="assay reasons FOLDER"):
        assay.Study.load(tmp_path / "kept").reasons()
