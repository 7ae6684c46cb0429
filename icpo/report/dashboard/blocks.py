"""Blocks of a page: plain values for assets/blocks.js to show."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from icpo.report.tables import TextTable

Block = dict[str, Any]
_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+")
_ESTIMATE = re.compile(r"(?P<value>\S+) (?P<interval>\[(?P<low>\S+), (?P<high>\S+)\])(?P<rest>.*)")


def heading(text: str, level: int = 2) -> Block:
    """A heading."""
    return {"type": "heading", "text": text, "level": level}


def note(text: str) -> Block:
    """A faint line."""
    return {"type": "note", "text": text}


def warning(title: str, lines: Sequence[str]) -> list[Block]:
    """A list of problems; nothing when there is none."""
    return [{"type": "warning", "title": title, "lines": list(lines)}] if lines else []


def cards(pairs: Mapping[str, str]) -> Block:
    """Titles with a text each."""
    return {"type": "cards", "cards": list(pairs.items())}


def chart(spec: Mapping[str, Any], name: str, max_width: int | None = None) -> Block:
    """A Vega-Lite specification; `max_width` in pixels."""
    return {"type": "chart", "spec": spec, "id": name, "max_width": max_width}


def choice(name: str, label: str, options: Sequence[tuple[str, str, Sequence[Block]]]) -> Block:
    """A choice between lists of blocks, by value and text."""
    return {"type": "choice", "name": name, "label": label, "options": [list(option) for option in options]}


def load(name: str) -> Block:
    """The blocks of another data file, read when they are looked at."""
    return {"type": "load", "name": name}


def table(
    shown: TextTable,
    name: str,
    *,
    links: Mapping[tuple[int, int], str] | None = None,
    hidden: Sequence[str] = (),
    words: Sequence[str] = (),
    searchable: bool = True,
) -> list[Block]:
    """A table that sorts and filters, and its notes.

    `links` are addresses by row and column; `hidden` columns are shown on request; `words` become buttons
    that filter.
    """
    links = links or {}
    rows = [
        [_cell(text, i >= shown.num_texts, links.get((r, i))) for i, text in enumerate(row)]
        for r, row in enumerate(shown.rows)
    ]
    block = {
        "type": "table",
        "id": name,
        "columns": [{"name": text, "text": i < shown.num_texts} for i, text in enumerate(shown.header)],
        "rows": rows,
        "hidden": list(hidden),
        "words": list(words),
        "searchable": searchable,
    }
    return [block, *map(note, shown.notes)]


def address(page: str, **values: str) -> str:
    """The address of a page with parameters."""
    return f"{page}.html#{urlencode(values)}"


def _cell(text: str, is_number: bool, link: str | None) -> Any:
    """A text as the page shows it: an interval small below its value, what it sorts by, a colour."""
    cell: dict[str, Any] = {"t": text}
    if is_number and (found := _ESTIMATE.fullmatch(text)):
        cell = {"t": found["value"] + found["rest"], "s": found["interval"]}
        if text[0] in "+-":
            low, high = float(found["low"]), float(found["high"])
            cell |= {"c": "up"} if low > 0 else {"c": "down"} if high < 0 else {}
    if is_number and (number := _NUMBER.match(text)):
        cell["v"] = float(number[0].replace(",", ""))
    if link:
        cell["h"] = link
    return text if cell == {"t": text} else cell
