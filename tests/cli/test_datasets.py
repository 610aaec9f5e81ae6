"""The named data sets are the published ones: their sizes, splits, classes, gaps and codes."""

import csv
import io
import json
from collections import Counter

import numpy as np
import pytest


def rows_of(path) -> list[list[str]]:
    with open(path, newline="") as file:
        return list(csv.reader(file, strict=True))


def classes_of(described) -> dict[str, int]:
    label = next(column for column in described["columns"] if column["name"] == described["label"])
    return {level["level"]: level["count"] for level in label["levels"]}


def test_iris_is_fishers_table(convert):
    header, *rows = rows_of(convert("iris", "iris.csv"))
    assert header == ["sepal_length", "sepal_width", "petal_length", "petal_width", "species"]
    assert [row[4] for row in rows] == ["setosa"] * 50 + ["versicolor"] * 50 + ["virginica"] * 50
    values = np.array([row[:4] for row in rows], float)
    assert values.mean(axis=0).round(4).tolist() == [5.8433, 3.0573, 3.758, 1.1993]
    assert values.std(axis=0, ddof=1).round(4).tolist() == [0.8281, 0.4359, 1.7653, 0.7622]
    # UCI's copy has 0.1 in the first and 3.1, 1.5 in the second.
    assert rows[34][:4] == ["4.9", "3.1", "1.5", "0.2"]
    assert rows[37][:4] == ["4.9", "3.6", "1.4", "0.1"]
    assert rows[0] == ["5.1", "3.5", "1.4", "0.2", "setosa"]
    assert rows[149] == ["5.9", "3", "5.1", "1.8", "virginica"]


def test_iris_equals_the_reference_copy(convert, data_dir):
    reference = rows_of(data_dir / "iris" / "iris.csv")
    species = reference[0][2:]
    expected = [[*map(float, row[:4]), species[int(row[4])]] for row in reference[1:]]
    found = [[*map(float, row[:4]), row[4]] for row in rows_of(convert("iris", "iris.csv"))[1:]]
    assert len(found) == 150 and found == expected


def test_iris_needs_no_files(assay):
    nowhere = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "/nowhere", "HOME": "/nowhere"}
    assert assay("describe", "iris", env=nowhere).returncode == 0


def test_adult_is_both_uci_files(described, data_dir):
    whole = described("adult")
    assert (whole["rows"], whole["attributes"], whole["label"]) == (48842, 14, "income")
    assert classes_of(whole) == {"<=50K": 37155, ">50K": 11687}
    missing = {column["name"]: column["missing"] for column in whole["columns"] if column["missing"]}
    assert missing == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    kinds = Counter(column["kind"] for column in whole["columns"])
    assert kinds == {"numeric": 6, "categorical": 9}
    train, test = described("adult", "--split", "train"), described("adult", "--split", "test")
    assert (train["rows"], test["rows"]) == (32561, 16281)
    assert (classes_of(train)[">50K"], classes_of(test)[">50K"]) == (7841, 3846)


def test_adult_written_and_read_again(convert, described, data_dir):
    """The two commands of the issue: the file has what the data set has, and its last column is taken as the label."""
    convert("adult", "adult.csv")
    again = described("adult.csv")
    assert (again["rows"], again["attributes"], again["label"], again["label_assumed"]) == (48842, 14, "income", True)
    direct = described("adult")
    assert again["columns"] == direct["columns"]


@pytest.fixture(scope="module")
def adult(data_dir) -> list[list[str]]:
    """The cells of both files, read by Python alone."""
    text = (data_dir / "adult" / "adult.data").read_text() + (data_dir / "adult" / "adult.test").read_text()
    lines = [line.rstrip(".") for line in text.splitlines() if line and not line.startswith("|")]
    return list(csv.reader(io.StringIO("\n".join(lines)), skipinitialspace=True))


def test_adult_label_codes_are_those_of_the_paper(convert, adult):
    """Codes of the sorted distinct texts, '?' being one of them (it sorts first): numpy.unique's inverse."""
    header, *rows = rows_of(convert("adult", "codes.csv", "--encode", "label"))
    assert header[-1] == "income" and len(header) == 15 and len(rows) == len(adult) == 48842
    raw, codes = np.array(adult), np.array(rows)
    for j, name in enumerate(header[:-1]):
        if name in ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"):
            expected = raw[:, j].astype("f4")
        else:
            levels, expected = np.unique(raw[:, j], return_inverse=True)
            assert "?" not in levels or levels[0] == "?"
        assert (codes[:, j].astype("f4") == expected).all(), name
    assert (codes[:, -1] == raw[:, -1]).all()


def test_adult_one_hot_groups_have_one_one(convert, adult, tmp_path):
    arrays = np.load(convert("adult", "hot.npz", "--encode", "one_hot"), allow_pickle=False)
    names, values = [str(name) for name in arrays["features"]], arrays["values"]
    groups = {}
    for j, name in enumerate(names):
        if "=" in name:
            groups.setdefault(name.split("=")[0], []).append(j)
    assert len(groups) == 8 and len(names) == 108 + 1
    for columns in groups.values():
        assert columns == list(range(columns[0], columns[-1] + 1))
        assert set(np.unique(values[:, columns])) == {0, 1}
        assert (values[:, columns].sum(axis=1) == 1).all()
    private = values[:, names.index("workclass=Private")]
    assert (private == (np.array(adult)[:, 1] == "Private")).all()
    assert values[:, names.index("workclass=missing")].sum() == 2799


