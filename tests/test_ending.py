"""What an error stops, how it is told, and what the exit status says."""

from pathlib import Path

import pytest

from icpo import ending
from icpo.errors import ConfigError, EngineError, Interrupted
from icpo.records import CellRecords


@pytest.fixture(autouse=True)
def nothing_ran(monkeypatch):
    for name in ("_failures", "SEEN_RUNS", "SENT_AWAY"):
        monkeypatch.setattr(ending, name, [])


@pytest.fixture(params=[True, False], ids=["here", "elsewhere"])
def is_here(request, monkeypatch):
    monkeypatch.setattr(ending, "runs_here", lambda: request.param)
    return request.param


def job(fault=None):
    if fault is not None:
        raise fault


def test_a_wrong_setting_ends_a_run_here_and_is_raised_to_a_launcher(is_here):
    with pytest.raises(SystemExit if is_here else ConfigError, match="no such thing"), ending.stops_the_run():
        raise ConfigError("no such thing")


def test_a_failed_cell_lets_the_next_one_begin_and_shows_in_the_exit_status(is_here, tmp_path, caplog):
    folder = tmp_path / "run" / "cell"
    with pytest.raises(SystemExit) as ended, ending.told(job):
        with ending.fails_alone(folder), CellRecords.open(folder, config={}, config_digest="d"):
            raise EngineError("it died")
        with ending.fails_alone(tmp_path / "next"):
            job()
    assert ended.value.code == 1
    assert "cell: it died" in caplog.text


def test_a_cell_elsewhere_that_could_not_say_that_it_failed_raises(monkeypatch, tmp_path):
    monkeypatch.setattr(ending, "runs_here", lambda: False)
    with pytest.raises(EngineError), ending.fails_alone(tmp_path):
        raise EngineError("it died")


def test_a_signal_ends_the_run(tmp_path):
    with pytest.raises(SystemExit, match="icpo: Stopped"), ending.fails_alone(tmp_path):
        raise Interrupted("Stopped")


def test_a_value_error_of_a_job_is_a_bug_and_any_other_hydras():
    with pytest.raises(ValueError, match="a bug"), ending.told(job):
        job(ValueError("a bug"))
    with pytest.raises(SystemExit, match="Hydra cannot take one of the settings: odd"), ending.told(job):
        raise ValueError("odd")


def test_the_report_is_made_whatever_happened(monkeypatch):
    made = []
    monkeypatch.setattr("icpo.jobs.cell.report_runs", made.extend)
    ending.SEEN_RUNS.append((Path("outputs"), "run"))
    with pytest.raises(SystemExit), ending.told(job):
        raise ConfigError("no")
    assert made == [(Path("outputs"), "run")]


def test_cells_sent_away_must_be_done(tmp_path):
    """A launcher says nothing of cells that died elsewhere: their status counts."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "multirun.yaml").write_text(
        "hydra: {sweeper: {params: {benchmark: arith_l1, method: direct}}, "
        "overrides: {task: [+exp=quickstart]}}"
    )
    ending.SENT_AWAY.append(run)
    with pytest.raises(SystemExit) as ended, ending.told(job):
        job()
    assert ended.value.code == 1
    folder = run / "nano-arith_l1-direct-plain-quick"
    with CellRecords.open(folder, config={}, config_digest="d") as records:
        records.mark("done")
    with ending.told(job):
        job()


def test_a_sweep_that_can_no_longer_be_expanded_is_told(tmp_path, caplog):
    (tmp_path / "multirun.yaml").write_text("hydra: {sweeper: {params: {}}, overrides: {task: [+exp=gone]}}")
    ending.SENT_AWAY.append(tmp_path)
    with pytest.raises(SystemExit) as ended, ending.told(job):
        job()
    assert ended.value.code == 1
    assert "cannot be expanded" in caplog.text


def test_a_folder_that_cannot_be_made_is_told_and_an_os_error_of_a_job_is_a_bug():
    with pytest.raises(SystemExit, match="Choose another output_root"), ending.told(job):
        Path("/dev/null/run").mkdir()
    with pytest.raises(OSError, match="a bug"), ending.told(job):
        job(OSError("a bug"))
