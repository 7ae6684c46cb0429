"""A dashboard in a real browser."""

import shutil
from urllib.parse import urlencode

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")
VISIBLE_CHARTS_ARE_DRAWN = """
return [...document.querySelectorAll(".chart")].every((chart) => {
  const { top, bottom } = chart.getBoundingClientRect();
  return top > innerHeight || bottom < 0 || chart.querySelector("svg");
});
"""


def start_browser(width=1280, height=900):
    """Debian's chromium, without a window; needs `apt-get install chromium chromium-driver`."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))


class Pages:
    """Opens pages, waits until they are drawn, and fails on any word in the console."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder

    def open(self, page, **values):
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"{self.folder.resolve().as_uri()}/{page}.html#{urlencode(values)}")
        self.ready()

    def ready(self):
        is_drawn = "return document.getElementById('main')?.dataset.ready === 'true'"
        for script in (is_drawn, VISIBLE_CHARTS_ARE_DRAWN):
            WebDriverWait(self.driver, 20).until(lambda d, script=script: d.execute_script(script))
        assert self.driver.get_log("browser") == []

    def redrawn(self, act):
        """Does what changes the link, and waits until what it leads to is drawn: in an element of its own."""
        self.driver.execute_script("document.getElementById('main').isOld = true")
        act()
        is_new = "const main = document.getElementById('main'); return main !== null && !main.isOld"
        WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(is_new))
        self.ready()

    def screen(self, width, height):
        """Makes the visible part exactly so large; narrow ones count as a phone's."""
        settings = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)"
        return self.driver.execute_script(script, selector)

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
