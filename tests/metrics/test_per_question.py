from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icpo.metrics import GradedFinals, accuracy, majority_at_k, mean_at_k, pass_at_k
from icpo.metrics.per_question import num_parsed

ANSWERS = {"4": "correct", "5": "wrong", "6": "wrong", None: "unparsed"}


def finals(*labels):
    return GradedFinals([ANSWERS[label] for label in labels], labels)


def test_mean_counts_every_outcome_but_correct_as_wrong():
    graded = GradedFinals(
        ["correct", "wrong", "unparsed", "truncated", "timed_out"], ["4", "5", None, None, "4"]
    )
    assert mean_at_k(graded) == 1 / 5


@pytest.mark.parametrize(("labels", "expected"), [(("4", "5"), 1.0), (("5", "4"), 0.0), ((None, "4"), 0.0)])
def test_accuracy_reads_the_first_final_alone(labels, expected):
    assert accuracy(finals(*labels)) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("4", "4", "5"), 1.0),
        (("5", "5", "4"), 0.0),
        (("4", "5"), 1 / 2),
        (("4", "5", "6"), 1 / 3),
        (("4", "4", "5", "5", "6"), 1 / 2),
        ((None, None, "4"), 1.0),
        ((None, None), 0.0),
    ],
)
def test_majority_breaks_ties_uniformly_and_abstentions_never_vote(labels, expected):
    assert majority_at_k(finals(*labels)) == pytest.approx(expected)


@given(st.lists(st.sampled_from(["4", "5", "6", None]), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_the_share_of_subsets_that_hold_a_correct_answer(labels, data):
    k = data.draw(st.integers(1, len(labels)))
    subsets = list(combinations(labels, k))
    expected = sum("4" in subset for subset in subsets) / len(subsets)
    assert pass_at_k(finals(*labels), k) == pytest.approx(expected)


def test_pass_at_1_is_the_mean_and_pass_at_all_is_whether_any_is_right():
    graded = finals("4", "5", "5", "6")
    assert pass_at_k(graded, 1) == pytest.approx(mean_at_k(graded))
    assert pass_at_k(graded) == 1.0
    assert pass_at_k(finals("5", "6")) == 0.0


@pytest.mark.parametrize("k", [0, 3])
def test_pass_at_k_refuses_more_draws_than_there_are_finals(k):
    with pytest.raises(ValueError, match=rf"\[1, 2\].*got {k}"):
        pass_at_k(finals("4", "5"), k)


def test_finals_need_a_label_each():
    with pytest.raises(ValueError, match="2 outcomes"):
        GradedFinals(["correct", "wrong"], ["4"])


def test_answers_that_were_cut_or_had_none_could_not_be_read():
    outcomes = ["correct", "wrong", "timed_out", "unparsed", "truncated"]
    assert num_parsed(GradedFinals(outcomes, ["4", "5", "6", None, None])) == 3
