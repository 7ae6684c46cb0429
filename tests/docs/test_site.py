"""The site builds without a warning, needs no network, and has no link that leads nowhere."""

import dataclasses
import inspect
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import icpo.types
from icpo.cli.main import COMMANDS
from icpo.config import choices

pytestmark = pytest.mark.slow
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """What a page loads, where it links to, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if found.get(LOADED.get(tag, "")) and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found[LOADED[tag]])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def test_no_page_loads_anything_from_elsewhere(site, pages):
    loaded = {address for page in pages.values() for address in page.loads}
    assert loaded and not [address for address in loaded if urlsplit(address).netloc]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not [part for part in styles.split("url(")[1:] if part.lstrip("'\"").startswith(("http", "//"))]
    assert "@import" not in styles


def test_every_link_and_anchor_leads_somewhere(site, pages):
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are absolute
            continue
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.exists() or (
                fragment and target in pages and fragment not in pages[target].anchors
            ):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


def test_settings_and_commands_are_all_there(site):
    settings = (site / "reference/settings.html").read_text(encoding="utf-8")
    presets = (site / "reference/presets.html").read_text(encoding="utf-8")
    commands = (site / "reference/commands.html").read_text(encoding="utf-8")
    for group, names in choices().items():
        page = presets if group == "exp" else settings
        assert not [name for name in names if f"<code>{name}</code>" not in page], group
    assert all(f'id="{name}"' in commands for name in COMMANDS)


def test_types_shows_every_field_of_every_value(site):
    page = (site / "reference/types.html").read_text(encoding="utf-8")
    classes = [one for one in vars(icpo.types).values() if inspect.isclass(one)]
    fields = [
        f".{kind.__name__}.{one.name}"
        for kind in filter(dataclasses.is_dataclass, classes)
        for one in dataclasses.fields(kind)
    ]
    assert ".Completion.num_completion_tokens" in fields and ".Sampling.max_tokens" in fields
    assert not [one for one in fields if f'{one}">{one.rpartition(".")[2]}</span>' not in page]


def test_a_preset_is_shown_with_what_it_starts_from(site):
    page = (site / "reference/presets.html").read_text(encoding="utf-8")
    part = page.partition('id="main_table"')[2].partition("<h3")[0]
    assert "conf/exp/main_table.yaml" in part and "conf/exp/_paper.yaml" in part


def test_every_page_says_whom_it_is_for():
    folder = Path(__file__).parents[2] / "docs"
    for path in folder.rglob("*.md"):
        title, _, rest = path.read_text(encoding="utf-8").partition("\n")
        first = rest.strip().partition("\n\n")[0]
        assert title.startswith("# ") and first[0].isalpha(), path
        assert any(word in first for word in ("For ", "for readers", "for researchers", "are for ")), path
