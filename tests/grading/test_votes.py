"""One partition: by value, without abstentions, whatever the order."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.grading import Grader, GradingRules
from icpo.grading.votes import tally
from icpo.grading.workers import Outcome, WorkerPool
from icpo.types import AnswerKind, Votes
from tests.grading import grammar

EXPRESSION = AnswerKind.EXPRESSION
seeds = st.integers(0, 2**32)


def test_answers_are_counted_by_value(grader):
    votes = grader.tally(["0.5", "3", r"\frac12", None, "1/2", "3", " "], EXPRESSION)
    assert votes == Votes(
        counts=((r"\frac{1}{2}", 3), ("3", 2)),
        num_abstained=2,
        labels=(r"\frac{1}{2}", "3", r"\frac{1}{2}", None, r"\frac{1}{2}", "3", None),
    )


def test_nobody_answers(grader):
    assert grader.tally([None, "", "  "], EXPRESSION) == Votes((), 3, (None, None, None))
    assert grader.tally([], EXPRESSION) == Votes((), 0, ())
    assert str(grader.tally([None], EXPRESSION).entropy_bits) == "0.0"


def test_choices_are_counted_by_letter(grader):
    assert grader.tally(["B", "(B)", "C", "b"], AnswerKind.CHOICE).counts == (("B", 3), ("C", 1))


def test_a_bridge_joins_the_larger_class_only(grader):
    """A plain 5 equals 5 cm and 5 kg, which differ: it votes with one of them."""
    votes = grader.tally(["5 cm", "5 cm", "5", "5 kg"], EXPRESSION)
    assert [count for _, count in votes.counts] == [3, 1]
    assert votes.labels[2] == votes.labels[0] == r"5\text{ cm}"
    points = grader.tally(["(0,1)", "0,1", "(1,0)", "(1,0)", "1,0"], EXPRESSION)
    assert points.counts == (("0, 1", 2), ("(1, 0)", 2), ("(0, 1)", 1))


def test_the_representative_of_a_class_is_graded_and_read_as_its_members_are(grader):
    for answer in ("0.5", "142.0", r"\left(1,\,2\right)", "x<3", r"\text{East}", "y=2x", r"5\text{ cm}"):
        [(representative, _)] = grader.tally([answer], EXPRESSION).counts
        assert grader.extract(rf"\boxed{{{representative}}}", EXPRESSION) == representative
        assert grader.extract(representative, EXPRESSION) == representative
        assert grader.judge(representative, answer, EXPRESSION).correct
        assert grader.tally([representative], EXPRESSION).counts == ((representative, 1),)


def test_classes_hold_answers_that_are_equal_in_pairs():
    """The relation "at most one apart" is not transitive; no class may hold 1 and 3."""
    votes = tally(
        ["1", "2", "3", "4"],
        value_of=int,
        representative_of=str,
        are_equal=lambda a, b: abs(int(a) - int(b)) <= 1,
    )
    assert votes.counts == (("1", 2), ("3", 2)) and votes.labels == ("1", "1", "3", "3")


@pytest.fixture(scope="module")
def offline():
    """A grader whose workers never start: what arithmetic cannot decide counts as different."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "ask", lambda pool, left, right: Outcome.DIFFERENT)
        yield Grader(GradingRules.paper())


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 12))
def test_the_partition_does_not_depend_on_the_order(offline, seed, num_answers):
    rng = random.Random(seed)
    pool = [grammar.answer(rng, 2) for _ in range(4)] + [
        "0.5",
        r"\frac12",
        "5",
        "5 cm",
        "5 m",
        "0,1",
        "(0,1)",
        "1,0",
        "",
    ]
    answers = [rng.choice(pool) for _ in range(num_answers)]
    votes = offline.tally(answers, EXPRESSION)
    assert sum(count for _, count in votes.counts) + votes.num_abstained == num_answers
    order = rng.sample(range(num_answers), num_answers)
    shuffled = offline.tally([answers[i] for i in order], EXPRESSION)
    assert shuffled.counts == votes.counts
    assert shuffled.labels == tuple(votes.labels[i] for i in order)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_equal_labels_mean_equal_answers(offline, seed):
    rng = random.Random(seed)
    answers = [grammar.answer(rng, 1) for _ in range(6)]
    labels = offline.tally(answers, EXPRESSION).labels
    for i, one in enumerate(answers):
        for j, other in enumerate(answers):
            if labels[i] is not None and labels[i] == labels[j]:
                assert offline.are_equal(one.strip(), other.strip(), EXPRESSION)


def test_the_union_of_a_thing_with_itself_is_that_thing(grader):
    assert grader.tally([r"10,080 \cup 10,\!080", r"10,\!080"], EXPRESSION).counts == (("10080", 2),)
    assert grader.are_equal(r"5 \cup 5", "5", EXPRESSION)
    assert not grader.are_equal(r"5 \cup 6", "5", EXPRESSION)


@pytest.mark.parametrize(
    ("answers", "counts"),
    [
        (["a", "b", "a", "same"], (("same", 2), ("b", 1), ("same (2)", 1))),
        (["a", "a", "same (2)", "same"], (("same", 2), ("same (2)", 1), ("same (3)", 1))),
    ],
)
def test_classes_that_look_alike_have_names_of_their_own(answers, counts):
    votes = tally(answers, str, lambda _: "same", lambda one, other: one == other)
    assert votes.counts == counts
    assert len(set(votes.labels)) == len(set(answers))


def test_answers_of_typesetting_alone_do_not_share_a_class(grader):
    assert grader.tally([r"\mathbf{}", "$$"], EXPRESSION).counts == (("$$", 1), (r"\mathbf{}", 1))
    assert grader.tally(["x =", "y ="], AnswerKind.NUMBER).num_abstained == 0
