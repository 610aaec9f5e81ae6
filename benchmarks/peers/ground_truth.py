"""The test of the criteria themselves: models whose right attributions are known (truth_models.py), which methods find
them, and which criteria rank the methods as the truth does."""

import statistics

import truth_advice
import truth_text
from harness import Table, Workload
from truth_models import MAKERS, truth_model
from truth_trials import LADDER, SLOPES, Trial, compare, tau

import assay

PAGE = "ground-truth"
# Beside every criterion at its defaults: other sizes of subsets, everything taken for effects, and the gap.
VARIANTS = (
    "faithfulness:subset=1",
    "faithfulness:subset=2",
    "faithfulness:subset=7",
    "infidelity:attributions=global:normalise_scale=true",
    "compatibility:form=gap",
)
RETRAINED = ("roar", "kar")
# Criteria that explain rows many times over, with fewer samples than by default: they take most of the time.
FEWER = {
    "randomisation": "randomisation:draws=1",
    "relative_input_stability": "relative_input_stability:samples=5",
    "relative_output_stability": "relative_output_stability:samples=5",
    "max_sensitivity_yeh": "max_sensitivity_yeh:samples=5",
}
# One training is one value: a logistic regression does not depend on a seed.
TRAINED_ONCE = {name: f"{name}:seeds=1:control=false" for name in RETRAINED}
FAMILIES = {criterion.name: criterion.family for criterion in assay.criteria()}


def criterion_names():
    """In the order of the families, variants behind what they vary."""
    names = []
    for name in FAMILIES:
        names += [name, *(variant for variant in VARIANTS if variant.split(":")[0] == name)]
    order = list(dict.fromkeys(FAMILIES.values()))
    return sorted(names, key=lambda name: order.index(family(name)))


def family(criterion):
    return FAMILIES[criterion.split(":")[0]]


def judged(trial, quick):
    """What every criterion makes of one model: its tau over methods and over the ladder of noise, and where it puts the
    controls."""
    skipped = (*RETRAINED, *(("randomisation",) if trial.has_trees else ()))
    specs = {name: FEWER.get(name, name) for name in criterion_names() if name not in skipped}
    scores = trial.scores(list(specs.values()))
    if trial.model.linear_weights is not None and not (quick and trial.model.name != "linear"):
        specs |= TRAINED_ONCE
        for name, more in trial.retrained_scores(list(TRAINED_ONCE.values())).items():
            scores[name] |= more
    errors = {name: trial.direction_error(name) for name in trial.entries}
    found = {}
    for criterion, spec in specs.items():
        by_entry = {name: scores[name][spec] for name in trial.entries}
        told = {
            "methods": tau(by_entry, errors, trial.ranked),
            "noise": tau(by_entry, errors, LADDER),
            "beaten_by": None,
            "random_last": None,
            "flipped_below": None,
        }
        # Controls were made by no method, so criteria that explain again have no score for them.
        if by_entry["truth"] is not None:
            ranked = [name for name in trial.ranked if by_entry[name] is not None]
            told["beaten_by"] = [name for name in ranked if compare(by_entry, name, "truth") > 0]
            told["random_last"] = all(compare(by_entry, name, "random") > 0 for name in ranked)
            told["flipped_below"] = compare(by_entry, "truth", "flipped") > 0
        found[criterion] = told
    return found


def check(trial):
    """What is exact must be exact, or nothing else here means anything."""
    for method in ("exact_shapley", "kernel_shap", *(("tree_shap",) if trial.has_trees else ())):
        error = trial.error(method)
        assert error <= 1e-5, f"{method} of {trial.model.name} is {error} from the truth"


def errors_of(trial):
    return {
        name: {
            "kind": entry.kind,
            "error": float(trial.error(name)),
            "direction": float(trial.direction_error(name)),
            "top": float(trial.top_right(name)),
            "irrelevant": float(trial.irrelevant_mass(name)) if trial.model.irrelevant else None,
        }
        for name, entry in trial.entries.items()
    }


def measure(run):
    seeds, rows, pool = ((1,), 30, 120) if run.quick else ((1, 2, 3, 4, 5), 120, 300)
    errors, verdicts, says = {}, {}, {}
    for maker in MAKERS:
        for seed in seeds:
            trial = Trial(truth_model(maker, seed, rows, pool), run.folder)
            check(trial)
            says[maker.__name__] = trial.model.says
            errors.setdefault(maker.__name__, []).append(errors_of(trial))
            verdicts.setdefault(maker.__name__, []).append(judged(trial, run.quick))
    times = "one draw" if len(seeds) == 1 else f"{len(seeds)} draws"
    amount = f"{times} of weights and rows for each model, {rows} rows to explain and a pool of {pool}"
    yield from tables(errors, verdicts, says, amount)
    yield from advice_tables(run)


