"""What an error stops, how it is told, and what the exit status says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from icpo.cli import errors as ending
from icpo.cli import run
from icpo.config import SeenRun
from icpo.errors import ConfigError, EngineError, Interrupted
from icpo.grading import GradingError
from icpo.store import CellRecords
from tests.report.stored_runs import MadeUpCell


@pytest.fixture(autouse=True)
def nothing_ran(monkeypatch):
    for name in ("_begun", "_failures", "_held", "SEEN_RUNS", "SENT_AWAY"):
        monkeypatch.setattr(ending, name, [])


@pytest.fixture(params=[True, False], ids=["here", "elsewhere"])
def is_here(request, monkeypatch):
    monkeypatch.setattr(ending, "runs_here", lambda: request.param)
    return request.param


def job(fault=None):
    if fault is not None:
        raise fault


def test_a_wrong_setting_ends_a_run_here_and_is_raised_to_a_launcher(is_here, capsys, caplog):
    with pytest.raises(SystemExit if is_here else ConfigError) as ended, ending.stops_the_run():
        raise ConfigError("no such thing")
    assert "no such thing" in capsys.readouterr().err + caplog.text
    assert not is_here or ended.value.code == 2


def fails_and_goes_on(folder, fault):
    """A sweep of two cells, of which the first fails; what has to be so of its end."""
    with pytest.raises(SystemExit) as ended, ending.told(job):
        with ending.fails_alone(folder), CellRecords.open(folder, config={}, config_digest="d"):
            job(fault)
        with ending.fails_alone(folder.with_name("next")):
            job()
    assert ended.value.code == 1


def test_a_failed_cell_lets_the_next_one_begin_and_shows_in_the_exit_status(is_here, tmp_path, caplog):
    fails_and_goes_on(tmp_path / "run" / "cell", EngineError("it died"))
    assert "cell: it died" in caplog.text


def test_a_failure_that_is_not_the_cells_own_ends_the_run(is_here, tmp_path, capsys, caplog):
    with pytest.raises(SystemExit) as ended, ending.told(job, makes_report=False):
        with ending.fails_alone(tmp_path / "run" / "cell"):
            raise GradingError("no worker starts")
        raise AssertionError("the next cell must not begin")
    assert ended.value.code == 1 and "no worker starts" in capsys.readouterr().err + caplog.text


def test_an_unforeseen_failure_keeps_its_traceback_and_lets_the_next_one_begin(is_here, tmp_path, caplog):
    fails_and_goes_on(tmp_path / "run" / "cell", KeyError("lost"))
    [record] = caplog.records
    assert record.getMessage() == "cell: KeyError" and record.exc_info[1].args == ("lost",)
    assert "in job\n    raise fault\nKeyError: 'lost'" in caplog.text


def test_a_cell_elsewhere_that_could_not_say_that_it_failed_raises(monkeypatch, tmp_path):
    monkeypatch.setattr(ending, "runs_here", lambda: False)
    with pytest.raises(EngineError), ending.fails_alone(tmp_path):
        raise EngineError("it died")


def test_a_signal_ends_the_run(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, ending.fails_alone(tmp_path):
        raise Interrupted("Stopped")
    assert ended.value.code == 130
    assert "icpo: Stopped" in capsys.readouterr().err


def test_a_value_error_of_a_job_is_a_bug_and_any_other_hydras(capsys):
    with pytest.raises(ValueError, match="a bug"), ending.told(job):
        job(ValueError("a bug"))
    with pytest.raises(SystemExit) as ended, ending.told(job):
        raise ValueError("odd")
    assert ended.value.code == 2
    assert "Hydra cannot take one of the settings: odd" in capsys.readouterr().err


@pytest.fixture
def reports(monkeypatch):
    """The runs that were reported, and whether a tracker was given the report."""
    made = []
    monkeypatch.setattr(
        "icpo.evaluation.cell.report_runs", lambda runs, *, track: made.append((runs, track)) or True
    )
    ending.SEEN_RUNS.append(SeenRun(Path("outputs"), "run", {}))
    return made


def test_the_report_is_made_whatever_happened_and_tracked_where_all_had_their_turn(reports, tmp_path):
    with ending.told(job), ending.fails_alone(tmp_path):
        job()
    with pytest.raises(SystemExit), ending.told(job):
        raise ConfigError("no")
    assert reports == [(ending.SEEN_RUNS, True), (ending.SEEN_RUNS, False)]


def test_a_run_refused_before_any_cell_began_has_no_report(reports, capsys):
    with pytest.raises(SystemExit) as ended, ending.told(job):
        raise ConfigError("no")
    assert (ended.value.code, reports) == (2, [])
    assert "icpo: no" in capsys.readouterr().err


def test_a_run_without_a_report_still_says_how_its_cells_ended(is_here, reports, tmp_path):
    folder = tmp_path / "run" / "cell"
    with (
        pytest.raises(SystemExit) as ended,
        ending.told(job, makes_report=False),
        ending.fails_alone(folder),
        CellRecords.open(folder, config={}, config_digest="d"),
    ):
        job(EngineError("it died"))
    assert (ended.value.code, reports) == (1, [])


@pytest.mark.parametrize("makes_report", [True, False])
def test_the_entry_point_makes_the_report_unless_told_not_to(makes_report, monkeypatch, reports, tmp_path):
    monkeypatch.setattr(sys, "argv", ["icpo", "+exp=quickstart"])
    monkeypatch.setattr(run, "run_job", lambda: ending._begun.append(tmp_path))
    run.main(makes_report=makes_report)
    assert len(reports) == makes_report


def test_cells_sent_away_are_reported_on(reports, tmp_path):
    ending.SENT_AWAY.append(tmp_path / "cell")
    with pytest.raises(SystemExit), ending.told(job):
        job()
    assert reports == [(ending.SEEN_RUNS, True)]


def test_a_cell_refused_elsewhere_says_so_in_its_log(monkeypatch, caplog):
    monkeypatch.setattr(ending, "runs_here", lambda: False)
    with pytest.raises(ConfigError), ending.stops_the_run():
        raise ConfigError("no such thing")
    assert "no such thing" in caplog.text


def test_ctrl_c_before_a_cell_has_begun_is_no_traceback(reports, capsys):
    with pytest.raises(SystemExit) as ended, ending.told(job):
        raise KeyboardInterrupt
    assert (ended.value.code, reports) == (130, [])
    assert "icpo: Stopped by SIGINT" in capsys.readouterr().err


def test_ctrl_c_while_the_entry_point_loads_is_no_traceback():
    interrupting = """
