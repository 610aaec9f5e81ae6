"""`assay neighbours` against a brute force in NumPy, ties and all, and the same bytes for any number of threads and any
vector target."""

import csv
import json
import math
import subprocess

import numpy as np
import pytest

NORMS = ["linf", "l1", "l2"]


def fold(differences: np.ndarray, norm: str) -> np.ndarray:
    if norm == "linf":
        return differences.max(axis=-1)
    return differences.sum(axis=-1) if norm == "l1" else np.sqrt((differences**2).sum(axis=-1))


def scaled(values: np.ndarray) -> np.ndarray:
    """Differences of columns over their deviation; columns without one are left out."""
    values = values[:, np.ptp(values, axis=0) > 0].astype(float)
    return np.abs(values[:, None, :] - values[None, :, :]) / values.std(axis=0)


def brute_force(values: np.ndarray, norm: str, space: str = "raw") -> np.ndarray:
    differences = scaled(values) if space == "scaled" else np.abs(values[:, None, :] - values[None, :, :])
    distances = fold(differences, norm)
    np.fill_diagonal(distances, np.inf)  # a row is no neighbour of itself
    return distances


def found_by(assay, *arguments):
    result = assay("neighbours", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return [
        (entry["row"] - 1, [(near["row"] - 1, near["distance"]) for near in entry["neighbours"]])
        for entry in json.loads(result.stdout)["rows"]
    ]


def check(found, distances, k=None, radius=None):
    """Every list is the k nearest (or all within the radius), by distance and then by row."""
    assert [row for row, _ in found] == list(range(len(distances)))
    for row, near in found:
        rows = [other for other, _ in near]
        own = distances[row]
        assert row not in rows and len(set(rows)) == len(rows)
        assert near == sorted(near, key=lambda pair: (pair[1], pair[0]))
        np.testing.assert_allclose([distance for _, distance in near], own[rows], rtol=1e-12, atol=1e-12)
        expected = np.sort(own)[: len(rows)] if k else np.sort(own[own <= radius])
        np.testing.assert_allclose(np.sort(own[rows]), expected, rtol=1e-12, atol=1e-12)
        assert len(rows) == (min(k, len(own) - 1) if k else len(expected))


def grid(rows: int, columns: int, seed: int) -> np.ndarray:
    """Small whole numbers, so that distances are exact and most of them are ties; some rows occur twice."""
    values = np.random.default_rng(seed).integers(0, 4, (rows, columns)).astype("f4")
    values[rows // 2 : rows // 2 + 20] = values[:20]
    return values


@pytest.mark.parametrize("columns", [1, 3, 24, 25, 40])
@pytest.mark.parametrize("norm", NORMS)
def test_raw_ties_go_to_the_lower_row(assay, tmp_path, norm, columns):
    """Exact arithmetic, so the whole answer is known: rows in order of (distance, row). Few and many columns are
    searched in different ways."""
    values = grid(300, columns, 11)
    np.save(tmp_path / "x.npy", values)
    distances = brute_force(values.astype(float), norm)
    found = found_by(assay, "x.npy", "--norm", norm, "--space", "raw", "--k", "7")
    for row, near in found:
        order = np.lexsort((np.arange(300), distances[row]))[:7]
        assert [other for other, _ in near] == order.tolist()
        assert [distance for _, distance in near] == distances[row][order].tolist()


@pytest.mark.parametrize("columns", [1, 4, 30])
def test_scaled_ties_go_to_the_lower_row(assay, tmp_path, columns):
    """Columns of one deviation, the root of 2 to the last digit: a step is 1 / 1.414 in each, and all steps tie."""
    steps = np.array(
        [np.random.default_rng(column).permutation(np.repeat(range(1, 6), 60)) for column in range(columns)]
    )
    values = steps.T.astype("f4")
    np.save(tmp_path / "x.npy", values)
    found = found_by(assay, "x.npy", "--k", "9")
    whole = brute_force(values.astype(float), "linf")
    for row, near in found:
        order = np.lexsort((np.arange(300), whole[row]))[:9]
        assert [other for other, _ in near] == order.tolist()
        assert [distance for _, distance in near] == (whole[row][order] / np.sqrt(2)).tolist()


@pytest.mark.parametrize("columns", [4, 30])
@pytest.mark.parametrize("space", ["scaled", "raw"])
@pytest.mark.parametrize("norm", NORMS)
def test_random_numbers(assay, tmp_path, norm, space, columns):
    values = np.random.default_rng(columns).normal(size=(250, columns)).astype("f4")
    values *= 10.0 ** np.arange(columns).clip(0, 5)
    values[100:110] = values[:10]
    values[:, 1] = 3  # a column without spread
    np.save(tmp_path / "x.npy", values)
    distances = brute_force(values.astype(float), norm, space)
    options = ["x.npy", "--norm", norm, "--space", space]
    check(found_by(assay, *options, "--k", "9"), distances, k=9)
    radius = float(np.quantile(distances, 0.03))
    check(found_by(assay, *options, "--radius", repr(radius)), distances, radius=radius)
    assert all(len(near) == 249 for _, near in found_by(assay, *options, "--k", "1000"))


@pytest.mark.parametrize("norm", NORMS)
def test_categories_and_missing_values(assay, tmp_path, norm):
    """A category differs by 1 or not at all; a missing value is 0 from a missing one and 1 from any other."""
    draw = np.random.default_rng(4)
    numbers = [[float(v) if draw.random() > 0.2 else math.nan for v in draw.integers(0, 5, 2)] for _ in range(150)]
    words = [str(word) for word in draw.choice(["red", "green", "blue", ""], 150)]
    with open(tmp_path / "x.csv", "w", newline="") as file:
        rows = [["" if math.isnan(v) else v for v in pair] for pair in numbers]
        csv.writer(file).writerows([["a", "b", "word"], *[[*row, word] for row, word in zip(rows, words, strict=True)]])
    table = np.array(numbers)
    gap = np.isnan(table)
    apart = np.abs(table[:, None] - table[None, :]) / np.nanstd(table, 0)
    differences = np.where(gap[:, None] & gap[None, :], 0.0, apart)
    differences = np.where(gap[:, None] ^ gap[None, :], 1.0, differences)
    mismatch = (np.array(words)[:, None] != np.array(words)[None, :]).astype(float)[..., None]
    distances = fold(np.concatenate([differences, mismatch], axis=2), norm)
    np.fill_diagonal(distances, np.inf)
    check(found_by(assay, "x.csv", "--norm", norm, "--k", "6"), distances, k=6)


def test_labels_and_ids_are_no_features(assay, tmp_path):
    (tmp_path / "x.csv").write_text("name,a,kind\nfirst,0,u\nsecond,1,v\nthird,5,u\n")
    text = assay("neighbours", "x.csv", "--id", "name", "--label", "kind", "--k", "1", "--space", "raw").stdout
    assert [line.split() for line in text.splitlines()] == [
        ["row", "kind", "neighbour", "distance", "kind"],
        ["first", "u", "second", "1", "v"],
        ["second", "v", "first", "1", "u"],
        ["third", "u", "second", "4", "v"],
    ]


def test_radius_zero_finds_the_copies(assay, tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, 2], [3, 4], [1, 2], [5, 6], [1, 2]], "f4"))
    found = found_by(assay, "x.npy", "--radius", "0", "--rows", "1,2,5")
    assert found == [(0, [(2, 0), (4, 0)]), (1, []), (4, [(0, 0), (2, 0)])]


