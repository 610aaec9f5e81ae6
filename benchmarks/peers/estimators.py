"""Estimators of Shapley values for benchmarks/peers/accuracy.py: what each library does with so many evaluations.

Every estimator is given the largest setting that its own count of evaluations, the empty and the full coalition and
whatever it evaluates twice included, allows; `Play` counts, and a run that takes more than its budget is an error.
"""

import dataclasses
import importlib.metadata
import math
import re

import numpy as np
import shap
import shapiq
import torch
import xgboost
from captum import attr

import assay


@dataclasses.dataclass
class Estimator:
    """`run(play, budget, seed)` of a peer gives values; `run(game, budget, seed)` of ours those of all rows, and the
    evaluations of one; None where the budget is too small. `cost` is a peer's rough seconds for a run and for an
    evaluation, by which slow ones get fewer runs."""

    name: str
    family: str  # "coalitions" or "permutations": which of our methods it is compared with
    run: object
    cost: tuple = (0, 0)
    exact_with_all: bool = True  # coalitions evaluated


# Ours. Labels, methods and options; one that this build does not have is left out, and the run says so.

KERNEL, PERMUTATIONS = "Assay kernel_shap", "Assay shapley_sampling"
VARIANTS = [
    (KERNEL, "kernel_shap", {}),
    (f"{KERNEL}, additive", "kernel_shap", {"interactions": False}),
    (f"{KERNEL}, additive, kernel", "kernel_shap", {"interactions": False, "sampling": "kernel"}),
    (f"{KERNEL}, additive, leverage", "kernel_shap", {"interactions": False, "sampling": "leverage"}),
    (PERMUTATIONS, "shapley_sampling", {}),
    (f"{PERMUTATIONS}, plain", "shapley_sampling", {"antithetic": False}),
]


def missing(method, options):
    """Why this build cannot run a variant; None where it can."""
    known = {option.name: option.range for option in assay.methods()[method].options}
    for name, value in options.items():
        if name not in known:
            return f"{method} has no option {name}"
        if isinstance(value, str) and value not in re.split(r", | or ", known[name]):
            return f"{name} of {method} cannot be {value}"
    return None


def kernel_shap(options):
    def run(game, budget, seed):
        # Below this many samples the regression has fewer pairs than players.
        if budget < 2 * game.players + 2:
            return None
        found = game.explain("kernel_shap", seed, samples=budget, **options)
        return found.values, found.evaluations // len(game.rows)

    return run


def shapley_sampling(options):
    """As many orders as a row's budget allows; a step of a player that is the reference's own costs nothing."""

    def run(game, budget, seed):
        values, evaluations = np.zeros((len(game.rows), game.players)), 0
        varying = np.count_nonzero(game.rows != game.reference, axis=1)
        for count in np.unique(varying):
            orders = (budget - 2) // max(count - 1, 1)
            if options.get("antithetic", True):
                orders -= orders % 2
            if orders == 0:
                return None
            some = varying == count
            found = game.explain("shapley_sampling", seed, game.rows[some], permutations=int(orders), **options)
            values[some] = found.values
            evaluations += found.evaluations
        return values, evaluations // len(game.rows)

    return run


def our_estimators():
    makers = {"kernel_shap": (kernel_shap, "coalitions"), "shapley_sampling": (shapley_sampling, "permutations")}
    for label, method, options in VARIANTS:
        reason = missing(method, options)
        if reason:
            print(f"{label} left out: {reason}")
            continue
        make, family = makers[method]
        yield Estimator(label, family, make(options))


# Peers


def shap_kernel(play, budget, seed):
    np.random.seed(seed)
    explainer = shap.KernelExplainer(play.cells, play.reference[None])
    # The reference and the row are evaluated beside the sample.
    found = explainer.shap_values(play.row[None], nsamples=budget - 2, l1_reg=False, silent=True)
    return found[0]


def shap_permutation(play, budget, seed):
    varying = np.count_nonzero(play.row != play.reference)
    if budget < 2 * varying + 1:
        return None
    masker = shap.maskers.Independent(play.reference[None], 1)
    explainer = shap.explainers.Permutation(play.cells, masker, seed=seed)
    found = explainer(play.row[None], max_evals=budget, batch_size=budget, silent=True)
    return found.values[0]


