"""assay.wrap of PyTorch modules that return probabilities, or what may be some: seen, asked for, never made twice."""

import threading

import numpy as np
import pytest
import torch
from torch import nn

import assay


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture
def rows():
    return torch.randn(6, 7, generator=torch.Generator().manual_seed(1))


def mlp(outputs=3):
    return nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, outputs))


def close(found, expected, tolerance=1e-5):
    expected = np.asarray(expected.detach())
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def bound(model, table):
    return model._bind([("X", table)], None).model


def gradient_of(module, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(module(x).sum(), x)[0]


def test_probabilities_are_known_as_such(rows):
    module = nn.Sequential(mlp(), nn.Softmax(1)).eval()
    model = assay.wrap(module)
    assert bound(model, rows).unit == "probability"
    close(model.predict(rows, value="probability"), module(rows))
    close(model.predict(rows, value="log_odds"), (module(rows) / (1 - module(rows))).log(), 1e-4)
    with pytest.raises(assay.UnsupportedError, match="gives probabilities; a module without its softmax or sigmoid"):
        model.predict(rows, value="margin")
    assert "multipliers" in bound(model, rows).capabilities


class Chance(nn.Module):
    """What it returns lies from 0 to 1, and no layer says what it is."""

    def __init__(self, columns):
        super().__init__()
        self.layers = mlp(outputs=columns)

    def forward(self, x):
        return self.layers(x).sin().square()


class Picked(nn.Module):
    """The second of two probabilities, in a vector."""

    def __init__(self):
        super().__init__()
        self.layers = mlp(outputs=2)

    def forward(self, x):
        return self.layers(x).softmax(1)[:, 1]


def test_a_sigmoid_is_seen(rows):
    ends = (nn.Sigmoid(), nn.Sequential(nn.Sigmoid(), nn.Flatten(0)), nn.Sequential(nn.Flatten(0), nn.Sigmoid()))
    for module in (*(nn.Sequential(mlp(outputs=1), end) for end in ends), Picked()):
        module.eval()
        p = module(rows).reshape(-1, 1)
        model = assay.wrap(module, classes=["no", "yes"])
        found = assay.explain_all(model, rows, "gradient")
        assert found["yes"].provenance["unit"] == "probability"
        close(found["yes"].output, p[:, 0])
        close(found["no"].output, 1 - p[:, 0])
        close(found["yes"].values, gradient_of(module, rows))
        close(model.predict(rows, value="probability"), p)
        close(model.predict(rows, value="log_odds"), (p / (1 - p)).log(), 1e-4)
        with pytest.raises(assay.UnsupportedError, match="without its softmax or sigmoid has margins"):
            model.predict(rows, value="margin")
        assert "multipliers" in bound(model, rows).capabilities
        # Of no classes it is a number like others.
        plain = assay.wrap(module)
        assert bound(plain, rows).unit == "value"
        close(plain.predict(rows), p)


def test_sigmoids_of_several_labels_get_no_softmax(rows):
    module = nn.Sequential(mlp(), nn.Sigmoid()).eval()
    p = module(rows)
    model = assay.wrap(module, classes=["a", "b", "c"])
    assert bound(model, rows).unit == "probability"
    close(model.predict(rows), p)
    close(model.predict(rows, value="probability"), p)
    close(model.predict(rows, value="log_odds"), (p / (1 - p)).log(), 1e-4)


@pytest.mark.parametrize("columns", [1, 3])
def test_what_may_be_either_is_asked_for(rows, columns):
    module = Chance(columns).eval()
    scores = module(rows)
    classes = ["no", "yes"] if columns == 1 else ["a", "b", "c"]
    for value in (None, "margin", "probability", "log_odds"):
        for model in (assay.wrap(module, classes=classes), assay.wrap(module, classes=classes, value=value)):
            with pytest.raises(
                assay.UnsupportedError, match=r"returns: expected 'margin' .* or 'probability' in assay"
            ):
                model.predict(rows, value=value)
    raw = assay.wrap(module, classes=classes, returns="margin")
    assert bound(raw, rows).unit == "margin"
    close(raw.predict(rows), scores)
    close(raw.predict(rows, value="probability"), scores.sigmoid() if columns == 1 else scores.softmax(1))
    made = assay.wrap(module, classes=classes, returns="probability")
    assert bound(made, rows).unit == "probability"
    close(made.predict(rows), scores)
    close(made.predict(rows, value="log_odds"), (scores / (1 - scores)).log(), 1e-4)
    close(assay.wrap(module, value="value").predict(rows), scores)
    if columns == 1:
        close(assay.wrap(module).predict(rows), scores)
    else:
        with pytest.raises(assay.UnsupportedError, match="value='value' explains them as values of no class"):
            assay.wrap(module).predict(rows)


def test_a_linear_layer_from_0_to_1_has_margins(rows):
    module = nn.Linear(7, 1)
    with torch.no_grad():
        module.weight.mul_(0.01)
        module.bias.fill_(0.5)
    model = assay.wrap(module, classes=["no", "yes"])
    assert 0 < module(rows).min() <= module(rows).max() < 1
    assert bound(model, rows).unit == "margin"
    close(model.predict(rows, value="probability"), module(rows).sigmoid())


def test_log_odds_of_one_probability_have_layers(rows):
    module = nn.Sequential(nn.Linear(7, 1), nn.Hardsigmoid()).eval()
    model = assay.wrap(module, classes=["no", "yes"], returns="probability", value="log_odds")
    assert "multipliers" in bound(model, rows).capabilities
    found = assay.explain(model, rows, "deeplift", baseline="zero")
    difference = module(rows)[:, 0].logit() - module(torch.zeros(1, 7))[:, 0].logit()
    close(found.values.sum(axis=1), difference, 1e-4)


def test_what_a_module_returns_is_checked(rows):
    with pytest.raises(ValueError, match="outputs of Sequential: expected probabilities, as returns= says, found "):
        assay.wrap(mlp(), returns="probability").predict(rows)
    with pytest.raises(ValueError, match=r"classes: expected the names of the two classes .* gives a probability of"):
        assay.wrap(Chance(1), returns="probability").predict(rows)


def test_threads_leave_the_module_as_it_was():
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 2)).train()
    model = assay.wrap(module)
    rows = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    expected = model.predict(rows)
    found = []

    def work():
        for _ in range(20):
            found.append(np.array_equal(model.predict(rows), expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found) and len(found) == 80
    assert all(part.training for part in module.modules())


def test_weights_of_inference_mode():
    with torch.inference_mode():
        module = torch.nn.Linear(4, 2)
    rows = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    weights = module.weight.detach().numpy()
    expected = rows @ weights.T + module.bias.detach().numpy()
    np.testing.assert_allclose(assay.wrap(module).predict(rows), expected, rtol=1e-5)
