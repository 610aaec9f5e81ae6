"""What Captum, SHAP and Quantus say of a model, each beside the call of Assay that says the same.

Shared by the tests that compare both live (test_python_explain.py, test_python_evaluate.py) and by record.py, which
stores the numbers of tiny models for `make test`. Peers run in float64, so that a difference is Assay's; where they
draw, it is from fixed seeds, several times over, so that their standard errors are known.
"""

import copy
import dataclasses
import pathlib
import sys

import numpy as np
import quantus
import shap
import torch
from captum import attr
from captum._utils.models.linear_model import SkLearnRidge

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "criteria"))
from make_criteria import Judge, effective_complexity, noise, of_attributions, one

STEPS, RUNS = 16, 12


@dataclasses.dataclass(frozen=True)
class Explained:
    """A call of assay.explain, and the peer's answer to it."""

    method: str
    options: dict
    reference: str  # "baseline", "background", or "" for methods that have none
    peer: str
    values: np.ndarray  # rows x features
    error: np.ndarray | None = None  # the peer's standard errors, where it samples


@dataclasses.dataclass(frozen=True)
class Scored:
    """A call of assay.evaluate on explanations of some method, and the peer's answer."""

    criterion: str
    options: dict
    peer: str
    values: np.ndarray  # one for each row


class Network:
    """A PyTorch module with rows (flat, float32), references, and the output that is explained."""

    def __init__(self, module, x, baseline, background, target=1, shape=None):
        self.module, self.target, self.shape = module.eval(), target, shape or (x.shape[1],)
        self.x, self.baseline, self.background = x, baseline, background
        # A copy: the user's module stays float32.
        self.double = copy.deepcopy(self.module).double()
        for parameter in self.double.parameters():
            parameter.requires_grad_(False)

    def tensor(self, rows):
        return torch.tensor(np.asarray(rows), dtype=torch.float64).reshape(-1, *self.shape)

    def flat(self, tensor):
        return tensor.detach().numpy().reshape(len(tensor), -1)

    def margin(self, rows):
        """The explained output as a function of NumPy rows, as SHAP wants it."""
        with torch.inference_mode():
            return self.double(self.tensor(rows))[:, self.target].numpy()


# Explanations


def gradients(made):
    """Captum's methods of plain derivatives, and the one that takes features away."""
    x, base, target = made.tensor(made.x), made.tensor(made.baseline), made.target
    saliency, product = attr.Saliency(made.double), attr.InputXGradient(made.double)
    yield Explained("gradient", {}, "", "captum Saliency", made.flat(saliency.attribute(x, target, abs=False)))
    found = made.flat(saliency.attribute(x, target, abs=True))
    yield Explained("gradient", {"absolute": True}, "", "captum Saliency, abs", found)
    yield Explained("gradient_x_input", {}, "", "captum InputXGradient", made.flat(product.attribute(x, target)))
    paths = attr.IntegratedGradients(made.double)
    for rule, name in (("gauss_legendre", "gausslegendre"), ("middle", "riemann_middle")):
        options = {"rule": rule, "steps": STEPS, "tolerance": 0}
        found = made.flat(paths.attribute(x, base, target, n_steps=STEPS, method=name))
        yield Explained("integrated_gradients", options, "baseline", f"captum IntegratedGradients {name}", found)
    options = {"rule": "gauss_legendre", "steps": STEPS, "tolerance": 0}
    many = [made.flat(paths.attribute(x, row, target, n_steps=STEPS)) for row in made.tensor(made.background)[:, None]]
    yield Explained("integrated_gradients", options, "background", "captum IntegratedGradients", np.mean(many, axis=0))
    found = made.flat(attr.FeatureAblation(made.double).attribute(x, base, target))
    yield Explained("occlusion", {}, "baseline", "captum FeatureAblation", found)


def deeplift(made):
    """Captum's hooks are right for modules that are used once and do not follow each other."""
    x, base, explainer = made.tensor(made.x), made.tensor(made.baseline), attr.DeepLift(made.double)
    found = made.flat(explainer.attribute(x, base, made.target))
    yield Explained("deeplift", {}, "baseline", "captum DeepLift", found)
    many = [made.flat(explainer.attribute(x, row, made.target)) for row in made.tensor(made.background)[:, None]]
    yield Explained("deeplift", {}, "background", "captum DeepLift", np.mean(many, axis=0))


def deep_explainer(made):
    """SHAP's own DeepLift, in float32: it has no other."""
    given = [torch.tensor(rows).reshape(-1, *made.shape) for rows in (made.background, made.x)]
    explainer = shap.DeepExplainer(made.module, given[0])
    found = explainer.shap_values(given[1], check_additivity=False)[..., made.target]
    return Explained("deeplift", {}, "background", "shap DeepExplainer", found.reshape(len(made.x), -1).astype(float))


def exact_shapley(function, x, references):
    """SHAP's exact values for each reference: `function` gives one number for a row."""
    players = x.shape[1]
    for reference, rows in references.items():
        # float64 copies: the masker compares features with the reference to skip those that are equal.
        masker = shap.maskers.Independent(rows.astype(np.float64), max_samples=len(rows))
        exact = shap.explainers.Exact(function, masker)(x.astype(np.float64), silent=True).values
        yield Explained("exact_shapley", {}, reference, "shap Exact", exact)
        # With a budget for all coalitions nothing is sampled on either side.
        explainer = shap.KernelExplainer(function, rows.astype(np.float64))
        budget = {"nsamples": 2**players, "l1_reg": False, "silent": True}
        found = explainer.shap_values(x.astype(np.float64), **budget)
        yield Explained("kernel_shap", {"samples": 2**players}, reference, "shap KernelExplainer", found)


