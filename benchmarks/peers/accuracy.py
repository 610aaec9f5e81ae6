"""Accuracy for equal cost: squared error against exact Shapley values for a number of model evaluations."""

import dataclasses
import time

import games
import numpy as np
from estimators import KERNEL, PERMUTATIONS, our_estimators, peers
from games import Play
from harness import ROUNDS, Row, Table, Workload

# Which estimator was adopted, and what it replaced.
ADOPTED = """
Adopted for this comparison: Kernel SHAP with interactions, a Gaussian process on the odd part of the game that is
chosen row by row where it predicts left-out pairs better ([kernel_shap](methods/kernel_shap.md)); RegressionMSR had
less error than the additive regression from 1,024 to 2,048 evaluations on. And players that are the reference's own are
left out, as SHAP does. `additive` is the published regression. All our samples are in complementary pairs, so there is
no plain form; what pairs bring can be seen in shapiq's figures with and without them. `kernel` and `leverage` say how
pairs are shared out to sizes. Beyond 8,194 samples kernel_shap takes no more, since it cannot fit interactions to them,
and says so in a note."""

TEXT = f"""Mean squared error against exact Shapley values, relative to the mean of their squares, for a budget of model
evaluations. The exact values are sums over all coalitions in float64. A budget counts every evaluation, those of the
empty and the full coalition and those made twice as well; each estimator has the largest setting that stays within it,
and its evaluations are counted. Peers play on a table of all coalitions' values, so their seconds are without the
model's; Assay's are with it.

Each game has 15 rows (6 in a quick run), and every estimator {ROUNDS} seeds for each, fewer where a run is slow: at
least {ROUNDS} runs of different rows and seeds. A peer is compared over the rows and seeds that it ran. Ours is worse
where its error is above the peer's by more than two standard errors of the difference over rows. Errors below 1e-9
count as none: that is what float32 leaves. A seed that kernel_shap refuses, since its sample does not determine the
values, is a miss. kernel_shap at its defaults stands against estimators that sample coalitions, shapley_sampling
against those that sample orders. SHAP's explainers and kernel_shap see which cells are the reference's own, and
play a smaller game in the rows of the ensemble; quick runs leave out what is slow.

RegressionMSR without a library's name is our code after Witter, Liu and Musco (2025), without folds. shapiq's own, its
OddSHAP and its ProxySHAP (a booster fitted to the sample; `adjusted` by what the sample says of the rest) are in
versions for Python 3.12 and later, and not in runs with the pins for 3.11.
{ADOPTED}"""

NOTHING = 1e-9


@dataclasses.dataclass
class Found:
    """What an estimator did with a budget: squared errors and seconds by (row, seed)."""

    squares: dict = dataclasses.field(default_factory=dict)
    seconds: list = dataclasses.field(default_factory=list)
    evaluations: int = 0
    refused: int = 0  # seeds whose sample does not determine the values


def add(found, game, row, seed, values, evaluations, seconds, budget):
    if evaluations > budget:
        raise RuntimeError(f"{evaluations} evaluations with a budget of {budget}")
    found.squares[row, seed] = float(np.sum((np.asarray(values, dtype=np.float64) - game.exact[row]) ** 2))
    found.evaluations = max(found.evaluations, evaluations)
    found.seconds.append(seconds)


def relative_error(game, squares, tasks):
    return sum(squares[task] for task in tasks) / sum(np.sum(game.exact[row] ** 2) for row, _ in tasks)


def runs_of(estimator, budget, rows, quick):
    """How many runs a peer has: all of them, or as many as take about a second, and in a quick run none of a slow
    one."""
    fixed, each = estimator.cost
    seconds = fixed + each * budget
    if quick and seconds > 0.1:
        return 0
    return max(ROUNDS, min(rows * ROUNDS, int((0.1 if quick else 1) / seconds)))


def run_ours(estimator, game, budget, seed, found):
    """All rows in one call, as they are explained in practice: they share a sample."""
    begin = time.perf_counter()
    try:
        made = estimator.run(game, budget, seed)
    except ValueError as reason:
        if "do not determine" not in str(reason):
            raise
        found.refused += 1
        return
    if made is None:
        return
    values, evaluations = made
    seconds = (time.perf_counter() - begin) / len(game.rows)
    for row in range(len(game.rows)):
        add(found, game, row, seed, values[row], evaluations, seconds, budget)


def run_peer(estimator, game, budget, task, found):
    row, seed = task
    play = Play(game, row)
    begin = time.perf_counter()
    values = estimator.run(play, budget, seed * 1000 + row)
    if values is not None:
        add(found, game, row, seed, values, play.evaluations, time.perf_counter() - begin, budget)


