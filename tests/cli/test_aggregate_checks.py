"""`assay aggregate` through the program: what is refused, in one sentence and before anything is written."""

import json
import os
import subprocess

import numpy as np
import pytest

METHODS = ("exact_shapley", "gradient_x_input")
MODEL = "--model m.onnx --data test.csv --label species"


@pytest.fixture(scope="module")
def made(program, folder, tmp_path_factory):
    """A folder with the model and rows, a.npz and b.npz (explanations of the test rows), and pa.npz and pb.npz (of the
    training rows)."""
    where = tmp_path_factory.mktemp("members")
    for file in ("m.onnx", "train.csv", "test.csv"):
        (where / file).symlink_to(folder / file)
    explain = ("explain", "--model", "m.onnx", "--label", "species", "--baseline", "zero")
    for data, before in (("test.csv", ""), ("train.csv", "p")):
        for method, name in zip(METHODS, "ab", strict=True):
            command = [program, "--quiet", *explain, "--data", data, "--method", method, "--out", f"{before}{name}.npz"]
            subprocess.run(command, cwd=where, check=True)
    np.save(where / "bare.npy", np.ones((30, 4), dtype=np.float32))
    command = [program, "--quiet", "aggregate", "--members", "a.npz,b.npz", "--aggregator", "mean", "--out", "ab.npz"]
    subprocess.run(command, cwd=where, check=True)
    (where / "dangling.npz").symlink_to("x.npz")
    (where / "y.median.npz").symlink_to("./y.mean.npz")
    np.save(where / "short.npy", np.ones((29, 4), dtype=np.float32))
    np.save(where / "narrow.npy", np.ones((30, 3), dtype=np.float32))
    os.link(where / "a.npz", where / "linked.npz")
    return where


def contents(folder):
    """Also of links that lead nowhere."""
    return {path.name: path.read_bytes() if path.exists() else os.readlink(path) for path in folder.iterdir()}


