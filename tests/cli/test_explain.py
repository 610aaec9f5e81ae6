"""`assay explain` and `assay list methods` through the program: results as NumPy reads them, and bad input."""

import csv
import json
import pathlib
import subprocess

import numpy as np
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "models"
COMPLETE = ("exact_shapley", "kernel_shap:samples=64", "shapley_sampling:permutations=20", "integrated_gradients")


@pytest.fixture(scope="module")
def models(program, tmp_path_factory):
    """A folder with iris.onnx (4 numbers, 3 classes) and mixed.onnx (a number and a one-hot category, 2 classes)."""
    folder = tmp_path_factory.mktemp("models")
    rows = [f"{i % 10},{['red', 'green', 'blue'][i % 3]},{'yes' if i % 10 > 4 else 'no'}" for i in range(120)]
    (folder / "mixed.csv").write_text("\n".join(["size,colour,answer", *rows]) + "\n")

    def train(*arguments):
        subprocess.run([program, "--quiet", "train", *arguments], cwd=folder, check=True, capture_output=True)

    train("--data", "iris", "--hidden", "16", "--training", "epochs=40", "--out", "iris.onnx")
    options = ("--label", "answer", "--encode", "one_hot", "--hidden", "8", "--training", "epochs=20")
    train("--data", "mixed.csv", *options, "--out", "mixed.onnx")
    return folder


@pytest.fixture
def explain(assay, models):
    """explain(*arguments) explains test rows of iris against the training rows."""

    def run(*arguments, before=(), model="iris.onnx", data=("--data", "iris", "--split", "test"), pool=None):
        pool = ("--pool", "iris", "--pool-split", "train") if pool is None else pool
        return assay(*before, "explain", "--model", models / model, *data, *pool, *arguments)

    return run


