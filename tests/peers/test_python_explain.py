"""assay.explain beside Captum and SHAP in one process: the same models, rows, references and budgets.

Networks come in three ways: the PyTorch module itself through assay.wrap, its ONNX file through assay.load, and a
function that only predicts. Peers run in float64 (peer_values.py). The golden files of `make test` are recorded afresh
and compared too.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pandas
import pytest
import shap
import torch
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peer_values as peers
import record

TOLERANCE = 1e-5
GAMES = ("exact_shapley", "kernel_shap", "shapley_sampling", "occlusion", "lime")


@pytest.fixture(autouse=True)
def quiet():
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# The golden files


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    command = [sys.executable, "-W", "ignore", record.__file__, "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def assert_alike(found, stored, name):
    """The same, but for the last digits of what peers computed."""
    if isinstance(stored, dict):
        assert list(found) == list(stored), name
        for key, value in stored.items():
            # Which versions recorded does not matter, as long as those of today say the same.
            if key == "versions":
                assert list(found[key]) == list(value), name
            else:
                assert_alike(found[key], value, f"{name}/{key}")
    elif name.rsplit("/", 1)[-1] in ("values", "error", "predicted", "coefficients"):
        scale = np.abs(stored).max()
        np.testing.assert_allclose(found, stored, rtol=1e-4, atol=1e-6 * scale, err_msg=name)
    elif isinstance(stored, list) and stored and isinstance(stored[0], dict):
        assert len(found) == len(stored), name
        for number, pair in enumerate(zip(found, stored, strict=True)):
            assert_alike(*pair, f"{name}/{number}")
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, rel=1e-6), name
    else:
        assert found == stored, name


def test_the_script_records_what_is_stored(fresh):
    names = sorted(file.name for file in record.FOLDER.glob("*.json"))
    assert sorted(file.name for file in fresh.glob("*.json")) == names == ["forest.json", "linear.json", "network.json"]
    for name in names:
        assert_alike(json.loads((fresh / name).read_text()), json.loads((record.FOLDER / name).read_text()), name)


@pytest.mark.parametrize("made", [record.forest, record.linear])
def test_recording_again_writes_the_same_bytes(fresh, made):
    """The network takes half a minute; its numbers come from the same functions."""
    assert record.text(made()) == (fresh / f"{made.__name__}.json").read_text()


def test_the_package_gives_what_was_recorded_now(root, fresh):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests/test_goldens.py"]
    environment = {**os.environ, "ASSAY_PEERS": str(fresh)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


# Networks


class Apart(nn.Module):
    """Keeps two nonlinear modules apart: Captum 0.9 misses multipliers where they meet (its issue 1104)."""

    def forward(self, x):
        return x.clone()


def dense(*widths, activation=nn.ReLU):
    layers = []
    for columns, rows in itertools.pairwise(widths):
        layers += [nn.Linear(columns, rows), activation()]
    return nn.Sequential(*layers[:-1])


def cnn():
    first = [nn.Conv2d(1, 4, 3), nn.ReLU(), Apart(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(4, 5, 3, padding=1), nn.ELU(), nn.AvgPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(5, 3))


NETWORKS = {
    "adult_shaped": (lambda: dense(14, 40, 2, activation=lambda: nn.LeakyReLU(0.01)), (14,)),
    "relu": (lambda: dense(7, 16, 10, 3), (7,)),
    "softplus": (lambda: dense(6, 12, 9, 3, activation=nn.Softplus), (6,)),
    "cnn": (cnn, (1, 6, 6)),
}
SMALL = ("relu", "softplus")


class Subject:
    """A network in all its ways, with rows and references; images have their own shape."""

    def __init__(self, name, folder, rows=6):
        made, shape = NETWORKS[name]
        torch.manual_seed(sum(name.encode()))
        module = made().eval()
        x, base, background = (scale * torch.randn(count, *shape) for count, scale in ((rows, 1.3), (1, 0.4), (5, 0.8)))
        flat = [rows.reshape(len(rows), -1).numpy() for rows in (x, base, background)]
        self.peer = peers.Network(module, *flat, shape=shape)
        self.given = {"X": x.numpy(), "baseline": base.numpy(), "background": background.numpy()}
        names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
        torch.onnx.export(module, (x[:2],), folder / "m.onnx", dynamo=False, opset_version=17, **names)

        def predict(given):
            with torch.inference_mode():
                return module(torch.as_tensor(given)).numpy()

        classes = [str(output) for output in range(predict(self.given["X"]).shape[1])]
        self.ways = {
            "module": assay.wrap(module),
            "file": assay.load(folder / "m.onnx"),
            "function": assay.wrap(predict, classes=classes, value="margin"),
        }

    def explain(self, way, case):
        given = {case.reference: self.given[case.reference]} if case.reference else {}
        x = self.given["X"]
        if way == "file":
            x, given = x.reshape(len(x), -1), {key: rows.reshape(len(rows), -1) for key, rows in given.items()}
        options = given | case.options
        return assay.explain(self.ways[way], x, case.method, target=self.peer.target, **options)


@pytest.fixture(params=NETWORKS, scope="module")
def subject(request, tmp_path_factory):
    return Subject(request.param, tmp_path_factory.mktemp(request.param))


def assert_same(ours, case, tolerance=TOLERANCE):
    """Differences small beside a row's largest value."""
    theirs = case.values.reshape(ours.values.shape)
    scale = np.abs(theirs).max(axis=1, keepdims=True)
    worst = (np.abs(ours.values - theirs) / scale).max()
    assert worst < tolerance, (case.method, case.options, case.reference, case.peer)


