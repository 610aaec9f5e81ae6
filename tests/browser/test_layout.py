"""The report's layout, measured: no text covers another and none is cut, on a desk and a phone, light and dark.

The pictures that a person would look at are written to a temporary folder; its name is printed.
"""

import base64

import pytest
from sample import sample
from test_surroundings import made_hostile, set_dark

WIDTHS = {"desk": (1400, 900), "phone": (390, 844)}
PARTS = ("top", "trust", "importance", "rows", "cohorts", "criteria", "tradeoff", "agreement", "curves")
LONG = "a_rather_long_name_of_a_feature_that_nobody_would_type_twice"

# All visible text of a part as rectangles, as far as boxes around it let it be seen. Text in boxes that scroll may be
# out of sight; text that a box cuts without a way to reach it is reported.
MEASURE = """
const root = document.getElementById(arguments[0]);
const found = [];
const cut = [];
const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
const seen = (node) => {
  const style = getComputedStyle(node);
  return node.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true}) &&
      style.clipPath === 'none';
};
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const text = node.textContent.trim();
  const parent = node.parentElement;
  if (text === '' || parent.closest('script, style, select, .hidden, noscript, .hoverlayer') || !seen(parent)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const line of range.getClientRects()) {
    if (line.width < 1 || line.height < 1) continue;
    let box = {left: line.left, right: line.right, top: line.top, bottom: line.bottom};
    for (let up = parent; up && up !== document.documentElement; up = up.parentElement) {
      const style = getComputedStyle(up);
      // The layers of a plot are cut where the plot ends; groups inside it are not boxes.
      const clips = up.tagName === 'svg' || (!(up instanceof SVGElement) && style.display !== 'inline');
      if (!clips || (style.overflowX === 'visible' && style.overflowY === 'visible')) continue;
      const edge = up.getBoundingClientRect();
      const inner = {left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right),
                     top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom)};
      const scrolls = ['auto', 'scroll'].includes(style.overflowX) || ['auto', 'scroll'].includes(style.overflowY);
      const lost = (box.right - box.left) - (inner.right - inner.left) > 1.5 ||
          (box.bottom - box.top) - (inner.bottom - inner.top) > 3.5;
      if (lost && !scrolls) cut.push(`${text.slice(0, 60)} in ${up.tagName}.${up.getAttribute('class') || ''}`);
      box = inner;
    }
    if (box.right - box.left < 1 || box.bottom - box.top < 1) continue;
    if (box.left < -1 || box.right > innerWidth + 1) cut.push(`${text.slice(0, 60)} at the page's edge`);
    // Letters are smaller than their line.
    const thin = Math.min(4, 0.2 * (box.bottom - box.top));
    found.push({text: text.slice(0, 60), node: found.length, left: box.left + 0.5, right: box.right - 0.5,
                top: box.top + thin, bottom: box.bottom - thin, of: node});
  }
}
found.sort((a, b) => a.top - b.top);
const covered = [];
for (let i = 0; i < found.length; ++i) {
  for (let j = i + 1; j < found.length && found[j].top < found[i].bottom - 1; ++j) {
    const [a, b] = [found[i], found[j]];
    if (a.of === b.of || Math.min(a.right, b.right) - Math.max(a.left, b.left) <= 1) continue;
    covered.push(`${a.text} | ${b.text}`);
  }
}
return {texts: found.length, cut, covered};
"""


def long_sample():
    """Many entries and features, with names and texts as long as they come."""
    data = sample(entries=27, rows=40, features=30)
    data["features"] = [f"{LONG}_{k}" if k % 3 == 0 else name for k, name in enumerate(data["features"])]
    data["entries"][5]["name"] = "kernel_shap:samples=2048:paired=true:background=spread:100"
    data["headline"] = f"What drives {LONG}.onnx trained on {LONG}, and which explanation to trust"
    data["warnings"] = [f"{text} {LONG}" for text in data["warnings"]]
    for row in data["rows"]:
        row["id"], row["label"] = f"{LONG}/{row['number']}", "septic shock of unknown origin"
        row["cells"][3] = LONG
    data["dependence"][1]["feature"] = data["features"][1]
    data["dependence"][1]["partner"] = data["features"][2]
    # Entries that say nearly the same, as in real studies: their points lie on each other.
    for place, entry in enumerate(data["entries"][6:16]):
        for score in entry["scores"][:4]:
            score["mean"] = 0.6 + 0.0005 * place
    return data


def set_size(browser, kind):
    width, height = WIDTHS[kind]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": kind == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def settle(browser):
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 150))")


def parts_there(browser):
    return [part for part in PARTS if browser.execute_script("return !!document.getElementById(arguments[0])", part)]


def problems(browser):
    """What is covered or cut, by part."""
    found = {}
    for part in parts_there(browser):
        measured = browser.execute_script(MEASURE, part)
        assert measured["texts"] > 3, part
        if measured["cut"] or measured["covered"]:
            found[part] = {"cut": measured["cut"][:5], "covered": measured["covered"][:5]}
    return found


