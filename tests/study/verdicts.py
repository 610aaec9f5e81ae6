"""Recomputes the verdict of each claim from the JSON of `assay reproduce all`, by its own arithmetic.

A claim is a list of comparisons. The first cells of a comparison (their mean, run by run) are to be above the second;
if there are no second cells, all values of the first are to be 0. A comparison holds if Student's 95 % interval of the
difference is above 0, and is contradicted if it is below 0.

    python tests/study/verdicts.py docs/reproduction.json
"""

import json
import math
import statistics
import sys

# The 0.975 quantiles of Student's t with 1, 2, ... degrees of freedom, from printed tables.
T = (12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099, 2.17881, 2.16037)


def run_means(cells, keys):
    """The mean over cells, run by run; None where one is undefined."""
    series = [cells.get(tuple(key), []) for key in keys]
    return [None if None in values else statistics.fmean(values) for values in zip(*series, strict=False)]


def support(cells, part):
    """1: holds, -1: contradicted, 0: not clear, None: no numbers."""
    first = run_means(cells, part["first"])
    if not part["second"]:
        if not first or None in first:
            return None
        return 1 if all(value == 0 for value in first) else -1
    both = zip(first, run_means(cells, part["second"]), strict=False)
    differences = [a - b for a, b in both if a is not None and b is not None]
    if not differences:
        return None
    if len(differences) == 1:
        return 0
    mean = statistics.fmean(differences)
    reach = T[len(differences) - 2] * statistics.stdev(differences) / math.sqrt(len(differences))
    return 1 if mean - reach > 0 else -1 if mean + reach < 0 else 0


def verdict(cells, claim):
    known = [found for found in (support(cells, part) for part in claim["parts"]) if found is not None]
    if claim["by_construction"] and known:
        return "holds by construction" if min(known) == 1 else "fails"
    for part in claim["paper_parts"]:
        if statistics.fmean(part["first"]) <= statistics.fmean(part["second"]):
            return "the paper's own table disagrees"
    if not any(known):
        return "cannot be tested"
    if min(known) == 1:
        return "holds"
    return "partly" if 1 in known else "fails"


def verdicts(document):
    """id -> verdict, for all claims of the document."""
    cells = {tuple(entry["cell"]): entry["runs"] for entry in document["cells"]}
    return {claim["id"]: verdict(cells, claim) for claim in document["claims"]}


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        written = json.load(file)
    apart = 0
    for claim in written["claims"]:
        found = verdicts(written)[claim["id"]]
        apart += found != claim["verdict"]
        print(f"{claim['id']}: {found}" + ("" if found == claim["verdict"] else f" (the file: {claim['verdict']})"))
    sys.exit(1 if apart else 0)