def measure(game, budget, ours, others, quick):
    """Every estimator in turn, one run each after the other."""
    found = {estimator.name: Found() for estimator in ours + others}
    rows = len(game.rows)
    runs = {estimator.name: runs_of(estimator, budget, rows, quick) for estimator in others}
    for number in range(rows * ROUNDS):
        # Along the diagonal, so that few runs have different rows and different seeds.
        task = number % rows, (number + number // rows) % ROUNDS
        if number < ROUNDS:
            for estimator in ours:
                run_ours(estimator, game, budget, number, found[estimator.name])
        for estimator in others if number % 2 == 0 else reversed(others):
            if number < runs[estimator.name]:
                run_peer(estimator, game, budget, task, found[estimator.name])
    return found


def compared(game, budget, peer, ours, theirs):
    tasks = [task for task in theirs.squares if task in ours.squares]
    mean_square = np.mean([np.sum(game.exact[row] ** 2) for row, _ in tasks])
    by_row = {}
    for row, seed in tasks:
        difference = (ours.squares[row, seed] - theirs.squares[row, seed]) / mean_square
        by_row.setdefault(row, []).append(difference)
    means = np.array([np.mean(each) for each in by_row.values()])
    spread = float(means.std(ddof=1) / np.sqrt(len(means)))
    our_error, peer_error = (relative_error(game, each.squares, tasks) for each in (ours, theirs))
    return Row(
        f"accuracy: {game.name}, {budget:,} evaluations, a row",
        peer.name,
        theirs.seconds,
        ours.seconds,
        bar="error not above the peer's",
        holds=bool(our_error <= max(peer_error, NOTHING) + 2 * spread and not ours.refused),
        more={
            "peer_error": peer_error,
            "assay_error": our_error,
            "difference_standard_error": spread,
            "runs": len(tasks),
            "assay_refused": ours.refused,
            "peer_evaluations": theirs.evaluations,
            "assay_evaluations": ours.evaluations,
        },
    )


def table(game, budgets, estimators, results):
    lines, facts = [], {}
    for estimator in estimators:
        cells = []
        for budget in budgets:
            found = results[budget][estimator.name]
            error = relative_error(game, found.squares, list(found.squares)) if found.squares else None
            cells.append("-" if error is None else f"{error:.1e}")
            facts.setdefault(estimator.name, {})[budget] = {
                "error": error,
                "evaluations": found.evaluations,
                "runs": len(found.squares),
                "refused": found.refused,
            }
        lines.append([estimator.name, *cells])
    return Table(
        f"Relative squared error by evaluations: {game.name}, {game.players} players",
        ["estimator", *(f"{budget:,}" for budget in budgets)],
        lines,
        facts=facts,
    )


def budgets_of(game, quick):
    if quick:
        return [64, 512, 2048]
    # From where most samples determine a regression, to half of all coalitions of 14 players, an eighth of those of 17.
    return [2**power for power in range(6, 14 if game.players == 14 else 15)]


def check_all_coalitions(estimators):
    """With all coalitions these estimators are exact, whatever the game."""
    values = np.random.default_rng(6).standard_normal((1, 64))
    game = games.Game("noise", None, {}, np.ones((1, 6)), np.zeros(6), values, games.shapley_values(values))
    for estimator in estimators:
        if estimator.exact_with_all:
            np.testing.assert_allclose(estimator.run(Play(game, 0), 64, 0), game.exact[0], atol=1e-6)


def run(settings):
    ours, others = list(our_estimators()), peers()
    check_all_coalitions(others)
    adopted = {"coalitions": KERNEL, "permutations": PERMUTATIONS}
    for make in (games.adult_network, games.network_of_17, games.adult_booster):
        game = make(settings, 6 if settings.quick else 15)
        budgets = budgets_of(game, settings.quick)
        warm_up = min(budgets)
        for estimator in ours:
            run_ours(estimator, game, warm_up, 0, Found())
        for estimator in others:
            estimator.run(Play(game, 0), warm_up, 0)
        results = {budget: measure(game, budget, ours, others, settings.quick) for budget in budgets}
        for budget, found in results.items():
            for peer in others:
                mine, theirs = found[adopted[peer.family]], found[peer.name]
                if mine.squares and theirs.squares:
                    yield compared(game, budget, peer, mine, theirs)
        yield table(game, budgets, ours + others, results)


WORKLOADS = [Workload("accuracy", "Accuracy for equal cost", run, TEXT)]
