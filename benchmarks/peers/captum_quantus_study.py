"""What `assay study` does, as far as Captum, SHAP and Quantus can do it: the study that one writes without Assay.

Every method explains the rows once; Quantus scores those attributions, and explains again only where a metric is about
other rows. Batch sizes are the best of several that were tried on 500 rows of this network (100 for what follows paths
and noise). SHAP makes the Shapley values: its kernel method is many times faster than Captum's.
"""

import math
import time

import numpy as np
import quantus
import shap
import torch
from captum import attr
from captum._utils.models.linear_model import SkLearnRidge
from explanations import one_output
from torch import nn

EXPLAIN, FAITHFULNESS, COMPLEXITY, SENSITIVITY = "explain", "faithfulness", "complexity", "max_sensitivity_yeh"
BATCH = 256
SCORED = "gradient"
STEPS, NOISY_COPIES, NOISE_LEVEL, PERMUTATIONS, LIME_WIDTH = 50, 50, 0.1, 32, 0.75


class ScaledNumbers(nn.Module):
    """The network as a function of numbers in units of their deviation, and of categories. Captum's noise has one size
    for a whole input, so what moves and what stays are inputs of their own."""

    def __init__(self, module, numbers, deviation):
        super().__init__()
        self.module, self.numbers = module, numbers
        self.deviation = deviation[numbers]

    def split(self, rows):
        return rows[:, self.numbers] / self.deviation, rows[:, ~self.numbers]

    def forward(self, numbers, categories):
        rows = torch.empty(len(numbers), len(self.numbers))
        rows[:, self.numbers] = numbers * self.deviation
        rows[:, ~self.numbers] = categories
        return self.module(rows)


def baseline_and_deviation(pool, categories):
    """The mean of the pool, categories at their mode; and how far columns spread, 0 for categories: no noise there."""
    baseline, deviation = pool.mean(axis=0, dtype=np.float64), pool.std(axis=0, dtype=np.float64)
    for column in np.flatnonzero(categories):
        codes, counts = np.unique(pool[:, column], return_counts=True)
        baseline[column] = codes[counts.argmax()]
    deviation[categories] = 0
    return torch.tensor(baseline[None]).float(), torch.tensor(deviation).float()


def in_batches(explain, size):
    return lambda rows: torch.cat([explain(part) for part in rows.split(size)]).detach().numpy()


def smooth_grad(module, deviation, target):
    """Noise on numbers, in their deviations; categories stay as they are."""
    scaled = ScaledNumbers(module, deviation > 0, deviation)
    tunnel = attr.NoiseTunnel(attr.Saliency(scaled))
    options = {"nt_type": "smoothgrad", "nt_samples": NOISY_COPIES, "stdevs": (NOISE_LEVEL, 0.0)}

    def explain(rows):
        numbers, categories = tunnel.attribute(scaled.split(rows), target=target, abs=False, **options)
        found = torch.empty_like(rows)
        found[:, scaled.numbers] = numbers / scaled.deviation
        found[:, ~scaled.numbers] = categories
        return found

    return explain


def lime(module, baseline, target, samples):
    """A ridge of 1 and a kernel of the number of absent features, as Assay has them."""
    width = LIME_WIDTH * math.sqrt(baseline.shape[1])

    def similarity(_row, _moved, kept, **_):
        return math.exp(-float((kept == 0).sum()) / width**2)

    explainer = attr.Lime(module, interpretable_model=SkLearnRidge(alpha=1), similarity_func=similarity)
    options = {"n_samples": samples, "perturbations_per_eval": samples}
    return lambda row: explainer.attribute(row, baseline, target=target, **options)


