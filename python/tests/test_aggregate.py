"""assay.aggregate: the bits of the command line, members of every kind, and closed forms."""

import json
import types

import numpy as np
import pytest

import assay

AGGREGATORS = assay.aggregators().names
MEMBERS = ("kernel_shap", "gradient_x_input", "lime")
PARTS = ("values", "base", "output", "gap", "target_index", "standard_error", "weights", "antecedents")
FIRST = np.random.default_rng(0).normal(size=(6, 5))
SECOND = np.random.default_rng(1).normal(size=(6, 5))
THIRD = np.random.default_rng(2).normal(size=(6, 5))


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """A network, and explanations of its predictions in memory and in files."""
    folder = tmp_path_factory.mktemp("iris")
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    assay.train(train).save(folder / "iris.onnx")
    model = assay.load(folder / "iris.onnx")
    made = {name: assay.explain(model, test, name, pool=train) for name in MEMBERS}
    for name, explanations in made.items():
        explanations.save(folder / f"{name}.npz")
    rows = ["--model", folder / "iris.onnx", "--data", "iris", "--split", "test"]
    return types.SimpleNamespace(
        folder=folder,
        train=train,
        test=test,
        model=model,
        made=made,
        arguments=[*rows, "--pool", "iris", "--pool-split", "train"],
    )


OPTIONS = {"convex": {"weights": [0.2, 0.5, 0.3]}, "pareto": {"points": 300}}


def spec_text(aggregator, options):
    words = {key: str(value).replace(" ", "") for key, value in options.items()}
    return ":".join([aggregator, *(f"{key}={value}" for key, value in words.items())])


def assert_same(ours, theirs):
    for part in PARTS:
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert (mine is None) == (other is None), part
        assert mine is None or mine.tobytes() == other.tobytes(), part
    assert list(ours.measures) == list(theirs.measures)
    for name, measure in ours.measures.items():
        assert measure.tobytes() == theirs.measures[name].tobytes(), name
    assert (ours.members, ours.features, ours.ids) == (theirs.members, theirs.features, theirs.ids)
    assert ours.target_names == theirs.target_names
    for key in ("method", "options", "seed", "unit", "target", "model", "data", "players", "version"):
        assert ours.provenance[key] == theirs.provenance[key], key


@pytest.mark.parametrize("threads", [1, 7])
@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_the_command_line_gives_the_same_bits(aggregator, threads, iris, command):
    """Those that explain the pool's rows too."""
    names = MEMBERS[:1] if aggregator == "ava" else MEMBERS
    options = OPTIONS.get(aggregator, {})
    files = ",".join(str(iris.folder / f"{name}.npz") for name in names)
    out = iris.folder / f"{aggregator}.npz"
    words = ["--aggregator", spec_text(aggregator, options), *iris.arguments, "--out", out]
    command("--threads", threads, "aggregate", "--members", files, *words)
    made = assay.aggregate([iris.made[name] for name in names], aggregator, threads=threads, **options)
    assert_same(made, assay.Explanations.load(out))


@pytest.mark.parametrize("aggregator", ["mean", "convex_min", "ava", "pareto"])
def test_aggregates_are_evaluated_as_the_command_line_does(aggregator, iris, command):
    """Their pool is aggregated when a criterion asks for it."""
    names = MEMBERS[:1] if aggregator == "ava" else MEMBERS
    options = OPTIONS.get(aggregator, {})
    files = ",".join(str(iris.folder / f"{name}.npz") for name in names)
    out, pool = iris.folder / f"scored-{aggregator}.npz", iris.folder / f"pool-{aggregator}.npz"
    spec = ["--aggregator", spec_text(aggregator, options)]
    command("aggregate", "--members", files, *spec, *iris.arguments, "--out", out, "--pool-out", pool)
    criteria = "faithfulness,max_sensitivity,avg_sensitivity,complexity,monotonicity"
    words = ["--explanations", out, "--pool-explanations", pool, *iris.arguments, "--criteria", criteria]
    printed = json.loads(command("--json", "evaluate", *words))
    made = assay.aggregate([iris.made[name] for name in names], aggregator, **options)
    for theirs in printed["scores"]:
        ours = assay.evaluate(made, theirs["criterion"])[theirs["criterion"]]
        assert [None if np.isnan(value) else value for value in ours.values] == theirs["values"]
        assert ours.mean == theirs["mean"]