def repeated(run):
    """Mean and standard error of several seeded runs."""
    runs = []
    for seed in range(RUNS):
        torch.manual_seed(seed)
        np.random.seed(seed)
        runs.append(np.asarray(run(seed), dtype=np.float64))
    return {"values": np.mean(runs, axis=0), "error": np.std(runs, axis=0, ddof=1) / np.sqrt(RUNS)}


def sampled(made):
    """The peers that draw, against the baseline."""
    x, base, target = made.tensor(made.x), made.tensor(made.baseline), made.target
    players = made.x.shape[1]
    sampling = attr.ShapleyValueSampling(made.double)
    found = repeated(lambda _: made.flat(sampling.attribute(x, base, target, n_samples=25)))
    yield Explained("shapley_sampling", {"permutations": 400}, "baseline", "captum ShapleyValueSampling", **found)

    masker = shap.maskers.Independent(made.baseline.astype(np.float64), max_samples=1)
    budget = {"max_evals": 10 * (2 * players + 1), "silent": True}

    def permuted(seed):
        return shap.explainers.Permutation(made.margin, masker, seed=seed)(made.x.astype(np.float64), **budget).values

    found = repeated(permuted)
    yield Explained("shapley_sampling", {"permutations": 400}, "baseline", "shap PermutationExplainer", **found)

    kernel = attr.KernelShap(made.double)
    options = {"target": target, "n_samples": 400, "perturbations_per_eval": 400}
    found = repeated(lambda _: np.concatenate([made.flat(kernel.attribute(row[None], base, **options)) for row in x]))
    samples = min(2**players - 2, 600)
    yield Explained("kernel_shap", {"samples": samples}, "baseline", "captum KernelShap", **found)

    # Without a pool Assay's noise is a share of each row's own range.
    level, tunnel = 0.2, attr.NoiseTunnel(attr.Saliency(made.double))

    def smooth(_):
        options = {"nt_type": "smoothgrad", "nt_samples": 200, "target": target, "abs": False}
        deviations = [level * float(row.max() - row.min()) for row in x]
        rows = [tunnel.attribute(row[None], stdevs=s, **options) for row, s in zip(x, deviations, strict=True)]
        return np.concatenate([made.flat(row) for row in rows])

    yield Explained("smooth_grad", {"samples": 2000, "level": level}, "", "captum NoiseTunnel", **repeated(smooth))


def lime(made):
    """Captum draws masks, Assay takes all of them: the same regression with the same kernel, nearly without ridge."""
    players = made.x.shape[1]
    width = 0.75 * np.sqrt(players)
    explainer = attr.Lime(
        made.double,
        interpretable_model=SkLearnRidge(alpha=1e-6),
        similarity_func=lambda _row, _changed, mask, **_: torch.exp(-(mask == 0).sum() / width**2),
    )
    options = {"target": made.target, "n_samples": 500, "perturbations_per_eval": 500}
    x, base = made.tensor(made.x), made.tensor(made.baseline)

    def run(_):
        return np.concatenate([made.flat(explainer.attribute(row[None], base, **options)) for row in x])

    return Explained("lime", {"samples": 2**players, "ridge": 0}, "baseline", "captum Lime", **repeated(run))


# Scores


def of_values(attributions):
    """Quantus' metrics that look at attributions alone."""
    yield Scored("complexity", {}, "Quantus Complexity", of_attributions(quantus.Complexity, attributions))
    yield Scored("sparseness", {}, "Quantus Sparseness", of_attributions(quantus.Sparseness, attributions))
    found = effective_complexity(attributions)
    yield Scored("effective_complexity", {"form": "count"}, "Quantus EffectiveComplexity, a row at a time", found)


def judge_of(made, attributions, explain=None):
    """Quantus beside a network; `explain` is asked for perturbed rows, where a metric perturbs them."""
    judge = Judge(made.double, made.x, made.baseline, made.target, explain or (lambda _module, x, _targets: x))
    judge.a = np.asarray(attributions, dtype=np.float64)[:, None]
    return judge


def of_model(judge):
    """Those that ask the model what rows without some features are: docs/quantus.md has the definitions."""
    columns = judge.x.shape[-1]
    for size in (1, 2, columns - 1):
        found = judge.faithfulness(size)
        yield Scored("faithfulness", {"subset": size}, "Quantus FaithfulnessCorrelation, all subsets", found)
    yield Scored("faithfulness_estimate", {}, "Quantus FaithfulnessEstimate", judge.faithfulness_estimate())
    yield Scored("deletion_auc", {}, "Quantus PixelFlipping's curve from the row itself", judge.deletion_auc())


def of_explainer(judge, seed, samples=16, radius=0.2, size=0.05):
    """Those that explain perturbed rows, under the noise that Assay draws from this seed."""
    columns = judge.x.shape[-1]
    drawn = noise("max_sensitivity_yeh", columns, samples, radius, seed)
    options = {"radius": radius, "space": "raw", "samples": samples}
    found = judge.perturbed(quantus.MaxSensitivity, drawn, norm_denominator=one)
    yield Scored("max_sensitivity_yeh", options, "Quantus MaxSensitivity, without its denominator", found)
    found = judge.perturbed(quantus.MaxSensitivity, drawn)
    yield Scored("max_sensitivity_yeh", options | {"over": "explanation"}, "Quantus MaxSensitivity", found)
    options = {"noise": size, "space": "raw", "samples": samples, "zeros": "epsilon"}
    for criterion, kind in (
        ("relative_input_stability", quantus.RelativeInputStability),
        ("relative_output_stability", quantus.RelativeOutputStability),
    ):
        found = judge.perturbed(kind, noise(criterion, columns, samples, size, seed))
        yield Scored(criterion, options, f"Quantus {kind.__name__}", found)
