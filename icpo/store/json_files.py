"""JSON objects on a disk, each ending in a checksum.

The checksum covers the text and the `key` of its cell (the digest of the configuration), so that a line of
another configuration is found like a flipped bit. Files of version 1 have none.
"""

import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from icpo.errors import RecordsError
from icpo.store.storage import explained, replace_file

_TAIL = re.compile(rb'(?:,|(?<=\{))(?:"crc32":"([0-9a-f]{8})"\}\n?|\n  "crc32": "([0-9a-f]{8})"\n\}\n)\Z')
_MAX_TAIL_BYTES = 80


class Seal(NamedTuple):
    """How a cell's objects are checked: their key, and strictness."""

    key: str = ""
    is_required: bool = False


def encode_line(value: Mapping[str, Any], key: str = "") -> bytes:
    """A JSON object as one line of ASCII."""
    return _sealed(json.dumps(dict(value), separators=(",", ":")), ',"crc32":"{crc}"}}\n', key)


def replace_json(path: Path, value: Mapping[str, Any], key: str = "") -> None:
    """Writes a JSON object, indented, atomically."""
    replace_file(path, [_sealed(json.dumps(value, indent=2), ',\n  "crc32": "{crc}"\n}}\n', key)])


def decode(text: bytes, seal: Seal = Seal()) -> dict[str, Any]:  # noqa: B008  (immutable)
    """The object of a line or file, without its checksum.

    Raises:
        ValueError: it is no JSON object, does not match its checksum, or lacks one that is required.
    """
    tail = _TAIL.search(text, max(0, len(text) - _MAX_TAIL_BYTES))
    if tail is not None:
        head = text[: tail.start()]
        if _crc(head, seal.key) != (tail[1] or tail[2]).decode():
            raise ValueError("it does not match its checksum")
        text = head + b"}"
    elif seal.is_required:
        raise ValueError("it has no checksum")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def read_json(path: Path, seal: Seal = Seal(), *, way_out: str = "") -> dict[str, Any] | None:  # noqa: B008
    """The JSON object in `path`, None if there is no such file.

    Raises:
        RecordsError: the file is damaged or cannot be read; `way_out` says what to do then.
    """
    with explained(path, "read"):
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
    try:
        return decode(text, seal)
    except ValueError as error:
        way_out = way_out or "Restore it, or delete it and run the same command again: it is made again."
        raise RecordsError(f"{path} is damaged: {error}. {way_out}") from error


def read_lines(path: Path, seal: Seal) -> list[dict[str, Any] | None]:
    """The objects of a file of lines; None for damaged ones."""
    return [_decoded(line, seal) for line in finished_lines(path).split(b"\n")[:-1]]


def finished_lines(path: Path) -> bytes:
    """A file of lines up to its last line end.

    A line that was cut short is left out. No file is no lines.
    """
    with explained(path, "read"):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return b""
    return content[: content.rfind(b"\n") + 1]


def _decoded(line: bytes, seal: Seal) -> dict[str, Any] | None:
    try:
        return decode(line, seal)
    except ValueError:
        return None


def _sealed(text: str, tail: str, key: str) -> bytes:
    head = text[:-1].rstrip().encode()
    return head + tail.format(crc=_crc(head, key)).lstrip("," if head == b"{" else "").encode()


def _crc(text: bytes, key: str) -> str:
    return f"{zlib.crc32(text, zlib.crc32(key.encode())):08x}"
