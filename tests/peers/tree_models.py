"""Tree models for test_trees.py and test_trees_shap.py: larger than the fixtures, trained on the spot.

The scripts of tests/fixtures/trees train and ask them; here is only which ones, how large, and Adult.
"""

import functools
import itertools
import json
import math
import pathlib
import sys
import warnings
from decimal import Decimal, localcontext

import lightgbm
import numpy as np
import pandas as pd
import threadpoolctl
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "trees"))
import make_trees as make

FEATURES, ROWS = 12, 1500
ADULT = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours", "country", "income"),
]


@functools.cache
def data(seed=21, **options):
    return make.table(seed, ROWS, FEATURES, **options)


# XGBoost


def xgboost_binary():
    x, signal = data()
    return make.of_xgboost("m", x, signal > 0, {"objective": "binary:logistic", "max_depth": 6}, rounds=40, late=True)


def xgboost_ubj():
    x, signal = data()
    options = {"objective": "binary:hinge", "max_depth": 5}
    return make.of_xgboost("m", x, signal > 0, options, rounds=20, files=("model.ubj",))


def xgboost_regression():
    x, signal = data()
    return make.of_xgboost("m", x, signal, {"objective": "reg:squarederror", "max_depth": 8}, rounds=25, late=True)


def xgboost_unlimited():
    x, signal = data()
    leaf_wise = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 0, "min_child_weight": 0, "lambda": 0}
    return make.of_xgboost("m", x, signal, {"objective": "reg:squarederror"} | leaf_wise, rounds=4)


def xgboost_three():
    x, signal = data()
    options = {"objective": "multi:softprob", "num_class": 3, "max_depth": 5}
    return make.of_xgboost("m", x, make.thirds(signal), options, rounds=12)


def xgboost_poisson():
    x, signal = data()
    return make.of_xgboost("m", x, make.counts(signal, 22), {"objective": "count:poisson", "max_depth": 5}, rounds=20)


def xgboost_gamma():
    x, signal = data()
    return make.of_xgboost("m", x, np.exp(signal / 4), {"objective": "reg:gamma", "max_depth": 5}, rounds=20)


