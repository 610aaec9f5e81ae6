"""The data stage against scikit-learn, faiss, pandas and SciPy, through the program."""

import io
import json
import math
import subprocess
import sys

import faiss
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.metrics import DistanceMetric
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import BallTree, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

SKLEARN_METRIC = {"linf": "chebyshev", "l1": "manhattan", "l2": "euclidean"}
FAISS_METRIC = {"linf": faiss.METRIC_Linf, "l1": faiss.METRIC_L1, "l2": faiss.METRIC_L2}
K = 10

ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
]
ADULT_NUMERIC = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
ADULT_CATEGORICAL = [name for name in ADULT_COLUMNS[:-1] if name not in ADULT_NUMERIC]
GERMAN_NUMERIC = [1, 4, 7, 10, 12, 15, 17]
GERMAN_CATEGORICAL = [column for column in range(20) if column not in GERMAN_NUMERIC]


@pytest.fixture
def run(assay):
    """Runs the program, which must succeed."""

    def checked(*arguments):
        done = assay(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return checked


@pytest.fixture
def encoded(run, tmp_path):
    """What `assay data ... --out x.npz` writes: values, column names, and the levels of the label."""

    def written(*arguments):
        run("data", *arguments, "--out", "x.npz")
        with np.load(tmp_path / "x.npz") as file:
            meta = json.loads(str(file["meta"]))
            return file["values"], file["features"].tolist(), meta

    return written


def classes(values, meta):
    """The label column as text."""
    levels = np.array(meta["columns"][meta["label"]]["levels"])
    return levels[values[:, meta["label"]].astype(int)]


# Neighbours


def standardised(name):
    """Standardised numbers in float32, which is what the program reads: iris and wine (with ties), or random rows."""
    if name == "random":
        return np.random.default_rng(2).normal(size=(5000, 14)).astype(np.float32)
    loaded = load_iris() if name == "iris" else load_wine()
    return StandardScaler().fit_transform(loaded.data).astype(np.float32)


def queries_of(x):
    return np.arange(0, len(x), max(1, len(x) // 200))


def neighbours(run, what, rows, *options):
    """For each of these rows, the neighbours' rows and their distances, counted from 0."""
    numbers = ",".join(str(row + 1) for row in rows)
    found = json.loads(run("--json", "neighbours", what, "--rows", numbers, *options))["rows"]
    assert [entry["row"] - 1 for entry in found] == list(rows)
    return [
        (
            np.array([n["row"] - 1 for n in entry["neighbours"]], dtype=int),
            np.array([n["distance"] for n in entry["neighbours"]]),
        )
        for entry in found
    ]


def without_self(rows, distances, found):
    """Peers count a row as its own neighbour; among equal rows they may name another in its place."""
    out = []
    for row, near, far in zip(rows, found, distances, strict=True):
        drop = np.flatnonzero(near == row)
        out.append(np.delete(far, drop[0] if len(drop) else -1))
    return np.array(out)


def check_rows_are_as_far_as_they_say(found, rows, x, norm, tolerance):
    """By scikit-learn's own distances; no row twice, and never the query."""
    metric = DistanceMetric.get_metric(SKLEARN_METRIC[norm])
    for row, (near, far) in zip(rows, found, strict=True):
        assert len(set(near)) == len(near)
        assert row not in near
        np.testing.assert_allclose(metric.pairwise(x[[row]], x[near])[0], far, rtol=tolerance)


@pytest.mark.parametrize("norm", ["linf", "l1", "l2"])
@pytest.mark.parametrize("name", ["iris", "wine", "random"])
def test_nearest_are_those_of_sklearn(run, tmp_path, name, norm):
    """k nearest in raw space against NearestNeighbors over a ball tree: the same distances, to float64 rounding."""
    x = standardised(name)
    np.save(tmp_path / "x.npy", x)
    rows = queries_of(x)
    found = neighbours(run, "x.npy", rows, "--k", K, "--norm", norm, "--space", "raw")

    exact = x.astype(np.float64)
    peer = NearestNeighbors(n_neighbors=K + 1, algorithm="ball_tree", metric=SKLEARN_METRIC[norm]).fit(exact)
    distances = without_self(rows, *peer.kneighbors(exact[rows]))
    np.testing.assert_allclose([far for _, far in found], distances, rtol=1e-12)
    check_rows_are_as_far_as_they_say(found, rows, exact, norm, 1e-12)


@pytest.mark.parametrize("name", ["iris", "wine", "random"])
def test_ties_go_to_the_lower_row(run, tmp_path, name):
    """Differences of float32 are exact in float64, so under l-infinity (distance, row) is an order without doubt."""
    x = standardised(name).round(1)
    np.save(tmp_path / "x.npy", x)
    rows = queries_of(x)
    found = neighbours(run, "x.npy", rows, "--k", K, "--norm", "linf", "--space", "raw")
    exact = x.astype(np.float64)
    distances = DistanceMetric.get_metric("chebyshev").pairwise(exact[rows], exact)
    assert any(len(np.unique(far)) < K for _, far in found), "no ties: this test would show nothing"
    for row, far, (near, _) in zip(rows, distances, found, strict=True):
        order = np.lexsort((np.arange(len(x)), far))
        np.testing.assert_array_equal(near, order[order != row][:K])


@pytest.mark.parametrize("norm", ["linf", "l1", "l2"])
@pytest.mark.parametrize("name", ["iris", "wine", "random"])
def test_all_within_a_radius_are_those_of_sklearn(run, tmp_path, name, norm):
    """Radius search against BallTree.query_radius: the same rows at the same distances."""
    x = standardised(name)
    np.save(tmp_path / "x.npy", x)
    rows = queries_of(x)
    exact = x.astype(np.float64)
    tree = BallTree(exact, metric=SKLEARN_METRIC[norm])
    # The median of the fifth neighbours' distances, away from any distance: many rows have neighbours, many have few.
    radius = round(float(np.median(tree.query(exact[rows], k=6)[0][:, -1])), 3) + 1.234e-4
    found = neighbours(run, "x.npy", rows, "--radius", repr(radius), "--norm", norm, "--space", "raw")
    assert len({len(near) for near, _ in found}) > 3
    indices, distances = tree.query_radius(exact[rows], radius, return_distance=True)
    for row, (near, far), expected, expected_far in zip(rows, found, indices, distances, strict=True):
        others = expected != row
        assert sorted(near) == sorted(expected[others])
        np.testing.assert_allclose(far, np.sort(expected_far[others]), rtol=1e-12)


@pytest.mark.parametrize("norm", ["linf", "l1", "l2"])
@pytest.mark.parametrize("name", ["wine", "random"])
def test_nearest_are_those_of_faiss(run, tmp_path, name, norm):
    """k nearest against faiss.IndexFlat, whose distances are float32 (and squared under l2)."""
    x = standardised(name)
    np.save(tmp_path / "x.npy", x)
    rows = queries_of(x)
    found = neighbours(run, "x.npy", rows, "--k", K, "--norm", norm, "--space", "raw")
    index = faiss.IndexFlat(x.shape[1], FAISS_METRIC[norm])
    index.add(x)
    distances = without_self(rows, *index.search(x[rows], K + 1))
    ours = np.array([far for _, far in found])
    if norm == "l2":
        # faiss takes |x|^2 - 2 x.z + |z|^2 in float32, so errors follow the norms: below 100, times a few 2^-24.
        np.testing.assert_allclose(ours**2, distances, atol=1e-4)
    else:
        np.testing.assert_allclose(ours, distances, rtol=2e-6)


@pytest.mark.parametrize("norm", ["linf", "l1", "l2"])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_scaled_space_is_that_of_standard_scaler(run, tmp_path, name, norm):
    """The default space, from raw numbers, against StandardScaler and a ball tree."""
    raw = (load_iris() if name == "iris" else load_wine()).data.astype(np.float32)
    np.save(tmp_path / "raw.npy", raw)
    rows = queries_of(raw)
    found = neighbours(run, "raw.npy", rows, "--k", K, "--norm", norm)
    x = StandardScaler().fit_transform(raw.astype(np.float64))
    peer = NearestNeighbors(n_neighbors=K + 1, algorithm="ball_tree", metric=SKLEARN_METRIC[norm]).fit(x)
    distances = without_self(rows, *peer.kneighbors(x[rows]))
    np.testing.assert_allclose([far for _, far in found], distances, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("norm", "height"), [("linf", 1), ("l1", 0.5), ("l2", math.sqrt(0.5))])
def test_categories_differ_by_one(run, data_dir, norm, height):
    """German credit against one-hot columns of a height at which two of them differ by 1 in all."""
    table = german(data_dir)
    encode = ColumnTransformer(
        [
            ("numbers", StandardScaler(), GERMAN_NUMERIC),
            ("categories", OneHotEncoder(sparse_output=False), GERMAN_CATEGORICAL),
        ]
    )
    x = encode.fit_transform(table)
    x[:, len(GERMAN_NUMERIC) :] *= height
    rows = queries_of(x)
    peer = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric=SKLEARN_METRIC[norm]).fit(x)
    distances = without_self(rows, *peer.kneighbors(x[rows]))
    found = neighbours(run, "german", rows, "--k", K, "--norm", norm)
    np.testing.assert_allclose([far for _, far in found], distances, atol=1e-5)


# Encoders


def adult(data_dir, split):
    """UCI's two files as pandas reads them; `?` stays a value."""
    parts = []
    if split != "test":
        parts.append(pd.read_csv(data_dir / "adult" / "adult.data", header=None, skipinitialspace=True))
    if split != "train":
        parts.append(pd.read_csv(data_dir / "adult" / "adult.test", header=None, skipinitialspace=True, skiprows=1))
    table = pd.concat(parts, ignore_index=True)
    table.columns = ADULT_COLUMNS
    table["income"] = table["income"].str.rstrip(".")
    return table


def german(data_dir):
    return pd.read_csv(data_dir / "tabular-small" / "german.data", header=None, sep=" ")


def test_iris_is_that_of_sklearn(encoded):
    """The data set inside the program: the same numbers and species as load_iris."""
    values, _, meta = encoded("iris")
    peer = load_iris()
    np.testing.assert_array_equal(values[:, :4], peer.data.astype(np.float32))
    species = [name.split("-")[-1].removeprefix("Iris").lower() for name in classes(values, meta)]
    assert species == [str(peer.target_names[code]) for code in peer.target]


@pytest.mark.parametrize(
    ("option", "scaler"), [("scale=standardise", StandardScaler()), ("scale=min_max", MinMaxScaler())]
)
def test_scales_are_those_of_sklearn(encoded, data_dir, option, scaler):
    """Wine against StandardScaler and MinMaxScaler, to float32."""
    values, _, meta = encoded("wine", "--encode", f"label:{option}")
    peer = load_wine()
    np.testing.assert_allclose(values[:, :13], scaler.fit_transform(peer.data), rtol=1e-6, atol=1e-6)
    assert classes(values, meta).tolist() == [str(peer.target_names[code]) for code in peer.target]


def test_codes_of_categories_are_those_of_sklearn(encoded, data_dir):
    """Adult against OrdinalEncoder and LabelEncoder: the paper's label encoding, with `?` as a level."""
    values, names, meta = encoded("adult", "--encode", "label")
    table = adult(data_dir, "all")
    assert names == ADULT_COLUMNS
    assert values.shape == (48842, 15)
    codes = OrdinalEncoder().fit_transform(table[ADULT_CATEGORICAL])
    columns = [ADULT_COLUMNS.index(name) for name in ADULT_CATEGORICAL]
    np.testing.assert_array_equal(values[:, columns], codes)
    for name in ADULT_NUMERIC:
        np.testing.assert_array_equal(values[:, ADULT_COLUMNS.index(name)], table[name].astype(np.float32))
    label = LabelEncoder().fit(table["income"])
    assert meta["columns"][14]["levels"] == label.classes_.tolist()
    np.testing.assert_array_equal(values[:, 14], label.transform(table["income"]))


def one_hot_peer(categories_first, numeric, categorical, table):
    """Columns in the order of the table, as the program writes them."""
    steps = []
    for name in table.columns:
        if name in numeric:
            steps.append((str(name), StandardScaler(), [name]))
        elif name in categorical:
            steps.append((str(name), make_pipeline(*categories_first(), OneHotEncoder(sparse_output=False)), [name]))
    return ColumnTransformer(steps)


@pytest.mark.parametrize("split", ["train", "test"])
def test_one_hot_of_adult_is_that_of_sklearn(encoded, data_dir, split):
    """Imputed, standardised, one-hot: fitted on the training file by both, applied to either part."""
    values, names, _ = encoded("adult", "--split", split, "--encode", "one_hot:scale=standardise:impute=mean")
    training = adult(data_dir, "train")

    def impute():
        return [SimpleImputer(missing_values="?", strategy="most_frequent")]

    peer = one_hot_peer(impute, ADULT_NUMERIC, ADULT_CATEGORICAL, training).fit(training)
    expected = peer.transform(adult(data_dir, split))
    assert names[-1] == "income"
    assert values.shape[1] == expected.shape[1] + 1
    # Largest of all: fnlwgt, 12 deviations; float32 keeps 6e-8 of that.
    np.testing.assert_allclose(values[:, :-1], expected, rtol=1e-6, atol=1e-6)


def test_one_hot_keeps_missing_as_a_level(encoded, data_dir):
    """Not imputed, `?` is a column of its own, the first, as OneHotEncoder has it."""
    values, names, _ = encoded("adult", "--encode", "one_hot")
    table = adult(data_dir, "all")
    first = names.index("workclass=missing")
    assert first == 1
    expected = OneHotEncoder(sparse_output=False).fit_transform(table[["workclass"]])
    np.testing.assert_array_equal(values[:, first : first + expected.shape[1]], expected)


def test_one_hot_of_german_is_that_of_sklearn(encoded, data_dir):
    values, _, meta = encoded("german", "--encode", "one_hot:scale=standardise")
    table = german(data_dir)
    peer = one_hot_peer(lambda: [], GERMAN_NUMERIC, GERMAN_CATEGORICAL, table)
    np.testing.assert_allclose(values[:, :-1], peer.fit_transform(table), rtol=1e-6, atol=1e-6)
    assert classes(values, meta).tolist() == table[20].map({1: "good", 2: "bad"}).tolist()


@pytest.mark.parametrize("scale", ["none", "standardise", "min_max"])
@pytest.mark.parametrize(
    ("impute", "strategy"),
    [("none", None), ("mean", "mean"), ("median", "median"), ("mode", "most_frequent"), ("constant", "constant")],
)
def test_imputation_is_that_of_sklearn(encoded, tmp_path, impute, strategy, scale):
    """Numbers with gaps against SimpleImputer, then the scalers, which pass over NaN where nothing was put in."""
    random = np.random.default_rng(3)
    x = random.integers(-9, 10, size=(400, 5)).astype(np.float64) * 0.25
    x[random.uniform(size=x.shape) < 0.2] = np.nan
    pd.DataFrame(x, columns=list("abcde")).to_csv(tmp_path / "gaps.csv", index=False)
    constant = ":constant=-3.5" if impute == "constant" else ""
    values, _, _ = encoded("gaps.csv", "--encode", f"label:impute={impute}{constant}:scale={scale}")
    if strategy:
        x = SimpleImputer(strategy=strategy, fill_value=-3.5).fit_transform(x)
    if scale != "none":
        x = (StandardScaler() if scale == "standardise" else MinMaxScaler()).fit_transform(x)
    np.testing.assert_allclose(values, x, rtol=1e-6, atol=1e-6)


# Splits


@pytest.mark.parametrize("name", ["iris", "wine", "german", "breast_cancer", "digits"])
def test_classes_keep_their_shares(encoded, data_dir, name):
    """As many rows of each class as StratifiedShuffleSplit takes; together the parts are all rows."""
    whole, _, meta = encoded(name)
    parts = {split: encoded(name, "--split", split)[0] for split in ("train", "test")}
    labels = {split: part[:, meta["label"]] for split, part in parts.items()}
    size = len(parts["test"])
    assert abs(size - 0.2 * len(whole)) <= 0.5
    chosen = StratifiedShuffleSplit(n_splits=1, test_size=size, train_size=len(whole) - size, random_state=0)
    train, test = next(chosen.split(whole, whole[:, meta["label"]]))
    for split, rows in (("train", train), ("test", test)):
        ours = np.unique_counts(labels[split])
        peers = np.unique_counts(whole[rows, meta["label"]])
        np.testing.assert_array_equal(ours.values, peers.values)
        # Where remainders are equal, scikit-learn draws lots for the odd row.
        tolerance = 1 if name == "digits" else 0
        assert np.abs(ours.counts - peers.counts).max() <= tolerance
    together = np.concatenate([parts["train"], parts["test"]])
    np.testing.assert_array_equal(sorted_rows(together), sorted_rows(whole))


def sorted_rows(x):
    return x[np.lexsort(x.T)]


# CSV


def test_adult_as_csv_is_that_of_pandas(run, data_dir, tmp_path):
    """pandas reads the same table from the program's CSV as from UCI's files, `?` as missing."""
    run("data", "adult", "--out", "adult.csv")
    ours = pd.read_csv(tmp_path / "adult.csv")
    pd.testing.assert_frame_equal(ours, adult(data_dir, "all").replace("?", np.nan))


def test_uci_file_is_read_as_pandas_does(encoded, data_dir):
    """The file itself: no header, a blank after each comma, `?`, an empty last line."""
    values, names, meta = encoded(data_dir / "adult" / "adult.data", "--header", "no")
    table = adult(data_dir, "train").replace("?", np.nan)
    assert names == [f"x{j + 1}" for j in range(15)]
    for j, name in enumerate(ADULT_COLUMNS):
        column = meta["columns"][j]
        if name in ADULT_NUMERIC:
            assert column["kind"] == "numeric"
            np.testing.assert_array_equal(values[:, j], table[name].astype(np.float32))
        else:
            # Codes follow the order of the text, and missing is none of them: -1 in pandas.
            peer = pd.Categorical(table[name])
            assert column["levels"] == peer.categories.tolist()
            np.testing.assert_array_equal(np.nan_to_num(values[:, j], nan=-1), peer.codes)


@pytest.mark.parametrize("style", ["%.9g", "%.3f", "%+.17e", "%d"])
def test_numbers_are_read_as_pandas_does(encoded, tmp_path, style):
    """Every magnitude float32 has, in several spellings, with gaps: the same bits."""
    random = np.random.default_rng(4)
    x = random.normal(size=(2000, 6)) * 10.0 ** random.integers(-30 if "d" not in style else 0, 30, size=(2000, 6))
    lines = [",".join(style % value if random.uniform() > 0.05 else "" for value in row) for row in x]
    (tmp_path / "numbers.csv").write_text("a,b,c,d,e,f\n" + "\n".join(lines) + "\n")
    values, names, _ = encoded("numbers.csv")
    peer = pd.read_csv(tmp_path / "numbers.csv", dtype=np.float64)
    assert names == list(peer.columns)
    np.testing.assert_array_equal(values, peer.to_numpy().astype(np.float32))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_text_is_read_as_pandas_does(encoded, tmp_path, delimiter, newline):
    """Quotes, doubled quotes, delimiters and line ends inside quotes, a byte order mark, missing tokens, UTF-8."""
    random = np.random.default_rng(5)
    words = ["plain", 'a "quoted" word', f"a{delimiter}b", "two\nlines", "Grüße", "NA", "?", "nan", ""]
    text = io.StringIO(newline="")
    table = pd.DataFrame({"word": random.choice(words, 500), "number": random.integers(0, 99, 500)})
    quoted = [word not in ("NA", "?", "nan", "") for word in table["word"]]
    text.write(f"word{delimiter}number{newline}")
    for word, number, quote in zip(table["word"], table["number"], quoted, strict=True):
        cell = '"' + word.replace('"', '""') + '"' if quote else word
        text.write(f"{cell}{delimiter}{number}{newline}")
    path = tmp_path / "text.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode())
    values, names, meta = encoded("text.csv")
    peer = pd.read_csv(path, sep=delimiter, na_values=["?"])
    assert names == list(peer.columns)
    words = pd.Categorical(peer["word"])
    # Byte order, which differs from pandas' for nothing here.
    assert meta["columns"][0]["levels"] == words.categories.tolist()
    np.testing.assert_array_equal(np.nan_to_num(values[:, 0], nan=-1), words.codes)
    np.testing.assert_array_equal(values[:, 1], peer["number"])


# Statistics


def numbers_in(facts):
    if isinstance(facts, dict):
        return [number for key in sorted(facts) for number in numbers_in(facts[key])]
    if isinstance(facts, list):
        return [number for fact in facts for number in numbers_in(fact)]
    return [facts]


def test_golden_statistics_are_those_of_scipy(root, tmp_path):
    """The numbers that the C++ tests of assay/core/statistics.h compare with are what SciPy gives now."""
    fresh = tmp_path / "golden.json"
    subprocess.run([sys.executable, root / "tests" / "peers" / "make_golden.py", fresh], check=True)
    stored = json.loads((root / "tests" / "core" / "golden_statistics.json").read_text())
    made = json.loads(fresh.read_text())
    # Which version wrote the file does not matter, as long as today's says the same.
    assert stored.pop("scipy") and made.pop("scipy")
    assert stored.keys() == made.keys()
    np.testing.assert_allclose(numbers_in(stored), numbers_in(made), rtol=1e-12)
