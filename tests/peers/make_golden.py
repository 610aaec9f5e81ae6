"""Writes tests/core/golden_statistics.json: what SciPy and NumPy say, for the C++ tests of assay/core/statistics.h.

    build/peers/bin/python tests/peers/make_golden.py [FILE]

Everything in it is fixed: no random numbers, so that the same versions write the same file.
"""

import itertools
import json
import pathlib
import sys

import numpy as np
import scipy
from scipy import stats

DEFAULT = pathlib.Path(__file__).resolve().parent.parent / "core" / "golden_statistics.json"

T_VALUES = (-40.0, -8.0, -2.5, -1.0, -0.3, -1e-3, 0.0, 0.3, 1.0, 1.96, 2.5, 8.0, 40.0)
DEGREES = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 29.0, 100.0, 1e3, 1e6)

# Small differences, one far-off pair, and a large common offset that a one-pass variance would lose.
PAIRS = (
    ([5.1, 4.9, 6.2, 5.8, 6.0, 5.5], [4.8, 5.0, 5.9, 5.2, 6.1, 5.1]),
    ([0.12, 0.55, 0.31, 0.48, 0.93, 0.27, 0.66, 0.71], [0.15, 0.49, 0.22, 0.51, 0.02, 0.31, 0.70, 0.69]),
    ([1e6 + d for d in (0.25, 0.5, 0.75, 1.5, 2.0)], [1e6 + d for d in (0.0, 0.75, 0.5, 1.25, 1.0)]),
)

SAMPLES = ([3.0], [2.0, 1.0], [7.0, -1.5, 4.0, 4.0, 0.25], [0.1 * i * (-1) ** i for i in range(12)])
QS = (0.0, 0.025, 0.25, 0.5, 0.9, 1.0)

P_VALUES = (
    [0.03],
    [0.01, 0.04, 0.03, 0.005],
    [0.2, 0.2, 0.001, 0.9, 0.04, 0.04],
    [1.0, 0.6, 0.5, 0.0],
)


def holm(p):
    """Holm (1979): the i-th smallest of m times m - i + 1, made monotone, at most 1."""
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * factors))
    return adjusted.tolist()


def paired(first, second):
    result = stats.ttest_rel(first, second)
    return {"first": first, "second": second, "statistic": float(result.statistic), "p": float(result.pvalue)}


def golden():
    return {
        "scipy": scipy.__version__,
        "student_t_cdf": [[t, df, float(stats.t.cdf(t, df))] for df, t in itertools.product(DEGREES, T_VALUES)],
        "paired_t": [paired(first, second) for first, second in PAIRS],
        "quantile": [
            {"values": values, "q": q, "value": float(np.quantile(values, q, method="linear"))}
            for values, q in itertools.product(SAMPLES, QS)
        ],
        "holm": [{"p": p, "adjusted": holm(p)} for p in P_VALUES],
    }


def text(facts):
    """JSON with one fact on each line."""
    lists = [
        f"{json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(fact)}" for fact in facts[name]) + "\n]"
        for name in facts
        if name != "scipy"
    ]
    return "{\n" + ",\n".join([f'"scipy": {json.dumps(facts["scipy"])}', *lists]) + "\n}\n"


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    target.write_text(text(golden()))
