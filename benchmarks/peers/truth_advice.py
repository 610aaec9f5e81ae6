"""How far from the truth the explanations are that a study recommends, on models whose truth is known.

Every trial is one whole study with its defaults but for the reference, which is the one that the truth is against:
the model's own baseline, or a background of 100 rows of the pool, for which the truth is the mean of the truths against
each of them. The advice of version 0.1.0 stands beside it: the best mean by each aim whatever the faithfulness, over a
quarter of the players, lengths not removed, aggregates of the paper's six methods.
"""

import dataclasses
import itertools
import math
import tempfile

import numpy as np
from truth_models import MAKERS, Piece, TruthModel, signed, truth_model

import assay

AIMS = ("overall", "faithfulness", "stability", "simplicity")
CRITERIA = ["faithfulness", "avg_sensitivity", "complexity"]
BACKGROUND = 100
PAPER = ("kernel_shap", "shapley_sampling", "gradient", "gradient_x_input", "integrated_gradients", "deeplift")
# Far: a recommended explanation beyond this distance points elsewhere.
FAR = 0.35
# Bars: the mean distance of all that is recommended, and how often what is recommended overall is near the best entry.
MEAN, NEAR, SHARE_NEAR = 0.10, 0.05, 0.95


def unit(values):
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(norms > 0, norms, 1)


def distance(values, truth):
    """Mean over rows of the distance between unit vectors: 0 right, 1.41 unrelated, 2 opposite."""
    return float(np.nanmean(np.linalg.norm(unit(np.asarray(values, dtype=np.float64)) - unit(truth), axis=1)))


@dataclasses.dataclass
class AdviceTrial:
    model: str
    reference: str  # baseline or background
    best: float  # distance of the entry that is nearest to the truth
    recommended: dict  # aim -> (explanation, distance)
    before: dict  # the same by the rules of version 0.1.0


def background_truth(model, background):
    """The mean over background rows of the truth against each."""
    total = np.zeros(model.rows.shape)
    for row in background:
        total += dataclasses.replace(model, baseline=row).truth()
    return total / len(background)


def correlated_rows(rng, count, features, correlation):
    common = rng.normal(size=(count, 1))
    own = rng.normal(size=(count, features))
    return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own


def nonlinear(rng, count, correlation):
    """Smooth and kinked functions and gates of features that go together; truth is the interventional game."""
    slopes, scales = signed(rng, 0.7, 2, 4), signed(rng, 0.5, 2, 6)
    pieces = [Piece("tanh" if i < 2 else "relu", {i: slopes[i]}, 0.1, scales[i]) for i in range(4)]
    pieces += [Piece("relu", {4: 1, 5: 1}, 0, scales[4]), Piece("relu", {6: 1, 7: -1}, 0.2, scales[5])]
    return pieces, correlated_rows(rng, count, 8, correlation)


def nonlinear_model(correlation, seed, rows, pool=300):
    rng = np.random.default_rng([seed, int(100 * correlation)])
    pieces, table = nonlinear(rng, rows + pool, correlation)
    table = table.astype(np.float32)
    name = f"nonlinear, correlation {correlation}"
    mean = table[rows:].mean(axis=0, dtype=np.float64)
    return TruthModel(name, "interventional game", pieces, table[:rows], table[rows:], mean)


def old_advice(study):
    """What version 0.1.0 said: the best mean by each aim, and the best mean rank as a balance."""
    ranks = {}
    picks = {}
    for aim, criterion in zip(AIMS[1:], study.json["criteria"], strict=True):
        order = criterion["order"]
        picks[aim] = order[0]
        for rank, name in enumerate(order):
            ranks.setdefault(name, []).append(rank)
    full = {name: np.mean(each) for name, each in ranks.items() if len(each) == len(AIMS) - 1}
    picks["overall"] = min(full, key=full.get)
    return picks


