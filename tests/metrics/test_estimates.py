from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.metrics import Estimate, estimate


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


def test_equal_questions_give_an_interval_of_width_zero():
    assert estimate(cell([[0.25, 0.75]] * 4)) == Estimate(0.5, 0.5, 0.5, pytest.approx(sqrt(0.125)))


def test_interval_agrees_with_the_normal_one_for_many_questions():
    values = np.random.default_rng(1).binomial(1, 0.3, size=400).astype(float)
    found = estimate({(i, 0): v for i, v in enumerate(values)})
    half_width = 1.96 * values.std() / sqrt(len(values))
    assert found.high - found.value == pytest.approx(half_width, rel=0.08)
    assert found.value - found.low == pytest.approx(half_width, rel=0.08)


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
def test_interval_lies_within_the_questions_means_and_holds_shifts(rows):
    found = estimate(cell(rows))
    means = [sum(row) / len(row) for row in rows]
    assert min(means) - 1e-9 <= found.low <= found.high <= max(means) + 1e-9
    shifted = estimate({key: value - 1 for key, value in cell(rows).items()})
    assert (shifted.low, shifted.high) == pytest.approx((found.low - 1, found.high - 1))


def test_nothing_to_estimate_is_an_error():
    with pytest.raises(ValueError, match="at least one value"):
        estimate({})
