"""What an error stops, how it is told, and what the exit status says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from icpo.cli import errors
from icpo.cli.errors import RunState
from icpo.errors import ConfigError, EngineError, Interrupted
from icpo.evaluation.cell import StoredRun, report_runs
from icpo.grading import GradingError
from icpo.store import CellRecords
from tests.report.stored_runs import MadeUpCell


@pytest.fixture(params=[True, False], ids=["here", "elsewhere"])
def state(request):
    """The state of a process whose cells run in it, or of one that a launcher started."""
    return RunState(is_here=request.param)


@pytest.fixture
def here():
    return RunState()


@pytest.fixture
def elsewhere():
    return RunState(is_here=False)


def whole(state, report=None):
    return state.whole_run(job, report=report)


def job(fault=None):
    if fault is not None:
        raise fault


def test_a_wrong_setting_ends_a_run_here_and_is_raised_to_a_launcher(state, capsys, caplog):
    expected = SystemExit if state.is_here else ConfigError
    with pytest.raises(expected) as ended, state.starting():
        raise ConfigError("no such thing")
    assert "no such thing" in (capsys.readouterr().err if state.is_here else caplog.text)
    assert not state.is_here or ended.value.code == 2


def fails_and_goes_on(state, folder, fault):
    """A sweep of two cells, of which the first fails; what has to be so of its end."""
    with pytest.raises(SystemExit) as ended, whole(state):
        with state.cell(folder), CellRecords(folder, config={}, config_digest="d"):
            job(fault)
        with state.cell(folder.with_name("next")):
            job()
    assert ended.value.code == 1


def test_a_failed_cell_lets_the_next_one_begin_and_shows_in_the_exit_status(state, tmp_path, caplog, capsys):
    fails_and_goes_on(state, tmp_path / "run" / "cell", EngineError("it died"))
    assert "cell: it died" in caplog.text
    assert capsys.readouterr().err.startswith("icpo: 1 of 2 cells failed, as said above.")


def test_a_failure_that_is_not_the_cells_own_ends_the_run(state, tmp_path, capsys, caplog):
    with pytest.raises(SystemExit) as ended, whole(state):
        with state.cell(tmp_path / "run" / "cell"):
            raise GradingError("no worker starts")
        raise AssertionError("the next cell must not begin")
    assert ended.value.code == 1 and "no worker starts" in capsys.readouterr().err + caplog.text


def test_an_unforeseen_failure_keeps_its_traceback_and_lets_the_next_one_begin(state, tmp_path, caplog):
    fails_and_goes_on(state, tmp_path / "run" / "cell", KeyError("lost"))
    [record] = caplog.records
    assert record.getMessage() == "cell: KeyError" and record.exc_info[1].args == ("lost",)
    assert "in job\n    raise fault\nKeyError: 'lost'" in caplog.text


def test_a_cell_elsewhere_that_could_not_record_its_failure_raises(elsewhere, tmp_path):
    with pytest.raises(EngineError), elsewhere.cell(tmp_path):
        raise EngineError("it died")


def test_a_signal_ends_the_run(here, tmp_path):
    with pytest.raises(SystemExit) as ended, here.cell(tmp_path):
        raise Interrupted("Stopped")
    assert ended.value.code == 130


def test_a_value_error_of_a_job_is_a_bug_and_any_other_hydras(here, capsys):
    with pytest.raises(ValueError, match="a bug"), whole(here):
        job(ValueError("a bug"))
    with pytest.raises(SystemExit) as ended, whole(here):
        raise ValueError("odd")
    assert ended.value.code == 2
    assert "odd" in capsys.readouterr().err


class Reports:
    """Notes the runs that are reported, and whether a tracker is given the report."""

    def __init__(self):
        self.made = []

    def __call__(self, runs, *, track):
        self.made.append((list(runs), track))
        return True


RUN = StoredRun(Path("outputs"), "run", {})


def test_the_report_is_made_whatever_happened_and_tracked_where_all_had_their_turn(tmp_path):
    state, reports = RunState(runs=[RUN]), Reports()
    with whole(state, reports), state.cell(tmp_path):
        job()
    with pytest.raises(SystemExit), whole(state, reports):
        raise ConfigError("no")
    assert reports.made == [([RUN], True), ([RUN], False)]


def test_a_run_refused_before_any_cell_began_has_no_report():
    state, reports = RunState(runs=[RUN]), Reports()
    with pytest.raises(SystemExit) as ended, whole(state, reports):
        raise ConfigError("no")
    assert (ended.value.code, reports.made) == (2, [])


def test_cells_sent_elsewhere_are_reported_on(tmp_path):
    state, reports = RunState(runs=[RUN], elsewhere=[tmp_path / "cell"]), Reports()
    with pytest.raises(SystemExit), whole(state, reports):
        job()
    assert reports.made == [([RUN], True)]


def test_a_cell_refused_elsewhere_says_so_in_its_log(elsewhere, caplog):
    with pytest.raises(ConfigError), elsewhere.starting():
        raise ConfigError("no such thing")
    assert "no such thing" in caplog.text


def test_ctrl_c_before_a_cell_has_begun_is_no_traceback():
    state, reports = RunState(runs=[RUN]), Reports()
    with pytest.raises(SystemExit) as ended, whole(state, reports):
        raise KeyboardInterrupt
    assert (ended.value.code, reports.made) == (130, [])


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
    done = subprocess.run([sys.executable, "-c", interrupting], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (130, "")


def test_cells_sent_elsewhere_must_be_done(tmp_path):
    """A launcher says nothing of cells that died elsewhere: their status counts."""
    state = RunState(elsewhere=[tmp_path / "cell"])
    with pytest.raises(SystemExit) as ended, whole(state):
        job()
    assert ended.value.code == 1
    with CellRecords(tmp_path / "cell", config={}, config_digest="d") as records:
        records.mark("done")
    with whole(state):
        job()


def test_a_folder_that_cannot_be_made_is_reported_and_an_os_error_of_a_job_is_a_bug(here, capsys):
    with pytest.raises(SystemExit) as ended, whole(here):
        Path("/dev/null/run").mkdir()
    assert ended.value.code == 2 and "output_root" in capsys.readouterr().err
    with pytest.raises(OSError, match="a bug"), whole(here):
        job(OSError("a bug"))


@pytest.mark.parametrize(("end", "code"), [("done", None), ("failed", 1)])
def test_a_cell_that_another_process_works_on_is_a_failure_only_if_it_fails_there(state, tmp_path, end, code):
    """Two processes that share a run: each finds the other at work on a cell."""
    folder = tmp_path / "run" / "cell"
    other = CellRecords(folder, config={}, config_digest="d")
    try:
        with whole(state):
            with state.cell(folder), CellRecords(folder, config={}, config_digest="d"):
                raise AssertionError("the lock is held")
            other.mark(end)
    except SystemExit as ended:
        assert ended.code == code
    else:
        assert code is None
    finally:
        other.close()


@pytest.mark.parametrize(
    ("answers", "is_served"), [([""], True), (["all of it", ""], True), (["all of it", "seeds [2]"], False)]
)
def test_what_the_other_process_leaves_out_of_a_command_is_a_failure(
    state, tmp_path, monkeypatch, capsys, answers, is_served
):
    """It gets a while to note what it will do; what it leaves out then was done by nobody."""
    monkeypatch.setattr(errors, "PATIENCE_SECONDS", 0.6)
    folder = tmp_path / "run" / "cell"

    def missing():
        return answers.pop(0) if len(answers) > 1 else answers[0]

    with CellRecords(folder, config={}, config_digest="d") as other:
        other.mark("running")
        try:
            with whole(state), state.cell(folder, missing), CellRecords(folder, config={}, config_digest="d"):
                raise AssertionError("the lock is held")
        except SystemExit as ended:
            assert not is_served and ended.code == 1
        else:
            assert is_served
    assert ("cell: neither this command nor" in (said := capsys.readouterr().err)) is not is_served
    assert ("seeds [2] missing" in said) is not is_served


def test_a_report_that_was_not_made_shows_in_the_exit_status(tmp_path, caplog):
    """The table of yesterday stays, is named, and is no success."""
    cell = MadeUpCell().write(tmp_path, "run")
    (tmp_path / "run" / "report").mkdir()
    (tmp_path / "run" / "report" / "table.csv").write_text("yesterday's")
    (tmp_path / "run" / "report" / "table.tex").mkdir()  # so that the new one cannot take its place
    state = RunState(runs=[StoredRun(tmp_path, "run", {})])
    with pytest.raises(SystemExit) as ended, whole(state, report_runs), state.cell(cell):
        job()
    assert ended.value.code == 1
    assert "No report of run" in caplog.text and "may be of an earlier state" in caplog.text


class FailedJobError(Exception):
    """As submitit raises where sbatch refuses."""


FailedJobError.__module__ = "submitit.core.utils"


def test_what_sbatch_refuses_is_one_line_with_a_way_out(here, capsys):
    refused = FailedJobError("sbatch: error: Batch job submission failed:\n Invalid job array specification")
    with pytest.raises(SystemExit), whole(here):
        raise refused
    assert re.search(r"Invalid job array.*MaxArraySize.*max_batch_size", capsys.readouterr().err)
