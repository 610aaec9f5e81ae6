"""What assay.study refuses, before any work."""

import numpy as np
import pytest

import assay

QUICK = {"methods": ["occlusion", "shapley_sampling:permutations=6", "lime"], "aggregators": ["mean"]}
QUICK |= {"criteria": "faithfulness,complexity,avg_sensitivity", "curves": False}
ROWS = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)


def smooth(rows):
    return np.tanh(rows @ np.array([1, -2, 0.5, 0.25], np.float32)) + rows[:, 0] * rows[:, 1]


WRONG = {
    "no pool": ({"pool": None}, "pool: expected training rows"),
    "no rows": ({"X": None}, "X: expected rows"),
    "text": ({"model": "no such data set", "X": None, "pool": None}, "no such data set"),
    "text and rows": ({"model": "iris"}, "model: expected what assay.load"),
    "method": ({"methods": "magic"}, "methods: expected one of .* found 'magic'"),
    "option": ({"methods": "lime:magic=1"}, "methods: lime has no option 'magic'"),
    "criterion": ({"criteria": ["beauty"]}, "criteria: expected one of"),
    "aggregator": ({"aggregators": ["magic"]}, "aggregators: expected one of"),
    "member": ({"members": ["deeplift"]}, "deeplift"),
    "gradient": ({"methods": "gradient"}, "gradient"),
    "sample": ({"sample": 0}, "sample: expected"),
    "time word": ({"time": "soon"}, r"^time: expected a time such as 30s, 2m or 1h, .* found 'soon'$"),
    "no time": ({"time": 0}, r"^time: expected a time such as 30s, 2m or 1h, .* found '0\.0'$"),
    "time yes": ({"time": True}, r'^time: expected "30s", .* or None for no limit, found True$'),
    "times": ({"time": [1]}, r'^time: expected "30s", .* or None for no limit, found \[1\]$'),
    "sample word": ({"sample": "many"}, 'sample: expected "auto", "all" or a number of rows'),
    "pool sample": ({"pool_sample": -3}, r'^pool_sample: expected "auto", .* number of rows, 1 or more, found -3$'),
    "sample yes": ({"sample": True}, r'^sample: expected "auto", .* number of rows, 1 or more, found True$'),
    "samples": ({"sample": np.array([1, 2])}, r"^sample: expected .* found array"),
    "no methods": ({"methods": []}, "^methods: expected at least one, or None for the default, found none$"),
    "no criteria": ({"criteria": ()}, "^criteria: expected at least one, or None for the default, found none$"),
    "no members": ({"members": iter(())}, "^members: expected at least one, or None for the default, found none$"),
    "retrain": ({"retrain": "x"}, "^retrain: expected True or False, found 'x'$"),
    "curves": ({"curves": "yes"}, "^curves: expected True or False, found 'yes'$"),
    "variations": ({"variations": None}, "^variations: expected True or False, found None$"),
    "cells": ({"cells": 2}, "^cells: expected True or False, found 2$"),
    "resume word": ({"resume": "no", "out": "x"}, "^resume: expected True or False, found 'no'$"),
    "overwrite": ({"overwrite": "no", "out": "x"}, "^overwrite: expected True or False, found 'no'$"),
    "half a method": ({"methods": "\udcff"}, "^methods: expected text of whole characters"),
    "resume": ({"resume": True}, "resume: expected out="),
    "both": ({"resume": True, "overwrite": True, "out": "x"}, "resume: expected no overwrite"),
    "information": ({"value": "information"}, "information"),
    "seed": ({"seed": -1}, "seed: expected a whole number"),
    "not a model": ({"model": smooth}, r"model: expected .* assay\.wrap"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments_are_refused_before_work(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    given = {"model": assay.wrap(smooth), "X": ROWS[:10], "pool": ROWS, **QUICK, **arguments}
    with pytest.raises((ValueError, OSError), match=sentence):
        assay.study(given.pop("model"), given.pop("X"), **given)
    assert list(tmp_path.iterdir()) == []


def test_unknown_arguments_are_type_errors():
    with pytest.raises(TypeError, match="polo"):
        assay.study(assay.wrap(smooth), ROWS, polo=ROWS)
    with pytest.raises(TypeError, match=r"assay\.study and Study\.load"):
        assay.Study()


@pytest.mark.parametrize("none", ["none", [], (), iter(())], ids=["word", "list", "tuple", "iterator"])
def test_no_aggregators_are_a_way_to_study_methods_alone(none):
    made = assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, **{**QUICK, "aggregators": none})
    assert made.aggregates == [] and made.methods == QUICK["methods"]


def test_entries_of_the_catalogues_may_be_studied():
    said = {"methods": [assay.methods()["occlusion"], (assay.methods()["lime"], {"samples": 40})]}
    said |= {"criteria": assay.criteria()["complexity"], "aggregators": assay.aggregators()["mean"], "curves": False}
    made = assay.study(assay.wrap(smooth), ROWS[:10], pool=ROWS, variations=np.bool_(False), **said)
    assert made.entries == ["occlusion", "lime:samples=40", "mean"] and made.criteria == ["complexity"]
