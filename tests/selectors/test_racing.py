"""Racing: the exact rule keeps the uniform choice, the others keep to their budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.selectors import Entropy, EntropyRacing
from icpo.selectors.racing import highest_reachable_bits, lowest_reachable_bits, miller_madow_bits
from icpo.types import Lookahead, Votes
from tests.methods.hand import tally

BUDGET = 8
ANSWERS = st.sampled_from(["1", "1", "1", "2", "3", None])
TABLES = st.lists(st.lists(ANSWERS, min_size=BUDGET, max_size=BUDGET), min_size=1, max_size=6)


def race(selector, table, budget=BUDGET):
    """Runs a selector over a table of answers, one row an attempt; returns selection and draws."""
    drawn = dict.fromkeys(range(len(table)), 0)

    def ask(wanted):
        yield from ()
        for i, number in wanted.items():
            drawn[i] += number
            assert drawn[i] <= budget
        return [Lookahead(i, tally(table[i][: drawn[i]], None)) for i in wanted]

    selecting = selector.select(table, ask, num_lookaheads=budget, seed=0)
    with pytest.raises(StopIteration) as stop:
        next(selecting)
    return stop.value.value, drawn


def racing(rule, instalments=(2, 2, 4), width=1.0, certain=False):
    return EntropyRacing("entropy_racing", rule, instalments, width, certain)


@settings(max_examples=400)
@given(TABLES, st.sampled_from([(2, 2, 4), (1,) * 8, (4, 4), (3, 5)]))
def test_exact_elimination_makes_the_uniform_choice_on_the_same_draws(table, instalments):
    uniform, _ = race(Entropy("entropy", False), table)
    exact, drawn = race(racing("exact", instalments), table)
    assert exact.kept == uniform.kept
    assert max(drawn.values()) <= BUDGET


def test_exact_elimination_saves_draws_where_one_is_plainly_worse():
    table = [["1"] * 8, ["1", "2", "3", "4", "5", "6", "7", "8"]]
    selection, drawn = race(racing("exact", (1,) * 8), table)
    assert selection.kept == (0,) and drawn[1] < 8


def test_halving_halves():
    table = [["1", "2"] * 4, ["1"] * 8, ["1", "2", "3", "4"] * 2, ["1", "1", "1", "2"] * 2]
    selection, drawn = race(racing("halving"), table)
    assert selection.kept == (1,)
    assert drawn == {0: 2, 1: 4, 2: 2, 3: 4}
    assert [x.attempt for x in selection.lookaheads] == [0, 1, 2, 3]


def test_certain_leaders_end_the_race_and_the_first_wins():
    selection, drawn = race(racing("bound", certain=True), [["1", "2"] * 4, ["1"] * 8, ["2"] * 8])
    assert selection.kept == (1,) and drawn == {0: 2, 1: 2, 2: 2}


def test_bound_keeps_what_it_cannot_tell_apart():
    _, drawn = race(racing("bound", width=100.0), [["1", "2"] * 4, ["1"] * 8])
    assert drawn == {0: 8, 1: 8}
    _, drawn = race(racing("bound", width=0.0), [["1", "2"] * 4, ["1"] * 8])
    assert drawn == {0: 2, 1: 2}


@given(TABLES, st.sampled_from(["halving", "bound"]), st.integers(1, BUDGET))
def test_budgets_hold_and_a_choice_is_always_made(table, rule, budget):
    selection, drawn = race(racing(rule), table, budget)
    assert len(selection.kept) == 1 and all(1 <= n <= budget for n in drawn.values())
    assert len(selection.lookaheads) == len(table)


def test_nothing_is_kept_of_nothing():
    assert race(racing("halving"), [])[0].kept == ()


@settings(max_examples=200)
@given(
    st.lists(ANSWERS, min_size=1, max_size=5), st.lists(ANSWERS | st.integers(10, 99).map(str), max_size=3)
)
def test_reachable_entropies_enclose_what_is_reached(now, later):
    reached = Lookahead(0, tally([*now, *later], None)).entropy_bits
    votes = tally(now, None)
    assert lowest_reachable_bits(votes, len(later)) <= reached + 1e-9
    assert reached <= highest_reachable_bits(votes, len(later)) + 1e-9


def test_miller_madow_by_hand():
    assert miller_madow_bits(Lookahead(0, Votes((("1", 2), ("2", 2)), 0))) == pytest.approx(
        1 + 1 / (8 * 0.693147), 1e-5
    )
    assert miller_madow_bits(Lookahead(0, Votes((("1", 4),), 0))) == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"instalments": ()}, "instalments"),
        ({"instalments": (0, 2)}, "instalments"),
        ({"width": -1.0}, "width"),
        ({"certain": True}, "stop_when_certain"),
    ],
)
def test_bad_settings_are_named(change, word):
    with pytest.raises(ValueError, match=word):
        racing("exact", **change)
