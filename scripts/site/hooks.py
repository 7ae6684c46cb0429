"""MkDocs hook: adds the pages outside docs/ and generated parts, and makes links to them work."""

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import notebook
import reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s#]+)((?:#[^()\s]*)?)\)")
FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.M | re.S)
PART = re.compile(r"^<!-- generated: (\w+) -->$", re.M)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the experiments and the tutorial's notebook."""
    tutorial = notebook.dumps((DOCS / "tutorial.md").read_text(encoding="utf-8"))
    files.append(File.generated(config, "tutorial.ipynb", content=tutorial))
    own = [*ROOT.glob("experiments/**/*.md"), *ROOT.glob("experiments/**/*.png"), ROOT / "CONTRIBUTING.md"]
    for path in sorted(own):
        uri = path.relative_to(ROOT).as_posix()
        level = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, uri, abs_src_path=str(path), inclusion=level))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: Any) -> str:
    """Fill in generated parts and point links at the site's pages.

    A link to a file that the site does not hold keeps its words alone.
    """
    markdown = PART.sub(lambda match: reference.PARTS[match[1]](), markdown)
    here = page.file.src_uri
    folder = posixpath.dirname(here)
    is_of_docs = (DOCS / here).is_file()

    def rewritten(match: re.Match[str]) -> str:
        mark, words, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        base = posixpath.join("docs", folder) if is_of_docs else folder
        place = posixpath.normpath(posixpath.join(base, target))
        inside = place.removeprefix("docs/")
        for uri in (inside, posixpath.join(inside, "README.md")):
            if files.get_file_from_path(uri):
                return f"{mark}[{words}]({posixpath.relpath(uri, folder or '.')}{anchor})"
        return words if (ROOT / place).exists() else match[0]

    parts = FENCE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(rewritten, part) for i, part in enumerate(parts))
