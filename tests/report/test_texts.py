import pytest

from icpo.metrics import Estimate
from icpo.report.latex import escape, latex
from icpo.report.markdown import cell_text, percent, table
from icpo.report.sections import Line, Section

SECTION = Section(
    "qwen7b", "paper", 16, ("aime2024", "math_l1"),
    (
        Line("base", False, {("mean_at_k", "aime2024"): Estimate(0.1104, 0.05, 0.2, 0.0165)}),
        Line("difference", True, {("mean_at_k", "aime2024"): Estimate(0.1938, 0.1, 0.3, None)}),
    ),
)  # fmt: skip


def test_latex_has_the_papers_form():
    text = latex("main_table", [SECTION])
    assert r"base & $11.04 \pm 1.65$ & -- \\" in text
    assert r"$\Delta$ & $+19.38$ & -- \\" in text
    assert r"\multicolumn{3}{c}{\emph{Mean@16 (\%), qwen7b, protocol paper}} \\" in text
    assert r"\textbf{math\_l1}" in text and "main\\_table" in text
    assert text.count("{") == text.count("}")


def test_latex_special_characters_are_harmless():
    assert escape("a_b%&#$ \\ {x}") == r"a\_b\%\&\#\$ \textbackslash{} \{x\}"


@pytest.mark.parametrize(
    ("fraction", "signed", "expected"),
    [
        (0.41249, False, "41.2"),
        (0.1, True, "+10.0"),
        (-0.0001, False, "0.0"),
        (-0.0001, True, "+0.0"),
        (1, False, "100.0"),
    ],
)
def test_percent(fraction, signed, expected):
    assert percent(fraction, signed) == expected


def test_cell_text_shows_the_interval_and_the_spread_where_there_is_one():
    assert cell_text(Estimate(0.5, 0.4, 0.6, 0.012), False) == "50.0 [40.0, 60.0] ±1.2"
    assert cell_text(Estimate(-0.5, -0.6, 0.4, None), True) == "-50.0 [-60.0, +40.0]"
    assert cell_text(None, False) == ""


def test_pipes_cannot_break_a_table():
    assert table(["a", "b"], [["x|y", "1"]]).splitlines()[-1] == r"| x\|y | 1 |"
