"""A job in its folder: a signal that comes too late to stop it stops what would follow."""

import signal

import pytest

from icpo.errors import EngineError, Interrupted
from icpo.evaluation.cell import StoredRun, report_runs, run_cell
from icpo.store import note_planned, read_metrics, read_status
from icpo.tracking import NoTracker
from tests.report.stored_runs import MadeUpCell


class Signalled:
    """A job that is told to stop while it ends."""

    def run(self, cell):
        signal.raise_signal(signal.SIGTERM)
        return {"answer": 42}


def test_a_signal_at_the_end_of_a_cell_keeps_it_and_stops_the_sweep(tmp_path):
    folder = tmp_path / "run" / "cell"
    with pytest.raises(Interrupted, match="SIGTERM"):
        run_cell(Signalled(), tracker=NoTracker(), folder=folder, values={"run_name": "run"}, digest="d")
    assert read_status(folder)["state"] == "done" and read_metrics(folder) == {"answer": 42}


class Aborted:
    """A job whose engine dies of the signal that its process got."""

    def __init__(self, is_signalled):
        self.is_signalled = is_signalled

    def run(self, cell):
        if self.is_signalled:
            signal.raise_signal(signal.SIGTERM)
        raise EngineError("vLLM ended a completion with 'abort'")


@pytest.mark.parametrize(
    ("is_signalled", "error", "state"), [(True, Interrupted, "interrupted"), (False, EngineError, "failed")]
)
def test_an_engine_that_ends_because_of_the_signal_is_no_failure(is_signalled, error, state, tmp_path):
    folder = tmp_path / "run" / "cell"
    with pytest.raises(error):
        run_cell(
            Aborted(is_signalled), tracker=NoTracker(), folder=folder, values={"run_name": "run"}, digest="d"
        )
    assert read_status(folder)["state"] == state


def test_a_run_ends_with_its_table_and_what_to_do_next(tmp_path, capsys):
    MadeUpCell().write(tmp_path / "my outputs", "run")
    outputs = tmp_path / "my outputs"
    note_planned(outputs / "other", ["nano"])
    assert report_runs([StoredRun(outputs, "run", {}), StoredRun(outputs, "other", {})], track=False)
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Next: ")]
    assert line.endswith(f"icpo dashboard run --outputs '{outputs}'"), "a run without scores has no pages yet"