@pytest.mark.parametrize("scale", ["standardise", "min_max"])
def test_scales_are_fitted_on_the_training_rows(convert, scale):
    raw = np.array([row[:4] for row in rows_of(convert("iris", "t.csv", "--split", "train"))[1:]], float)
    other = np.array([row[:4] for row in rows_of(convert("iris", "o.csv", "--split", "test"))[1:]], float)
    shift, by = (raw.mean(0), raw.std(0)) if scale == "standardise" else (raw.min(0), np.ptp(raw, 0))
    for split, rows in (("train", raw), ("test", other)):
        encoded = rows_of(convert("iris", "s.csv", "--split", split, "--encode", f"label:scale={scale}"))[1:]
        found = np.array([row[:4] for row in encoded], float)
        np.testing.assert_allclose(found, (rows - shift) / by, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("impute", "number", "word"),
    [("mean", 4, "1"), ("median", 3, "1"), ("mode", 1, "1"), ("constant:constant=7", 7, "0"), ("none", None, "0")],
)
def test_imputation(convert, tmp_path, impute, number, word):
    (tmp_path / "x.csv").write_text("n,w\n1,b\n,b\n1,\n3,a\n11,c\n4,b\n")
    rows = rows_of(convert("x.csv", "y.csv", "--encode", f"label:impute={impute}"))
    assert rows[2][0] == ("" if number is None else str(number))
    # With a mode, b is code 1 of a, b, c; without, "missing" is a level of its own and comes first.
    assert rows[3][1] == word


def test_mnist_is_seventy_thousand_images(described, convert, data_dir, tmp_path):
    train = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    test = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    whole = described("mnist")
    assert (whole["rows"], whole["attributes"], whole["item_shape"]) == (70000, 784, [28, 28])
    assert classes_of(whole) == {str(d): train[d] + test[d] for d in range(10)}
    part = np.load(convert("mnist", "test.npz", "--split", "test"), allow_pickle=False)["values"]
    assert part.shape == (10000, 785)
    assert np.bincount(part[:, 784].astype(int)).tolist() == test
    assert part[:, :784].min() == 0 and part[:, :784].max() == 255
    images = np.load(convert(data_dir / "mnist" / "t10k-images-idx3-ubyte.gz", "images.npy"))
    assert images.shape == (10000, 28, 28)
    assert (images.reshape(10000, 784) == part[:, :784]).all()


SIZES = {
    "wine": (178, 13, {"class_0": 59, "class_1": 71, "class_2": 48}),
    "breast_cancer": (569, 30, {"malignant": 212, "benign": 357}),
    "digits": (1797, 64, dict(zip("0123456789", [178, 182, 177, 183, 181, 182, 181, 179, 174, 180], strict=True))),
    "german": (1000, 20, {"good": 700, "bad": 300}),
}


@pytest.mark.parametrize("name", SIZES)
def test_small_tables(described, data_dir, name):
    rows, features, classes = SIZES[name]
    found = described(name)
    assert (found["rows"], found["attributes"]) == (rows, features)
    assert classes_of(found) == classes


def test_diabetes_is_a_regression(described, data_dir):
    found = described("diabetes")
    assert (found["rows"], found["attributes"], found["label"]) == (442, 10, "progression")
    target = found["columns"][-1]
    assert (target["min"], target["max"], round(target["mean"], 4)) == (25, 346, 152.1335)


@pytest.mark.parametrize(
    ("name", "label"), [("mimic3", "sepsis"), ("eicu", "sepsis"), ("cinc2012", "death"), ("cinc2019", "sepsis")]
)
def test_clinical_tables_load(assay, described, data_dir, name, label):
    listed = {entry["name"]: entry for entry in json.loads(assay("list", "datasets", "--json").stdout)["datasets"]}
    if not listed[name]["available"]:
        pytest.skip(f"the files of {name} are not in {data_dir}")
    found = described(name)
    assert found["label"] == label and set(classes_of(found)) == {"yes", "no"}
    assert found["attributes"] == listed[name]["features"]


def test_split_is_stratified_and_complete(convert):
    train, test = (rows_of(convert("iris", f"{part}.csv", "--split", part))[1:] for part in ("train", "test"))
    assert Counter(row[4] for row in test) == {"setosa": 10, "versicolor": 10, "virginica": 10}
    assert Counter(map(tuple, train + test)) == Counter(map(tuple, rows_of(convert("iris", "all.csv"))[1:]))


def test_list_datasets(assay, data_dir):
    listed = json.loads(assay("list", "datasets", "--json").stdout)["datasets"]
    names = ["iris", "adult", "mnist", "wine", "breast_cancer", "diabetes", "digits", "german"]
    clinical = ["mimic3", "eicu", "cinc2012", "cinc2019"]
    assert [entry["name"] for entry in listed] == names + clinical
    for entry in listed:
        assert entry["address"].startswith("http") or entry["name"] == "iris"
        assert all(len(file["sha256"]) == 64 for file in entry["files"])
        assert entry["available"] or entry["name"] in clinical
        assert entry["citation"] and entry["title"] and entry["label"]
    text = assay("list", "datasets").stdout.splitlines()
    assert [line.split()[0] for line in text] == ["name", *names, *clinical]
    assert "48,842" in text[2]


def test_list_says_what_is_not_here(assay):
    nowhere = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "/nowhere", "HOME": "/nowhere"}
    listed = json.loads(assay("list", "datasets", "--json", env=nowhere).stdout)["datasets"]
    assert [entry["name"] for entry in listed if entry["available"]] == ["iris"]
