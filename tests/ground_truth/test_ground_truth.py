"""Methods and criteria against attributions that are known in closed form (benchmarks/peers/truth_models.py)."""

import numpy as np
import pytest
import truth_advice
import truth_models
import truth_trials
from truth_models import Piece, TruthModel

LINEAR = ("linear", "correlated", "shared")
ALL = tuple(maker.__name__ for maker in truth_models.MAKERS)
NETWORKS = tuple(name for name in ALL if name != "trees")
COMPLETE_PATHS = ("integrated_gradients", "deeplift", "deeplift_reveal_cancel")

# Where the definition of a method gives the truth, and how near its arithmetic must come.
RIGHT = [
    *[("exact_shapley", model, 1e-5) for model in ALL],
    *[("kernel_shap", model, 1e-5) for model in ALL],  # 2048 samples are all coalitions
    *[(method, model, 1e-5) for method in (*COMPLETE_PATHS, "occlusion") for model in LINEAR],
    *[(method, "additive", 1e-5) for method in ("deeplift", "deeplift_reveal_cancel", "occlusion")],
    # An order and its reverse give pairs their exact halves; the product of three in `interaction` is beyond that.
    *[("shapley_sampling", model, 1e-5) for model in ALL if model != "interaction"],
    *[(truth_trials.FEW_SAMPLES, model, 1e-5) for model in (*LINEAR, "additive")],
    # Polynomials are integrated exactly; kinks only to the order of a step.
    ("integrated_gradients", "interaction", 1e-5),
    ("integrated_gradients", "additive", 5e-3),
    # The ridge of 1 shrinks coefficients by less than a hundredth.
    *[("lime", model, 0.01) for model in (*LINEAR, "additive")],
    ("tree_shap", "trees", 1e-5),
]


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("truth")
    made = {}

    def trial(name):
        if name not in made:
            maker = getattr(truth_models, name)
            made[name] = truth_trials.Trial(truth_models.truth_model(maker, 5, rows=40, pool=80), folder)
        return made[name]

    return trial


def of_pieces(pieces, row, baseline):
    table = np.array([row, row], dtype=np.float64)
    return TruthModel("by hand", "", pieces, table, table, np.array(baseline, dtype=np.float64)).truth()[0]


def test_truths_by_hand():
    # 2 * 3 * 5 = 30, shared by two; 4 * tanh(2) - 4 * tanh(1); a gate that only both open: relu(1 + 1 - 1) = 1.
    np.testing.assert_allclose(of_pieces([Piece("product", {0: 1, 1: 1}, 0, 2)], [3, 5], [0, 0]), [15, 15])
    np.testing.assert_allclose(
        of_pieces([Piece("tanh", {1: 1}, 0, 4)], [9, 2], [9, 1]), [0, 4 * np.tanh(2) - 4 * np.tanh(1)]
    )
    np.testing.assert_allclose(of_pieces([Piece("relu", {0: 1, 1: 1}, -1)], [1, 1], [0, 0]), [0.5, 0.5])
    # relu(2 + 1 - 1) = 2, alone relu(2 - 1) = 1 and 0: (1 + 2) / 2 and (0 + 1) / 2.
    np.testing.assert_allclose(of_pieces([Piece("relu", {0: 1, 1: 1}, -1)], [2, 1], [0, 0]), [1.5, 0.5])
    assert of_pieces([Piece("cancelled", {0: 1, 1: 1, 2: 1}, 0, 3)], [1, 2, 3], [0, 0, 0]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ALL)
def test_the_graph_is_the_function(trials, name):
    trial = trials(name)
    found = np.ravel(trial.engine.predict(trial.model.rows))
    np.testing.assert_allclose(found, trial.model.value(trial.model.rows), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("method", "name", "most"), RIGHT)
def test_methods_find_the_truth(trials, method, name, most):
    assert trials(name).error(method) <= most