def load(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def meta(arrays):
    return json.loads(str(arrays["meta"]))


@pytest.mark.parametrize("method", COMPLETE)
def test_complete_methods_sum_to_the_difference(explain, tmp_path, method):
    result = explain("--method", method, "--out", "phi.npz")
    assert (result.returncode, result.stderr) == (0, "")
    phi = load(tmp_path / "phi.npz")
    assert phi["values"].shape == (30, 4) and phi["values"].dtype == np.float32
    assert phi["base"].shape == phi["output"].shape == phi["gap"].shape == phi["target"].shape == (30,)
    assert phi["base"].dtype == phi["output"].dtype == phi["gap"].dtype == np.float64
    assert phi["target"].dtype == np.int64 and phi["stderr"].shape == (30, 4)
    assert phi["features"].tolist() == ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    assert phi["target_names"].tolist() == ["setosa", "versicolor", "virginica"]
    sums = phi["values"].astype(float).sum(axis=1)
    near = 1e-2 if method == "integrated_gradients" else 1e-5
    assert phi["output"] - phi["base"] == pytest.approx(sums, abs=near)
    assert phi["output"] - phi["base"] - sums == pytest.approx(phi["gap"], abs=1e-6)
    facts = meta(phi)
    assert facts["method"] == method.split(":")[0]
    assert facts["unit"] == "margin" and facts["seed"] == 0
    assert facts["data"] == "iris (test part)" and facts["reference"] == "mean of iris (train part)"
    assert facts["versions"]["assay"] and facts["versions"]["vector_target"]
    assert facts["evaluations"] > 0


def test_outputs_and_targets_are_the_models_own(assay, explain, models, tmp_path):
    assert explain("--method", "gradient", "--out", "phi.npz").returncode == 0
    table = ("--data", "iris", "--split", "test", "--output", "margin", "--out", "margins.npy")
    assert assay("predict", "--model", models / "iris.onnx", *table).returncode == 0
    margins, phi = np.load(tmp_path / "margins.npy"), load(tmp_path / "phi.npz")
    assert phi["target"].tolist() == margins.argmax(axis=1).tolist()
    assert phi["output"] == pytest.approx(margins.max(axis=1), rel=1e-6)
    assert np.isnan(phi["stderr"]).all()


@pytest.mark.parametrize("method", ["exact_shapley", "kernel_shap:samples=10", "shapley_sampling", "gradient", "lime"])
def test_bits_do_not_depend_on_threads(explain, tmp_path, method):
    for threads in (1, 2):
        arguments = ("--method", method, "--background", "pool:20", "--out", f"{threads}.npz")
        assert explain(*arguments, before=("--threads", threads, "--seed", 5)).returncode == 0
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_chosen_rows_have_the_bits_of_all_rows(explain, tmp_path):
    assert explain("--method", "kernel_shap:samples=10", "--out", "all.npz").returncode == 0
    assert explain("--method", "kernel_shap:samples=10", "--rows", "3,7-9", "--out", "some.npz").returncode == 0
    some = load(tmp_path / "some.npz")
    assert some["ids"].tolist() == ["3", "7", "8", "9"]
    assert np.array_equal(some["values"], load(tmp_path / "all.npz")["values"][[2, 6, 7, 8]])


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet", ".json", ".csv.gz"])
def test_every_format_holds_the_same_numbers(assay, explain, tmp_path, needs, extension):
    needs(extension)
    for out in ("phi.npz", f"phi{extension}"):
        assert explain("--method", "kernel_shap:samples=10", "--out", out).returncode == 0
    phi = load(tmp_path / "phi.npz")
    if extension == ".json":
        document = json.loads((tmp_path / "phi.json").read_text())
        assert document["features"] == phi["features"].tolist() and document["meta"] == meta(phi)
        values = [row["values"] for row in document["rows"]]
        assert [row["output"] for row in document["rows"]] == phi["output"].tolist()
    else:
        assert assay("data", f"phi{extension}", "--out", "back.csv").returncode == 0
        with open(tmp_path / "back.csv", newline="") as stream:
            header, *rows = csv.reader(stream)
        assert header[:5] == ["target", "output", "base", "gap", "sepal_length"]
        assert header[8:] == [f"{name} (stderr)" for name in phi["features"]]
        assert [row[0] for row in rows] == phi["target_names"][phi["target"]].tolist()
        values = [row[4:8] for row in rows]
    assert np.array_equal(np.array(values, dtype=np.float32), phi["values"])


def test_all_classes_and_methods_get_their_own_files(explain, tmp_path):
    result = explain("--method", "gradient_x_input,exact_shapley", "--target", "all", "--out", "phi.npz")
    assert result.returncode == 0
    classes = ["setosa", "versicolor", "virginica"]
    expected = [f"phi.{method}.{name}.npz" for method in ("exact_shapley", "gradient_x_input") for name in classes]
    assert sorted(path.name for path in tmp_path.iterdir()) == expected
    for index, name in enumerate(classes):
        phi = load(tmp_path / f"phi.exact_shapley.{name}.npz")
        assert set(phi["target"].tolist()) == {index}
        assert f"wrote phi.exact_shapley.{name}.npz" in result.stdout


@pytest.mark.parametrize("target", ["virginica", "2"])
def test_a_class_by_name_or_index(explain, tmp_path, target):
    assert explain("--method", "gradient", "--target", target, "--out", "phi.npz").returncode == 0
    assert set(load(tmp_path / "phi.npz")["target"].tolist()) == {2}


def test_one_hot_columns_are_one_player(explain, models, tmp_path):
    data = ("--data", models / "mixed.csv", "--rows", "1-9")
    options = {"model": "mixed.onnx", "data": data, "pool": ("--pool", models / "mixed.csv")}
    assert explain("--method", "exact_shapley", "--out", "auto.npz", **options).returncode == 0
    assert explain("--method", "exact_shapley", "--groups", "none", "--out", "none.npz", **options).returncode == 0
    groups = {"looks": ["colour=red", "colour=green", "colour=blue", "size"]}
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    result = explain("--method", "exact_shapley", "--groups", "groups.json", "--out", "one.npz", **options)
    assert result.returncode == 0, result.stderr
    auto, none, one = (load(tmp_path / f"{name}.npz") for name in ("auto", "none", "one"))
    assert auto["features"].tolist() == ["size", "colour"] and meta(auto)["players"] == "feature groups"
    assert none["values"].shape == (9, 4) and meta(none)["players"] == "columns"
    assert one["features"].tolist() == ["looks"] and meta(one)["players"] == "groups.json"
    # One player gets the whole difference; a binary model's target is its positive class.
    assert one["values"][:, 0] == pytest.approx(one["output"] - one["base"], rel=1e-5)
    assert one["target_names"][one["target"]].tolist() == ["yes"] * 9
    assert np.array_equal(auto["output"], none["output"])


def test_squares_of_an_image_are_players(assay, tmp_path):
    folder = FIXTURES / "torch_cnn_script"  # 8 x 8 pixels
    options = ("--model", folder / "model.onnx", "--data", folder / "rows.csv", "--baseline", "zero")
    result = assay("explain", *options, "--method", "exact_shapley", "--groups", "grid:4", "--out", "phi.npz")
    assert result.returncode == 0, result.stderr
    phi = load(tmp_path / "phi.npz")
    ends = ("0-3", "4-7")
    assert phi["features"].tolist() == [f"rows {rows}, columns {columns}" for rows in ends for columns in ends]
    assert phi["values"].sum(axis=1) == pytest.approx(phi["output"] - phi["base"], abs=1e-5)


def test_units_and_the_information_form(explain, tmp_path):
    for value in ("probability", "log_odds", "information"):
        arguments = ("--method", "exact_shapley", "--value", value, "--out", f"{value}.npz")
        assert explain(*arguments).returncode == 0
        phi = load(tmp_path / f"{value}.npz")
        assert meta(phi)["unit"] == value
        assert phi["values"].sum(axis=1) == pytest.approx(phi["output"] - phi["base"], abs=1e-4)
    probability, information = (load(tmp_path / f"{name}.npz") for name in ("probability", "information"))
    assert ((probability["output"] >= 0) & (probability["output"] <= 1)).all()
    # -H(Y | x) at full information: never above 0.
    assert (information["output"] <= 1e-6).all() and information["target_names"].tolist() == ["information"]


@pytest.mark.parametrize(
    "reference", ["--baseline zero", "--baseline median", "--baseline neutral", "--baseline b.csv"]
)
def test_baselines(explain, tmp_path, reference):
    (tmp_path / "b.csv").write_text("sepal_length,sepal_width,petal_length,petal_width\n5,3,2,1\n")
    assert explain("--method", "exact_shapley", *reference.split(), "--out", "phi.npz").returncode == 0
    words = meta(load(tmp_path / "phi.npz"))["reference"]
    assert reference.split()[1] in words or (reference.endswith("neutral") and "least confidently" in words)


def test_a_background_has_its_own_error(explain, tmp_path):
    assert explain("--method", "exact_shapley", "--background", "pool:10", "--out", "phi.npz").returncode == 0
    phi = load(tmp_path / "phi.npz")
    assert meta(phi)["reference"] == "10 rows of iris (train part)"
    assert phi["background_stderr"].shape == (30, 4) and (phi["background_stderr"] > 0).any()


def test_labels_and_ids_may_be_in_one_table_alone(assay, one_sentence, tmp_path):
    model = FIXTURES / "torch_mlp_script" / "model.onnx"
    (tmp_path / "rows.csv").write_text("who,a,b,c,d,e,f\nann,1,2,3,4,5,6\nbob,1,2,3,4,5,7\n")
    (tmp_path / "train.csv").write_text("a,b,c,d,e,f,y\n1,2,3,4,5,6,u\n0,1,2,3,4,5,v\n")
    command = ("explain", "--model", model, "--data", "rows.csv", "--id", "who", "--pool", "train.csv")
    command = (*command, "--method", "occlusion", "--out", "phi.npz")
    assert "train.csv: " in one_sentence(assay(*command))
    assert "no column 'z', which --label names" in one_sentence(assay(*command, "--label", "z"))
    result = assay(*command, "--label", "y")
    assert result.returncode == 0, result.stderr
    phi = load(tmp_path / "phi.npz")
    assert phi["ids"].tolist() == ["ann", "bob"] and meta(phi)["id_name"] == "who"
    assert phi["features"].tolist() == list("abcdef")


def test_the_terminal_shows_the_strongest_players(explain):
    result = explain("--method", "shapley_sampling:permutations=8", "--show", "2")
    assert (result.returncode, result.stderr) == (0, "")
    head, columns, first, second, more, totals, *_ = result.stdout.splitlines()
    assert head.startswith("shapley_sampling: margin of ") and "reference mean of iris (train part)" in head
    assert columns.split()[:4] == ["row", "target", "output", "base"]
    assert first.startswith("1 ") and "petal_length" in first and "+-" in first
    assert second.startswith("2 ") and more.startswith("... 28 more rows")
    assert "model evaluations; largest gap" in totals and "largest standard error" in totals


def test_json_on_the_terminal(explain, tmp_path):
    result = explain("--method", "gradient,exact_shapley", before=("--json",))
    results = json.loads(result.stdout)["results"]
    assert [each["meta"]["method"] for each in results] == ["gradient", "exact_shapley"]
    assert len(results[0]["rows"]) == 30
    summary = json.loads(explain("--method", "exact_shapley", "--out", "p.npz", before=("--json",)).stdout)["results"]
    assert summary[0]["out"] == "p.npz" and summary[0]["rows"] == 30
    assert summary[0]["largest_gap"] == pytest.approx(np.abs(load(tmp_path / "p.npz")["gap"]).max())
    assert explain("--method", "gradient", "--out", "p.npz", before=("--quiet",)).stdout == ""
    stdout = explain("--method", "gradient", "--out", "-").stdout
    assert stdout.startswith("target,output,base,gap,sepal_length") and stdout.count("\n") == 31


def test_methods_without_a_reference_need_none(explain):
    assert explain("--method", "gradient", pool=()).returncode == 0


def test_methods_are_listed(assay):
    shown = assay("list", "methods")
    assert (shown.returncode, shown.stderr) == (0, "")
    listed = json.loads(assay("list", "methods", "--json").stdout)["methods"]
    names = [each["name"] for each in listed]
    assert {"gradient", "kernel_shap", "exact_shapley", "integrated_gradients", "lime"} <= set(names)
    assert len(names) == len(set(names))
    for each in listed:
        assert f"\n{each['name']} " in shown.stdout
        assert all(each[key] for key in ("title", "cost", "citation"))
        for option in each["options"]:
            assert option["name"] and option["default"] != "" and option["range"] and option["meaning"]
        one = assay("list", "methods", each["name"])
        assert one.returncode == 0 and all(option["meaning"] in one.stdout for option in each["options"])
    assert json.loads(assay("--json", "list", "methods", "lime").stdout)["methods"][0]["name"] == "lime"
    unknown = assay("list", "methods", "shap")
    assert unknown.returncode == 1 and "'shap'" in unknown.stderr


IRIS = "sepal_length,sepal_width,petal_length,petal_width\n"
GOOD = ("--method", "exact_shapley")
MEAN = ("--pool", "iris")
BAD = {
    "wrong column count": (GOOD, ("--data", "three.csv"), MEAN, "torch", "takes 6 features, found 3 columns"),
    "missing column": (GOOD, ("--data", "short.csv"), MEAN, "iris", "there is no column 'petal_width'"),
    "unknown column of labels": (GOOD, ("--data", "iris", "--label", "kind"), MEAN, "iris", "'kind'"),
    "NaN where the model gives no number": (GOOD, ("--data", "nan.csv"), ("--baseline", "zero"), "torch", "row 2"),
    "text where numbers belong": (
        GOOD,
        ("--data", "text.csv"),
        MEAN,
        "iris",
        "column 'petal_length': expected a number",
    ),
    "class out of range": ((*GOOD, "--target", "3"), None, MEAN, "iris", "--target"),
    "unknown class": ((*GOOD, "--target", "rose"), None, MEAN, "iris", "'rose'"),
    "a class of all of them": ((*GOOD, "--target", "1", "--value", "information"), None, MEAN, "iris", "--target"),
    "zero samples": (("--method", "kernel_shap:samples=0"), None, MEAN, "iris", "samples"),
    "unknown option": (("--method", "kernel_shap:smaples=9"), None, MEAN, "iris", "'smaples'"),
    "unknown method": (("--method", "kernel_shape"), None, MEAN, "iris", "'kernel_shape'"),
    "a method and a bad one": (("--method", "gradient,x"), None, MEAN, "iris", "'x'"),
    "option without value": (("--method", "lime:samples"), None, MEAN, "iris", "option=value"),
    "baseline of the wrong width": (GOOD, None, ("--baseline", "three.csv"), "torch", "three.csv: "),
    "baseline of several rows": (
        GOOD,
        None,
        ("--baseline", "iris.csv"),
        "iris",
        "one row, to be the baseline, found 2",
    ),
    "no such baseline": (
        GOOD,
        None,
        ("--baseline", "maen"),
        "iris",
        "zero, mean, median, neutral or a file, found 'maen'",
    ),
    "missing pool": (GOOD, None, (), "iris", "--pool"),
    "mean of no pool": (GOOD, None, ("--baseline", "mean"), "iris", "--pool"),
    "background of no pool": (GOOD, None, ("--background", "pool:5"), "iris", "--pool"),
    "background of no rows": (GOOD, None, (*MEAN, "--background", "pool:0"), "iris", "pool:N"),
    "pool of another kind": (GOOD, None, ("--pool", "three.csv"), "iris", "three.csv"),
    "rows out of range": ((*GOOD, "--rows", "1,151"), ("--data", "iris"), MEAN, "iris", "rows from 1 to 150"),
    "rows backwards": ((*GOOD, "--rows", "5-2"), None, MEAN, "iris", "'5-2'"),
    "no rows": ((*GOOD, "--rows", "x"), None, MEAN, "iris", "'x'"),
    "groups of nothing": ((*GOOD, "--groups", "no.json"), None, MEAN, "iris", "no.json"),
    "a grid of no image": ((*GOOD, "--groups", "grid:2"), None, MEAN, "iris", "images"),
    "columns in another order": (GOOD, None, ("--pool", "turned.csv"), "torch", "column 1 is 'x5' where "),
    "more samples than the most": (
        ("--method", "kernel_shap:samples=90:most_samples=50:tolerance=1"),
        None,
        MEAN,
        "iris",
        "most_samples=50",
    ),
    "a few masks without a ridge": (
        ("--method", "occlusion,lime:samples=3:ridge=0"),
        None,
        MEAN,
        "iris",
        "at least 5 samples",
    ),
    "infinity": (GOOD, ("--data", "inf.csv"), ("--baseline", "zero"), "torch", "row 1 has inf in column 'b'"),
    "gradients of trees": (("--method", "occlusion,gradient"), None, ("--baseline", "zero"), "forest", "gradient"),
}


def write_tables(folder):
    (folder / "three.csv").write_text("a,b,c\n1,2,3\n")
    (folder / "short.csv").write_text("sepal_length,sepal_width,petal_length\n1,2,3\n")
    (folder / "nan.csv").write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n1,,3,4,5,6\n")
    (folder / "inf.csv").write_text("a,b,c,d,e,f\n1,inf,3,4,5,6\n")
    (folder / "turned.csv").write_text("x5,x4,x3,x2,x1,x0\n1,2,3,4,5,6\n")
    (folder / "text.csv").write_text(IRIS + "1,2,3,4\n1,2,x,4\n")
    (folder / "iris.csv").write_text(IRIS + "1,2,3,4\n5,6,7,8\n")


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_sentence_and_writes_nothing(assay, models, one_sentence, tmp_path, what):
    arguments, data, reference, model, words = BAD[what]
    stored = {"torch": "torch_mlp_script", "forest": "sklearn_forest"}
    path = FIXTURES / stored[model] / "model.onnx" if model in stored else models / "iris.onnx"
    if data is None:
        data = ("--data", FIXTURES / stored[model] / "rows.csv") if model in stored else ("--data", "iris.csv")
    write_tables(tmp_path)
    (tmp_path / "kept.npz").write_bytes(b"precious")
    before = sorted(path.name for path in tmp_path.iterdir())
    result = assay("explain", "--model", path, *data, *reference, *arguments, "--out", "kept.npz")
    assert words in one_sentence(result)
    assert (tmp_path / "kept.npz").read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_input_is_never_written_over(assay, models, one_sentence, tmp_path):
    write_tables(tmp_path)
    before = (tmp_path / "iris.csv").read_text()
    for reference in (("--pool", "iris.csv"), ("--baseline", "zero", "--groups", "none")):
        command = ("explain", "--model", models / "iris.onnx", "--data", "iris.csv", *reference, *GOOD)
        assert "a file of its own" in one_sentence(assay(*command, "--out", "./iris.csv"))
    assert (tmp_path / "iris.csv").read_text() == before


def test_a_class_may_be_called_all(assay, program, tmp_path):
    rows = "\n".join(f"{i % 7},{i % 3},{'all' if i % 2 else 'auto'}" for i in range(60))
    (tmp_path / "t.csv").write_text("a,b,kind\n" + rows + "\n")
    train = ("--quiet", "train", "--data", "t.csv", "--label", "kind", "--hidden", "4", "--out", "t.onnx")
    assert assay(*train, "--training", "epochs=3").returncode == 0
    command = ("explain", "--model", "t.onnx", "--data", "t.csv", "--label", "kind", "--pool", "t.csv")
    result = assay(*command, "--method", "occlusion,exact_shapley", "--target", "all", "--out", "o.npz")
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in tmp_path.glob("o.*")) == ["o.exact_shapley.npz", "o.occlusion.npz"]
    assert meta(load(tmp_path / "o.occlusion.npz"))["method"] == "occlusion"


@pytest.mark.parametrize(
    ("out", "words"),
    [("no/p.npz", "no folder no"), ("p.npy", "'.npy'"), ("p", "without an extension"), ("a.json", "a folder")],
)
def test_outputs_are_checked_before_anything_is_read(assay, one_sentence, tmp_path, out, words):
    (tmp_path / "a.json").mkdir()
    arguments = ("--model", "none.onnx", "--data", "none.csv", "--baseline", "zero", "--method", "gradient")
    assert words in one_sentence(assay("explain", *arguments, "--out", out))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_several_results_do_not_fit_standard_output(explain, one_sentence):
    assert "one result" in one_sentence(explain("--method", "gradient,lime", "--out", "-"))


@pytest.mark.parametrize(
    "arguments",
    ["--baseline zero --background pool:3", "--value logit", "--pool-split half", "--show -1", "--method", "--target"],
)
def test_bad_usage(explain, arguments):
    result = explain("--method", "gradient", *arguments.split())
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("assay: ") and result.stderr.count("\n") == 1