import sys
class Ctrl:
    def find_spec(self, name, path=None, target=None):
        if name == "omegaconf":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Ctrl())
import icpo.cli.run
"""
    done = subprocess.run([sys.executable, "-c", interrupting], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


def test_cells_sent_away_must_be_done(tmp_path):
    """A launcher says nothing of cells that died elsewhere: their status counts."""
    ending.SENT_AWAY.append(tmp_path / "cell")
    with pytest.raises(SystemExit) as ended, ending.told(job):
        job()
    assert ended.value.code == 1
    with CellRecords.open(tmp_path / "cell", config={}, config_digest="d") as records:
        records.mark("done")
    with ending.told(job):
        job()


def test_a_folder_that_cannot_be_made_is_told_and_an_os_error_of_a_job_is_a_bug(capsys):
    with pytest.raises(SystemExit) as ended, ending.told(job):
        Path("/dev/null/run").mkdir()
    assert ended.value.code == 2 and "Choose another output_root" in capsys.readouterr().err
    with pytest.raises(OSError, match="a bug"), ending.told(job):
        job(OSError("a bug"))


@pytest.mark.parametrize(("state", "code"), [("done", None), ("failed", 1)])
def test_a_cell_that_another_process_works_on_is_a_failure_only_if_it_fails_there(
    is_here, tmp_path, state, code
):
    """Two processes that share a run: each finds the other at work on a cell."""
    folder = tmp_path / "run" / "cell"
    other = CellRecords.open(folder, config={}, config_digest="d")
    try:
        with ending.told(job, makes_report=False):
            with ending.fails_alone(folder), CellRecords.open(folder, config={}, config_digest="d"):
                raise AssertionError("the lock is held")
            other.mark(state)
    except SystemExit as ended:
        assert ended.code == code
    else:
        assert code is None
    finally:
        other.close()


def test_a_report_that_was_not_made_shows_in_the_exit_status(tmp_path, monkeypatch, caplog):
    """The table of yesterday stays, is named, and is no success."""
    cell = MadeUpCell().write(tmp_path, "run")
    (tmp_path / "run" / "report").mkdir()
    (tmp_path / "run" / "report" / "table.csv").write_text("yesterday's")
    monkeypatch.setattr(ending, "SEEN_RUNS", [SeenRun(tmp_path, "run", {})])
    (tmp_path / "run" / "report" / "table.tex").mkdir()  # so that the new one cannot take its place
    with pytest.raises(SystemExit) as ended, ending.told(job), ending.fails_alone(cell):
        job()
    assert ended.value.code == 1
    assert "No report of run" in caplog.text and "may be of an earlier state" in caplog.text


class FailedJobError(Exception):
    """As submitit raises where sbatch refuses."""


FailedJobError.__module__ = "submitit.core.utils"


def test_what_sbatch_refuses_is_one_line_with_a_way_out(tmp_path, capsys):
    refused = FailedJobError("sbatch: error: Batch job submission failed:\n Invalid job array specification")
    with pytest.raises(SystemExit), ending.told(job, makes_report=False):
        raise refused
    assert re.search(
        r"did not take.*Invalid job array.*MaxArraySize.*max_batch_size", capsys.readouterr().err
    )
