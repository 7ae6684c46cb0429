import io

from rich.console import Console

from icpo.evaluation.live import Narrator, question_view, stage_view, votes_view
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


def test_the_narrator_shows_every_stage():
    said = []
    narrator = Narrator(QUESTION, TOOLS, said.append)
    for purpose in (Purpose.CANDIDATE, Purpose.SUMMARY, Purpose.LOOKAHEAD) * 2 + (Purpose.FINAL,):
        text = "Add both." if purpose is Purpose.SUMMARY else "12"
        narrator.completed([request(purpose)], [[completion(text), completion("")]])
    text = shown(*said)
    assert "[red]6 * 2[/red]" in text
    assert [text.count(f"round {n}, 2 candidates") for n in (1, 2, 3)] == [1, 1, 0]
    assert text.count("Add both.") == 2 and text.count("look-ahead of attempt 1") == 2
    assert "2 finals" in text and "no answer" in text
    # One of two look-aheads is silent: its price is shown, as the selector sees it.
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


def test_half_an_emoji_is_shown_with_a_replacement_character():
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    console = Console(file=terminal, width=120)
    votes = Votes((("4 \ud83d", 1),), 0)
    for view in (
        question_view(Question("q\ud83d", "6 \ude00 2?", AnswerKind.NUMBER)),
        votes_view(votes, 0.0),
    ):
        console.print(view)
    terminal.flush()
    assert terminal.buffer.getvalue().decode().count("\ufffd") == 3


def test_what_a_terminal_obeys_is_shown_escaped():
    text = shown(question_view(Question("q\x1b[2J", "6\x07\u202e * 2?", AnswerKind.NUMBER)))
    assert "\\x1b[2J" in text and "\\x07" in text and "\x1b" not in text and "\u202e" not in text
