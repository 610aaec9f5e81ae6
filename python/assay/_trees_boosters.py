"""Boosters of XGBoost and LightGBM as the engine's trees: the engine reads the files that they write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._text import one_line
from ._trees_parts import CannotConvert, TreeParts


def is_xgboost(model: Any) -> bool:
    """A Booster, or an estimator around one."""
    return callable(getattr(model, "save_raw", None)) or callable(getattr(model, "get_booster", None))


def is_lightgbm(model: Any) -> bool:
    """A Booster, or an estimator around one."""
    # booster_ raises if the estimator is not fitted.
    return callable(getattr(model, "model_to_string", None)) or hasattr(type(model), "booster_")


def xgboost_parts(name: str, model: Any, features: Sequence[str], classes: Sequence[str]) -> TreeParts:
    """As many rounds as its own predict takes."""
    if callable(getattr(model, "save_raw", None)):
        content = _read(name, bytes(model.save_raw(raw_format="ubj")), features, classes)
        return TreeParts(content, lambda rows: model.inplace_predict(rows, predict_type="margin"))
    missing = getattr(model, "missing", np.nan)
    if missing is not None and missing == missing:
        raise CannotConvert(f"it takes {missing} for a missing value")
    booster = model.get_booster()
    # The property raises if training did not stop early.
    best = getattr(model, "best_iteration", None)
    chosen = booster if best is None else booster[: int(best) + 1]
    content = _read(name, bytes(chosen.save_raw(raw_format="ubj")), features, classes)
    return TreeParts(content, lambda rows: model.predict(rows, output_margin=True))


def lightgbm_parts(name: str, model: Any, features: Sequence[str], classes: Sequence[str]) -> TreeParts:
    """As many rounds as its own predict takes, the best of them where training stopped early."""
    booster = model if callable(getattr(model, "model_to_string", None)) else model.booster_
    text = booster.model_to_string()
    content = _read(name, text.encode(), features, classes)
    # For random forests scores are sums of trees, but predictions use their mean.
    rounds = 1
    if "\naverage_output\n" in text:
        rounds = text.count("\nTree=") // max(_targets(text), 1)
    # The engine's scores are log-odds: the slope of the sigmoid is in them.
    sigmoid = re.search(r"^objective=.*\bsigmoid:(\S+)", text, re.MULTILINE)
    slope = float(sigmoid[1]) if sigmoid else 1.0
    values = _pandas_values(name, content, booster)
    return TreeParts(content, lambda rows: np.asarray(booster.predict(rows, raw_score=True)) * slope / rounds, values)


def _read(name: str, content: bytes, features: Sequence[str], classes: Sequence[str]) -> bytes:
    """The engine's own file, converted from a library's; CannotConvert if that is not possible."""
    try:
        model = _core.Model.from_bytes(name, content, class_names=list(classes), feature_names=list(features))
    except ValueError as error:
        raise CannotConvert(one_line(str(error)).removeprefix(f"{name}: ")) from error
    if classes and len(model.class_names) != len(classes):
        raise CannotConvert("its objective does not say how scores become probabilities of classes")
    return model.onnx_bytes()


def _targets(text: str) -> int:
    """How many trees a round has, from the text of a model."""
    line = next((each for each in text.splitlines() if each.startswith("num_tree_per_iteration=")), "=1")
    return int(line.partition("=")[2])


def _pandas_values(name: str, content: bytes, booster: Any) -> dict[int, list[Any]]:
    """Categories as in the DataFrame of training. The file has their texts."""
    known = getattr(booster, "pandas_categorical", None) or []
    texts = {feature: each for feature, each in _core.Model.from_bytes(name, content).categories.items() if each}
    if [len(each) for each in known] != [len(each) for _, each in sorted(texts.items())]:
        return {}
    return {feature: list(values) for feature, values in zip(sorted(texts), known, strict=True)}
