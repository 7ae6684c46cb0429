"""report/table.tex: the main table in the paper's form, mean ± deviation over seeds, with a Δ line."""

from collections.abc import Iterable, Sequence

from icpo.metrics import Estimate
from icpo.report.sections import Line, Section

METRICS = ("mean_at_k", "accuracy")
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def latex(run_name: str, sections: Sequence[Section]) -> str:
    """A table environment that needs booktabs alone; one block of rows per metric and section."""
    benchmarks = list(dict.fromkeys(b for section in sections for b in section.benchmarks))
    blocks = [
        block for metric in METRICS for section in sections for block in _block(section, metric, benchmarks)
    ]
    return "\n".join(
        [
            "% Needs \\usepackage{booktabs}.",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{escape(run_name)}: percentages, mean $\\pm$ standard deviation over seeds.}}",
            f"\\begin{{tabular}}{{l{'c' * len(benchmarks)}}}",
            "\\toprule",
            " & ".join(["", *(f"\\textbf{{{escape(b)}}}" for b in benchmarks)]) + r" \\",
            *blocks,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def escape(text: str) -> str:
    """Text with LaTeX's special characters made harmless."""
    return text.translate(_SPECIAL)


def tabular(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A plain tabular of texts, the first row its header."""
    lines = [" & ".join(map(escape, row)) + r" \\" for row in (header, *rows)]
    body = "\n".join([lines[0], r"\midrule", *lines[1:]])
    return f"\\begin{{tabular}}{{{'l' * len(header)}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"


def _block(section: Section, metric: str, benchmarks: Sequence[str]) -> list[str]:
    title = f"{section.metric_name(metric)} (%), {section.backbone}, protocol {section.protocol}"
    return [
        "\\midrule",
        f"\\multicolumn{{{len(benchmarks) + 1}}}{{c}}{{\\emph{{{escape(title)}}}}} \\\\",
        "\\midrule",
        *(_row(line, metric, benchmarks) for line in section.lines),
    ]


def _row(line: Line, metric: str, benchmarks: Sequence[str]) -> str:
    label = line.label.replace("difference", "$\\Delta$") if line.is_difference else escape(line.label)
    cells = (_cell(line.estimates.get((metric, b)), line.is_difference) for b in benchmarks)
    return " & ".join([label, *cells]) + r" \\"


def _cell(found: Estimate | None, is_difference: bool) -> str:
    if found is None:
        return "--"
    if is_difference:
        return f"${100 * found.value:+.2f}$"
    spread = "" if found.std_over_seeds is None else f" \\pm {100 * found.std_over_seeds:.2f}"
    return f"${100 * found.value:.2f}{spread}$"
