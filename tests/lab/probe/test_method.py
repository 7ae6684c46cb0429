"""The probe's samples: what is asked, from which half attempts are chosen, what is stored."""

from dataclasses import dataclass
from itertools import cycle

from icpo.lab.probe import TaggedAttempts
from icpo.lab.probe.conditions import FURTHER, MAIN, Condition
from icpo.lab.probe.shifts import shifts_of
from icpo.types import Attempt, Budget, Completion, FinishReason, Purpose, Question, Rewards
from tests.methods.hand import BOOK, QUESTION, boxed, play, said, tally, toolkit

NEXT = Question("q2", "What is 3 + 3?", QUESTION.kind)
HALVES = [boxed("4", "5", "5", "7", None, "4", "6", "4"), boxed("4", "4", "4", "5", "9", None, "8", "4")]


@dataclass(frozen=True)
class Golds:
    name: str = "oracle"
    tagged: bool = True

    def rewards(self, question, candidates, votes, *, seed):
        right = {"q1": "4", "q2": "6"}[question.question_id]
        return Rewards(tuple(int(c.answer == right) for c in candidates))


def method(num_further, score=True):
    budget = Budget(1, 8, 8, 16, 8)
    return TaggedAttempts("probe", "probe", budget, num_further, score, "boxed{", Golds()).among(
        [QUESTION, NEXT]
    )


def engine():
    halves = cycle(HALVES)

    def answer(request):
        if request.scored:
            return [
                Completion(text, 1, 0, FinishReason.STOP, log_probability=-1.0 - i)
                for i, text in enumerate(request.scored)
            ]
        if request.purpose is Purpose.SUMMARY:
            return [said("We add.")]
        if "ideas" not in request.prompt.user and "attempts:" not in request.prompt.user:
            return next(halves)
        return boxed(*["5"] * 8)

    return answer


def solve(num_further, score=True):
    return play(method(num_further, score).solve(QUESTION, toolkit(), seed=0), engine())


def test_half_a_chooses_the_attempts_and_half_b_is_scored():
    result, _ = solve(num_further=1)
    shown = {s.name: s.candidates[0].answer for s in result.trace if s.name.startswith("shown")}
    assert shown == {
        "shown right": "4",
        "shown frequent_wrong": "5",
        "shown rare_wrong": "7",
        "shown unseen": "2",
        "shown foreign": "4",
    }
    assert [c.answer for c in result.finals[0][1]] == ["4", "4", "4", "5", "9", None, "8", "4"]


def test_most_questions_are_asked_under_the_main_conditions_alone():
    result, requests = solve(num_further=0, score=False)
    names = [s.name for s in result.trace]
    assert names[4:] == [condition.name for condition in MAIN]
    assert names[:4] == ["base A", "base B", "shown right", "shown frequent_wrong"]
    assert not any(request.scored for stage in requests for request in stage)
    further, _ = solve(num_further=1, score=False)
    assert {c.name for c in FURTHER} < {s.name for s in further.trace}


def test_every_answer_is_scored_under_every_prompt():
    result, requests = solve(num_further=0)
    scored = [request for stage in requests for request in stage if request.scored]
    assert len(scored) == 1 + len(MAIN)
    assert {request.scored for request in scored} == {("4}", "5}", "6}", "7}", "8}", "9}")}
    [step] = [s for s in result.trace if s.name == "scores base"]
    assert step.verdicts == (-1.0, -2.0, -3.0, -4.0, -5.0, -6.0)


def test_the_tag_is_the_prompts_and_a_mark_is_no_reward():
    attempts = {"right": Attempt(HALF_A_RIGHT, None, "We add.")}
    users = {
        tag: Condition(("right",), True, tag).prompt(QUESTION, attempts, BOOK).user
        for tag in ("1", "0", "none", "mark")
    }
    assert "good ideas (reward 1):" in users["1"] and "bad ideas (reward 0):" in users["0"]
    assert "previous attempts:" in users["none"]
    assert "ideas (mark 7):" in users["mark"] and "previous" not in users["mark"]
    assert "We add." not in Condition(("right",), False, "1").prompt(QUESTION, attempts, BOOK).user


HALF_A_RIGHT = toolkit().candidates(boxed("4"), QUESTION.kind)[0]


def test_shifts_count_the_attempts_answer_and_the_right_one():
    result, _ = solve(num_further=0)
    shifts = {s.condition: s for s in shifts_of([result], {"q1": "4"}, tally)}
    assert set(shifts) == {condition.name for condition in MAIN}
    wrong = shifts["frequent_wrong/working/0"]
    assert (wrong.base.total, wrong.base.parsed, wrong.base.hits, wrong.base.right) == (8, 7, 1, 4)
    assert (wrong.count.parsed, wrong.count.hits, wrong.count.right) == (8, 8, 0)
    assert wrong.change == 1 - 1 / 7
    assert wrong.scored == wrong.base_scored and wrong.others == 0
