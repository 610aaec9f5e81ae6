"""The report's page in headless Chromium: what it shows, that it answers, and that it stays shut to the outside."""

import pytest
from sample import CRITERIA, sample


def texts(browser, selector):
    """The text of all elements found, shown or not."""
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return browser.execute_script(script, selector)


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def set_value(browser, selector, value, event="change"):
    script = """const one = document.querySelector(arguments[0]);
                one.value = arguments[1]; one.dispatchEvent(new Event(arguments[2], {bubbles: true}))"""
    browser.execute_script(script, selector, value, event)


def table_order(browser, table=0):
    script = """const table = document.querySelectorAll('table.criteria')[arguments[0]];
                return [...table.tBodies[0].rows].map((row) => Number(row.dataset.entry))"""
    return browser.execute_script(script, table)


def by_mean(data, criterion, descending):
    """Entries in the order of their means, undefined last, first come first where equal."""
    means = [entry["scores"][criterion]["mean"] for entry in data["entries"]]
    known = [index for index, mean in enumerate(means) if mean is not None]
    known.sort(key=lambda index: (-means[index] if descending else means[index], index))
    return known + [index for index, mean in enumerate(means) if mean is None]


def test_all_parts_are_there(show, draw_all):
    data = sample()
    browser = show(data)
    draw_all()
    assert texts(browser, "h1") == [data["title"]] and browser.title == data["title"]
    for part in ("criteria", "tradeoff", "importance", "agreement", "rows", "curves", "provenance"):
        assert len(texts(browser, f"section#{part}")) == len(texts(browser, f"nav a[href='#{part}']")) == 1
    assert texts(browser, ".verdict li") == data["verdict"] and texts(browser, ".warning li") == data["warnings"]
    assert len(texts(browser, ".js-plotly-plot")) == 4
    page = texts(browser, "body")[0]
    expected = [
        "ab" * 32,
        "the model has no gradients",
        "Assay 0.1.0",
        "on 93.4 % of rows",
        "dominated by exact_shapley",
    ]
    assert [
        text for text in [*expected, data["notes"][0], "41 s", "median", data["rows_words"]] if text not in page
    ] == []


def test_scores_are_the_numbers_of_the_data(show):
    data = sample()
    browser = show(data, plotly=False)
    cells = texts(browser, "table.criteria tbody tr:first-child td.score .value")
    for cell, score in zip(cells, data["entries"][0]["scores"], strict=False):
        mean, stderr = (float(part.replace("\u2212", "-")) for part in cell.lstrip("★~ ").split(" ± "))
        # Two digits of the standard error are shown: half a unit of the second is at most 5 % of it.
        assert (
            abs(mean - score["mean"]) <= 0.05 * score["stderr"]
            and abs(stderr - score["stderr"]) <= 0.05 * score["stderr"]
        )
    for name, mark in (("best", "★"), ("tied", "~")):
        standing = [score["standing"] for entry in data["entries"] for score in entry["scores"][:4]]
        assert texts(browser, f"section#criteria > .scroll td.{name} .mark") == [mark] * standing.count(name) != []


def test_table_sorts(show):
    data = sample(entries=12)
    browser = show(data, plotly=False)
    assert table_order(browser) == list(range(12))
    button = "table.criteria thead th:nth-child({}) button"
    sort = "return [...document.querySelectorAll('table.criteria')[0].tHead.rows[0].cells].map((one) => one.ariaSort)"
    click(browser, button.format(2))
    assert table_order(browser) == by_mean(data, 0, descending=True)  # faithfulness: higher is better
    assert browser.execute_script(sort) == ["none", "descending"] + ["none"] * 5
    click(browser, button.format(2))
    assert table_order(browser) == by_mean(data, 0, descending=False)
    assert browser.execute_script(sort) == ["none", "ascending"] + ["none"] * 5
    click(browser, button.format(5))
    assert table_order(browser) == by_mean(data, 3, descending=False)  # complexity: lower is better
    click(browser, button.format(1))
    names = [data["entries"][index]["name"] for index in table_order(browser)]
    assert names == sorted(names)
    click(browser, button.format(7))
    assert table_order(browser)[-1] == 0  # its time is not known


