"""The report's page in headless Chromium: what it shows, that it answers, and that it stays shut to the outside."""

import pytest
from sample import CRITERIA, sample
from test_surroundings import open_rivals


def texts(browser, selector):
    """The text of all elements found, shown or not, with plain spaces."""
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return [text.replace("\u00a0", " ") for text in browser.execute_script(script, selector)]


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
    assert texts(browser, "h1") == [data["headline"]] and browser.title == data["title"]
    for part in ("trust", "criteria", "tradeoff", "importance", "agreement", "rows", "curves", "provenance"):
        assert len(texts(browser, f"section#{part}")) == len(texts(browser, f"nav a[href='#{part}']")) == 1
    sentences = [one[key] for one in data["sentences"] for key in ("label", "text")]
    assert texts(browser, ".answers dt, .answers dd") == sentences
    # Everything opens on what is recommended, and says so.
    for part in ("importance", "rows", "agreement"):
        select = f"const all = document.querySelector('#{part} select:has(optgroup)');"
        assert browser.execute_script(select + "return all.value") == str(data["recommended"])
        assert "(recommended)" in browser.execute_script(select + "return all.options[all.selectedIndex].text")
    assert texts(browser, ".verdict li") == data["verdict"] and texts(browser, ".warning li") == data["warnings"]
    assert len(texts(browser, ".js-plotly-plot")) == 5
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
    cells = texts(browser, "table.criteria tbody tr[data-entry='0'] td.score .value")
    assert len(cells) == 4
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
    assert table_order(browser) == [1, 0, *range(3, 12), 2]  # the recommended one first, what is not faithful last
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
    listed = texts(browser, "#tradeoff .numbers li .name")
    assert listed == [data["entries"][index]["name"] for index in by_mean(data, 0, descending=True)]
    grey = texts(browser, "#tradeoff .numbers li.unfaithful")
    assert len(grey) == 1 and "not faithful" in grey[0]
    numbers = "return document.querySelector('#tradeoff .js-plotly-plot').layout.annotations.map((one) => one.text)"
    assert sorted(map(int, browser.execute_script(numbers))) == list(range(1, 9))
    click(browser, "#faithful-only")
    assert len(texts(browser, "#tradeoff .numbers li")) == 7
    assert "1 explanation left out: not faithful" in texts(browser, "#tradeoff .result")[0]
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


def test_importance_has_intervals(show):
    """The whisker of a bar reaches from the low to the high end, on the scale of the bars."""
    data = sample()
    browser = show(data, plotly=False)
    block, entry = data["importance"][1], data["recommended"]
    order = sorted(range(7), key=lambda feature: -block["mean_abs"][entry][feature])
    largest = max(block["high"][entry])
    place = """return [...document.querySelectorAll('#importance .whisker')].map((one) => one.style)
                 .map((one) => [parseFloat(one.left), parseFloat(one.width)])"""
    for (left, width), feature in zip(browser.execute_script(place), order, strict=True):
        low, high = block["low"][entry][feature], block["high"][entry][feature]
        assert [left, left + width] == pytest.approx([100 * low / largest, 100 * high / largest], abs=1e-3)
    assert "margin" in texts(browser, "#importance .reading")[0]


def test_what_is_not_faithful_says_so(show):
    data = sample()
    browser = show(data, plotly=False)
    grey = texts(browser, "section#criteria > .scroll tr.unfaithful th")
    assert len(grey) == 1 and grey[0].startswith(data["entries"][2]["name"]) and "not faithful" in grey[0]
    set_value(browser, "#importance .control:nth-child(1) select", "2")
    assert "It is not faithful: do not use it." in texts(browser, "#importance .result")[0]
    assert len(texts(browser, "#importance .bar.muted")) == len(data["features"])
    options = texts(browser, "#importance .control:nth-child(1) option")
    assert [option for option in options if "not faithful" in option] == ["shapley_sampling (not faithful)"]
    assert "kernel_shap (recommended)" in options and "gradient (same as kernel_shap)" not in options[:1]


