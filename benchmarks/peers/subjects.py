"""The models that workloads share: Assay trains the paper's networks, and the same weights go into PyTorch modules.

Each is made once in a run and lies in its `kept` folder. Outputs of both sides are compared before anything is timed.
"""

import dataclasses
import functools
import pathlib

import numpy as np
import onnx
import torch
from harness import assay, data_folder
from torch import nn

ADULT, IMAGES = 48842, 1000


@dataclasses.dataclass
class Subject:
    """A model with its rows and baseline, as tensors and as files for Assay: folder/name.onnx, name.npy and
    name_baseline.npy."""

    name: str
    module: nn.Module
    rows: torch.Tensor
    baseline: torch.Tensor
    targets: torch.Tensor
    folder: pathlib.Path

    @property
    def file(self):
        return self.folder / f"{self.name}.onnx"

    def table(self, count=None):
        """Rows as Assay takes them, flat."""
        return self.rows[:count].reshape(len(self.rows[:count]), -1).numpy()

    def flat_baseline(self):
        return self.baseline.reshape(1, -1).numpy()


def torch_module(file, module):
    """The weights of Assay's file in a module of the same architecture."""
    weights = [
        torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy()) for tensor in onnx.load(file).graph.initializer
    ]
    for parameter, weight in zip(module.parameters(), weights, strict=True):
        assert parameter.shape == weight.shape
        parameter.data = weight
        parameter.requires_grad_(False)
    return module.eval()


def without_encoder(source, target):
    """The graph alone, which takes encoded rows: scaling is part of its first layer."""
    model = onnx.load(source)
    del model.metadata_props[:]
    onnx.save(model, target)


def subject(folder, name, module, shape, count, training, encoding):
    data_folder(name)
    trained, encoded = folder / f"{name}_trained.onnx", folder / f"{name}.npz"
    assay("--quiet", "train", "--data", name, *training, "--out", trained)
    without_encoder(trained, folder / f"{name}.onnx")
    assay("--quiet", "data", name, *encoding, "--out", encoded)
    with np.load(encoded) as table:
        rows = table["values"][:count, : int(np.prod(shape))].astype(np.float32)
    assert len(rows) == count
    # Pixels of zero are MNIST's background; the mean is the default of tables.
    baseline = np.zeros_like(rows[:1]) if len(shape) > 1 else rows.mean(axis=0, keepdims=True, dtype=np.float64)
    baseline = baseline.astype(np.float32)
    np.save(folder / f"{name}.npy", rows)
    np.save(folder / f"{name}_baseline.npy", baseline)
    module = torch_module(folder / f"{name}.onnx", module)
    rows = torch.from_numpy(rows).reshape(count, *shape)
    outputs = module(rows)
    found = folder / "outputs.npy"
    assay("--quiet", "predict", "--model", folder / f"{name}.onnx", "--data", folder / f"{name}.npy", "--out", found)
    np.testing.assert_allclose(np.load(found), outputs.softmax(dim=1).numpy(), rtol=1e-3, atol=1e-4)
    targets = outputs.argmax(dim=1) if outputs.shape[1] > 2 else torch.ones(count, dtype=torch.int64)
    return Subject(name, module, rows, torch.from_numpy(baseline).reshape(1, *shape), targets, folder)


def adult_module():
    return nn.Sequential(nn.Linear(14, 40), nn.LeakyReLU(0.01), nn.Linear(40, 2))


def mnist_module():
    layers = [nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 10))


@functools.cache
def adult(kept):
    """The paper's network for Adult: 14-40-2 with leaky ReLUs, all 48,842 rows, the mean as baseline."""
    training = ("--hidden", 40, "--training", "epochs=3")
    return subject(kept, "adult", adult_module(), (14,), ADULT, training, ("--encode", "label:impute=mean"))


@functools.cache
def mnist(kept, quick):
    """The paper's network for MNIST, two convolutions; 1,000 test images against black."""
    # What it has learnt does not change how long it takes: 3,000 images are enough for a quick run.
    split, options = ("test", "epochs=1:validation=0.7") if quick else ("train", "epochs=1")
    training = ("--split", split, "--cnn", "32,64", "--training", options)
    return subject(kept, "mnist", mnist_module(), (1, 28, 28), IMAGES, training, ("--split", "test"))
