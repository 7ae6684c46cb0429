"""One flipped bit in a cell's files: `verify` finds every one that would change a result or a score."""

import random
import shutil
from contextlib import suppress

import pytest

from icpo.errors import IcpoError, Interrupted
from icpo.store import load_results, load_scores, read_metrics, read_texts
from icpo.store.health import verify
from tests.end_to_end import fakes
from tests.reliability import report_row

NAMES = ("manifest.json", "journal.bin", "results.jsonl", "scores.jsonl", "metrics.json", "status.json")
NUM_FLIPS = 300  # of each kind of cell
SETTINGS = ("budget.num_rounds=2", "budget.num_candidates=3")


class Dies(fakes.Continuous):
    """An engine that is interrupted when half of the questions are done."""

    def submit(self, ticket, request):
        if len(self.requests) >= 24:
            raise Interrupted("Stopped by the test.")
        fakes.Continuous.submit(self, ticket, request)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A finished cell and one that was interrupted in the middle."""
    folder = tmp_path_factory.mktemp("flips")
    questions = fakes.questions_file(folder)
    finished, _ = fakes.run(folder / "finished", questions, *SETTINGS)
    with suppress(Interrupted):
        fakes.run(folder / "half", questions, *SETTINGS, "max_in_flight=1", engine=Dies())
    [half] = (path.parent for path in (folder / "half").glob("*/manifest.json"))
    assert read_metrics(finished) and not read_metrics(half) and load_results(half)
    return {"finished": finished, "half-finished": half}


def what_it_says(cell):
    """All results, scores and metrics of a cell, with the texts that results rest on; None if unreadable."""
    try:
        results, scores = load_results(cell), load_scores(cell)
        draws = [c.completion.draw for r in results for _, finals in r.finals for c in finals]
        metrics = {**(read_metrics(cell) or {}), "wall_seconds": 0}
        return results, scores, metrics, read_texts(cell, draws)
    except IcpoError:
        return None


@pytest.mark.parametrize("kind", ["finished", "half-finished"])
def test_verify_finds_every_flipped_bit_that_changes_a_result_or_a_score(cells, kind, tmp_path):
    source, chance = cells[kind], random.Random(kind)
    assert verify(source).verdict == "sound", verify(source)
    right = what_it_says(source)
    names = [name for name in NAMES if (source / name).exists() and (source / name).stat().st_size]
    copy = shutil.copytree(source, tmp_path / "run" / "cell")
    found = missed = harmless = 0
    for i in range(NUM_FLIPS):
        path = copy / names[i % len(names)]
        whole = path.read_bytes()
        at, bit = chance.randrange(len(whole)), chance.randrange(8)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
        health = verify(copy)
        if not health.is_sound or health.num_torn_bytes:
            found += 1
        elif what_it_says(copy) != right:
            missed += 1
            print(f"missed: {path.name}, byte {at}, bit {bit}")
        else:
            harmless += 1
        path.write_bytes(whole)
    report_row(
        f"one bit flipped in a {kind} cell",
        f"{NUM_FLIPS} random flips in {', '.join(names)}",
        f"`verify` found {found}; {harmless} changed no result, score or text; missed {missed}",
    )
    assert missed == 0
    assert found >= 0.9 * NUM_FLIPS