def assert_within_errors(ours, case):
    """No further apart than the standard errors of both sides allow, and no nearer than they say."""
    error = 0 if ours.standard_error is None else np.nan_to_num(ours.standard_error)
    z = np.abs(ours.values - case.values) / np.hypot(error, case.error)
    assert z.max() < 5, (case.method, case.peer, z.max())
    assert 0.4 < np.sqrt(np.mean(z**2)) < 1.8, (case.method, case.peer)


WAYS = pytest.mark.parametrize("way", ["module", "file", "function"])


@WAYS
def test_gradients_paths_and_ablation_are_captums(subject, way):
    for case in peers.gradients(subject.peer):
        if way == "function" and case.method not in GAMES:
            with pytest.raises(assay.UnsupportedError, match="gradient"):
                subject.explain(way, case)
        else:
            # A kink of the network near a step's point falls on either side of it.
            assert_same(subject.explain(way, case), case, 1e-3 if case.options.get("rule") == "middle" else TOLERANCE)


@pytest.mark.parametrize("way", ["module", "file"])
def test_deeplift_is_captums_and_shaps(subject, way):
    for case in peers.deeplift(subject.peer):
        ours = subject.explain(way, case)
        # Multipliers of curved functions are quotients of small differences; Captum in float32 is as far off.
        assert_same(ours, case, 1e-4)
        np.testing.assert_allclose(ours.gap, 0, rtol=0, atol=1e-5)
    # SHAP's hooks know neither ELU nor softplus.
    if all(isinstance(part, nn.Linear | nn.ReLU | nn.LeakyReLU) for part in subject.peer.module):
        case = peers.deep_explainer(subject.peer)
        assert_same(subject.explain(way, case), case)


@pytest.mark.parametrize("name", SMALL)
def test_exact_values_are_shaps(name, tmp_path):
    subject = Subject(name, tmp_path)
    references = {"baseline": subject.peer.baseline, "background": subject.peer.background}
    for case in peers.exact_shapley(subject.peer.margin, subject.peer.x, references):
        for way in subject.ways:
            assert_same(subject.explain(way, case), case)


@pytest.mark.parametrize("name", SMALL)
def test_sampled_values_are_captums_and_shaps_within_their_errors(name, tmp_path):
    subject = Subject(name, tmp_path, rows=5)
    for case in [*peers.sampled(subject.peer), peers.lime(subject.peer)]:
        for way in subject.ways:
            if way != "function" or case.method in GAMES:
                assert_within_errors(subject.explain(way, case), case)


def test_kernel_shap_beside_its_peers_at_one_budget(tmp_path):
    """14 features, 1,000 coalitions each: our errors are honest, and smaller than theirs."""
    subject = Subject("adult_shaped", tmp_path, rows=10)
    made, samples = subject.peer, 1000
    exact = next(iter(peers.exact_shapley(made.margin, made.x, {"baseline": made.baseline}))).values
    case = peers.Explained("kernel_shap", {"samples": samples}, "baseline", "", exact)
    np.random.seed(0)
    torch.manual_seed(0)
    explainer = shap.KernelExplainer(made.margin, made.baseline)
    theirs = explainer.shap_values(made.x, nsamples=samples, l1_reg=False, silent=True)
    for way in ("module", "file", "function"):
        ours = subject.explain(way, case)
        z = (ours.values - exact) / ours.standard_error
        assert np.abs(z).max() < 5
        assert np.mean((ours.values - exact) ** 2) < np.mean((theirs - exact) ** 2)
        np.testing.assert_allclose(ours.gap, 0, rtol=0, atol=1e-5)