def test_categories_are_coloured_by_level(show, draw_all):
    """Never from low to high: a category's dots have one colour for each level, which a list explains."""
    data = sample(rows=30)
    browser = show(data)
    draw_all()
    script = """return document.querySelector('#importance .js-plotly-plot').data
                  .map((trace) => [trace.marker.cmin ?? null, trace.marker.color, trace.x.length])"""
    (plain_scale, colours, plain), (low, _, ordered) = browser.execute_script(script)
    assert plain_scale is None and low == 0
    rows = [row for row in data["rows"] if row["target"] == "septic"]
    assert plain == 2 * len(rows) and ordered == 5 * len(rows)  # two categories, five numbers
    levels = {row["cells"][f] for row in rows for f in (2, 5)}
    assert len(set(colours)) == 4 and len(levels) == 6  # two and four levels; colours are each feature's own
    listed = " ".join(texts(browser, "#importance .levels")[:1])
    assert all(level in listed for level in levels) and "systolic_blood_pressure" in listed


def test_dependence(show, draw_all):
    data = sample(rows=30)
    browser = show(data)
    draw_all()
    rows = [row for row in data["rows"] if row["target"] == "septic"]
    plot = "document.querySelector('.dependence .js-plotly-plot')"
    set_value(browser, "#dependence-feature", "0")
    (dots,) = browser.execute_script(f"return {plot}.data.map((trace) => [trace.x, trace.y, trace.marker.color])")
    assert dots[0] == [float(row["cells"][0]) for row in rows]
    assert dots[1] == [row["values"][1][0] for row in rows]
    assert len(set(dots[2])) > 5 and "Colours show heart_rate" in texts(browser, ".dependence .reading")[0]
    set_value(browser, "#dependence-feature", "2")
    boxes = browser.execute_script(
        f"return {plot}.data.filter((trace) => trace.type === 'box').map((trace) => trace.x)"
    )
    by_level = {}
    for row in rows:
        by_level.setdefault(row["cells"][2], []).append(row["values"][1][2])
    assert sorted(map(sorted, boxes)) == sorted(map(sorted, by_level.values()))
    ticks = browser.execute_script(f"return {plot}.layout.yaxis.ticktext")
    assert sorted(ticks) == sorted(f"{level} ({len(values)})" for level, values in by_level.items())
    assert "Colours" not in texts(browser, ".dependence .reading")[0]  # it has no partner
    set_value(browser, "#dependence-feature", "1")  # coloured by the levels of a category
    assert "high" in texts(browser, ".dependence .levels")[0]


def shown_row(browser):
    """The heading up to the prediction, and the facts."""
    return texts(browser, "#row-heading")[0].split(": predicted")[0], texts(browser, ".facts dd")


def test_row_browser(show):
    data = sample(rows=12)
    data["rows"][4]["id"] = "P-77"
    data["rows"][0] |= {"probability": 0.712, "target_probability": 0.712}
    browser = show(data, plotly=False)
    assert texts(browser, "#row-choice option")[0] == "row 1 (id patient-0001): predicted septic, 71 %, labelled septic"
    first = shown_row(browser)
    assert first[0] == "Row 1 (id patient-0001)" and first[1][1] == "patient-0001"
    click(browser, "#row-next")
    assert shown_row(browser)[0] == "Row 4 (id patient-0004)"
    click(browser, "#row-previous")
    assert shown_row(browser) == first
    click(browser, "#row-previous")
    assert shown_row(browser)[0] == "Row 34 (id patient-0034)"
    set_value(browser, "#row-choice", "2")
    assert shown_row(browser)[0] == "Row 7 (id patient-0007)"
    set_value(browser, "#row-search", "p-7", "input")
    assert shown_row(browser)[0] == "Row 13 (id P-77)"
    set_value(browser, "#row-search", "10", "input")
    assert shown_row(browser)[0] == "Row 10 (id patient-0010)"
    set_value(browser, "#row-search", "nobody", "input")
    assert texts(browser, "#rows .status") == ["no such row in this file"]
    assert browser.execute_script("return document.querySelector('#row-choice').value") == "3"
    set_value(browser, "#row-which", "0")  # those that are predicted wrong
    wrong = [row for row in data["rows"] if row["predicted"] != row["label"]]
    assert texts(browser, "#row-choice option") and len(texts(browser, "#row-choice option")) == len(wrong)
    assert shown_row(browser)[0].startswith(f"Row {wrong[0]['number']} ")
    assert "predicted is not the label" in shown_row(browser)[1]
    set_value(browser, "#row-search", "10", "input")  # is among them
    row = data["rows"][3]
    neighbours = [str(one["row"]) for one in row["antecedents"][0]["neighbours"]]
    assert texts(browser, "table.neighbours tbody th") == neighbours
    assert set(texts(browser, "table.neighbours tbody tr:first-child td")[1:]) <= set(
        row["antecedents"][0]["neighbours"][0]["cells"]
    )


