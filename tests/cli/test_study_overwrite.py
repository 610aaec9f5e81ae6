"""`assay study --overwrite` replaces a study only once the new one is planned: what is wrong is said, nothing lost."""

import shutil

import pytest

WORKS = ("study", "iris", "--split", "test", "--methods", "gradient,occlusion", "--aggregators", "none", "--no-curves",
         "--sample", "12", "--time", "none", "--out", "made")  # fmt: skip


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def first(program, tmp_path_factory):
    import subprocess

    folder = tmp_path_factory.mktemp("overwrite")
    subprocess.run([program, *WORKS], cwd=folder, check=True, capture_output=True)
    return contents(folder / "made")


@pytest.mark.parametrize(
    "wrong",
    [("--target", "nope"), ("--cohort", "zz"), ("--background", "pool:0"), ("--label", "nolabel")],
    ids=lambda words: words[0],
)
def test_what_is_refused_loses_nothing(assay, tmp_path, one_sentence, first, wrong):
    for path, content in first.items():
        (tmp_path / "made" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / path).write_bytes(content)
    (tmp_path / "made" / "mine.txt").write_text("a note of my own")
    one_sentence(assay("--quiet", *WORKS, "--overwrite", *wrong))
    left = contents(tmp_path / "made")
    assert left.pop(next(path for path in left if path.name == "mine.txt")) == b"a note of my own"
    assert left == first


def test_what_works_replaces_it(assay, tmp_path, first):
    for path, content in first.items():
        (tmp_path / "made" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / path).write_bytes(content)
    assert assay(*WORKS, "--overwrite", "--criteria", "complexity").returncode == 0
    names = {str(path) for path in contents(tmp_path / "made")}
    assert not any(".replaced" in name for name in names) and "study.json" in names
    assert assay("verify", "made").returncode == 0


def test_a_kill_in_between_is_recovered(assay, tmp_path, first):
    """Half of the old study is set aside, or all of it and nothing of the new one is there."""
    for moved in (["study.json", "scores.csv"], [str(path) for path in first]):
        for path, content in first.items():
            aside = "made/.replaced" if str(path) in moved else "made"
            (tmp_path / aside / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / aside / path).write_bytes(content)
        refused = assay(*WORKS)
        assert refused.returncode == 1 and "--overwrite" in refused.stderr
        assert contents(tmp_path / "made") == first
        shutil.rmtree(tmp_path / "made")
