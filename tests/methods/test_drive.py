"""The loops that drive methods: order, sharing, blocks and cost."""

import random
from dataclasses import replace

import pytest

from icpo.methods import Direct, Run, complete, drive
from icpo.methods.direct import BasePrompt
from icpo.types import (
    AnswerKind,
    Budget,
    Completion,
    FinishReason,
    Observer,
    Prompt,
    Purpose,
    Question,
    QuestionResult,
    Usage,
)
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
    block_questions = None

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


class Blocks(Shuffling):
    """Completes all that is queued as one batch."""

    identity = "blocks"
    block_questions = 3

    def __init__(self):
        super().__init__(0)
        self.batches = []

    def finished(self):
        self.batches.append([r.prompt.raw for r in self.waiting.values()])
        done = [(ticket, reply(r)) for ticket, r in self.waiting.items()]
        self.waiting.clear()
        return done


def runs(of=None, questions=QUESTIONS):
    of = of or method(num_rounds=2)
    return [Run(of.solve(q, toolkit(), seed=0)) for q in questions]


def by_id(results):
    return {r.question.question_id: r for r in results}


def test_results_do_not_depend_on_the_order_in_which_an_engine_ends_requests():
    first, second = (by_id(drive(runs(), Shuffling(s), max_in_flight=4)) for s in (1, 2))
    blocks = by_id(drive(runs(), Blocks(), max_in_flight=7))
    assert first == second == blocks
    assert list(blocks) == [q.question_id for q in QUESTIONS]


@pytest.mark.parametrize("max_in_flight", [1, 3, 100])
def test_no_more_questions_are_in_flight_than_allowed(max_in_flight):
    engine = Shuffling(0)
    assert (
        len(
            list(
                drive(
                    runs(Direct(BasePrompt.PLAIN, Budget(num_finals=2))), engine, max_in_flight=max_in_flight
                )
            )
        )
        == 7
    )
    assert engine.most_waiting == min(max_in_flight, 7)


def test_a_question_goes_on_while_another_waits():
    """With every reply to q0 held back, all other questions finish."""

    class Holding(Shuffling):
        def finished(self):
            ready = [t for t, r in self.waiting.items() if "What is 0" not in r.prompt.raw]
            ready = [t for t in ready if self.waiting[t].purpose is not Purpose.SUMMARY] or ready
            ready = ready or sorted(self.waiting)
            return [(t, reply(self.waiting.pop(t))) for t in ready]

    order = [r.question.question_id for r in drive(runs(), Holding(0), max_in_flight=7)]
    assert order[-1] == "q0" and len(order) == 7


def test_every_stage_of_a_block_is_one_batch():
    engine = Blocks()
    list(drive(runs(questions=QUESTIONS[:3]), engine, max_in_flight=3))
    assert [len(batch) for batch in engine.batches] == [3, 12, 12, 3, 12, 12, 3]


def test_cost_counts_a_prompt_once_a_request():
    [result] = drive(
        runs(Direct(BasePrompt.PLAIN, Budget(num_finals=3)), QUESTIONS[:1]),
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

    [result] = drive(runs(method(), QUESTIONS[:1]), Short(0), max_in_flight=1)
    assert result.usage.truncated_by_purpose == {"candidate": 4, "summary": 4, "lookahead": 16, "final": 2}


def test_a_method_that_asks_for_nothing_at_once_is_advanced():
    def idle():
        assert (yield []) == []
        return (
            yield from Direct(BasePrompt.PLAIN, Budget(num_finals=1)).solve(QUESTIONS[0], toolkit(), seed=0)
        )

    [result] = drive([Run(idle())], Shuffling(0), max_in_flight=2)
    assert result.question == QUESTIONS[0] and result.usage.num_requests == 1


def test_the_cost_at_each_set_of_finals_is_that_of_a_run_that_ends_there():
    def cost(**changes):
        [result] = drive(runs(method(**changes), QUESTIONS[:1]), Shuffling(0), max_in_flight=1)
        return result

    long = cost(num_rounds=3, finals_after=(0, 1, 3))
    for t, usage in zip((0, 1, 3), long.usage_at_finals, strict=True):
        assert usage == cost(num_rounds=t).usage


def test_sets_of_finals_that_are_sampled_at_once_have_no_costs_of_their_own():
    def at_once(question, tools):
        [sampled] = yield [tools.ask(Purpose.FINAL, tools.prompts.plain(question), 4, 0)]
        answers = tools.candidates(sampled, question.kind)
        return QuestionResult(question, 0, (), ((0, answers[:2]), (1, answers[2:])))

    [result] = drive([Run(at_once(QUESTIONS[0], toolkit()))], Shuffling(0), max_in_flight=1)
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

    [result] = drive(runs(method(), QUESTIONS[:1]), Refusing(0), max_in_flight=1)
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
    [result] = drive([Run(solving)], Refusing(0), max_in_flight=1)
    assert len(result.usage_at_finals) == len(result.finals) == 2
    assert result.usage_at_finals[0].num_requests == 1


def test_an_observer_sees_each_stage_in_order_and_may_add_to_the_result():
    class Log(Observer):
        def __init__(self):
            self.seen = []

        def requested(self, requests):
            self.seen.append(("requested", [r.purpose.value for r in requests]))

        def completed(self, requests, batches):
            assert batches == [reply(request) for request in requests]
            self.seen.append(("completed", [r.purpose.value for r in requests]))

        def returned(self, result):
            self.seen.append(("returned", result.usage.num_requests))
            return replace(result, seed=result.seed + 1)

    logs = [Log() for _ in QUESTIONS]
    solvings = [method(num_rounds=1).solve(q, toolkit(), seed=0) for q in QUESTIONS]
    watched = [Run(solving, [log]) for solving, log in zip(solvings, logs, strict=True)]
    results = list(drive(watched, Shuffling(1), max_in_flight=3))
    stages = [["candidate"], ["summary"] * 4, ["lookahead"] * 4, ["final"]]
    wanted = [(what, stage) for stage in stages for what in ("requested", "completed")]
    for log in logs:
        assert log.seen == [*wanted, ("returned", 0)], "the cost is added after the others have looked"
    assert all(result.seed == 1 and result.usage.num_requests == 10 for result in results)


def test_requests_completed_together_come_back_in_order():
    requests = [toolkit().ask(Purpose.CANDIDATE, Prompt("", text), 2, 5) for text in "abcdefg"]
    assert complete(Shuffling(3), requests) == [reply(request) for request in requests]
    assert complete(Shuffling(3), []) == []