def picture(browser, part, path):
    """The first screen as it is seen; of a part, as much as fits on one picture."""
    if part == "top":
        browser.execute_script("scrollTo(0, 0)")
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {})
    else:
        box = "const box = document.getElementById(arguments[0]).getBoundingClientRect(); "
        box += "return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: Math.min(box.height, 3000)}"
        clip = browser.execute_script(box, part) | {"scale": 1}
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))
    return path.stat().st_size


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", list(WIDTHS))
@pytest.mark.parametrize("what", ["plain", "long", "image"])
def test_no_text_covers_another_and_none_is_cut(show, draw_all, browser, tmp_path, what, kind, theme):
    set_size(browser, kind)
    set_dark(browser, theme == "dark")
    data = {"plain": sample, "long": long_sample, "image": lambda: sample(entries=12, rows=6, image=(12, 12))}[what]()
    show(data)
    draw_all()
    settle(browser)
    assert problems(browser) == {}
    widths = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    assert len(set(browser.execute_script(widths))) == 1  # nothing to scroll sideways
    sizes = {}
    for part in ("top", "importance", "rows", "cohorts", "tradeoff"):
        if part in parts_there(browser):
            sizes[part] = picture(browser, part, tmp_path / f"{what}-{kind}-{theme}-{part}.png")
    print(f"pictures in {tmp_path}: {sizes}")
    assert min(sizes.values()) > 4000  # something is drawn


def test_the_measure_finds_what_is_covered_or_cut(show, browser):
    """The test of the test: two texts on each other, one that a box cuts, and one that only has to be scrolled to."""
    show(sample(entries=2, rows=1), plotly=False)
    browser.execute_script(
        """const box = document.createElement('section');
           box.id = 'measured';
           box.innerHTML = '<div style="height:40px;position:relative">' +
             '<span style="position:absolute">first text</span>' +
             '<span style="position:absolute;left:20px;top:3px">second text</span></div>' +
             '<div style="width:40px;overflow:hidden;white-space:nowrap">a text that is cut</div>' +
             '<div style="width:40px;overflow:auto;white-space:nowrap">a text to scroll to</div>';
           document.body.append(box);"""
    )
    measured = browser.execute_script(MEASURE, "measured")
    assert measured["covered"] == ["first text | second text"]
    assert [text.split(" in ")[0] for text in measured["cut"]] == ["a text that is cut"]


def test_the_first_screen_holds_all_five_answers(show, browser):
    """Title, sentences and at least five drivers are on the screen without scrolling, on a desk and on a phone."""
    for kind, (_, height) in WIDTHS.items():
        set_size(browser, kind)
        data = sample()
        show(data)
        bottoms = browser.execute_script(
            """const shown = [...document.querySelectorAll('h1, .answers dd, .drivers .bars li')]
                 .filter((one) => one.checkVisibility());
               return shown.map((one) => one.getBoundingClientRect().bottom)"""
        )
        assert len(bottoms) == 1 + 5 + (7 if kind == "desk" else 5)
        assert max(bottoms) <= height, kind
        shown = browser.execute_script(
            "return [...document.querySelectorAll('.answers dt')].map((one) => one.textContent)"
        )
        assert shown == ["Model", "Drivers", "Explanation", "Cost", "Next"]


def test_numbers_of_the_tradeoff_are_apart_whatever_the_points(show, browser):
    """Against the definition: no two labels overlap, none covers a point, all are inside."""
    show(sample(entries=2, rows=1), plotly=False)
    place = "return Assay.place_labels(arguments[0], 300, 260, 12, 9)"
    for points in (
        [{"x": 150, "y": 130}] * 27,
        [{"x": 8 * k, "y": 5} for k in range(30)],
        [{"x": 0, "y": 0}, {"x": 300, "y": 260}, {"x": 299, "y": 259}],
    ):
        offsets = browser.execute_script(place, points)
        spots = [(one["x"] + by["ax"], one["y"] + by["ay"]) for one, by in zip(points, offsets, strict=True)]
        for i, (x, y) in enumerate(spots):
            assert 12 <= x <= 288 and 9 <= y <= 251
            assert all(abs(x - a) >= 24 or abs(y - b) >= 18 for a, b in spots[:i])
            assert all(abs(x - one["x"]) >= 18 or abs(y - one["y"]) >= 15 for one in points)


def test_hostile_names_do_not_break_the_layout(show, draw_all, browser):
    set_size(browser, "phone")
    data = made_hostile(sample(entries=12))
    show(data)
    draw_all()
    settle(browser)
    found = problems(browser)
    assert {part: one["covered"] for part, one in found.items() if one["covered"]} == {}


def test_time_to_the_first_view_is_measured(show, browser):
    """Printed, not judged: 500 rows by 30 features, as many rows of it as a report holds."""
    data = sample(entries=27, rows=200, features=30)
    show(data)
    settle(browser)
    marks = browser.execute_script(
        "return performance.getEntriesByType('mark').map((one) => [one.name, one.startTime])"
    )
    times = {name: round(time) for name, time in marks}
    print(f"milliseconds after the start: {times}")
    assert times["assay-first-view"] <= times["assay-built"] <= times["assay-painted"] <= times["assay-plots-ready"]
