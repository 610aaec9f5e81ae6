"""Explanation functions beside Captum and SHAP: attributions of both sides are compared, then times for a row."""

import dataclasses
import statistics
import time

import cpp_benchmarks
import numpy as np
import shap
import subjects
import torch
from captum import attr
from harness import Row, Table, Workload, alternate, seconds_text

import assay

SAMPLES, PERMUTATIONS, STEPS = 2076, 25, 50
FIFTY = f"integrated_gradients:rule=gauss_legendre:steps={STEPS}:tolerance=0"
KERNEL = f"kernel_shap:samples={SAMPLES}"
SAMPLING = f"shapley_sampling:permutations={PERMUTATIONS}:antithetic=false"
LABELS = {
    FIFTY: f"integrated_gradients, {STEPS} Gauss-Legendre points",
    "integrated_gradients": "integrated_gradients, exact",
    KERNEL: f"kernel_shap, {SAMPLES:,} samples",
    SAMPLING: f"shapley_sampling, {PERMUTATIONS} permutations",
}
# A call may be over within a millisecond: a round goes on calling for so many seconds.
LEAST_ROUND = 0.05


@dataclasses.dataclass
class Comparison:
    method: str  # Assay's
    peer: str
    run: object  # (rows, targets, setting) -> the peer's attributions
    settings: list  # the best is used
    peer_rows: int
    assay_rows: int
    least_ratio: float
    front: str | None = None
    tolerance: float | None = 1e-3  # of answers, over the largest; None: drawn, so compared with exact values


# Peers


def in_batches(explain):
    """The setting is a batch size, or begins with one."""

    def run(rows, targets, setting):
        size, *more = setting if isinstance(setting, tuple) else (setting,)
        batches = zip(rows.split(size), targets.split(size), strict=True)
        return torch.cat([explain(batch, wanted, *more).detach() for batch, wanted in batches]).numpy()

    return run


def one_output(module, output):
    """The margin of one class as a function of NumPy rows, as SHAP wants it: faster here than through PyTorch."""
    first, last = module[0], module[2]
    weights, bias = first.weight.numpy().T.copy(), first.bias.numpy()
    tail, offset = last.weight[output].numpy().copy(), last.bias[output].item()

    def margin(rows):
        hidden = np.asarray(rows, dtype=np.float32) @ weights
        hidden += bias
        np.maximum(hidden, np.float32(0.01) * hidden, out=hidden)
        return hidden @ tail + np.float32(offset)

    return margin


def shap_exact(made):
    explainer = shap.explainers.Exact(one_output(made.module, 1), shap.maskers.Independent(made.baseline.numpy(), 1))
    return lambda rows, _targets, _setting: explainer(rows.numpy().astype(np.float64), silent=True).values


def shap_kernel(made):
    explainer = shap.KernelExplainer(one_output(made.module, 1), made.baseline.numpy())
    options = {"nsamples": SAMPLES, "l1_reg": False, "silent": True}
    return lambda rows, _targets, _setting: explainer.shap_values(rows.numpy(), **options)


def captum_kernel(made):
    explainer = attr.KernelShap(made.module)

    def run(row, target, at_once):
        options = {"n_samples": SAMPLES, "perturbations_per_eval": at_once}
        return explainer.attribute(row, made.baseline, target=target, **options)

    return lambda rows, targets, at_once: in_batches(run)(rows, targets, (1, at_once))


def captum_sampling(made):
    explainer = attr.ShapleyValueSampling(made.module)

    def run(x, target, at_once):
        options = {"n_samples": PERMUTATIONS, "perturbations_per_eval": at_once}
        return explainer.attribute(x, made.baseline, target, **options)

    return in_batches(run)


def captum_paths(made):
    explainer = attr.IntegratedGradients(made.module)

    def run(x, target, internal=None):
        return explainer.attribute(x, made.baseline, target, n_steps=STEPS, internal_batch_size=internal)

    return in_batches(run)


def captum_gradients(made):
    """By Assay's name: the peer's name, and its function."""
    saliency, product, deeplift = (kind(made.module) for kind in (attr.Saliency, attr.InputXGradient, attr.DeepLift))
    return {
        "gradient": ("Captum Saliency", lambda x, target: saliency.attribute(x.clone(), target, abs=False)),
        "gradient_x_input": ("Captum InputXGradient", lambda x, target: product.attribute(x.clone(), target)),
        "deeplift": ("Captum DeepLift", lambda x, target: deeplift.attribute(x.clone(), made.baseline, target)),
    }


