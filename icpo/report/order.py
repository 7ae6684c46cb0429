"""The order and the names of a table's lines."""

import re
from collections.abc import Callable, Iterable

from icpo.report.cells import FULL, ArmKey


def place(key: ArmKey) -> tuple[object, ...]:
    """Sort key of a line: bases, methods by name and size."""
    sizes = (key.num_rounds or 0, key.num_candidates or 0, key.num_lookaheads or 0)
    is_full = key.arm == FULL or key.is_full
    return not key.is_base, key.method, *sizes, not is_full, _natural(key.title), key.benchmark


def line_names(keys: Iterable[ArmKey]) -> dict[ArmKey, str]:
    """The name of each line: title and what distinguishes it."""
    groups: dict[tuple[str, str, int, str], list[ArmKey]] = {}
    for line in dict.fromkeys(key.line for key in keys):
        groups.setdefault((line.backbone, line.protocol, line.k, line.title), []).append(line)
    return {
        line: name for lines in groups.values() for line, name in zip(lines, _distinct(lines), strict=True)
    }


def _distinct(lines: list[ArmKey]) -> list[str]:
    """The shortest names under which lines of one title differ."""
    ways: tuple[Callable[[ArmKey], str], ...] = (
        lambda line: line.title,
        lambda line: f"{line.title}, {line.num_rounds} round{'s' if line.num_rounds != 1 else ''}",
        lambda line: f"{line.title} ({line.arm})",
        lambda line: f"{line.title} ({line.method}, {line.reward}, {line.selector})",
    )
    for way in ways:
        names = [way(line) for line in lines]
        if len(set(names)) == len(names):
            return names
    return [f"{line.title} ({number})" for number, line in enumerate(lines, start=1)]


def _natural(title: str) -> list[tuple[int, str]]:
    """`s16` before `s128`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", title)]
