"""`assay study --overwrite` removes the old study only once the new one is planned: what is wrong costs nothing."""

import signal
import subprocess

import pytest

WORKS = ("study", "iris", "--split", "test", "--methods", "gradient,occlusion", "--aggregators", "none", "--no-curves",
         "--sample", "12", "--time", "none", "--out", "made")  # fmt: skip


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def first(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("overwrite")
    subprocess.run([program, *WORKS], cwd=folder, check=True, capture_output=True)
    return contents(folder / "made")


@pytest.fixture
def made(first, tmp_path):
    """A copy of a finished study, with a note of the user's own in it."""
    for path, content in {**first, "mine.txt": b"a note of my own"}.items():
        (tmp_path / "made" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / path).write_bytes(content)
    return tmp_path / "made"


@pytest.mark.parametrize(
    "wrong",
    [
        ("--target", "nope"),
        ("--cohort", "zz"),
        ("--background", "pool:0"),
        ("--label", "nolabel"),
        ("--rows", "1,1"),
        ("--numeric", "species"),
    ],
    ids=lambda words: words[0],
)
def test_what_is_refused_loses_nothing(assay, tmp_path, one_sentence, made, wrong):
    before = contents(tmp_path)
    words = [word for word in WORKS if wrong[0] != "--rows" or word not in ("--sample", "12")]
    one_sentence(assay("--quiet", *words, "--overwrite", *wrong))
    assert contents(tmp_path) == before


def test_a_table_that_cannot_be_read_loses_nothing(assay, tmp_path, one_sentence, made):
    """A nightly job meets a bad delivery: the last good study is still there."""
    (tmp_path / "pool.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(60)))
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,0\n3,many,1\n")
    before = contents(tmp_path)
    assert "many" in one_sentence(assay("--quiet", "study", "--data", "rows.csv", "--pool", "pool.csv", "--label", "y",
                                        "--out", "made", "--overwrite"))  # fmt: skip
    assert contents(tmp_path) == before


def test_what_works_replaces_it(assay, tmp_path, made):
    assert assay(*WORKS, "--overwrite", "--criteria", "complexity", "--seed", "5").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert (made / "mine.txt").read_bytes() == b"a note of my own"
    afresh = [word if word != "made" else "afresh" for word in WORKS]
    assert assay(*afresh, "--criteria", "complexity", "--seed", "5").returncode == 0
    new = contents(tmp_path / "afresh")
    assert {str(path) for path in contents(made)} - {"mine.txt"} == {str(path) for path in new}
    for name in ("model.onnx", "scores.csv", "explanations/gradient.npz"):
        assert (made / name).read_bytes() == (tmp_path / "afresh" / name).read_bytes(), name
    (made / "mine.txt").unlink()
    assert assay("verify", "made").returncode == 0


def test_an_interrupt_before_the_plan_loses_nothing(start, tmp_path, made):
    columns = "".join(f"x{j}," for j in range(20))
    cells = ["".join(f"{(i * 7919 + j * 104729) % 1000}," for j in range(20)) for i in range(20_000)]
    table = columns + "y\n" + "".join(f"{row}{i % 3 % 2}\n" for i, row in enumerate(cells))
    (tmp_path / "rows.csv").write_text(table)
    before = contents(tmp_path)
    process = start("study", "rows.csv", "--split", "test", "--label", "y", "--out", "made", "--overwrite", text=True)
    assert process.stdout.readline().startswith("no --model: a small network, trained on")
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    assert (process.returncode, said) == (
        130, "assay: stopped before the new study began; the one in made is as it was\n")  # fmt: skip
    assert contents(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "rows.csv"]