def captum_kernel(play, budget, seed):
    torch.manual_seed(seed)
    row, reference = torch.from_numpy(play.row[None]), torch.from_numpy(play.reference[None])
    explainer = attr.KernelShap(play.tensors)
    found = explainer.attribute(row, reference, n_samples=budget, perturbations_per_eval=min(budget, 512))
    return found[0].numpy()


def captum_sampling(play, budget, seed):
    torch.manual_seed(seed)
    row, reference = torch.from_numpy(play.row[None]), torch.from_numpy(play.reference[None])
    orders = (budget - 1) // play.players
    explainer = attr.ShapleyValueSampling(play.tensors)
    found = explainer.attribute(row, reference, n_samples=orders, perturbations_per_eval=play.players)
    return found[0].numpy()


def of_shapiq(approximator, **options):
    def run(play, budget, seed):
        found = approximator(n=play.players, random_state=seed, **options).approximate(budget, play.coalitions)
        return np.array([found[(player,)] for player in range(play.players)])

    return run


# Those that shapiq has since versions that need Python 3.12: label, class, options, cost, and whether all coalitions
# make it exact. Values of a proxy alone keep the proxy's errors.

SHAPLEY = {"index": "SV", "max_order": 1}
NEWER = [
    ("shapiq OddSHAP", "OddSHAP", {}, (1e-2, 7e-5), True),
    ("shapiq ProxySHAP", "ProxySHAP", SHAPLEY, (1.5e-2, 3e-5), False),
    ("shapiq ProxySHAP, adjusted", "ProxySHAP", SHAPLEY | {"adjustment": True}, (1.5e-2, 3e-5), True),
    ("shapiq RegressionMSR, trees", "RegressionMSR", {"index": "SV"}, (1.5e-2, 3e-5), True),
    ("shapiq RegressionMSR, linear", "RegressionMSR", {"index": "SV", "proxy_model": "linear"}, (4e-3, 2e-5), True),
]


def newer_peers():
    for label, name, options, cost, exact in NEWER:
        approximator = getattr(shapiq, name, None)
        if approximator is None:
            version = importlib.metadata.version("shapiq")
            print(f"{label} left out: shapiq {version} has no {name}; newer ones need Python 3.12")
            continue
        yield Estimator(label, "coalitions", of_shapiq(approximator, **options), cost, exact)


# Regression MSR (Witter, Liu and Musco 2025), from the paper: for Python 3.11, whose shapiq has none, and beside
# shapiq's own, since the two weigh their samples differently.


def paired_sample(players, pairs, size_weight, generator):
    """Coalitions in complementary pairs without repeats, by size, and the chance that each had to be in the sample.
    Sizes that would be drawn more often than they have pairs are whole, and the others share what is left."""
    half = players // 2
    available = np.array([math.comb(players, size) for size in range(1, half + 1)], dtype=np.int64)
    if players % 2 == 0:
        available[-1] //= 2
    weights = np.array([size_weight(size, players) for size in range(1, half + 1)])
    weights[-1] /= 2 - players % 2
    counts, whole = np.zeros(half, dtype=np.int64), np.zeros(half, dtype=bool)
    while True:
        left = pairs - counts[whole].sum()
        share = left * weights / weights[~whole].sum() if not whole.all() else counts
        over = ~whole & (share >= available)
        if not over.any():
            break
        counts[over], whole[over] = available[over], True
    # Shares are rounded up or down at random, so that nothing is left out for sure.
    free = np.flatnonzero(~whole)
    edges = np.floor(np.cumsum(np.concatenate([[0], share[free]])) + generator.random())
    counts[free] = np.minimum(np.diff(edges).astype(np.int64), available[free])
    masks, chances = [], []
    for size in range(1, half + 1):
        drawn = of_size(players, size, int(counts[size - 1]), int(available[size - 1]), generator)
        masks.append(drawn)
        expected = available[size - 1] if whole[size - 1] else min(share[size - 1], available[size - 1])
        chances.append(np.full(len(drawn), expected / available[size - 1]))
    masks, chances = np.concatenate(masks), np.concatenate(chances)
    return np.concatenate([masks, ~masks]), np.concatenate([chances, chances])


