"""Rounds, medians, spreads and bars of benchmarks/peers."""

import os
import subprocess
import sys

import numpy as np
import pytest


def facts(harness, **given):
    """Assay takes 2 s, the peer 10 s."""
    rounds = {"peer_rounds": [9.0, 10.0, 30.0], "assay_rounds": [2.0, 1.0, 3.0]}
    return harness.Row("work", given.pop("peer", "peer"), **rounds | given).facts()


def test_a_row_has_medians_and_their_ratio(harness):
    found = facts(harness)
    assert (found["workload"], found["peer"], found["peer_s"], found["assay_s"]) == ("work", "peer", 10, 2)
    assert (found["ratio"], found["bar"], found["holds"], found["rounds"]) == (5, None, None, 3)


@pytest.mark.parametrize(("least", "holds"), [(5, True), (4.9, True), (5.1, False), (10000, False)])
def test_a_least_ratio_holds_up_to_the_ratio(harness, least, holds):
    found = facts(harness, least_ratio=least)
    assert found["holds"] is holds
    assert found["bar"] == f">= {least:,g}x"


@pytest.mark.parametrize(("limit", "holds"), [(2, True), (1.9, False)])
def test_a_limit_is_for_assay_alone(harness, limit, holds):
    found = facts(harness, limit=limit)
    assert found["holds"] is holds
    assert found["bar"] == f"<= {harness.seconds_text(limit)}"
    alone = facts(harness, peer=None, peer_rounds=[], limit=limit)
    assert alone["holds"] is holds
    assert (alone["peer"], alone["peer_s"], alone["ratio"], alone["peer_spread_s"]) == (None,) * 4


def test_a_bar_in_words_keeps_its_words_and_what_was_decided(harness):
    found = facts(harness, bar="error not above the peer's", holds=False, more={"peer_error": 0.5})
    assert (found["bar"], found["holds"], found["peer_error"]) == ("error not above the peer's", False, 0.5)
    # Words do not decide where there is a number.
    assert facts(harness, bar=">= 150 MB/s", limit=1.5)["holds"] is False
    assert facts(harness, bar=">= 150 MB/s", limit=2.5)["holds"] is True


def test_the_spread_is_half_the_range_between_numpys_quartiles(harness):
    random = np.random.default_rng(7)
    for count in range(2, 14):
        rounds = random.exponential(size=count).tolist()
        low, high = np.quantile(rounds, [0.25, 0.75])
        assert harness.spread(rounds) == pytest.approx((high - low) / 2, rel=1e-12)


def test_sides_take_turns_after_a_round_that_does_not_count(harness):
    calls = []

    def side(name):
        def run():
            calls.append(name)
            return len(calls)

        return run

    found = harness.alternate({"a": side("a"), "b": side("b")}, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert found == {"a": [3, 6, 7], "b": [4, 5, 8]}
    assert len(harness.alternate({"a": lambda: 1})["a"]) == harness.ROUNDS >= 5


def test_a_timed_side_leaves_its_answer(harness):
    answers = {}
    seconds = harness.timed(lambda: "found", answers, "peer")()
    assert seconds >= 0 and answers == {"peer": "found"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1234.4, "1,234 s"),
        (7.49, "7.49 s"),
        (0.9996, "1.00 s"),
        (0.0412, "41.2 ms"),
        (0.99949e-3, "999 us"),
        (123.4e-6, "123 us"),
        (5.7e-8, "57.0 ns"),
    ],
)
def test_times_have_three_digits(harness, seconds, text):
    assert harness.seconds_text(seconds) == text


def test_threads_hold_for_programs_too_and_end(harness):
    before = os.sched_getaffinity(0)
    ask = [sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"]
    with harness.on_threads(1):
        assert len(os.sched_getaffinity(0)) == 1
        assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip() == "1"
    assert os.sched_getaffinity(0) == before


def test_data_that_is_not_there_is_said(harness, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_DATA", str(tmp_path))
    with pytest.raises(harness.Unavailable, match="ASSAY_DATA has no adult"):
        harness.data_folder("adult")
    (tmp_path / "adult").mkdir()
    assert harness.data_folder("adult") == tmp_path / "adult"
    monkeypatch.setenv("ASSAY_DATA", "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(harness.Unavailable):
        harness.data_folder("adult")
