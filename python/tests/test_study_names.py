"""Names in assay.study: of classes that a model only counts, and of rows, which an id column has."""

import numpy as np
import pytest

import assay

QUICK = {"methods": ["occlusion"], "aggregators": "none", "criteria": "complexity", "curves": False}
QUICK |= {"variations": False, "sample": "all"}
FEATURES = [f"x{i}" for i in range(6)]
ROWS = np.random.default_rng(1).normal(size=(60, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def booster(root):
    return assay.load(root / "tests" / "fixtures" / "trees" / "xgboost_binary" / "model.json")


def labels_of(booster, wrong=0):
    """As the booster predicts, but for the first `wrong`."""
    one = (booster.predict(ROWS, progress=False)[:, 0] > 0) == (np.arange(60) >= wrong)
    return np.where(one, "bad", "good")


def test_classes_have_the_names_that_are_said(booster):
    y = labels_of(booster, wrong=3)
    study = assay.study(
        booster, ROWS[:20], y=y[:20], pool=ROWS[20:], pool_y=y[20:], classes=["good", "bad"], target="bad", **QUICK
    )
    assert study.facts["target_names"] == ["good", "bad"] and study.facts["target"] == "bad"
    assert study.facts["accuracy"] == 17 / 20
    assert study.facts["quality"]["classes"] == 2
    # Nothing else knows these names.
    assert booster.classes == ["0", "1"]
    numbers = assay.study(
        booster, ROWS[:20], y=(y[:20] == "bad").astype(int), pool=ROWS[20:], classes=["good", "bad"], **QUICK
    )
    assert numbers.facts["accuracy"] == 17 / 20


def test_labels_that_fit_clearly_name_the_classes(booster):
    y = labels_of(booster, wrong=6)
    study = assay.study(booster, ROWS[:20], y=y[:20], pool=ROWS[20:], pool_y=y[20:], target="bad", **QUICK)
    assert study.facts["target_names"] == ["good", "bad"] and study.facts["accuracy"] == 14 / 20
    note = "the model's class 1 is taken for 'bad': the scores tell so, for 60 rows with a label"
    assert note in study.json["notes"]


def test_labels_that_do_not_fit_clearly_ask_for_names(booster):
    y = labels_of(booster, wrong=28)
    sentence = r"^classes: expected the names of the model's classes '0' and '1', in this order"
    with pytest.raises(ValueError, match=sentence):
        assay.study(booster, ROWS[:20], y=y[:20], pool=ROWS[20:], pool_y=y[20:], **QUICK)


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["a", "b", "c"], "classes: expected 2 names, for the classes '0' and '1' of"),
        (["a", "a"], "classes: expected each name once, found 'a' twice"),
        (["good", "worse"], "y: expected one of the classes"),
        ("good,bad,ugly", "classes: expected 2 names, for the classes '0' and '1' of"),
        (3, "classes: expected names in a list, or in a text joined by commas, found '3'"),
    ],
)
def test_names_that_do_not_fit_are_refused(booster, classes, sentence):
    y = labels_of(booster)
    with pytest.raises(ValueError) as caught:
        assay.study(booster, ROWS[:20], y=y[:20], pool=ROWS[20:], classes=classes, **QUICK)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_names_may_be_one_text(booster):
    y = labels_of(booster)
    study = assay.study(booster, ROWS[:20], y=y[:20], pool=ROWS[20:], classes="good, bad", target="bad", **QUICK)
    assert study.facts["target_names"] == ["good", "bad"] and study.facts["accuracy"] == 1


def test_wrapped_estimators_may_be_renamed_too():
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn is studied")
    from sklearn.linear_model import LogisticRegression

    code = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
    model = assay.wrap(LogisticRegression().fit(ROWS, code))
    words = np.where(code == 1, "high", "low")
    study = assay.study(model, ROWS[:20], y=words[:20], pool=ROWS[20:], pool_y=words[20:], **QUICK)
    assert study.facts["target_names"] == ["low", "high"]


# Columns that name rows ---------------------------------------------------------------------------------------------


def with_ids(cells, name="customer_id"):
    pandas = pytest.importorskip("pandas", reason="the columns of a DataFrame have names")
    return pandas.DataFrame(ROWS, columns=FEATURES).assign(**{name: cells})


SHUFFLED = (1000 + np.random.default_rng(3).permutation(60)).tolist()


@pytest.mark.parametrize("cells", [SHUFFLED, [f"k{cell}" for cell in SHUFFLED]], ids=["numbers", "texts"])
def test_a_column_that_the_model_does_not_take_names_rows(booster, cells):
    frame = with_ids(cells)
    study = assay.study(booster, frame[:20], pool=frame[20:].reset_index(drop=True), **QUICK)
    assert study.facts["features"] == FEATURES
    assert study.explanations["occlusion"].ids == [str(cell) for cell in cells[:20]]
    assert any(note.startswith("column 'customer_id' is taken for the names of rows") for note in study.json["notes"])
    plain = assay.study(booster, frame[FEATURES][:20], pool=frame[FEATURES][20:], **QUICK)
    assert study.explanations["occlusion"].values.tobytes() == plain.explanations["occlusion"].values.tobytes()
    assert plain.json["notes"] == [note for note in study.json["notes"] if "customer_id" not in note]


def test_ids_that_are_given_are_heard(booster):
    frame = with_ids(SHUFFLED)
    study = assay.study(booster, frame[:20], pool=frame[20:], ids=list("abcdefghijklmnopqrst"), **QUICK)
    assert study.explanations["occlusion"].ids[0] == "a"
    assert not any("customer_id" in note for note in study.json["notes"])


def test_what_the_model_takes_stays():
    frame = with_ids(SHUFFLED).assign(risk=np.where(ROWS[:, 0] > 0, "yes", "no"))
    model = assay.train(frame, label="risk")
    study = assay.study(model, frame[:20], pool=frame[20:], **QUICK)
    assert study.facts["features"] == [*FEATURES, "customer_id"]
