"""Tree ensembles beside shap, XGBoost, LightGBM, Woodelf and onnxruntime, all in this process on the same arrays.

Assay goes through its Python package, checks of its arguments and the copy of its results included. Its tables of a
background are made anew in every round, as shap's explainer is. Answers are compared before times are believed.
"""

import dataclasses
import functools

import lightgbm
import numpy as np
import onnxmltools
import onnxruntime
import pandas as pd
import shap
import xgboost
from harness import Row, Workload, alternate, data_folder, timed
from harness import assay as program
from onnxmltools.convert.common.data_types import FloatTensorType
from woodelf import WoodelfExplainer

import assay

DEPTH, BACKGROUND, LARGE = 6, 100, 10_000
WOODELF = "Woodelf"


@dataclasses.dataclass
class Boosted:
    """A booster of XGBoost on Adult, the same in Assay, all rows with their labels, and those to explain."""

    booster: xgboost.Booster
    ours: object
    trees: int
    x: np.ndarray
    y: np.ndarray
    few: np.ndarray
    background: np.ndarray


@functools.cache
def adult_booster(kept, quick):
    data_folder("adult")
    program("data", "adult", "--encode", "label", "--out", kept / "adult_codes.npz")
    with np.load(kept / "adult_codes.npz") as table:
        x = table["values"][:, :14].astype(np.float32)
        y = table["values"][:, 14]
    trees = 100 if quick else 500
    settings = {"max_depth": DEPTH, "objective": "binary:logistic", "eta": 0.1, "nthread": 1, "seed": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(x, y, nthread=1), num_boost_round=trees)
    booster.set_param({"nthread": 1})
    booster.save_model(kept / "booster.json")
    few, background = x[7 : 7 + (100 if quick else 1000)], x[:: len(x) // BACKGROUND][:BACKGROUND]
    return Boosted(booster, assay.load(kept / "booster.json"), trees, x, y, few, background)


def beside(workload, ours, peers, bars, fronts):
    """Rows of Assay against each peer, whose answers must be ours."""
    answers = {}
    sides = {"assay": ours} | peers
    rounds = alternate({name: timed(work, answers, name) for name, work in sides.items()})
    for name in peers:
        np.testing.assert_allclose(answers["assay"], answers[name], atol=1e-4)
        bar, front = bars.get(name), fronts.get(name)
        yield Row(workload, name, rounds[name], rounds["assay"], least_ratio=bar, front=front)


def woodelf(booster, x, background=None):
    """Its values, as a side; it wants data frames. Its explainer reads the trees when it is made against a background,
    else once for all rounds, as shap's does."""
    names = [f"f{column}" for column in range(x.shape[1])]
    rows = pd.DataFrame(x, columns=names)
    if background is None:
        explainer = WoodelfExplainer(booster)
        return lambda: explainer.shap_values(rows, verbose=False)
    table = pd.DataFrame(background, columns=names)
    return lambda: WoodelfExplainer(booster, table).shap_values(rows, verbose=False)


def interventional(run):
    """Exact Shapley values over background rows."""
    made = adult_booster(run.kept, run.quick)
    x, background = made.few, made.background
    workload = f"tree_shap, {made.trees} trees, {len(x):,} rows x {len(background)} background rows"
    peer = "shap TreeExplainer"
    peers = {peer: lambda: shap.TreeExplainer(made.booster, background).shap_values(x)}
    if not run.quick:  # It takes seconds for any number of rows; many_rows() has it in quick runs.
        peers[WOODELF] = woodelf(made.booster, x, background)
    yield from beside(
        workload,
        lambda: assay.explain(made.ours, x, "tree_shap", background=background, threads=1).values,
        peers,
        {peer: 5, WOODELF: 5},
        {peer: f"exact values of {made.trees} trees, {len(x):,} rows x {len(background)}"},
    )


def path_dependent(run):
    """Path-dependent values, of a booster of each library."""
    made = adult_booster(run.kept, run.quick)
    x, booster = made.few, made.booster
    explainer = shap.TreeExplainer(booster, feature_perturbation="tree_path_dependent")
    data = xgboost.DMatrix(x, nthread=1)
    size = f"{made.trees} trees, {len(x):,} rows"
    peers = {
        "shap TreeExplainer": lambda: explainer.shap_values(x, check_additivity=False),
        "XGBoost pred_contribs": lambda: booster.predict(data, pred_contribs=True)[:, :-1],
    }
    if not run.quick:
        peers[WOODELF] = woodelf(booster, x)
    yield from beside(
        f"tree_shap_path, XGBoost's booster, {size}",
        lambda: assay.explain(made.ours, x, "tree_shap_path", threads=1).values,
        peers,
        {"shap TreeExplainer": 2, "XGBoost pred_contribs": 1, WOODELF: 1},
        {"XGBoost pred_contribs": f"path-dependent values of {size}"},
    )
    settings = {"objective": "binary", "max_depth": DEPTH, "num_leaves": 2**DEPTH, "num_threads": 1, "verbose": -1}
    training = lightgbm.Dataset(made.x.astype(np.float64), made.y)
    light = lightgbm.train(settings, training, num_boost_round=made.trees)
    light.save_model(run.folder / "booster.txt")
    ours = assay.load(run.folder / "booster.txt")
    yield from beside(
        f"tree_shap_path, LightGBM's booster, {size}",
        lambda: assay.explain(ours, x, "tree_shap_path", threads=1).values,
        {"LightGBM pred_contrib": lambda: light.predict(x, pred_contrib=True, num_threads=1)[:, :-1]},
        {"LightGBM pred_contrib": 1},
        {},
    )


def many_rows(run):
    """All rows, against a large background and path-dependent: what Woodelf is made for. A quick run has few trees."""
    made = adult_booster(run.kept, run.quick)
    x, background = made.x, made.x[:: len(made.x) // LARGE][:LARGE]
    booster, ours, trees = made.booster, made.ours, made.trees
    if run.quick:
        trees = 20
        booster = booster[:trees]
        booster.save_model(run.folder / "few.json")
        ours = assay.load(run.folder / "few.json")
    size = f"{trees} trees, {len(x):,} rows"
    yield from beside(
        f"tree_shap, {size} x {len(background):,} background rows",
        lambda: assay.explain(ours, x, "tree_shap", background=background, threads=1).values,
        {WOODELF: woodelf(booster, x, background)},
        {WOODELF: 5},
        {},
    )
    yield from beside(
        f"tree_shap_path, {size}",
        lambda: assay.explain(ours, x, "tree_shap_path", threads=1).values,
        {WOODELF: woodelf(booster, x)},
        {WOODELF: 1},
        {},
    )


def prediction(run):
    """Probabilities of all rows; onnxruntime runs the same trees from ONNX."""
    made = adult_booster(run.kept, run.quick)
    x, booster = made.x, made.booster
    converted = onnxmltools.convert_xgboost(booster, initial_types=[("x", FloatTensorType([None, x.shape[1]]))])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(converted.SerializeToString(), options, ["CPUExecutionProvider"])
    yield from beside(
        f"predictions, {made.trees} trees, {len(x):,} rows",
        lambda: made.ours.predict(x, value="probability", threads=1)[:, 0],
        {
            "onnxruntime": lambda: session.run(None, {"x": x})[1][:, 1],
            "XGBoost inplace_predict": lambda: booster.inplace_predict(x),
        },
        {"onnxruntime": 1},
        {},
    )


WORKLOADS = [
    Workload(
        "trees_interventional",
        "Trees: exact values against a background",
        interventional,
        f"""A booster of XGBoost on Adult (14 features, categories as codes), depth {DEPTH}. Assay's tables of the trees
and the background are made anew in every round, and so are the explainers of shap and Woodelf. Most of Assay's time
goes into the tables, whatever the number of rows.""",
    ),
    Workload(
        "trees_path_dependent",
        "Trees: path-dependent values",
        path_dependent,
        """The same booster, and one of LightGBM on the same rows with trees of the same depth. The libraries' own
values are the peers; for a Booster shap asks XGBoost itself for them.""",
    ),
    Workload(
        "trees_many_rows",
        "Trees: many rows and a large background",
        many_rows,
        f"""The booster of XGBoost on all rows of Adult, against {LARGE:,} of them and path-dependent. Woodelf (Nadel
and Wettenstein 2026, on the CPU) is the peer: its time grows with the rows plus the background rows, shap's with one
times the other. XGBoost has no values against a background.""",
    ),
    Workload(
        "trees_prediction",
        "Trees: predictions",
        prediction,
        "Probabilities of all rows of Adult by the same booster; onnxruntime runs it from ONNX.",
    ),
]
