"""`assay reasons`: what speaks against or for a decision, by row, from a file of explanations and from a study."""

import csv
import io
import json
import shutil
import subprocess

import numpy as np
import pytest

COLUMNS = [
    "rank",
    "feature",
    "value",
    "direction",
    "attribution",
    "share",
    "certainty",
    "order_certainty",
    "agreement",
    "withheld",
    "text",
]
BOOSTER = "tests/fixtures/trees/xgboost_categories"


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def made(program, root, tmp_path_factory):
    """A booster's rows explained against 5 of 8 rows of a pool, with replicates."""
    folder = tmp_path_factory.mktemp("reasons")
    source = root / BOOSTER
    for name in ("model.json", "rows.csv", "background.csv"):
        shutil.copy(source / name, folder / name)

    def run(*arguments):
        return subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)

    result = run(
        *("explain", "--model", "model.json", "--data", "rows.csv", "--pool", "background.csv"),
        *("--background", "pool:5", "--method", "tree_shap", "--replicates", "200", "--out", "e.npz", "--target", "0"),
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "; 200 replicates" in result.stdout
    return folder, run


def refused(result):
    assert result.returncode == 1 and result.stdout == "" and result.stderr.startswith("assay: ")
    assert result.stderr.count("\n") == 1
    return result.stderr[len("assay: ") : -1]


def test_reasons_are_the_lowest_values_of_the_file(made):
    folder, run = made
    result = run("reasons", "e.npz", "--data", "rows.csv", "--top", "2", "--against", "--out", "reasons.csv")
    assert (result.returncode, result.stderr) == (0, "")
    lines = lines_of((folder / "reasons.csv").read_text())
    assert list(lines[0]) == ["row", *COLUMNS]
    with np.load(folder / "e.npz") as file:
        values, features = file["values"], list(file["features"])
        replicates = file["replicates"].reshape(len(values), 200, -1)
        rise = file["output"] - file["base"]
    table = lines_of((folder / "rows.csv").read_text())
    for row, own in enumerate(values):
        found = [line for line in lines if line["row"] == str(row + 1)]
        expected = [j for j in np.argsort(own, kind="stable") if own[j] < -1e-6][:2]
        assert [line["feature"] for line in found] == [features[j] for j in expected]
        for rank, (line, j) in enumerate(zip(found, expected, strict=True), start=1):
            assert (int(line["rank"]), line["direction"]) == (rank, "against")
            assert float(line["attribution"]) == pytest.approx(own[j], rel=1e-6)
            assert float(line["share"]) == pytest.approx(own[j] / rise[row], rel=1e-5)
            # Counted by hand over the replicates; nothing ties here.
            order = np.argsort(replicates[row], axis=1)[:, :2]
            named = (order == j) & (np.take_along_axis(replicates[row], order, axis=1) < -1e-6)
            assert float(line["certainty"]) == pytest.approx(named.any(axis=1).mean(), abs=1e-6)
            assert float(line["order_certainty"]) == pytest.approx(named[:, rank - 1].mean(), abs=1e-6)
            cell = table[row][line["feature"]]
            assert line["value"] == (cell or "missing") or float(line["value"]) == float(cell)
            assert line["agreement"] == "" and line["withheld"] == ""
            assert features[j] in line["text"]
    assert "wrote reasons.csv" in result.stdout and "note: certainty is the share of 200 replicates" in result.stdout
    assert "do not say how sure the model itself is" in result.stdout


def test_the_other_way_and_the_other_formats(made, arrow_plugin):
    folder, run = made
    out = run("reasons", "e.npz", "--data", "rows.csv", "--for", "--top", "1", "--out", "-")
    table = lines_of(out.stdout)
    assert {line["direction"] for line in table} == {"for"} and all(float(line["attribution"]) > 0 for line in table)
    assert "note: " in out.stderr
    for name in ("r.json", "r.parquet", "r.tsv"):
        result = run("--quiet", "reasons", "e.npz", "--data", "rows.csv", "--for", "--top", "1", "--out", name)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), name
    document = json.loads((folder / "r.json").read_text())
    assert [line["feature"] for line in document["reasons"]] == [line["feature"] for line in table]
    back = run("data", "r.parquet", "--out", "-")
    assert [line["feature"] for line in lines_of(back.stdout)] == [line["feature"] for line in table]
    printed = run("--json", "reasons", "e.npz", "--data", "rows.csv", "--for", "--top", "1")
    assert json.loads(printed.stdout)["reasons"] == document["reasons"]
    summary = run("--json", "reasons", "e.npz", "--for", "--top", "1", "--out", "s.csv")
    assert json.loads(summary.stdout)["replicates"] == 200


