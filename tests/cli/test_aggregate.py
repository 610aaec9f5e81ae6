"""`assay aggregate` and `assay list aggregators` through the program: results worked out beside it, and their files."""

import csv
import json
import subprocess

import numpy as np
import pytest

METHODS = ("exact_shapley", "gradient_x_input", "occlusion")
SIMPLER = (
    "gradient_descent_style",
    "region_shrinking",
    "shrink_then_descend",
    "minimum_complexity",
    "closest_simple",
)


@pytest.fixture(scope="module")
def made(program, folder, tmp_path_factory):
    """A folder with explanations of the test rows (exact_shapley.npz, ...) and of the training rows (pool.*.npz)."""
    where = tmp_path_factory.mktemp("members")
    explain = ("explain", "--model", folder / "m.onnx", "--label", "species", "--baseline", "zero")
    for data, name in (("test.csv", "phi.npz"), ("train.csv", "pool.npz")):
        command = [program, "--quiet", *explain, "--data", folder / data, "--method", ",".join(METHODS), "--out", name]
        subprocess.run(command, cwd=where, check=True)
    return where


@pytest.fixture
def phi(made, load):
    """The members' attributions in float64, methods x rows x players."""
    return np.array([load(made / f"phi.{method}.npz")["values"] for method in METHODS], dtype=float)


@pytest.fixture
def aggregate(assay, made):
    """aggregate(aggregator, *arguments) combines the three members and gives what --json prints."""

    def run(aggregator, *arguments, members=METHODS, before=()):
        files = ",".join(str(made / f"phi.{method}.npz") for method in members)
        command = ("--json", *before, "aggregate", "--members", files, "--aggregator", aggregator, *arguments)
        result = assay(*command)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run


@pytest.fixture
def rows(folder):
    """What says the model, rows and pool that the members came from."""
    files = ("--model", folder / "m.onnx", "--data", folder / "test.csv", "--pool", folder / "train.csv")
    return (*files, "--label", "species", "--baseline", "zero")


@pytest.fixture
def listed(assay):
    return json.loads(assay("list", "aggregators", "--json").stdout)["aggregators"]


def unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def entropy(values):
    share = np.abs(values) / np.abs(values).sum(axis=-1, keepdims=True)
    return -(share * np.log(np.where(share > 0, share, 1))).sum(axis=-1)


def places(values):
    """Ranks of sizes, 1 for the largest; no two sizes are equal here."""
    return (-np.abs(values)).argsort(axis=-1).argsort(axis=-1) + 1


