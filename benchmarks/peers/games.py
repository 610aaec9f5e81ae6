"""Three games whose Shapley values are known: every coalition's value is in a table, found once from the real model.

The paper's Adult network, a network of 17 inputs with two hidden layers, and an XGBoost ensemble on Adult, each against
one reference row. Peers play on the table, so that a slow estimator costs only its own time; Assay plays on the model,
whose values are compared with the table's first.
"""

import dataclasses
import math

import numpy as np
import subjects
import torch
import xgboost
from torch import nn

import assay

TREES, DEPTH, HIDDEN = 150, 6, 32


@dataclasses.dataclass
class Game:
    """A model, rows and the reference row they are explained against, with v(S) of every row: bit i of a column's
    number says that player i is present."""

    name: str
    model: object  # Assay's
    arguments: dict  # for assay.explain: which output
    rows: np.ndarray
    reference: np.ndarray
    values: np.ndarray  # rows x 2^players
    exact: np.ndarray

    @property
    def players(self):
        return self.rows.shape[1]

    def explain(self, method, seed, rows=None, **options):
        given = {"baseline": self.reference, "seed": seed, "threads": 1, "progress": False} | self.arguments
        return assay.explain(self.model, self.rows if rows is None else rows, method, **given, **options)


class Play:
    """One row's game, as each library wants to call it; counts evaluations."""

    def __init__(self, game, row):
        self.table, self.players = game.values[row], game.players
        self.row, self.reference = game.rows[row].astype(np.float64), game.reference.astype(np.float64)
        self.bits = 1 << np.arange(self.players)
        self.evaluations = 0

    def coalitions(self, masks):
        """Values of 0/1 rows."""
        masks = np.atleast_2d(masks)
        self.evaluations += len(masks)
        return self.table[masks.astype(np.int64) @ self.bits]

    def cells(self, rows):
        """Values of rows whose cells are the explained row's or the reference's. Where the two are equal the player
        changes nothing, and libraries that look for such players save the work on them."""
        return self.coalitions(np.asarray(rows, dtype=np.float64) == self.row)

    def tensors(self, rows):
        return torch.from_numpy(self.cells(rows.numpy()))


def all_masks(players):
    return (np.arange(1 << players)[:, None] >> np.arange(players) & 1).astype(bool)


def shapley_values(values):
    """By the definition, in float64: what each player adds to each coalition without it."""
    players = values.shape[1].bit_length() - 1
    masks = all_masks(players)
    sizes = masks.sum(axis=1)
    weights = np.array([1 / (players * math.comb(players - 1, size)) for size in range(players)])
    found = np.empty((len(values), players))
    for player in range(players):
        without = np.flatnonzero(~masks[:, player])
        found[:, player] = (values[:, without | 1 << player] - values[:, without]) @ weights[sizes[without]]
    return found


def game_of(name, model, arguments, rows, reference, predict):
    """The game of rows whose masked copies `predict` takes. Assay's values of the model must be the table's."""
    masks = all_masks(rows.shape[1])
    values = np.stack([predict(np.where(masks, row, reference)) for row in rows]).astype(np.float64)
    game = Game(name, model, arguments, rows, reference, values, shapley_values(values))
    ours = game.explain("exact_shapley", seed=0)
    np.testing.assert_allclose(ours.values, game.exact, atol=1e-5 * np.abs(game.exact).max())
    np.testing.assert_allclose(ours.base, values[:, 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.output, values[:, -1], rtol=1e-5, atol=1e-5)
    return game


def sampled_rows(rows, count):
    return rows[np.random.default_rng(1).choice(len(rows), count, replace=False)]


def adult_network(run, count):
    made = subjects.adult(run.kept)
    module = made.module
    layers = [layer.double() for layer in (torch_copy(module[0]), torch_copy(module[2]))]

    def margin(rows):
        hidden = nn.functional.leaky_relu(layers[0](torch.from_numpy(rows).double()), 0.01)
        return layers[1](hidden)[:, 1].numpy()

    rows, reference = sampled_rows(made.table(), count), made.flat_baseline()[0]
    return game_of("Adult network", assay.load(made.file), {"target": 1}, rows, reference, margin)


def torch_copy(layer):
    copy = nn.Linear(layer.in_features, layer.out_features)
    copy.load_state_dict(layer.state_dict())
    return copy.requires_grad_(False)


def interacting(x):
    """A target of 17 inputs that interact in twos and threes."""
    pairs = np.sin(2 * x[:, 0] * x[:, 1]) + np.abs(x[:, 7] - x[:, 8]) + x[:, 9] * x[:, 10] / 2
    triples = x[:, 2] * x[:, 3] * x[:, 4] + np.tanh(x[:, 12] + x[:, 13] * x[:, 14])
    return pairs + triples + np.maximum(x[:, 5], x[:, 6]) + x[:, 11] ** 2 / 2 + x[:, 15] / 2 - x[:, 16] / 3


def network_of_17(run, count):
    """Trained a second or two on noise-free rows: enough to learn most of the interactions."""
    x = np.random.default_rng(17).standard_normal((20_000, 17)).astype(np.float32)
    y = torch.from_numpy(interacting(x).astype(np.float32))[:, None]
    torch.manual_seed(17)
    module = nn.Sequential(nn.Linear(17, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
    inputs, parameters = torch.from_numpy(x), list(module.parameters())
    speeds = [torch.zeros_like(parameter) for parameter in parameters]
    # Gradient descent with momentum by hand: torch.optim takes longer to import than this takes to train.
    for _ in range(12):
        for batch in torch.randperm(len(x)).split(250):
            loss = nn.functional.mse_loss(module(inputs[batch]), y[batch])
            for parameter, speed, slope in zip(parameters, speeds, torch.autograd.grad(loss, parameters), strict=True):
                speed.mul_(0.9).add_(slope)
                parameter.data.sub_(0.03 * speed)
    module.eval().requires_grad_(False)
    file = run.folder / "network17.onnx"
    torch.onnx.export(module, (inputs[:1],), file, dynamo=False, dynamic_axes={"x": {0: "rows"}}, input_names=["x"])
    exported = assay.load(file)
    module.double()
    rows = np.random.default_rng(18).standard_normal((count, 17)).astype(np.float32)
    predict = lambda masked: module(torch.from_numpy(masked).double())[:, 0].numpy()  # noqa: E731
    return game_of("17-input network", exported, {}, rows, np.zeros(17, dtype=np.float32), predict)


def adult_booster(run, count):
    made = subjects.adult(run.kept)
    x = made.table()
    with np.load(made.folder / "adult.npz") as table:
        y = table["values"][:, 14]
    settings = {"max_depth": DEPTH, "objective": "binary:logistic", "eta": 0.1, "nthread": 1, "seed": 1}
    model = xgboost.train(settings, xgboost.DMatrix(x, y), num_boost_round=TREES)
    file = run.folder / "booster.json"
    model.save_model(file)
    predict = lambda masked: model.inplace_predict(masked, predict_type="margin")  # noqa: E731
    return game_of("booster", assay.load(file), {"value": "margin"}, sampled_rows(x, count), x[0], predict)