# scikit-learn


def table(rows, seed):
    generator = np.random.default_rng(seed)
    names = ["age", "income", "debt", "years", "children", "score"]
    return pandas.DataFrame(generator.normal(size=(rows, len(names))).astype(np.float32), columns=names)


TRAINING, X, BACKGROUND = table(300, 1), table(5, 2), table(4, 3)
SCORE = TRAINING["age"] - 0.5 * TRAINING["income"] + TRAINING["debt"] * TRAINING["years"]
LABELS = np.where(SCORE > 0, "yes", "no")


@pytest.mark.parametrize("method", ["exact_shapley", "kernel_shap", "shapley_sampling", "occlusion"])
def test_linear_models_are_shaps_linear_explainer(method):
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(TRAINING, LABELS)
    scaler, last = scaled[0], scaled[1]
    plain = {
        "regression": (LinearRegression().fit(TRAINING, SCORE), None, lambda x: x.to_numpy(dtype=np.float64)),
        "classifier": (LogisticRegression().fit(TRAINING, LABELS), None, lambda x: x.to_numpy(dtype=np.float64)),
        "pipeline": (scaled, last, scaler.transform),
    }
    for estimator, inner, transform in plain.values():
        masker = shap.maskers.Independent(transform(BACKGROUND), max_samples=len(BACKGROUND))
        theirs = shap.LinearExplainer(inner or estimator, masker).shap_values(transform(X))
        ours = assay.explain(assay.wrap(estimator), X, method, background=BACKGROUND)
        assert ours.features == list(X.columns)
        assert_same(ours, peers.Explained(method, {}, "background", "shap LinearExplainer", theirs))


def function_of(estimator):
    """What assay.wrap explains of it, for SHAP: of a DataFrame, as the estimator wants it."""
    names = list(X.columns)
    if hasattr(estimator, "decision_function"):
        return lambda rows: estimator.decision_function(pandas.DataFrame(rows, columns=names))
    if hasattr(estimator, "predict_proba"):
        return lambda rows: estimator.predict_proba(pandas.DataFrame(rows, columns=names))[:, 1]
    return lambda rows: estimator.predict(pandas.DataFrame(rows, columns=names))


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(20, max_depth=5, random_state=0),
        GradientBoostingClassifier(n_estimators=20, random_state=0),
        HistGradientBoostingRegressor(max_iter=20, random_state=0),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_are_shaps_exact_values(estimator):
    estimator = estimator.fit(TRAINING, SCORE if "Regressor" in type(estimator).__name__ else LABELS)
    model = assay.wrap(estimator)
    references = {"baseline": BACKGROUND[:1].to_numpy(), "background": BACKGROUND.to_numpy()}
    given = {"baseline": BACKGROUND[:1], "background": BACKGROUND}
    for case in peers.exact_shapley(function_of(estimator), X.to_numpy(), references):
        ours = assay.explain(model, X, case.method, **{case.reference: given[case.reference]}, **case.options)
        assert_same(ours, case)
    if isinstance(estimator, RandomForestClassifier):
        explainer = shap.TreeExplainer(
            estimator, BACKGROUND, feature_perturbation="interventional", model_output="probability"
        )
        theirs = explainer.shap_values(X, check_additivity=False)[..., 1]
        ours = assay.explain(model, X, "exact_shapley", background=BACKGROUND)
        assert_same(ours, peers.Explained("exact_shapley", {}, "background", "shap TreeExplainer", theirs))


# Explanations to and from SHAP


def test_explanations_go_to_shap_and_come_back():
    estimator = LogisticRegression().fit(TRAINING, LABELS)
    ours = assay.explain(assay.wrap(estimator), X, "exact_shapley", background=BACKGROUND)
    theirs = shap.explainers.Exact(function_of(estimator), shap.maskers.Independent(BACKGROUND))(X, silent=True)
    there = ours.as_shap()
    assert isinstance(there, shap.Explanation)
    np.testing.assert_allclose(there.values, theirs.values, rtol=0, atol=1e-5 * np.abs(theirs.values).max())
    np.testing.assert_allclose(there.base_values, theirs.base_values, rtol=1e-5)
    np.testing.assert_array_equal(there.data, X.to_numpy())
    assert list(there.feature_names) == list(X.columns)
    back = assay.Explanations.from_shap(theirs)
    np.testing.assert_allclose(back.values, ours.values, rtol=0, atol=1e-5 * np.abs(theirs.values).max())
    np.testing.assert_allclose(back.base, ours.base, rtol=1e-5)
    assert back.features == ours.features