def test_every_aggregator_has_a_result(aggregate, listed, rows, phi, load, tmp_path):
    assert {"mean", "ava", *SIMPLER} <= {each["name"] for each in listed}
    for each in listed:
        name = each["name"]
        out, pool_out = f"{name}.npz", f"{name}.pool.npz"
        members = METHODS[:1] if name == "ava" else METHODS
        files = ("--out", out, "--pool-out", pool_out)
        (result,) = aggregate(name, *rows, *files, members=members)["results"]
        assert (result["out"], result["pool_out"], result["aggregator"]) == (out, pool_out, name)
        assert result["members"] == list(members) and result["rows"] == 30 and result["pool_rows"] == 120, name
        found, pool = load(tmp_path / out), load(tmp_path / pool_out)
        undefined = np.isnan(found["values"]).any(axis=1).sum()
        assert found["values"].shape == (30, 4) and pool["values"].shape == (120, 4), name
        assert undefined == sum(reason["rows"] for reason in result["undefined"]) == 0, name
        assert not np.isnan(pool["values"]).any(), name
        measures = result["measures"]
        assert measures["norm"]["values"] == pytest.approx(np.linalg.norm(found["values"].astype(float), axis=1)), name
        values = found["values"].astype(float)
        assert result["complexity"]["values"] == pytest.approx(entropy(values), abs=1e-6), name
        expected = (unit(phi) if name != "ava" else phi)[: len(members)].mean(axis=0)
        cosine = (expected * values).sum(axis=1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(values, axis=1)
        assert measures["cosine"]["values"] == pytest.approx(cosine, abs=1e-5), name
        if name in SIMPLER:
            assert (entropy(values) <= entropy(phi).min(axis=0) + 1e-6).all(), name


def test_mean_median_and_weights(aggregate, phi, load, tmp_path):
    aggregate("mean,median,convex:weights=[0.5,0.25,0.25]", "--out", "a.npz")
    expected = {
        "mean": unit(phi).mean(axis=0),
        "median": np.median(unit(phi), axis=0),
        "convex": np.tensordot([0.5, 0.25, 0.25], unit(phi), axes=1),
    }
    for name, values in expected.items():
        assert load(tmp_path / f"a.{name}.npz")["values"] == pytest.approx(values, abs=1e-6), name


def test_borda_counts_places(aggregate, phi, load, tmp_path):
    aggregate("borda", "--out", "b.npz")
    expected = ((4 + 1 - places(phi)) / 4).mean(axis=0)
    assert load(tmp_path / "b.npz")["values"] == pytest.approx(expected, abs=1e-6)


def test_the_command_of_the_issue(assay, made, load, tmp_path):
    members = ",".join(str(made / f"phi.{method}.npz") for method in METHODS)
    result = assay("aggregate", "--members", members, "--aggregator", "region_shrinking:rounds=10", "--out", "agg.npz")
    assert (result.returncode, result.stderr) == (0, "")
    head, *lines = result.stdout.splitlines()
    assert head.startswith("region_shrinking:rounds=10 of exact_shapley, gradient_x_input and occlusion: margin of ")
    assert "... 25 more rows (--show sets how many are shown)" in lines
    (columns,) = [line.split() for line in lines if line.startswith("mean over rows")]
    assert columns[3:6] == ["complexity", "norm", "cosine"]
    named = {line.split()[0]: line.split() for line in lines if line.split()[0] in (*METHODS, "region_shrinking")}
    assert float(named["region_shrinking"][1]) < min(float(named[method][1]) for method in METHODS)
    assert "note: relative, does not add up to the score" in lines and lines[-1] == "wrote agg.npz"
    found = load(tmp_path / "agg.npz")
    meta = json.loads(found["meta"].item())
    assert meta["method"] == "region_shrinking" and meta["options"]["rounds"] == "10"
    assert meta["aggregate"] == {"members": list(METHODS), "relative": True}
    assert found["weights"] == pytest.approx(np.abs(found["weights"])) and found["weights"].shape == (30, 3)
    assert found["weights"].sum(axis=1) == pytest.approx(np.ones(30), abs=1e-5)
    assert {"norm", "cosine"} <= {str(name) for name in found["measure_names"]}


def test_quiet_prints_results_alone(assay, made):
    command = ("--members", made / "phi.occlusion.npz", "--aggregator", "mean")
    assert assay("--quiet", "aggregate", *command, "--out", "a.npz").stdout == ""
    shown = assay("--quiet", "aggregate", *command, "--show", "2").stdout
    assert "note:" not in shown and len([line for line in shown.splitlines() if line[:1].isdigit()]) == 2


def test_members_made_elsewhere(assay, aggregate, made, phi, load, tmp_path):
    """The same numbers as .npy, as a table and as one array in .npz."""
    np.save(tmp_path / "a.npy", phi[0].astype(np.float32))
    np.savetxt(tmp_path / "b.csv", phi[1].astype(np.float32), delimiter=",", fmt="%.9g", header="p,q,r,s", comments="")
    np.savez(tmp_path / "c.npz", phi[2].astype(np.float32))
    files = ("--members", "a.npy,b.csv,c.npz", "--aggregator", "mean")
    result = assay("--json", "aggregate", *files, "--out", "bare.npz")
    assert (result.returncode, result.stderr) == (0, "")
    (about,) = json.loads(result.stdout)["results"]
    assert about["members"] == ["a", "b", "c"] and about["unit"] is None and about["players"] == list("pqrs")
    aggregate("mean", "--out", "named.npz")
    assert load(tmp_path / "bare.npz")["values"] == pytest.approx(load(tmp_path / "named.npz")["values"], abs=1e-7)
    # Beside one that says what it explains, the others are of the same.
    mixed = f"a.npy,{made / 'phi.gradient_x_input.npz'}"
    result = assay("--json", "aggregate", "--members", mixed, "--aggregator", "mean", "--out", "mixed.npz")
    assert result.returncode == 0 and json.loads(result.stdout)["results"][0]["members"] == [
        "a",
        "phi.gradient_x_input",
    ]
    mixed = load(tmp_path / "mixed.npz")
    assert (mixed["target"] == load(made / "phi.gradient_x_input.npz")["target"]).all()


@pytest.mark.parametrize("noise", [3e-17, 1e-8])
def test_noise_in_files_is_not_scaled(assay, made, phi, load, tmp_path, noise):
    """What a solve leaves of 0, in files made elsewhere, beside a member that says its outputs and bases."""
    values = phi[0].astype(np.float32)
    values[1] = noise * np.array([1, -1, 1, -1])
    np.save(tmp_path / "a.npy", values)
    np.savetxt(
        tmp_path / "b.csv",
        values,
        delimiter=",",
        header="sepal_length,sepal_width,petal_length,petal_width",
        comments="",
        fmt="%.9g",
    )
    said = dict(load(made / "phi.exact_shapley.npz"))
    said["base"][1] = said["output"][1]  # nothing to be explained
    np.savez(tmp_path / "other.npz", **said)
    for name in ("a.npy", "b.csv"):
        command = ("aggregate", "--members", f"{name},other.npz", "--aggregator", "mean", "--out", "m.npz")
        result = assay(*command)
        assert f"1 of 30 rows of {name[0]} are zero up to rounding" in result.stdout
        mean = load(tmp_path / "m.npz")["values"]
        np.testing.assert_allclose(mean[1], unit(phi[0])[1] / 2, atol=1e-6)
        np.testing.assert_allclose(mean[0], unit(phi[0])[0], atol=1e-6)
        # Where there is something to explain, small values are no noise.
        other = made / "phi.exact_shapley.npz"
        result = assay("aggregate", "--members", f"{name},{other}", "--aggregator", "mean", "--out", "m.npz")
        assert result.returncode == 0 and "up to rounding" not in result.stdout
        expected = (np.array([1, -1, 1, -1]) / 2 + unit(phi[0])[1]) / 2
        np.testing.assert_allclose(load(tmp_path / "m.npz")["values"][1], expected, atol=1e-6)


def test_arrays_learn_from_the_model_what_they_are(assay, rows, made, phi, load, tmp_path):
    np.save(tmp_path / "a.npy", phi[0].astype(np.float32))
    np.save(tmp_path / "b.npy", phi[1].astype(np.float32))
    command = ("aggregate", "--members", "a.npy,b.npy", "--aggregator", "mean", "--out", "m.npz", *rows)
    assert assay(*command).returncode == 0
    found = load(tmp_path / "m.npz")
    meta = json.loads(found["meta"].item())
    assert meta["unit"] == "margin" and meta["model"].endswith("m.onnx")
    assert (found["target"] == load(made / "phi.exact_shapley.npz")["target"]).all()
    assert str(found["features"][0]) == "sepal_length"


def test_names_of_members(aggregate, assay, made):
    assert aggregate("mean", "--member-names", "x,y,z")["results"][0]["members"] == ["x", "y", "z"]
    # Alike by method: by file.
    files = f"{made / 'phi.occlusion.npz'},{made / 'pool.occlusion.npz'}"
    result = assay("aggregate", "--members", files, "--aggregator", "mean")
    assert result.returncode == 1 and "pool.occlusion.npz: expected 30 rows, as '" in result.stderr
    again = made / "again.npz"
    again.write_bytes((made / "phi.occlusion.npz").read_bytes())
    result = assay("--json", "aggregate", "--members", f"{made / 'phi.occlusion.npz'},{again}", "--aggregator", "mean")
    assert json.loads(result.stdout)["results"][0]["members"] == ["phi.occlusion", "again"]


def test_scaled_to_the_output(aggregate, load, tmp_path):
    (result,) = aggregate("mean:scale=output", "--out", "s.npz", members=METHODS[:1] + METHODS[2:])["results"]
    found = load(tmp_path / "s.npz")
    assert result["relative"] is False and result["notes"] == []
    assert found["values"].sum(axis=1) == pytest.approx(found["output"] - found["base"], abs=1e-4)
    assert found["gap"] == pytest.approx(np.zeros(30), abs=1e-4)


def test_arrays_are_scaled_to_the_model(assay, rows, phi, made, load, tmp_path):
    """Arrays say no output and base: those of the model, and of the reference, are in their place."""
    np.save(tmp_path / "a.npy", phi[0].astype(np.float32))
    np.save(tmp_path / "b.npy", phi[2].astype(np.float32))
    command = ("--json", "aggregate", "--members", "a.npy,b.npy", "--aggregator", "mean:scale=output", *rows)
    result = assay(*command, "--out", "s.npz")
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert document["results"][0]["undefined"] == [] and document["results"][0]["reference"] == "zero"
    (note,) = document["notes"]
    assert note.startswith("the members say no output and base: those of ")
    assert note.endswith("m.onnx and of its reference (zero) are used")
    found, own = load(tmp_path / "s.npz"), load(made / "phi.exact_shapley.npz")
    for array in ("output", "base"):
        assert found[array] == pytest.approx(own[array], abs=1e-5), array
    assert found["values"].sum(axis=1) == pytest.approx(own["output"] - own["base"], abs=1e-4)
    # Without a scale they are said all the same; without a model nobody knows.
    plain = assay(*(word if word != "mean:scale=output" else "mean" for word in command), "--out", "p.npz")
    assert json.loads(plain.stdout)["notes"] == []
    assert load(tmp_path / "p.npz")["output"] == pytest.approx(own["output"], abs=1e-5)
    alone = json.loads(assay("--json", "aggregate", "--members", "a.npy", "--aggregator", "mean:scale=output").stdout)
    assert alone["results"][0]["undefined"][0]["rows"] == 30


def test_what_a_member_says_holds(assay, folder, phi, made, load, tmp_path):
    """Another reference in use does not take the place of the base that one member says."""
    np.save(tmp_path / "b.npy", phi[2].astype(np.float32))
    members = f"{made / 'phi.exact_shapley.npz'},b.npy"
    files = ("--model", folder / "m.onnx", "--data", folder / "test.csv", "--pool", folder / "train.csv")
    command = ("aggregate", "--members", members, "--aggregator", "mean:scale=output", *files, "--label", "species")
    assert assay(*command, "--out", "s.npz").returncode == 0
    own = load(made / "phi.exact_shapley.npz")
    assert load(tmp_path / "s.npz")["base"] == pytest.approx(own["base"], abs=1e-6)


def test_long_names_are_cut(assay, edit, made, tmp_path):
    edit(made / "phi.occlusion.npz", tmp_path / "long.npz", method="x" * 5000)
    shown = assay("aggregate", "--members", "long.npz", "--aggregator", "mean").stdout
    assert shown.startswith("mean of long: ") and "x" * 61 not in shown
    shown = assay("aggregate", "--members", "long.npz", "--member-names", "y" * 5000, "--aggregator", "mean").stdout
    assert shown.startswith(f"mean of {'y' * 60}...: ") and "y" * 61 not in shown
    # A character is kept whole or not at all.
    shown = assay("aggregate", "--members", "long.npz", "--member-names", "é" * 70, "--aggregator", "mean").stdout
    assert shown.startswith(f"mean of {'é' * 30}...: ")


def test_commas_in_names_of_files(assay, made, tmp_path):
    for name in ("a,b.npz", "b.npz"):
        (tmp_path / name).write_bytes((made / "phi.occlusion.npz").read_bytes())
    command = ("--json", "aggregate", "--aggregator", "mean", "--members", "a,b.npz")
    assert json.loads(assay(*command).stdout)["results"][0]["members"] == ["occlusion"]
    both = json.loads(assay(*command, "--members", "b.npz").stdout)
    assert both["results"][0]["members"] == ["a,b", "b"]
    (tmp_path / "a,b.npz").unlink()
    assert "a: " in assay(*command).stderr


def test_json_without_a_file_holds_the_explanations(aggregate, phi):
    (result,) = aggregate("mean")["results"]
    assert result["out"] is None and result["pool_out"] is None
    values = [row["values"] for row in result["explanations"]["rows"]]
    assert np.array(values) == pytest.approx(unit(phi).mean(axis=0), abs=1e-6)
    expected = {"out", "pool_out", "aggregator", "options", "members", "model", "unit", "target", "data", "reference"}
    expected |= {"rows", "players", "relative", "evaluations", "complexity", "measures", "weights", "antecedents"}
    expected |= {"undefined", "pool_rows", "pool_undefined", "tables", "notes", "explanations"}
    assert set(result) == expected
    assert [each["name"] for each in result["complexity"]["members"]] == list(METHODS)
    assert result["complexity"]["members"][0]["mean"] == pytest.approx(entropy(phi[0]).mean(), abs=1e-6)
    assert result["options"] == {"scale": "relative"} and result["antecedents"] is None


def test_undefined_rows_are_counted(assay, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 2], [np.nan, 1], [3, -1]], dtype=np.float32))
    result = assay("aggregate", "--members", "a.npy", "--aggregator", "mean")
    assert result.returncode == 0 and "1 of 3 rows undefined: " in result.stdout
    assert "2    undefined" in result.stdout


