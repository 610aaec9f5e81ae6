"""What the pages say of rules that differ between Assay and its peers."""

import warnings

import numpy as np
import pytest
import quantus
import shap
import torch
from captum import attr
from torch import nn

import assay


@pytest.fixture(autouse=True)
def quiet():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# docs/methods/deeplift.md: softmax


@pytest.fixture
def through_softmax():
    linear = nn.Linear(4, 3)
    return linear, nn.Sequential(linear, nn.Softmax(dim=1)).eval(), torch.randn(5, 4), torch.zeros(1, 4)


def own_score(linear, module, x, base, c):
    """All of a probability's change by its own score."""
    with torch.no_grad():
        scores, probabilities = linear(x) - linear(base), module(x) - module(base)
        return (probabilities[:, c] / scores[:, c]).numpy()


def test_softmax_of_shap_looks_at_one_score(through_softmax):
    linear, module, x, base = through_softmax
    found = np.asarray(shap.DeepExplainer(module, base).shap_values(x, check_additivity=False))[:, :, 1]
    multiplier = own_score(*through_softmax, 1)[:, np.newaxis]
    np.testing.assert_allclose(found, linear.weight[1].detach().numpy() * x.numpy() * multiplier, atol=1e-6)


def test_softmax_of_captum_depends_on_the_rows_beside(through_softmax):
    _, module, x, base = through_softmax
    alone = attr.DeepLift(module).attribute(x[:1], base, target=1).detach().numpy()
    together = attr.DeepLift(module).attribute(x, base, target=1).detach().numpy()
    assert np.abs(alone - together[:1]).max() > 1e-3
    change = (module(x) - module(base))[:, 1].detach().numpy()
    assert np.abs(together.sum(axis=1) - change).max() > 1e-3


def test_softmax_here_sums_to_the_change_and_is_another(through_softmax):
    linear, module, x, base = through_softmax
    model = assay.wrap(linear, classes=["a", "b", "c"])
    found = assay.explain(model, x, "deeplift", baseline="zero", target="b", value="probability")
    change = (module(x) - module(base))[:, 1].detach().numpy()
    np.testing.assert_allclose(found.values.sum(axis=1), change, atol=1e-5)
    theirs = linear.weight[1].detach().numpy() * x.numpy() * own_score(*through_softmax, 1)[:, np.newaxis]
    assert np.abs(found.values - theirs).max() > 1e-2


def test_softmax_of_two_classes_is_a_sigmoid(through_softmax):
    x = through_softmax[2]
    linear = nn.Linear(4, 2)
    with torch.no_grad():
        linear.bias.copy_(torch.tensor([9.0, -9.0]))  # the first class leads everywhere
        difference = linear.weight[1] - linear.weight[0]
        z, z0 = x @ difference - 18, -18.0
        multiplier = (z.sigmoid() - torch.tensor(z0).sigmoid()) / (z - z0)
        expected = (difference * x * multiplier[:, None]).numpy()
    model = assay.wrap(linear, classes=["a", "b"])
    found = assay.explain(model, x, "deeplift", baseline="zero", target="b", value="probability")
    np.testing.assert_allclose(found.values, expected, rtol=1e-3, atol=1e-12)


# docs/quantus.md: PixelFlipping


def test_deletion_auc_of_many_features_takes_as_many_steps():
    features = 130
    module = nn.Sequential(nn.Linear(features, 16), nn.Tanh(), nn.Linear(16, 3)).eval()
    x = torch.randn(3, features).numpy()
    model = assay.wrap(module, classes=["a", "b", "c"])
    found = assay.explain(model, x, "gradient_x_input", target="b")
    flipping = quantus.PixelFlipping(
        features_in_step=1, perturb_baseline=0.0, abs=False, normalise=False, disable_warnings=True
    )
    curve = np.array(
        flipping(
            model=nn.Sequential(nn.Flatten(), module).eval(),
            x_batch=x[:, np.newaxis],
            y_batch=np.ones(3, int),
            a_batch=found.values[:, np.newaxis],
            softmax=True,
            channel_first=True,
        )
    )
    with torch.no_grad():
        start = module(torch.tensor(x)).softmax(1)[:, 1:2].numpy()
    curve = np.concatenate([start, curve], axis=1)
    area = (curve[:, 1:] + curve[:, :-1]).mean(axis=1) / 2
    options = {"X": x, "model": model, "baseline": "zero"}
    one_by_one = assay.evaluate(found, f"deletion_auc:steps={features}", **options)
    (scores,) = one_by_one.values()
    np.testing.assert_allclose(scores.values, area, rtol=1e-4)
    (coarse,) = assay.evaluate(found, "deletion_auc", **options).values()
    assert np.abs(coarse.values - area).max() > 1e-5
