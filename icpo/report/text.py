"""Formats of numbers and tables: percent, Markdown, LaTeX."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

METRIC_NAMES = {
    "mean_at_k": "Mean",
    "accuracy": "Accuracy",
    "majority_at_k": "Maj",
    "pass_at_k": "pass",
    "parsed_share": "parsed",
    "mean_among_parsed": "right among parsed",
}
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def metric_name(metric: str, k: int) -> str:
    """`Mean@16`, `Accuracy`, `Maj@16`, `pass@16`."""
    name = METRIC_NAMES.get(metric, metric)
    return f"{name}@{k}" if metric.endswith("_at_k") else name


def percent(fraction: float | None, signed: bool = False) -> str:
    """A fraction in percent with one decimal; empty for None."""
    if fraction is None or fraction != fraction:
        return ""
    return f"{round(100 * fraction, 1) + 0.0:{'+' if signed else ''}.1f}"


def interval(row: Mapping[str, Any], signed: bool = False) -> str:
    """`[35.0, 47.1]` of a row with `low` and `high`."""
    return f"[{percent(row['low'], signed)}, {percent(row['high'], signed)}]"


def cell_text(row: Mapping[str, Any] | None, signed: bool = False) -> str:
    """An estimate as `41.2 [35.0, 47.1] ±1.2`; empty for None."""
    if row is None or row["value"] is None:
        return ""
    return f"{percent(row['value'], signed)} {interval(row, signed)}{spread(row)}"


def spread(row: Mapping[str, Any]) -> str:
    """` ±1.2`, the deviation over seeds; empty for a single seed."""
    std = percent(row["std_over_seeds"])
    return f" ±{std}" if std else ""


def whole(number: float | None) -> str:
    """`12,345`; empty where there is none."""
    return "" if number is None or number != number else f"{round(number):,}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, num_texts: int = 1) -> str:
    """A Markdown table: columns of text, then of numbers."""
    lines = [header, ["---" if i < num_texts else "---:" for i in range(len(header))], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    shown = (c if c.isprintable() and (ord(c) < 256 or c == "\u2013") else f"[U+{ord(c):04X}]" for c in text)
    return "".join(shown).translate(_SPECIAL)


def tabular(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A LaTeX tabular of texts with a header; needs booktabs."""
    lines = [" & ".join(map(escape, row)) + r" \\" for row in (header, *rows)]
    body = "\n".join([lines[0], r"\midrule", *lines[1:]])
    return f"\\begin{{tabular}}{{{'l' * len(header)}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