def test_own_rows_are_no_antecedents_of_themselves(iris, command):
    """Rows are one by their place in one table, as with the command line's --pool that is its --data."""
    own = assay.explain(iris.model, iris.train, "occlusion", pool=iris.train)
    file, out = iris.folder / "own.npz", iris.folder / "own-ava.npz"
    own.save(file)
    rows = ["--data", "iris", "--split", "train", "--pool", "iris", "--pool-split", "train"]
    words = ["--model", iris.folder / "iris.onnx", *rows, "--aggregator", "ava", "--out", out]
    command("aggregate", "--members", file, *words)
    made = assay.aggregate([own], "ava")
    assert_same(made, assay.Explanations.load(out))
    row = np.arange(len(iris.train))[:, np.newaxis]
    assert not (made.antecedents == row).any()
    # In another table a copy of a row is another row, and the nearest.
    copied = assay.explain(iris.model, iris.train, "occlusion", pool=assay.dataset("iris", split="train"))
    assert (assay.aggregate([copied], "ava").antecedents == row).any(axis=1).all()


# Members


def test_members_of_different_makings_are_joined(iris):
    """A gradient needs no pool, and is as good a member without one."""
    bare = assay.explain(iris.model, iris.test, "gradient")
    pooled = assay.explain(iris.model, iris.test, "gradient", pool=iris.train)
    shapley = iris.made["kernel_shap"]
    for aggregator in ("mean", "convex_min"):
        wanted = assay.aggregate([pooled, shapley], aggregator)
        for members in ([bare, shapley], {"gradient": bare, "kernel_shap": shapley}):
            made = assay.aggregate(members, aggregator)
            assert made.values.tobytes() == wanted.values.tobytes()
            assert made.members == ["gradient", "kernel_shap"]
    scores = [
        assay.evaluate(assay.aggregate([shapley, each], "mean"), "max_sensitivity")["max_sensitivity"]
        for each in (bare, pooled)
    ]
    assert scores[0].values.tobytes() == scores[1].values.tobytes()


@pytest.mark.parametrize("aggregator", ["mean", "convex_min", "ava", "region_shrinking"])
def test_members_from_files_give_the_same_with_what_they_lack(aggregator, iris):
    names = MEMBERS[:1] if aggregator == "ava" else MEMBERS
    members = [assay.Explanations.load(iris.folder / f"{name}.npz") for name in names]
    made = assay.aggregate(members, aggregator, model=iris.model, X=iris.test, pool=iris.train)
    wanted = assay.aggregate([iris.made[name] for name in names], aggregator)
    assert made.values.tobytes() == wanted.values.tobytes()