def test_bars_are_in_proportion(show):
    """A method's bar is its share of the largest |value| + error of all methods; a relative one's, of its own."""
    data = sample(entries=4, rows=1, features=5)
    data["entries"][2]["faithful"] = "yes"  # those that are not come last
    data["opened"] = 0  # what is opened comes first
    browser = show(data, plotly=False)
    open_rivals(browser)
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
    assert len(texts(browser, "table.panels .whisker")) == 2 * 5  # entries 1 and 2 are sampled
    click(browser, "#own-scale")
    widths = [width for _, width in browser.execute_script(style)]
    assert max(widths[0::4]) == pytest.approx(50 * max(map(abs, row["values"][0])) / reach[0], abs=1e-3)


def test_many_features_are_cut_and_shown_on_request(show):
    browser = show(sample(entries=30, rows=3, features=50), plotly=False)
    open_rivals(browser)
    blocks = len(texts(browser, "table.panels"))
    assert len(texts(browser, "table.panels tbody tr")) == 15 * blocks
    assert len(texts(browser, "table.panels td.phi")) == 15 * 30
    click(browser, "#all-features")
    assert len(texts(browser, "table.panels td.phi")) == 50 * 30
    click(browser, "#row-next")
    assert len(texts(browser, "table.panels td.phi")) == 50 * 30


def test_a_row_without_attributions_is_undefined(show):
    data = sample(rows=3)  # rows 1, 4, 7: the last has no attributions of the last entry
    data["entries"][2]["faithful"] = "yes"
    browser = show(data, plotly=False)
    open_rivals(browser)
    set_value(browser, "#row-choice", "2")
    lines = browser.execute_script(
        "return [...document.querySelectorAll('table.panels tbody tr')].map((one) => one.lastChild.textContent)"
    )
    assert lines == ["\u2013"] * 7
    set_value(browser, "#rows .controls:not(:first-of-type) select", "7")
    assert "has no attributions of this row" in texts(browser, ".row-picture .reading")[0]


def test_curves(show, draw_all):
    data = sample()
    browser = show(data)
    draw_all()
    drawn = """return document.querySelector('#curves .js-plotly-plot').data.filter((trace) => trace.name)
                 .map((trace) => [trace.name, trace.y])"""
    ticked = "return [...document.querySelectorAll('.curve-list input')].filter((one) => one.checked).length"
    tick_all = "document.querySelectorAll('.curve-list input').forEach((one) => one.checked || one.click())"

    def expected(along):
        curves = [curve for curve in data["curves"] if curve["along"] == along]
        return {data["entries"][curve["entry"]]["name"]: curve["mean"] for curve in curves}

    first = dict(browser.execute_script(drawn))
    assert len(first) == browser.execute_script(ticked) == 6
    assert data["entries"][data["recommended"]]["name"] in first
    assert first == {name: y for name, y in expected("radius").items() if name in first}
    browser.execute_script(tick_all)
    assert dict(browser.execute_script(drawn)) == expected("radius")
    set_value(browser, "#curves select", "1")
    assert browser.execute_script(ticked) == 6
    browser.execute_script(tick_all)
    assert dict(browser.execute_script(drawn)) == expected("subset")
    assert len(texts(browser, "#curves table.numbers tbody tr")) == 8
    assert "on 90 % of rows" in texts(browser, "#curves table.numbers")[0]
