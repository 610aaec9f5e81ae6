"""Pictures of the report: waterfalls, scales, what saves them, and what people who do not see them are told."""

import base64
import re
import time

import pytest
from sample import sample
from test_report import set_value, texts
from test_surroundings import HOSTILE, count, made_hostile


def bars_of(browser, selector):
    """Where each bar of a chart begins and ends, in hundredths of the track."""
    script = """return [...document.querySelectorAll(arguments[0] + ' .bars li')].map((one) => {
                  const style = one.querySelector('.bar, .spot').style;
                  const left = parseFloat(style.left);
                  return [one.querySelector('.bar-name').textContent, left, left + parseFloat(style.width)];
                })"""
    return browser.execute_script(script, selector)


def test_waterfall_leads_from_the_reference_to_the_row(show):
    data = sample(rows=1)
    data["opened"] = 0  # which adds up: base 0.25 and the sum of its values
    browser = show(data, plotly=False)
    row = data["rows"][0]
    values = row["values"][0]
    order = sorted(range(7), key=lambda feature: -abs(values[feature]))
    at, ends = 0.25, [(0.25, 0.25)]
    for feature in order:
        ends.append((at, at + values[feature]))
        at += values[feature]
    ends.append((row["output"], row["output"]))
    low = min(min(pair) for pair in ends)
    span = max(max(pair) for pair in ends) - low
    drawn = bars_of(browser, ".row-picture")
    assert drawn[0][0] == "the reference" and drawn[-1][0] == "this row"
    assert [name for name, _, _ in drawn][1:-1] == [
        f"{data['features'][feature]}= {row['cells'][feature]}" for feature in order
    ]
    for (_, left, right), (begin, end) in zip(drawn, ends, strict=True):
        assert [left, right] == pytest.approx(
            [100 * (min(begin, end) - low) / span, 100 * (max(begin, end) - low) / span], abs=1e-2
        )
    shown = texts(browser, ".row-picture .bar-value")
    assert shown[0] == "0.25 margin (56 % on average)" and re.search(r" margin \(\d+ %\)$", shown[-1])
    assert texts(browser, ".row-picture .reading")[0].startswith("From the reference's 0.25 margin (56 % on average)")


def test_many_features_end_in_one_line_for_the_rest(show):
    data = sample(rows=1, features=40)
    data["opened"] = 0
    browser = show(data, plotly=False)
    names = texts(browser, ".row-picture .bar-name")
    assert len(names) == 1 + 12 + 1 + 1 and names[-2] == "28 other features"


def test_only_what_adds_up_is_a_waterfall(show):
    data = sample(entries=12, rows=1)
    browser = show(data, plotly=False)
    ranks = next(index for index, entry in enumerate(data["entries"]) if not entry["has_signs"])
    choose = "#rows .controls:not(:first-of-type) select"
    for entry, words in ((3, "do not add up to the prediction"), (ranks, "ranks: longer is more important")):
        set_value(browser, choose, str(entry))
        assert words in texts(browser, ".row-picture .reading")[0]
        assert "the reference" not in texts(browser, ".row-picture .bar-name")
    assert count(browser, ".row-picture .bar.positive, .row-picture .bar.negative") == 0  # ranks are neutral
    assert count(browser, ".row-picture .bar.neutral") == 7
    set_value(browser, choose, "3")
    assert count(browser, ".row-picture .bar.neutral") == 0
    negative = [value for value in data["rows"][0]["values"][3] if value < 0]
    assert count(browser, ".row-picture .bar.negative") == len(negative)
    assert sum(text.startswith("\u2212") for text in texts(browser, ".row-picture .bar-value")) == len(negative)


def test_scales_say_whether_a_score_is_good(show):
    data = sample()
    data["entries"][1]["scores"][0]["mean"] = 0.96
    data["entries"][1]["scores"][3]["mean"] = 1.6
    browser = show(data, plotly=False)
    block = ".scale[data-criterion=faithfulness]"
    assert texts(browser, f"{block} .answer") == [
        "Is 0.96 good? It is 96 % of the way from a random explanation to the best there can be."
    ]
    legend = texts(browser, f"{block} .scale-legend li")
    assert "kernel_shap: 0.96" in legend and "a random explanation: 0" in legend
    means = [entry["scores"][0]["mean"] for entry in data["entries"]]
    worst = data["entries"][means.index(min(means))]["name"]
    assert any(text.startswith(f"worst here, {worst}: ") for text in legend)
    assert "Does it do what faithfulness asks?" in texts(browser, block)[0]
    (simple,) = texts(browser, ".scale[data-criterion=complexity] .answer")
    assert simple == "Is 1.6 good? It is as if 5 features of 7 weighed the same."  # exp(1.6) = 4.95
    marks = f"return document.querySelector('{block} .scale-line .own').style.left"
    low = min(0, min(means))
    assert float(browser.execute_script(marks).rstrip("%")) == pytest.approx(100 * (0.96 - low) / (1 - low), abs=0.01)


