"""assay.study(time=...): what is chosen for it is recorded, and a resumed study asks no clock."""

import json
import pathlib
import time

import numpy as np
import pytest

import assay

ROWS = np.random.default_rng(3).normal(size=(160, 4)).astype(np.float32)


def slow(rows):
    """0.1 ms a row: a study of all 120 rows by all methods takes minutes."""
    time.sleep(1e-4 * len(rows))
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def settings_of(study):
    return json.loads(pathlib.Path(study.folder, "settings.json").read_text())


def test_a_slow_function_is_studied_in_its_time_and_resumed_without_a_clock(tmp_path):
    given = {"pool": ROWS[120:], "out": tmp_path / "study"}
    made = assay.study(assay.wrap(slow), ROWS[:120], time=3, **given)
    settings = settings_of(made)
    chosen = dict(settings["choices"])
    assert "time=3.0" in settings["arguments"] and chosen["time"] == "3s"
    # All would fit now: the function is a thousand times faster.
    content = (tmp_path / "study" / "study.json").read_bytes()
    for name in ("scores/occlusion.json", "study.json"):
        (tmp_path / "study" / name).unlink(missing_ok=True)
    fast = assay.wrap(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], name=assay.wrap(slow).name)
    # What a slow function gives up (rows, methods, samples) depends on what the clock shows, but it gives up something.
    whole = settings_of(assay.study(fast, ROWS[:120], time=3600, pool=ROWS[120:]))["choices"]
    assert {**dict(whole), "time": "3s"} != chosen
    again = assay.study(fast, ROWS[:120], time=3, resume=True, **given)
    assert settings_of(again)["choices"] == settings["choices"]
    assert (tmp_path / "study" / "study.json").read_bytes() == content


def test_plans_say_what_of_the_time_they_take():
    model = assay.wrap(lambda rows: rows[:, 0])
    few = {"pool": ROWS[120:], "methods": "occlusion", "aggregators": "none"}
    assert "s of the minute that time allows" in assay.study_plan(model, ROWS[:120], **few)
    assert "s of the 2 min that time allows" in assay.study_plan(model, ROWS[:120], time="2m", **few)
    assert "allows" not in assay.study_plan(model, ROWS[:120], time=None, **few)
    plan = assay.study_plan(assay.wrap(slow), ROWS[:120], pool=ROWS[120:], time=np.float32(2))
    assert "left out for time: " in plan and ': time="' in plan


def test_without_a_limit_nothing_is_chosen(tmp_path):
    model = assay.wrap(lambda rows: rows[:, 0])
    few = {"pool": ROWS[120:], "methods": "occlusion", "aggregators": "none"}
    for limit in (None, "none"):
        made = assay.study(model, ROWS[:20], time=limit, **few)
        assert settings_of(made)["choices"] == []
    default = assay.study(model, ROWS[:20], **few)
    assert settings_of(default)["arguments"] == ["methods=occlusion", "aggregators=none"]
    assert dict(settings_of(default)["choices"])["time"] == "1m"


def test_a_time_that_is_too_short_is_one_sentence(tmp_path):
    sentence = r"^time: expected at least about \d+ s for kernel_shap on 10 rows, found 0.05s$"
    with pytest.raises(ValueError, match=sentence):
        assay.study(
            assay.wrap(slow), ROWS[:120], pool=ROWS[120:], time=0.05, methods="kernel_shap", out=tmp_path / "study"
        )
    assert not (tmp_path / "study").exists()
