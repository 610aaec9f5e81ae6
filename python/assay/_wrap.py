"""assay.wrap: models of other libraries, called as they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._callables import Function
from ._models import Model
from ._run import text_of, whole_number
from ._sklearn import Estimator
from ._text import in_quotes
from ._torch import Module
from ._trees import tree_model

_UNITS = ("margin", "probability", "log_odds", "value")
_RETURNED = ("margin", "probability")


def wrap(
    model: Any,
    *,
    features: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    value: str | None = None,
    returns: str | None = None,
    name: str | None = None,
    example: Any = None,
    export: bool = True,
    batch: int = 65536,
) -> Model:
    """A model of another library, to be explained: a function, a tree model, a scikit-learn estimator or a PyTorch
    module.

    It is called with what it was made for, on the thread that calls assay, many rows at a time: a DataFrame with the
    columns, order and dtypes of the X that is explained where X is one, else an array of X's shape and dtype (tensors
    of a module's own dtype for modules). What it raises reaches the caller unchanged.

    model:
        a function of rows that returns (rows,) or (rows, outputs) numbers;
        a booster of XGBoost or LightGBM, an estimator of theirs (XGBClassifier, LGBMRegressor, ...), or a forest, a
        tree or gradient boosting of scikit-learn: its trees become the engine's own, which tree_shap needs. What they
        say is compared with the library for all rows at every use (by assay.Explainer once). Where trees cannot be
        taken over, the estimator is a black box, and `model.note` says why;
        any other fitted scikit-learn estimator or pipeline: the decision function is explained where it has one, else
        its probabilities, else what it predicts;
        a torch.nn.Module that returns scores of (rows,) or (rows, outputs), raw ones at best: gradients come from
        torch, and what needs the layers of a network (DeepLift, randomisation) from an export of it.
    features: names of the columns that the model takes, in its order; by default those that it was fitted on, else
        those of X.
    classes: names of the classes of a classifier. With two of them, one output is that of the second class. Estimators
        know their own.
    value: what is explained: "margin", "probability", "log_odds" or "value" (of a regression). A function gives what
        is said here; estimators and modules compute what is asked for.
    returns: for a module of classes, what it returns: "margin" (raw scores, of which softmax or sigmoid make
        probabilities) or "probability" (taken as they are). A softmax or sigmoid at its end is seen without this; where
        all numbers lie from 0 to 1 and nobody can tell, it must be said.
    name: of the model, for messages and provenance.
    example: for a module, an input as it takes it, whose shape and dtype rows are given.
    export: for a module, whether to export it for what needs its layers (it is tried when they are first needed, in a
        process of its own on a CPU, because PyTorch's exporter can crash).
    batch: the most rows of one call.

    >>> model = assay.wrap(lambda rows: rows @ [1.0, -2.0], features=["income", "debt"])
    >>> assay.explain(model, X, "exact_shapley", pool=training)
    """
    if isinstance(model, (str, os.PathLike)):
        raise ValueError("model: expected a function, an estimator or a module, found a path; assay.load reads files")
    if isinstance(model, type):
        raise ValueError(f"model: expected a model, found the class {model.__name__}")
    if isinstance(model, Model):
        raise ValueError(
            "model: expected a function, an estimator or a module, found a model of assay; use it as it is"
        )
    if value is not None and value not in _UNITS:
        raise ValueError(f"value: expected one of {', '.join(_UNITS)}, found {in_quotes(value)}")
    if returns is not None and returns not in _RETURNED:
        raise ValueError(f"returns: expected one of {', '.join(_RETURNED)}, found {in_quotes(returns)}")
    whole_number("batch", batch, 2**31 - 1)
    if batch == 0:
        raise ValueError("batch: expected at least one row, found 0")
    named = _names("features", features, 1)
    of_classes = _names("classes", classes, 2)
    title = _name_of(model) if name is None else text_of("name", str(name))
    if _is_module(model):
        return Module(model, title, named, of_classes, value, returns, example, bool(export), int(batch))
    if returns is not None:
        raise ValueError("returns: expected None for what is no PyTorch module (value= says it of functions)")
    if example is not None:
        raise ValueError("example: expected None for what is no PyTorch module, found an input")
    by_trees = tree_model(model, title, named, of_classes, value, int(batch))
    if by_trees is not None:
        return by_trees
    if callable(getattr(model, "get_params", None)):
        return Estimator(model, title, named, of_classes, value, int(batch))
    if callable(model):
        return Function(model, title, named, of_classes, value, int(batch))
    hint = f"; wrap its {title}.predict" if callable(getattr(model, "predict", None)) else ""
    raise ValueError(
        f"model: expected a function, a scikit-learn estimator, a booster or a PyTorch module, found {title}{hint}"
    )


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _name_of(model: Any) -> str:
    name = getattr(model, "__name__", None)
    if not isinstance(name, str):
        return type(model).__name__
    return "the function" if name == "<lambda>" else name


def _names(argument: str, said: Iterable[Any] | None, least: int) -> list[str] | None:
    """Distinct names; None if none are given."""
    if said is None:
        return None
    if isinstance(said, str):
        raise ValueError(f"{argument}: expected a list of names, found the text {in_quotes(said)}")
    if not isinstance(said, Iterable):
        raise ValueError(f"{argument}: expected a list of names, found {in_quotes(said)}")
    names = [str(each) for each in said]
    if len(names) < least:
        raise ValueError(f"{argument}: expected at least {least} names, found {len(names)}")
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"{argument}: expected each name once, found {in_quotes(twice)} twice")
    return names