@pytest.mark.parametrize("aggregator", ["convex_min", "ava"])
@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_explanations_of_the_pool_may_be_given(ending, aggregator, iris, command):
    """As arrays of whatever made them, or as explanations, they are what the command line takes from files."""
    names = MEMBERS[:1] if aggregator == "ava" else MEMBERS[:2]
    pools = [assay.explain(iris.model, iris.train, name, pool=iris.train) for name in names]
    members = [iris.made[name] for name in names]
    if ending == "npy":
        members, pools = ([each.to_numpy() for each in made] for made in (members, pools))
    files = {"members": [], "pool-members": []}
    for words, made in zip(files, (members, pools), strict=True):
        for name, each in zip(names, made, strict=True):
            files[words].append(str(iris.folder / f"{words}-{name}.{ending}"))
            np.save(files[words][-1], each) if ending == "npy" else each.save(files[words][-1])
    out = iris.folder / f"given-{aggregator}-{ending}.npz"
    given = [word for words, paths in files.items() for word in (f"--{words}", ",".join(paths))]
    command("aggregate", *given, *iris.arguments, "--aggregator", aggregator, "--out", out)
    beside = {"model": iris.model, "X": iris.test, "pool": iris.train} if ending == "npy" else {}
    made = assay.aggregate(members, aggregator, pool_members=pools, **beside)
    assert made.values.tobytes() == assay.Explanations.load(out).values.tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": "reversed"}, "expected the target 'setosa' in row 1, as in 'kernel_shap', found 'virginica'"),
        (
            {"X": "swapped"},
            "expected the explained value .* in row 1, as in 'kernel_shap', .*: another model, or other",
        ),
        ({"X": "fewer"}, "expected 30 rows, as 'kernel_shap' has, found 29"),
        (
            {"model": "other"},
            "expected the explained value .* in row 1, as in 'kernel_shap', .*: another model, or other",
        ),
        ({"value": "probability"}, "expected explanations in the unit margin, as in 'kernel_shap', found probability"),
        ({"target": "setosa"}, "expected the target 'versicolor' in row 11, as in 'kernel_shap', found 'setosa'"),
        (
            {"groups": {"petal": ["petal_length", "petal_width"]}},
            "expected 4 columns, one for each player of 'kernel_shap', found 3",
        ),
    ],
)
@pytest.mark.parametrize("aggregator", ["mean", "convex_min"])
def test_members_of_other_subjects_are_refused(aggregator, change, message, iris):
    others = {
        "other": assay.train(iris.train, seed=5),
        "reversed": iris.test[::-1],
        "swapped": iris.test[[1, 0, *range(2, 30)]],
        "fewer": iris.test[1:],
    }
    words = {key: others.get(value, value) if isinstance(value, str) else value for key, value in change.items()}
    words = {"model": iris.model, "X": iris.test} | words
    odd = assay.explain(words.pop("model"), words.pop("X"), "occlusion", pool=iris.train, **words)
    with pytest.raises(ValueError, match=f"^occlusion: {message}"):
        assay.aggregate([iris.made["kernel_shap"], odd], aggregator)


@pytest.mark.parametrize("target", [2, "virginica", "predicted"])
def test_members_made_elsewhere_say_what_they_explain(target, iris):
    """What is learnt of sensitivity is learnt of it, from the pool's explanations."""
    made = [assay.explain(iris.model, iris.test, name, pool=iris.train, target=target) for name in MEMBERS[:2]]
    pools = [assay.explain(iris.model, iris.train, name, pool=iris.train, target=target) for name in MEMBERS[:2]]
    said = made[0].target_index if target == "predicted" else target
    arrays = [assay.Explanations.from_array(each.to_numpy(), target=said) for each in made]
    beside = {"model": iris.model, "X": iris.test, "pool": iris.train}
    found = assay.aggregate(arrays, "convex_min", pool_members=[each.to_numpy() for each in pools], **beside)
    assert found.values.tobytes() == assay.aggregate(made, "convex_min").values.tobytes()
    assert list(found.target) == list(made[0].target)
    ours, wanted = (
        assay.evaluate(each, "faithfulness")["faithfulness"].values
        for each in (found, assay.aggregate(made, "convex_min"))
    )
    assert ours.tobytes() == wanted.tobytes()


def test_names_of_members(iris):
    twice = [iris.made["lime"], iris.made["lime"], iris.made["lime"].to_numpy()]
    assert assay.aggregate(twice, "mean").members == ["lime", "lime 2", "member 3"]
    assert assay.aggregate(twice, "mean", names=["a", "b", "c"]).members == ["a", "b", "c"]
    named = dict(zip("xyz", twice, strict=True))
    assert assay.aggregate(named, "mean").members == ["x", "y", "z"]
    assert assay.aggregate(tuple(twice), "mean").members == ["lime", "lime 2", "member 3"]


# What lacks


def test_attributions_alone_are_told_what_they_lack():
    for aggregator in assay.aggregators():
        members = [FIRST] if aggregator.name == "ava" else [FIRST, SECOND]
        if not aggregator.needs:
            assert assay.aggregate(members, aggregator.name).values.shape == (6, 5)
            continue
        with pytest.raises(assay.UnsupportedError) as refusal:
            assay.aggregate(members, aggregator.name)
        wanted = f"{aggregator.name} needs the model and the rows that were explained; give model= and X="
        assert str(refusal.value) == wanted


