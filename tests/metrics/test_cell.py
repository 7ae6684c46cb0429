from dataclasses import replace

import pytest

from icpo.metrics import GradedFinals, GradedRound, QuestionScore, measure_cell
from icpo.store.codec import decode_score, encode_score
from icpo.types import Lookahead, Usage, Votes
from tests.metrics.values import result, round_, step, votes_of

SAME = {"1/2": "0.5"}  # what the test's partition takes for equal


def tally(answers, kind):
    return Votes((), 0, tuple(SAME.get(answer, answer) for answer in answers))


def test_direct_cell_by_hand():
    scores = [
        QuestionScore("q1", 0, "4", ((0, GradedFinals(["correct", "wrong"], ["4", "5"])),)),
        QuestionScore("q2", 0, "4", ((0, GradedFinals(["unparsed", "truncated"], [None, None])),)),
    ]
    found = measure_cell(scores, [result("q2", 0), result("q1", 0)], tally=tally)
    assert (found["num_questions"], found["seeds"], found["k"]) == (2, [0], 2)
    values = {name: found[name]["value"] for name in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k")}
    assert values == {"mean_at_k": 0.25, "accuracy": 0.5, "majority_at_k": 0.25, "pass_at_k": 0.5}
    assert found["pass_by_k"] == {"1": 0.25, "2": 0.5}
    assert [found[f"num_{n}"] for n in ("answers", "unparsed", "truncated", "timed_out")] == [4, 1, 1, 0]
    assert (found["generated_tokens"], found["generated_by_purpose"]) == (80, {"candidate": 60, "final": 20})
    assert found["by_round"] == []
    assert not {"copy_rate", "tag_accuracy", "by_num_rounds"} & found.keys()


def test_icpo_cell_by_hand():
    score = QuestionScore(
        "q1",
        0,
        "4",
        ((2, GradedFinals(["wrong", "wrong", "correct", "unparsed"], ["1/2", "0.5", "4", None])),),
        (GradedRound([False, False, None]), GradedRound([False, True, False])),
    )
    first = round_(["0.5", "0.5", None], [1, 1, None], kept=[1], bits=[2.0, 1.0])
    second = round_(["1/2", "4", "7"], [1, 0, 0], kept=[0], bits=[0.5, 1.0, 1.5])
    found = measure_cell([score], [result("q1", 0, first, second)], tally=tally)
    assert found["copy_rate"] == 2 / 4  # "1/2" and "0.5" are one class, the history's most frequent
    assert found["tag_accuracy"] == 1 / 5  # of 1 1 - 1 0 0, gold confirms the last alone
    assert found["by_round"] == [
        {
            "round": 1,
            "mean_at_k": 0.0,
            "entropy_bits": 1.5,
            "kept_entropy_bits": 1.0,
            "num_empty": 0,
            "num_reached": 1,
        },
        {
            "round": 2,
            "mean_at_k": 1 / 3,
            "entropy_bits": 1.0,
            "kept_entropy_bits": 0.5,
            "num_empty": 0,
            "num_reached": 1,
        },
    ]


def test_history_without_rewarded_attempt_has_no_copy_rate():
    score = QuestionScore(
        "q1", 0, "4", ((1, GradedFinals(["wrong"], ["5"])),), (GradedRound([False, False]),)
    )
    kept_a_bad_idea = result("q1", 0, round_(["5", "6"], [1, 0], kept=[1]))
    assert "copy_rate" not in measure_cell([score], [kept_a_bad_idea], tally=tally)


def test_copies_of_either_of_two_tied_answers_count():
    score = QuestionScore(
        "q1",
        0,
        "4",
        ((1, GradedFinals(["wrong", "wrong", "correct"], ["5", "6", "4"])),),
        (GradedRound([False, False]),),
    )
    tied = result("q1", 0, round_(["5", "6"], [1, 1], kept=[0, 1]))
    assert measure_cell([score], [tied], tally=tally)["copy_rate"] == 2 / 3


def test_finals_after_the_most_rounds_are_the_cells_and_the_others_stand_apart():
    score = QuestionScore(
        "q1", 0, "4", ((3, GradedFinals(["correct"], ["4"])), (1, GradedFinals(["wrong"], ["5"]))), ()
    )
    costs = Usage(2, 2, 2, 2, 2)
    row = replace(
        result("q1", 0),
        finals=((1, ()), (3, ())),
        usage_at_finals=(costs, replace(costs, generated_tokens=9)),
    )
    found = measure_cell([score], [row], tally=tally)
    assert found["mean_at_k"]["value"] == 1.0
    assert {n: m["mean_at_k"]["value"] for n, m in found["by_num_rounds"].items()} == {"1": 0.0, "3": 1.0}
    assert {n: m["generated_tokens"] for n, m in found["by_num_rounds"].items()} == {"1": 2, "3": 9}
    stored_before_costs_were = replace(row, usage_at_finals=())
    found = measure_cell([score], [stored_before_costs_were], tally=tally)
    assert "generated_tokens" not in found["by_num_rounds"]["1"]
    with pytest.raises(ValueError, match="shorter"):
        measure_cell([score], [replace(row, usage_at_finals=(costs,))], tally=tally)


def test_a_round_that_kept_nothing_is_counted():
    score = QuestionScore("q1", 0, "4", ((1, GradedFinals(["wrong"], ["5"])),), (GradedRound([None, None]),))
    empty = result("q1", 0, round_([None, None], [None, None], kept=[]))
    [entry] = measure_cell([score], [empty], tally=tally)["by_round"]
    assert entry == {
        "round": 1,
        "mean_at_k": 0,
        "entropy_bits": None,
        "kept_entropy_bits": None,
        "num_empty": 1,
        "num_reached": 1,
    }


def test_a_round_tells_how_many_reached_it():
    """q2 agreed in round 1 and stopped: round 2 speaks of q1 alone and says so."""
    graded = ((2, GradedFinals(["wrong"], ["5"])),)
    one, two = GradedRound([False]), GradedRound([True])
    scores = [QuestionScore("q1", 0, "4", graded, (one, one)), QuestionScore("q2", 0, "4", graded, (two,))]
    rounds = [round_(["5"], [1], kept=[0])] * 2
    rows = [result("q1", 0, *rounds), result("q2", 0, rounds[0])]
    found = measure_cell(scores, rows, tally=tally)["by_round"]
    assert [(entry["mean_at_k"], entry["num_reached"]) for entry in found] == [(0.5, 2), (0.0, 1)]


def test_verdicts_and_those_that_could_not_be_read_are_counted():
    score = QuestionScore("q1", 0, "4", ((0, GradedFinals(["wrong"], ["5"])),), ())
    judged = step(verdicts=(100.0, None))
    row = result("q1", 0, judged, step(), judged)
    found = measure_cell([score], [row], tally=tally)
    assert (found["num_verdicts"], found["num_unread_verdicts"]) == (4, 2)
    assert "num_verdicts" not in measure_cell([score], [result("q1", 0)], tally=tally)


def test_what_did_not_fit_is_counted_by_purpose():
    score = QuestionScore("q1", 0, "4", ((1, GradedFinals(["wrong"], ["5"])),), (GradedRound([False]),))
    first = replace(round_(["5"], [1], kept=[0], bits=[0.5]), num_dropped=1)
    second = replace(first, lookaheads=(Lookahead(0, votes_of(0.5), num_dropped=2),))

    def dropped(row):
        return measure_cell([score], [row], tally=tally).get("num_dropped")

    assert dropped(result("q1", 0, first)) == {"candidate": 1, "lookahead": 0, "final": 0}
    told = replace(result("q1", 0, second), dropped_at_finals=(0, 3))
    assert dropped(told) == {"candidate": 1, "lookahead": 2, "final": 3}
    assert dropped(result("q1", 0, round_(["5"], [1], kept=[0]))) is None


def test_scores_survive_their_line():
    score = QuestionScore(
        "q1",
        3,
        "4",
        ((1, GradedFinals(["correct", "timed_out"], ["4", None])),),
        (GradedRound([True, None]),),
    )
    line = encode_score(score)
    assert line["finals"] == (
        (1, {"outcomes": ("correct", "timed_out"), "labels": ("4", None), "num_skipped": 0}),
    )
    assert decode_score(line) == score
