"""Jobs that others have published, run here: the same model, rows and background as far as their data is at hand.

Published seconds are of other machines, and stand in the tables with their source. The ratios are of this run: a peer
does the same job here, or a part of it that is scaled to the whole.
"""

import math
import os

import numpy as np
import pandas as pd
import shap
import xgboost
from harness import ROUNDS, Row, Table, Unavailable, Workload, alternate, data_folder, on_threads, seconds_text, timed
from onnx import TensorProto, helper, numpy_helper, save
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from trees import woodelf

import assay

# Seldon's distributed Kernel SHAP
ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours_per_week", "country", "income"),
]
NUMBERS = ["age", "capital_gain", "capital_loss", "hours_per_week"]
LEFT_OUT = ["fnlwgt", "education_num", "income"]
JOB_ROWS, JOB_BACKGROUND, TRAINED = 2560, 100, 30_000
SELDON = "github.com/alexcoca/DistributedKernelShap"
ONE_CORE, WORKERS_56 = 1736.9, 57

# Woodelf's
TREES, DEPTH, FEATURES, FLAGS = 100, 6, 127, 89
PUBLISHED_ROWS, PUBLISHED_BACKGROUND, PUBLISHED_SECONDS = 3_000_000, 5_000_000, 162
NEAR = 1e-4

# GPUTreeShap's models of Adult: name, rounds, depth
SIZES = [("small", 10, 3), ("med", 100, 8), ("large", 1000, 16)]
SIZED_ROWS, LARGE_ROWS = 10_000, 500


# Kernel SHAP of a logistic regression


def raw_adult():
    file = data_folder("adult") / "adult.data"
    return pd.read_csv(file, names=ADULT_COLUMNS, skipinitialspace=True)


