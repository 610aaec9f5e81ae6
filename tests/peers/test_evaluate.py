"""`assay evaluate` beside Quantus, on models that PyTorch exports on the spot.

The golden files of `make test` are made afresh and compared too. Quantus gets all subsets where it draws some, and
Assay's own noise where it draws noise, so the scores are equal and not only alike. docs/quantus.md says where the two
differ; what it says of Quantus is shown here.
"""

import functools
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
import quantus
import torch
from torch import nn

CRITERIA = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "criteria"
sys.path.insert(0, str(CRITERIA))
from make_criteria import (  # noqa: E402
    BARE,
    Judge,
    effective_complexity,
    gradient_x_input,
    noise,
    of_attributions,
    one,
)

SEED, SAMPLES, RADIUS = 11, 16, 0.2


@pytest.fixture(autouse=True)
def quiet():
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# The golden files


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("criteria")
    command = [sys.executable, "-W", "ignore", CRITERIA / "make_criteria.py", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_script_gives_the_stored_scores(fresh):
    names = sorted(file.name for file in CRITERIA.glob("*.json"))
    assert sorted(file.name for file in fresh.glob("*.json")) == names
    for name in names:
        stored, found = (json.loads((folder / name).read_text()) for folder in (CRITERIA, fresh))
        assert len(stored["cases"]) == len(found["cases"])
        for old, new in zip(stored["cases"], found["cases"], strict=True):
            values, others = np.array(old.pop("values")), np.array(new.pop("values"))
            assert old == new, name
            np.testing.assert_allclose(others, values, rtol=1e-5, atol=1e-6, err_msg=name)


def test_scores_as_todays_quantus(root, fresh):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cli/test_evaluate_golden.py"]
    environment = {**os.environ, "ASSAY_CRITERIA": str(fresh)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


# Models made on the spot


def dense(*widths, activation):
    layers = [part for a, b in itertools.pairwise(widths) for part in (nn.Linear(a, b), activation())]
    return nn.Sequential(*layers[:-1])


MODELS = {
    "adult_shaped": functools.partial(dense, 14, 40, 2, activation=lambda: nn.LeakyReLU(0.01)),
    "softplus": functools.partial(dense, 6, 12, 3, activation=nn.Softplus),
    "tanh": functools.partial(dense, 9, 16, 8, 4, activation=nn.Tanh),
    "linear": functools.partial(dense, 5, 2, activation=nn.Identity),
}


class Subject:
    """A PyTorch model, its ONNX file, rows, and explanations of output 1 by both sides."""

    def __init__(self, assay, folder, name, rows=12):
        torch.manual_seed(sum(name.encode()))
        module = MODELS[name]().eval()
        columns = module[0].in_features
        x, self.baseline = torch.randn(rows, columns), 0.3 * torch.randn(1, columns)
        names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
        torch.onnx.export(module, (x[:2],), folder / "m.onnx", dynamo=False, opset_version=17, **names)
        np.save(folder / "x.npy", x.numpy())
        np.save(folder / "base.npy", self.baseline.numpy())
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        self.judge = Judge(module, x.numpy(), self.baseline.numpy(), 1, gradient_x_input)
        self.assay, self.folder, self.columns = assay, folder, columns
        self.given = ("--model", "m.onnx", "--data", "x.npy", "--baseline", "base.npy")
        options = ("--target", 1, "--method", "gradient_x_input", "--out", "phi.npz")
        done = assay("explain", *self.given, *options)
        assert (done.returncode, done.stderr) == (0, "")

    def evaluate(self, criterion, explanations="phi.npz"):
        """Assay's scores: what its JSON says."""
        given = (*self.given, "--explanations", explanations, "--criteria", criterion)
        done = self.assay("--seed", SEED, "evaluate", *given, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        (found,) = json.loads(done.stdout)["scores"]
        return found


@pytest.fixture(params=MODELS)
def subject(request, assay, tmp_path):
    return Subject(assay, tmp_path, request.param)


def assert_same(found, theirs, tolerance=1e-4):
    assert found["coverage"] == 1
    np.testing.assert_allclose(found["values"], theirs, rtol=tolerance, atol=tolerance)


def test_complexity_and_sparseness_are_those_of_quantus(subject):
    assert_same(subject.evaluate("complexity"), of_attributions(quantus.Complexity, subject.judge.a[:, 0]))
    # Quantus adds 1e-7 to every attribution, over the largest of all rows.
    assert_same(subject.evaluate("sparseness"), of_attributions(quantus.Sparseness, subject.judge.a[:, 0]))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_faithfulness_is_that_of_quantus_over_all_subsets(subject, size):
    found = subject.evaluate(f"faithfulness:subset={size}")
    assert_same(found, subject.judge.faithfulness(size), 2e-4)


def test_faithfulness_of_drawn_subsets_comes_near_that_of_all(assay, tmp_path):
    """Quantus draws subsets; with many of them it ends where Assay begins, within its own spread."""
    subject = Subject(assay, tmp_path, "adult_shaped")
    exact = np.array(subject.evaluate("faithfulness:subset=3")["values"])
    np.random.seed(0)
    metric = quantus.FaithfulnessCorrelation(
        nr_runs=2000, subset_size=3, perturb_func=subject.judge.replaced, normalise=False, return_aggregate=False
    )
    drawn = subject.judge.scores(metric)
    # The standard error of a correlation, nearly.
    error = (1 - exact**2) / math.sqrt(2000)
    assert (np.abs(drawn - exact) < 6 * error).all()
    assert not np.allclose(drawn, exact, atol=1e-6)


def test_faithfulness_estimate_is_that_of_quantus(subject):
    assert_same(subject.evaluate("faithfulness_estimate"), subject.judge.faithfulness_estimate(), 2e-4)


def test_perturbation_sensitivity_is_that_of_quantus_with_the_same_noise(subject):
    drawn = noise("max_sensitivity_yeh", subject.columns, SAMPLES, RADIUS, SEED)
    criterion = f"max_sensitivity_yeh:radius={RADIUS}:space=raw:samples={SAMPLES}"
    theirs = subject.judge.perturbed(quantus.MaxSensitivity, drawn, norm_denominator=one)
    assert_same(subject.evaluate(criterion), theirs)
    theirs = subject.judge.perturbed(quantus.MaxSensitivity, drawn)
    assert_same(subject.evaluate(f"{criterion}:over=explanation"), theirs)


@pytest.mark.parametrize("kind", [quantus.RelativeInputStability, quantus.RelativeOutputStability])
def test_relative_stability_is_that_of_quantus_with_the_same_noise(subject, kind):
    name = "relative_input_stability" if kind is quantus.RelativeInputStability else "relative_output_stability"
    drawn = noise(name, subject.columns, SAMPLES, 0.05, SEED)
    theirs = subject.judge.perturbed(kind, drawn)
    found = subject.evaluate(f"{name}:noise=0.05:space=raw:samples={SAMPLES}:zeros=epsilon")
    assert found["coverage"] == 1
    # A row that some noise moves to another class: no number there, and the other draws here.
    same = ~np.isnan(theirs)
    assert same.sum() > len(theirs) // 2
    np.testing.assert_allclose(np.array(found["values"])[same], theirs[same], rtol=2e-3)


def test_deletion_auc_is_the_area_under_quantus_curve(subject):
    assert_same(subject.evaluate("deletion_auc"), subject.judge.deletion_auc())


def test_effective_complexity_counts_as_quantus(subject):
    theirs = effective_complexity(subject.judge.a[:, 0])
    assert_same(subject.evaluate("effective_complexity:form=count"), theirs)


def test_perturbation_sensitivity_is_that_of_explaining_the_perturbed_rows(subject, tmp_path):
    """Without Quantus: the program explains x and all x + noise, and NumPy does the rest."""
    drawn = noise("max_sensitivity_yeh", subject.columns, SAMPLES, RADIUS, SEED)
    rows = np.load(tmp_path / "x.npy")
    moved = (rows[:, None] + drawn).reshape(-1, subject.columns).astype(np.float32)
    np.save(tmp_path / "moved.npy", moved)
    given = ("--model", "m.onnx", "--data", "moved.npy", "--baseline", "base.npy", "--target", 1)
    done = subject.assay("explain", *given, "--method", "gradient_x_input", "--out", "moved.npz")
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(tmp_path / "phi.npz") as phi, np.load(tmp_path / "moved.npz") as others:
        difference = others["values"].reshape(len(rows), SAMPLES, -1) - phi["values"][:, None]
    expected = np.linalg.norm(difference, axis=2).max(axis=1)
    assert_same(subject.evaluate(f"max_sensitivity_yeh:radius={RADIUS}:space=raw:samples={SAMPLES}"), expected)


# What docs/quantus.md says of Quantus; where one of these fails, Quantus has changed


def test_undefined_is_not_a_number_here_and_a_number_there(assay, tmp_path):
    """An all-zero attribution."""
    attributions = np.zeros((2, 4))
    attributions[0] = [1, 2, 3, 4]
    np.save(tmp_path / "phi.npy", attributions.astype(np.float32))
    done = assay("evaluate", "--explanations", "phi.npy", "--criteria", "complexity,sparseness", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    for found in json.loads(done.stdout)["scores"]:
        assert found["values"][0] is not None and found["values"][1] is None
        assert found["coverage"] == 0.5
    # 1e-7 for each player: spread out evenly. The entropy is no number, and so is its mean.
    assert of_attributions(quantus.Sparseness, attributions)[1] == pytest.approx(0)
    assert np.isnan(of_attributions(quantus.Complexity, attributions)[1])
    for refused in (np.zeros((2, 4)), np.full((2, 4), 0.3), -attributions - 1):
        with pytest.raises(AssertionError):
            of_attributions(quantus.Sparseness, refused)


def test_quantus_monotonicity_is_true_for_every_explanation(subject):
    metric = quantus.Monotonicity(perturb_baseline=0.0, disable_warnings=True)
    assert subject.judge.scores(metric).all()
    subject.judge.a = -subject.judge.a
    assert subject.judge.scores(metric).all()


def test_quantus_sparseness_depends_on_the_other_rows():
    alone = of_attributions(quantus.Sparseness, BARE[:1])
    beside = of_attributions(quantus.Sparseness, [BARE[0], [1e6, 0, 0, 0, 0]])
    assert abs(alone[0] - beside[0]) > 0.01


def test_quantus_effective_complexity_is_of_numbers_or_of_shares():
    small = np.array([[[3e-6, 1e-7, 0.0, 2e-6]]])
    given = {"model": None, "x_batch": np.zeros((1, 1, 4)), "y_batch": np.array([0]), "a_batch": small}
    found = {
        normalise: quantus.EffectiveComplexity(normalise=normalise, disable_warnings=True)(**given)[0]
        for normalise in (True, False)
    }
    # Three are above 1e-5 of the largest, as with form=count here; none is above 1e-5.
    assert found == {True: 3, False: 0}


def test_quantus_refuses_rows_without_a_channel(subject):
    metric = quantus.FaithfulnessCorrelation(subset_size=2, disable_warnings=True)
    judge = subject.judge
    with pytest.raises(ValueError, match="must be smaller than input size"):
        metric(model=judge.module, x_batch=judge.x[:, 0], y_batch=judge.y, a_batch=judge.a[:, 0])


def test_quantus_infidelity_wants_images(subject):
    with pytest.raises(AssertionError):
        subject.judge.scores(quantus.Infidelity(disable_warnings=True))


def test_quantus_completeness_is_false_for_complete_explanations(assay, tmp_path):
    """Gradient times input of a linear model without a bias, against zero."""
    subject = Subject(assay, tmp_path, "linear")
    judge = subject.judge
    found = judge.scores(quantus.Completeness(perturb_baseline=0.0, disable_warnings=True))
    weights, outputs = judge.module[1][0].weight[1].numpy(), judge.x[:, 0] @ judge.module[1][0].weight[1].numpy()
    np.testing.assert_allclose(judge.a[:, 0], judge.x[:, 0] * weights)
    np.testing.assert_allclose(judge.a[:, 0].sum(axis=1), outputs)
    assert not found.any()


def test_quantus_mean_over_layers_counts_the_model_itself(subject):
    def explained(model, inputs, targets, **_):
        return subject.judge.explained(model.double(), inputs, targets)

    by_layer = quantus.MPRT(disable_warnings=True)
    mean = quantus.MPRT(disable_warnings=True, return_average_correlation=True)
    torch.set_default_dtype(torch.float64)
    try:
        judge = subject.judge
        given = {"model": judge.module, "x_batch": judge.x, "y_batch": judge.y, "explain_func": explained}
        layers = by_layer(a_batch=judge.a.copy(), **given)
        found = mean(a_batch=judge.a.copy(), **given)
    finally:
        torch.set_default_dtype(torch.float32)
    assert next(iter(layers)) == "original"
    np.testing.assert_allclose(layers["original"], 1)
    np.testing.assert_allclose(found, np.mean(list(layers.values()), axis=0))