def test_table_sorts_by_keyboard_and_undefined_last(show):
    from selenium.webdriver.common.keys import Keys

    data = sample()
    browser = show(data, plotly=False)
    browser.execute_script("document.querySelector('section#criteria details').open = true")
    infidelity = [criterion[0] for criterion in CRITERIA if not criterion[3]].index("infidelity")
    found = "section#criteria details table.criteria thead th:nth-child({}) button"
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    button = browser.find_element("css selector", found.format(infidelity + 2))
    for key, descending in ((Keys.ENTER, False), (Keys.SPACE, True)):
        button.send_keys(key)
        assert table_order(browser, 1) == by_mean(data, 5, descending)
        assert table_order(browser, 1)[-1] == 4
    assert "needs completeness" in texts(browser, "section#criteria details tbody tr:last-child")[0]


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_pareto_front(show, signs):
    """Against the definition: on the front is what no other is at least as good as in both and better in one."""
    browser = show(sample(entries=2, rows=1), plotly=False)
    points = [{"x": x, "y": y} for x, y in ((1, 1), (2, 2), (2, 1), (3, 0), (0, 3), (2, 2), (-1, -1), (1, 2.5))]
    call = "return Assay.pareto_front(arguments[0], arguments[1], arguments[2])"
    front = browser.execute_script(call, points, *signs)
    good = [(signs[0] * point["x"], signs[1] * point["y"]) for point in points]
    expected = [
        point for point in set(good) if not any(a >= point[0] and b >= point[1] and (a, b) != point for a, b in good)
    ]
    assert sorted({(signs[0] * point["x"], signs[1] * point["y"]) for point in front}) == sorted(expected)
    assert [signs[0] * point["x"] for point in front] == sorted(
        (signs[0] * point["x"] for point in front), reverse=True
    )


def test_tradeoff_follows_the_choice(show, draw_all):
    data = sample()
    browser = show(data)
    draw_all()
    axis = "return document.querySelector('#tradeoff .js-plotly-plot').layout.{}axis.title.text"
    assert browser.execute_script(axis.format("x")) == "complexity  (← better)"
    assert browser.execute_script(axis.format("y")) == "faithfulness  (better ↑)"
    set_value(browser, "#tradeoff select", "1")
    assert browser.execute_script(axis.format("x")) == "max_sensitivity  (← better)"
    best = data["entries"][by_mean(data, 1, descending=False)[0]]["name"]
    assert texts(browser, "#tradeoff .result")[0].startswith(
        f"On the Pareto front, best by max_sensitivity first: {best}"
    )
    names = [option for option in texts(browser, "#tradeoff label:first-child option")]
    assert "rank_correlation" not in names and "sparseness" in names  # no direction: nothing is better


def test_importance_never_pools_targets(show, draw_all):
    data = sample(features=30)
    browser = show(data)
    draw_all()
    for block, target in ((0, "healthy"), (1, "septic")):
        set_value(browser, "#importance .control:nth-child(2) select", str(block))
        for entry in (0, 5):
            set_value(browser, "#importance .control:nth-child(1) select", str(entry))
            means = data["importance"][block]["mean_abs"][entry]
            order = sorted(range(30), key=lambda feature: -means[feature])[:20]
            assert texts(browser, "#importance .bar-name") == [data["features"][feature] for feature in order]
            drawn = browser.execute_script(
                "return document.querySelector('#importance .js-plotly-plot').data.flatMap((trace) => trace.x)"
            )
            rows = [row["values"][entry] for row in data["rows"] if row["target"] == target]
            assert sorted(drawn) == sorted(row[feature] for row in rows for feature in order)
            assert ("relative" in texts(browser, "#importance .result")[0]) == (entry == 5)


def shown_row(browser):
    return texts(browser, "#row-heading")[0], texts(browser, ".facts dd")


def test_row_browser(show):
    data = sample(rows=12)
    data["rows"][4]["id"] = "P-77"
    browser = show(data, plotly=False)
    first = shown_row(browser)
    assert first[0] == "Row 1 (patient-0001)" and first[1][1] == "patient-0001"
    click(browser, "#row-next")
    assert shown_row(browser)[0] == "Row 4 (patient-0004)"
    click(browser, "#row-previous")
    assert shown_row(browser) == first
    click(browser, "#row-previous")
    assert shown_row(browser)[0] == "Row 34 (patient-0034)"
    set_value(browser, "#row-choice", "2")
    assert shown_row(browser)[0] == "Row 7 (patient-0007)"
    set_value(browser, "#row-search", "p-7", "input")
    assert shown_row(browser)[0] == "Row 13 (P-77)"
    set_value(browser, "#row-search", "10", "input")
    assert shown_row(browser)[0] == "Row 10 (patient-0010)"
    set_value(browser, "#row-search", "nobody", "input")
    assert texts(browser, "#rows .status") == ["no such row in this file"]
    assert browser.execute_script("return document.querySelector('#row-choice').value") == "3"
    row = data["rows"][3]
    neighbours = [str(one["row"]) for one in row["antecedents"][0]["neighbours"]]
    assert texts(browser, "table.neighbours tbody th") == neighbours
    assert set(texts(browser, "table.neighbours tbody tr:first-child td")[1:]) <= set(
        row["antecedents"][0]["neighbours"][0]["cells"]
    )


