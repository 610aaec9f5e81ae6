"""Reports that the program itself wrote, in headless Chromium: the default study, hostile names, ten thousand rows."""

import csv
import json
import subprocess

import numpy as np
import pytest
from sample import short
from test_report import by_mean, click, shown_row, table_order, texts
from test_surroundings import count, row_change, set_dark

HOSTILE = ["<img src=x onerror=window.hacked=1>", "</script><script>window.hacked=1</script>", "<b>b", "{{data}} %{x}"]


def studied(program, folder, *arguments):
    """Runs a study in the folder and gives where it is."""
    command = [program, "--quiet", "study", *arguments, "--out", "study"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, "")
    return folder / "study"


def write_rows(path, head, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def read_study(folder):
    """study.json with means as the report has them: what differs beyond their digits is equal there."""
    study = json.loads((folder / "study.json").read_text())
    for entry in study["entries"]:
        for score in entry["scores"]:
            score["mean"] = None if score["mean"] is None else short(score["mean"])
    return study


def one_spelling(lines):
    return [line.replace(" +- ", " ± ") for line in lines]


@pytest.fixture(scope="module")
def iris(program, chromium, tmp_path_factory):
    """The whole default study of Iris, once; not run at all where there is no browser."""
    return studied(program, tmp_path_factory.mktemp("iris"), "iris")


@pytest.fixture
def opened(browser):
    """opened(folder) loads a study's report, which must be below 8 MB, and gives the browser."""

    def load(folder):
        assert (folder / "report.html").stat().st_size < 8e6
        browser.get((folder / "report.html").as_uri())
        return browser

    return load


def test_iris_shows_what_study_json_says(iris, opened, draw_all):
    study, browser = read_study(iris), opened(iris)
    draw_all()
    advice = study["advice"]
    model, drivers, explanation, cost, following = texts(browser, ".answers dd")
    recommended = advice["recommended"]["overall"]["explanation"]
    assert model.startswith("The network trained on iris predicts 100 % of 30 rows right")
    assert advice["drivers"][0]["feature"] in drivers and explanation.startswith(f"Use {recommended}: ")
    assert f"{advice['recommended']['overall']['cost']['evaluations']:,} runs of the model" in cost
    assert advice["next"][0] in following
    assert texts(browser, ".drivers .bar-name .name") == [one["feature"] for one in advice["drivers"]]
    chosen = "const all = document.querySelector('#importance select'); return all.options[all.selectedIndex].text"
    assert browser.execute_script(chosen) == f"{recommended} (recommended)"
    grey = texts(browser, "section#criteria > .scroll tr.unfaithful .name")
    known = {*advice["faithful"], *(one["explanation"] for one in advice["undecided"])}
    assert grey and not set(grey) & known
    assert one_spelling(texts(browser, ".verdict li")) == one_spelling(study["verdict"]) != []
    assert one_spelling(texts(browser, ".warning li")) == one_spelling(study["warnings"]) != []
    assert texts(browser, "#no-plots") == [] and count(browser, ".js-plotly-plot") == 5
    assert sorted(table_order(browser)) == list(range(len(study["entries"])))
    assert study["entries"][table_order(browser)[0]]["name"] == recommended
    click(browser, "table.criteria thead th:nth-child(2) button")
    first = study["criteria"][0]
    assert table_order(browser) == by_mean(study, 0, descending=first["direction"] == "higher")
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
    assert len([url for url in sent if url.startswith("file:")]) == 1
    assert [url for url in sent if not url.startswith(("file:", "data:", "blob:"))] == []


def test_iris_rows_and_their_neighbours(iris, opened):
    browser = opened(iris)
    row, near = shown_row(browser), texts(browser, "table.neighbours tbody th")
    training = {str(number) for number in range(1, 121)}
    assert near and set(near) <= training
    click(browser, "#row-next")
    assert shown_row(browser)[0] != row[0]
    assert set(texts(browser, "table.neighbours tbody th")) <= training
    click(browser, "#row-previous")
    assert shown_row(browser) == row and texts(browser, "table.neighbours tbody th") == near


def test_iris_on_a_phone_in_the_dark_and_on_paper(iris, opened, draw_all, browser):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    set_dark(browser, True)
    opened(iris)
    draw_all()
    assert browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [360, 360]
    ground = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((part) => part < 60)"
    assert browser.execute_script(ground)
    assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 50_000


def test_hostile_names_of_a_study_stay_text(program, opened, draw_all, tmp_path):
    values = np.random.default_rng(3).normal(size=(60, 4))
    labels = ["<i>yes</i>" if one[0] + one[1] > 0 else "&lt;no;" for one in values]
    rows = [[f"<u>{i}</u>", *(f"{v:.6f}" for v in one), labels[i]] for i, one in enumerate(values)]
    write_rows(tmp_path / "rows.csv", ["who", *HOSTILE, "<class>"], rows)
    what = ("--data", "rows.csv", "--split", "test", "--label", "<class>", "--id", "who")
    folder = studied(program, tmp_path, *what, "--methods", "gradient,occlusion", "--aggregators", "mean,ava")
    browser = opened(folder)
    draw_all()
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    assert {name: count(browser, name) for name in ("img", "b", "i", "u", "main script")} == dict.fromkeys(
        ("img", "b", "i", "u", "main script"), 0
    )
    assert sorted(set(texts(browser, "table.panels tbody th .name"))) == sorted(HOSTILE)
    assert sorted(texts(browser, ".drivers .bar-name .name")) == sorted(HOSTILE)
    assert sorted(texts(browser, "#dependence-feature option")) == sorted(HOSTILE)
    assert {text.split("labelled ")[1] for text in texts(browser, "#row-choice option")} == {"<i>yes</i>", "&lt;no;"}
    assert "<u>" in shown_row(browser)[0] and count(browser, "script") == 3


def test_ten_thousand_rows_stay_responsive(program, iris, opened, tmp_path):
    values = np.random.default_rng(5).normal(size=(12_000, 14))
    labels = np.where(values[:, 0] + values[:, 1] * values[:, 2] > 0, "up", "down")
    rows = [[*(f"{v:.4f}" for v in one), label] for one, label in zip(values, labels, strict=True)]
    head = [*(f"x{i}" for i in range(14)), "y"]
    write_rows(tmp_path / "rows.csv", head, rows[:10_000])
    write_rows(tmp_path / "pool.csv", head, rows[10_000:])
    what = ("--data", "rows.csv", "--pool", "pool.csv", "--label", "y", "--rows", "all", "--no-variations")
    what += ("--methods", "gradient,gradient_x_input,occlusion", "--aggregators", "mean,median", "--no-curves")
    folder = studied(program, tmp_path, *what, "--criteria", "faithfulness:subset=2:samples=50,complexity")
    with open(folder / "scores.csv", newline="") as file:
        assert sum(1 for _ in csv.DictReader(file)) == 10_000 * 5
    small = row_change(opened(iris))
    browser = opened(folder)
    # 300 times the rows: what is drawn costs, not what is there.
    assert row_change(browser) < 4 * small
    click(browser, "table.criteria thead th:nth-child(2) button")
    assert table_order(browser) == by_mean(read_study(folder), 0, descending=True)
