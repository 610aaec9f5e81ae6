"""`assay explain` beside Captum and SHAP on models that PyTorch exports on the spot.

The golden files of `make test` are made afresh and compared too. Sampled methods are held against their own standard
errors.
"""

import copy
import itertools
import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
import shap
import torch
from captum import attr
from torch import nn
from torch.nn import functional

EXPLANATIONS = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "explanations"
TOLERANCE = 1e-4
STEPS = 16


@pytest.fixture(autouse=True)
def quiet():
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# The golden files


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explanations")
    command = [sys.executable, "-W", "ignore", EXPLANATIONS / "make_explanations.py", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_script_gives_the_stored_explanations(fresh):
    names = sorted(file.name for file in EXPLANATIONS.glob("*.json"))
    assert sorted(file.name for file in fresh.glob("*.json")) == names
    for name in names:
        stored, found = (json.loads((folder / name).read_text()) for folder in (EXPLANATIONS, fresh))
        assert len(stored["cases"]) == len(found["cases"])
        for old, new in zip(stored["cases"], found["cases"], strict=True):
            values, others = np.array(old.pop("values")), np.array(new.pop("values"))
            assert old == new, name
            np.testing.assert_allclose(others, values, rtol=0, atol=1e-5 * np.abs(values).max(), err_msg=name)


def test_explains_as_todays_peers(root, fresh):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cli/test_explain_golden.py"]
    environment = {**os.environ, "ASSAY_EXPLANATIONS": str(fresh)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


# Models made on the spot


class Residual(nn.Module):
    """Every module is used once, which is what Captum's hooks need."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(7, 12), nn.Linear(12, 12), nn.Linear(12, 3)
        self.relu, self.tanh = nn.ReLU(), nn.Tanh()

    def forward(self, x):
        hidden = self.relu(self.first(x))
        return self.last(hidden + self.tanh(self.second(hidden)))


class Reused(nn.Module):
    """One activation module for two layers: Captum raises."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(6, 10), nn.Linear(10, 10), nn.Linear(10, 8)
        self.last, self.relu = nn.Linear(8, 2), nn.ReLU()

    def forward(self, x):
        return self.last(self.third(self.relu(self.second(self.relu(self.first(x))))))


class Functional(Reused):
    """Activations as functions: Captum does not see them, and says nothing."""

    def forward(self, x):
        hidden = functional.relu(self.second(functional.relu(self.first(x))))
        return self.last(functional.leaky_relu(self.third(hidden), 0.2))


class Adjacent(Reused):
    """One nonlinear module right after another: Captum 0.9 misses multipliers (its issue 1104), and says nothing."""

    def __init__(self):
        super().__init__()
        self.tanh, self.end = nn.Tanh(), nn.Linear(10, 2)

    def forward(self, x):
        return self.end(self.tanh(self.relu(self.first(x))))


class Apart(nn.Module):
    """Keeps two nonlinear modules apart, for Captum."""

    def forward(self, x):
        return x.clone()


def dense(*widths, activation=nn.ReLU):
    layers = []
    for columns, rows in itertools.pairwise(widths):
        layers += [nn.Linear(columns, rows), activation()]
    return nn.Sequential(*layers[:-1])


def cnn():
    first = [nn.Conv2d(1, 5, 3), nn.ReLU(), Apart(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(5, 6, 3, padding=1), nn.ELU(), nn.AvgPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(24, 4))


MODELS = {
    "relu": (lambda: dense(8, 16, 10, 3), (8,)),
    "one_hidden": (lambda: dense(14, 40, 2, activation=lambda: nn.LeakyReLU(0.01)), (14,)),
    "sigmoid": (lambda: dense(5, 9, 9, 2, activation=nn.Sigmoid), (5,)),
    "softplus": (lambda: dense(6, 12, 3, activation=nn.Softplus), (6,)),
    "residual": (Residual, (7,)),
    "cnn": (cnn, (1, 10, 10)),
}


class Subject:
    """A PyTorch model, its ONNX file, rows and references."""

    def __init__(self, assay, folder, module, shape, rows=6, seed=3):
        torch.manual_seed(seed)
        self.module, self.assay, self.folder = module().eval(), assay, folder
        self.x = 1.3 * torch.randn(rows, *shape)
        self.base = 0.4 * torch.randn(1, *shape)
        self.background = 0.8 * torch.randn(5, *shape)
        names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
        torch.onnx.export(self.module, (self.x[:2],), folder / "m.onnx", dynamo=False, opset_version=17, **names)
        for name in ("x", "base", "background"):
            tensor = getattr(self, name)
            np.save(folder / f"{name}.npy", tensor.reshape(len(tensor), -1).numpy())
        for parameter in self.module.parameters():
            parameter.requires_grad_(False)

    def explain(self, method, reference="base", target=1):
        """Assay's arrays."""
        word = "--background" if reference == "background" else "--baseline"
        given = ("--model", "m.onnx", "--data", "x.npy", word, f"{reference}.npy", "--target", target)
        done = self.assay("explain", *given, "--method", method, "--out", "phi.npz")
        assert (done.returncode, done.stderr) == (0, "")
        with np.load(self.folder / "phi.npz") as phi:
            return {name: phi[name] for name in phi.files}

    def margin(self, target=1):
        """One output as a function of NumPy rows, in float64."""
        module, shape = self.double(), self.x.shape[1:]

        def run(rows):
            with torch.inference_mode():
                return module(torch.as_tensor(np.asarray(rows, dtype=np.float64)).reshape(-1, *shape))[
                    :, target
                ].numpy()

        return run

    def double(self):
        """A copy in float64, so that a difference is Assay's."""
        return copy.deepcopy(self.module).double()

    def exact(self, reference="base"):
        """SHAP's exact values."""
        rows, background = (t.reshape(len(t), -1).numpy().astype(float) for t in (self.x, getattr(self, reference)))
        masker = shap.maskers.Independent(background, max_samples=100)
        return shap.explainers.Exact(self.margin(), masker)(rows, silent=True).values


@pytest.fixture(params=MODELS)
def subject(request, assay, tmp_path):
    return Subject(assay, tmp_path, *MODELS[request.param])


def assert_same(ours, theirs, tolerance=TOLERANCE):
    """Differences small beside a row's largest value."""
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else np.asarray(theirs)
    theirs = theirs.reshape(ours.shape)
    scale = np.abs(theirs).max(axis=1, keepdims=True)
    assert (np.abs(ours - theirs) / (scale + 1e-6)).max() < tolerance


def assert_complete(phi):
    difference = phi["output"] - phi["base"]
    gap = np.abs(phi["values"].sum(axis=1, dtype=np.float64) - difference)
    np.testing.assert_array_less(gap, TOLERANCE * np.abs(difference) + 1e-7)


# Gradients


def test_gradients_are_those_of_captum(subject):
    module, x = subject.double(), subject.x.double()
    assert_same(subject.explain("gradient")["values"], attr.Saliency(module).attribute(x, 1, abs=False))
    assert_same(subject.explain("gradient_x_input")["values"], attr.InputXGradient(module).attribute(x, 1))


@pytest.mark.parametrize("rule", ["gauss_legendre", "left", "right", "middle", "trapezoid"])
def test_integrated_gradients_are_those_of_captum(subject, rule):
    name = "gausslegendre" if rule == "gauss_legendre" else f"riemann_{rule}"
    paths = attr.IntegratedGradients(subject.double())
    theirs = paths.attribute(subject.x.double(), subject.base.double(), 1, n_steps=STEPS, method=name)
    # Captum's trapezoid weights sum to (n - 1) / n.
    theirs = theirs * STEPS / (STEPS - 1) if rule == "trapezoid" else theirs
    ours = subject.explain(f"integrated_gradients:rule={rule}:steps={STEPS}:tolerance=0")
    # A kink of the network near a step's point falls on either side of it.
    assert_same(ours["values"], theirs, 1e-4 if rule == "gauss_legendre" else 1e-3)


def test_integrated_gradients_come_near_captums_limit(subject):
    paths = attr.IntegratedGradients(subject.double())
    theirs = paths.attribute(subject.x.double(), subject.base.double(), 1, n_steps=4000, method="riemann_middle")
    assert_same(subject.explain("integrated_gradients:steps=512")["values"], theirs, 5e-3)


def test_smooth_grad_is_captums_within_both_errors(assay, tmp_path):
    subject = Subject(assay, tmp_path, *MODELS["softplus"])
    ours = subject.explain("smooth_grad:samples=4000:level=0.2")
    # Without a pool the noise is a share of the row's range.
    deviation = 0.2 * (subject.x.amax(dim=1) - subject.x.amin(dim=1))
    count = 4000
    noisy = subject.x[:, None].double() + deviation[:, None, None] * torch.randn(len(subject.x), count, 6).double()
    theirs = attr.Saliency(subject.double()).attribute(noisy.reshape(-1, 6), 1, abs=False).reshape(-1, count, 6)
    error = np.hypot(ours["stderr"], theirs.std(dim=1).numpy() / np.sqrt(count))
    assert (np.abs(ours["values"] - theirs.mean(dim=1).numpy()) < 5 * error).all()


def test_deeplift_is_captums_where_modules_are_used_once(subject):
    deeplift = attr.DeepLift(subject.double())
    ours = subject.explain("deeplift")
    assert_same(ours["values"], deeplift.attribute(subject.x.double(), subject.base.double(), 1))
    assert_complete(ours)
    many = [deeplift.attribute(subject.x.double(), row[None].double(), 1) for row in subject.background]
    assert_same(subject.explain("deeplift", "background")["values"], torch.stack(many).mean(dim=0))


def test_deeplift_over_a_background_is_shaps_deep_explainer(assay, tmp_path):
    subject = Subject(assay, tmp_path, *MODELS["relu"])
    explainer = shap.DeepExplainer(subject.module, subject.background)
    theirs = explainer.shap_values(subject.x, check_additivity=False)[:, :, 1]
    assert_same(subject.explain("deeplift", "background")["values"], theirs)


@pytest.mark.parametrize(("kind", "raises"), [(Reused, True), (Functional, False), (Adjacent, False)])
def test_deeplift_is_complete_where_captum_is_not(assay, tmp_path, kind, raises):
    subject = Subject(assay, tmp_path, kind, (6,))
    ours = subject.explain("deeplift")
    assert_complete(ours)
    assert_complete(subject.explain("deeplift_reveal_cancel"))
    deeplift = attr.DeepLift(subject.double())
    if raises:
        with pytest.raises(RuntimeError, match="used more than once"):
            deeplift.attribute(subject.x.double(), subject.base.double(), 1)
        return
    difference = ours["output"] - ours["base"]
    gap = deeplift.attribute(subject.x.double(), subject.base.double(), 1).sum(dim=1).detach().numpy() - difference
    # Once this fails, Captum has been repaired.
    assert np.abs(gap).max() > 1e-2 * np.abs(difference).max()


# Coalition games

SMALL = [name for name, (_, shape) in MODELS.items() if np.prod(shape) <= 14]


@pytest.mark.parametrize("reference", ["base", "background"])
@pytest.mark.parametrize("name", SMALL)
def test_exact_shapley_is_shaps(assay, tmp_path, name, reference):
    subject = Subject(assay, tmp_path, *MODELS[name])
    ours = subject.explain("exact_shapley", reference)
    assert_same(ours["values"], subject.exact(reference))
    assert_complete(ours)


def test_occlusion_is_captums_feature_ablation(subject):
    theirs = attr.FeatureAblation(subject.double()).attribute(subject.x.double(), subject.base.double(), 1)
    ours = subject.explain("occlusion")
    # A difference of two outputs in float32.
    np.testing.assert_allclose(ours["values"], theirs.reshape(len(theirs), -1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["kernel_shap:samples=600", "shapley_sampling:permutations=60"])
@pytest.mark.parametrize("name", ["one_hidden", "tanh"])
def test_estimates_are_shaps_exact_values_within_their_errors(assay, tmp_path, method, name):
    models = MODELS | {"tanh": (lambda: dense(12, 20, 20, 2, activation=nn.Tanh), (12,))}
    subject = Subject(assay, tmp_path, *models[name], rows=40)
    ours, exact = subject.explain(method), subject.exact()
    assert_complete(ours)
    # Estimates of a row sum to a known number, so errors within a row hang together; rows share their coalitions.
    z = (ours["values"] - exact) / ours["stderr"]
    assert np.abs(z).max() < 6
    assert 0.5 < np.sqrt(np.mean(z**2)) < 1.6
    # Unbiased: means over rows are near 0 too.
    bias = (ours["values"] - exact).mean(axis=0)
    assert (np.abs(bias) < 4 * np.sqrt((ours["stderr"] ** 2).mean(axis=0))).all()


def test_kernel_shap_is_nearer_the_exact_values_than_shap_and_captum(assay, tmp_path):
    subject = Subject(assay, tmp_path, *MODELS["one_hidden"], rows=12)
    samples, exact = 1000, subject.exact()
    ours = subject.explain(f"kernel_shap:samples={samples}")
    np.random.seed(0)
    explainer = shap.KernelExplainer(subject.margin(), subject.base.numpy())
    theirs = explainer.shap_values(subject.x.numpy(), nsamples=samples, l1_reg=False, silent=True)
    captum = attr.KernelShap(subject.module)
    options = {"n_samples": samples, "perturbations_per_eval": samples}
    others = torch.cat([captum.attribute(row[None], subject.base, target=1, **options) for row in subject.x])
    mine, shaps, captums = (np.mean((found - exact) ** 2) for found in (ours["values"], theirs, others.numpy()))
    assert mine < shaps and mine < captums, (mine, shaps, captums)
    # Estimates of the same values: SHAP's differ from ours by no more than both errors.
    error = np.sqrt(np.mean(ours["stderr"] ** 2) + shaps)
    assert np.abs(theirs - ours["values"]).max() < 6 * error


def test_shapley_sampling_is_captums_within_both_errors(assay, tmp_path):
    subject = Subject(assay, tmp_path, *MODELS["residual"])
    ours = subject.explain("shapley_sampling:permutations=200")
    sampling = attr.ShapleyValueSampling(subject.module)
    runs = torch.stack([sampling.attribute(subject.x, subject.base, 1, n_samples=25) for _ in range(20)])
    error = np.hypot(ours["stderr"], runs.std(dim=0).numpy() / np.sqrt(20))
    assert (np.abs(ours["values"] - runs.mean(dim=0).numpy()) < 6 * error + 1e-6).all()


def test_lime_is_captums_with_the_same_kernel(assay, tmp_path):
    """Captum draws masks; Assay sees all 2^6 of them."""
    from captum._utils.models.linear_model import SkLearnRidge

    subject = Subject(assay, tmp_path, *MODELS["softplus"])
    ours = subject.explain("lime:samples=64:ridge=0")["values"]
    width = 0.75 * np.sqrt(6)
    torch.manual_seed(0)
    lime = attr.Lime(
        subject.module,
        interpretable_model=SkLearnRidge(alpha=1e-6),
        similarity_func=lambda _row, _changed, mask, **_: torch.exp(-(mask == 0).sum() / width**2),
    )
    options = {"target": 1, "n_samples": 4000, "perturbations_per_eval": 4000}
    theirs = torch.cat([lime.attribute(row[None], subject.base, **options) for row in subject.x]).numpy()
    assert np.abs(ours - theirs).max() < 0.1 * np.abs(ours).max()
