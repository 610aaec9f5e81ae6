"""assay.train: a network that fits the rows, and categories that the training rows do not have."""

import os

import numpy as np
import pytest

import assay

FEW = {"methods": ["gradient", "occlusion"], "aggregators": "none", "criteria": ["complexity"]}
FEW |= {"curves": False, "variations": False, "sample": 6, "pool_sample": 40}


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (8, 8), (3, 5, 9), (28, 28)])
def test_images_of_any_shape_have_a_network(tmp_path, shape):
    images = np.random.default_rng(0).integers(0, 256, (60, *shape)).astype(np.float32)
    np.savez(tmp_path / "images.npz", x=images, y=(images.reshape(60, -1).mean(1) > 127).astype(np.int64))
    table = assay.dataset(tmp_path / "images.npz")
    assert assay.train(table).predict(table).shape == (60, 2)


@pytest.mark.skipif(not os.environ.get("ASSAY_DATA"), reason="ASSAY_DATA names no folder of data sets")
def test_digits_are_learnt_and_studied(tmp_path):
    train, test = assay.dataset("digits", split="train"), assay.dataset("digits", split="test")
    classes = assay.train(train).predict(test).argmax(1)
    assert np.mean(classes == np.asarray(test.labels, int)) > 0.96
    study = assay.study("digits", out=tmp_path / "study", **FEW)
    assert study.entries == ["gradient", "occlusion"]
    assert study.explanations["gradient"].values.shape == (6, 64)


@pytest.fixture
def tables(tmp_path):
    rows = "".join(f"{i % 5},{'ab'[i % 2]},{'yes' if i % 2 else 'no'}\n" for i in range(40))
    (tmp_path / "train.csv").write_text("n,kind,y\n" + rows)
    (tmp_path / "rows.csv").write_text("n,kind\n1,a\n2,other\n")
    return assay.dataset(tmp_path / "train.csv", label="y"), assay.dataset(tmp_path / "rows.csv")


@pytest.mark.parametrize("encode", ["label", "one_hot"])
def test_a_category_that_was_not_trained_on_is_refused_or_unknown(tables, encode):
    train, rows = tables
    words = r"row 2, column 'kind': expected one of the categories of the training rows, found 'other'"
    with pytest.raises(ValueError, match=words):
        assay.train(train, encode=encode).predict(rows)
    model = assay.train(train, encode=encode, unseen="unknown")
    assert np.isfinite(model.predict(rows)).all()
    made = assay.explain(model, rows, "gradient")
    assert any("a category of column 'kind' that no training row has" in note for note in made.notes)


def test_other_words_are_refused(tables):
    with pytest.raises(ValueError, match="unseen: expected refuse or unknown, found 'drop'"):
        assay.train(tables[0], unseen="drop")