@pytest.fixture
def refused(program, made, one_sentence):
    """refused(arguments) runs `assay aggregate` in the folder, which must stay as it is, and gives the sentence."""

    def run(arguments):
        before = contents(made)
        command = [program, "aggregate", *(arguments.split() if isinstance(arguments, str) else arguments)]
        result = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=300)
        sentence = one_sentence(result)
        assert contents(made) == before
        return sentence

    return run


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--members a.npz,b.npz --aggregator meann", "found 'meann' (did you mean 'mean'?)"),
        ("--members a.npz,b.npz --aggregator mean:rounds=3", "mean has no option 'rounds'; its options are scale"),
        ("--members a.npz,b.npz --aggregator region_shrinking:rounds=x", "region_shrinking"),
        ("--members a.npz,b.npz --aggregator mean,,median", "--aggregator: "),
        (
            "--members a.npz,b.npz --aggregator mean,mean",
            "--aggregator: expected each aggregator once, found 'mean' twice",
        ),
        (
            "--members a.npz,,b.npz --aggregator mean",
            "--members: expected names of files, joined by commas, found an empty name in 'a.npz,,b.npz'",
        ),
        (
            ["--members", "", "--aggregator", "mean"],
            "--members: expected names of files, joined by commas, found nothing",
        ),
        (["--members", "a.npz", "--aggregator", ""], "--aggregator: expected one or more of `assay list aggregators`"),
        (["--members", "a.npz", "--aggregator", "mean", "--out", ""], "--out: expected the name of a file, or -"),
        (["--members", "a.npz", "--aggregator", "mean", "--pool-out", ""], "--pool-out: expected the name of a file"),
        ("--members a.npz,./a.npz --aggregator mean", "--members: expected each file once, found './a.npz' twice"),
        (
            "--members a.npz,linked.npz --aggregator mean",
            "--members: expected each file once, found 'linked.npz' twice",
        ),
        ("--members a.npz,none.npz --aggregator mean", "none.npz: cannot "),
        ("--members a.npz,m.onnx --aggregator mean", "m.onnx: "),
        ("--members a.npz,pb.npz --aggregator mean", "pb.npz: expected 30 rows, as 'a.npz' has, found 120"),
        ("--members a.npz,short.npy --aggregator mean", "short.npy: expected 30 rows, as 'a.npz' has, found 29"),
        (
            "--members bare.npy,narrow.npy --aggregator mean",
            "narrow.npy: expected 4 columns, one for each player of 'bare.npy', found 3",
        ),
        ("--aggregator mean", "mean needs explanations to combine: give --members"),
        ("--aggregator mean --pool-members pa.npz", "--pool-members is of no use without --members"),
        ("--aggregator mean --member-names x", "--member-names is of no use without --members"),
        (
            "--members a.npz,b.npz --aggregator mean --member-names x",
            "--member-names: expected 2, one for each of --members, found 1",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --member-names x,x",
            "names that tell the members apart, found 'x,x'",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --member-names x,",
            "--member-names: expected names, joined by commas",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --pool-members pa.npz",
            "--pool-members: expected 2, one for each of --members, found 1",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --pool-members pa.npz,pa.npz",
            "--pool-members: expected each file once, found 'pa.npz' twice",
        ),
        ("--members a.npz,b.npz --aggregator mean --data test.csv", "--data is of no use without --model"),
        ("--members a.npz,b.npz --aggregator mean --model m.onnx", "--model is of no use without --data"),
        ("--members a.npz,b.npz --aggregator mean --pool train.csv", "--pool is of no use without --model and --data"),
        *(
            (f"--members a.npz --aggregator mean {flag}", f"{flag.split()[0]} is of no use without --model and --data")
            for flag in (
                *("--label species", "--labels species", "--split all", "--missing NA", "--id 1", "--numeric a"),
                *("--categorical a", "--delimiter comma", "--header yes", "--names a,b", "--skip-lines 1"),
            )
        ),
        ("--members a.npz,b.npz --aggregator mean --rows 1", "--rows is of no use without --model and --data"),
        ("--members a.npz,b.npz --aggregator mean --target 1", "--target is of no use without --model and --data"),
        ("--members a.npz --aggregator ava", "ava needs the model and the rows that were explained: give --model and"),
        (f"--members a.npz --aggregator ava {MODEL}", "ava needs a pool of training rows: give --pool"),
        (f"--aggregator ava {MODEL}", "ava needs a pool of training rows: give --pool"),
        (f"--members a.npz,b.npz --aggregator ava {MODEL} --pool train.csv", "ava takes one member"),
        (
            f"--members bare.npy --aggregator ava {MODEL} --pool train.csv",
            "ava needs to know how rows of the pool are explained, and 'bare.npy' does not say how it was made: give "
            "--pool-members, or method=... as in ava:method=exact_shapley",
        ),
        (
            f"--members bare.npy --aggregator ava:method=auto {MODEL} --pool train.csv",
            "'bare.npy' does not say how it was made: give --pool-members, or method=...",
        ),
        (
            f"--members ab.npz --aggregator ava {MODEL} --pool train.csv",
            "'ab.npz' is an aggregate, which cannot be explained again: give --pool-members, or method=...",
        ),
        (
            f"--members a.npz,bare.npy --aggregator convex_min {MODEL} --pool train.csv",
            "explanations of the pool's rows, and 'bare.npy' does not say how it was made: give --pool-members",
        ),
        (
            "--members a.npz,b.npz --aggregator convex_min",
            "convex_min needs the model and the rows that were explained",
        ),
        (
            f"--members a.npz,b.npz --aggregator convex_min {MODEL}",
            "convex_min needs a pool of training rows: give --pool",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --pool-out p.npz",
            "--pool-out needs explanations of the pool's rows: give --pool-members, or --model, --data and --pool",
        ),
        (
            f"--members a.npz,bare.npy --aggregator mean {MODEL} --pool train.csv --pool-out p.npz",
            "--pool-out needs explanations of the pool's rows, and 'bare.npy' does not say how it was made: give "
            "--pool-members",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,pb.npz --aggregator mean:scale=output --pool-out p.npz",
            "--pool-out with scale=output needs the outputs of the pool's rows: give --model, --data and --pool",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,bare.npy --aggregator mean --pool-out p.npz",
            "bare.npy: expected 120 rows, as 'pa.npz' has, found 30",
        ),
        (f"--members a.npz,b.npz --aggregator mean {MODEL} --rows 1-5", "a.npz: expected 5 rows, one for each of "),
        (f"--members a.npz,b.npz --aggregator mean {MODEL} --target setosa", "--target: expected none for 'a.npz'"),
        (f"--members a.npz,b.npz --aggregator mean {MODEL} --value probability", "the explained value of row 1 is "),
        (
            "--members a.npz,b.npz --aggregator mean --out a.npz",
            "--out: expected a file of its own, found 'a.npz', which is",
        ),
        (
            "--members a.npz,b.npz --aggregator mean --out linked.npz",
            "--out: expected a file of its own, found 'linked.npz'",
        ),
        ("--members a.npz,b.npz --aggregator mean --out x.foo", "x.foo: expected a name that ends in"),
        ("--members a.npz,b.npz --aggregator mean --out none/x.npz", "none/x.npz"),
        (
            "--members a.npz,b.npz --aggregator mean,median --out -",
            "standard output: expected one result, found several",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,pb.npz --aggregator mean --pool-out pb.npz",
            "--pool-out: expected a file of its own, found 'pb.npz', which is read",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,pb.npz --aggregator mean --out x.npz --pool-out x.npz",
            "--pool-out: expected another file than --out, found 'x.npz'",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,pb.npz --aggregator mean --out x.npz --pool-out ./x.npz",
            "--pool-out: expected another file than --out, found './x.npz', which is 'x.npz'",
        ),
        (
            "--members a.npz --pool-members pa.npz --aggregator mean --out x.npz --pool-out dangling.npz",
            "--pool-out: expected another file than --out, found 'dangling.npz', which is 'x.npz'",
        ),
        (
            "--members a.npz --aggregator mean,median --out y.npz",
            "--out: expected a file for each result, found 'y.median.npz', which is 'y.mean.npz' too",
        ),
        (
            "--json --members a.npz --aggregator mean --out -",
            "--out: expected the name of a file beside --json, which prints to standard output itself, found -",
        ),
        (
            "--members a.npz,b.npz --pool-members pa.npz,pb.npz --aggregator mean --pool-out -",
            "--pool-out: expected the name of a file, found -",
        ),
    ],
)
def test_refusals(refused, arguments, sentence):
    assert sentence in refused(arguments)