# Of perf, when the method was last changed; a profile cannot be taken in every run.
SAMPLING_PROFILE = Table(
    "Where permutation sampling spends its time",
    ["part", "share"],
    [
        ["walking the orders: an addition, a maximum, a multiplication-addition for each unit and coalition", "45 %"],
        ["deltas and bounds of the units, and what is additive", "15 %"],
        ["transposing values between rows and coalitions, twice", "11 %"],
        ["what players add, their means and standard errors", "10 %"],
        ["the rest: differences, outputs, checks", "19 %"],
    ],
    text="A profile by perf, taken when the method was last changed, not by this run. One thread, AVX-512, 25 "
    "permutations of 14 players through 40 units, 327 coalitions a row. The walk does "
    "39,240 operations a row, 16 rows to a vector: at two vectors a cycle, the most there is, 1,226 cycles. Captum is "
    "at its best with batches of 16,384 rows and more, where PyTorch's own costs vanish, and gives no standard errors. "
    "What could still go are the transposes: games give their values by row, the walk has them by coalition.",
)


# What is compared


def adult_comparisons(made, quick):
    # A quick run tries no other settings than those that were among the best in full ones.
    few, every = 5 if quick else 20, subjects.ADULT
    some = every // 8 if quick else every
    yield Comparison(
        "exact_shapley", "shap.explainers.Exact", shap_exact(made), [None], few, some, 300, "exact Shapley values"
    )
    front = f"Kernel SHAP, {SAMPLES:,} samples"
    # Solving for the sample takes some 50 ms, whatever the number of rows.
    many = every // 2 if quick else every
    yield Comparison(KERNEL, "shap.KernelExplainer", shap_kernel(made), [None], few, many, 300, front, None)
    yield Comparison(
        KERNEL,
        "Captum KernelShap",
        captum_kernel(made),
        [SAMPLES] if quick else [1, 100, SAMPLES],
        1,
        many,
        10000,
        front,
        None,
    )
    batches = [(16384, 1)] if quick else [(1000, 14), (4096, 14), (4096, 1), (8192, 1), (16384, 1), (every, 1)]
    peer = ("Captum ShapleyValueSampling", captum_sampling(made), batches, 16384 if quick else every)
    yield Comparison(SAMPLING, *peer, every, 50, None, None)
    batches = [256] if quick else [128, 256, 512, 1024, 4096]
    for method, (name, run) in captum_gradients(made).items():
        yield Comparison(method, name, in_batches(run), batches, some, every, 100)
    batches = [(512, 512)] if quick else [5, 10, 20, 40, (512, 256), (512, 512), (512, 1024)]
    peer = ("Captum IntegratedGradients", captum_paths(made), batches, 256 if quick else 4096)
    yield Comparison(FIFTY, *peer, every, 100, f"integrated gradients, {STEPS} points")
    # The exact integral against fifty points of it.
    yield Comparison("integrated_gradients", *peer, every, 100, tolerance=0.02)


def mnist_comparisons(made, quick):
    images, few = (40, 4) if quick else (subjects.IMAGES, 40)
    batches = [20] if quick else [10, 20, 50, 200]
    for method, (name, run) in captum_gradients(made).items():
        front = "DeepLift of MNIST images" if method == "deeplift" else None
        yield Comparison(method, name, in_batches(run), batches, images, images, 1, front)
    batches = [2] if quick else [2, 4, 10, (50, 100)]
    yield Comparison(FIFTY, "Captum IntegratedGradients", captum_paths(made), batches, few, few, 1)


# Both sides


def repeated(work, rows):
    """A side for alternate(): seconds for one row."""

    def run():
        begin, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - begin < LEAST_ROUND:
            work()
            calls += 1
        return (time.perf_counter() - begin) / (calls * rows)

    return run


def best_setting(made, case):
    """The fastest, each tried three times on a few of its batches."""
    if len(case.settings) == 1:
        return case.settings[0]

    def tried(setting):
        batch = setting[0] if isinstance(setting, tuple) else setting
        rows = min(case.peer_rows, 4 * batch)
        work = repeated(lambda: case.run(made.rows[:rows], made.targets[:rows], setting), rows)
        return min(work() for _ in range(3))

    return min(case.settings, key=tried)


def check_answers(made, case, setting, explain):
    """Both sides give the same attributions. What is drawn is near the exact values on both sides: mean squared errors
    of at most a twentieth of their mean square."""
    count = min(case.peer_rows, 4)
    theirs = np.asarray(case.run(made.rows[:count], made.targets[:count], setting)).reshape(count, -1)
    ours = np.asarray(explain(case.method, count).values)
    if case.tolerance is None:
        exact = np.asarray(explain("exact_shapley", count).values)
        for found in (theirs, ours):
            assert np.mean((found - exact) ** 2) <= 0.05 * np.mean(exact**2), f"{case.method} beside {case.peer}"
    elif case.method == "deeplift" and made.name == "mnist":
        # Captum 0.9 is wrong where one nonlinear module follows another, as in this network (its issue 1104): what can
        # be checked is that ours add up to the change of the output.
        outputs = made.module(made.rows[:count])[range(count), made.targets[:count]]
        base = made.module(made.baseline)[0, made.targets[:count]]
        np.testing.assert_allclose(ours.sum(axis=1), (outputs - base).numpy(), rtol=1e-3, atol=1e-3)
    else:
        np.testing.assert_allclose(
            ours, theirs, rtol=0, atol=case.tolerance * np.abs(theirs).max(), err_msg=case.method
        )


