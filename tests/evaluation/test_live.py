import io

from rich.console import Console

from icpo.evaluation.live import narrated, question_view, stage_view, votes_view
from icpo.types import (
    AnswerKind,
    Completion,
    FinishReason,
    Prompt,
    Purpose,
    Question,
    SampleRequest,
    Toolkit,
    Votes,
)
from tests.report.stored_runs import tally
from tests.sampling import sampling_of

QUESTION = Question("q1", "What is [red]6 * 2[/red]?", AnswerKind.NUMBER)
TOOLS = Toolkit(prompts=None, sampling={}, read=lambda text, kind: text or None, tally=tally)


def shown(*renderables):
    console = Console(file=io.StringIO(), width=120)
    for renderable in renderables:
        console.print(renderable)
    return console.file.getvalue()


def completion(text):
    return Completion(text, 1, 1, FinishReason.STOP)


def request(purpose):
    return SampleRequest(purpose, Prompt("", "x"), sampling_of(0.6, 0.95, 9), 2, 0)


def two_rounds():
    """A generator that asks like a method and returns what it was sent."""
    received = []
    for _ in range(2):
        for purpose in (Purpose.CANDIDATE, Purpose.SUMMARY, Purpose.LOOKAHEAD):
            received.append((yield [request(purpose)]))
    received.append((yield [request(Purpose.FINAL)]))
    return received


def test_narration_changes_nothing_and_tells_every_stage():
    said = []
    solving = narrated(two_rounds(), TOOLS, AnswerKind.NUMBER, said.append)
    sent, batch = [], next(solving)
    try:
        while True:
            text = "Add both." if batch[0].purpose is Purpose.SUMMARY else "12"
            sent.append([[completion(text), completion("")]])
            batch = solving.send(sent[-1])
    except StopIteration as stop:
        assert stop.value == sent
    text = shown(*said)
    assert [text.count(f"round {n}, 2 candidates") for n in (1, 2, 3)] == [1, 1, 0]
    assert text.count("Add both.") == 2 and text.count("look-ahead of attempt 1") == 2
    assert "2 finals" in text and "no answer" in text
    # One of two look-aheads is silent: its price stands there, as the selector sees it.
    assert text.count("0.50 bits") == 2


def test_markup_in_texts_is_inert():
    assert "[red]6 * 2[/red]" in shown(question_view(QUESTION))
    summary = [completion("Add [bold]both[/bold].")]
    assert "Add [bold]both[/bold]." in shown(
        stage_view([request(Purpose.SUMMARY)], [summary], TOOLS, AnswerKind.NUMBER, 1)
    )


def test_votes_view_is_proportional():
    text = shown(votes_view(Votes((("12", 3),), 1), 0.5))
    assert "0.50 bits" in text and text.count("█") == 20 and "12 " + "█" * 15 + " 3" in text