def test_usage(program, made):
    for arguments in (["aggregate"], ["aggregate", "--aggregator", "mean", "--show", "-1"]):
        result = subprocess.run([program, *arguments], cwd=made, capture_output=True, text=True)
        assert (result.returncode, result.stdout) == (2, "") and "assay --help" in result.stderr


def changed(edit, made, name, **changes):
    edit(made / "b.npz", made / name, **changes)
    return f"--members a.npz,{name} --aggregator mean"


def test_members_must_fit(refused, edit, made, load):
    """Targets, ids, features and units are compared as far as both files say."""
    target = load(made / "b.npz")["target"].copy()
    target[4] = (target[4] + 1) % 3
    refusal = refused(changed(edit, made, "t.npz", arrays={"target": target}))
    assert refusal.startswith("t.npz: expected the target '") and "' in row 5, as in 'a.npz', found '" in refusal
    refusal = refused(changed(edit, made, "u.npz", unit="probability"))
    assert refusal == "u.npz: expected explanations in the unit margin, as in 'a.npz', found probability"
    features = np.array(["sepal_length", "petal_length", "sepal_width", "petal_width"])
    refusal = refused(changed(edit, made, "f.npz", arrays={"features": features}))
    assert refusal == "f.npz: expected 'sepal_width' as player 2, as in 'a.npz', found 'petal_length'"
    ids = np.array([f"r{i}" for i in range(30)])
    edit(made / "a.npz", made / "i.npz", arrays={"ids": ids}, id_name="name")
    edit(made / "b.npz", made / "j.npz", arrays={"ids": ids[::-1].copy()}, id_name="name")
    refusal = refused("--members i.npz,j.npz --aggregator mean")
    assert refusal == "j.npz: expected the id 'r0' in row 1, as in 'i.npz', found 'r29'"


def test_members_are_of_the_model(refused, edit, made, load):
    output = load(made / "b.npz")["output"] + 1
    edit(made / "b.npz", made / "o.npz", arrays={"output": output})
    refusal = refused(f"--members o.npz --aggregator mean {MODEL}")
    assert refusal.startswith("o.npz: the explained value of row 1 is ")


