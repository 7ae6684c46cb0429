import pytest

from icpo.report.text import cell_text, escape, markdown_table, metric_name, percent, tabular, whole


def row(value, low, high, std=None):
    return {"value": value, "low": low, "high": high, "std_over_seeds": std}


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
        (None, False, ""),
        (float("nan"), True, ""),
    ],
)
def test_percent(fraction, signed, expected):
    assert percent(fraction, signed) == expected


def test_cell_text_shows_the_interval_and_the_spread_where_there_is_one():
    assert cell_text(row(0.5, 0.4, 0.6, 0.012), False) == "50.0 [40.0, 60.0] ±1.2"
    assert cell_text(row(-0.5, -0.6, 0.4), True) == "-50.0 [-60.0, +40.0]"
    assert cell_text(None, False) == ""


def test_pipes_cannot_break_a_table():
    assert markdown_table(["a", "b"], [["x|y", "1"]]).splitlines()[-1] == r"| x\|y | 1 |"


def test_a_tabular_has_a_rule_below_its_header():
    lines = tabular(["a", "b_c"], [["1", "2%"]]).splitlines()
    assert lines[0] == r"\begin{tabular}{ll}" and lines[2:5] == [r"a & b\_c \\", r"\midrule", r"1 & 2\% \\"]


def test_metrics_and_whole_numbers():
    names = [metric_name(metric, 16) for metric in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k")]
    assert names == ["Mean@16", "Accuracy", "Maj@16", "pass@16"]
    assert (whole(12345.6), whole(None)) == ("12,346", "")
