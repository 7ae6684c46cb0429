"""The paper's selector and its control."""

import pytest

from icpo.selectors import Entropy
from icpo.types import Lookahead
from tests.methods.hand import play, tally

CERTAIN, MIXED, OPEN = ["1"] * 4, ["1", "1", "1", "2"], ["1", "2", "3", "4"]


def kept(selector, table):
    """What a selector keeps when attempt i's look-aheads answer `table[i]`."""

    def ask(wanted):
        yield from ()
        assert wanted == dict.fromkeys(range(len(table)), 4)
        return [Lookahead(i, tally(table[i], None)) for i in wanted]

    selection, _ = play(selector.select(table, ask, num_lookaheads=4, seed=0), None)
    assert [x.attempt for x in selection.lookaheads] == list(range(len(table)))
    return selection.kept


@pytest.mark.parametrize(
    ("table", "least", "most"),
    [
        ([MIXED, CERTAIN, OPEN], 1, 2),
        ([OPEN, MIXED, CERTAIN], 2, 0),
        ([CERTAIN, OPEN, CERTAIN, OPEN], 0, 1),
        ([MIXED, MIXED], 0, 0),
    ],
)
def test_the_least_or_the_greatest_entropy_is_kept_and_the_first_of_equals(table, least, most):
    assert kept(Entropy("entropy", False), table) == (least,)
    assert kept(Entropy("max_entropy", True), table) == (most,)
