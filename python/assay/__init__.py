"""Assay: which explanation of a prediction to trust, and better ones made out of those at hand.

    import assay

    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    model = assay.train(train)                    # or assay.load("model.onnx"), assay.wrap(estimator)
    explanations = assay.explain(model, test, "kernel_shap", pool=train)
    assay.evaluate(explanations, ["faithfulness", "max_sensitivity", "complexity"])

The words are those of the command line: `assay --help`.
"""

from __future__ import annotations

from ._catalogue import Catalogue
from ._core import UnsupportedError
from ._core import version as __version__
from ._explainer import Explainer
from ._explanations import Explanations
from ._functions import aggregate, aggregators, criteria, evaluate, explain, explain_all, methods
from ._models import Model, load, train
from ._reasons import Reasons
from ._scores import Evaluation, Scores
from ._study import Study, study, study_plan
from ._tables import Table, dataset
from ._wrap import wrap

__all__ = [
    "Catalogue",
    "Evaluation",
    "Explainer",
    "Explanations",
    "Model",
    "Reasons",
    "Scores",
    "Study",
    "Table",
    "UnsupportedError",
    "__version__",
    "aggregate",
    "aggregators",
    "criteria",
    "dataset",
    "evaluate",
    "explain",
    "explain_all",
    "load",
    "methods",
    "study",
    "study_plan",
    "train",
    "wrap",
]
