"""`assay evaluate` through the program: what it says of parts, seeds, ranks and long names, and where results go."""

import json

import numpy as np


def test_the_part_of_the_rows_is_named(assay, one_sentence, folder):
    """Also where the seed chose other rows for it."""
    model = ("--model", folder / "m.onnx", "--data", "iris")
    explain = ("--seed", "7", "explain", *model, "--split", "test", "--method", "gradient", "--target", "setosa")
    assert assay(*explain, "--out", "phi.npz").returncode == 0
    evaluate = ("evaluate", *model, "--explanations", "phi.npz", "--criteria", "complexity")
    assert "expected 120 rows, one for each of iris (train part), found 30 (made of iris (test part)); " in (
        one_sentence(assay(*evaluate, "--split", "train"))
    )
    sentence = one_sentence(assay(*evaluate, "--split", "test"))
    assert " for it in iris (test part): the explanations are of another model" in sentence
    assert sentence.endswith("or of another unit; it was made with --seed 7, which also chooses the split")
    assert assay("--seed", "7", *evaluate, "--split", "test").returncode == 0
    # Without a part the seed chooses nothing; nor has an array made elsewhere one.
    assert "--seed" not in one_sentence(assay(*evaluate, "--rows", "1-30"))


def test_ranks_are_noted(assay, folder, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 2, 3], [3, 2, 1]], dtype=np.float32))
    for result, noted in (("ranks", True), ("scores", False)):
        aggregate = ("aggregate", "--members", "a.npy", "--aggregator", f"borda:result={result}", "--out", "r.npz")
        assert assay(*aggregate).returncode == 0
        shown = assay("--json", "evaluate", "--explanations", "r.npz", "--criteria", "complexity")
        notes = json.loads(shown.stdout)["explanations"][0]["notes"]
        assert any(note.startswith("values are ranks, 1 for the most important: ") for note in notes) == noted, result


def test_json_and_a_table_do_not_share_standard_output(assay, one_sentence, tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3), dtype=np.float32))
    command = ("--json", "evaluate", "--explanations", "a.npy", "--criteria", "complexity", "--out", "-")
    assert one_sentence(assay(*command)).startswith("--out: expected the name of a file beside --json, ")


def test_long_names_are_cut(assay, edit, folder, tmp_path):
    edit(folder / "phi.npz", tmp_path / "long.npz", method="x" * 5000, model="z" * 5000)
    shown = assay("evaluate", "--explanations", "long.npz", "--criteria", "complexity").stdout
    assert f"long.npz: {'x' * 60}..., margin of {'z' * 60}...; 30 rows" in shown
    assert "x" * 61 not in shown and "z" * 61 not in shown


def test_others_may_have_names_that_an_array_lacks(assay, folder, load, tmp_path):
    np.save(tmp_path / "a.npy", load(folder / "phi.npz")["values"])
    for one, other in (("a.npy", folder / "phi.npz"), (folder / "phi.npz", "a.npy")):
        command = ("evaluate", "--explanations", one, "--others", other, "--criteria", "rank_correlation")
        result = assay(*command)
        assert (result.returncode, result.stderr) == (0, ""), one


def test_commas_in_names_of_files(assay, tmp_path):
    np.save(tmp_path / "a,b.npy", np.ones((2, 3), dtype=np.float32))
    np.save(tmp_path / "c.npy", np.eye(2, 3, dtype=np.float32))
    command = ("--json", "evaluate", "--criteria", "rank_correlation")
    result = assay(*command, "--explanations", "a,b.npy", "--explanations", "c.npy")
    assert [each["file"] for each in json.loads(result.stdout)["explanations"]] == ["a,b.npy", "c.npy"]
    assert assay(*command, "--explanations", "c.npy", "--others", "a,b.npy").returncode == 0