def write_logistic(file, estimator):
    """The regression as ONNX: what Assay runs on its own threads."""
    weights, bias = estimator.coef_.T.astype(np.float32), estimator.intercept_.astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["z"]), helper.make_node("Sigmoid", ["z"], ["p"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "logistic",
        [value("x", TensorProto.FLOAT, ["rows", len(weights)])],
        [value("p", TensorProto.FLOAT, ["rows", 1])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


class LogisticJob:
    """Twelve features of Adult, categories one column a text: the regression, the rows to explain, the background."""

    def __init__(self, run):
        raw = raw_adult().sample(frac=1, random_state=0)
        y = raw["income"].str.startswith(">50K").to_numpy()
        table = raw.drop(columns=LEFT_OUT)
        texts = [column for column in table.columns if column not in NUMBERS]
        scaler, encoder = StandardScaler().fit(table[NUMBERS]), OneHotEncoder(sparse_output=False).fit(table[texts])
        encoded = encoder.transform(table[texts])
        x = np.column_stack([scaler.transform(table[NUMBERS]), encoded]).astype(np.float32)
        widths = [1] * len(NUMBERS) + [len(each) for each in encoder.categories_]
        ends = np.cumsum(widths)
        names = [*NUMBERS, *texts]
        self.groups = {
            name: list(range(end - width, end)) for name, end, width in zip(names, ends, widths, strict=True)
        }
        self.estimator = LogisticRegression(max_iter=500).fit(x[:TRAINED], y[:TRAINED])
        self.background = x[:JOB_BACKGROUND]
        self.rows = x[TRAINED:][: 256 if run.quick else JOB_ROWS]
        write_logistic(run.folder / "logistic.onnx", self.estimator)
        self.model = assay.load(run.folder / "logistic.onnx")
        self.samples = 2 * len(self.groups) + 2048  # SHAP's own choice

    def probability(self, x):
        return self.estimator.predict_proba(x)[:, 1]

    def named_groups(self):
        features = list(self.model.features)
        return {name: [features[column] for column in columns] for name, columns in self.groups.items()}

    def explain(self, rows, method, threads, **options):
        given = {"background": self.background, "groups": self.named_groups(), "value": "probability"}
        return assay.explain(self.model, rows, method, threads=threads, progress=False, **given, **options).values


def seldon(run):
    if len(os.sched_getaffinity(0)) < 2:
        raise Unavailable("fewer than 2 cores")
    job = LogisticJob(run)
    data = shap.maskers.Independent(job.background, JOB_BACKGROUND).data
    grouped = shap.utils._legacy.DenseData(data, list(job.groups), [np.array(each) for each in job.groups.values()])
    explainer = shap.KernelExplainer(job.probability, grouped)
    few = job.rows[: 2 if run.quick else 20]

    def peer(rows):
        return explainer.shap_values(rows, nsamples=job.samples, l1_reg=False, silent=True)

    exact = np.asarray(job.explain(few[:2], "exact_shapley", 2))
    for found in (peer(few[:2]), job.explain(few[:2], "kernel_shap", 2, samples=job.samples)):
        assert np.mean((np.asarray(found) - exact) ** 2) <= 0.01 * np.mean(exact**2)

    def on_one():
        with on_threads(1):
            return timed(lambda: peer(few))() * len(job.rows) / len(few)

    def ours(threads):
        return timed(lambda: job.explain(job.rows, "kernel_shap", threads, samples=job.samples))

    rounds = alternate({"peer": on_one, 1: ours(1), 2: ours(2)}, 3 if run.quick else ROUNDS)
    name = f"Kernel SHAP, {len(job.rows):,} rows x {len(job.background)} background rows, logistic regression"
    name_of_peer = f"shap.KernelExplainer on one core, scaled from {len(few)} rows"
    for threads in (1, 2):
        yield Row(name, name_of_peer, rounds["peer"], rounds[threads], threads=threads)
    here = {key: seconds_text(float(np.median(each))) for key, each in rounds.items()}
    yield Table(
        "Seldon's distributed Kernel SHAP",
        ["who", "where", f"{JOB_ROWS:,} rows" if not run.quick else f"{len(job.rows)} rows here, {JOB_ROWS:,} there"],
        [
            ["SHAP, published", "one core", seconds_text(ONE_CORE)],
            ["SHAP with ray, published", "56 workers on two machines of 32", seconds_text(WORKERS_56)],
            [f"SHAP {shap.__version__}", f"one core here, scaled from {len(few)} rows", here["peer"]],
            ["Assay", "one core here", here[1]],
            ["Assay", "two cores here", here[2]],
        ],
        text=f"Published figures are those of {SELDON}, whose explainer is SHAP's with the coalitions it chooses, "
        f"{job.samples:,}. Here, too: {len(job.groups)} features, the columns of a category moving together. "
        f"Categories are not merged as they are there, so that there are {job.rows.shape[1]} columns; probabilities "
        "are explained as they are, not through a logit of their mean, which costs the same evaluations.",
    )


# Trees against a large background


def many_columns(count, seed):
    """Numbers with long tails and flags. Numbers are multiples of 1/64, so that all sides read thresholds alike: one
    step of float32 below a threshold is not below it for Woodelf, but is for XGBoost and for us."""
    random = np.random.default_rng(seed)
    numbers = np.round(64 * np.exp(random.standard_normal((count, FEATURES - FLAGS), dtype=np.float32))) / 64
    flags = random.random((count, FLAGS), dtype=np.float32) < np.linspace(0.02, 0.5, FLAGS, dtype=np.float32)
    return np.column_stack([numbers, flags]).astype(np.float32)


def woodelf_job(run):
    x = many_columns(20_000, 0)
    weights = np.random.default_rng(1).standard_normal(FEATURES)
    y = x @ weights + 3 * x[:, 0] * x[:, -1] > np.median(x @ weights)
    trees = 10 if run.quick else TREES
    settings = {"max_depth": DEPTH, "objective": "binary:logistic", "eta": 0.1, "nthread": 1, "seed": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(x, y, nthread=1), num_boost_round=trees)
    booster.save_model(run.folder / "booster.json")
    model = assay.load(run.folder / "booster.json")
    lines, points = [], []
    for count in (300, 1000, 3000) if run.quick else (3000, 10_000, 30_000, 100_000, 300_000):
        size = count * PUBLISHED_BACKGROUND // PUBLISHED_ROWS
        rows, background = many_columns(count, 2), many_columns(size, 3)
        answers = {}
        sides = {
            "assay": timed(
                lambda x=rows, b=background: (
                    assay.explain(model, x, "tree_shap", background=b, threads=1, progress=False).values
                ),
                answers,
                "assay",
            ),
            "Woodelf": timed(woodelf(booster, rows, background), answers, "Woodelf"),
        }
        # Large ones take long, and noise matters less.
        rounds = alternate(sides, 3 if count >= 30_000 or run.quick else ROUNDS)
        np.testing.assert_allclose(answers["assay"], answers["Woodelf"], atol=NEAR)
        workload = f"tree_shap, {trees} trees, {count:,} rows x {size:,} background rows, {FEATURES} features"
        yield Row(workload, "Woodelf", rounds["Woodelf"], rounds["assay"])
        medians = [float(np.median(rounds[side])) for side in ("assay", "Woodelf")]
        points.append((count, *medians))
        lines.append([f"{count:,} x {size:,}", *map(seconds_text, medians), f"{medians[1] / medians[0]:.1f}x"])
    yield growth_of(points, lines, trees, run.quick)


def growth_of(points, lines, trees, quick):
    """The sizes, how both sides grow over the last two steps, and what that makes of the published size. The small
    sizes of a quick run say nothing of large ones."""
    counts = np.array([each[0] for each in points], dtype=float)
    exponents, reached = [], []
    for side in (1, 2):
        seconds = np.array([each[side] for each in points])
        exponents.append(math.log(seconds[-1] / seconds[-3]) / math.log(counts[-1] / counts[-3]))
        slope = (seconds[-1] - seconds[-3]) / (counts[-1] - counts[-3])
        reached.append(seconds[-1] + slope * (PUBLISHED_ROWS - counts[-1]))
    if not quick:
        lines.append(["exponent of the last three", *(f"{each:.2f}" for each in exponents), "-"])
        whole = f"{PUBLISHED_ROWS:,} x {PUBLISHED_BACKGROUND:,}, on the line through them"
        lines.append([whole, *map(seconds_text, reached), f"{reached[1] / reached[0]:.1f}x"])
    return Table(
        "Woodelf's job, scaled",
        ["rows x background rows", "Assay", "Woodelf", "ratio"],
        lines,
        text=f"Nadel and Wettenstein (arXiv:2511.09376) explain {PUBLISHED_ROWS:,} rows against "
        f"{PUBLISHED_BACKGROUND:,} background rows, {FEATURES} features, in {PUBLISHED_SECONDS} s on a CPU. Their "
        f"data is not at hand: these are drawn columns, {FEATURES - FLAGS} numbers and {FLAGS} flags, through {trees} "
        f"trees of depth {DEPTH}, on one thread, with rows and background rows in the same proportion. Assay's tables "
        "are made anew in each call, and so is Woodelf's explainer.",
        facts={"points": points, "exponents": exponents, "reached": reached},
    )


# Path-dependent values of small, medium and large models


def quadrature_job(run):
    raw = raw_adult()
    y = raw.pop("income").str.startswith(">50K").to_numpy()
    codes = [each if each.dtype.kind in "if" else each.astype("category").cat.codes for _, each in raw.items()]
    x = np.column_stack(codes).astype(np.float32)
    every = x[np.random.default_rng(432).integers(len(x), size=1000 if run.quick else SIZED_ROWS)]
    for size, count, depth in SIZES[:2] if run.quick else SIZES:
        settings = {"max_depth": depth, "eta": 0.01, "objective": "binary:logistic", "nthread": 2, "seed": 0}
        booster = xgboost.train(settings, xgboost.DMatrix(x, y), num_boost_round=count)
        booster.set_param({"nthread": 1})
        booster.save_model(run.folder / f"{size}.json")
        model = assay.load(run.folder / f"{size}.json")
        rows = every[:LARGE_ROWS] if size == "large" else every
        data, answers = xgboost.DMatrix(rows, nthread=1), {}
        leaves = int((booster.trees_to_dataframe()["Feature"] == "Leaf").sum())
        peer = f"XGBoost {xgboost.__version__} pred_contribs"
        sides = {
            "assay": lambda m=model, r=rows: assay.explain(m, r, "tree_shap_path", threads=1, progress=False).values,
            peer: lambda b=booster, d=data: b.predict(d, pred_contribs=True)[:, :-1],
        }
        rounds = alternate({name: timed(work, answers, name) for name, work in sides.items()}, 3)
        np.testing.assert_allclose(answers["assay"], answers[peer], atol=NEAR)
        name = f"tree_shap_path, adult-{size}: {count:,} trees, {leaves:,} leaves, depth {depth}, {len(rows):,} rows"
        yield Row(name, peer, rounds[peer], rounds["assay"], least_ratio=1)


WORKLOADS = [
    Workload(
        "published_seldon",
        "Published jobs: distributed Kernel SHAP",
        seldon,
        f"""Kernel SHAP of {JOB_ROWS:,} rows of Adult, {JOB_BACKGROUND} background rows, a logistic regression, which
Seldon distributed over a cluster ({SELDON}). SHAP runs here on one core, on fewer rows, its time scaled to all; both
sides are near exact values.""",
        threads=2,
    ),
    Workload(
        "published_woodelf",
        "Published jobs: millions of rows against millions",
        woodelf_job,
        """Exact values of trees against a background that has more rows than are explained, at growing sizes, Woodelf
beside in the same run. Answers of both sides agree before times are believed.""",
    ),
    Workload(
        "published_quadrature",
        "Published jobs: path-dependent values of deep trees",
        quadrature_job,
        f"""XGBoost computes path-dependent values by Quadrature-TreeSHAP since 3.4 (Wettenstein, Mitchell and Yu,
arXiv:2605.04497), whose time depends little on depth. The models are made as in the benchmark of GPUTreeShap
(arXiv:2010.13972: 10, 100 and 1,000 rounds of depth 3, 8 and 16, a learning rate of 0.01, {SIZED_ROWS:,} rows, drawn
with repeats; {LARGE_ROWS} for the large one). Of its four data sets Adult is at hand, categories as codes; California
housing, Covertype and Fashion-MNIST are not.""",
    ),
]