def test_a_table_on_standard_output(assay, made, phi):
    result = assay("aggregate", "--members", made / "phi.occlusion.npz", "--aggregator", "mean", "--out", "-")
    assert result.returncode == 0 and result.stderr.startswith("mean of occlusion: ")
    table = list(csv.DictReader(result.stdout.splitlines()))
    assert [float(row["petal_width"]) for row in table] == pytest.approx(unit(phi[2])[:, 3], abs=1e-6)


def test_the_pool_is_aggregated_alike(assay, aggregate, evaluate, rows, made, load, phi, tmp_path):
    """Sensitivity of the mean: by the files that the program writes, and by those that NumPy does."""
    aggregate("mean", *rows, "--out", "a.npz", "--pool-out", "p.npz")
    pool = np.array([load(made / f"pool.{method}.npz")["values"] for method in METHODS], dtype=float)
    assert load(tmp_path / "p.npz")["values"] == pytest.approx(unit(pool).mean(axis=0), abs=1e-6)
    given = ",".join(str(made / f"pool.{method}.npz") for method in METHODS)
    aggregate("mean", "--pool-members", given, "--out", "b.npz", "--pool-out", "q.npz")
    np.save(tmp_path / "a.npy", unit(phi).mean(axis=0).astype(np.float32))
    np.save(tmp_path / "p.npy", unit(pool).mean(axis=0).astype(np.float32))
    found = {}
    for name, own in (("a.npz", "p.npz"), ("b.npz", "q.npz"), ("a.npy", "p.npy")):
        options = ("--pool-explanations", tmp_path / own, "--criteria", "avg_sensitivity:radius=2:space=raw", "--json")
        result = evaluate(*options, explanations=tmp_path / name)
        assert (result.returncode, result.stderr) == (0, ""), name
        document = json.loads(result.stdout)
        assert document["explanations"][0]["notes"] == [], name
        found[name] = document["scores"][0]["values"]
    for name in ("b.npz", "a.npy"):
        assert found[name] == pytest.approx(found["a.npz"], abs=1e-5), name


