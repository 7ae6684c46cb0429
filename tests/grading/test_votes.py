"""One partition: by value, without abstentions, whatever the order."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.grading import Grader, GradingRules
from icpo.grading.maths.fingerprints import keys
from icpo.grading.maths.reading import read
from icpo.grading.votes import tally
from icpo.grading.workers import Outcome
from icpo.types import AnswerKind, Votes
from tests.grading import grammar
from tests.grading.relations import Relation

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
    votes = tally(["1", "2", "3", "4"], Relation(lambda a, b: abs(int(a) - int(b)) <= 1), 0)
    assert votes.counts == (("1", 2), ("3", 2)) and votes.labels == ("1", "1", "3", "3")


def test_a_class_joins_a_group_only_if_it_equals_all_of_it(grader):
    """5 cm and 5 m each equal 5, but not each other: the three are no class."""
    votes = grader.tally(["5", "5", "5", "5 cm", "5 cm", r"5\text{ m}"], EXPRESSION)
    assert votes.counts == (("5", 5), (r"5\text{ m}", 1))


def test_merged_classes_are_sorted_again(grader):
    """Counts of 3, 2 and 2, the last two of which are one value: it wins with 4."""
    votes = grader.tally(["7", "7", "7", "x = 5", "x = 5", "5", "5"], EXPRESSION)
    assert [count for _, count in votes.counts] == [4, 3]
    assert votes.winners == ("5",)


def test_beyond_the_budget_pairs_count_as_different_and_are_counted():
    relation = Relation(lambda a, b: a[0] == b[0], dear=frozenset({"a1", "a2", "a3", "b1"}))
    answers = ["a1"] * 4 + ["a2"] * 3 + ["a3"] * 2 + ["b1"]
    all_asked = tally(answers, relation, 6)
    assert all_asked.counts == (("a1", 9), ("b1", 1)) and all_asked.num_skipped == 0
    relation.asked.clear()
    some = tally(answers, relation, 2)
    assert relation.asked == [("a1", "a2"), ("a1", "a3")]
    assert some.counts == (("a1", 7), ("a3", 2), ("b1", 1)) and some.num_skipped == 4
    assert tally(answers, relation, 0).num_skipped == 6


def test_an_answer_that_exceeded_a_limit_is_not_tried_again_in_the_vote():
    asked = []

    def ask(left, right):
        asked.append((left, right))
        return Outcome.TIME_LIMIT

    answers = [rf"\int_0^{i} x^x dx" for i in range(1, 9)]
    votes = Grader(GradingRules(), ask=ask).tally(answers, EXPRESSION)
    assert len(asked) == 4 and votes.num_skipped == 24 and len(votes.counts) == 8


def test_a_thousand_different_numbers_cost_no_comparison():
    grader = Grader(GradingRules(), ask=refuse)
    answers = [str(n) for n in range(1024)] + [rf"\frac{{{n}}}{{7}}" for n in range(1, 1024)]
    start = time.process_time()
    votes = grader.tally(answers, EXPRESSION)
    assert len(votes.counts) == 1024 + 1023 - 146 and votes.num_skipped == 0
    assert time.process_time() - start < 5


def test_hundreds_of_piecewise_functions_are_told_apart_in_time():
    grader = Grader(GradingRules(), ask=refuse)
    answers = [rf"\begin{{cases}} {n}x & x \ge 0 \\ -x & x < 0 \end{{cases}}" for n in range(2, 274)]
    start = time.process_time()
    assert len(grader.tally(answers, EXPRESSION).counts) == 272
    assert time.process_time() - start < 5


def refuse(left: str, right: str) -> Outcome:
    raise AssertionError(f"math-verify was asked about {left} and {right}")


@settings(max_examples=300, deadline=None)
@given(seeds, seeds)
def test_answers_that_are_equal_share_a_key(seed, other_seed):
    rng, grader = random.Random(seed), offline()
    one, other = grammar.answer(rng, 2), grammar.answer(random.Random(other_seed), 2)
    for a, b in (
        (one, other),
        (one, f"x = {one}"),
        (one, f"({one})"),
        (one, rf"{one}\%"),
        (f"({one}, 2)", f"{one}, 2"),
    ):
        found = [keys(read(a)), keys(read(b))]
        if grader.are_equal(a, b, EXPRESSION) and a.strip() != b.strip():
            assert None in found or not found[0].isdisjoint(found[1]), (a, b)


def test_equal_numbers_share_a_key_however_they_are_rounded():
    """At some letters the sum of squares is 0.9999999999999999, which is below a power of ten."""
    one = keys(read("1"))
    sums = [keys(read(rf"\sin^2 {letter} + \cos^2 {letter}")) for letter in "abcdghjkmnpqrstuvwxyz"]
    assert one and all(found and not one.isdisjoint(found) for found in sums)


def offline() -> Grader:
    """A grader without workers: what arithmetic cannot decide counts as different."""
    return Grader(GradingRules(), ask=lambda left, right: Outcome.DIFFERENT)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 12))
def test_the_partition_does_not_depend_on_the_order(seed, num_answers):
    grader = offline()
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
    votes = grader.tally(answers, EXPRESSION)
    assert sum(count for _, count in votes.counts) + votes.num_abstained == num_answers
    order = rng.sample(range(num_answers), num_answers)
    shuffled = grader.tally([answers[i] for i in order], EXPRESSION)
    assert shuffled.counts == votes.counts
    assert shuffled.labels == tuple(votes.labels[i] for i in order)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_equal_labels_mean_equal_answers(seed):
    grader = offline()
    rng = random.Random(seed)
    answers = [grammar.answer(rng, 1) for _ in range(6)]
    labels = grader.tally(answers, EXPRESSION).labels
    for i, one in enumerate(answers):
        for j, other in enumerate(answers):
            if labels[i] is not None and labels[i] == labels[j]:
                assert grader.are_equal(one.strip(), other.strip(), EXPRESSION)


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
    votes = tally(answers, Relation(str.__eq__, representative=lambda _: "same"), 0)
    assert votes.counts == counts
    assert len(set(votes.labels)) == len(set(answers))


def test_answers_of_typesetting_alone_do_not_share_a_class(grader):
    assert grader.tally([r"\mathbf{}", "$$"], EXPRESSION).counts == (("$$", 1), (r"\mathbf{}", 1))
    assert grader.tally(["x =", "y ="], AnswerKind.NUMBER).num_abstained == 0
