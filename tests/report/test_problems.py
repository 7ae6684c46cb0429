"""Cells that are not done: a gap in the tables is said first, another command's failure is not."""

import io

import pytest
from rich.console import Console

from icpo.report import print_report, write_report
from icpo.report.cells import load_cells
from icpo.report.problems import gaps
from tests.report.stored_runs import MadeUpCell
from tests.store.editing import rewrite_json


def fail(folder):
    """Turns a stored cell into one that failed before it had scores."""
    rewrite_json(folder / "status.json", lambda row: row | {"state": "failed", "reason": "no such file"})
    (folder / "metrics.json").unlink()
    return folder.name


@pytest.fixture
def run(tmp_path):
    """Two benchmarks and a failed command: outputs, and the failed cell."""
    for benchmark in ("arith_l1", "arith_l2"):
        job = {"benchmark": {"name": benchmark}, "arm": "base"}
        MadeUpCell(benchmark, job=job, extra={"arm": "base"}).write(tmp_path, "run")
    mine = MadeUpCell("mine", job={"benchmark": {"name": "mine"}, "arm": "base"})
    return tmp_path, fail(mine.write(tmp_path, "run"))


def printed(outputs, **more):
    console = Console(file=io.StringIO(), width=300)
    print_report(write_report(outputs, "run"), console, **more)
    return console.file.getvalue()


def test_a_failed_command_is_no_banner_over_a_complete_table(run):
    outputs, failed = run
    write_report(outputs, "run")
    page = (outputs / "run/report/table.md").read_text()
    assert page.index(failed) > page.index("Counts behind the scores")


def test_a_cell_missing_from_the_tables_is_said_first(run, tmp_path):
    outputs, _ = run
    job = {"benchmark": {"name": "arith_l2"}, "arm": "me_icpo"}
    for benchmark in ("arith_l1", "arith_l2"):
        cell = MadeUpCell(benchmark, "me_icpo", job=job, reward="majority", selector="entropy", num_rounds=1)
        cell.extra = {"arm": "me_icpo"}
        gap = cell.write(outputs, "run")
    gap = fail(gap)
    assert [cell.folder.name for cell in gaps(load_cells(outputs, "run"))[0]] == [gap]
    write_report(outputs, "run")
    page = (outputs / "run/report/table.md").read_text()
    assert page.index(gap) < page.index("| benchmark")


def test_the_terminal_lists_the_command_s_own_failures_and_counts_the_others(run):
    outputs, failed = run
    assert failed in printed(outputs) and failed in printed(outputs, of_command={failed})
    later = printed(outputs, of_command={"another"})
    assert failed not in later and "earlier commands that are not done: 1" in later
