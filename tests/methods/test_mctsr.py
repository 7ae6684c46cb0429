"""MCTSr by hand."""

from math import log, sqrt

import pytest

from icpo.methods.mctsr_tree import AnswerTree
from icpo.prompts.mctsr import Refining
from icpo.prompts.verdicts import Verdict
from icpo.types import Candidate, Purpose
from tests.methods.baselines import mctsr
from tests.methods.hand import QUESTION, boxed, play, said, toolkit


def tree(exploration=1.4, max_children=2):
    return AnswerTree(exploration, max_children)


def candidate(answer):
    return Candidate(said("x"), answer)


def test_an_answer_may_be_refined_three_times_as_in_the_original():
    assert AnswerTree().max_children == 3


def test_quality_is_the_mean_of_worst_and_mean_with_full_scores_suppressed():
    grown = tree()
    grown.add(candidate("4"), None)
    assert grown.nodes[0].own_quality == -100
    grown.reward(0, [96, 95, 10])
    assert grown.nodes[0].rewards == [46, 95, 10]
    assert grown.nodes[0].own_quality == pytest.approx((10 + 151 / 3) / 2)


def grown_tree():
    """0 (20) with children 1 (40) and 2 (-60); 1 with child 3 (80)."""
    grown = tree()
    for parent, reward in [(None, 20), (0, 40), (0, -60), (1, 80)]:
        grown.reward(grown.add(candidate("4"), parent), [reward])
    return grown


def test_back_propagation_and_uct_by_hand():
    grown = grown_tree()
    assert [grown.quality(i) for i in range(4)] == [(20 + 60) / 2, (40 + 80) / 2, -60, 80]
    assert [node.num_visits for node in grown.nodes] == [4, 2, 1, 1]
    assert grown.uct(3) == pytest.approx(80 + 1.4 * sqrt(log(3)), abs=1e-3)
    assert grown.uct(2) == pytest.approx(-60 + 1.4 * sqrt(log(5)), abs=1e-3)
    assert grown.uct(0) == pytest.approx(40 + 1.4 * sqrt(log(5) / 4), abs=1e-3)


def test_selection_passes_over_the_fully_expanded_and_explores_if_told_to():
    grown = grown_tree()
    assert grown.select() == 3
    grown.exploration = 1000
    assert (
        grown.select() == 2
    )  # node 0 has two children, one better than itself; 2 is visited least, above most
    only_worse = tree(exploration=0)
    for parent, reward in [(None, 20), (0, 10), (0, 5)]:
        only_worse.reward(only_worse.add(candidate("4"), parent), [reward])
    assert only_worse.select() == 0  # full, but none of its children is better


def test_best_answer_is_by_own_quality_and_never_one_without_an_answer():
    grown = grown_tree()
    assert grown.best() == 3
    grown.nodes[3].candidate = candidate(None)
    assert grown.best() == 1


def script(request):
    """First answer 1 (scored 10 and 0), its refinement 2 (50 and 40), and the refinement of that, 3 (-90)."""
    text = request.prompt.user
    match request.purpose:
        case Purpose.CANDIDATE:
            return boxed(1)
        case Purpose.CRITIQUE:
            return [said(f"review of {text.split('boxed{')[1][0]}")]
        case Purpose.REFINE:
            return boxed(2 if "review of 1" in text else 3)
        case Purpose.VALUE:
            return [
                said(f"gaps. {s}")
                for s in {"1": (10, 0), "2": (50, 40), "3": (-90, -90)}[text.split("boxed{")[1][0]]
            ]


def test_two_rollouts_by_hand():
    result, stages = play(mctsr().solve(QUESTION, toolkit(), seed=0), script)
    assert [[r.purpose.value for r in stage] for stage in stages] == [
        ["candidate"],
        ["value"],
        ["value", "critique"],
        ["refine"],
        ["value"],
        ["value", "critique"],
        ["refine"],
        ["value"],
    ]
    assert [(s.name, s.value, s.parent) for s in result.trace] == [
        ("answer", 2.5, None),
        ("critique", None, 0),
        ("refine", 42.5, 1),
        ("critique", None, 2),
        ("refine", -90.0, 3),
    ]
    assert result.finals[0][1][0].answer == "2"
    again = [r.seed for stage in stages for r in stage if r.purpose is Purpose.VALUE]
    assert len(set(again)) == 5


def test_refinement_shows_solution_and_review():
    _, stages = play(mctsr(num_rollouts=1).solve(QUESTION, toolkit(), seed=0), script)
    [refine] = stages[3]
    assert "[Solution start]\nSurely boxed{1}\n[Solution end]" in refine.prompt.user
    assert "[Review start]\nreview of 1\n[Review end]" in refine.prompt.user
    assert "boxed{<number>}" in refine.prompt.system


@pytest.mark.parametrize(
    ("verdict", "title"), [("yes", "good ideas (reward 1):"), ("no", "bad ideas (reward 0):")]
)
def test_ideas_form_speaks_the_protocols_language(verdict, title):
    def answer(request):
        if request.purpose is Purpose.VALUE:
            return [said(verdict)] * 2
        return [said("SUMMARY")] if request.purpose is Purpose.CRITIQUE else boxed(1)

    method = mctsr(refining=Refining("ideas"), judge=Verdict("yes_no", 4), num_rollouts=1)
    _, stages = play(method.solve(QUESTION, toolkit(), seed=0), answer)
    assert "concise summary" in stages[2][1].prompt.user
    assert f"{title}\n\n[0]- SUMMARY\n\nThus, the answer is \\(\\boxed{{1}}\\)" in stages[3][0].prompt.user


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_rollouts": -1}, "num_rollouts"),
        ({"num_rewards": 0}, "num_rewards"),
    ],
)
def test_bad_settings_are_named(changes, word):
    with pytest.raises(ValueError, match=word):
        mctsr(**changes)


def test_an_answer_with_enough_refinements_one_of_them_better_is_closed_however_little_visited():
    grown = tree(exploration=1000.0)
    for parent, reward in ((None, 94.0), (0, -50.0), (0, 90.0)):
        grown.reward(grown.add(candidate("4"), parent), [reward])
    for node, visits in zip(grown.nodes, (1, 10**9, 10**9), strict=True):
        node.num_visits = visits
    assert grown.select() == 0, "no refinement is better"
    grown.nodes[0].rewards[:] = [0.0]
    assert grown.select() == 2