def run(model, reference, threads=0):
    """One trial: the study, the truth, and how far from it everything is."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/model.onnx"
        with open(file, "wb") as out:
            out.write(model.onnx())
        return run_on(assay.load(file), model, reference, threads)


def run_on(engine, model, reference, threads):
    signs = np.where(model.value(model.rows) > 0, 1.0, -1.0)[:, None]
    rng = np.random.default_rng(5)
    if reference == "background":
        chosen = model.pool[np.sort(rng.choice(len(model.pool), BACKGROUND, replace=False))]
        given, truth = {"background": chosen}, signs * background_truth(model, chosen)
    else:
        given, truth = {"baseline": model.baseline[None]}, signs * model.truth()
    # Without a limit of time, which would make what is studied depend on how busy the machine is.
    same = dict(pool=model.pool, target="predicted", curves=False, variations=False, time=None, threads=threads)
    same["progress"] = False
    study = assay.study(engine, model.rows, criteria=CRITERIA, **given, **same)
    distances = {name: distance(study.explanations[name].values, truth) for name in study.entries}
    recommended = picks(study, distances)
    quarter = max(1, model.features // 4)
    old_criteria = [f"faithfulness:subset={quarter}", "avg_sensitivity:normalise=raw", "complexity"]
    members = [name for name in PAPER if name in study.entries]
    old = assay.study(engine, model.rows, criteria=old_criteria, members=members, **given, **same)
    old_distances = {name: distance(old.explanations[name].values, truth) for name in old.entries}
    before = {aim: (name, old_distances[name]) for aim, name in old_advice(old).items()}
    return AdviceTrial(model.name, reference, min(distances.values()), recommended, before)


def product_truth(rows, background):
    """Shapley values of the product of all columns, by all coalitions, averaged over the background."""
    count = rows.shape[1]
    players = range(count)
    total = np.zeros(rows.shape)
    for size in range(count):
        weight = 1 / (count * math.comb(count - 1, size))
        for chosen in itertools.combinations(players, size):
            for player in set(players) - set(chosen):
                absent = [p for p in players if p not in chosen and p != player]
                present = rows[:, chosen].prod(axis=1)
                others = background[:, absent].prod(axis=1)
                change = rows[:, player] * others.mean() - (others * background[:, player]).mean()
                total[:, player] += weight * present * change
    return total


def product_of_four(seed, rows, threads, pool=300):
    """A model of nothing but one interaction, where a fit at the tested size scores far above the truth."""
    rng = np.random.default_rng([seed, 4])
    table = rng.normal(size=(rows + pool, 4)).astype(np.float32)
    background = table[rows : rows + BACKGROUND]
    truth = product_truth(table[:rows].astype(np.float64), background.astype(np.float64))
    model = assay.wrap(lambda x: np.asarray(x, dtype=np.float64).prod(axis=1))
    given = dict(pool=table[rows:], background=background, time=None, threads=threads, progress=False)
    study = assay.study(model, table[:rows], criteria=CRITERIA, curves=False, variations=False, **given)
    distances = {name: distance(study.explanations[name].values, truth) for name in study.entries}
    return AdviceTrial("product of four", "background", min(distances.values()), picks(study, distances), {})


def trained_network(seed, rows, reference, threads):
    """A network on real data. Its truth is the exact method, which the study has to do without."""
    given = {"baseline": "mean"} if reference == "baseline" else {"background": f"spread:{BACKGROUND}"}
    training = assay.dataset("wine", split="train", seed=seed)
    test = assay.dataset("wine", split="test", seed=seed)
    engine = assay.train(training, seed=seed)
    same = dict(pool=training, target="predicted", threads=threads, progress=False)
    chosen = [name for name in assay.methods().names if name not in ("exact_shapley", "kernel_shap")]
    able = []
    for name in chosen:
        try:
            assay.explain(engine, test[:2], name, **same)
        except assay.UnsupportedError:
            continue
        able.append(name)
    study = assay.study(
        engine,
        test,
        methods=able,
        criteria=CRITERIA,
        sample=rows,
        curves=False,
        variations=False,
        time=None,
        **given,
        **same,
    )
    truth = assay.explain(engine, test, "exact_shapley", **given, **same)
    ids = study.explanations[able[0]].ids
    kept = range(len(truth.values)) if ids is None else [int(each) - 1 for each in ids]
    distances = {name: distance(study.explanations[name].values, truth.values[kept]) for name in study.entries}
    return AdviceTrial("wine network", reference, min(distances.values()), picks(study, distances), {})


def picks(study, distances):
    advice = study.advice["recommended"]
    return {aim: (advice[aim]["explanation"], distances[advice[aim]["explanation"]]) for aim in AIMS if advice[aim]}


def trials(seeds=5, rows=120, threads=0):
    """All models and draws, against their baseline and, where the truth is known for it, against a background."""
    for seed in range(seeds):
        for maker in MAKERS:
            model = truth_model(maker, seed, rows)
            yield run(model, "baseline", threads)
            if not any(piece.kind == "product" for piece in model.pieces):
                yield run(model, "background", threads)
        for correlation in (0.5, 0.9):
            yield run(nonlinear_model(correlation, seed, rows), "background", threads)
        yield product_of_four(seed, rows, threads)
        for reference in ("baseline", "spread background"):
            yield trained_network(seed, rows, reference, threads)


def summary(found):
    new = [d for trial in found for _, d in trial.recommended.values()]
    old = [d for trial in found for _, d in trial.before.values()]
    near = [trial.recommended["overall"][1] - trial.best <= NEAR for trial in found]
    return {
        "trials": len(found),
        "recommended": len(new),
        "mean": float(np.mean(new)),
        "largest": float(np.max(new)),
        "near": float(np.mean(near)),
        "old_recommended": len(old),
        "old_mean": float(np.mean(old)),
        "old_far": int(np.sum(np.array(old) > FAR)),
    }


def check_bars(facts):
    assert facts["largest"] <= FAR and facts["mean"] <= MEAN and facts["near"] >= SHARE_NEAR, facts


def lines(found):
    """One for each kind of model: means over its draws."""
    made = []
    for kind in dict.fromkeys((trial.model, trial.reference) for trial in found):
        of = [trial for trial in found if (trial.model, trial.reference) == kind]
        by_aim = [np.mean([trial.recommended[aim][1] for trial in of]) for aim in AIMS]
        before = [max(d for _, d in trial.before.values()) for trial in of if trial.before]
        cells = [np.mean([trial.best for trial in of]), *by_aim]
        name = f"{kind[0]}, {kind[1]}"
        made.append(
            [name, str(len(of)), *(f"{cell:.3f}" for cell in cells), f"{np.mean(before):.2f}" if before else "-"]
        )
    return made