def why_missed(made, case, found):
    """The reason of a bar that does not hold, from the C++ library's own time for the same rows."""
    theirs, ours = (statistics.median(found[side]) for side in ("peer", "assay"))
    if theirs / ours >= case.least_ratio:
        return {}
    if case.method == SAMPLING:
        return {"reason": "Its profile is in the section on explanation functions on a table."}
    if case.method not in ("gradient", "gradient_x_input"):
        return {}
    name = f"explain_{made.name}_{case.method}/threads:1/rows:{case.assay_rows}"
    inside = cpp_benchmarks.side(name, 0.3, {"ASSAY_BENCH_EXPLAIN": made.folder})() / case.assay_rows
    reason = (
        f"`{case.method}` in the C++ library takes {seconds_text(inside)} a row, "
        f"{theirs / inside:.0f} times less than Captum; the other {100 * (1 - inside / ours):.0f} % of the call are "
        "Python's: looking for infinities among the rows, copying them, and the pages of memory of the result."
    )
    return {"reason": reason}


def compare(made, cases, words):
    model, baseline = assay.load(made.file), made.flat_baseline()

    def explain(method, count):
        return assay.explain(model, made.table(count), method, baseline=baseline, threads=1, progress=False)

    for case in cases:
        setting = best_setting(made, case)
        check_answers(made, case, setting, explain)
        rows, targets = made.rows[: case.peer_rows], made.targets[: case.peer_rows]
        table = made.table(case.assay_rows)
        sides = {
            "peer": lambda run=case.run, x=rows, y=targets, setting=setting: run(x, y, setting),
            "assay": lambda method=case.method, x=table: assay.explain(
                model, x, method, baseline=baseline, threads=1, progress=False
            ),
        }
        counts = {"peer": len(rows), "assay": len(table)}
        found = alternate({name: repeated(side, counts[name]) for name, side in sides.items()})
        more = {"peer_setting": setting, "peer_row_count": len(rows), "assay_row_count": len(table)}
        yield Row(
            f"{LABELS.get(case.method, case.method)}, {case.assay_rows:,} {words}, a row",
            case.peer,
            found["peer"],
            found["assay"],
            least_ratio=case.least_ratio,
            front=case.front,
            more=more | why_missed(made, case, found),
        )


def run_adult(run):
    made = subjects.adult(run.kept)
    yield from compare(made, adult_comparisons(made, run.quick), "rows of Adult")
    yield SAMPLING_PROFILE


def run_mnist(run):
    made = subjects.mnist(run.kept, run.quick)
    yield from compare(made, mnist_comparisons(made, run.quick), "images of MNIST")


WORKLOADS = [
    Workload(
        "explanations_adult",
        "Explanation functions on a table",
        run_adult,
        "The paper's network for Adult (14 inputs, 40 leaky ReLUs, two outputs), all 48,842 rows against their mean. "
        "Assay's time is that of `assay.explain` with a NumPy array, from the call to the result. Each peer runs at "
        "the best of several batch sizes, tried before the rounds; its weights need no gradients, which is faster. "
        "Captum's gradients take time that grows with the square of a batch (it differentiates each output by "
        "itself), so its best batches are small. Slow peers get fewer rows: their time for a row does not depend on "
        "how many there are. Attributions of both sides agree to a thousandth of the largest before times are "
        "believed; sampled ones differ by their draws, and are both compared with exact Shapley values. Assay's "
        "sampling also gives standard errors. Kernel SHAP solves for its sample once, some 50 ms here, whatever the "
        "number of rows: for one row alone that is most of its time, and more than SHAP takes for a row.",
    ),
    Workload(
        "explanations_mnist",
        "Explanation functions on images",
        run_mnist,
        "The paper's network for MNIST (two convolutions of 5 x 5 with 32 and 64 channels, ReLUs and pooling, one "
        "dense layer), test images against black, as above. Captum's DeepLift is not compared by its values here: it "
        "is wrong where one nonlinear module follows another, as pooling follows a ReLU; Assay's add up to the change "
        "of the output, which is checked.",
    ),
]