def of_size(players, size, count, available, generator):
    """Distinct coalitions of one size, one of each pair where the complement has the same size."""
    keys = np.arange(1 << players)
    keys = keys[np.bitwise_count(keys) == size]
    if 2 * size == players:
        keys = keys[keys & 1 == 1]
    chosen = keys if count == available else generator.choice(keys, count, replace=False)
    return (chosen[:, None] >> np.arange(players) & 1).astype(bool)


def tree_weight(size, players):
    return 1 / math.sqrt(size * (players - size))


def line_weight(size, players):
    """Leverage scores: each size as often as the others."""
    return 1.0


def fit_trees(masks, values, seed):
    """XGBoost's defaults, and the Shapley values of its trees against the empty coalition."""
    data = xgboost.DMatrix(masks.astype(np.float32), values)
    model = xgboost.train({"nthread": 1, "seed": seed, "max_depth": 6}, data, num_boost_round=100)
    players = masks.shape[1]
    explainer = shap.TreeExplainer(model, np.zeros((1, players)), feature_perturbation="interventional")
    phi = explainer.shap_values(np.ones((1, players)), check_additivity=False)[0]
    return phi, lambda rows: model.inplace_predict(rows.astype(np.float32)).astype(np.float64)


def fit_line(masks, values, seed):
    design = np.column_stack([masks, np.ones(len(masks))]).astype(np.float64)
    solution = np.linalg.lstsq(design, values, rcond=None)[0]
    return solution[:-1], lambda rows: rows @ solution[:-1] + solution[-1]


def reused_sample(masks, residuals, chances):
    """Shapley values of the residual game from one sample, each coalition weighed by its chance to be there."""
    players = masks.shape[1]
    weights = np.array([1 / (players * math.comb(players - 1, size)) for size in range(players)])
    sizes = masks.sum(axis=1)
    with_player = np.where(sizes > 0, weights[np.maximum(sizes - 1, 0)], 0)
    without = np.where(sizes < players, weights[np.minimum(sizes, players - 1)], 0)
    signed = np.where(masks, with_player[:, None], -without[:, None])
    return (residuals / chances) @ signed


def regression_msr(fit, size_weight):
    """Values of a surrogate, and what the same sample says of the rest."""

    def run(play, budget, seed):
        generator = np.random.default_rng(seed)
        sampled, chances = paired_sample(play.players, (budget - 2) // 2, size_weight, generator)
        ends = np.array([[False] * play.players, [True] * play.players])
        masks, chances = np.concatenate([ends, sampled]), np.concatenate([[1.0, 1.0], chances])
        values = play.coalitions(masks)
        phi, predict = fit(masks, values, seed)
        return phi + reused_sample(masks, values - predict(masks), chances)

    return run


def peers():
    return [
        Estimator("shap KernelExplainer", "coalitions", shap_kernel, (2e-3, 1e-5)),
        Estimator("Captum KernelShap", "coalitions", captum_kernel, (5e-3, 1.3e-4), False),
        Estimator("shapiq KernelSHAP", "coalitions", of_shapiq(shapiq.KernelSHAP), (2e-3, 3e-5)),
        Estimator(
            "shapiq KernelSHAP, pairs", "coalitions", of_shapiq(shapiq.KernelSHAP, pairing_trick=True), (2e-3, 2e-5)
        ),
        Estimator("shapiq SVARM", "coalitions", of_shapiq(shapiq.SVARM), (2e-2, 6e-5)),
        Estimator("RegressionMSR, trees", "coalitions", regression_msr(fit_trees, tree_weight), (3e-2, 3e-5)),
        Estimator("RegressionMSR, linear", "coalitions", regression_msr(fit_line, line_weight), (5e-3, 1e-6)),
        *newer_peers(),
        Estimator("shap PermutationExplainer", "permutations", shap_permutation, (2e-3, 1e-5), False),
        Estimator("Captum ShapleyValueSampling", "permutations", captum_sampling, (2e-3, 3e-5), False),
    ]
