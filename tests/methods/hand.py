"""Drives a method by hand: completions are written in the test, prompts and seeds are read back."""

import re
from collections import Counter

from icpo.methods import drive
from icpo.methods.drive import Returned, advance
from icpo.prompts import Book
from icpo.types import AnswerKind, Budget, Completion, FinishReason, Purpose, Question, Toolkit, Votes
from tests.sampling import sampling_of

QUESTION = Question("q1", "What is 2 + 2?", AnswerKind.NUMBER)
BOOK = Book(r"Thus, the answer is \(\boxed{{answer}}\)", False, True, "full")


def said(text, finish_reason=FinishReason.STOP):
    return Completion(text, 10, max(len(text), 0), finish_reason)


TOO_LONG = said("", FinishReason.PROMPT_TOO_LONG)


def boxed(*answers):
    """Completions with these answers; None is one without an answer."""
    return [said("I do not know." if a is None else f"Surely boxed{{{a}}}") for a in answers]


def read(text, kind):
    found = re.findall(r"boxed\{([^}]*)\}", text)
    return found[-1] if found else None


def tally(answers, kind):
    counts = Counter(a for a in answers if a is not None)
    ranked = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return Votes(ranked, sum(a is None for a in answers), tuple(answers))


def toolkit(book=BOOK, **overrides):
    sampling = {p: sampling_of(0.6, 0.95, 100) for p in Purpose}
    sampling[Purpose.SUMMARY] = sampling_of(0.0, 1.0, 50)
    return Toolkit(book, sampling, read, tally, **overrides)


def play(solving, answer):
    """Runs a computation to its end with completions of `answer(request)`; its result and its requests."""
    asked = []
    batches = None
    while not isinstance(requests := advance(solving, batches), Returned):
        asked.append(requests)
        batches = [answer(request) for request in requests]
    return requests.value, asked


class Answering:
    """An engine that completes each request by a function of it, all that is queued at once."""

    identity = "answering"
    block_questions = None

    def __init__(self, answer):
        self.answer, self.waiting = answer, {}

    def submit(self, ticket, request):
        self.waiting[ticket] = request

    def finished(self):
        done = [(ticket, self.answer(request)) for ticket, request in self.waiting.items()]
        self.waiting.clear()
        return done

    def cancel(self, ticket):
        self.waiting.pop(ticket)

    def close(self):
        pass


def driven(run, answer):
    """The result of one run, all observers having looked."""
    [result] = drive([run], Answering(answer), max_in_flight=1)
    return result


def budgeted(settings):
    """Settings of a method, with the numbers of its budget under one key."""
    numbers = {key: value for key, value in settings.items() if key in Budget.__dataclass_fields__}
    others = {key: value for key, value in settings.items() if key not in numbers}
    return others | {"budget": Budget(**numbers)}
