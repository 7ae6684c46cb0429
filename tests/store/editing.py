"""Stored files changed as their writer would: with checksums that fit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from icpo.store.json_files import decode, encode_line, replace_json
from icpo.store.manifest import seal_of


def rewrite_json(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replaces metrics.json or manifest.json by what `change` makes of it."""
    key = "" if path.name in ("manifest.json", "status.json") else seal_of(path.parent).key
    stored = json.loads(path.read_bytes())
    stored.pop("crc32", None)
    replace_json(path, change(stored), key)


def rewrite_lines(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Replaces the lines of results.jsonl or scores.jsonl by what `change` makes of them."""
    seal = seal_of(path.parent)
    rows = [decode(line, seal) for line in path.read_bytes().splitlines()]
    path.write_bytes(b"".join(encode_line(row, seal.key) for row in change(rows)))