def test_groups_exclusions_and_templates(made):
    folder, run = made
    (folder / "groups.json").write_text('{"<b>looks</b>": ["colour", "size"]}')
    (folder / "words.json").write_text('{"against": "{rank}: {feature} = {value} ({share})"}')
    result = run(
        *("reasons", "e.npz", "--data", "rows.csv", "--groups", "groups.json", "--exclude", "weight,age"),
        *("--template", "words.json", "--out", "-"),
    )
    assert result.returncode == 0, result.stderr
    lines = lines_of(result.stdout)
    assert {line["feature"] for line in lines} <= {"<b>looks</b>", "score", ""}
    assert any("weight" in line["withheld"].split("; ") for line in lines)
    looks = next(line for line in lines if line["feature"] == "<b>looks</b>")
    assert looks["value"].startswith("colour ") and ", size " in looks["value"]
    assert looks["text"].startswith(f"{looks['rank']}: <b>looks</b> = colour ")
    for line in lines:
        assert (line["rank"] == "0") == (line["feature"] == "") and (line["rank"] != "0" or line["withheld"])


def test_uncertain_rows_are_counted_and_can_be_listed(made):
    _, run = made
    everything = lines_of(run("--quiet", "reasons", "e.npz", "--out", "-").stdout)
    level = 0.95
    uncertain = {line["row"] for line in everything if float(line["certainty"]) < level}
    assert 0 < len(uncertain) < 12
    result = run("reasons", "e.npz", "--certain", level, "--uncertain", "--out", "-")
    assert {line["row"] for line in lines_of(result.stdout)} == uncertain
    assert f"{len(uncertain)} of 12 rows have a reason that is not certain at 95 %" in result.stderr


def test_certainty_is_not_invented(made):
    _, run = made
    explain = ("explain", "--model", "model.json", "--data", "rows.csv", "--method", "tree_shap", "--target", "0")
    run(*explain, "--pool", "background.csv", "--background", "pool:5", "--out", "drawn.npz")
    run(*explain, "--background", "background.csv", "--out", "own.npz")
    drawn = run("reasons", "drawn.npz", "--out", "-")
    assert {line["certainty"] for line in lines_of(drawn.stdout)} == {""}
    assert "certainty is not known: the background's rows were drawn" in drawn.stderr
    assert "is not certain at" not in drawn.stderr
    own = run("reasons", "own.npz", "--out", "-")
    assert {line["certainty"] for line in lines_of(own.stdout)} == {"1"}
    assert "note: no draw is in these values (reference: all 8 rows of background.csv)" in own.stderr
    assert "--uncertain: certainty is not known" in refused(run("reasons", "drawn.npz", "--uncertain"))
    # Files of other formats keep no replicates, and do not say whether something was drawn.
    run(*explain, "--background", "background.csv", "--out", "own.csv")
    table = run("reasons", "own.csv", "--out", "-")
    assert {line["certainty"] for line in lines_of(table.stdout)} == {""}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nothing.npz",), "nothing.npz: expected the folder of a study, or a file of explanations, found nothing"),
        (("e.npz", "--model", "model.json"), "--model is of no use for a file of explanations"),
        (("e.npz", "--background", "approved"), "--background is of no use for a file"),
        (("e.npz", "--explanation", "lime"), "--explanation is of no use for a file"),
        (("e.npz", "--pool", "background.csv"), "--pool is of no use without --data"),
        (
            ("e.npz", "--data", "background.csv"),
            "--data: expected the 12 rows that 'e.npz' explains, found 'background",
        ),
        (("e.npz", "--exclude", "wieght"), "--exclude: expected names of features, found 'wieght' (did you mean 'wei"),
        (("e.npz", "--exclude", ""), "--exclude"),
        (("e.npz", "--groups", "bad.json"), "bad.json, group 'a': expected columns of the rows, found 'nobody'"),
        (("e.npz", "--template", "bad.json"), "bad.json: expected against, for, features or values, found 'a'"),
        (("e.npz", "--template", "{}.json"), "{}.json: cannot open"),
        (("e.npz", "--out", "r.npz"), "r.npz: expected a name that ends in .csv, .tsv, .parquet, .feather or .json"),
        (("e.npz", "--out", "no/r.csv"), "no/r.csv: "),
        (("e.npz", "--out", "bad.json", "--groups", "bad.json"), "--out: "),
    ],
)
def test_refuses(made, arguments, expected):
    folder, run = made
    (folder / "bad.json").write_text('{"a": ["nobody"]}')
    before = sorted(path.name for path in folder.iterdir())
    assert refused(run("reasons", *arguments)).startswith(expected)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_bad_usage_is_one_sentence(made):
    _, run = made
    for wrong in (
        ["--top", "0"],
        ["--certain", "1.5"],
        ["--certain", "nan"],
        ["--against", "--for"],
        ["--replicates", "x"],
    ):
        result = run("reasons", "e.npz", *wrong)
        assert (result.returncode, result.stdout) == (2, "") and result.stderr.count("\n") == 1, wrong
    result = run("--json", "reasons", "e.npz", "--out", "-")
    assert result.returncode == 1 and "--out" in result.stderr


