"""The pages of the dashboard, from one template."""

from pathlib import Path
from string import Template

TEMPLATE_NAME = "page.html"
VEGA = tuple(f"vendor/vega/{name}.min.js" for name in ("vega", "vega-lite", "vega-embed"))
KATEX = tuple(f"vendor/katex/{name}.min.js" for name in ("katex", "auto-render"))
STYLE, KATEX_STYLE = "style.css", "vendor/katex/katex.min.css"
TITLES = {
    "index": "Results",
    "compare": "Compare",
    "curves": "Curves",
    "costs": "Costs",
    "cell": "Cell",
    "question": "Question",
}


def write_pages(assets: Path, folder: Path) -> None:
    """Fills the template of `assets` once for each page."""
    template = Template((assets / TEMPLATE_NAME).read_text(encoding="utf-8"))
    for name, title in TITLES.items():
        if name == "question":
            styles, sources = (
                [KATEX_STYLE, STYLE],
                [*KATEX, "core.js", "data/cells.js", "story.js", "question.js"],
            )
        else:
            data = "cells" if name == "cell" else name
            styles, sources = [STYLE], [*VEGA, "core.js", f"data/{data}.js", "sortable.js", "blocks.js"]
        text = template.substitute(
            name=name,
            title=title,
            styles="\n".join(f'<link rel="stylesheet" href="{style}">' for style in styles),
            scripts="\n".join(f'<script src="{source}"></script>' for source in sources),
        )
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
