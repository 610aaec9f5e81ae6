"""Finds models whose trees the engine can convert, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._text import joined
from ._trees_boosters import is_lightgbm, is_xgboost, lightgbm_parts, xgboost_parts
from ._trees_hist import HIST_BOOSTING, hist_parts
from ._trees_parts import CannotConvert, TreeParts, has_class
from ._trees_sklearn import BOOSTING, FORESTS, boosting_parts, forest_parts

_PREDICTIONS = ("predict", "predict_proba", "decision_function")


def is_tree_model(model: Any) -> bool:
    """Whether it may be made of trees that the engine can convert."""
    if is_xgboost(model) or is_lightgbm(model):
        return True
    if not has_class(model, (*FORESTS, *BOOSTING, *HIST_BOOSTING), "sklearn"):
        return False
    # A subclass with its own predict is another model.
    methods = [getattr(type(model), each, None) for each in _PREDICTIONS]
    return all(str(getattr(each, "__module__", "sklearn")).partition(".")[0] == "sklearn" for each in methods if each)


def parts_of(
    name: str, model: Any, features: Sequence[str], classes: Sequence[str], like: TreeParts | None
) -> TreeParts:
    """The parts of the model; CannotConvert if that is not possible. like: parts with the codes to use."""
    if is_xgboost(model):
        return xgboost_parts(name, model, features, classes)
    if is_lightgbm(model):
        return lightgbm_parts(name, model, features, classes)
    if has_class(model, HIST_BOOSTING, "sklearn"):
        return hist_parts(name, model, features, classes, None if like is None else like.values)
    convert: Callable[..., TreeParts] = boosting_parts if has_class(model, BOOSTING, "sklearn") else forest_parts
    return convert(name, model, features, classes)


def fitted_state(model: Any) -> tuple[Any, ...]:
    """What changes when the model is fitted again or goes on training, for same_state."""
    if is_xgboost(model):
        booster = model if callable(getattr(model, "save_raw", None)) else model.get_booster()
        rounds = getattr(booster, "num_boosted_rounds", None)
        return booster, None if rounds is None else rounds()
    if is_lightgbm(model):
        booster = model if callable(getattr(model, "model_to_string", None)) else model.booster_
        trees = getattr(booster, "num_trees", None)
        return booster, None if trees is None else trees()
    parts: list[Any] = [getattr(model, each, None) for each in ("estimators_", "_predictors", "tree_")]
    # Further trees may be added to the same list.
    return (*parts, *(len(each) for each in parts if hasattr(each, "__len__")))


def same_state(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether numbers are equal, and other things the same objects."""
    return len(one) == len(other) and all(
        mine is its or (isinstance(mine, int) and mine == its) for mine, its in zip(one, other, strict=True)
    )


def feature_names(model: Any, said: Sequence[str] | None) -> list[str]:
    """The names it was fitted with or that the user gave; none if a booster's own file has them, or if not known."""
    known = getattr(model, "feature_names_in_", None)
    known = [] if known is None else [str(each) for each in known]
    if said is None:
        # The files of boosters have their names.
        return [] if is_xgboost(model) or is_lightgbm(model) else known
    return list(said)


def class_names(model: Any, name: str, said: Sequence[str] | None) -> list[str]:
    """The class names of a classifier; a ValueError if the user gave others."""
    known = getattr(model, "classes_", None)
    if known is None:
        if said is not None and callable(getattr(model, "get_params", None)):
            raise ValueError(f"classes: expected None, for {name} is no classifier, found {len(said)}")
        return list(said or ())
    if isinstance(known, list) and any(np.ndim(each) > 0 for each in known):
        raise CannotConvert("it predicts several outputs at once")
    names = [str(each) for each in known]
    if said is not None and len(said) != len(names):
        raise ValueError(f"classes: expected {len(names)} names, for {joined(names)}, found {len(said)}")
    return names if said is None else list(said)
