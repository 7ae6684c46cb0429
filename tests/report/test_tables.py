"""What the first table says of a cell, and the marks behind its score."""

import pytest

from icpo.report import tables
from icpo.report.cells import load_cells
from icpo.report.dashboard import blocks
from icpo.report.frame import run_frame, sections
from icpo.report.page import count_table
from icpo.report.tables import first_table, gain_table, gains_of, score_table
from tests.report.stored_runs import MadeUpCell, me_icpo


def section(outputs):
    [(*_, found)] = sections(run_frame(outputs, "run"))
    return found


def titled(cell, title):
    cell.extra |= {"title": title, "arm": title}
    return cell


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    for level in ("arith_l3", "arith_l4"):
        titled(MadeUpCell(level, skill=0.3, num_questions=20), "base").write(outputs, "run")
        titled(me_icpo(level, skill=0.8, num_questions=20), "ME-ICPO").write(outputs, "run")
    return outputs


def test_the_first_table_has_a_line_for_each_benchmark_and_arm_and_pool(outputs):
    table = first_table(section(outputs))
    levels = ("arith_l3", "arith_l4", "arith_l3-l4")
    assert [row[:2] for row in table.rows] == [
        (level, arm) for level in levels for arm in ("base", "ME-ICPO")
    ]
    assert table.header[:5] == ("benchmark", "arm", "questions", "Mean@4 (%)", "Maj@4 (%)")
    assert [row[2] for row in table.rows] == ["20"] * 4 + ["40"] * 2
    assert not table.notes


def test_tokens_stand_beside_how_many_times_the_base_s_they_are(outputs):
    rows = {row[:2]: row for row in first_table(section(outputs)).rows}
    assert rows["arith_l3", "base"][-2:] == ("160", "1.0")
    assert rows["arith_l3", "ME-ICPO"][-2:] == ("400", "2.5")


def test_answers_that_could_be_read_and_how_many_of_them_are_right(outputs):
    found = section(outputs)
    values = found[(found["line"] == "base") & (found["benchmark"] == "arith_l3")].set_index("metric")[
        "value"
    ]
    assert values["mean_at_k"] == pytest.approx(values["parsed_share"] * values["mean_among_parsed"])
    [row] = [row for row in first_table(found).rows if row[:2] == ("arith_l3", "base")]
    assert row[5:7] == tuple(f"{100 * values[name]:.1f}" for name in ("parsed_share", "mean_among_parsed"))


def test_few_questions_and_unread_answers_are_marked(tmp_path):
    titled(MadeUpCell(num_questions=19), "base").write(tmp_path, "run")
    table = first_table(section(tmp_path))
    assert table.rows[0][3].endswith("*") and len(table.notes) == 1 and "20 questions" in table.notes[0]
    unread = section(tmp_path).copy()
    unread.loc[unread["metric"] == "parsed_share", "value"] = 0.79
    marked = first_table(unread)
    assert marked.rows[0][3].endswith("†*") and len(marked.notes) == 2
    unread.loc[unread["metric"] == "parsed_share", "value"] = 0.8
    assert "†" not in first_table(unread).rows[0][3]


def test_the_table_of_one_metric_and_the_pages_carry_the_marks_too(tmp_path):
    unparsed = titled(MadeUpCell(num_questions=20, skill=0.1), "base")
    unparsed.write(tmp_path, "run")
    found = section(tmp_path).copy()
    found.loc[found["metric"] == "parsed_share", "value"] = 0.5
    table = score_table(found, "mean_at_k")
    assert table.rows[0][1].endswith("†") and "Warning" in table.notes[0]
    shown, note = blocks.table(table, "scores")
    assert shown["rows"][0][1]["t"].endswith("†") and note["text"] == table.notes[0]


def test_gains_follow_their_arm_and_pools_have_scores_too(outputs):
    table = score_table(section(outputs), "mean_at_k")
    assert table.header == ("", "arith_l3", "arith_l4", "arith_l3-l4")
    assert [row[0] for row in table.rows] == ["base", "ME-ICPO", "minus base"]
    assert all(cell for row in table.rows for cell in row)
    assert table.rows[2][1].startswith("+")


def test_one_level_makes_no_pool(tmp_path):
    MadeUpCell("arith_l3").write(tmp_path, "run")
    me_icpo("arith_l3").write(tmp_path, "run")
    assert set(run_frame(tmp_path, "run")["benchmark"]) == {"arith_l3"}


def test_gains_alone_name_both_arms(outputs):
    table = gain_table(section(outputs), "accuracy")
    assert table.header == ("benchmark", "arms", "Accuracy (points)")
    assert [row[:2] for row in table.rows] == [
        (level, "ME-ICPO minus base") for level in ("arith_l3", "arith_l4", "arith_l3-l4")
    ]


def test_questions_that_a_filter_refused_are_counted_where_answers_are(tmp_path):
    blocked = MadeUpCell("arith_l1")
    blocked.extra |= {"num_blocked": 2}
    blocked.write(tmp_path, "run")
    table = count_table(load_cells(tmp_path, "run"))
    assert dict(zip(table.header, table.rows[0], strict=True))["blocked questions"] == "2"


def test_benchmarks_are_put_in_order_once_however_many_differences_there_are(outputs, monkeypatch):
    calls = []
    monkeypatch.setattr(
        tables, "benchmarks_of", lambda found, of=tables.benchmarks_of: calls.append(1) or of(found)
    )
    gains = gains_of(section(outputs), "mean_at_k")
    assert [row["benchmark"] for row in gains] == ["arith_l3", "arith_l4", "arith_l3-l4"] and len(calls) == 1
