"""Racing: the exact rule keeps the uniform choice, the others keep to their budget."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.lab.racing import Bound, Exact, Merged
from icpo.lab.racing.bounds import highest_reachable_bits, lowest_reachable_bits, standard_error_bits
from icpo.selectors import Entropy, EntropyRacing
from icpo.selectors.racing import estimated_bits
from icpo.types import Attempt, Candidate, Lookahead, Votes
from tests.methods.hand import said, tally

BUDGET = 8
ANSWERS = st.sampled_from(["1", "1", "1", "2", "3", None])
TABLES = st.lists(st.lists(ANSWERS, min_size=BUDGET, max_size=BUDGET), min_size=2, max_size=6)


def race(selector, table, budget=BUDGET):
    """Runs a selector over a table of answers, one row an attempt; returns selection and samples."""
    sampled = dict.fromkeys(range(len(table)), 0)

    def ask(wanted):
        yield from ()
        for i, number in wanted.items():
            sampled[i] += number
            assert sampled[i] <= budget
        return [Lookahead(i, tally(table[i][: sampled[i]], None)) for i in wanted]

    selecting = selector.select(table, ask, num_lookaheads=budget, seed=0)
    with pytest.raises(StopIteration) as stop:
        next(selecting)
    return stop.value.value, sampled


def racing(rule, instalments=(2, 2, 4), **knobs):
    kinds = {"halving": EntropyRacing, "bound": Bound, "exact": Exact, "merged": Merged}
    defaults = {"width": 1.0, "certain_after": None} if rule == "bound" else {}
    return kinds[rule](name="entropy_racing", instalments=instalments, **(defaults | knobs))


@settings(max_examples=400, deadline=None)
@given(TABLES, st.sampled_from([(2, 2, 4), (1,), (4,), (3, 5), (2, 1), (16,)]))
def test_exact_elimination_makes_the_uniform_choice_on_the_same_samples(table, instalments):
    uniform, _ = race(Entropy("entropy", False), table)
    exact, sampled = race(racing("exact", instalments), table)
    assert exact.kept == uniform.kept
    assert max(sampled.values()) <= BUDGET


def test_exact_elimination_saves_samples_where_one_is_plainly_worse():
    table = [["1"] * 8, ["1", "2", "3", "4", "5", "6", "7", "8"]]
    selection, sampled = race(racing("exact", (1,)), table)
    assert selection.kept == (0,) and sampled[1] < 8


def test_halving_halves():
    table = [["1", "2"] * 4, ["1"] * 8, ["1", "2", "3", "4"] * 2, ["1", "1", "1", "2"] * 2]
    selection, sampled = race(racing("halving"), table)
    assert selection.kept == (1,)
    assert sampled == {0: 2, 1: 4, 2: 2, 3: 4}
    assert [x.attempt for x in selection.lookaheads] == [0, 1, 2, 3]


def test_attempts_that_all_agree_end_the_race_and_the_first_wins():
    certain = [["1"] * 8, ["2"] * 8, ["1"] * 8]
    selection, sampled = race(racing("bound", certain_after=2), certain)
    assert selection.kept == (0,) and sampled == {0: 2, 1: 2, 2: 2}
    _, sampled = race(racing("bound", certain_after=3), certain)
    assert sampled == {0: 4, 1: 4, 2: 4}, "two samples are too few to be certain"
    _, sampled = race(racing("bound", certain_after=None), certain)
    assert sampled == {0: 8, 1: 8, 2: 8}


def test_one_certain_leader_does_not_end_the_race():
    """Two agreeing samples are often luck: the uncertain ones go on until the rule drops them."""
    _, sampled = race(racing("bound", certain_after=2, width=9.0), [["1", "2"] * 4, ["1"] * 8])
    assert sampled == {0: 8, 1: 8}


def test_bound_keeps_what_it_cannot_tell_apart():
    _, sampled = race(racing("bound", width=100.0), [["1", "2"] * 4, ["1"] * 8])
    assert sampled == {0: 8, 1: 8}
    _, sampled = race(racing("bound", width=0.0), [["1", "2"] * 4, ["1"] * 8])
    assert sampled == {0: 2, 1: 2}


@settings(deadline=None)
@given(TABLES, st.sampled_from(["halving", "bound"]), st.integers(1, BUDGET))
def test_budgets_hold_and_a_choice_is_always_made(table, rule, budget):
    selection, sampled = race(racing(rule), table, budget)
    assert len(selection.kept) == 1 and all(1 <= n <= budget for n in sampled.values())
    assert len(selection.lookaheads) == len(table)


def test_nothing_is_kept_of_nothing():
    assert race(racing("halving"), [])[0].kept == ()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(ANSWERS, min_size=1, max_size=5), st.lists(ANSWERS | st.integers(10, 99).map(str), max_size=3)
)
def test_reachable_entropies_enclose_what_is_reached(now, later):
    reached = Lookahead(0, tally([*now, *later], None)).entropy_bits
    votes = tally(now, None)
    assert lowest_reachable_bits(votes, len(later)) <= reached + 1e-9
    assert reached <= highest_reachable_bits(votes, len(later)) + 1e-9


def test_estimates_by_hand():
    even = Votes((("1", 2), ("2", 2)), 0)
    assert estimated_bits(even, 16) == pytest.approx(1 + 1 / (8 * log(2)))
    assert estimated_bits(Votes((("1", 4),), 0), 16) == 0
    silent = Votes((("1", 3),), 1)
    assert estimated_bits(silent, 16) == pytest.approx(4 / 4), "the price is the full budget's, not log2(4)"
    assert estimated_bits(Votes((), 4), 16) == 5 * 4


def test_the_correction_removes_most_of_the_bias_and_the_error_is_the_spread():
    """4,000 samples of 32 from (0.6, 0.3, 0.1): a quarter of the bias stays at most."""
    rng = np.random.default_rng(0)
    p = np.array([0.6, 0.3, 0.1])
    true = float(-(p * np.log2(p)).sum())
    votes = [
        Votes(tuple((str(i), n) for i, n in enumerate(row) if n), 0)
        for row in rng.multinomial(32, p, 4000).tolist()
    ]
    plug_in = np.mean([v.entropy_bits for v in votes]) - true
    corrected = np.mean([estimated_bits(v, 32) for v in votes]) - true
    assert plug_in < -0.03 and abs(corrected) < -plug_in / 4
    spread = np.std([estimated_bits(v, 32) for v in votes])
    assert np.mean([standard_error_bits(v, 32) for v in votes]) == pytest.approx(spread, rel=0.25)


def test_silence_adds_to_the_error():
    """Two bits of price, half silent, of (1 answer + 1 unseen + 2 silent) samples."""
    answered = standard_error_bits(Votes((("1", 2),), 0), 4)
    silent = standard_error_bits(Votes((("1", 2),), 2), 4)
    share = 2 / 4
    assert silent == pytest.approx(sqrt(answered**2 + 4 * share * (1 - share) / 5))


def test_a_single_attempt_needs_no_look_ahead():
    selection, sampled = race(racing("halving"), [["1"] * 8])
    assert selection.kept == (0,) and sampled == {0: 0}


def test_the_last_instalment_is_repeated_until_the_budget_is_spent():
    assert racing("exact", (4, 2)).stages(11) == (4, 2, 2, 2, 1)
    assert racing("exact", (4, 4, 8)).stages(16) == (4, 4, 8)
    assert racing("exact", (4, 4, 8)).stages(6) == (4, 2)


def test_identical_ideas_share_their_look_aheads_and_others_do_not():
    def idea(summary, answer, reward):
        return Attempt(Candidate(said("long text"), answer), reward, summary)

    attempts = [idea("a", "1", 1), idea("b", "1", 1), idea("a", "1", 1), idea("a", "1", 0), idea("a", "2", 1)]
    answers = [["1", "2"] * 4, ["1"] * 8, None, ["1", "2"] * 4, ["1", "2"] * 4]
    asked = []

    def ask(wanted):
        yield from ()
        asked.append(wanted)
        return [Lookahead(i, tally(answers[i][: wanted[i]], None)) for i in wanted]

    selecting = racing("merged", (8,)).select(attempts, ask, num_lookaheads=8, seed=0)
    with pytest.raises(StopIteration) as stop:
        next(selecting)
    assert asked == [{0: 8, 1: 8, 3: 8, 4: 8}] and stop.value.value.kept == (1,)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"instalments": ()}, "instalments"),
        ({"instalments": (0, 2)}, "instalments"),
        ({"width": -1.0}, "width"),
        ({"certain_after": 0}, "certain_after"),
    ],
)
def test_bad_settings_are_named(change, word):
    with pytest.raises(ValueError, match=word):
        racing("bound", **change)


def test_of_an_odd_number_the_larger_half_stays():
    ranked = [Lookahead(i, tally(["1"], None)) for i in range(3)]
    assert EntropyRacing("racing", (4,)).survivors(ranked, 16, 4) == ranked[:2]
