"""What SHAP and Captum really return, taken in by assay.Explanations; and what SHAP and Quantus make of ours."""

import warnings

import captum.attr
import matplotlib
import numpy as np
import pandas
import pytest
import quantus
import shap
import torch
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from torch import nn

import assay

FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
CLASSES = ["setosa", "versicolor", "virginica"]


@pytest.fixture(autouse=True)
def quiet():
    matplotlib.use("Agg")
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame(rng.normal(size=(90, 4)), columns=FEATURES)
    classes = np.array(CLASSES)[np.digitize(rows["petal_width"] + 0.5 * rows["sepal_width"], [-0.5, 0.5])]
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes), rows


@pytest.fixture(scope="module")
def trees(forest):
    """rows x features x outputs, whose names SHAP invents."""
    model, rows = forest
    return shap.TreeExplainer(model)(rows)


@pytest.mark.parametrize("output", [0, 1, 2])
def test_tree_explanations_of_several_classes(forest, trees, output):
    made = assay.Explanations.from_shap(trees, output=output)
    np.testing.assert_array_equal(made.values, trees.values[:, :, output].astype(np.float32))
    np.testing.assert_array_equal(made.base, trees.base_values[:, output])
    np.testing.assert_array_equal(made.data, trees.data)
    assert made.features == FEATURES and made.target_index.tolist() == [output] * 90
    # SHAP's values are complete: they add up to the probability less the base.
    model, rows = forest
    np.testing.assert_allclose(
        made.base + made.values.sum(axis=1), model.predict_proba(rows)[:, output], rtol=1e-5, atol=1e-6
    )
    # A class that SHAP's own slice has chosen is still known by its number.
    sliced = assay.Explanations.from_shap(trees[:, :, output])
    np.testing.assert_array_equal(sliced.values, made.values)
    np.testing.assert_array_equal(sliced.target_index, made.target_index)
    row = assay.Explanations.from_shap(trees[7], output=output)
    np.testing.assert_array_equal(row.values, made[7].values)
    np.testing.assert_array_equal(row.base, made[7].base)


def test_several_classes_need_a_choice(trees):
    with pytest.raises(ValueError, match="output: expected a number from 0 to 2, because explanation has values for 3"):
        assay.Explanations.from_shap(trees)
    with pytest.raises(ValueError, match="explanations has values for 3 outputs"):
        assay.evaluate(trees, "complexity")


def test_arrays_of_shap_values(forest, trees):
    model, rows = forest
    values = shap.TreeExplainer(model).shap_values(rows)
    made = assay.Explanations.from_shap(values, output=2)
    np.testing.assert_array_equal(made.values, trees.values[:, :, 2].astype(np.float32))
    listed = assay.Explanations.from_shap([values[:, :, k] for k in range(3)], output=2)
    np.testing.assert_array_equal(listed.values, made.values)


def test_names_of_outputs_that_shap_knows(trees):
    named = shap.Explanation(trees.values, trees.base_values, trees.data, feature_names=FEATURES, output_names=CLASSES)
    made = assay.Explanations.from_shap(named, output="virginica")
    assert made.target_names == CLASSES and made.target.tolist() == ["virginica"] * 90
    np.testing.assert_array_equal(made.values, trees.values[:, :, 2].astype(np.float32))
    np.testing.assert_array_equal(made.base, trees.base_values[:, 2])
    sliced = assay.Explanations.from_shap(named[:, :, "versicolor"])
    assert set(sliced.target) == {"versicolor"}
    np.testing.assert_array_equal(sliced.values, trees.values[:, :, 1].astype(np.float32))


def test_one_output(forest):
    _, rows = forest
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(rows, rows["petal_width"] * rows["sepal_width"])
    found = shap.TreeExplainer(model)(rows[:5])
    made = assay.Explanations.from_shap(found)
    np.testing.assert_array_equal(made.values, found.values.astype(np.float32))
    np.testing.assert_array_equal(made.base, found.base_values.reshape(-1))
    np.testing.assert_allclose(made.base + made.values.sum(axis=1), model.predict(rows[:5]), rtol=1e-5, atol=1e-6)
    assert made.target is None
    row = assay.Explanations.from_shap(found[2])
    np.testing.assert_array_equal(row.values, made.values[2:3])
    np.testing.assert_array_equal(row.base, made.base[2:3])


