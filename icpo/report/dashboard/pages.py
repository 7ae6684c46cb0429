"""The pages of the dashboard: one template for all, and what each loads besides."""

from dataclasses import dataclass
from pathlib import Path
from string import Template

TEMPLATE_NAME = "page.html"
VEGA = tuple(f"vendor/vega/{name}.min.js" for name in ("vega", "vega-lite", "vega-embed"))
KATEX = tuple(f"vendor/katex/{name}.min.js" for name in ("katex", "auto-render"))


@dataclass(frozen=True, slots=True)
class Page:
    """Its title, the libraries it needs and its own scripts, in the order in which they are run."""

    title: str
    libraries: tuple[str, ...]
    scripts: tuple[str, ...]
    styles: tuple[str, ...] = ()


PAGES = {
    "index": Page("Results", VEGA, ("sortable.js", "charts.js", "cells.js", "index.js")),
    "compare": Page("Compare", VEGA, ("sortable.js", "statistics.js", "charts.js", "compare.js")),
    "curves": Page("Curves", VEGA, ("charts.js", "curves.js")),
    "costs": Page("Costs", VEGA, ("sortable.js", "charts.js", "costs.js")),
    "cell": Page("Cell", (), ("sortable.js", "cell.js")),
    "question": Page("Question", KATEX, ("story.js", "question.js"), ("vendor/katex/katex.min.css",)),
}


def write_pages(assets: Path, folder: Path) -> None:
    """Fills the template of `assets` once for each page."""
    template = Template((assets / TEMPLATE_NAME).read_text(encoding="utf-8"))
    for name, page in PAGES.items():
        styles = (f'<link rel="stylesheet" href="{style}">' for style in (*page.styles, "style.css"))
        sources = (*page.libraries, "core.js", "data/index.js", *page.scripts)
        scripts = (f'<script src="{source}"></script>' for source in sources)
        text = template.substitute(title=page.title, styles="\n".join(styles), scripts="\n".join(scripts))
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
