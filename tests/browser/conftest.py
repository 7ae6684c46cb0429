import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "report")]  # pages, stored_runs


@pytest.fixture(scope="session")
def driver():
    pytest.importorskip("selenium")
    from pages import CHROMEDRIVER, CHROMIUM, start_browser

    if not CHROMIUM or not CHROMEDRIVER:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    browser = start_browser()
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def outputs(tmp_path_factory):
    from tests.report.stored_runs import MadeUpCell, me_icpo

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
    from pages import Pages

    from icpo.report.dashboard import write_dashboard

    index = write_dashboard(outputs, ["run", "k2", "k4"], max_questions=50)
    return Pages(driver, index.parent)
