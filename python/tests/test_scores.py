"""Scores, evaluations and catalogues, against what NumPy makes of the same numbers."""

import pickle

import numpy as np
import pytest

import assay
from assay import _scores

HOSTILE = "<script>\x1b[2J\u202e\n"


@pytest.fixture(scope="module")
def explained():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    return assay.explain(assay.train(train), test, "kernel_shap", pool=train)


@pytest.fixture(scope="module")
def evaluation(explained):
    return assay.evaluate(explained, ["complexity", "faithfulness"])


def entropy(values):
    share = np.abs(values) / np.abs(values).sum(axis=1, keepdims=True)
    return -(share * np.log(share)).sum(axis=1)


def test_scores_are_those_of_the_formula(explained, evaluation):
    scores = evaluation["complexity"]
    expected = entropy(explained.values.astype(np.float64))
    np.testing.assert_allclose(scores.values, expected, rtol=1e-6)
    assert scores.mean == pytest.approx(expected.mean(), rel=1e-6)
    assert scores.error == pytest.approx(expected.std(ddof=1) / np.sqrt(30), rel=1e-6)
    assert float(scores) == scores.mean and scores.interval[0] < scores.mean < scores.interval[1]
    assert len(scores) == 30 and scores.of_rows and scores.coverage == 1 and scores.undefined == {}
    assert scores.direction == "lower" and scores.criterion == "complexity" and scores.standard_error is None
    assert np.shares_memory(np.asarray(scores), scores.values)


def test_undefined_is_counted():
    made = assay.Explanations.from_array([[1.0, 1.0], [0.0, 0.0], [1.0, 3.0]])
    scores = assay.evaluate(made, "complexity")["complexity"]
    # ln 2, none of nothing, and 0.25 ln 4 + 0.75 ln (4 / 3).
    expected = [np.log(2), np.nan, 0.25 * np.log(4) + 0.75 * np.log(4 / 3)]
    np.testing.assert_allclose(scores.values, expected, rtol=1e-6)
    assert scores.mean == pytest.approx(np.nanmean(expected), rel=1e-6)
    assert list(scores.undefined.values()) == [1] and scores.coverage == pytest.approx(2 / 3)
    lines = repr(scores).splitlines()
    assert lines[0].startswith("complexity 0.6") and "2 of 3 rows; lower is better" in lines[0]
    assert lines[1].startswith("note: undefined for 1 row: ")


def test_evaluation_is_a_mapping_in_order(explained, evaluation):
    assert list(evaluation) == ["complexity", "faithfulness"] and len(evaluation) == 2
    assert "faithfulness" in evaluation and "lime" not in evaluation
    assert evaluation.explanations is explained and evaluation.left_out == []
    with pytest.raises(KeyError, match="no scores of 'lime'; there are complexity, faithfulness"):
        evaluation["lime"]


def test_evaluation_as_tables(explained, evaluation):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = evaluation.to_pandas()
    assert list(frame.index) == ["complexity", "faithfulness"]
    assert list(frame.columns) == ["mean", "error", "low", "high", "coverage", "direction"]
    assert frame.loc["faithfulness", "mean"] == evaluation["faithfulness"].mean
    assert tuple(frame.loc["complexity", ["low", "high"]]) == evaluation["complexity"].interval
    rows = evaluation.row_scores()
    assert rows.shape == (30, 2)
    np.testing.assert_array_equal(rows["faithfulness"], evaluation["faithfulness"].values)
    one = evaluation["complexity"].to_pandas()
    np.testing.assert_array_equal(one["complexity"], evaluation["complexity"].values)
    assert one["standard_error"].isna().all()


def test_rows_have_their_ids():
    pytest.importorskip("pandas", reason="pandas is not installed")
    made = assay.Explanations.from_array([[1.0, 1.0], [0.0, 2.0]], ids=["x", "y"])
    assert list(assay.evaluate(made, "complexity").row_scores().index) == ["x", "y"]


def test_criteria_of_the_whole_data_set_have_no_rows(explained):
    pytest.importorskip("pandas", reason="pandas is not installed")
    scores = assay.Scores(
        "roar", {}, "higher", np.array([0.5, 0.7]), False, None, {}, 0.6, 0.1, (0.4, 0.8), 1.0, {}, [], 9
    )
    assert repr(scores) == "roar 0.6 +- 0.1 (95 % interval 0.4 to 0.8; 2 of 2 runs; higher is better)"
    evaluation = assay.Evaluation(explained, {"roar": scores}, [])
    assert evaluation.row_scores().shape == (30, 0) and evaluation.to_pandas().shape == (1, 6)


