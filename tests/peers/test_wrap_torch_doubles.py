"""PyTorch modules that take doubles or whole numbers: what float32 rows cannot hold is refused or noted."""

import numpy as np
import pandas as pd
import pytest
import torch
from test_wrap_torch import close
from torch import nn

import assay


class SinceThen(nn.Module):
    """A tenth for each second since a moment, and the second column; in doubles."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([0.1, 1.0], dtype=torch.float64))

    def forward(self, x):
        return ((x - torch.tensor([1.7e9, 0], dtype=x.dtype)) * self.weights).sum(1)


def test_rows_that_float32_rounds_are_refused_where_a_module_takes_doubles():
    times = np.column_stack([1.7e9 + np.linspace(0, 100, 8), np.arange(8.0)])
    model = assay.wrap(SinceThen())
    forms = [times, torch.tensor(times), pd.DataFrame(times, columns=["time", "b"]), times.tolist()]
    for rows in forms:
        with pytest.raises(ValueError, match=r"X: column '(0|time)' holds numbers beyond 2\^24, .* as torch.float64"):
            model.predict(rows)
    with pytest.raises(ValueError, match="background: column '0' holds numbers beyond"):
        assay.explain(model, times * [0, 1], "occlusion", background=times)
    # Columns go by their names, and those that the module does not take are nobody's.
    wide = pd.DataFrame({"other": times[:, 0], "a": times[:, 1], "b": times[:, 1], "when": pd.Timestamp(0)})
    named = assay.wrap(SinceThen(), features=["b", "a"])
    named.predict(wide)
    with pytest.raises(ValueError, match="X: column 'b' holds numbers beyond"):
        named.predict(wide.assign(b=times[:, 0]))
    # A module in float32 sees nothing else than our rows.
    assay.wrap(nn.Linear(2, 1)).predict(times)


def test_lost_digits_of_doubles_are_noted():
    near = np.column_stack([1e6 + np.linspace(0, 1e-1, 8), np.arange(8.0)])
    found = assay.explain(assay.wrap(SinceThen()), near, "occlusion", baseline=near[:1])
    assert any("column '0' of X lies near 1e+06" in note for note in found.notes), found.notes
    assert not assay.explain(assay.wrap(nn.Linear(2, 1).double()), near * [0, 1], "occlusion", baseline="zero").notes


def test_numbers_of_embeddings_are_exact():
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 2)

        def forward(self, x):
            return self.table(x % 50).sum(1)

    module = Table()
    model = assay.wrap(module, example=torch.zeros(1, 3, dtype=torch.int64))
    ids = np.arange(12).reshape(4, 3)
    close(model.predict(ids + 2**20), module(torch.tensor(ids + 2**20)))
    with pytest.raises(ValueError, match=r"column '0' holds numbers beyond 2\^24, .* as torch.int64"):
        model.predict(ids + 2**24 + 1)


def test_means_of_whole_numbers_are_rounded():
    class Sum(nn.Module):
        def forward(self, x):
            return x.float().sum(1)

    pool = np.array([[1, 0], [2, 0], [2, 0]])
    found = assay.explain(assay.wrap(Sum(), example=torch.zeros(1, 2, dtype=torch.int64)), pool, "occlusion", pool=pool)
    assert found.base[0] == 2  # the mean is 1.67


@pytest.mark.parametrize("module", [nn.BatchNorm1d(3, track_running_stats=False), nn.Softmax(dim=0)])
def test_modules_of_the_whole_batch_are_refused(module):
    rows = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    with pytest.raises(assay.UnsupportedError, match="gives a row other outputs when other rows are beside it"):
        assay.wrap(module, value="value").predict(rows)


def test_complex_outputs_are_refused():
    class Complex(nn.Module):
        def forward(self, x):
            return torch.complex(x, x)

    with pytest.raises(ValueError, match=r"expected real numbers, found torch\.complex64"):
        assay.wrap(Complex()).predict(torch.ones(3, 2))


def test_complex_inputs_are_not_rounded():
    class Size(nn.Module):
        def forward(self, x):
            return x.abs().sum(1)

    rows = torch.tensor([[0.4, 0.3], [0.1, 0.9]])
    close(assay.wrap(Size(), example=torch.zeros(1, 2, dtype=torch.complex64)).predict(rows), rows.sum(1, keepdim=True))