def test_replicates_go_into_npz_alone(made):
    folder, run = made
    explain = ("explain", "--model", "model.json", "--data", "rows.csv", "--method", "tree_shap", "--target", "0")
    pool = ("--pool", "background.csv", "--background", "pool:5")
    for out in ([], ["--out", "-"], ["--out", "x.csv"]):
        assert "--replicates: expected --out with a name that ends in .npz" in refused(
            run(*explain, *pool, "--replicates", "9", *out)
        )
    too_many = refused(run(*explain, *pool, "--replicates", "99999999", "--out", "x.npz"))
    assert too_many.startswith("--replicates: expected at most 1,118,481 for 12 rows and 5 features")
    assert not (folder / "x.npz").exists()


def test_damaged_replicates_are_refused(made):
    folder, run = made
    with np.load(folder / "e.npz") as file:
        arrays = dict(file)
    for name, wrong in {
        "narrow": arrays["replicates"][:, :-1],
        "short": arrays["replicates"][:-1],
        "flat": arrays["replicates"].ravel(),
        "empty": arrays["replicates"][:, :0],
        "text": np.full(arrays["replicates"].shape, "a"),
    }.items():
        np.savez(folder / "damaged.npz", **{**arrays, "replicates": wrong})
        assert refused(run("reasons", "damaged.npz")).startswith("damaged.npz, array 'replicates'"), name
    whole = (folder / "e.npz").read_bytes()
    (folder / "damaged.npz").write_bytes(whole[: len(whole) // 2])
    assert refused(run("reasons", "damaged.npz")).startswith("damaged.npz")
    (folder / "damaged.npz").unlink()


def test_a_file_of_some_rows_finds_them_in_the_table(made):
    folder, run = made
    run(
        *("explain", "--model", "model.json", "--data", "rows.csv", "--rows", "3,7", "--method", "tree_shap"),
        *("--background", "background.csv", "--out", "some.npz", "--target", "0"),
    )
    lines = lines_of(run("reasons", "some.npz", "--data", "rows.csv", "--out", "-").stdout)
    assert [line["row"] for line in lines] and {line["row"] for line in lines} == {"3", "7"}
    table = lines_of((folder / "rows.csv").read_text())
    for line in lines:
        cell = table[int(line["row"]) - 1][line["feature"]]
        assert line["value"] == (cell or "missing") or float(line["value"]) == float(cell)


@pytest.fixture(scope="module")
def study(program, tmp_path_factory):
    """A small study of two classes of iris, with names that try to be more than text."""
    folder = tmp_path_factory.mktemp("study")
    result = subprocess.run(
        [program, "data", "iris", "--out", "iris.csv"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    rows = [line for line in (folder / "iris.csv").read_text().splitlines() if "setosa" not in line]
    header = rows[0].replace("sepal_width", "<i>width</i>")
    (folder / "pool.csv").write_text("\n".join([header, *rows[1:90]]) + "\n")
    (folder / "rows.csv").write_text("\n".join([header, *rows[90:]]) + "\n")

    def run(*arguments):
        return subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)

    made = run(
        *("study", "--data", "rows.csv", "--pool", "pool.csv", "--label", "species", "--out", "study"),
        *("--methods", "exact_shapley,integrated_gradients,occlusion,gradient", "--aggregators", "mean"),
        *("--no-curves", "--no-variations"),
    )
    assert made.returncode == 0, made.stderr
    return folder, run


def test_a_study_gives_reasons_by_what_it_recommends(study):
    folder, run = study
    result = run("reasons", "study", "--top", "2", "--out", "r.csv")
    assert (result.returncode, result.stderr) == (0, "")
    recommended = json.loads((folder / "study/study.json").read_text())["advice"]["recommended"]["overall"][
        "explanation"
    ]
    assert f"note: reasons are by {recommended}, which the study recommends" in result.stdout
    assert "note: they are against all 89 rows of pool.csv" in result.stdout
    assert "no draw is in these values" in result.stdout
    lines = lines_of((folder / "r.csv").read_text())
    assert all(line["certainty"] == "1" for line in lines)
    table = lines_of((folder / "rows.csv").read_text())
    # Against the whole pool, computed by another command.
    explained = run(
        *("explain", "--model", "study/model.onnx", "--data", "rows.csv", "--background", "pool.csv"),
        *("--method", recommended, "--out", "again.npz"),
    )
    assert explained.returncode == 0, explained.stderr
    with np.load(folder / "again.npz") as file:
        values, features = file["values"], list(file["features"])
    for line in lines:
        row = int(line["row"]) - 1
        assert float(line["value"]) == float(table[row][line["feature"]]), "in the user's units"
        assert float(line["attribution"]) == pytest.approx(values[row][features.index(line["feature"])], rel=1e-5)
        assert 0 <= float(line["agreement"]) <= 1
    assert "note: agreement is over " in result.stdout


def test_agreement_is_against_the_same_rows(study):
    """Reasons that the chosen method itself has are not disagreed with for another background."""
    folder, run = study
    found = run("reasons", "study", "--top", "2", "--background", "pool:7", "--out", "-")
    assert found.returncode == 0, found.stderr
    study_json = json.loads((folder / "study/study.json").read_text())
    count = next(line for line in found.stderr.splitlines() if "agreement is over" in line).count(" and ") + 1
    assert count >= 2 and study_json["advice"]["recommended"]
    # The chosen method is one of those that are counted, so that each of its reasons has at least its own vote.
    assert min(float(line["agreement"]) for line in lines_of(found.stdout)) > 0


def test_nothing_is_written_into_the_study(study):
    folder, run = study
    before = (folder / "study/study.json").read_bytes()
    for name in ("study/study.json", "study/new.csv", "./study/../study/report.html"):
        assert "expected a file outside of the study's folder 'study'" in refused(
            run("reasons", "study", "--out", name)
        )
    assert (folder / "study/study.json").read_bytes() == before


def test_rows_of_one_id_keep_their_own_values(made):
    folder, run = made
    lines = (folder / "rows.csv").read_text().splitlines()
    ids = ["who", *(str(1000 + i // 2) for i in range(len(lines) - 1))]
    (folder / "twice.csv").write_text("\n".join(f"{a},{b}" for a, b in zip(ids, lines, strict=True)) + "\n")
    explained = run(
        *("explain", "--model", "model.json", "--data", "twice.csv", "--id", "who", "--method", "tree_shap"),
        *("--background", "background.csv", "--out", "twice.npz", "--target", "0"),
    )
    assert explained.returncode == 0, explained.stderr
    found = lines_of(run("reasons", "twice.npz", "--data", "twice.csv", "--top", "9", "--out", "-").stdout)
    plain = run(
        *("explain", "--model", "model.json", "--data", "rows.csv", "--method", "tree_shap"),
        *("--background", "background.csv", "--out", "plain.npz", "--target", "0"),
    )
    assert plain.returncode == 0
    expected = lines_of(run("reasons", "plain.npz", "--data", "rows.csv", "--top", "9", "--out", "-").stdout)
    assert [line["value"] for line in found] == [line["value"] for line in expected]
    turned = [f"{a},{b}" for a, b in zip(ids, lines, strict=True)]
    (folder / "turned.csv").write_text("\n".join([turned[0], *turned[:0:-1]]) + "\n")
    assert "--data: expected each id once" in refused(run("reasons", "twice.npz", "--data", "turned.csv"))


def test_a_column_called_row_holds_ids(made):
    folder, run = made
    lines = (folder / "rows.csv").read_text().splitlines()
    order = list(range(len(lines) - 1, 0, -1))
    (folder / "called.csv").write_text("\n".join(["row," + lines[0], *(f"{i},{lines[i]}" for i in order)]) + "\n")
    explained = run(
        *("explain", "--model", "model.json", "--data", "called.csv", "--id", "row", "--method", "tree_shap"),
        *("--background", "background.csv", "--out", "called.npz", "--target", "0"),
    )
    assert explained.returncode == 0, explained.stderr
    table = {line["row"]: line for line in lines_of((folder / "called.csv").read_text())}
    found = lines_of(run("reasons", "called.npz", "--data", "called.csv", "--top", "1", "--out", "-").stdout)
    for line in found:
        cell = table[line.get("row", line.get("id"))][line["feature"]]
        assert line["value"] == (cell or "missing") or float(line["value"]) == float(cell)


def test_numbers_of_rows_are_no_cells_of_a_column_called_row(made):
    folder, run = made
    lines = (folder / "rows.csv").read_text().splitlines()
    count = len(lines) - 1
    called = ["row," + lines[0], *(f"{count - i},{line}" for i, line in enumerate(lines[1:]))]  # counts down
    (folder / "down.csv").write_text("\n".join(called) + "\n")
    explain = ("explain", "--model", "model.json", "--method", "tree_shap", "--background", "background.csv")
    explain += ("--target", "0", "--rows", "2-6", "--data")
    for data, out in (("down.csv", "down.npz"), ("rows.csv", "up.npz"), ("down.csv", "down.csv.e.csv")):
        assert run(*explain, data, "--out", out).returncode == 0
    columns = ("row", "rank", "feature", "value")
    expected, found = (
        [[line[name] for name in columns] for line in lines_of(run("reasons", *words, "--out", "-").stdout)]
        for words in (("up.npz", "--data", "rows.csv"), ("down.npz", "--data", "down.csv"))
    )
    assert found == expected and len({line[0] for line in found}) > 1
    # A table of explanations does not say whose numbers they are.
    sentence = "--id: expected row, if that column of 'down.csv' holds the ids of 'down.csv.e.csv'"
    assert sentence in refused(run("reasons", "down.csv.e.csv", "--data", "down.csv"))


def test_rows_with_ids_are_not_joined_by_position(made):
    folder, run = made
    lines = (folder / "rows.csv").read_text().splitlines()
    ids = [f"c{i}" for i in range(len(lines) - 1)]
    (folder / "named.csv").write_text("\n".join(f"{a},{b}" for a, b in zip(["who", *ids], lines, strict=True)) + "\n")
    explained = run(
        *("explain", "--model", "model.json", "--data", "named.csv", "--id", "who", "--method", "tree_shap"),
        *("--background", "background.csv", "--out", "named.npz", "--target", "0"),
    )
    assert explained.returncode == 0, explained.stderr
    assert refused(run("reasons", "named.npz", "--data", "rows.csv")) == (
        "--id: expected the column of 'rows.csv' with the ids of 'named.npz', such as 'c0', found none"
    )
    # Attributions made elsewhere, with a column of numbers that name rows: it is no feature.
    (folder / "elsewhere.csv").write_text("customer,age,debt\n12,0.5,-0.25\n11,0.75,-0.5\n")
    (folder / "customers.csv").write_text("customer,age,debt\n11,30,4\n12,40,5\n")
    assert refused(run("reasons", "elsewhere.csv", "--data", "customers.csv", "--id", "customer")) == (
        "elsewhere.csv: expected attributions without the column 'customer', which names rows, found it among the "
        "features"
    )


def test_numbers_of_rows_are_those_of_the_part(study):
    _, run = study
    explain = ("explain", "--model", "study/model.onnx", "--data", "pool.csv", "--split", "test", "--label", "species")
    made = run(*explain, "--method", "occlusion", "--baseline", "zero", "--out", "part.npz")
    assert made.returncode == 0, made.stderr
    assert "--split: expected test, for 'part.npz' is of 'pool.csv (test part)', found all" in refused(
        run("reasons", "part.npz", "--data", "pool.csv")
    )
    right = ("--data", "pool.csv", "--split", "test", "--label", "species")
    assert run("reasons", "part.npz", *right).returncode == 0


def test_a_sample_of_a_pool_is_a_draw_of_all_of_it(study):
    _, run = study
    explain = ("explain", "--model", "study/model.onnx", "--data", "rows.csv", "--pool", "pool.csv")
    explain += ("--label", "species", "--method", "occlusion", "--pool-sample", "30", "--background", "spread:30")
    made = run(*explain, "--replicates", "50", "--out", "sampled.npz")
    assert made.returncode == 0, made.stderr
    found = run("reasons", "sampled.npz", "--out", "-")
    assert "certainty is the share of 50 replicates" in found.stderr


def test_a_study_with_a_drawn_background_has_replicates(study):
    _, run = study
    one = run("reasons", "study", "--background", "pool:20", "--replicates", "100", "--out", "-")
    assert one.returncode == 0, one.stderr
    assert "certainty is the share of 100 replicates" in one.stderr and "they are against 20 rows of" in one.stderr
    again = run("--threads", "3", "reasons", "study", "--background", "pool:20", "--replicates", "100", "--out", "-")
    assert again.stdout == one.stdout
    named = run("reasons", "study", "--explanation", "occlusion", "--background", "spread:30", "--out", "-")
    assert named.returncode == 0 and "reasons are by occlusion, as asked" in named.stderr
    assert {line["share"] for line in lines_of(named.stdout)} == {""}, "occlusion does not add up"


def test_approved_rows_are_those_predicted_to_be_the_class(study):
    folder, run = study
    predicted = run("predict", "--model", "study/model.onnx", "--data", "pool.csv", "--out", "p.csv")
    assert predicted.returncode == 0, predicted.stderr
    scores = [list(map(float, line.values())) for line in lines_of((folder / "p.csv").read_text())]
    labels = [("versicolor", "virginica")[int(np.argmax(each))] for each in scores]
    target = json.loads((folder / "study/study.json").read_text())["facts"]["target"]
    against = run("reasons", "study", "--background", "approved", "--out", "-")
    assert f"against all {labels.count(target)} rows of pool.csv that are predicted to be {target}" in against.stderr
    other = run("reasons", "study", "--background", "approved", "--for", "--out", "-")
    assert f"all {len(labels) - labels.count(target)} rows of pool.csv that are predicted to be other" in other.stderr


def test_refusals_of_studies(study, tmp_path):
    folder, run = study
    assert "--label is of no use for a study" in refused(run("reasons", "study", "--label", "species"))
    assert refused(run("reasons", "study", "--explanation", "mean")).startswith(
        "--explanation: expected a method, found the aggregate 'mean'"
    )
    assert "--explanation: expected exact_shapley" in refused(run("reasons", "study", "--explanation", "lime"))
    assert "has no such file" in refused(run("reasons", "study", "--model", "rows.csv"))
    (folder / "empty").mkdir(exist_ok=True)
    assert refused(run("reasons", "empty")).startswith("empty")
    moved = folder / "moved.csv"
    (folder / "rows.csv").rename(moved)
    try:
        assert "--data: expected a file that is there" in refused(run("reasons", "study"))
        assert run("--quiet", "reasons", "study", "--data", "moved.csv", "--out", "m.csv").returncode == 0
        (folder / "rows.csv").write_text(moved.read_text().replace("5.8", "5.7"))
        assert "has changed since the study was made" in refused(run("reasons", "study"))
    finally:
        moved.rename(folder / "rows.csv")
    shutil.copytree(folder / "study", folder / "bare", dirs_exist_ok=True)
    (folder / "bare" / "model.onnx").unlink()
    assert "bare/model.onnx: expected the model that the study trained, found nothing" in refused(
        run("reasons", "bare")
    )


def test_approved_needs_one_class(iris, assay):
    folder, _ = iris
    result = assay("reasons", folder, "--background", "approved")
    assert refused(result).startswith("--background approved: expected one class that is explained for all rows")
