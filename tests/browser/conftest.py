import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))  # stored_runs

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="session")
def driver():
    """Debian's chromium, without a window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    if not CHROMIUM or not CHROMEDRIVER:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))
    yield browser
    browser.quit()


VISIBLE_CHARTS_ARE_DRAWN = """
return [...document.querySelectorAll(".chart")].every((chart) => {
  const { top, bottom } = chart.getBoundingClientRect();
  return top > innerHeight || bottom < 0 || chart.querySelector("svg");
});
"""


class Pages:
    """A dashboard in the browser; `open` waits until a page is drawn and fails on any word in its console."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder

    def open(self, page, **values):
        from urllib.parse import urlencode

        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"{self.folder.as_uri()}/{page}.html#{urlencode(values)}")
        self.ready()

    def ready(self):
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 20).until(
            lambda d: d.execute_script("return document.getElementById('main')?.dataset.ready === 'true'")
        )
        WebDriverWait(self.driver, 20).until(lambda d: d.execute_script(VISIBLE_CHARTS_ARE_DRAWN))
        assert self.driver.get_log("browser") == []

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector
        )

    def column(self, table, name):
        """The first line of each cell in one column of a table."""
        script = """
        const table = document.getElementById(arguments[0]);
        const heads = [...table.querySelectorAll("thead th")].map((head) => head.innerText.trim());
        const i = heads.indexOf(arguments[1]);
        const rows = [...table.querySelectorAll("tbody tr")];
        return rows.map((row) => row.children[i].innerText.split("\\n")[0]);
        """
        return self.driver.execute_script(script, table, name)

    def click(self, text):
        script = """
        const all = [...document.querySelectorAll("button, a")];
        const found = all.find((element) => element.innerText.trim() === arguments[0]);
        found?.click();
        return found !== undefined;
        """
        assert self.driver.execute_script(script, text)


@pytest.fixture(scope="session")
def outputs(tmp_path_factory):
    from stored_runs import MadeUpCell, me_icpo

    outputs = tmp_path_factory.mktemp("outputs")
    for level, skill in (("arith_l3", 0.5), ("arith_l4", 0.3)):
        MadeUpCell(level, skill=skill, num_questions=12).write(outputs, "run")
        me_icpo(level, skill=skill + 0.1, num_questions=12).write(outputs, "run")
    for k in (2, 4):
        me_icpo("arith_l3", k=k, num_rounds=3, finals_after=(1, 2, 3), num_questions=3).write(
            outputs, f"k{k}"
        )
    return outputs


@pytest.fixture
def pages(driver, outputs):
    from icpo.reporting.dashboard import write_dashboard

    index = write_dashboard(outputs, ["run", "k2", "k4"], max_questions=50)
    return Pages(driver, index.parent)
