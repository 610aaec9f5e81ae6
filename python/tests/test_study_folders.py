"""Study.load: folders from elsewhere are read whole or refused with a sentence, and their texts stay texts."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import assay

QUICK = {
    "methods": ["occlusion", "lime"],
    "aggregators": ["mean"],
    "criteria": "faithfulness,complexity",
    "curves": False,
}
ROWS = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small study of a function."""
    out = tmp_path_factory.mktemp("function") / "study"
    return assay.study(assay.wrap(lambda rows: rows[:, 0] * rows[:, 1]), ROWS[:20], pool=ROWS, out=out, **QUICK)


def test_folders_that_are_not_there_are_told_from_those_that_are_no_studies(finished, tmp_path):
    (tmp_path / "file").write_text("")
    for path, error in ((tmp_path / "none", FileNotFoundError), (tmp_path / "file", NotADirectoryError)):
        with pytest.raises(error, match=path.name):
            assay.Study.load(path)
    with pytest.raises(ValueError, match=r"found no file study\.json in it$"):
        assay.Study.load(tmp_path)
    with pytest.raises(ValueError, match=r"^folder: expected a name of whole characters"):
        finished.save("\udcff")
    with pytest.raises(TypeError, match=r"^folder: expected the name of a folder, found 5$"):
        finished.save(5)


def test_what_is_read_is_what_was_written(finished):
    loaded = assay.Study.load(finished.folder)
    assert loaded._json_text == (finished.folder / "study.json").read_text()
    assert repr(loaded) == repr(finished)
    for name in finished.entries:
        np.testing.assert_array_equal(loaded.explanations[name].values, finished.explanations[name].values)
        assert repr(loaded.scores[name]) == repr(finished.scores[name])


def test_hostile_folders_stay_text(finished, tmp_path):
    finished.save(tmp_path / "study")
    for name in ("study.json", "scores/lime.json"):
        path = tmp_path / "study" / name
        text = path.read_text()
        for key in ("name", "explanation"):
            text = text.replace(f'"{key}": "lime"', f'"{key}": "<script>alert(0)</script>\\u001b[31m"')
        path.write_text(text)
    document = read_json(tmp_path / "study" / "study.json")
    document["left_out"] = [{"kind": "\x1b[31m", "name": "\x1b[31m", "reason": "<script>\x1b[31m"}]
    document["facts"]["title"] = "<script>alert(1)</script>\x1b[31m"
    (tmp_path / "study" / "study.json").write_text(json.dumps(document))
    loaded = assay.Study.load(tmp_path / "study")
    assert loaded.entries[1].startswith("<script>")
    assert "<script" not in loaded._repr_html_() and "&lt;script" in loaded._repr_html_()
    assert "\x1b" not in repr(loaded)


def edited(**changes):
    def edit(folder):
        document = read_json(folder / "study.json")
        document.update(changes)
        (folder / "study.json").write_text(json.dumps(document))

    return edit


def bad_stem(folder):
    document = read_json(folder / "study.json")
    document["entries"][0]["stem"] = "../../etc/passwd"
    (folder / "study.json").write_text(json.dumps(document))


def linked(name):
    def edit(folder):
        os.replace(folder / name, folder.parent / "elsewhere")
        os.symlink(folder.parent / "elsewhere", folder / name)

    return edit


def written(name, text):
    return lambda folder: (folder / name).write_text(text)


def swapped(folder):
    shutil.copy(folder / "scores" / "lime.json", folder / "scores" / "occlusion.json")


def short(folder):
    document = read_json(folder / "scores" / "lime.json")
    document["scores"][0]["values"].pop()
    (folder / "scores" / "lime.json").write_text(json.dumps(document))


def score_text(folder):
    document = read_json(folder / "study.json")
    document["entries"][0]["scores"][0]["mean"] = "<b>"
    (folder / "study.json").write_text(json.dumps(document))


BROKEN = {
    "schema": (edited(schema="assay.study/3"), r"assay\.study/3"),
    "entries": (edited(entries=[{}]), r"study\.json.*entries"),
    "notes": (edited(notes=[1]), r"study\.json.*notes"),
    "left out": (edited(left_out=[{"kind": 1}]), r"study\.json.*left_out"),
    "facts": (edited(facts={}), r"study\.json.*facts"),
    "score": (score_text, "<b>"),
    "no object": (written("study.json", "[]"), r"study\.json"),
    "no JSON": (written("study.json", "{"), r"study\.json: "),
    "NaN": (written("study.json", '{"schema": NaN}'), r"study\.json: "),
    "deep": (written("study.json", "[" * 200_000), r"study\.json: "),
    "stem": (bad_stem, "stem"),
    "link": (linked("scores/lime.json"), r"lime\.json: expected a regular file, found a link"),
    "linked folder": (linked("explanations"), "expected a regular file, found a link at 'explanations'"),
    "no scores": (lambda folder: (folder / "scores" / "lime.json").unlink(), r"lime\.json: .* found nothing"),
    "no explanations": (lambda folder: (folder / "explanations" / "lime.npz").unlink(), r"lime\.npz: .* found nothing"),
    "no times": (lambda folder: (folder / "run.json").unlink(), r"run\.json: .* found nothing"),
    "times": (written("run.json", '{"schema": "assay.run/1"}'), r"run\.json"),
    "swapped": (swapped, "expected the scores of 'occlusion', as study.json says, found those of 'lime'"),
    "short": (short, r"lime\.json, 'scores' 2: expected 19 'values', as before, found 20"),
    "broken npz": (written("explanations/lime.npz", "PK"), "lime"),
}


@pytest.mark.parametrize(("edit", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_folders_are_refused(finished, tmp_path, edit, sentence):
    folder = tmp_path / "study"
    finished.save(folder)
    assay.Study.load(folder)
    edit(folder)
    with pytest.raises(ValueError, match=sentence):
        assay.Study.load(folder)