def test_an_aggregate_cannot_be_explained_again(evaluate, aggregate, tmp_path):
    aggregate("mean", "--out", "a.npz", members=METHODS[:2])
    shown = evaluate("--baseline", "zero", "--criteria", "complexity,identity", explanations=tmp_path / "a.npz").stdout
    assert "note: an aggregate of exact_shapley and gradient_x_input: it cannot be explained again; " in shown
    result = evaluate("--baseline", "zero", "--criteria", "max_sensitivity", explanations=tmp_path / "a.npz")
    assert result.returncode == 1 and result.stderr == (
        "assay: max_sensitivity needs explanations of the pool's rows, and an aggregate of exact_shapley and "
        "gradient_x_input cannot be explained again: give --pool-explanations (`assay aggregate --pool-out` writes "
        "them)\n"
    )


def test_antecedents_without_members(assay, evaluate, rows, load, tmp_path):
    command = ("aggregate", "--aggregator", "ava:k=3:space=raw:rho=l2", *rows)
    result = assay("--json", *command, "--out", "v.npz", "--pool-out", "w.npz")
    assert (result.returncode, result.stderr) == (0, "")
    (about,) = json.loads(result.stdout)["results"]
    found = load(tmp_path / "v.npz")
    assert about["members"] == ["antecedents"] and about["relative"] is False and about["unit"] == "margin"
    assert np.array(about["antecedents"]).shape == (30, 3) and np.array(about["weights"]).shape == (30, 3)
    assert (np.array(about["antecedents"]) == found["antecedents"].reshape(30, 3) + 1).all()
    antecedents = found["measures"][:, list(found["measure_names"]).index("antecedents_output")]
    assert found["values"].sum(axis=1) == pytest.approx(antecedents - found["base"], abs=1e-4)
    options = ("--pool-explanations", tmp_path / "w.npz", "--baseline", "zero", "--criteria", "avg_sensitivity")
    shown = evaluate(*options, explanations=tmp_path / "v.npz")
    assert (shown.returncode, shown.stderr) == (0, "") and "another reference" not in shown.stdout
    refused = evaluate("--criteria", "avg_sensitivity", explanations=tmp_path / "v.npz").stderr
    assert "an aggregate of antecedents cannot be explained again: give --pool-explanations" in refused