def advice_tables(run):
    """How far the advice of studies leads from the truth. The run fails where a bar does not hold."""
    trials = list(truth_advice.trials(**({"seeds": 1, "rows": 40} if run.quick else {})))
    facts = truth_advice.summary(trials)
    yield Table(
        "Where the advice leads",
        ["model", "trials", "nearest entry", *truth_advice.AIMS, "0.1.0, worst of its four"],
        truth_advice.lines(trials),
        text=truth_text.ADVICE.format(**facts),
        page=PAGE,
        facts=facts,
    )
    if not run.quick:
        truth_advice.check_bars(facts)


def mean_of(found, name, what):
    """Over seeds; nothing where the entry does not exist for this model."""
    values = [each[name][what] for each in found if name in each and each[name][what] is not None]
    return statistics.fmean(values) if values else None


def by_model(errors, what, kinds, text):
    """Lines of a table: entries of these kinds, a cell for each model."""
    first_seen = {}
    for found in errors.values():
        for name, facts in found[0].items():
            first_seen.setdefault(name, facts["kind"])
    names = [name for kind in kinds for name, its in first_seen.items() if its == kind]
    cells = {name: [mean_of(errors[model], name, what) for model in errors] for name in names}
    return [[name, *("-" if value is None else text(value) for value in line)] for name, line in cells.items()]


def summary(verdicts, criterion):
    """A criterion over all models: means of taus, their standard errors over models, and where it puts the controls."""
    told = {model: [each[criterion] for each in found if criterion in each] for model, found in verdicts.items()}
    facts = {"family": family(criterion), "by_model": {}}
    for what in ("methods", "noise"):
        means = {}
        for model, found in told.items():
            values = [each[what] for each in found if each[what] is not None]
            if values:
                means[model] = statistics.fmean(values)
        spread = statistics.stdev(means.values()) / len(means) ** 0.5 if len(means) > 1 else None
        facts[what] = (statistics.fmean(means.values()), spread) if means else None
        if what == "methods":
            facts["by_model"] = means
    everything = [each for found in told.values() for each in found if each["beaten_by"] is not None]
    facts["trials"] = len(everything)
    facts["truth_first"] = sum(not each["beaten_by"] for each in everything)
    facts["random_last"] = sum(each["random_last"] for each in everything)
    facts["flipped_below"] = sum(each["flipped_below"] for each in everything)
    beaten = [name for each in everything for name in each["beaten_by"]]
    facts["rival"] = max(((beaten.count(name), name) for name in sorted(set(beaten))), default=None)
    return facts


def tables(errors, verdicts, says, amount):
    models = list(errors)
    facts = {criterion: summary(verdicts, criterion) for criterion in criterion_names()}
    found = truth_text.bullets([*truth_text.which_methods(errors), *truth_text.which_criteria(facts)])
    best = (["family", "criterion", "tau, methods", "tau, noise"], truth_text.best_of_families(facts))
    yield Table("The best of each family", *best, text=truth_text.FOUND)
    yield Table("What came out", *best, text=f"{found}\n\n{truth_text.FOUND}", page=PAGE)
    yield Table(
        "The models",
        ["model", "what is right"],
        [[name, text] for name, text in says.items()],
        text=truth_text.MODELS.format(amount=amount),
        page=PAGE,
    )
    methods, everything = ("method",), ("method", "aggregate", "control")
    yield Table(
        "How far methods are from the truth",
        ["method", *models],
        by_model(errors, "error", methods, truth_text.error_cell),
        text=truth_text.ERRORS.format(slopes=" and ".join(SLOPES)),
        page=PAGE,
        facts=errors,
    )
    yield Table(
        "How far their directions are",
        ["entry", *models],
        by_model(errors, "direction", everything, truth_text.error_cell),
        text=truth_text.DIRECTIONS,
        page=PAGE,
    )
    yield Table(
        "How often the strongest feature is right",
        ["entry", *models],
        by_model(errors, "top", everything[:2], lambda share: f"{100 * share:.0f} %"),
        text=truth_text.TOP,
        page=PAGE,
    )
    some = {model: found for model, found in errors.items() if found[0]["truth"]["irrelevant"] is not None}
    yield Table(
        "What lands on features that the model does not use",
        ["entry", *some],
        by_model(some, "irrelevant", everything, truth_text.share_cell),
        text=truth_text.IRRELEVANT,
        page=PAGE,
    )
    yield Table(
        "Which criteria rank the methods as the truth does",
        [
            "family",
            "criterion",
            "tau, methods",
            "tau, noise",
            "truth first",
            "its rival",
            "flipped below",
            "random last",
        ],
        [truth_text.criterion_line(name, told) for name, told in facts.items()],
        text=truth_text.CRITERIA,
        page=PAGE,
        facts=facts,
    )
    yield Table(
        "Tau over methods, model by model",
        ["criterion", *models],
        [
            [name, *(truth_text.tau_cell(told["by_model"].get(model)) for model in models)]
            for name, told in facts.items()
        ],
        page=PAGE,
    )


WORKLOADS = [Workload("ground_truth", "Ground truth", measure, text=truth_text.OPENING)]
