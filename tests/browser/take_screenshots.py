"""`python tests/browser/take_screenshots.py RUN_NAME`: the pictures of docs/, taken of a real run."""

import io
import sys
from pathlib import Path

from pages import Pages, start_browser
from PIL import Image

from icpo.report.dashboard import write_dashboard

IMAGES = Path(__file__).parents[2] / "docs/images"
SIZE = (1100, 860)


def save(pages, name):
    """Stores what is visible with 128 colours, which is plenty for a page and a third of the bytes."""
    picture = Image.open(io.BytesIO(pages.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)


def main(run_name):
    folder = write_dashboard(Path("outputs"), [run_name], max_questions=50).parent
    IMAGES.mkdir(exist_ok=True)
    pages = Pages(start_browser(*SIZE), folder)
    pages.screen(*SIZE)
    pages.open("index")
    save(pages, "dashboard-results.png")
    pages.open("compare", show="gained")
    save(pages, "dashboard-compare.png")
    pages.driver.execute_script("document.querySelector('#pairs tbody a').click()")
    pages.ready()
    pages.screen(SIZE[0], 1250)
    save(pages, "dashboard-question.png")
    pages.driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])
