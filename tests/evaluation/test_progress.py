import io
import logging

import pytest
from rich.console import Console

from icpo.evaluation.progress import CellProgress, Pace, clock_text, counting, stored_base_mean
from tests.report.stored_runs import MadeUpCell, me_icpo


class Clock:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


def progress(clock, terminal=False):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=140)
    return console, CellProgress(
        "cell", total=40, resumed=10, base_mean_at_k=0.33, console=console, now=clock
    )


def test_pace_counts_what_this_session_did():
    pace = Pace(total=40, done=20, resumed=10, seconds=50, tokens=2000, mean_at_k=0.412, base_mean_at_k=0.33)
    assert pace.tokens_per_second == 40
    assert pace.eta_seconds == 100  # ten questions took 50 s, twenty are left
    assert pace.line() == "20/40 questions, Mean@k 41.2% (base 33.0%), 40 tokens/s, ETA 1:40"


def test_nothing_is_promised_before_the_first_question():
    pace = Pace(total=40, done=10, resumed=10, seconds=0, tokens=0, mean_at_k=None, base_mean_at_k=0.33)
    assert pace.line() == "10/40 questions, 0 tokens/s, ETA -:--"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (42.4, "0:42"), (3725, "1:02:05"), (None, "-:--")]
)
def test_clock_text(seconds, text):
    assert clock_text(seconds) == text


def test_a_log_gets_a_line_a_minute_and_one_at_the_end(caplog):
    clock = Clock()
    with caplog.at_level(logging.INFO):
        _, shown = progress(clock)
        with shown:
            for done in range(11, 21):
                clock.seconds += 13
                shown.update(done=done, tokens=100 * done, mean_at_k=0.5)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(" questions")[0] for line in lines] == ["cell: 15/40", "cell: 20/40", "cell: 20/40"]


def test_a_terminal_gets_a_bar_and_no_log(caplog):
    clock = Clock()
    console, shown = progress(clock, terminal=True)
    with caplog.at_level(logging.INFO), shown:
        clock.seconds += 10
        shown.update(done=20, tokens=1000, mean_at_k=0.5)
        shown.update(done=20, tokens=1500)
    text = console.file.getvalue()
    assert "20/40 questions, Mean@k 50.0% (base 33.0%), 150 tokens/s, ETA 0:20" in text
    assert not caplog.records


def count_cells(seconds_a_cell, terminal):
    clock, console = Clock(), Console(file=io.StringIO(), force_terminal=terminal, width=140)
    with counting("composing", 40, console=console, now=clock) as count:
        for _ in range(40):
            clock.seconds += seconds_a_cell
            count()
    return console.file.getvalue()


def test_a_terminal_shows_how_many_cells_are_composed_after_two_seconds(caplog):
    with caplog.at_level(logging.INFO):
        assert "composing 40 of 40 cells" in count_cells(0.1, terminal=True)
        assert count_cells(0.04, terminal=True) == ""
    assert not caplog.records


def test_a_log_gets_a_line_a_minute_of_cells_composed(caplog):
    with caplog.at_level(logging.INFO):
        assert count_cells(1, terminal=False) == count_cells(4, terminal=False) == ""
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [f"composing {done} of 40 cells" for done in (15, 30)]


def test_base_mean_is_that_of_the_same_benchmark(tmp_path):
    MadeUpCell("arith_l2", skill=0.9).write(tmp_path, "run")
    MadeUpCell("arith_l1", skill=0.2, prompt="empty_history").write(tmp_path, "run")
    me_icpo("arith_l2").write(tmp_path, "run")
    settings = {"backbone": "nano", "protocol": "quick"}
    found = stored_base_mean(tmp_path / "run", benchmark="arith_l2", **settings)
    assert found is not None and found > 0.6
    assert stored_base_mean(tmp_path / "run", benchmark="arith_l1", **settings) is None