@pytest.mark.parametrize(
    ("split", "pool_split"), [("all", "all"), ("train", "train"), ("train", "test"), ("train", "all"), ("all", "train")]
)
def test_no_row_is_its_own_antecedent(assay, folder, tmp_path, split, pool_split):
    """With as many antecedents as there are rows, each row has all others of the pool and not itself."""
    lines = [*(folder / "train.csv").read_text().splitlines(), *(folder / "test.csv").read_text().splitlines()[1:]]
    text = [f"name,{lines[0]}", *(f"r{i},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "named.csv").write_text("\n".join(text) + "\n")
    names = {}
    for part in {split, pool_split}:
        table = ("data", "named.csv", "--id", "name", "--label", "species", "--split", part)
        assert assay("--seed", "5", *table, "--out", f"{part}.csv").returncode == 0
        with open(tmp_path / f"{part}.csv", newline="") as stream:
            names[part] = [row["name"] for row in csv.DictReader(stream)]
    own = ("--data", "named.csv", "--id", "name", "--label", "species", "--split", split, "--rows", "3-40,2,100")
    pool = ("--pool", tmp_path / "named.csv", "--pool-split", pool_split)
    command = ("aggregate", "--aggregator", "ava:k=1000:method=gradient", "--model", folder / "m.onnx", *own, *pool)
    result = assay("--seed", "5", "--json", *command)
    assert (result.returncode, result.stderr) == (0, "")
    (about,) = json.loads(result.stdout)["results"]
    weights = np.array([[0 if each is None else each for each in row] for row in about["weights"]])
    chosen = [names[split][i] for i in (*range(2, 40), 1, 99)]
    for row, antecedents, weight in zip(chosen, about["antecedents"], weights, strict=True):
        found = [names[pool_split][number - 1] for number in antecedents]
        others = [name for name in names[pool_split] if name != row]
        # Rows at distance 0 are the only ones that count, so others may be left out.
        assert row not in found and set(found) <= set(others)
        assert len(found) == len(others) or weight.max() >= 1 / len(found)


def test_the_list_of_aggregators(assay, listed):
    for each in listed:
        assert set(each) == {
            *("name", "title", "family", "citation", "guarantee", "cost"),
            *("members", "needs", "learns_weights", "options"),
        }
        assert each["family"] in ("centroid", "convex", "rank", "complexity", "sensitivity", "trade-off"), each["name"]
        shown = assay("list", "aggregators", each["name"]).stdout
        assert shown.startswith(f"{each['name']}: {each['title']}\n")
        assert all(option["name"] in shown for option in each["options"])
    table = assay("list", "aggregators").stdout.splitlines()
    assert [line.split()[0] for line in table[1:-1]] == [each["name"] for each in listed]
    assert len(assay("--quiet", "list", "aggregators").stdout.splitlines()) == len(listed) + 1


def test_threads_do_not_change_results(aggregate, listed, rows, load, tmp_path):
    names = ",".join(each["name"] for each in listed if each["name"] != "ava")
    for threads in ("1", "3"):
        aggregate(names, *rows, "--out", f"t{threads}.npz", before=("--threads", threads))
    for file in tmp_path.glob("t1.*.npz"):
        again = load(file.with_name(file.name.replace("t1.", "t3.", 1)))
        assert load(file)["values"].tobytes() == again["values"].tobytes(), file.name
    assert len(list(tmp_path.glob("t3.*.npz"))) == len(listed) - 1
