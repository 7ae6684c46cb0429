import pytest
from hypothesis import given
from hypothesis import strategies as st

from icpo.metrics import GradedFinals, QuestionScore, compare, estimate, paired_difference, sign_test
from icpo.metrics.compare import values_of
from icpo.metrics.per_question import mean_at_k


def score(question_id, seed, *labels):
    outcomes = ["correct" if label == "4" else "wrong" for label in labels]
    return QuestionScore(question_id, seed, "4", ((0, GradedFinals(outcomes, labels)),))


def test_difference_is_taken_question_by_question():
    # Both cells range over [0, 1], yet a is better by exactly 1/2 on every question.
    b = {(i, 0): 0.5 * (i % 2) for i in range(40)}
    a = {key: value + 0.5 for key, value in b.items()}
    found = paired_difference(a, b)
    assert found.value == 0.5 and found.high - found.low < 0.2
    unpaired = estimate(a).high - estimate(b).low
    assert found.high < unpaired


def test_only_shared_questions_and_seeds_are_compared():
    found = paired_difference(
        {("q1", 0): 1.0, ("q1", 1): 0.0, ("q3", 0): 1.0}, {("q1", 0): 0.0, ("q2", 0): 0.0}
    )
    assert found.value == 1.0


def test_nothing_shared_is_an_error():
    with pytest.raises(ValueError, match="in common"):
        paired_difference({("q1", 0): 1.0}, {("q1", 1): 1.0})


def test_majorities_corrected_and_broken_by_hand():
    a = [score("q1", 0, "4", "4", "5"), score("q2", 0, "5", "5"), score("q3", 0, "4", "5")]
    b = [score("q1", 0, "5", "5", "4"), score("q2", 0, "4", "4"), score("q3", 0, "5", "5")]
    found = compare(a, b)
    assert found.majority_corrected == pytest.approx(1 + 0.5)  # q1 surely, q3 in half of the ties
    assert found.majority_broken == pytest.approx(1)
    assert (found.num_pairs, found.num_questions) == (3, 3)
    assert found.differences["mean_at_k"].value == pytest.approx(((2 - 1) / 3 + (0 - 1) + 0.5) / 3)
    assert found.mean_over_majority.value == pytest.approx((2 / 3 + 0 + 1 / 2 - 1) / 3)


def test_majorities_are_averaged_over_seeds():
    a = [score("q1", seed, "4") for seed in (0, 1)]
    b = [score("q1", 0, "5"), score("q1", 1, "4")]
    assert compare(a, b).majority_corrected == 0.5


def test_pooled_questions_of_one_name_stay_apart():
    level_3 = values_of([score("q1", 0, "4")], mean_at_k, "arith_l3")
    level_4 = values_of([score("q1", 0, "5")], mean_at_k, "arith_l4")
    assert len(level_3 | level_4) == 2


@pytest.mark.parametrize(
    ("gained", "lost", "p"), [(0, 0, 1.0), (1, 1, 1.0), (5, 0, 2 / 32), (0, 5, 2 / 32), (9, 1, 22 / 1024)]
)
def test_sign_test_by_hand(gained, lost, p):
    assert sign_test(gained, lost) == pytest.approx(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_test_is_a_symmetric_probability(gained, lost):
    assert 0 < sign_test(gained, lost) == sign_test(lost, gained) <= 1
