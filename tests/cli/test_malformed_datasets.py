"""Data sets that are unknown, missing or damaged: one clear sentence that says what to do, and exit code 1."""

import hashlib
import json

import pytest


def test_unknown_data_set_suggests_a_name(refused):
    sentence = refused("iriss")
    assert "'iriss'" in sentence and "did you mean 'iris'?" in sentence and "adult" in sentence


@pytest.mark.parametrize("spec", ["iris:foo=1", "adult:one_hot=true", "mimic3:sepsiss=angus"])
def test_unknown_option_of_a_data_set(refused, spec):
    name, option = spec.split(":")
    sentence = refused(spec)
    assert name in sentence and option.split("=")[0] in sentence


@pytest.mark.parametrize(
    ("name", "file", "words"),
    [
        (
            "adult",
            "adult.data",
            ["archive.ics.uci.edu", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"],
        ),
        (
            "mnist",
            "train-images-idx3-ubyte",
            ["http", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"],
        ),
        ("wine", "wine_data.csv", ["http", "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede"]),
        ("mimic3", ".csv", ["physionet"]),
        ("eicu", ".csv", ["physionet"]),
        ("cinc2012", "Outcomes-a.txt", ["physionet"]),
        ("cinc2019", "", ["physionet"]),
    ],
)
def test_missing_data_set_says_where_it_looked_and_where_to_get_it(refused, tmp_path, name, file, words):
    (tmp_path / "mine").mkdir()
    sentence = refused(name, "--data-dir", "mine", env={"ASSAY_DATA": "/one:/two", "XDG_CACHE_HOME": "/cache"})
    for folder in ("mine/", "/one/", "/two/", "/cache/assay/"):
        assert folder in sentence
    assert name in sentence and file in sentence and "--data-dir" in sentence and "sha256" in sentence
    for word in words:
        assert word in sentence.lower()


def test_missing_data_set_without_any_folder(refused):
    nowhere = {"ASSAY_DATA": "", "XDG_CACHE_HOME": "", "HOME": ""}
    assert "adult.data" in refused("adult", env=nowhere)


def test_published_checksums_are_those_of_the_files(data_dir, assay):
    """The sha256 that a refusal names is that of the file people really get."""
    listed = json.loads(assay("list", "datasets", "--json").stdout)["datasets"]
    files = {hashlib.sha256(path.read_bytes()).hexdigest() for path in data_dir.glob("*/*") if path.is_file()}
    for entry in listed:
        if entry["name"] in ("adult", "mnist", "wine", "breast_cancer", "diabetes", "digits", "german"):
            assert entry["files"] and {file["sha256"] for file in entry["files"]} <= files


GERMAN = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n"
ADULT = "39, State-gov, 77516, Bachelors, 13, Single, Clerical, Own, White, Male, 2174, 0, 40, Cuba, <=50K\n"


@pytest.mark.parametrize(
    ("name", "files", "start"),
    [
        ("german", {"german.data": GERMAN * 2 + "A11 6\n"}, "german/german.data, line 3"),
        ("adult", {"adult.data": ADULT * 4 + "1, 2\n", "adult.test": ADULT}, "adult/adult.data, line 5"),
        ("adult", {"adult.data": ADULT * 4, "adult.test": "|x\n" + ADULT + "1, 2\n"}, "adult/adult.test, line 3"),
        ("wine", {"wine_data.csv": "1,13,a,b,c\n" + ",".join("1" * 14) + "\n1,2\n"}, "wine/wine_data.csv, line 3"),
    ],
)
def test_malformed_data_set_names_the_line_of_the_file(refused, tmp_path, name, files, start):
    """The line is that of the user's file, not of what was made of it on the way."""
    (tmp_path / "mine" / name).mkdir(parents=True)
    for file, text in files.items():
        (tmp_path / "mine" / name / file).write_text(text)
    assert refused(name, "--data-dir", "mine").startswith(f"mine/{start}:")
