"""Criteria beside Quantus: scores of both sides are compared, then times for a row."""

import dataclasses
import itertools
import sys
from unittest import mock

import numpy as np
import quantus
import subjects
import torch
from captum import attr
from explanations import repeated
from harness import ROOT, Row, Workload, alternate, timed
from torch import nn

import assay

sys.path.insert(0, str(ROOT / "tests" / "fixtures" / "criteria"))
from make_criteria import noise

ROWS, SUBSETS, SAMPLES, RADIUS = 1000, 100, 10, 0.2
GRADIENT, PATHS = "gradient_x_input", "integrated_gradients:rule=middle:steps=10:tolerance=0"
YEH = f"max_sensitivity_yeh:radius={RADIUS}:space=raw:samples={SAMPLES}"


class Judge:
    """Both sides on the rows of a subject; Quantus wants a channel before the features."""

    def __init__(self, made, quick):
        self.rows = 100 if quick else ROWS  # Quantus': its time for a row does not depend on how many there are
        model, table, baseline = assay.load(made.file), made.table(), made.flat_baseline()
        options = {"baseline": baseline, "threads": 1, "progress": False}
        self.every = assay.explain(model, table, GRADIENT, **options)
        self.explained = {method: assay.explain(model, table[:ROWS], method, **options) for method in (GRADIENT, PATHS)}
        some = table[: len(table) // 4] if quick else table
        self.among_others = assay.explain(model, some, GRADIENT, pool=some, **options)
        self.module = nn.Sequential(nn.Flatten(), made.module).eval()
        self.x = table[:, None].copy()
        self.y = made.targets.numpy()
        self.baseline = baseline
        self.explainers = captum_explainers(self.module, baseline)
        self.phi = {method: np.array(found.values)[: self.rows, None] for method, found in self.explained.items()}
        self.phi_of_every = np.array(self.every.values)[:, None]

    def replaced(self, arr, indices, **_):
        """Quantus' own replacement takes one value for all features, so this is a function of the user's."""
        out = arr.copy()
        rows = np.arange(len(arr))[:, None]
        out[rows, indices] = self.baseline[0][indices]
        return out

    def scores(self, metric, batch, phi, **options):
        found = metric(
            model=self.module,
            x_batch=self.x[: len(phi)],
            y_batch=self.y[: len(phi)],
            a_batch=phi.copy(),
            softmax=False,
            batch_size=batch,
            **options,
        )
        return np.asarray(found, dtype=np.float64)

    def faithfulness(self, batch, size, runs=SUBSETS):
        options = {"nr_runs": runs, "subset_size": size, "perturb_func": self.replaced}
        options |= {"normalise": False, "return_aggregate": False, "disable_warnings": True}
        return self.scores(quantus.FaithfulnessCorrelation(**options), batch, self.phi[GRADIENT])

    def faithfulness_of_all(self, size):
        """Each subset once."""
        subsets = [list(subset) for subset in itertools.combinations(range(self.x.shape[-1]), size)]
        drawn = [subset for subset in subsets for _ in range(self.rows)]
        with mock.patch("numpy.random.choice", side_effect=drawn):
            return self.faithfulness(self.rows, size, len(subsets))

    def complexity(self, batch, rows):
        metric = quantus.Complexity(normalise=False, disable_warnings=True)
        return self.scores(metric, batch, self.phi_of_every[:rows])

    def sensitivity(self, batch, method, **more):
        options = {"nr_samples": SAMPLES, "lower_bound": RADIUS, "disable_warnings": True} | more
        metric = quantus.MaxSensitivity(norm_denominator=lambda a: np.ones(len(a)), **options)
        return self.scores(metric, batch, self.phi[method], explain_func=self.explainers[method])

    def sensitivity_to_our_noise(self, method):
        drawn = iter(noise("max_sensitivity_yeh", self.x.shape[-1], SAMPLES, RADIUS, seed=0))
        return self.sensitivity(self.rows, method, perturb_func=lambda arr, **_: arr + next(drawn))


def captum_explainers(module, baseline):
    """Captum called directly; quantus.explain() makes the same calls and looks at its arguments before."""
    product, paths = attr.InputXGradient(module), attr.IntegratedGradients(module)
    base = torch.from_numpy(baseline)[:, None]

    def gradients(model, inputs, targets, **_):
        return product.attribute(torch.tensor(inputs, dtype=torch.float32), torch.as_tensor(targets)).detach().numpy()

    def integrated(model, inputs, targets, **_):
        options = {"n_steps": 10, "method": "riemann_middle"}
        x = torch.tensor(inputs, dtype=torch.float32)
        return paths.attribute(x, base, torch.as_tensor(targets), **options).detach().numpy()

    return {GRADIENT: gradients, PATHS: integrated}


@dataclasses.dataclass
class Comparison:
    name: str
    criterion: str
    explained: object
    peer: str
    run: object  # batch size -> scores
    peer_rows: int
    least_ratio: float
    same: object = None  # () -> what Assay's scores must be; None: subsets are drawn
    front: str | None = None


def comparisons(judge, quick):
    for size in (2, 7):
        yield Comparison(
            f"faithfulness, |S| = {size}, {SUBSETS} subsets, {ROWS:,} rows of Adult",
            f"faithfulness:subset={size}:budget={SUBSETS}:samples={SUBSETS}",
            judge.explained[GRADIENT],
            "Quantus FaithfulnessCorrelation",
            lambda batch, size=size: judge.faithfulness(batch, size),
            judge.rows,
            100,
            (lambda: judge.faithfulness_of_all(2)) if size == 2 else None,
            f"faithfulness, {SUBSETS} subsets of 7" if size == 7 else None,
        )
    rows = len(judge.x) // 8 if quick else len(judge.x)
    yield Comparison(
        f"complexity, {len(judge.x):,} rows of Adult",
        "complexity",
        judge.every,
        "Quantus Complexity",
        lambda batch: judge.complexity(batch, rows),
        rows,
        20,
        lambda: judge.complexity(ROWS, rows),
    )
    for method in (GRADIENT, PATHS):
        label = method.split(":")[0]
        yield Comparison(
            f"max_sensitivity_yeh, {SAMPLES} samples, {label}, {ROWS:,} rows of Adult",
            YEH,
            judge.explained[method],
            "Quantus MaxSensitivity",
            lambda batch, method=method: judge.sensitivity(batch, method),
            judge.rows,
            50,
            lambda method=method: judge.sensitivity_to_our_noise(method),
        )


def score(explained, criterion, **more):
    """Without the bootstrap interval of the mean, which Quantus does not have."""
    made = assay.evaluate(explained, criterion, threads=1, progress=False, interval=False, **more)
    return next(iter(made.values()))


def check_answers(case):
    """Scores row by row where both sides score the same numbers; means where subsets are drawn, which all rows share in
    Assay."""
    ours = np.asarray(score(case.explained, case.criterion).values)[: case.peer_rows]
    if case.same is None:
        np.testing.assert_allclose(ours.mean(), case.run(case.peer_rows).mean(), rtol=0.15, err_msg=case.name)
    else:
        np.testing.assert_allclose(ours, case.same(), rtol=1e-3, atol=1e-3 * np.abs(ours).max(), err_msg=case.name)


def run_criteria(run):
    np.random.seed(0)
    judge = Judge(subjects.adult(run.kept), run.quick)
    for case in comparisons(judge, run.quick):
        check_answers(case)
        batches = [250, 1000] if case.peer_rows >= 1000 else [case.peer_rows]
        peer = {size: repeated(lambda run=case.run, size=size: run(size), case.peer_rows) for size in batches}
        batch = min(peer, key=lambda size: peer[size]()) if len(peer) > 1 else batches[0]
        ours = repeated(lambda case=case: score(case.explained, case.criterion), len(case.explained))
        found = alternate({"peer": peer[batch], "assay": ours})
        yield Row(
            f"{case.name}, a row",
            case.peer,
            found["peer"],
            found["assay"],
            least_ratio=case.least_ratio,
            front=case.front,
            more={"peer_setting": batch, "peer_row_count": case.peer_rows},
        )
    yield cost_of_interval(judge)
    yield sensitivity_over_the_data(judge.among_others)


def cost_of_interval(judge):
    def with_interval():
        assay.evaluate(judge.every, "complexity", threads=1, progress=False)

    found = alternate({"assay": repeated(with_interval, len(judge.every))})
    name = f"complexity, with the bootstrap interval of the mean, {len(judge.every):,} rows of Adult, a row"
    return Row(name, None, [], found["assay"])


def sensitivity_over_the_data(explained):
    work = timed(lambda: score(explained, "avg_sensitivity:radius=2", pool_explanations=explained))
    found = alternate({"assay": work})
    # Ten seconds are for all rows, and the time grows with the square of their number.
    limit = 10 * (len(explained) / subjects.ADULT) ** 2
    name = f"avg_sensitivity, {len(explained):,} rows of Adult against all others, r = 2"
    return Row(name, None, [], found["assay"], limit=limit)


WORKLOADS = [
    Workload(
        "criteria",
        "Criteria",
        run_criteria,
        "The paper's network for Adult, and explanations by `gradient_x_input` (and `integrated_gradients`), made "
        "once by Assay, for both sides. Assay's time is that of `assay.evaluate` without the bootstrap interval of "
        "the mean (`interval=False`), which Quantus does not have; what it costs is a line of its own. Quantus runs "
        "at the best of several batch sizes, without warnings, progress bar and normalisation, and calls Captum "
        "directly. Before, scores are compared row by row where both sides see the same numbers (all subsets of two, "
        "the same noise); where subsets are drawn, which all rows share in Assay, the means agree to 15 %.",
    )
]
