"""Tree ensembles beside shap, XGBoost, LightGBM and onnxruntime: workloads of benchmarks/peers.py.

A booster of 500 trees of depth 6 on Adult (14 features, categories as codes), trained by XGBoost, and its like by
LightGBM. All sides work in this process on the same arrays and one thread; Assay through its Python package, checks of
its arguments and the copy of its results included. Assay's tables of a background are made anew in every round, as
shap's explainer is. Answers are compared before times are believed.
"""

import time

import lightgbm
import numpy as np
import onnxmltools
import onnxruntime
import shap
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

import assay

TREES, DEPTH, BACKGROUND = 500, 6, 100


def adult_booster(program, folder, quick):
    """The booster, rows to explain and background rows."""
    program("data", "adult", "--encode", "label", "--out", folder / "adult.npz")
    with np.load(folder / "adult.npz") as table:
        x = table["values"][:, :14].astype(np.float32)
        y = table["values"][:, 14]
    settings = {"max_depth": DEPTH, "objective": "binary:logistic", "eta": 0.1, "nthread": 1, "seed": 1}
    model = xgboost.train(settings, xgboost.DMatrix(x, y), num_boost_round=TREES)
    background = x[:: len(x) // BACKGROUND][:BACKGROUND]
    return model, {"few": x[7 : 7 + (100 if quick else 1000)], "all": x, "labels": y}, background


def timed(answers, name, work):
    def run():
        begin = time.perf_counter()
        answers[name] = work()
        return {"job": time.perf_counter() - begin}

    return run


def loaded(model, folder):
    file = folder / "booster.json"
    model.save_model(file)
    return assay.load(file)


def trees_interventional(model, rows, background, folder, alternate):
    """Exact Shapley values over 100 background rows."""
    x, ours, answers = rows["few"], loaded(model, folder), {}
    sides = {
        "assay": lambda: assay.explain(ours, x, "tree_shap", background=background, threads=1).values,
        "shap TreeExplainer": lambda: shap.TreeExplainer(model, background).shap_values(x),
    }
    rounds = alternate({name: timed(answers, name, work) for name, work in sides.items()})
    np.testing.assert_allclose(answers["assay"], answers["shap TreeExplainer"], atol=1e-4)
    peer = rounds["shap TreeExplainer"]["job"]
    workload = f"interventional Shapley values, {TREES} trees, {len(x)} rows x {len(background)}"
    yield workload, "shap TreeExplainer", peer, rounds["assay"]["job"], None, "assay >= 5x", 5


def path_rows(workload, ours, x, peers, alternate, bars):
    answers = {}
    sides = {"assay": lambda: assay.explain(ours, x, "tree_shap_path", threads=1).values} | peers
    rounds = alternate({name: timed(answers, name, work) for name, work in sides.items()})
    for name in peers:
        np.testing.assert_allclose(answers["assay"], answers[name], atol=1e-4)
        least, bar = bars[name]
        yield workload, name, rounds[name]["job"], rounds["assay"]["job"], None, bar, least


def trees_path_dependent(model, rows, background, folder, alternate):
    """Path-dependent values; the libraries' own beside shap's, of a booster of each."""
    x = rows["few"]
    bars = {"shap TreeExplainer": (2, "assay >= 2x"), "XGBoost pred_contribs": (1, "assay >= 1x")}
    model.set_param({"nthread": 1})
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    data = xgboost.DMatrix(x, nthread=1)
    # shap asks the library itself for these values of a Booster.
    peers = {
        "shap TreeExplainer": lambda: explainer.shap_values(x, check_additivity=False),
        "XGBoost pred_contribs": lambda: model.predict(data, pred_contribs=True)[:, :-1],
    }
    workload = f"path-dependent values, XGBoost, {TREES} trees, {len(x)} rows"
    yield from path_rows(workload, loaded(model, folder), x, peers, alternate, bars)
    settings = {"objective": "binary", "max_depth": DEPTH, "num_leaves": 2**DEPTH, "num_threads": 1, "verbose": -1}
    data = lightgbm.Dataset(rows["all"].astype(np.float64), rows["labels"])
    light = lightgbm.train(settings, data, num_boost_round=TREES)
    light.save_model(folder / "booster.txt")
    peers = {"LightGBM pred_contrib": lambda: light.predict(x, pred_contrib=True, num_threads=1)[:, :-1]}
    bars = {"LightGBM pred_contrib": (1, "assay >= 1x")}
    workload = f"path-dependent values, LightGBM, {TREES} trees, {len(x)} rows"
    yield from path_rows(workload, assay.load(folder / "booster.txt"), x, peers, alternate, bars)


def trees_prediction(model, rows, background, folder, alternate):
    """Raw scores of all rows; onnxruntime runs the same trees from ONNX."""
    x, ours, answers = rows["all"], loaded(model, folder), {}
    converted = onnxmltools.convert_xgboost(model, initial_types=[("x", FloatTensorType([None, x.shape[1]]))])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(converted.SerializeToString(), options, ["CPUExecutionProvider"])
    model.set_param({"nthread": 1})
    sides = {
        "assay": lambda: ours.predict(x, value="probability", threads=1)[:, 0],
        "onnxruntime": lambda: session.run(None, {"x": x})[1][:, 1],
        "XGBoost inplace_predict": lambda: model.inplace_predict(x),
    }
    rounds = alternate({name: timed(answers, name, work) for name, work in sides.items()})
    for peer, bar, least in (("onnxruntime", "assay >= 1x", 1), ("XGBoost inplace_predict", None, None)):
        np.testing.assert_allclose(answers["assay"], answers[peer], atol=1e-4)
        workload = f"predictions, {TREES} trees, {len(x)} rows"
        yield workload, peer, rounds[peer]["job"], rounds["assay"]["job"], None, bar, least
