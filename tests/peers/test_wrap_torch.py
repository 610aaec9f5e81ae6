"""assay.wrap of PyTorch modules: predictions and gradients are torch's, attributions those of Captum on the module."""

import itertools
import math
import threading
import warnings

import numpy as np
import pytest
import torch
from captum import attr
from torch import nn
from torch.nn import functional

import assay

TOLERANCE = 1e-5


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture
def rows():
    return torch.randn(6, 7, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def images():
    return torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(2))


def mlp(inputs=7, outputs=3):
    return nn.Sequential(
        nn.Linear(inputs, 12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, 9), nn.Tanh(), nn.Linear(9, outputs)
    )


class Apart(nn.Module):
    """Keeps two nonlinear modules apart, for Captum (its issue 1104)."""

    def forward(self, x):
        return x.clone()


def cnn():
    first = [nn.Conv2d(1, 4, 3), nn.ReLU(), Apart(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, nn.Conv2d(4, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(20, 3))


class Branching(nn.Module):
    """Another layer for rows of a positive sum: no exporter can write it down."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(7, 3), nn.Linear(7, 3)

    def forward(self, x):
        return torch.stack([(self.first if row.sum() > 0 else self.second)(row) for row in x])


class Attentive(nn.Module):
    """Its layer has a fast path that no tracer can write down, of which torch prints pages."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(1, 8), nn.Linear(8, 2)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.last(self.layer(self.first(x.unsqueeze(-1))).mean(1))


class Checking(nn.Module):
    """A check of sizes, which a tracer takes for a branch, but torch.export does not."""

    def __init__(self):
        super().__init__()
        self.layers = mlp()

    def forward(self, x):
        assert x.shape[1] == 7
        if x.shape[0] == 0:
            return x
        return self.layers(x)


def close(found, expected, tolerance=TOLERANCE):
    expected = np.asarray(expected.detach() if isinstance(expected, torch.Tensor) else expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def bound(model, table, value=None):
    return model._bind([("X", table)], value).model


def gradient_of(module, x, target, link=lambda scores: scores):
    module.eval()
    x = x.clone().requires_grad_()
    scores = link(module(x))
    chosen = scores[torch.arange(len(x)), target] if scores.ndim == 2 else scores
    return torch.autograd.grad(chosen.sum(), x)[0].reshape(len(x), -1)


# Predictions and units


def test_a_linear_module_is_its_closed_form(rows):
    module = nn.Linear(7, 1)
    found = assay.explain(assay.wrap(module), rows, "exact_shapley", baseline=rows[:1])
    assert found.provenance["unit"] == "value"
    close(found.values, module.weight[0] * (rows - rows[:1]))


def test_several_outputs_are_classes(rows):
    module = mlp()
    found = assay.explain_all(assay.wrap(module), rows, "occlusion", baseline="zero")
    assert list(found) == ["0", "1", "2"]
    module.eval()
    for column, each in enumerate(found.values()):
        assert each.provenance["unit"] == "margin"
        close(each.output, module(rows)[:, column])


@pytest.mark.parametrize("columns", [1, 3])
def test_probabilities_and_log_odds_are_those_of_the_margins(rows, columns):
    module = mlp(outputs=columns).eval()
    model = assay.wrap(module, classes=["no", "yes"] if columns == 1 else ["a", "b", "c"])
    scores = module(rows)
    probabilities = scores.sigmoid() if columns == 1 else scores.softmax(1)
    close(model.predict(rows), scores)
    close(model.predict(rows, value="probability"), probabilities)
    close(model.predict(rows, value="log_odds"), (probabilities / (1 - probabilities)).log())


def test_log_odds_hold_where_probabilities_are_rounded():
    class Identity(nn.Module):
        def forward(self, x):
            return x

    z = torch.tensor([[60.0, 0.0, 1.0], [-3.0, 0.5, 0.25]], dtype=torch.float64)
    model = assay.wrap(Identity(), value="log_odds")
    expected = [
        [row[c] - math.log(sum(math.exp(row[j]) for j in range(3) if j != c)) for c in range(3)] for row in z.tolist()
    ]
    close(model.predict(z), np.array(expected))
    # d log-odds_c / d z_c = 1, and minus the share among the others elsewhere
    found = assay.explain(model, z, "gradient", target="0")
    others = [[1.0, *(-np.exp(row[1:]) / np.exp(row[1:]).sum())] for row in z.numpy()]
    close(found.values, np.array(others))


def test_two_classes_and_one_output(rows):
    module = mlp(outputs=1)
    found = assay.explain_all(assay.wrap(module, classes=["no", "yes"]), rows, "gradient")
    expected = gradient_of(module, rows, 0)
    close(found["yes"].values, expected)
    close(found["no"].values, -expected)
    flat = nn.Sequential(module, nn.Flatten(0))
    close(assay.wrap(flat).predict(rows)[:, 0], module(rows)[:, 0])


def test_values_of_several_outputs(rows):
    module = mlp()
    found = assay.explain(assay.wrap(module, value="value"), rows, "gradient", target="2")
    assert found.provenance["unit"] == "value"
    close(found.values, gradient_of(module, rows, 2))


def test_wrong_modules_are_named(rows):
    class Pair(nn.Module):
        def forward(self, x):
            return x, x

    class Cube(nn.Module):
        def forward(self, x):
            return x.reshape(len(x), -1, 1, 1)

    with pytest.raises(ValueError, match="outputs of Pair: expected a tensor, found tuple"):
        assay.wrap(Pair()).predict(rows)
    with pytest.raises(ValueError, match=r"outputs of Cube: expected 6 rows .* shape \(6, 7, 1, 1\)"):
        assay.wrap(Cube()).predict(rows)
    with pytest.raises(ValueError, match=r"outputs of Sequential: expected 2 columns or 1 .*, found 3"):
        assay.wrap(mlp(), classes=["a", "b"]).predict(rows)
    with pytest.raises(ValueError, match="classes: expected the names of the two classes"):
        assay.wrap(mlp(outputs=1), value="probability").predict(rows)
    with pytest.raises(ValueError, match="example: expected a tensor"):
        assay.wrap(mlp(), example=[1.0])
    with pytest.raises(
        ValueError, match=r"expected rows of shape \(1, 8, 8\), as those of example, found shape \(7,\)"
    ):
        assay.wrap(cnn(), example=torch.zeros(1, 1, 8, 8)).predict(rows)


def test_what_a_module_raises_reaches_the_caller_itself(rows):
    raised = KeyError("mine")

    class Failing(nn.Module):
        def forward(self, x):
            if len(x) > 6:
                raise raised
            return x

    with pytest.raises(KeyError) as caught:
        assay.explain(assay.wrap(Failing(), export=False), rows, "kernel_shap", baseline="zero", target="0")
    assert caught.value is raised


def test_frames_and_text(rows):
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame(rows.numpy().astype(np.float64), columns=list("abcdefg"))
    module = mlp()
    found = assay.explain(assay.wrap(module), frame, "gradient", target="1")
    assert list(found.features) == list("abcdefg")
    close(found.values, gradient_of(module, rows, 1))
    with pytest.raises(ValueError, match="X, column 'a': expected numbers, which Sequential takes, found a category"):
        assay.wrap(module).predict(frame.assign(a="text"))


# Gradients and Captum


@pytest.mark.parametrize("make", [mlp, cnn], ids=["mlp", "cnn"])
@pytest.mark.parametrize("target", [0, 2])
def test_attributions_are_those_of_captum(make, target, rows, images):
    module, x = make().eval(), rows if make is mlp else images
    model = assay.wrap(module)
    assert {"gradient", "multipliers", "randomise"} <= set(bound(model, x).capabilities)
    found = assay.explain(model, x, "gradient", target=str(target))
    close(found.values, gradient_of(module, x, target))
    base = torch.randn(1, *x.shape[1:])
    for method, peer, options, peers_options in (
        ("deeplift", attr.DeepLift(module), {}, {}),
        (
            "integrated_gradients",
            attr.IntegratedGradients(module),
            {"rule": "gauss_legendre", "steps": 32, "tolerance": 0},
            {"n_steps": 32, "method": "gausslegendre"},
        ),
    ):
        found = assay.explain(model, x, method, target=str(target), baseline=base, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = peer.attribute(x.clone(), baselines=base, target=target, **peers_options)
        close(found.values, expected.reshape(len(x), -1), 1e-4)


@pytest.mark.parametrize("value", ["probability", "log_odds"])
def test_gradients_of_other_units(value, rows):
    module = mlp()
    link = {
        "probability": lambda scores: scores.softmax(1),
        "log_odds": lambda scores: scores.log_softmax(1) - (-scores.softmax(1)).log1p(),
    }[value]
    model = assay.wrap(module)
    close(
        assay.explain(model, rows, "gradient", target="1", value=value).values, gradient_of(module, rows, 1, link), 1e-4
    )
    assert "multipliers" in bound(model, rows, value).capabilities
    deeplift = assay.explain(model, rows, "deeplift", target="1", value=value, baseline="zero")
    module.eval()
    difference = link(module(rows))[:, 1] - link(module(torch.zeros(1, 7)))[:, 1]
    close(deeplift.values.sum(axis=1), difference, 1e-4)
    margins = model._bind([("X", rows)], value).margins
    assert margins is not None
    assert margins.unit == "margin"


def test_fast_games_equal_slow_ones(rows):
    module = nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Linear(12, 3))
    fast, slow = assay.wrap(module), assay.wrap(module, export=False)
    assert "affine_entry" in bound(fast, rows).capabilities
    assert bound(slow, rows).capabilities == ["gradient"]
    found, expected = (assay.explain(each, rows, "exact_shapley", baseline="zero", target="0") for each in (fast, slow))
    close(found.values, expected.values)
    # By brute force, through torch alone.
    players = [frozenset(c) for size in range(8) for c in itertools.combinations(range(7), size)]
    with torch.no_grad():
        x = rows[0].double()
        v = {
            s: module.double()(torch.stack([x[j] if j in s else x[j] * 0 for j in range(7)])[None])[0, 0]
            for s in players
        }
    brute = [
        sum(float(v[s | {j}] - v[s]) / (7 * math.comb(6, len(s))) for s in players if j not in s) for j in range(7)
    ]
    close(found.values[0], np.array(brute))


def test_deeplift_without_export_says_why(rows):
    with pytest.raises(assay.UnsupportedError, match=r"needs multipliers.*export=False"):
        assay.explain(assay.wrap(mlp(), export=False), rows, "deeplift", baseline="zero", target="0")


def test_a_module_that_cannot_be_exported_still_works(rows, capfd):
    module = Branching()
    model = assay.wrap(module)
    core = bound(model, rows)
    assert core.capabilities == ["gradient"]
    assert "its export to ONNX failed" in core.no_layers
    close(assay.explain(model, rows, "gradient", target="1").values, gradient_of(module, rows, 1))
    shap = assay.explain(model, rows, "kernel_shap", baseline="zero", target="1")
    close(shap.values.sum(axis=1), module(rows)[:, 1] - module(torch.zeros(1, 7))[:, 1], 1e-4)
    assert capfd.readouterr() == ("", "")


def test_an_export_that_differs_is_not_used(rows):
    class Coarse(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp().bfloat16()

        def forward(self, x):
            return self.layers(x.bfloat16())

    core = bound(assay.wrap(Coarse()), rows)
    assert core.capabilities == ["gradient"]
    assert "the outputs of its export to ONNX differ by" in core.no_layers


def test_a_check_of_sizes_does_not_stop_the_export(rows):
    core = bound(assay.wrap(Checking()), rows)
    assert core.no_layers is None
    assert "multipliers" in core.capabilities


def test_log_softmax_is_explained_as_it_is(rows):
    module = nn.Sequential(mlp(), nn.LogSoftmax(1)).eval()
    model = assay.wrap(module)
    assert "multipliers" in bound(model, rows).capabilities
    found = assay.explain(model, rows, "deeplift", baseline="zero", target="0")
    close(found.values.sum(axis=1), module(rows)[:, 0] - module(torch.zeros(1, 7))[:, 0], 1e-4)


# What calls leave behind


def test_parts_keep_their_training_flags(rows):
    module = nn.Sequential(nn.BatchNorm1d(7), mlp())
    module(rows)  # statistics of its own
    module.train()
    module[0].eval()
    statistics = module[0].running_mean.clone()
    before = [part.training for part in module.modules()]
    assert True in before
    assert False in before
    model = assay.wrap(module)
    assay.explain(model, rows, "gradient", target="0")
    assay.explain(model, rows, "deeplift", baseline="zero", target="0")
    assert [part.training for part in module.modules()] == before
    assert torch.equal(module[0].running_mean, statistics)
    assert all(each.grad is None for each in module.parameters())
    # Dropout is off: twice the same.
    assert np.array_equal(model.predict(rows), model.predict(rows))


def test_weights_may_change_between_calls(rows):
    module = mlp()
    model = assay.wrap(module)

    def check():
        module.eval()
        base = torch.zeros(1, 7)
        found = assay.explain(model, rows, "deeplift", baseline="zero", target="0")
        expected = attr.DeepLift(module).attribute(rows.clone(), baselines=base, target=0)
        close(found.values, expected, 1e-4)
        return found.values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = check()
        optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
        module(rows).square().sum().backward()
        optimiser.step()
        second = check()
        for each in module.parameters():
            each.data.mul_(1.25)  # behind torch's back: no version changes
        third = check()
    assert np.abs(first - second).max() > 1e-2
    assert np.abs(second - third).max() > 1e-2


def test_modules_in_place_and_inside_no_grad(rows):
    module = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(7, 3))
    expected = gradient_of(nn.Sequential(nn.ReLU(), module[1]), rows, 1)
    before = rows.clone()
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            close(assay.explain(assay.wrap(module), rows, "gradient", target="1").values, expected)
    assert torch.equal(rows, before)


def test_example_gives_shape_and_dtype(images):
    module = cnn()
    flat = images.reshape(len(images), -1)
    found = assay.explain(assay.wrap(module, example=images[:1]), flat, "gradient", target="0")
    close(found.values, gradient_of(module, images, 0))

    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.last = nn.Embedding(10, 4), nn.Linear(12, 2)

        def forward(self, x):
            return self.last(self.embedding(x).flatten(1))

    words = torch.randint(0, 10, (5, 3))
    model = assay.wrap(Counting(), example=words)
    close(model.predict(words), model._module(words))
    with pytest.raises(assay.UnsupportedError, match="whole numbers"):
        assay.explain(model, words, "gradient", target="0")


def test_a_module_of_float64_is_called_so(rows):
    module = mlp().double()
    model = assay.wrap(module)
    close(assay.explain(model, rows, "gradient", target="0").values, gradient_of(module, rows.double(), 0))


def test_outputs_that_ignore_the_rows(rows):
    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.value = nn.Parameter(torch.ones(1, 1))

        def forward(self, x):
            return self.value.expand(x.shape[0], 1)

    class Detached(nn.Module):
        def forward(self, x):
            return x.detach().sum(1)

    class Frozen(nn.Module):
        """Its weights have a gradient, its rows have none."""

        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(7, 1)

        def forward(self, x):
            return self.layer(x.detach())

    for module in (Constant(), Detached(), Frozen()):
        reason = f"{type(module).__name__} has none: its output is not connected to its input for autograd"
        with pytest.raises(assay.UnsupportedError, match=reason):
            assay.explain(assay.wrap(module), rows, "gradient")


def test_rows_of_a_branch_that_ignores_them_have_no_slope(rows):
    class Sometimes(nn.Module):
        def forward(self, x):
            return torch.stack([row.square().sum() if row[0] > 0 else torch.ones(()) for row in x])

    rows[:, 0] = torch.tensor([-1.0, -2.0, -3.0, 1.0, 2.0, 3.0])
    expected = torch.where(rows[:, :1] > 0, 2 * rows, 0.0)
    close(assay.explain(assay.wrap(Sometimes(), batch=2, export=False), rows, "gradient").values, expected)


def test_calls_come_on_the_calling_thread(rows):
    seen = set()

    class Noting(nn.Module):
        def forward(self, x):
            seen.add(threading.get_ident())
            return functional.softplus(x).sum(1)

    assay.explain(assay.wrap(Noting()), rows, "integrated_gradients", baseline="zero", threads=2)
    assert seen == {threading.get_ident()}
