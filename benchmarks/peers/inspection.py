"""What scikit-learn's inspection offers, beside what Assay has for the same question.

Permutation importance asks how a score falls when a feature's cells are shuffled among the rows. With the mean output
as the score, that is in expectation the mean over rows of occlusion against these rows: what the output loses when the
feature alone is another row's. With as many repeats as background rows both evaluate the model as often. Partial
dependence has no counterpart here: no explanation function gives a curve over a feature's values.
"""

import numpy as np
from harness import Row, Workload, alternate, timed
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import permutation_importance
from trees import adult_booster

import assay

REPEATS, CHECKED = 5, 200


def mean_output(estimator, x, y):
    return float(estimator.predict(x).mean())


def by_shuffling(estimator, x, y, repeats):
    return permutation_importance(estimator, x, y, scoring=mean_output, n_repeats=repeats, random_state=0, n_jobs=1)


def check(estimator, model, x, y):
    """Over the same few rows: occlusion against all of them is what shuffling gives on average, to five errors."""
    rows = x[:CHECKED]
    ours = assay.explain(model, rows, "occlusion", background=rows, threads=1, progress=False).values.mean(axis=0)
    found = by_shuffling(estimator, rows, y[:CHECKED], CHECKED).importances
    errors = found.std(axis=1, ddof=1) / np.sqrt(CHECKED)
    assert np.all(np.abs(ours - found.mean(axis=1)) <= 5 * errors + 1e-6)


def importance(run):
    made = adult_booster(run.kept, run.quick)
    x, y = made.x.astype(np.float64), made.y
    trees = 20 if run.quick else 100
    estimator = HistGradientBoostingRegressor(max_iter=trees, random_state=0).fit(x, y)
    model = assay.wrap(estimator)
    check(estimator, model, x, y)
    rows, background = x[: 2000 if run.quick else len(x)], x[:: len(x) // REPEATS][:REPEATS]
    sides = {
        "assay": lambda: assay.explain(
            model, rows, "occlusion", background=background, threads=1, progress=False
        ).values.mean(axis=0),
        "peer": lambda: by_shuffling(estimator, rows, y[: len(rows)], REPEATS).importances_mean,
    }
    rounds = alternate({name: timed(work) for name, work in sides.items()})
    name = f"importance of the mean output, {trees} trees, {len(rows):,} rows, {REPEATS} replacements of each cell"
    yield Row(name, "scikit-learn permutation_importance", rounds["peer"], rounds["assay"])


WORKLOADS = [
    Workload(
        "inspection",
        "Importance by replacing cells",
        importance,
        f"""scikit-learn's `permutation_importance` of a HistGradientBoostingRegressor on Adult, with the mean output as
its score, beside the mean of `occlusion` over the rows, which estimates the same and gives every row's values and not
their mean alone. Both replace each cell {REPEATS} times, on one thread. Over {CHECKED} rows, against all of them, the
two agree within the errors of shuffling. `partial_dependence` has no counterpart here.""",
    )
]
