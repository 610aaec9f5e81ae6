"""The whole `assay study adult` beside a script that does the same with Captum, SHAP and Quantus, as far as they go."""

import csv
import dataclasses
import itertools
import json
import statistics
import sys
from unittest import mock

import numpy as np
import subjects
import torch
from captum_quantus_study import (
    COMPLEXITY,
    EXPLAIN,
    FAITHFULNESS,
    SENSITIVITY,
    STEPS,
    PeersStudy,
    baseline_and_deviation,
)
from harness import ROOT, Row, Table, Workload, alternate, assay, data_folder, seconds_text

sys.path.insert(0, str(ROOT / "tests" / "fixtures" / "criteria"))
from make_criteria import noise

from assay import dataset

TRAINING_ROWS, FEATURES, TARGET = 32561, 14, 1
SUBSET, NOISE, RADIUS, CHECKED = 3, 10, 0.02, 6
PEERS = "Captum, SHAP and Quantus"
CRITERIA = {
    FAITHFULNESS: f"faithfulness:subset={SUBSET}",
    COMPLEXITY: "complexity",
    SENSITIVITY: f"max_sensitivity_yeh:samples={NOISE}:radius={RADIUS}:over=explanation",
}
# One row stands for absent features, as for the peers, and nothing is left out for want of time.
FIXED = ("--baseline", "mean", "--time", "none")
SAMPLED = ("smooth_grad", "kernel_shap", "shapley_sampling", "lime")


@dataclasses.dataclass
class Size:
    rows: int
    pool: int  # of the whole study; the shared part does not look at it
    samples: int  # of kernel_shap and lime
    scored: int  # rows that the peers score in a round
    explained: dict  # rows that the peers explain in a round, of methods that are slow there; all by the others
    moved: dict  # rows whose sensitivity the peers find in a round: ten explanations of each


FULL = Size(
    rows=500,
    pool=1000,
    samples=2048,
    scored=200,
    explained={"lime": 2, "kernel_shap": 50, "exact_shapley": 100},
    moved={"lime": 1, "kernel_shap": 10, "exact_shapley": 20, "integrated_gradients": 100, "smooth_grad": 100},
)
QUICK = Size(
    rows=20,
    pool=60,
    samples=256,
    scored=10,
    explained={"lime": 1, "kernel_shap": 4, "exact_shapley": 4},
    moved={"lime": 1, "kernel_shap": 1, "exact_shapley": 2, "integrated_gradients": 10, "smooth_grad": 10},
)


# Assay's side


def assay_methods(size):
    """By the name both sides share; the path integral with Captum's points, where the study's own would be exact."""
    return {
        "gradient": "gradient",
        "gradient_x_input": "gradient_x_input",
        "integrated_gradients": f"integrated_gradients:rule=gauss_legendre:steps={STEPS}:tolerance=0",
        "smooth_grad": "smooth_grad",
        "deeplift": "deeplift",
        "exact_shapley": "exact_shapley",
        "kernel_shap": f"kernel_shap:samples={size.samples}",
        "shapley_sampling": "shapley_sampling",
        "occlusion": "occlusion",
        "lime": f"lime:samples={size.samples}",
    }


class Studies:
    """Runs of `assay study`, each from nothing to the finished folder, and what they say of themselves."""

    def __init__(self, run, size):
        self.model, self.folder = run.folder / "adult.onnx", run.folder
        self.size, self.parts = size, {"shared": [], "whole": []}
        assay("--quiet", "train", "--data", "adult", "--split", "train", "--out", self.model)

    def study(self, name, *options):
        out = self.folder / name
        _, seconds = assay("--quiet", "study", "adult", *options, "--out", out, "--overwrite")
        self.parts.setdefault(name, []).append((json.loads((out / "run.json").read_text()), seconds))
        return seconds

    def shared(self):
        chosen = ("--methods", ",".join(assay_methods(self.size).values()), "--criteria", ",".join(CRITERIA.values()))
        without = ("--aggregators", "none", "--no-curves", "--no-variations")
        return self.study("shared", "--model", self.model, "--sample", self.size.rows, *FIXED, *chosen, *without)

    def whole(self):
        """All methods, criteria and aggregators, curves and variations, and it trains the network itself."""
        return self.study("whole", "--sample", self.size.rows, "--pool-sample", self.size.pool, *FIXED)

    def result(self, method):
        """Attributions and scores by criterion, of the shared part."""
        folder = self.folder / "shared"
        entries = json.loads((folder / "study.json").read_text())["entries"]
        (stem,) = (entry["stem"] for entry in entries if entry["name"] == assay_methods(self.size)[method])
        with np.load(folder / "explanations" / f"{stem}.npz") as found:
            values, output, base = (np.array(found[name]) for name in ("values", "output", "base"))
        scores = json.loads((folder / "scores" / f"{stem}.json").read_text())["scores"]
        by_name = {each["criterion"]: np.array(each["values"], dtype=np.float64) for each in scores}
        return values, by_name, output, base

    def row_numbers(self):
        with (self.folder / "shared" / "scores.csv").open() as file:
            lines = [line for line in csv.DictReader(file) if line["explanation"] == "gradient"]
        return np.array([int(line["id"]) - 1 for line in lines])


