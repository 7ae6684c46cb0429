"""The controls: what is shown to the model in place of its own ideas."""

import pytest

from icpo.errors import BenchmarkError
from icpo.lab.controls import MajorityHint, RepeatedError
from icpo.methods import Direct, Foreign, Run
from icpo.methods.direct import BasePrompt
from icpo.types import AnswerKind, Budget, Purpose, Question, Step
from tests.methods.hand import QUESTION, boxed, driven, play, said, toolkit
from tests.methods.test_me_icpo import HAND, by_purpose, method

OTHER = Question("q2", "What is 5 + 6?", AnswerKind.NUMBER)

BUDGET = Budget(num_rounds=3, num_samples=4, num_finals=2)


def answering(*base):
    """The first finals are direct's samples, the next ones the control's own."""
    finals = iter([boxed(*base), boxed(9, 9)])

    def answer(request):
        return [said("BRIEFLY")] if request.purpose is Purpose.SUMMARY else next(finals)

    return answer


def hint(num_samples=4):
    return MajorityHint("majority_hint", "majority_hint", Budget(num_samples=num_samples, num_finals=2))


def test_the_samples_of_a_control_are_those_of_direct():
    _, asked = play(hint(2).solve(QUESTION, toolkit(), seed=3), answering(4, 5))
    base = Direct(BasePrompt.PLAIN, Budget(num_finals=2))
    _, sampled = play(base.solve(QUESTION, toolkit(), seed=3), answering(4, 5))
    assert asked[0] == sampled[0]


def test_the_hint_is_the_majoritys_answer_as_the_one_good_idea():
    result, asked = play(hint().solve(QUESTION, toolkit(), seed=0), answering(5, 4, 4, None))
    user = asked[-1][0].prompt.user
    assert user.endswith("good ideas (reward 1):\n\n[0]- Thus, the answer is \\(\\boxed{4}\\)\n")
    assert "bad ideas" not in user
    assert [c.answer for c in result.finals[0][1]] == ["9", "9"]


def test_a_tied_hint_is_chosen_by_seed():
    def hinted(seed):
        _, asked = play(hint().solve(QUESTION, toolkit(), seed=seed), answering(5, 4, 5, 4))
        return asked[-1][0].prompt.user.count("boxed{4}")

    assert {hinted(seed) for seed in range(20)} == {0, 1}


def test_where_nobody_answers_there_is_no_hint():
    _, asked = play(hint().solve(QUESTION, toolkit(), seed=0), answering(None, None, None, None))
    assert "ideas (reward" not in asked[-1][0].prompt.user


def test_the_error_repeated_is_the_runner_up_tagged_1():
    control = RepeatedError("repeated_error", "repeated_error", BUDGET)
    _, asked = play(control.solve(QUESTION, toolkit(), seed=0), answering(4, 5, 4, None))
    user = asked[-1][0].prompt.user
    assert user.count("BRIEFLY\n\nThus, the answer is \\(\\boxed{5}\\)") == 3
    assert "boxed{4}" not in user


def test_the_error_repeated_is_none_where_all_agree():
    control = RepeatedError("repeated_error", "repeated_error", BUDGET)
    result, asked = play(control.solve(QUESTION, toolkit(), seed=0), answering(4, 4, 4, 4))
    assert [stage[0].purpose for stage in asked] == [Purpose.FINAL, Purpose.FINAL]
    assert "ideas (reward" not in asked[-1][0].prompt.user and len(result.finals[0][1]) == 2


def test_foreign_ideas_are_the_next_questions():
    control = Foreign("foreign", "foreign", method()).among([QUESTION, OTHER])
    _, asked = play(control.solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    assert all(OTHER.text in r.prompt.user for r in asked[0]), "the partner's own run comes first"
    user = asked[-1][0].prompt.user
    assert QUESTION.text in user and OTHER.text not in user and "[0]- TWO\n\nThus" in user
    assert dict(control.partners)["q2"] == QUESTION, "the last takes the first's"


def test_a_single_question_has_no_foreign_ideas():
    with pytest.raises(BenchmarkError, match=r"method=foreign.* 1"):
        Foreign("foreign", "foreign", method()).among([QUESTION])


def test_a_repeated_error_needs_a_round():
    with pytest.raises(ValueError, match=r"budget\.num_rounds"):
        RepeatedError("repeated_error", "repeated_error", Budget(num_rounds=0))


def test_a_foreign_trace_holds_no_rounds_that_would_be_graded_with_this_questions_gold():
    control = Foreign("foreign", "foreign", method()).among([QUESTION, OTHER])
    result, _ = play(control.solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    [idea] = result.trace
    assert isinstance(idea, Step) and (idea.value, idea.candidates[0].answer) == (1, "4")


@pytest.mark.parametrize("control", [hint(), RepeatedError("repeated_error", "repeated_error", BUDGET)])
def test_a_control_is_charged_for_the_samples_that_it_shares_with_the_base(control):
    result = driven(Run(control.solve(QUESTION, toolkit(), seed=0)), answering(4, 5, 4, None))
    assert result.usage.num_sequences >= 4 + 2
    assert result.usage_at_finals == (result.usage,)


def test_a_foreign_history_is_charged_to_the_finals_that_use_it():
    control = Foreign("foreign", "foreign", method()).among([QUESTION, OTHER])
    result = driven(Run(control.solve(QUESTION, toolkit(), seed=0)), by_purpose(HAND))
    assert result.usage_at_finals == (result.usage,)
