import re

import pytest

from icpo.metrics import compare, sign_test
from icpo.report.dashboard import write_dashboard
from icpo.store import load_scores
from tests.report.stored_runs import MadeUpCell, me_icpo
from tests.store.editing import rewrite_json

pytestmark = pytest.mark.browser
BASE = "run/nano-arith_l4-direct-plain-quick"
ICPO = "run/nano-arith_l4-me_icpo-majority-entropy-n2-quick"


def scores(outputs, cell):
    return list(load_scores(outputs / cell))


@pytest.mark.parametrize("page", ["index", "compare", "curves", "costs"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_load_without_a_word_in_the_console_and_fit_the_screen(pages, page, width):
    pages.screen(width, 900)
    try:
        pages.open(page)
        assert pages.texts("h1")[0]
        assert pages.driver.execute_script("return document.documentElement.scrollWidth") <= width
        frames = "return [...document.querySelectorAll('.scroll')].map((x) => x.scrollWidth - x.clientWidth)"
        if width == 1280:  # on a phone wide tables scroll in their own frames
            assert max(pages.driver.execute_script(frames), default=0) <= 1
    finally:
        pages.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def gained(pages):
    """The first gain of each benchmark, by benchmark."""
    column = next(name for name in pages.texts("#gains th") if "points" in name)
    shown = zip(pages.column("gains", "benchmark"), pages.column("gains", column), strict=True)
    return {benchmark: float(text.split()[0]) for benchmark, text in shown}


def test_a_newcomer_sees_which_method_won_on_level_4_and_by_how_much(pages, outputs):
    found = compare(scores(outputs, ICPO), scores(outputs, BASE)).differences
    pages.open("index")
    assert gained(pages)["arith_l4"] == round(100 * found["mean_at_k"].value, 1)
    pages.redrawn(lambda: pages.click("Accuracy"))
    assert gained(pages)["arith_l4"] == round(100 * found["accuracy"].value, 1)


def test_cells_sort_by_number_in_both_directions_and_filter_by_words(pages):
    pages.open("index")
    sort = """
    [...document.querySelectorAll("#cells th button")].find((b) => b.innerText === arguments[0]).click();
    """
    pages.driver.execute_script(sort, "tokens/question")
    tokens = [int(text.replace(",", "")) for text in pages.column("cells", "tokens/question")]
    assert tokens == sorted(tokens, reverse=True) and len(set(tokens)) > 1
    pages.driver.execute_script(sort, "tokens/question")
    assert [int(t.replace(",", "")) for t in pages.column("cells", "tokens/question")] == sorted(tokens)
    script = "return document.getElementById('cells').parentElement.parentElement.querySelector('input')"
    box = pages.driver.execute_script(script)
    box.send_keys("direct L4")
    assert pages.column("cells", "cell") == [BASE.removeprefix("run/")]
    assert pages.texts("#cells-shown") == ["1 of 6"]


def test_a_configuration_key_becomes_a_column(pages):
    pages.open("index")
    script = """
    const boxes = [...document.querySelectorAll("select")];
    const box = boxes.find((b) => [...b.options].some((option) => option.value === "run_name"));
    box.value = "run_name";
    box.dispatchEvent(new Event("change"));
    """
    pages.driver.execute_script(script)
    assert set(pages.column("cells", "run_name")) == {"run", "k2", "k4"}


PAIR = {"of": "arith_l4", "pair": f"{ICPO} - {BASE}"}


def test_comparison_is_the_library_s(pages, outputs):
    pages.open("compare", **PAIR)
    mine, base = ({s.key: s for s in scores(outputs, cell)} for cell in (ICPO, BASE))
    found = compare(list(mine.values()), list(base.values())).differences["mean_at_k"]
    shown = dict(text.split("\n") for text in pages.texts(".card"))
    assert shown["A minus B"] == f"{100 * found.value:+.1f} points"
    assert shown["95% interval, paired"] == f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    shares = {q: [0.0, 0.0] for q, _ in mine}
    for key in mine:
        for i, cell in enumerate((mine, base)):
            shares[key[0]][i] += cell[key].last.num_correct
    gains, losses = (sum(sign * (a - b) > 0 for a, b in shares.values()) for sign in (1, -1))
    assert (shown["A gained"], shown["A lost"]) == (f"{gains} questions", f"{losses} questions")
    p = float(shown["sign test"].split("= ")[1])
    assert p == pytest.approx(sign_test(gains, losses), rel=0.06)


def test_the_questions_that_were_lost_lead_to_their_round_2(pages):
    pages.open("compare", **PAIR)
    pages.click("lost")
    differences = pages.column("pairs", "A - B")
    assert differences and all(text.startswith("-") for text in differences)
    first = "document.querySelector('#pairs tbody a').click()"
    pages.redrawn(lambda: pages.driver.execute_script(first))
    pages.click("Round 2")
    assert pages.texts("#stage h2") == ["Round 2"]
    [why] = pages.texts("#why")
    assert why.startswith("Kept: attempt")
    assert len(pages.texts(".attempt.kept")) == 1


def test_stepping_by_keyboard_changes_the_link_and_the_link_leads_back(pages):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    pages.open("question", cell=ICPO, question="arith_l4-3", seed="1")
    assert pages.texts("#stage h2") == ["Round 1"]

    def press(key):
        ActionChains(pages.driver).send_keys(key).perform()

    def stage_after(key):
        press(key)
        return pages.texts("#stage h2")[0]

    assert stage_after(Keys.ARROW_LEFT) == "Round 1"
    assert stage_after(Keys.ARROW_RIGHT) == "Round 2"
    assert stage_after(Keys.ARROW_RIGHT) == stage_after(Keys.ARROW_RIGHT) == "Final samples"
    assert stage_after(Keys.ARROW_LEFT) == "Round 2"
    link = pages.driver.current_url
    pages.redrawn(lambda: press("n"))
    assert pages.texts("h1") == ["arith_l4-4"]
    pages.driver.get("about:blank")
    pages.driver.get(link)
    pages.ready()
    assert (pages.texts("h1"), pages.texts("#stage h2")) == (["arith_l4-3"], ["Round 2"])
    assert "seed=1" in link


def test_prompt_parts_are_marked(pages):
    pages.open("question", cell=ICPO, question="arith_l4-0", at="final-samples")
    pages.driver.execute_script("document.querySelector('.prompt').open = true")
    marked = pages.texts(".prompt .part > b")
    assert (
        marked[:2] == ["instructions", "question"]
        and set(marked[2:]) <= {"bad ideas", "good ideas"}
        and marked[2:]
    )


HOSTILE = (
    "{i} <script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> "
    "$\\href{javascript:window.hacked=1}{x}$ $\\frac{1}{2} + x^{2}$ \\(\\htmlData{a=b}{c}\\) "
    "$\\def\\a{\\a\\a}\\a$ </script>\u2028 $ unclosed"
)


def test_markup_in_a_question_is_inert_and_its_mathematics_is_drawn(driver, tmp_path):
    from pages import Pages

    me_icpo(num_questions=1, question_text=HOSTILE).write(tmp_path, "hostile<b>")
    folder = write_dashboard(tmp_path, ["hostile<b>"], max_questions=5).parent
    name = f"hostile<b>/{me_icpo().name}"
    pages = Pages(driver, folder)
    for page, values in (
        ("index", {}),
        ("cell", {"cell": name}),
        ("question", {"cell": name, "question": "arith_l1-0"}),
    ):
        pages.open(page, **values)
        assert driver.execute_script("return window.hacked") is None
        assert not driver.execute_script("return document.querySelector('main img, main script, main b b')")
    assert "<script>window.hacked = 1</script>" in pages.texts(".part.question")[0]
    assert (
        driver.execute_script(
            "return document.querySelectorAll('main > .part.question .katex .mfrac').length"
        )
        == 1
    )
    assert not driver.execute_script("return document.querySelector('main a[href^=javascript]')")


def test_light_and_dark(pages):
    pages.open("index")
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = pages.driver.execute_script(colour)
    pages.click("light / dark")
    assert pages.driver.execute_script(colour) != before
    pages.open("costs")  # remembered from page to page
    assert pages.driver.execute_script(colour) != before
    pages.click("light / dark")


def test_heat_map_is_there_where_n_and_k_vary(pages):
    pages.open("curves", of="nano, arith_l3, quick")
    pages.driver.execute_script("document.getElementById('heat-map').scrollIntoView()")
    pages.ready()
    assert (
        pages.driver.execute_script(
            "return document.querySelectorAll('#heat-map svg .mark-rect path').length"
        )
        == 7
    )


def cpu_seconds(driver):
    """What the page's process has worked so far; a clock would measure how busy the machine is."""
    driver.execute_cdp_cmd("Performance.enable", {})
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime")


def test_an_index_of_200_cells_stays_small_and_opens_quickly(driver, tmp_path):
    template = MadeUpCell(num_questions=2, k=2).write(tmp_path, "many")
    for i in range(199):
        copy = tmp_path / "many" / f"cell{i:03}"
        copy.mkdir()
        for file in template.iterdir():
            if file.is_file():
                (copy / file.name).write_bytes(file.read_bytes())
        names = {"benchmark": f"arith_l{i % 40}", "protocol": f"p{i // 40}"}
        rewrite_json(copy / "metrics.json", lambda metrics, names=names: metrics | names)
    folder = write_dashboard(tmp_path, ["many"], max_questions=1).parent
    names = re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', (folder / "index.html").read_text())
    sizes = {name: (folder / name).stat().st_size for name in ("index.html", *names)}
    assert "data/index.js" in sizes
    assert sum(size for name, size in sizes.items() if not name.startswith("vendor/")) < 1_000_000
    from pages import Pages

    pages = Pages(driver, folder)
    pages.open("index")
    before = cpu_seconds(driver)
    pages.open("index")
    assert cpu_seconds(driver) - before < 2.0
    assert len(pages.column("cells", "cell")) == 200
