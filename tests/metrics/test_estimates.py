from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.metrics import estimate
from icpo.metrics.estimates import DIFFERENCE, estimate_ratio, mean_interval


def cell(rows):
    """Rows are questions, columns are seeds."""
    return {(f"q{q}", s): value for q, row in enumerate(rows) for s, value in enumerate(row)}


def test_value_and_spread_over_seeds_by_hand():
    found = estimate(cell([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    assert found.value == pytest.approx(3 / 6)
    assert found.std_over_seeds == pytest.approx(np.std([2 / 3, 1 / 3], ddof=1))
    assert found.low <= found.value <= found.high


def test_one_seed_has_no_spread():
    assert estimate(cell([[1.0], [0.0]])).std_over_seeds is None


def test_unanimous_questions_leave_room_for_those_not_seen():
    all_right = estimate({(i, 0): 1.0 for i in range(30)})
    assert (all_right.value, all_right.high) == (1.0, 1.0)
    assert all_right.low == pytest.approx(1 - 3 / 30, abs=0.01), "the rule of three"
    none_right = estimate({(i, 0): 0.0 for i in range(30)})
    assert none_right.high == pytest.approx(1 - all_right.low) and none_right.low == 0.0


def test_equal_arms_may_differ_on_questions_not_seen():
    same = estimate({(i, 0): 0.0 for i in range(200)}, DIFFERENCE)
    assert same.high == pytest.approx(3 / 200, abs=0.002) and same.low == -same.high


def test_interval_is_student_s_with_a_pseudo_question_at_each_end():
    _, low, high = mean_interval(np.linspace(0.2, 0.6, 60), np.ones(60))
    values = np.array([*np.linspace(0.2, 0.6, 60), 0.0, 1.0])
    reach = 2.00100 * values.std(ddof=1) / sqrt(62)  # Student's t with 59 degrees of freedom
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=1e-6)


def test_interval_agrees_with_the_normal_one_for_many_questions():
    values = np.random.default_rng(1).binomial(1, 0.3, size=400).astype(float)
    found = estimate({(i, 0): v for i, v in enumerate(values)})
    half_width = 1.96 * values.std() / sqrt(len(values))
    assert found.high - found.value == pytest.approx(half_width, rel=0.08)
    assert found.value - found.low == pytest.approx(half_width, rel=0.08)


@pytest.mark.parametrize(("p", "n"), [(0.97, 30), (0.99, 200), (0.5, 5)])
def test_at_least_93_percent_of_intervals_hold_the_truth(p, n):
    answers = np.random.default_rng(0).binomial(1, p, size=(4000, n)).astype(float)
    _, low, high = mean_interval(answers, np.ones_like(answers))
    assert ((low <= p) & (p <= high)).mean() >= 0.93


def test_many_means_at_once_are_each_of_the_questions_held():
    sums, counts = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    both = np.array(mean_interval(sums, counts))
    assert both[:, 0] == pytest.approx(np.array(mean_interval(sums[0], counts[0])))
    assert both[:, 1] == pytest.approx(np.array(mean_interval(sums[1, :2], counts[1, :2])))


def test_a_ratio_weighs_questions_by_what_could_be_read():
    read = {("a", 0): 16.0, ("b", 0): 4.0, ("c", 0): 0.0}
    found = estimate_ratio({("a", 0): 8.0, ("b", 0): 4.0, ("c", 0): 0.0}, read)
    assert found.value == pytest.approx(12 / 20) and 0 <= found.low < found.value < found.high <= 1
    with pytest.raises(ValueError, match="at least one"):
        estimate_ratio({("c", 0): 0.0}, {("c", 0): 0.0})


def test_values_outside_their_span_are_refused():
    with pytest.raises(ValueError, match="span"):
        estimate({("a", 0): -0.5})


def test_seeds_of_one_question_do_not_narrow_the_interval():
    once = estimate(cell([[0.0], [1.0]] * 10))
    repeated = estimate(cell([[0.0] * 50, [1.0] * 50] * 10))
    assert (repeated.low, repeated.high) == (once.low, once.high)


def test_a_question_that_lacks_seeds_weighs_by_what_it_has():
    assert estimate({("a", 0): 1.0, ("a", 1): 1.0, ("b", 0): 0.0}).value == pytest.approx(2 / 3)


def test_same_values_give_the_same_interval():
    values = cell([[0.0], [1.0], [0.5]])
    assert estimate(values) == estimate(dict(values))


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=1, max_size=8))
def test_interval_holds_the_value_within_the_span_and_moves_with_both(rows):
    found = estimate(cell(rows))
    assert 0 <= found.low <= found.value + 1e-9 and found.value - 1e-9 <= found.high <= 1
    shifted = estimate({key: value - 1 for key, value in cell(rows).items()}, (-1.0, 0.0))
    assert (shifted.low, shifted.high) == pytest.approx((found.low - 1, found.high - 1))


def test_nothing_to_estimate_is_an_error():
    with pytest.raises(ValueError, match="at least one"):
        estimate({})
