"""The report's page where it is read: dark, on a phone, on paper, without plots or cells, large, with hostile names."""

import base64
import json
import re
import threading
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sample import FOLDER, assembled, sample

HOSTILE = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '<a href="javascript:window.hacked=1">press</a>',
    "<b>bold</b>",
    "</script><script>window.hacked=1</script>",
    "{{script}}",
    "%{x} & &lt;i&gt; $x^2$ \u202e",
)
# Unicode's classes of characters that turn the direction of writing.
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
# What the page reads and never shows as it is.
KEYWORDS = {"schema", "kind", "kinds", "direction", "standing", "along", "faithful", "unit", "cut", "measure"}


def made_hostile(value, key=""):
    """The same data with a hostile text before each text from outside."""
    if isinstance(value, str) and key not in KEYWORDS:
        return f"{HOSTILE[len(value) % len(HOSTILE)]} {value}"
    if isinstance(value, list):
        return [made_hostile(one, key) for one in value]
    if isinstance(value, dict):
        return {name: made_hostile(one, name) for name, one in value.items()}
    return value


def seen(text):
    return text.replace("\u202e", r"\u{202e}")


def set_dark(browser, dark):
    media = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})


def count(browser, selector):
    return browser.execute_script("return document.querySelectorAll(arguments[0]).length", selector)


def test_dark_and_light_change_live(show, draw_all):
    browser = show(sample())
    draw_all()
    look = """const plot = document.querySelector('#tradeoff .js-plotly-plot');
              return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
                      getComputedStyle(plot.querySelector('.xtick text')).fill]"""
    light = browser.execute_script(look)
    set_dark(browser, True)
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 100))")
    dark = browser.execute_script(look)

    def brightness(colour):
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert brightness(light[0]) > 600 and brightness(dark[0]) < 150
    for place in (1, 2):
        assert brightness(light[place]) < 200 and brightness(dark[place]) > 600
    set_dark(browser, False)
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 100))")
    assert browser.execute_script(look) == light


def test_contrast_of_text(show):
    """Text and quiet text on cards and page: at least 4.5 to 1 (WCAG 2 AA), light and dark."""
    browser = show(sample(entries=2, rows=1), plotly=False)
    read = """const style = getComputedStyle(document.documentElement);
              const colour = (name) => style.getPropertyValue('--' + name).trim();
              return Object.fromEntries(arguments[0].map((name) => [name, colour(name)]))"""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = [
        (text, ground) for text in ("text", "quiet", "accent", "good", "warn") for ground in ("card", "page", "stripe")
    ]
    pairs += [("warn", "warn-ground"), ("aggregate", "aggregate-ground"), ("accent", "method-ground")]
    for dark in (False, True):
        set_dark(browser, dark)
        colours = browser.execute_script(read, sorted({name for pair in pairs for name in pair}))
        for text, ground in pairs:
            low, high = sorted((luminance(colours[text]), luminance(colours[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground, dark)


@pytest.mark.parametrize("kind", ["table", "image", "hostile", "long"])
def test_phone_has_no_sideways_scroll(show, draw_all, browser, kind):
    data = sample(image=(8, 8)) if kind == "image" else sample(entries=12, features=12)
    if kind == "hostile":
        data = made_hostile(data)
    if kind == "long":
        data["title"] = data["features"][0] = data["entries"][0]["name"] = data["rows"][0]["id"] = "w" * 300
        data["headline"] = data["entries"][1]["name"] = data["levels"][2][0] = data["warnings"][0] = "v" * 300
        data["rows"][0]["cells"][0] = data["rows"][0]["target"] = data["verdict"][0] = "m" * 300
        data["rows"][0]["label"] = data["rows"][0]["predicted"] = data["explained"]["value"] = "p" * 300
        data["drivers"][0]["direction"] = data["sentences"][2]["text"] = "d" * 300
        data["facts"][0][1] = data["left_out"][0]["reason"] = data["importance"][1]["target"] = "i" * 500
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    show(data)
    draw_all()
    width = "return [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]"
    assert browser.execute_script(width) == [360, 360, 360]


def test_controls_have_names_and_ids_are_unique(show, draw_all):
    browser = show(sample())
    draw_all()
    nameless = """return [...document.querySelectorAll('button, select, input, canvas, [role=img], [role=region]')]
      .filter((one) => !(one.labels && one.labels.length) && !one.getAttribute('aria-label') && !one.textContent.trim())
      .map((one) => one.outerHTML.slice(0, 100))"""
    assert browser.execute_script(nameless) == []
    twice = """const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
               return ids.filter((id, place) => ids.indexOf(id) !== place)"""
    assert browser.execute_script(twice) == []
    assert count(browser, "main th:not([scope])") == 0


def test_hostile_names_stay_text(show, draw_all):
    data = made_hostile(sample())
    browser = show(data)
    draw_all()
    hover = """for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                 plot.data.forEach((trace, curve) => {
                   const pointNumber = trace.type === 'heatmap' ? [0, 1] : 0;
                   if (trace.hoverinfo === 'text') Plotly.Fx.hover(plot, [{curveNumber: curve, pointNumber}]);
                 });
               }
               return [...document.querySelectorAll('.hoverlayer')].map((one) => one.textContent).join(' ')"""
    hovered = browser.execute_script(hover)
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    made = {
        selector: count(browser, selector)
        for selector in ("img", "main a", "svg a", "b", "i", "iframe", "header a", "main script")
    }
    assert set(made.values()) == {0}, made
    assert count(browser, "script") == 3
    assert browser.title == data["title"]  # as the template was filled here
    assert browser.execute_script("return document.querySelector('h1').textContent") == seen(data["headline"])
    plots = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].map((one) => one.textContent).join(' ')"
    )
    assert "<script>" in plots and "<img" in plots
    ticks = "return [...document.querySelectorAll('#importance .halves .ytick text')].map((one) => one.textContent)"
    assert sorted(browser.execute_script(ticks)) == sorted(
        name if len(name) <= 26 else f"{name[:25]}…" for name in map(seen, data["features"])
    )
    assert "<" in hovered and "%{x}" in hovered + plots
    page = browser.execute_script("return document.body.textContent")
    assert all(seen(text) in page for text in HOSTILE)


def test_nothing_turns_the_direction_of_writing(show, draw_all):
    """What Unicode calls bidirectional controls is shown by number, in text and plots alike."""
    turning = [chr(c) for c in range(0x3000) if unicodedata.bidirectional(chr(c)) in TURNING] + [
        "\u200e",
        "\u200f",
        "\u061c",
    ]
    assert len(turning) == 12
    data = made_hostile(sample())
    data["headline"] = "".join(turning) + "\x9b"
    data["features"] = [f"{turning[i % 12]}{name}" for i, name in enumerate(data["features"])]
    browser = show(data)
    draw_all()
    page = "return ['header', 'nav', 'main'].map((part) => document.querySelector(part)?.textContent ?? '').join(' ')"
    shown = browser.execute_script(page)
    assert {character for character in [*turning, "\x9b"] if character in shown} == set()
    assert all(f"\\u{{{ord(character):x}}}" in shown for character in [*turning, "\x9b"])


def test_scripts_make_no_markup_from_text():
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        found = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|hovertemplate", text
        )
        assert found == [], path.name
        assert len(text.splitlines()) <= 300, path.name