@pytest.mark.parametrize("name", LINEAR)
def test_slopes_of_linear_models(trials, name):
    trial = trials(name)
    model, signs = trial.model, trial.signs(trial.model.rows)[:, None]
    slopes = signs * np.broadcast_to(model.linear_weights, model.rows.shape)
    for method in truth_trials.SLOPES:
        np.testing.assert_allclose(trial.entries[method].rows.values, slopes, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(trial.entries["gradient_x_input"].rows.values, slopes * model.rows, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["irrelevant", "correlated", "trees"])
def test_unused_features_get_nothing(trials, name):
    trial = trials(name)
    used = {feature for piece in trial.model.pieces for feature in piece.weights}
    unused = [feature for feature in trial.model.irrelevant if feature not in used]
    assert unused
    for method in trial.methods:
        values = np.abs(trial.entries[method].rows.values)
        # Regressions solve for all features at once, so that zeros come out rounded.
        rounded = method.split(":")[0] in ("kernel_shap", "lime")
        assert values[:, unused].max() <= (1e-6 * values.max() if rounded else 0), method


def test_cancelled_features_get_nothing_but_from_deeplift(trials):
    trial = trials("irrelevant")
    for method in trial.methods:
        if not method.startswith("deeplift"):
            assert trial.irrelevant_mass(method) <= 1e-6, method
    # Both rules go by how the network is written, and it is written in two ways.
    assert trial.irrelevant_mass("deeplift") > 1e-3
    assert trial.irrelevant_mass("deeplift_reveal_cancel") > 1e-3


def test_occlusion_counts_products_once_for_every_factor(trials):
    # Without one factor nothing is left: the whole product for each of two or three, whose shares are 1/2 and 1/3.
    trial = trials("interaction")
    values = trial.entries["occlusion"].rows.values
    np.testing.assert_allclose(values[:, [1, 3]], 2 * trial.truth[:, [1, 3]], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values[:, [4, 5, 6]], 3 * trial.truth[:, [4, 5, 6]], rtol=1e-4, atol=1e-5)


def test_slopes_do_not_see_what_is_saturated(trials):
    trial = trials("saturation")
    beyond = np.column_stack(
        [piece.value(trial.model.rows.astype(np.float64)) == 0 for piece in trial.model.pieces[:6]]
    )
    assert beyond.mean() > 0.5
    assert np.abs(trial.truth[:, :6][beyond]).min() > 0.1
    for method in ("gradient", "gradient_x_input"):
        assert not trial.entries[method].rows.values[:, :6][beyond].any()


@pytest.mark.parametrize("name", ALL)
def test_faithfulness_ranks_by_truth(trials, name):
    trial = trials(name)
    criteria = ["faithfulness", "faithfulness:subset=4", "sensitivity_n", "infidelity"]
    scores = trial.scores(criteria)
    errors = {entry: trial.direction_error(entry) for entry in trial.entries}
    for criterion in criteria:
        of = {entry: scores[entry][criterion] for entry in trial.entries}
        assert of["truth"] > of["random"] > of["flipped"], criterion
        assert of["truth"] > of["permuted"], criterion
        if criterion != "infidelity":
            assert truth_trials.tau(of, errors, truth_trials.LADDER) == 1, criterion


@pytest.mark.parametrize("name", [*LINEAR, "additive"])
def test_criteria_are_perfect_where_effects_add_up(trials, name):
    # Removing a set costs the sum of its effects: correlations of 1, squared gaps of 0, and attributions that add up.
    trial = trials(name)
    scores = trial.scores(["faithfulness", "sensitivity_n", "infidelity", "compatibility:form=gap"])
    for entry in ("truth", "exact_shapley", "occlusion", "deeplift"):
        of = scores[entry]
        assert of["faithfulness"] == pytest.approx(1, abs=1e-5)
        assert of["sensitivity_n"] == pytest.approx(1, abs=1e-5)
        assert of["infidelity"] == pytest.approx(0, abs=1e-9)
        assert of["compatibility:form=gap"] == pytest.approx(0, abs=1e-4)
    assert scores["flipped"]["faithfulness"] == pytest.approx(-1, abs=1e-5)


@pytest.mark.parametrize("name", ["interaction", "gates", "trees"])
def test_large_subsets_rank_methods_as_the_truth_does(trials, name):
    """What features do together shows when half of them are removed, and not when one is."""
    trial = trials(name)
    scores = trial.scores(["faithfulness:subset=1", "faithfulness:subset=4"])
    errors = {entry: trial.direction_error(entry) for entry in trial.entries}
    small, large = (
        truth_trials.tau({entry: of[criterion] for entry, of in scores.items()}, errors, trial.ranked)
        for criterion in ("faithfulness:subset=1", "faithfulness:subset=4")
    )
    assert large > 0.8
    assert small < large - 0.2


def test_tau_by_hand():
    errors = {"a": 0, "b": 0.005, "c": 0.5, "d": 1}
    # The truth does not tell a from b. Of the five other pairs b-c is a tie, and all others are in its order.
    scores = {"a": 3, "b": 1, "c": 1, "d": 0.5}
    assert truth_trials.tau(scores, errors, "abcd") == pytest.approx(4 / 5)
    # a-c and a-d in its order, b-d and c-d against it.
    assert truth_trials.tau(scores | {"c": 0.2, "b": 0.2}, errors, "abcd") == pytest.approx((2 - 2) / 5)
    # Without d: a-c, and the tie.
    assert truth_trials.tau(scores | {"d": None}, errors, "abcd") == pytest.approx(1 / 2)
    assert truth_trials.tau(scores, errors, "ab") is None


def test_tables_are_whole(tmp_path, monkeypatch, data_dir):
    import ground_truth
    from harness import Run

    monkeypatch.setattr(ground_truth, "MAKERS", (truth_models.linear, truth_models.interaction, truth_models.trees))
    tables = list(ground_truth.measure(Run(True, tmp_path, tmp_path)))
    for table in tables:
        assert table.lines
        assert all(len(line) == len(table.head) for line in table.lines), table.title
    criteria = next(table for table in tables if table.title.startswith("Which criteria"))
    named = {line[1].split(":")[0] for line in criteria.lines}
    assert named == set(ground_truth.FAMILIES)
    assert [table.page for table in tables if table.page != "ground-truth"] == ["benchmarks"]


def test_a_wrong_method_fails_the_run(trials, monkeypatch):
    import ground_truth

    trial = trials("gates")
    ground_truth.check(trial)
    wrong = trial.given(trial.truth * (1 + 1e-4), trial.model.rows)
    monkeypatch.setitem(trial.entries, "exact_shapley", truth_trials.Entry("method", wrong, wrong))
    with pytest.raises(AssertionError, match="exact_shapley of gates"):
        ground_truth.check(trial)


@pytest.mark.parametrize("name", ["linear", "interaction", "gates", "saturation", "irrelevant", "trees"])
def test_the_advice_of_a_study_leads_to_the_truth(name):
    """A smaller form of what `make bench-peers` measures."""
    model = truth_models.truth_model(getattr(truth_models, name), 5, rows=60, pool=120)
    trial = truth_advice.run(model, "baseline", threads=2)
    assert set(trial.recommended) == set(truth_advice.AIMS)
    for aim, (explanation, distance) in trial.recommended.items():
        assert distance <= truth_advice.FAR, (aim, explanation)
    assert trial.recommended["overall"][1] <= trial.best + truth_advice.NEAR
    # By the old rules at least one of the four led away from it on each of these.
    assert max(distance for _, distance in trial.before.values()) > 0.05


def test_bars_can_be_missed():
    facts = {"largest": 0.3, "mean": 0.05, "near": 0.96}
    truth_advice.check_bars(facts)
    for name, bad in {"largest": 0.36, "mean": 0.11, "near": 0.94}.items():
        with pytest.raises(AssertionError):
            truth_advice.check_bars({**facts, name: bad})