def test_members_are_of_the_same_rows(refused, edit, made, load):
    """Rows in another order have the same targets here, and neither file has ids."""
    target = np.zeros_like(load(made / "a.npz")["target"])
    output = load(made / "b.npz")["output"]
    edit(made / "a.npz", made / "forth.npz", arrays={"target": target})
    edit(made / "b.npz", made / "back.npz", arrays={"target": target, "output": output[::-1].copy()})
    refusal = refused("--members forth.npz,back.npz --aggregator mean")
    assert refusal.startswith(f"back.npz: expected the explained value {output[0]:.6g} in row 1, as in 'forth.npz', ")
    assert f"found {output[-1]:.6g}" in refusal


def test_members_of_other_models_and_tables_are_noted(program, edit, made):
    edit(made / "b.npz", made / "n.npz", model="other.onnx", data="other.csv")
    command = [program, "aggregate", "--members", "a.npz,n.npz", "--aggregator", "mean"]
    result = subprocess.run(command, cwd=made, capture_output=True, text=True)
    assert result.returncode == 0
    notes = [line for line in result.stdout.splitlines() if line.startswith("note: ")]
    assert any("other.onnx" in note and "m.onnx" in note for note in notes)
    assert any("other.csv" in note and "test.csv" in note for note in notes)


def test_ava_says_how_it_explains(program, made):
    """Not as the member was, where a method is named; and given explanations of the pool need none."""
    ava = [program, "--json", "aggregate", *f"{MODEL} --pool train.csv --baseline zero".split()]

    def notes(*arguments):
        result = subprocess.run([*ava, *arguments], cwd=made, capture_output=True, text=True)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)["results"][0]["notes"]

    by = "antecedents are explained by occlusion"
    assert f"{by}, not by exact_shapley as the member was" in notes(
        "--members", "a.npz", "--aggregator", "ava:method=occlusion"
    )
    named = "ava:method=occlusion"
    assert f"{by}; the member does not say how it was" in notes("--members", "bare.npy", "--aggregator", named)
    assert f"{by}, not by 'mean' as the member was" in notes("--members", "ab.npz", "--aggregator", named)
    assert notes("--members", "a.npz", "--aggregator", "ava:method=exact_shapley") == []
    given = notes("--members", "bare.npy", "--pool-members", "pa.npz", "--aggregator", "ava")
    assert not any("explained by" in note for note in given)


def test_pool_files_are_of_the_pool(refused):
    files = f"--members a.npz,b.npz --aggregator mean {MODEL} --pool train.csv --pool-members"
    assert refused(f"{files} pa.npz,bare.npy") == (
        "bare.npy: expected 120 rows, one for each of train.csv, found 30; --rows and --split select rows"
    )


def test_an_unknown_method_is_said_where_the_pool_needs_it(refused, edit, made, program):
    edit(made / "b.npz", made / "k.npz", method="crystal_ball")
    refusal = refused(f"--members a.npz,k.npz --aggregator mean {MODEL} --pool train.csv --pool-out p.npz")
    assert refusal == (
        "--pool-out needs explanations of the pool's rows, and 'k.npz' was made by 'crystal_ball', which this version "
        "cannot do as it was used: give --pool-members"
    )
    command = [program, "--json", "aggregate", "--members", "a.npz,k.npz", "--aggregator", "mean"]
    result = subprocess.run(command, cwd=made, capture_output=True, text=True)
    assert result.returncode == 0
    document = json.loads(result.stdout)
    assert document["notes"] == [] and document["results"][0]["members"] == ["exact_shapley", "crystal_ball"]


def test_another_reference_is_noted(program, made):
    arguments = f"--members a.npz,b.npz --aggregator mean {MODEL} --pool train.csv --pool-out noted.npz"
    result = subprocess.run([program, "aggregate", *arguments.split()], cwd=made, capture_output=True, text=True)
    assert result.returncode == 0
    assert "note: a.npz: explained against another reference (zero): its base for row 1 is " in result.stdout
    again = subprocess.run(
        [program, "aggregate", *arguments.split(), "--baseline", "zero"], cwd=made, capture_output=True, text=True
    )
    assert again.returncode == 0 and "another reference" not in again.stdout
