"""A headless Chromium for the report's page; the tests are skipped, with the reason, where it cannot be had."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def missing():
    """What the tests need and is not here, in words; empty when all is."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    packages = [name for name in ("selenium", "plotly") if importlib.util.find_spec(name) is None]
    return " and ".join(
        [f"the program {name}" for name in programs] + [f"the Python package {name}" for name in packages]
    )


@pytest.fixture(scope="session")
def plotly_source():
    """plotly.js as the plotly wheel brings it."""
    if missing():
        pytest.skip(f"needs {missing()}")
    folder = Path(importlib.util.find_spec("plotly").origin).parent
    return (folder / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def chromium():
    """One headless browser for all tests; what its console and network say is kept."""
    if missing():
        pytest.skip(f"needs {missing()}")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "window-size=1280,900"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """The browser in a known state: light, 1280 x 900; no error may be on its console after the test."""
    chromium.get("about:blank")
    media = [{"name": "prefers-color-scheme", "value": "light"}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": media})
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.get_log("browser"), chromium.get_log("performance")
    yield chromium
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.fixture
def show(browser, plotly_source, tmp_path):
    """show(data) opens a report of the data from a file, and gives the browser."""
    from sample import assembled

    def opened(data, plotly=True):
        path = tmp_path / "report.html"
        path.write_text(assembled(data, plotly_source if plotly else ""), encoding="utf-8")
        assert path.stat().st_size < 20e6
        browser.get(path.as_uri())
        return browser

    return opened


@pytest.fixture
def draw_all(browser):
    """draw_all() opens all fold-outs and scrolls until every plot that is shown is drawn."""

    def scroll():
        browser.execute_async_script(
            """
            const done = arguments[0];
            document.querySelectorAll("details").forEach((one) => { one.open = true; });
            const waiting = () => Assay.plots.filter((plot) => !plot.drawn && !plot.host.closest("[hidden]"));
            function step() {
              if (waiting().length === 0) return done();
              waiting()[0].host.scrollIntoView();
              setTimeout(step, 30);
            }
            setTimeout(step, 30);
            """
        )

    return scroll
