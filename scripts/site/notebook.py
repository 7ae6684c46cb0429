"""The tutorial as a notebook: `python scripts/site/notebook.py docs/tutorial.md FILE.ipynb`.

A fenced block becomes a cell: Python as it is, bash as `%%bash`, and a block below a line that holds
nothing but a file's name in backticks as `%%writefile`. Everything else is text.
"""

import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

BLOCK = re.compile(r"(?:^`(?P<path>[\w./]+)`\n\n?)?^```(?P<language>\w+)\n(?P<code>.*?)^```\n?", re.M | re.S)


def notebook(page: str) -> NotebookNode:
    """The cells of a page, in its order."""
    cells, end = [], 0
    for match in BLOCK.finditer(page):
        cells += _text(page[end : match.start()])
        cells.append(_cell(match))
        end = match.end()
    cells += _text(page[end:])
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def dumps(page: str) -> str:
    """The notebook of a page as the text of an .ipynb file."""
    return nbformat.writes(notebook(page))


def _text(text: str) -> list[NotebookNode]:
    return [new_markdown_cell(text.strip())] if text.strip() else []


def _cell(match: re.Match[str]) -> NotebookNode:
    code = match["code"].rstrip("\n")
    if match["path"]:
        return new_code_cell(f"%%writefile {match['path']}\n{code}")
    if match["language"] == "python":
        return new_code_cell(code)
    if match["language"] == "bash":
        return new_code_cell(f"%%bash\n{code}")
    return new_markdown_cell(match[0].strip())


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(dumps(source.read_text(encoding="utf-8")), encoding="utf-8")
