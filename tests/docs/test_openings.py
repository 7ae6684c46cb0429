"""Each page says in its first paragraph whom it is for; the list of experiments quotes that."""

import pytest

from tests.docs.pages import ROOT, name_of

FRONT = ("docs/index.md", "README.md")  # these are for everybody
PAGES = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/**/README.md"), ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in FRONT], ids=name_of)
def test_a_page_says_whom_it_is_for(page):
    title, *paragraphs = page.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith("# ") and "\n" not in title
    assert any(paragraph.startswith("For ") for paragraph in paragraphs[:2])
