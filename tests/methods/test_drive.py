"""The loops that drive methods: order, sharing, blocks and cost."""

import random

import pytest

from icpo.methods import Direct, drive, drive_block
from icpo.types import AnswerKind, Completion, FinishReason, Purpose, Question, QuestionResult, Usage
from tests.methods.hand import TOO_LONG, said, toolkit
from tests.methods.test_me_icpo import method

QUESTIONS = [Question(f"q{i}", f"What is {i} + {i}?", AnswerKind.NUMBER) for i in range(7)]


def reply(request):
    """Completions that depend on the request alone."""
    if request.purpose is Purpose.SUMMARY:
        return [said(f"idea {request.prompt.user[-40:]}")]
    return [
        Completion(f"boxed{{{(request.seed + i) % 4}}}", len(request.prompt.raw), 5 + i, FinishReason.STOP, 2)
        for i in range(request.num_samples)
    ]


class Shuffling:
    """A continuous engine that ends requests in random order, a few at a time."""

    identity = "shuffling"

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.waiting = {}
        self.most_waiting = 0
        self.log = []

    def submit(self, ticket, request):
        assert ticket not in self.waiting
        self.waiting[ticket] = request
        self.log.append(request)
        self.most_waiting = max(self.most_waiting, len(self.waiting))

    def finished(self):
        assert self.waiting, "asked to wait for nothing"
        some = self.random.sample(sorted(self.waiting), min(3, len(self.waiting)))
        return [(ticket, reply(self.waiting.pop(ticket))) for ticket in some]

    def cancel(self, ticket):
        self.waiting.pop(ticket, None)

    def close(self):
        self.waiting.clear()


class Blocks:
    identity = "blocks"
    block_questions = 3

    def __init__(self):
        self.batches = []

    def generate(self, requests):
        self.batches.append([r.prompt.raw for r in requests])
        return [reply(r) for r in requests]

    def close(self):
        self.batches.clear()


def solvings():
    return [method(num_rounds=2).solve(q, toolkit(), seed=0) for q in QUESTIONS]


def by_id(results):
    return {r.question.question_id: r for r in results}


def test_results_do_not_depend_on_the_order_in_which_an_engine_ends_requests():
    first, second = (by_id(drive(solvings(), Shuffling(s), max_in_flight=4)) for s in (1, 2))
    blocks = by_id(drive_block(solvings(), Blocks()))
    assert first == second == blocks
    assert list(blocks) == [q.question_id for q in QUESTIONS]


@pytest.mark.parametrize("max_in_flight", [1, 3, 100])
def test_no_more_questions_are_in_flight_than_allowed(max_in_flight):
    engine = Shuffling(0)
    ones = [Direct("direct", "d", "plain", 2).solve(q, toolkit(), seed=0) for q in QUESTIONS]
    assert len(list(drive(ones, engine, max_in_flight=max_in_flight))) == 7
    assert engine.most_waiting == min(max_in_flight, 7)


def test_a_question_goes_on_while_another_waits():
    """With every reply to q0 held back, all other questions finish."""

    class Holding(Shuffling):
        def finished(self):
            ready = [t for t, r in self.waiting.items() if "What is 0" not in r.prompt.raw]
            ready = [t for t in ready if self.waiting[t].purpose is not Purpose.SUMMARY] or ready
            ready = ready or sorted(self.waiting)
            return [(t, reply(self.waiting.pop(t))) for t in ready]

    order = [r.question.question_id for r in drive(solvings(), Holding(0), max_in_flight=7)]
    assert order[-1] == "q0" and len(order) == 7


def test_every_stage_of_a_block_is_one_batch():
    engine = Blocks()
    drive_block(solvings()[:3], engine)
    assert [len(batch) for batch in engine.batches] == [3, 12, 12, 3, 12, 12, 3]


def test_cost_counts_a_prompt_once_a_request():
    [result] = drive(
        [Direct("direct", "d", "plain", 3).solve(QUESTIONS[0], toolkit(), seed=0)],
        Shuffling(0),
        max_in_flight=1,
    )
    prompt_tokens = result.usage.prompt_tokens
    assert result.usage == Usage(1, 3, prompt_tokens, 2, 5 + 6 + 7, {"final": 18}, {}, {})
    assert prompt_tokens > 100


def test_truncations_are_counted_by_purpose():
    class Short(Shuffling):
        def finished(self):
            return [
                (t, [said("boxed{4}", FinishReason.LENGTH)] * self.waiting.pop(t).num_samples)
                for t in sorted(self.waiting)
            ]

    [result] = drive([method().solve(QUESTIONS[0], toolkit(), seed=0)], Short(0), max_in_flight=1)
    assert result.usage.truncated_by_purpose == {"candidate": 4, "summary": 4, "lookahead": 16, "final": 2}


def test_a_method_that_asks_for_nothing_at_once_is_advanced():
    def idle():
        assert (yield []) == []
        return (yield from Direct("direct", "d", "plain", 1).solve(QUESTIONS[0], toolkit(), seed=0))

    [result] = drive([idle()], Shuffling(0), max_in_flight=2)
    assert result.question == QUESTIONS[0] and result.usage.num_requests == 1


def test_the_cost_at_each_set_of_finals_is_that_of_a_run_that_ends_there():
    def cost(**changes):
        [result] = drive(
            [method(**changes).solve(QUESTIONS[0], toolkit(), seed=0)], Shuffling(0), max_in_flight=1
        )
        return result

    long = cost(num_rounds=3, finals_after=(0, 1, 3))
    for t, usage in zip((0, 1, 3), long.usage_at_finals, strict=True):
        assert usage == cost(num_rounds=t).usage


def test_sets_of_finals_that_are_drawn_at_once_have_no_costs_of_their_own():
    def at_once(question, tools):
        [drawn] = yield [tools.ask(Purpose.FINAL, tools.prompts.plain(question), 4, 0)]
        answers = tools.candidates(drawn, question.kind)
        return QuestionResult(question, 0, (), ((0, answers[:2]), (1, answers[2:])))

    [result] = drive([at_once(QUESTIONS[0], toolkit())], Shuffling(0), max_in_flight=1)
    assert result.usage_at_finals == () and result.usage.num_requests == 1


def test_finals_asked_again_are_one_set():
    class Refusing(Shuffling):
        def finished(self):
            return [
                (
                    t,
                    [TOO_LONG] * r.num_samples
                    if "idea" in r.prompt.user and r.purpose is Purpose.FINAL
                    else reply(r),
                )
                for t in sorted(self.waiting)
                for r in [self.waiting.pop(t)]
            ]

    [result] = drive([method().solve(QUESTIONS[0], toolkit(), seed=0)], Refusing(0), max_in_flight=1)
    assert len(result.usage_at_finals) == len(result.finals) == 1
    assert result.usage_at_finals[0] == result.usage


def test_finals_refused_for_good_are_a_set_of_their_own():
    """The prompt without ideas is too long for finals; the rounds after it are not charged to them."""

    class Refusing(Shuffling):
        def finished(self):
            return [
                (t, [TOO_LONG] * r.num_samples if r.purpose is Purpose.FINAL else reply(r))
                for t in sorted(self.waiting)
                for r in [self.waiting.pop(t)]
            ]

    solving = method(finals_after=(0, 1)).solve(QUESTIONS[0], toolkit(), seed=0)
    [result] = drive([solving], Refusing(0), max_in_flight=1)
    assert len(result.usage_at_finals) == len(result.finals) == 2
    assert result.usage_at_finals[0].num_requests == 1
