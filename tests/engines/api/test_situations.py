"""Each situation ends as it should, and as docs/reliability.md says."""

import re

import pytest

pytest.importorskip("openai")

from tests.engines.api.playing import KEY, play
from tests.engines.api.situations import PAGE, SITUATIONS, table


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_a_situation_ends_as_it_should(situation, caplog):
    calls, outcome = play(situation)
    wanted_calls, wanted = situation.wanted
    assert calls == wanted_calls
    stopped = re.fullmatch(r'stopped: "(.*)"', outcome)
    assert re.fullmatch(wanted, stopped.group(1)) if stopped else outcome == wanted
    assert KEY not in caplog.text + outcome
    row = table([(situation, (calls, outcome))]).splitlines()[-1]
    assert row in PAGE.read_text(encoding="utf-8"), "python -m tests.engines.api.situations --write"


def test_names_are_different_and_many():
    assert len({situation.name for situation in SITUATIONS}) == len(SITUATIONS) >= 40