def explainers(module, baseline, deviation, target, samples):
    """By Assay's name of the method: rows as a tensor -> attributions as an array. `samples` are evaluations of the
    model for a row by kernel_shap and lime."""
    saliency, product, deeplift, paths, ablation, orders = (
        kind(module)
        for kind in (
            attr.Saliency,
            attr.InputXGradient,
            attr.DeepLift,
            attr.IntegratedGradients,
            attr.FeatureAblation,
            attr.ShapleyValueSampling,
        )
    )
    margin, base = one_output(module, target), baseline.numpy()
    exact = shap.explainers.Exact(margin, shap.maskers.Independent(base, 1))
    kernel = shap.KernelExplainer(margin, base)
    features = baseline.shape[1]

    def integrated(rows):
        return paths.attribute(rows, baseline, target, n_steps=STEPS, internal_batch_size=512)

    def sampled_orders(rows):
        return orders.attribute(rows, baseline, target, n_samples=PERMUTATIONS, perturbations_per_eval=features)

    return {
        "gradient": in_batches(lambda rows: saliency.attribute(rows.clone(), target, abs=False), BATCH),
        "gradient_x_input": in_batches(lambda rows: product.attribute(rows.clone(), target), BATCH),
        "integrated_gradients": in_batches(integrated, 512),
        "smooth_grad": in_batches(smooth_grad(module, deviation, target), 16),
        "deeplift": in_batches(lambda rows: deeplift.attribute(rows.clone(), baseline, target), BATCH),
        "exact_shapley": lambda rows: exact(rows.numpy().astype(np.float64), silent=True).values,
        "kernel_shap": lambda rows: kernel.shap_values(rows.numpy(), nsamples=samples, l1_reg=False, silent=True),
        "shapley_sampling": in_batches(sampled_orders, 4096),
        "occlusion": in_batches(
            lambda rows: ablation.attribute(rows, baseline, target, perturbations_per_eval=features), 4096
        ),
        "lime": in_batches(lime(module, baseline, target, samples), 1),
    }


class PeersStudy:
    """A network, rows, what stands for absent features, and how far columns may be moved (0: a category)."""

    def __init__(self, module, rows, baseline, deviation, target, samples, noise, radius, subset):
        self.module, self.rows, self.target = module, rows, target
        self.baseline = baseline.numpy()[0]
        self.reach = radius * deviation.numpy()
        self.explainers = explainers(module, baseline, deviation, target, samples)
        # Quantus counts the features behind a channel.
        self.judged = nn.Sequential(nn.Flatten(), module).eval()
        quiet = {"disable_warnings": True, "normalise": False, "return_aggregate": False}
        subsets = math.comb(rows.shape[1], subset)
        self.metrics = {
            FAITHFULNESS: quantus.FaithfulnessCorrelation(
                nr_runs=subsets, subset_size=subset, perturb_func=self.replaced, **quiet
            ),
            COMPLEXITY: quantus.Complexity(**quiet),
            SENSITIVITY: quantus.MaxSensitivity(nr_samples=noise, perturb_func=self.moved, **quiet),
        }

    def replaced(self, arr, indices, **_):
        """Quantus' own replacement has one value for all features."""
        out = arr.copy()
        out[np.arange(len(arr))[:, None], indices] = self.baseline[indices]
        return out

    def moved(self, arr, **_):
        """Quantus' own noise has one size for all features."""
        return (arr + self.reach * np.random.uniform(-1, 1, arr.shape)).astype(np.float32)

    def explained(self, method, count):
        return np.asarray(self.explainers[method](self.rows[:count]), dtype=np.float32)

    def scores(self, method, criterion, attributions):
        count = len(attributions)

        def again(model, inputs, targets, **_):
            rows = torch.from_numpy(np.asarray(inputs, dtype=np.float32)).flatten(1)
            return np.asarray(self.explainers[method](rows), dtype=np.float32)[:, None]

        found = self.metrics[criterion](
            model=self.judged,
            x_batch=self.rows[:count].numpy()[:, None],
            y_batch=np.full(count, self.target),
            a_batch=attributions[:, None].copy(),
            explain_func=again,
            softmax=False,
            batch_size=count,
        )
        return np.asarray(found, dtype=np.float64)

    def row_counts(self, scored, explained, moved):
        """How many rows each part is run on, by (method, part): those said for a method, else all. Time for scores of
        attributions does not depend on whose they are, so they are of one method."""
        every = len(self.rows)
        counts = {(SCORED, FAITHFULNESS): scored, (SCORED, COMPLEXITY): every}
        for method in self.explainers:
            counts[method, EXPLAIN] = min(every, explained.get(method, every))
            counts[method, SENSITIVITY] = min(every, moved.get(method, every))
        return counts

    def seconds(self, counts, attributions):
        """Runs the study: seconds by (method, part), each scaled from the rows it is run on to all. Scores are of given
        attributions: a slow method explains few rows here."""
        found = {}
        for (method, part), count in counts.items():
            begin = time.perf_counter()
            if part == EXPLAIN:
                self.explained(method, count)
            else:
                self.scores(method, part, attributions[method][:count])
            found[method, part] = (time.perf_counter() - begin) * len(self.rows) / count
        for method in self.explainers:
            for part in (FAITHFULNESS, COMPLEXITY):
                found[method, part] = found[SCORED, part]
        return found
