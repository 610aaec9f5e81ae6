"""What the tables of known truth say in words. Sentences about results follow from the numbers of the run."""

import statistics
import textwrap

OPENING = """\
Models whose right attributions are known without choosing a method, explained by every method: which of them find the
truth, and which criteria rank them as the truth does. No peer takes part: this tests the criteria themselves."""

MODELS = """\
Each model is a sum of functions of one, two or three features, written as a network (as trees in the last) with a
sigmoid behind it; what is explained is the margin of the predicted class. What is right follows from three demands:
attributions of a sum add up, a feature that the function does not depend on gets nothing, and what features do only
together is shared equally. The closed forms are checked against all 2^d coalitions in every run, for three rows of
each draw. Drawn by seeds: {amount}."""

ERRORS = """\
Root mean square over rows of attributions less truth, relative to the truth's own; 0 is right. Methods are at their
defaults but for `kernel_shap:samples=32`; {slopes} are slopes, not effects, and cannot be near by their unit. A dash:
refused for such models. The run fails if the exact methods are further off than 1e-5."""

DIRECTIONS = """\
Mean distance between attributions and truth when both have unit norm: 0 right, 1.41 unrelated, 2 opposite. It does not
ask for the scale, which slopes and aggregates (of all methods at their defaults) do not have and most criteria do not
see. This is what criteria are held against below. Controls: the truth, with noise of a share of its norm, with its
features shuffled, with its signs flipped, and random numbers of its norm."""

TOP = "Share of rows where the feature of largest size is the one of the truth."

IRRELEVANT = """\
Share of the summed sizes of all attributions. In `irrelevant` three features cancel: the network computes the largest
of them in two ways and subtracts. In `correlated` the twins of used features are not used, in `trees` two features are
in no tree. The other models use all their features."""

CRITERIA = """\
Tau: Kendall's, between a criterion's ranking and that by distance from the truth, over the pairs that the truth tells
apart (by more than 0.01): 1 the same order, 0 none, -1 the reverse; pairs that the criterion does not tell apart count
for neither.

- "Methods": methods and aggregates; mean over models with its standard error over models.
- "Noise": the truth, with 10, 30 and 100 % noise, and random numbers.
- "Truth first": in how many of all trials no method or aggregate scores better than the truth; its rival is what does
  most often.
- "Flipped below": the truth scores better than with its signs flipped.
- "Random last": every method and aggregate scores better than random numbers.

A dash: the criterion explains rows again, and controls were made by no method. roar and kar need a model that can be
trained again: logistic regression, for the linear models. Stability is measured with fewer samples than by default.

A low tau is no fault where a criterion asks another question. infidelity takes slopes for slopes, so that gradients are
right by it on linear models; the prediction gaps perturb rows by a little noise, whose effect slopes tell best; and
what removing one feature costs is what occlusion says. Agreement is with the other methods, most of which are right
here."""

FOUND = """\
Of each family of criteria the one that ranks methods most nearly as the truth does, by Kendall's tau: 1 the same order,
0 none, -1 the reverse."""

# A tau from which a criterion is said to follow the truth, and one up to which it is said not to.
FOLLOWS, PARTLY = 0.9, 0.5


ADVICE = """\
A whole study of each model and draw, with its defaults but for the reference: that of the models above, or a
background of 100 rows of the pool, for which the truth is the mean of the truths against each row. Two more kinds of
model have features that go together (correlation 0.5 and 0.9), smooth and kinked functions of one and gates of two;
their truth is the interventional game. The product of four features is nothing but one interaction; its truth is found
by all coalitions. The last is a network trained on the wine data (13 measurements of 178 wines), against the mean row
and against a study's own background: its truth is exact_shapley, and the methods that compute it exactly are left out
of its study. Cells are mean distances between unit vectors, as above: 0 right, 1.41 unrelated, 2 opposite. The nearest
entry is the one that somebody would choose who knows the truth. The last column is the worst of the four explanations
that version 0.1.0 recommended (by faithfulness over a quarter of the players, sensitivity of raw values, complexity,
and their mean rank).

In {trials} trials, {recommended} recommendations: mean distance {mean:.3f} (bar: at most 0.10), largest {largest:.2f}
(bar: 0.35). What is recommended overall is within 0.05 of the nearest entry in {near:.0%} of the trials (bar: 95 %).
By the rules of version 0.1.0: mean {old_mean:.2f}, and {old_far} of {old_recommended} recommendations were further
than 0.35 away. [How the advice is reached](verdict.md)."""


def error_cell(value):
    return f"{value:.0e}" if value < 0.0005 else f"{value:.3f}"


def share_cell(value):
    return "0" if value == 0 else f"{100 * value:.1f} %" if value >= 0.0005 else f"{value:.0e}"


def tau_cell(value):
    return "-" if value is None else f"{value:.2f}"