@pytest.mark.parametrize("aggregator", [each.name for each in assay.aggregators() if each.needs])
def test_those_that_need_a_pool_say_so(aggregator, iris):
    bare = [assay.explain(iris.model, iris.test, name, baseline="zero") for name in ("occlusion", "lime")]
    bare = bare[:1] if aggregator == "ava" else bare
    there = " to assay.explain, or here beside model= and X="
    with pytest.raises(
        assay.UnsupportedError, match=f"^{aggregator} needs a pool of training rows; give pool={there}$"
    ):
        assay.aggregate(bare, aggregator)
    beside = {"model": iris.model, "X": iris.test, "baseline": "zero"}
    with pytest.raises(assay.UnsupportedError, match=f"^{aggregator} needs a pool of training rows; give pool=$"):
        assay.aggregate(bare, aggregator, **beside)
    arrays = [each.to_numpy() for each in bare]
    with pytest.raises(assay.UnsupportedError, match=f"^{aggregator} needs .*; give pool_members=$"):
        assay.aggregate(arrays, aggregator, **beside, pool=iris.train)


# By hand


def unit(member):
    """Members are compared by their directions."""
    return member / np.linalg.norm(member, axis=1, keepdims=True)


def test_centroids_are_those_of_numpy():
    members = [FIRST, SECOND, THIRD]
    stacked = np.stack([unit(each) for each in members])
    assert assay.aggregate(members, "mean").values == pytest.approx(stacked.mean(axis=0), abs=1e-6)
    assert assay.aggregate(members, "median").values == pytest.approx(np.median(stacked, axis=0), abs=1e-6)
    made = assay.aggregate(members, "convex", weights=[0.2, 0.5, 0.3])
    assert made.values == pytest.approx(np.tensordot([0.2, 0.5, 0.3], stacked, 1), abs=1e-6)
    assert made.weights == pytest.approx(np.tile([0.2, 0.5, 0.3], (6, 1)), abs=1e-6)
    for said in ("convex:weights=[0.2,0.5,0.3]", ("convex", {"weights": np.array([0.2, 0.5, 0.3])})):
        assert assay.aggregate(members, said).values.tobytes() == made.values.tobytes()


def test_the_geometric_median_has_the_smallest_sum_of_distances():
    """Steps away from it, in any direction, are no better."""
    members = np.stack([unit(each) for each in (FIRST, SECOND, THIRD)])
    made = assay.aggregate(list(members), "geometric_median").values.astype(np.float64)

    def distances(point):
        return np.linalg.norm(members - point, axis=2).sum(axis=0)

    steps = np.random.default_rng(3).normal(size=(50, 6, 5)) * 0.05
    assert all((distances(made) <= distances(made + step) + 1e-6).all() for step in steps)


@pytest.mark.parametrize("aggregator", ["region_shrinking", "gradient_descent_style", "minimum_complexity"])
def test_simpler_ones_are_simpler(aggregator):
    """Than the mean of the members, by the criterion that says what simple is."""
    mean = assay.aggregate([FIRST, SECOND, THIRD], "mean")
    made = assay.aggregate([FIRST, SECOND, THIRD], aggregator)
    simple, plain = (assay.evaluate(each, "complexity")["complexity"].values for each in (made, mean))
    assert (simple <= plain + 1e-6).all() and (simple < plain - 1e-3).any()


def test_borda_ranks_as_numpy_does():
    ranks = [np.argsort(np.argsort(np.abs(each), axis=1), axis=1) for each in (FIRST, SECOND, THIRD)]
    made = assay.aggregate([FIRST, SECOND, THIRD], "borda").values
    total = np.sum(ranks, axis=0)
    for row in range(6):
        order = np.argsort(np.abs(made[row]), kind="stable")
        assert (np.diff(total[row][order]) >= 0).all()