def test_no_request_leaves(show, draw_all, browser):
    show(made_hostile(sample()))
    draw_all()
    sent = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            sent.append(message["params"]["request"]["url"])
    assert any(url.startswith("file:") for url in sent)
    assert [url for url in sent if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in sent if url.startswith("file:")]) == 1


def test_the_page_cannot_send_even_if_it_tried(chromium, tmp_path):
    """The policy in the page's head holds: with it a server next door hears nothing; without it, it does."""
    heard = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try_all = """const [address, done] = [arguments[0], arguments[arguments.length - 1]];
                 const image = new Image();
                 image.onload = image.onerror = () => fetch(address + 'fetch', {mode: 'no-cors'}).then(done, done);
                 image.src = address + 'image';"""
    page = assembled(sample(entries=2, rows=1))
    policy = re.search(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", page)[0]
    try:
        for name, text in (("open", page.replace(policy, "")), ("shut", page)):
            path = Path(tmp_path / f"{name}.html")
            path.write_text(text, encoding="utf-8")
            chromium.get(path.as_uri())
            heard.clear()
            chromium.execute_async_script(try_all, f"http://127.0.0.1:{server.server_port}/")
            assert heard == (["/image", "/fetch"] if name == "open" else [])
    finally:
        server.shutdown()
        chromium.get("about:blank")
        chromium.get_log("browser")


def test_without_plotly(show):
    data = sample()
    browser = show(data, plotly=False)
    assert "plotly" in browser.execute_script("return document.querySelector('#no-plots').textContent")
    assert count(browser, ".plot:not([hidden])") == 0
    assert (
        count(browser, "#agreement table.matrix tbody td") == 64
        and count(browser, "#curves table.numbers tbody tr") == 8
    )
    assert count(browser, "#importance .bars li") == 7 and count(browser, "table.panels td.phi") == 0
    open_rivals(browser)
    assert count(browser, "table.panels td.phi") == 56 and count(browser, ".figure:not([hidden]) .save") > 0
    shown = "return document.querySelector('#tradeoff .result').textContent"
    assert browser.execute_script(shown).startswith("On the Pareto front")
    set_dark(browser, True)
    browser.execute_cdp_cmd("Page.printToPDF", {})


def test_without_cells(show, draw_all):
    browser = show(sample(cells=False))
    draw_all()
    assert (
        count(browser, ".cell") == 0
        and count(browser, ".dependence .plot") == 0
        and count(browser, "table.neighbours tbody td") == 5
    )
    assert "kept out" in browser.execute_script("return document.querySelector('#rows .explain').textContent")
    assert count(browser, "#importance .js-plotly-plot .point") > 0


def test_images(show, draw_all):
    data = sample(entries=6, rows=3, image=(10, 12))
    browser = show(data)
    assert count(browser, ".maps canvas") == 7 and count(browser, "table.panels") == 0
    pixels = """const canvas = document.querySelectorAll('.maps canvas')[arguments[0]];
                return [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"""
    original = browser.execute_script(pixels, 0)
    assert original[0::4] == data["rows"][0]["pixels"]
    # The recommended one is first, what is not faithful last.
    order = [1, 0, 3, 4, 5, 2]
    for place, entry in enumerate(order):
        values = data["rows"][0]["values"][entry]
        drawn = browser.execute_script(pixels, place + 1)
        most, least = values.index(max(values)), values.index(min(values))
        assert drawn[4 * most] > drawn[4 * most + 2] + 50  # red over blue: for the target
        assert drawn[4 * least + 2] > drawn[4 * least]  # blue over red: against it
    before = browser.execute_script(pixels, 1)
    browser.execute_script("document.querySelector('#row-next').click()")
    assert browser.execute_script(pixels, 1) != before
    draw_all()
    assert count(browser, "#importance canvas") == 1 and count(browser, "table.panels td.phi") == 15 * 6


def test_images_with_three_channels_and_no_cells(show):
    data = sample(entries=2, rows=1, image=(6, 6))
    data["image"]["channels"] = 3
    data["features"] = [f"{name}_{channel}" for channel in "rgb" for name in data["features"]]
    row = data["rows"][0]
    for values in row["values"]:
        values += [-value for value in values] + [0.0] * 36  # the first two channels cancel
    del row["pixels"]
    data["importance"] = []
    browser = show(data)
    assert count(browser, ".maps canvas") == 2 and count(browser, "#importance") == 0
    colours = """const context = document.querySelector('.maps canvas').getContext('2d');
                 return [...context.getImageData(0, 0, 6, 6).data]"""
    assert set(browser.execute_script(colours)) == {250, 255}


def open_rivals(browser):
    """Opens the fold-out with all explanations of the row side by side."""
    browser.execute_script("document.querySelector('#rows > details').open = true")
    browser.execute_async_script("setTimeout(arguments[0], 50)")


def row_change(browser):
    """Milliseconds a change of row takes, layout included, for each cell drawn: the least of some."""
    open_rivals(browser)
    script = """let least = Infinity;
                for (let round = 0; round < 15; ++round) {
                  const start = performance.now();
                  document.querySelector('#row-next').click();
                  document.body.getBoundingClientRect();
                  least = Math.min(least, performance.now() - start);
                }
                return least / document.querySelectorAll('table.panels td.phi').length"""
    return browser.execute_script(script)


def test_large_study_stays_responsive(show):
    small = row_change(show(sample(entries=30, rows=4, features=15), plotly=False))
    browser = show(sample(entries=30, rows=200, features=60))
    assert count(browser, ".js-plotly-plot") < 4  # what is far down is drawn when it is scrolled to
    # 50 times the rows and 4 times the features, of which as many are drawn: what is drawn costs, not what is there.
    assert row_change(browser) < 4 * small
    browser.execute_script("document.querySelector('section#criteria thead th:nth-child(3) button').click()")
    assert count(browser, "table.criteria tbody tr") >= 30


def test_large_images_load(show):
    browser = show(sample(entries=27, rows=30, image=(28, 28)))
    assert count(browser, ".maps canvas") == 28
    browser.execute_script("document.querySelector('#row-next').click()")
    heading = browser.execute_script("return document.querySelector('#row-heading').textContent")
    assert heading.startswith("Row 4 (id patient-0004): predicted healthy, ")


def test_prints_everything_in_light_colours(show):
    browser = show(sample(entries=12, features=20))
    set_dark(browser, True)
    browser.execute_script(
        """addEventListener('beforeprint', () => {
             const plots = [...document.querySelectorAll('.js-plotly-plot')];
             window.printed = {drawn: plots.length,
                               shut: document.querySelectorAll('details:not([open])').length,
                               ground: getComputedStyle(document.body).backgroundColor,
                               widths: plots.map((one) => one.layout.width)};
           })"""
    )
    assert count(browser, ".js-plotly-plot") < 4
    answer = browser.execute_cdp_cmd(
        "Page.printToPDF", {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69}
    )
    pdf = base64.b64decode(answer["data"])
    assert pdf.startswith(b"%PDF-") and len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4
    printed = browser.execute_script("return window.printed")
    assert printed == {"drawn": 5, "shut": 0, "ground": "rgb(255, 255, 255)", "widths": [680] * 5}
    state = "return [document.querySelectorAll('details[open]').length, document.documentElement.className]"
    assert browser.execute_script(state) == [0, ""]