def test_repr_of_an_evaluation(evaluation):
    lines = repr(evaluation).splitlines()
    assert lines[0].startswith("kernel_shap of ")
    assert lines[1].split() == ["criterion", "mean", "95", "%", "interval", "defined", "better"]
    assert lines[2].startswith("complexity ") and " 30 of 30 rows" in lines[2] and lines[2].endswith("lower")
    assert lines[3].startswith("faithfulness ") and lines[3].endswith("higher")
    assert lines[4].startswith("faithfulness: ")
    assert evaluation._repr_html_().count("<tr>") == 3


def test_what_is_left_out_is_said():
    made = assay.Explanations.from_array([[1.0, 1.0], [0.0, 2.0]])
    evaluation = assay.evaluate(made)
    assert list(evaluation) == ["complexity"] and len(evaluation.left_out) == 3
    assert repr(evaluation).count("left out: ") == 3 and evaluation._repr_html_().count("left out: ") == 3


def test_hostile_text_is_harmless(explained):
    table = _scores.ScoreTable(HOSTILE, [HOSTILE], [[1.0]], [HOSTILE])
    number = np.array([1.0])
    scores = assay.Scores(
        HOSTILE, {}, "lower", number, True, None, {HOSTILE: 1}, 1.0, np.nan, (np.nan,) * 2, 1.0, {}, [HOSTILE], 0
    )
    evaluation = assay.Evaluation(explained, {HOSTILE: scores}, [HOSTILE])
    for shown, count in ((table, 3), (scores, 3), (evaluation, 6)):
        assert len(repr(shown).splitlines()) == count
        assert not {"\x1b", "\u202e"} & set(repr(shown) + shown._repr_html_())
        assert "<script" not in shown._repr_html_() and "&lt;script" in shown._repr_html_()


def test_tables(explained):
    scores = assay.evaluate(explained, "sensitivity_n")["sensitivity_n"]
    assert scores.tables
    for name, table in scores.tables.items():
        assert table.name == name and {len(row) for row in table.rows} == {len(table.columns)}
        assert len(repr(table).splitlines()) == 2 + len(table.rows)
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns and frame.to_numpy().tolist() == table.rows
    labelled = _scores.ScoreTable("t", ["x"], [[1.0], [2.0]], ["a", "b"])
    assert list(labelled.to_pandas().index) == ["a", "b"]
    assert repr(labelled) == "t\n   x\na  1\nb  2"


def test_they_can_be_pickled(evaluation):
    again = pickle.loads(pickle.dumps(evaluation))
    assert repr(again) == repr(evaluation)
    np.testing.assert_array_equal(again["complexity"].values, evaluation["complexity"].values)


@pytest.mark.parametrize("kind", ["methods", "criteria", "aggregators"])
def test_catalogues(kind):
    catalogue = getattr(assay, kind)()
    assert len(catalogue) == len(catalogue.names) == len(set(catalogue.names)) > 5
    assert [each.name for each in catalogue] == catalogue.names and catalogue[0] is catalogue[catalogue.names[0]]
    assert catalogue.names[1] in catalogue and "nothing" not in catalogue and catalogue[-1] in catalogue
    assert [each.name for each in catalogue[1:3]] == catalogue.names[1:3]
    assert [line.split()[0] for line in repr(catalogue).splitlines()] == ["name", *catalogue.names]
    assert catalogue._repr_html_().count("<tr>") == len(catalogue) + 1
    with pytest.raises(KeyError, match=f"'nothing' is none of the {kind}: {catalogue.names[0]}, "):
        catalogue["nothing"]
    with pytest.raises(IndexError):
        catalogue[len(catalogue)]
    for each in catalogue:
        assert each.title in repr(each) and each.citation in repr(each) and each.cost in repr(each)
        for option in each.options:
            assert option.name and option.meaning and option.meaning in repr(each)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = catalogue.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == catalogue.names
    assert list(frame["title"]) == [each.title for each in catalogue]


def test_an_entry_says_how_it_is_called():
    lime = assay.methods()["lime"]
    assert [option.name for option in lime.options] == ["samples", "width", "ridge"]
    assert lime.options[0].default == "2048" and lime.sampled and lime.uses_reference and not lime.complete
    assert lime.family == "" and lime.needs == ()
    assert assay.criteria()["faithfulness"].direction == "higher"
    assert "labels" in assay.criteria()["roar"].needs
    assert assay.aggregators()["mean"].guarantee in repr(assay.aggregators()["mean"])
