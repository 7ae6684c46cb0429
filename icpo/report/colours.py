"""One colour for each arm in all figures and charts."""

import pandas as pd

BASES = ("#8a96a3", "#b9c1ca", "#5c6773")
PALETTE = (
    "#3b82d6", "#dd8452", "#43a563", "#9a7bd0", "#b08a72", "#d977b8", "#5bb5bd", "#c9a227", "#d05050",
    "#6b8e23", "#7286d3", "#e8a0a0", "#2f7f7f", "#a05195",
)  # fmt: skip


def colours(frame: pd.DataFrame) -> dict[str, str]:
    """A colour for each line of a frame; the palette repeats."""
    is_base = dict(zip(frame["line"], frame["is_base"], strict=True))
    bases = [line for line, base in is_base.items() if base]
    others = [line for line, base in is_base.items() if not base]
    return {line: BASES[i % len(BASES)] for i, line in enumerate(bases)} | {
        line: PALETTE[i % len(PALETTE)] for i, line in enumerate(others)
    }