def with_error(pair):
    if pair is None:
        return "-"
    return f"{pair[0]:.2f}" if pair[1] is None else f"{pair[0]:.2f} +- {pair[1]:.2f}"


def listed(names):
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"


def criterion_line(name, told):
    line = [told["family"], name, with_error(told["methods"]), with_error(told["noise"])]
    if not told["trials"]:
        return [*line, "-", "-", "-", "-"]
    rival = told["rival"]
    counts = [f"{told[what]} of {told['trials']}" for what in ("truth_first", "flipped_below", "random_last")]
    return [*line, counts[0], f"{rival[1]} ({rival[0]})" if rival else "none", *counts[1:]]


def bullets(sentences):
    """A list of Markdown, filled to the width of a page."""
    return "\n".join(
        textwrap.fill(sentence, 120, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for sentence in sentences
    )


def which_methods(errors):
    """Which methods are within 1 % of the truth, and where."""
    names = dict.fromkeys(
        name for found in errors.values() for name, its in found[0].items() if its["kind"] == "method"
    )
    missed, tried = {}, {}
    for name in names:
        of = {model: max(each[name]["error"] for each in found) for model, found in errors.items() if name in found[0]}
        tried[name] = list(of)
        missed[name] = [model for model, error in of.items() if error > 0.01]
    everywhere = [name for name in names if not missed[name]]
    nowhere = [name for name in names if missed[name] == tried[name]]
    yield f"Within 1 % of the truth on every model that they explain: {listed(everywhere)}."
    if nowhere:
        yield f"On none: {listed(nowhere)}."
    same = {}
    for name in names:
        if name not in everywhere and name not in nowhere:
            same.setdefault(tuple(missed[name]), []).append(name)
    for models, of in same.items():
        yield f"On all but {listed(models)}: {listed(of)}."


def which_criteria(facts):
    """Which criteria rank as the truth does, in sentences."""
    # As the table shows them, so that no line seems to be in the wrong list.
    taus = {name: round(told["methods"][0], 2) for name, told in facts.items() if told["methods"]}
    follow = [name for name, tau in taus.items() if tau >= FOLLOWS]
    partly = [name for name, tau in taus.items() if PARTLY <= tau < FOLLOWS]
    others = len(taus) - len(follow) - len(partly)
    yield f"These rank the methods as the truth does (tau at least {FOLLOWS}): {listed(follow)}."
    yield f"These do in part (tau at least {PARTLY}): {listed(partly)}. The {others} others do not."
    yield from subset_sizes(taus, facts)
    blind = []
    for family in dict.fromkeys(told["family"] for told in facts.values()):
        of = [taus[name] for name, told in facts.items() if told["family"] == family and name in taus]
        if of and statistics.fmean(of) < 0.25:
            blind.append(f"{family} ({statistics.fmean(of):.2f})")
    if blind:
        yield (
            f"Families whose mean tau is below 0.25: {listed(blind)}. They ask other questions and say nothing about "
            "truth: an explanation can be simple, stable or reproducible, and wrong."
        )
    tried = {name: told for name, told in facts.items() if told["trials"]}
    first = [name for name, told in tried.items() if told["truth_first"] == told["trials"]]
    yield f"By these, nothing scores better than the truth in any trial: {listed(first)}."
    noise = [name for name, told in tried.items() if told["noise"][0] >= 0.99]
    yield f"These put more noise below less noise in practically every trial: {listed(noise)}."
    unsigned = [
        name
        for name in (*follow, *partly)
        if name in tried and tried[name]["flipped_below"] < tried[name]["trials"] / 2
    ]
    if unsigned:
        yield f"Of all these, some do not see that all signs are flipped: {listed(unsigned)}."


def subset_sizes(taus, facts):
    """Faithfulness by how much is removed at once, and what small subsets prefer."""
    sizes = {"one feature": "faithfulness:subset=1", "a quarter": "faithfulness:subset=2"}
    sizes |= {"half (the default)": "faithfulness", "seven": "faithfulness:subset=7"}
    told = (
        f"Faithfulness by what is removed at once: {', '.join(f'{of} {taus[name]:.2f}' for of, name in sizes.items())}."
    )
    small, half = facts["faithfulness:subset=2"], facts["faithfulness"]
    fell = [model for model, tau in small["by_model"].items() if tau < half["by_model"][model] - 0.2]
    if fell:
        rival = f", where they most often prefer {small['rival'][1]} to the truth" if small["rival"] else ""
        told += (
            f" Small subsets fall short on {listed(fell)}{rival}: what features do together shows only when enough of "
            "them are removed together."
        )
    yield told


def best_of_families(facts):
    lines = []
    for family in dict.fromkeys(told["family"] for told in facts.values()):
        of = [
            (told["methods"][0], name) for name, told in facts.items() if told["family"] == family and told["methods"]
        ]
        best = facts[max(of)[1]]
        lines.append([family, max(of)[1], with_error(best["methods"]), with_error(best["noise"])])
    return lines