@pytest.fixture
def tables(tmp_path) -> list[list[str]]:
    draw = np.random.default_rng(8)
    with open(tmp_path / "random.csv", "w", newline="") as file:
        rows = np.column_stack([draw.normal(size=(3000, 6)).round(2), draw.integers(0, 3, 3000)])
        csv.writer(file).writerows([list("abcdefg"), *rows.tolist()])
    np.save(tmp_path / "wide.npy", draw.normal(size=(1500, 40)).astype("f4"))
    return [["iris"], ["random.csv", "--categorical", "g"], ["wide.npy"]]


@pytest.mark.parametrize("norm", NORMS)
def test_threads_do_not_change_a_byte(assay, tables, norm):
    # The more columns, the farther away everything is.
    radii = {"linf": [0.5, 0.5, 2.2], "l1": [0.5, 1.5, 36], "l2": [0.5, 0.8, 6.5]}[norm]
    for table, radius in zip(tables, radii, strict=True):
        for style in ([], ["--json"], ["--radius", radius]):
            outputs = {assay("neighbours", *table, "--norm", norm, *style, "--threads", n).stdout for n in (1, 2, 7)}
            assert len(outputs) == 1 and len(outputs.pop()) > 1000


def test_threads_do_not_change_a_byte_of_adult(assay, data_dir):
    rows = ",".join(str(row) for row in range(1, 48842, 97))
    outputs = {assay("neighbours", "adult", "--rows", rows, "--k", 10, "--threads", n).stdout for n in (1, 2, 7)}
    assert len(outputs) == 1 and outputs.pop().count("\n") == 1 + 10 * 504


def test_vector_targets_agree(assay, one_sentence, tables):
    """Distances are exact, so every vector target of this machine gives the same bytes; an unknown one is refused with
    the list of those there are."""
    sentence = one_sentence(assay("neighbours", "iris", env={"ASSAY_VECTOR_TARGET": "MMX"}))
    assert "'MMX'" in sentence
    targets = sentence.split("expected ")[1].split(", found")[0].replace(" or ", ", ").split(", ")
    assert "SSE4" in targets or "SSE2" in targets or "EMU128" in targets
    for table in tables:
        for norm in NORMS:
            arguments = ["neighbours", *table, "--norm", norm, "--json"]
            outputs = {assay(*arguments, env={"ASSAY_VECTOR_TARGET": target}).stdout for target in targets}
            assert outputs == {assay(*arguments).stdout}


def test_neighbours_of_many_copies_are_printed_as_they_are_found(program, tmp_path):
    """4 KB of copies are four million pairs: they are never held at once."""
    (tmp_path / "d.csv").write_text("a\n" + "1\n2\n" * 1000)

    def run(words):
        command = f"ulimit -v 200000; exec {program} --threads 1 {words}"
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    lines = run("neighbours d.csv --radius 0").splitlines()
    assert len(lines) == 1 + 2000 * 999
    assert len({len(line) for line in lines}) == 1
    found = json.loads(run("--json neighbours d.csv --radius 0 --rows 1-100"))
    assert [len(row["neighbours"]) for row in found["rows"]] == [999] * 100
    # What is printed at once has the same cells.
    few = run("neighbours d.csv --radius 0 --rows 7").splitlines()
    assert [line.split() for line in few[1:]] == [line.split() for line in lines if line.split()[0] == "7"]
