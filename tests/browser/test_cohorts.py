"""The part "Groups of rows" in headless Chromium: its numbers, its choice, on a phone and on paper, by keyboard."""

import pytest
from sample import sample

LINES = """return [...document.querySelectorAll('#cohorts .cohort-column:not([hidden]) tbody tr')].map(
  (line) => [...line.cells].map((cell) => cell.innerText.trim()))"""


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
    )


def lines(browser):
    return browser.execute_script(LINES)


def on_a_phone(browser):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_shows_the_numbers_of_the_data(show):
    data = sample()
    browser = show(data, plotly=False)
    assert texts(browser, "#cohorts h2") == ["Groups of rows"] and texts(browser, "nav a[href='#cohorts']") == [
        "Groups"
    ]
    female, male, other = lines(browser)
    assert female[0] == "female" and female[1] == "4,100"
    assert female[2].startswith("81 %") and "76 % to 86 %" in female[2]
    assert female[3].startswith("0.84") and "0.8 to 0.88" in female[3]
    assert female[4].startswith("\u22120.75") and "probability 0.33" in female[4]
    assert female[5] == "0.913 ± 0.012 ≠" and female[6] == "0.240 ± 0.021"
    assert female[7].replace("\n", " ").startswith(f"{data['features'][0]} 40\u00a0%") and female[7].endswith("≠")
    assert female[8] == (
        f"faithfulness is 0.052 lower (p < 0.001); the share of {data['features'][0]} is 13 points higher (p = 0.031)"
    )
    assert male[8] == "no significant difference" and "≠" not in "".join(male)
    assert other[2] == "\u2013" and other[8] == "not tested: fewer than 30 rows"
    words = texts(browser, "#cohorts p")
    assert "≠ marks what differs" in words[0] and data["entries"][1]["name"] in words[0]
    assert words[-1].startswith("42 tests over all groups") and "fewer than 30 rows" in words[-1]


def test_the_column_is_chosen_by_keyboard(show):
    from selenium.webdriver.common.keys import Keys

    browser = show(sample(), plotly=False)
    assert texts(browser, "#cohorts option") == ["sex (groups differ)", "age"]
    select = browser.find_element("css selector", "#cohorts select")
    assert browser.execute_script("return arguments[0].labels[0].textContent", select).startswith("Groups by")
    select.send_keys(Keys.ARROW_DOWN)
    names = ["up to 41", "above 41, up to 58", "above 58, up to 71", "above 71"]
    assert [line[0] for line in lines(browser)] == names
    select.send_keys(Keys.ARROW_UP)
    assert [line[0] for line in lines(browser)] == ["female", "male", "other"]
    # The table can be wider than a window: its box scrolls, and a keyboard reaches it.
    box = "return document.querySelector('#cohorts .cohort-column:not([hidden]) .scroll').tabIndex"
    assert browser.execute_script(box) == 0


def test_marks_have_words(show):
    browser = show(sample(), plotly=False)
    named = "return [...document.querySelectorAll('#cohorts .differs')].map((one) => one.getAttribute('aria-label'))"
    assert set(browser.execute_script(named)) == {"differs significantly from the other rows"}


def test_a_phone_shows_cards_of_named_values(show, browser):
    on_a_phone(browser)
    show(sample(), plotly=False)
    width = "return [document.documentElement.scrollWidth, innerWidth]"
    assert browser.execute_script(width) == [360, 360]
    label = """const first = document.querySelector('#cohorts .cohort-column:not([hidden]) tbody tr:first-child');
      return [...first.querySelectorAll('td')].map((cell) => getComputedStyle(cell, '::before').content.slice(1, -1))"""
    named = ["rows", "accuracy", "AUC", "mean output", "faithfulness", "avg_sensitivity", "main drivers"]
    assert browser.execute_script(label) == [*named, "against the other rows"]
    # Nothing is cut: every card is as wide as what is in it.
    cut = """return [...document.querySelectorAll('#cohorts .cohort-column:not([hidden]) tbody *')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
      .map((one) => one.outerHTML.slice(0, 80))"""
    assert browser.execute_script(cut) == []


def test_paper_has_all_columns(show, browser):
    show(sample(), plotly=False)
    seen = """return [...document.querySelectorAll('#cohorts .cohort-column')].map(
      (one) => getComputedStyle(one).display !== 'none' && getComputedStyle(one.querySelector('h3')).display)"""
    assert browser.execute_script(seen) == ["none", False]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(seen) == ["block", "block"]


@pytest.mark.parametrize("gone", ["none", "empty"])
def test_a_study_without_groups_has_no_such_part(show, gone):
    data = sample()
    data["cohorts"] = None if gone == "none" else {**data["cohorts"], "columns": []}
    browser = show(data, plotly=False)
    assert texts(browser, "#cohorts") == [] and texts(browser, "nav a[href='#cohorts']") == []


def test_without_scores_and_drivers(show):
    """No explanation is recommended: sizes and quality are left."""
    data = sample()
    data["cohorts"] |= {"explanation": None}
    for column in data["cohorts"]["columns"]:
        for group in column["groups"]:
            group |= {"faithfulness": [None, None], "stability": [None, None], "drivers": [], "differences": []}
            group |= {"output": None, "probability": None}
    browser = show(data, plotly=False)
    assert texts(browser, "#cohorts .cohort-column:not([hidden]) thead th")[-2:] == [
        "main driversshare of all attributions",
        "against the other rows",
    ]
    assert lines(browser)[0][:2] == ["female", "4,100"] and lines(browser)[0][-2] == "\u2013"