def test_there_and_back(trees):
    made = assay.Explanations.from_shap(trees, output=1)
    there = made.as_shap()
    assert isinstance(there, shap.Explanation) and there.shape == (90, 4) and there.feature_names == FEATURES
    again = assay.Explanations.from_shap(there)
    np.testing.assert_array_equal(again.values, made.values)
    np.testing.assert_array_equal(again.base, made.base)
    np.testing.assert_array_equal(again.data, made.data)
    assert again.features == made.features and again.target.tolist() == made.target.tolist()


def test_shap_plots_what_assay_explains():
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    made = assay.explain(assay.train(train), test, "exact_shapley", pool=train)
    ours = made.as_shap()
    np.testing.assert_allclose(ours.values.sum(axis=1) + ours.base_values, made.output, rtol=1e-5, atol=1e-5)
    for plot, what in ((shap.plots.beeswarm, ours), (shap.plots.bar, ours), (shap.plots.waterfall, ours[0])):
        plot(what, show=False)
        axes = matplotlib.pyplot.gcf().axes
        # SHAP writes the value of a row's feature before its name.
        labels = {label.get_text().split(" = ")[-1] for axis in axes for label in axis.get_yticklabels()}
        assert set(made.features) <= labels
        matplotlib.pyplot.close("all")


def network(*layers):
    torch.manual_seed(3)
    return nn.Sequential(*layers).eval()


def test_captum_attributions_of_rows():
    net = network(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    rows = torch.randn(6, 4)
    found = captum.attr.IntegratedGradients(net).attribute(rows, target=1)
    made = assay.Explanations.from_array(found, features=FEATURES, target=1)
    np.testing.assert_array_equal(made.values, found.detach().numpy().astype(np.float32))
    # Where the inputs are a tuple, so are the attributions.
    alone = captum.attr.Saliency(net).attribute((rows,), target=1)
    assert isinstance(alone, tuple)
    np.testing.assert_array_equal(assay.Explanations.from_array(alone).values, alone[0].detach().numpy())
    # Tensors that NumPy would not take as they are.
    needs_gradient = torch.ones(2, 3, requires_grad=True)
    half = torch.tensor([[0.5, -2.0]], dtype=torch.bfloat16)
    assert assay.Explanations.from_array(needs_gradient).values.tolist() == [[1] * 3] * 2
    assert assay.Explanations.from_array(half).values.tolist() == [[0.5, -2.0]]


def test_captum_attributions_of_images():
    net = network(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 3 * 4, 2))
    images = torch.randn(4, 2, 5, 6)
    found = captum.attr.DeepLift(net).attribute(images, target=1).detach()
    made = assay.Explanations.from_array(found, data=images)
    assert made.item_shape == (2, 5, 6) and made.shape == (4, 60)
    np.testing.assert_array_equal(made.values.reshape(found.shape), found.numpy())
    there = made.as_shap()
    assert there.shape == there.data.shape == (4, 2, 5, 6)
    assert assay.Explanations.from_shap(there).item_shape == (2, 5, 6)


def test_quantus_scores_ours_as_we_do():
    """Quantus takes explanations as arrays, which np.asarray makes of ours."""
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    made = assay.explain(assay.train(train), test, "exact_shapley", pool=train)
    arguments = {"model": None, "x_batch": made.data, "y_batch": made.target_index, "a_batch": np.asarray(made)}
    for criterion, metric in (("complexity", quantus.Complexity), ("sparseness", quantus.Sparseness)):
        theirs = metric(abs=True, normalise=False, disable_warnings=True)(**arguments)
        np.testing.assert_allclose(assay.evaluate(made, criterion)[criterion].values, theirs, rtol=1e-5)