def test_bars_are_in_proportion(show):
    """A method's bar is its share of the largest |value| + error of all methods; a relative one's, of its own."""
    data = sample(entries=4, rows=1, features=5)
    browser = show(data, plotly=False)
    row = data["rows"][0]
    heads = texts(browser, "table.panels tbody th .name")
    ranks = {feature: 0 for feature in range(5)}
    for values in row["values"]:
        for rank, feature in enumerate(sorted(range(5), key=lambda one: -abs(values[one]))):
            ranks[feature] += rank
    order = sorted(range(5), key=lambda feature: (ranks[feature], feature))
    assert heads == [data["features"][feature] for feature in order]
    assert texts(browser, "table.panels tbody .cell") == [f"= {row['cells'][feature]}" for feature in order]
    reach = [
        max(abs(v) + (row["errors"][k][f] if row["errors"][k] else 0) for f, v in enumerate(values))
        for k, values in enumerate(row["values"])
    ]
    scale = [max(reach[:2])] * 2 + reach[2:]
    style = """return [...document.querySelectorAll('table.panels td .bar')].map((one) => one.style)
                 .map((one) => [parseFloat(one.left), parseFloat(one.width)])"""
    drawn = iter(browser.execute_script(style))
    for feature in order:
        for entry in range(4):
            share = 50 * row["values"][entry][feature] / scale[entry]
            assert next(drawn) == pytest.approx([50 + min(share, 0), abs(share)], abs=1e-3)
    assert len(texts(browser, ".whisker")) == 2 * 5  # entries 1 and 2 are sampled
    click(browser, "#own-scale")
    widths = [width for _, width in browser.execute_script(style)]
    assert max(widths[0::4]) == pytest.approx(50 * max(map(abs, row["values"][0])) / reach[0], abs=1e-3)


def test_many_features_are_cut_and_shown_on_request(show):
    browser = show(sample(entries=30, rows=3, features=50), plotly=False)
    blocks = len(texts(browser, "table.panels"))
    assert len(texts(browser, "table.panels tbody tr")) == 15 * blocks
    assert len(texts(browser, "table.panels td.phi")) == 15 * 30
    click(browser, "#all-features")
    assert len(texts(browser, "table.panels td.phi")) == 50 * 30
    click(browser, "#row-next")
    assert len(texts(browser, "table.panels td.phi")) == 50 * 30


def test_a_row_without_attributions_is_undefined(show):
    data = sample(rows=3)  # rows 1, 4, 7: the last has no attributions of the last entry
    browser = show(data, plotly=False)
    set_value(browser, "#row-choice", "2")
    lines = browser.execute_script(
        "return [...document.querySelectorAll('table.panels tbody tr')].map((one) => one.lastChild.textContent)"
    )
    assert lines == ["\u2013"] * 7


def test_curves(show, draw_all):
    data = sample()
    browser = show(data)
    draw_all()
    drawn = """return document.querySelector('#curves .js-plotly-plot').data.filter((trace) => trace.name)
                 .map((trace) => [trace.name, trace.y, trace.visible])"""
    expected = {
        data["entries"][curve["entry"]]["name"]: curve["mean"] for curve in data["curves"] if curve["along"] == "radius"
    }
    assert {name: y for name, y, _ in browser.execute_script(drawn)} == expected
    assert sum(visible is True for _, _, visible in browser.execute_script(drawn)) == 6
    set_value(browser, "#curves select", "1")
    expected = {
        data["entries"][curve["entry"]]["name"]: curve["mean"] for curve in data["curves"] if curve["along"] == "subset"
    }
    assert {name: y for name, y, _ in browser.execute_script(drawn)} == expected
    assert len(texts(browser, "#curves table.numbers tbody tr")) == 8
    assert "on 90 % of rows" in texts(browser, "#curves table.numbers")[0]