# The peers' side


def peers_study(studies, kept):
    """The same network, rows, baseline and units of noise for the peers."""
    encoded = kept / "adult_in_order.npz"
    assay("--quiet", "data", "adult", "--encode", "label:impute=mean", "--out", encoded)
    with np.load(encoded) as table:
        values = table["values"][:, :FEATURES].astype(np.float32)
    # The training part comes first.
    pool, rows = values[:TRAINING_ROWS], values[TRAINING_ROWS:][studies.row_numbers()]
    kinds = dataset("adult", split="train").to_pandas().dtypes.iloc[:FEATURES]
    categories = np.array([str(kind) == "category" for kind in kinds])
    baseline, deviation = baseline_and_deviation(pool, categories)
    module = subjects.torch_module(studies.model, subjects.adult_module())
    samples = studies.size.samples
    made = PeersStudy(module, torch.from_numpy(rows), baseline, deviation, TARGET, samples, NOISE, RADIUS, SUBSET)
    _, _, output, base = studies.result("occlusion")
    np.testing.assert_allclose(module(made.rows)[:, TARGET], output, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(module(baseline)[0, TARGET], base[0], rtol=1e-4, atol=1e-4)
    return made


def peer_side(made, counts, attributions, found):
    """A side for alternate(): seconds of all parts together. Those of each part go to `found`."""

    def run():
        found.append(made.seconds(counts, attributions))
        return sum(found[-1].values())

    return run


# The same answers


def check_answers(studies, made, size):
    """Attributions agree, and scores of them: Quantus is given every subset once and Assay's noise, so that its numbers
    are the same and not only alike. Methods that sample draw differently on both sides: their attributions are
    compared by the mean square, and their sensitivity, in which the peers' own draws count, is not."""
    subsets = [list(subset) for subset in itertools.combinations(range(FEATURES), SUBSET)]
    worst = dict.fromkeys((EXPLAIN, *CRITERIA), 0.0)
    for method in made.explainers:
        values, scores, _, _ = studies.result(method)
        few = min(CHECKED, size.explained.get(method, CHECKED))
        theirs = made.explained(method, few)
        if method in SAMPLED:
            error = np.mean((theirs - values[:few]) ** 2) / np.mean(values[:few] ** 2)
            assert error < 0.05, f"{method}: {error}"
            apart = {}
        else:
            apart = {EXPLAIN: np.abs(theirs - values[:few]).max() / np.abs(values[:few]).max()}
        choices = [subset for subset in subsets for _ in range(CHECKED)]
        moves = iter(noise(SENSITIVITY, FEATURES, NOISE, 1.0, seed=0))
        with (
            mock.patch("numpy.random.choice", side_effect=choices),
            mock.patch("numpy.random.uniform", side_effect=lambda *_, own=moves: next(own)),
        ):
            for criterion in CRITERIA:
                if criterion == SENSITIVITY and method in SAMPLED:
                    continue
                count = few if criterion == SENSITIVITY else CHECKED
                found = made.scores(method, criterion, values[:count])
                apart[criterion] = np.abs(found - scores[criterion][:count]).max()
        for part, distance in apart.items():
            assert distance < 2e-3, f"{method}, {part}: {distance}"
            worst[part] = max(worst[part], float(distance))
    return worst


# What is shown


def part_lines(studies, counts, peer_rounds):
    """By method, both sides: explaining and scoring, medians over the rounds that count."""
    rounds = [{entry["name"]: entry for entry in run["entries"]} for run, _ in studies.parts["shared"][1:]]
    facts = []
    for method, name in assay_methods(studies.size).items():
        ours = [statistics.median(each[name][part] for each in rounds) for part in ("explaining", "scoring")]
        theirs = [
            statistics.median(sum(each[method, part] for part in parts) for each in peer_rounds)
            for parts in ((EXPLAIN,), tuple(CRITERIA))
        ]
        few = [counts[method, part] for part in (EXPLAIN, SENSITIVITY)]
        facts.append({"method": method, "peer_rows": few, "peer_s": theirs, "assay_s": ours})
    around = statistics.median(
        seconds - sum(each["explaining"] + each["scoring"] for each in run["entries"])
        for run, seconds in studies.parts["shared"][1:]
    )
    lines = []
    for each in facts:
        times = [seconds_text(side) for pair in zip(each["peer_s"], each["assay_s"], strict=True) for side in pair]
        lines.append([each["method"], " and ".join(map(str, each["peer_rows"])), *times])
    lines.append(["reading, planning, verdict, report", "-", "-", seconds_text(around), "-", "-"])
    return lines, {"parts": facts, "around_s": around}


def stage_lines(studies, name):
    """Where a whole study's time goes: its slowest entries, and the rest."""
    run, seconds = studies.parts[name][-1]
    entries = sorted(run["entries"], key=lambda each: -(each["explaining"] + each["scoring"]))
    few, rest = entries[:8], entries[8:]
    lines = [[each["name"], seconds_text(each["explaining"]), seconds_text(each["scoring"])] for each in few]
    sums = [sum(each[part] for each in rest) for part in ("explaining", "scoring")]
    lines.append([f"{len(rest)} others", *map(seconds_text, sums)])
    around = seconds - sum(each["explaining"] + each["scoring"] for each in entries)
    lines.append(["training, reading, planning, verdict, report", "-", seconds_text(around)])
    return lines, {"seconds": seconds, "around_s": around, "entries": entries}


def run_study(run):
    data_folder("adult")
    np.random.seed(0)
    torch.manual_seed(0)
    size = QUICK if run.quick else FULL
    studies = Studies(run, size)
    studies.shared()
    made = peers_study(studies, run.kept)
    worst = check_answers(studies, made, size)
    studies.parts["shared"].clear()
    counts, peer_rounds = made.row_counts(size.scored, size.explained, size.moved), []
    attributions = {method: studies.result(method)[0] for method in made.explainers}
    script = peer_side(made, counts, attributions, peer_rounds)
    found = alternate({"shared": studies.shared, "whole": studies.whole, "peers": script})
    more = {
        "samples": size.samples,
        "peer_rows": {f"{method}, {part}": count for (method, part), count in counts.items()},
        "apart": worst,
    }
    what = f"{size.rows} rows of Adult, 10 methods, 3 criteria"
    # LIME is most of the peers' time, and scaled from the fewest rows: the ratio to quote does without it, while
    # Assay's side keeps it.
    rounds = peer_rounds[1:]
    without = [sum(each[key] for key in each if key[0] != "lime") for each in rounds]
    yield Row(
        f"study of {what}; the peers without LIME (their time from fewer rows)",
        PEERS,
        without,
        found["shared"],
        front="whole study of Adult, shared part (peers scaled from some rows)",
        more=more,
    )
    few = f"{size.explained['lime']} and {size.moved['lime']} of {size.rows} rows"
    yield Row(f"study of {what}; the peers' LIME from {few}", PEERS, found["peers"], found["shared"])
    yield Row(
        f"whole study of {size.rows} rows of Adult, pool of {size.pool:,}; the peers: the shared part without LIME",
        PEERS,
        without,
        found["whole"],
    )
    lines, facts = part_lines(studies, counts, rounds)
    yield Table(
        f"Study of {what}: seconds by part",
        ["method", "rows explained and moved by the peers", "explaining, peers", "Assay", "scoring, peers", "Assay"],
        lines,
        PARTS_TEXT,
        facts=facts,
    )
    name, title = "whole", f"Whole study of {size.rows} rows of Adult against {size.pool:,}: seconds by explanation"
    if not run.quick:
        # Too long for rounds.
        name, title = "default", "`assay study adult` as it is, once: seconds by explanation"
        studies.study(name)
    lines, facts = stage_lines(studies, name)
    yield Table(title, ["explanation", "explaining", "scoring"], lines, STAGES_TEXT, facts=facts)


PARTS_TEXT = (
    "Seconds for all rows, medians over the rounds. The peers' are scaled from the rows they are run on. Scoring is "
    "faithfulness, complexity and sensitivity together; for sensitivity the method explains ten more rows for each. "
    "How long faithfulness and complexity take does not depend on the method that made the attributions: the peers "
    "are timed on those of one method, and the time is counted for each."
)
STAGES_TEXT = (
    "A study makes every aggregate for the neighbours of its rows too, to score their sensitivity, so an aggregator "
    "that takes long for a row decides the time of the whole."
)
WORKLOADS = [
    Workload(
        "end_to_end",
        "A whole study",
        run_study,
        "`assay study adult` beside a script that does the same with Captum, SHAP and Quantus "
        "(benchmarks/peers/captum_quantus_study.py), on one thread. Both have the network that the study trains, "
        "and the rows, baseline and budgets of the study. Shared are ten methods and three criteria: faithfulness "
        "over subsets of 3 of 14 features (as many as there are, 364, drawn with repeats by Quantus), complexity, "
        f"and the maximum sensitivity of Yeh et al. with {NOISE} points, in place of the study's own, which looks at "
        "neighbours among the training rows: Quantus has no such thing. The path integral has Captum's 50 points on "
        "both sides. Kernel SHAP and exact values are SHAP's, whose kernel method is many times faster than "
        "Captum's. Before anything is timed both sides are compared. Given every subset once and Assay's noise, "
        "Quantus gives Assay's scores of every method that draws nothing, to 0.002; sampled attributions agree "
        "within their draws.\n\n"
        "Assay's time is that of the program from start to end: reading the table, planning, errors and bootstrap "
        "intervals of all means, tests between methods, verdict, and the files of the study with its report. The "
        "peers' time is that of explaining and scoring alone, with the libraries loaded and the rows in memory; "
        "slow parts are run on fewer rows and scaled to all, as the first table says. The whole study has what the "
        "peers have not: 11 methods, 16 aggregates, 11 criteria, curves, variations, and the training of the "
        "network. Its peers are those of the shared part: Assay does more there. Captum's LIME alone takes most of the "
        "peers' time, and is run on one or two rows: the first row and that of the whole study leave it out on the "
        "peers' side.",
    ),
]