def test_warnings_are_folded_after_three(show):
    data = sample()
    browser = show(data, plotly=False)
    assert texts(browser, ".warning > ul li") == data["warnings"][:3]
    browser.execute_script("document.querySelector('.more-warnings').open = true")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert texts(browser, ".more-warnings li") == data["warnings"][3:]
    assert texts(browser, ".more-warnings summary") == ["2 more warnings"]


def test_every_picture_has_a_reading_and_saves(show, draw_all, browser, tmp_path):
    browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    show(sample())
    draw_all()
    figures = """return [...document.querySelectorAll('.figure')].filter((one) => !one.hidden).map((one) =>
      [one.querySelector('.reading').textContent.trim(), one.querySelectorAll('.save').length])"""
    found = browser.execute_script(figures)
    assert len(found) >= 8 and all(reading.endswith(".") and saves == 2 for reading, saves in found)
    # A picture of the page's own, and one of plotly.js.
    for figure in (".drivers", "#tradeoff"):
        for kind in ("svg", "png"):
            browser.execute_script(f"document.querySelector('{figure} .save[data-format={kind}]').click()")
    wanted = {"drivers.svg", "drivers.png", "trade-off.svg", "trade-off.png"}
    end = time.monotonic() + 20
    while not wanted <= {path.name for path in tmp_path.iterdir()} and time.monotonic() < end:
        time.sleep(0.1)
    for name in wanted:
        head = (tmp_path / name).read_bytes()
        assert head.startswith(b"<svg") if name.endswith("svg") else head.startswith(b"\x89PNG\r\n"), name
        assert len(head) > 1000
    drawn = (tmp_path / "drivers.svg").read_text(encoding="utf-8")
    assert "systolic_blood_pressure" in drawn and drawn.count("<rect") == 8  # the ground and seven bars


def test_saved_pictures_have_no_markup_from_names(show, browser):
    show(made_hostile(sample(entries=4)), plotly=False)
    text = browser.execute_script(
        """const [name, cell] = arguments;
           return Assay.bar_chart(cell, [{name, cell, from: 0, to: 1, value: name, tone: 'neutral'}]).svg()""",
        HOSTILE[0],
        '" onload="window.hacked=1',
    )
    assert "<script" not in text and 'onload="' not in text
    parsed = browser.execute_script(
        """const made = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');
           return [made.querySelectorAll('script, parsererror').length, made.querySelectorAll('text').length]""",
        text,
    )
    assert parsed == [0, 3]


def test_plots_are_described_with_their_numbers(show, draw_all):
    browser = show(sample())
    draw_all()
    labels = browser.execute_script(
        "return [...document.querySelectorAll('.plot[role=img]')].map((one) => one.getAttribute('aria-label'))"
    )
    assert len(labels) == 5 and all(re.search(r"\d", label) and len(label) > 60 for label in labels)


def test_keyboard_reaches_every_control(show, draw_all):
    """Every control can have the focus, in the order of the page, and shows it."""
    browser = show(sample())
    draw_all()
    unreachable = browser.execute_script(
        """return [...document.querySelectorAll('button, select, input, summary, a')]
             .filter((one) => one.checkVisibility() && one.tabIndex < 0).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert unreachable == []
    positive = "return [...document.querySelectorAll('[tabindex]')].filter((one) => one.tabIndex > 0).length"
    assert browser.execute_script(positive) == 0
    browser.execute_script("document.querySelector('.curve-list input').focus()")
    assert browser.execute_script("return document.activeElement.type") == "checkbox"


def test_the_summary_is_two_pages(show, browser):
    data = sample(entries=27, features=30)
    data |= {"summary_only": True, "rows": [], "rows_shown": 0}
    data["verdict"] = [f"{number}. {' '.join(['a sentence of a long verdict'] * 9)}." for number in range(6)]
    show(data, plotly=False)
    assert count(browser, "#trust") == 1 and count(browser, "main > section") == 1 and count(browser, "nav a") == 0
    paper = {"printBackground": True, "preferCSSPageSize": True}
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2
    assert count(browser, "#no-plots") == 0


def test_printed_annexes_follow_two_pages_of_summary(show, browser):
    show(sample(entries=12, features=20))
    browser.execute_script(
        """addEventListener('beforeprint', () => {
             const first = document.querySelector('#trust');
             window.breaks = [first, first.nextElementSibling].map((one) => one.id);
           })"""
    )
    browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert browser.execute_script("return window.breaks") == ["trust", "importance"]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    style = "const style = getComputedStyle(document.querySelector('#{}')); return style.breakBefore"
    assert browser.execute_script(style.format("trust")) == "page"
    assert browser.execute_script(style.format("importance")) == "page"
    content = "return getComputedStyle(document.querySelector('#importance'), '::before').content"
    assert browser.execute_script(content) == '"Annexes"'