def xgboost_ranking():
    x, signal = data()
    options = {"objective": "rank:pairwise", "max_depth": 5}
    return make.of_xgboost("m", x, make.thirds(signal), options, rounds=20, group=[30] * (ROWS // 30))


def xgboost_dart():
    x, signal = data()
    options = {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.3, "normalize_type": "forest"}
    return make.of_xgboost("m", x, signal > 0, options, rounds=20)


def xgboost_forest():
    x, signal = data()
    options = {"objective": "binary:logistic", "num_parallel_tree": 10, "subsample": 0.6, "colsample_bynode": 0.5}
    return make.of_xgboost("m", x, signal > 0, options | {"max_depth": 7}, rounds=2)


def xgboost_categories():
    frame, codes, signal = make.with_categories(23, make.COLOURS, ROWS)
    kinds = ["c" if hasattr(column, "cat") else "q" for _, column in frame.items()]
    options = {"objective": "binary:logistic", "max_depth": 6, "max_cat_to_onehot": 4}
    return make.of_xgboost("m", codes, signal > 1, options, rounds=20, types=kinds, frame=frame)


# LightGBM


def leaves(count, **options):
    return {"num_leaves": count, "learning_rate": 0.1} | options


def lightgbm_binary():
    x, signal = data()
    return make.of_lightgbm("m", x, signal > 0, leaves(31, objective="binary"), rounds=40, late=True)


def lightgbm_regression():
    x, signal = data()
    return make.of_lightgbm("m", x, signal, leaves(63, objective="regression"), rounds=25)


def lightgbm_unlimited():
    x, signal = data()
    return make.of_lightgbm("m", x, signal, leaves(400, objective="regression", min_data_in_leaf=1), rounds=4)


def lightgbm_three():
    x, signal = data()
    options = leaves(31, objective="multiclass", num_class=3)
    return make.of_lightgbm("m", x, make.thirds(signal), options, rounds=12)


def lightgbm_one_against_all():
    x, signal = data()
    options = leaves(15, objective="multiclassova", num_class=3)
    return make.of_lightgbm("m", x, make.thirds(signal), options, rounds=12)


def lightgbm_poisson():
    x, signal = data()
    return make.of_lightgbm("m", x, make.counts(signal, 24), leaves(31, objective="poisson"), rounds=20)


def lightgbm_ranking():
    x, signal = data()
    options = leaves(31, objective="lambdarank")
    return make.of_lightgbm("m", x, make.thirds(signal), options, rounds=20, group=[30] * (ROWS // 30))


def lightgbm_dart():
    x, signal = data()
    return make.of_lightgbm("m", x, signal > 0, leaves(31, objective="binary", boosting="dart"), rounds=20)


def lightgbm_forest():
    x, signal = data()
    options = leaves(63, objective="regression", boosting="rf", bagging_fraction=0.6, bagging_freq=1)
    return make.of_lightgbm("m", x, signal, options, rounds=15)


def lightgbm_zero_missing():
    x, signal = data(zeros=True)
    options = leaves(31, objective="binary", zero_as_missing=True)
    return make.of_lightgbm("m", x, signal > 0, options, rounds=20, late=True)


def lightgbm_categories():
    frame, codes, signal = make.with_categories(25, make.ACCENTS, ROWS)
    options = leaves(31, objective="binary", min_data_per_group=5, cat_smooth=1)
    return make.of_lightgbm("m", codes, signal > 1, options, rounds=20, frame=frame)


# ONNX


def of_sklearn(model, classes, gaps, unit="margin"):
    x, signal = data(gaps=gaps)
    y = make.thirds(signal) if classes == 3 else signal > 0 if classes == 2 else signal

    def convert(fitted):
        return to_onnx(fitted, x[:1], options={"zipmap": False} if classes else None)

    def predictions(fitted, rows):
        return fitted.predict_proba(rows) if classes else fitted.predict(rows)

    def margins(fitted, rows):
        return fitted.decision_function(rows) if classes and unit == "margin" else predictions(fitted, rows)

    return make.of_onnx("m", model, x, y, convert, margins, predictions, ("sklearn",), unit, late=gaps)


def onnx_forest():
    return of_sklearn(RandomForestClassifier(20, random_state=1), 3, False, "probability")


def onnx_forest_binary():
    return of_sklearn(RandomForestClassifier(20, max_depth=8, random_state=1), 2, False, "probability")


def onnx_forest_regressor():
    return of_sklearn(RandomForestRegressor(10, max_features=4, random_state=1), 0, False)


def onnx_extra_trees():
    return of_sklearn(ExtraTreesRegressor(5, random_state=1), 0, False)


def onnx_boosting():
    return of_sklearn(GradientBoostingClassifier(n_estimators=15, max_depth=4, random_state=1), 2, False)


def onnx_hist_boosting():
    return of_sklearn(HistGradientBoostingClassifier(max_iter=20, random_state=1), 2, True)


def onnx_hist_regressor():
    return of_sklearn(HistGradientBoostingRegressor(max_iter=20, random_state=1), 0, True)


def of_booster(model, convert, raw):
    x, signal = data()
    entry = [("X", FloatTensorType([None, x.shape[1]]))]
    return make.of_onnx(
        "m",
        model,
        x,
        (signal > 0).astype(int),
        lambda fitted: convert(fitted, initial_types=entry),
        lambda fitted, rows: fitted.predict(rows, **raw),
        lambda fitted, rows: fitted.predict_proba(rows),
        (),
    )


def onnx_xgboost():
    return of_booster(xgboost.XGBClassifier(n_estimators=20, n_jobs=1), convert_xgboost, {"output_margin": True})


def onnx_lightgbm():
    model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)
    return of_booster(model, functools.partial(convert_lightgbm, zipmap=False), {"raw_score": True})


MODELS = {
    name: made
    for name, made in list(globals().items())
    if name.startswith(("xgboost_", "lightgbm_", "onnx_")) and callable(made)
}

# Whose predictions are probabilities.
CLASSIFIERS = [
    *("xgboost_binary", "xgboost_three", "xgboost_dart", "xgboost_forest", "xgboost_categories"),
    *("lightgbm_binary", "lightgbm_three", "lightgbm_one_against_all", "lightgbm_dart", "lightgbm_zero_missing"),
    *("lightgbm_categories", "onnx_forest", "onnx_forest_binary", "onnx_boosting", "onnx_hist_boosting"),
    *("onnx_xgboost", "onnx_lightgbm"),
]


@functools.cache
def trained(name):
    with warnings.catch_warnings(), threadpoolctl.threadpool_limits(1):
        warnings.simplefilter("ignore")
        return MODELS[name]()


def saved(name, folder):
    """The model's file, and what can be asked about it."""
    made = trained(name)
    ((file, save),) = made.save.items()
    save(str(folder / file))
    return folder / file, made


# Adult


def adult_frame(data_dir):
    """UCI's training rows with categories; what they write as `?` is missing."""
    table = pd.read_csv(
        data_dir / "adult" / "adult.data", header=None, names=ADULT, skipinitialspace=True, na_values="?"
    )
    y = (table.pop("income") == ">50K").astype(int)
    for column in table.columns:
        table[column] = table[column].astype("float64" if table[column].dtype.kind in "if" else "category")
    return table.sample(6000, random_state=1).reset_index(drop=True), y.sample(6000, random_state=1).to_numpy()


# Exact path-dependent values


def exact_path(booster, rows):
    """Path-dependent values, with 150 digits on the way."""
    with localcontext() as context:
        context.prec = 150
        return sum_over_leaves(booster, rows)


def sum_over_leaves(booster, rows):
    """Of a booster of XGBoost without missing values and categories: rows x features.

    A leaf counts prod over the features on its path of (z where absent, o where present): z is the share of training
    rows that its branches let through, o whether they let the row through. So phi_i is the sum over leaves and k of
    k! (m - 1 - k)! / m! (o_i - z_i) weight e_k, where e_k is the coefficient of t^k in prod over the others of
    (z_j + o_j t)."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    values = [[Decimal(0)] * rows.shape[1] for _ in rows]
    for tree in learner["gradient_booster"]["model"]["trees"]:
        for leaf, path in leaf_paths(tree):
            weight = Decimal(leaf)
            for row, totals in zip(rows, values, strict=True):
                z, o = {}, {}
                for feature, share, threshold, left in path:
                    z[feature] = z.get(feature, 1) * share
                    o[feature] = o.get(feature, True) and (np.float32(row[feature]) < np.float32(threshold)) == left
                whole = [Decimal(1)]
                for feature in z:
                    whole = times(whole, z[feature], o[feature])
                m = len(z)
                for feature in z:
                    others = without(whole, z[feature], o[feature])
                    shares = (each / (m * math.comb(m - 1, k)) for k, each in enumerate(others) if each)
                    totals[feature] += (int(o[feature]) - z[feature]) * sum(shares) * weight
    return np.array([[float(each) for each in row] for row in values])


def times(polynomial, z, o):
    """By z + t, or by z alone."""
    grown = [z * each for each in polynomial] + [Decimal(0)]
    return [a + b for a, b in zip(grown, [Decimal(0), *polynomial], strict=True)] if o else grown


def without(polynomial, z, o):
    """The same undone, from the highest power down; it takes the digits."""
    if not o:
        return [each / z for each in polynomial[:-1]]
    left = [polynomial[-1]]
    for each in polynomial[-2:0:-1]:
        left.append(each - z * left[-1])
    return left[::-1]


def leaf_paths(tree):
    """Each leaf's weight, and its path: feature, share of the parent's rows, threshold, whether it is the left side."""
    stack = [(0, [])]
    while stack:
        node, path = stack.pop()
        left, right = tree["left_children"][node], tree["right_children"][node]
        if left < 0:
            yield float(np.float32(tree["split_conditions"][node])), path
            continue
        for child in (left, right):
            share = Decimal(tree["sum_hessian"][child]) / Decimal(tree["sum_hessian"][node])
            step = (tree["split_indices"][node], share, tree["split_conditions"][node], child == left)
            stack.append((child, [*path, step]))


def staircase(features=56, rows=30, growth=1.5):
    """Rows of step k have their first zero in column k, and targets fall from step to step: a tree asks column after
    column, so that its longest path has nearly all of them."""
    generator = np.random.default_rng(26)
    x = generator.integers(0, 2, size=((features + 1) * rows, features)).astype(np.float32)
    y = np.empty(len(x))
    for step, row in itertools.product(range(features + 1), range(rows)):
        x[step * rows + row, :step] = 1
        if step < features:
            x[step * rows + row, step] = 0
        y[step * rows + row] = 1e6 * growth**-step
    options = {"objective": "reg:squarederror", "max_depth": 60, "eta": 1, "lambda": 0, "min_child_weight": 0}
    options |= {"base_score": 0, "nthread": 1, "tree_method": "exact"}
    booster = xgboost.train(options, xgboost.DMatrix(x, y), 1)
    return booster, x[:: rows * 12 + 1]
