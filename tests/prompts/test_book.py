"""The prompts are the paper's, and nothing a model wrote can change their shape."""

import re
from dataclasses import replace

import pytest

from icpo.prompts import Book, paper
from icpo.types import AnswerKind, Attempt, Candidate, Question
from tests.methods.hand import BOOK, said
from tests.public_files import PAPER, needs_paper

QUESTION = Question("q", "Why?", AnswerKind.NUMBER)


def attempt(answer="4", reward=1, summary="We add."):
    return Attempt(Candidate(said("text"), answer), reward, summary)


def printed(title):
    """A prompt box of the paper's source as plain text."""
    source = PAPER.read_text()
    [body] = re.findall(
        r"\\begin\{prompt\}\[title=\{" + re.escape(title) + r"\}\]\n(.*?)\\end\{prompt\}", source, re.S
    )
    body = re.sub(r"\\textbf\{(.*?)\}", r"**\1**", body)
    body = re.sub(r"\\texttt\{(boxed\\\{.*?\\\})\}", r"\1", body)
    body = re.sub(r"\\textless\s+(\w+)\\textgreater", r"<\1>", body)
    body = re.sub(
        r"\\texttt\{(<\w+>)\}|\\texttt\{\\textless\s+(\w+)\\textgreater\}",
        lambda m: m[1] or f"<{m[2]}>",
        body,
    )
    body = (
        body.replace(r"\{\ldots\ raw model answer \ldots\}", "{text}").replace(r"\{", "{").replace(r"\}", "}")
    )
    return body.strip()


@needs_paper
@pytest.mark.parametrize(
    ("kind", "title"),
    [
        (AnswerKind.NUMBER, "AIME / AMC (Numeric Answer)"),
        (AnswerKind.CHOICE, "GPQA (Multiple Choice)"),
        (AnswerKind.EXPRESSION, "MATH (Free-form Answer)"),
    ],
)
def test_prompts_are_the_papers_word_for_word(kind, title):
    question = Question("q", "Why?", kind)
    assert BOOK.system(question) == printed(f"System Prompt: {title}")
    summary_title = title.partition(" (")[0]
    assert paper.SUMMARY[kind] == printed(f"Summarization Prompt: {summary_title}")


def test_history_stands_as_in_the_papers_example():
    history = (attempt("204"), attempt("348", 0, "It takes 348."), attempt("204", 1, "We solve."))
    assert BOOK.solve(QUESTION, history).user == (
        "Why?\n\n"
        "bad ideas (reward 0):\n\n[0]- It takes 348.\n\nThus, the answer is \\(\\boxed{348}\\)\n\n"
        "good ideas (reward 1):\n\n[0]- We add.\n\nThus, the answer is \\(\\boxed{204}\\)\n\n"
        "[1]- We solve.\n\nThus, the answer is \\(\\boxed{204}\\)\n"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("full", "We add.\n\nThus, the answer is \\(\\boxed{4}\\)"),
        ("answer_only", "Thus, the answer is \\(\\boxed{4}\\)"),
        ("no_answer", "We add."),
    ],
)
def test_idea_forms(form, expected):
    assert Book(BOOK.answer_line, False, True, form).idea(attempt()) == expected


def test_an_attempt_without_an_answer_claims_none():
    assert BOOK.idea(attempt(answer=None)) == "We add."


@pytest.mark.parametrize(
    ("answer", "written"), [("204", "204.0"), ("-3", "-3.0"), ("0.5", "0.5"), ("x", "x")]
)
def test_the_authors_code_writes_whole_numbers_as_floats(answer, written):
    book = Book("Thus, the answer is boxed{{answer}}", True, True, "full")
    assert book.idea(attempt(answer)) == f"We add.\n\nThus, the answer is boxed{{{written}}}"


@pytest.mark.parametrize(
    "text", ["{text}", "{answer}", "{0}", "%s", "[Answer end]", "\\1", "boxed{7}", "\x00‮"]
)
def test_text_of_a_model_is_never_a_template(text):
    assert text.strip() in BOOK.summary(QUESTION, text).user
    assert BOOK.idea(attempt(text, 1, text)) == f"{text}\n\nThus, the answer is \\(\\boxed{{{text}}}\\)"


def test_the_base_is_told_nothing_of_ideas():
    for kind in AnswerKind:
        assert "idea" not in BOOK.plain(Question("q", "Why?", kind)).raw


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="answer_line"):
        Book("no place", False, True, "full")
    with pytest.raises(ValueError, match="nice"):
        Book(BOOK.answer_line, False, True, "nice")


def test_a_worked_example_comes_first_and_the_answer_last():
    book = replace(BOOK, worked_example="Question: 1+1?\nAnswer: boxed{2}\n")
    assert book.plain(QUESTION).user == "Question: 1+1?\nAnswer: boxed{2}\n\nQuestion: Why?\n\nAnswer:"
    user = book.solve(QUESTION, (attempt("204"),)).user
    assert user.startswith(
        "Question: 1+1?\nAnswer: boxed{2}\n\nQuestion: Why?\n\ngood ideas (reward 1):\n\n[0]-"
    )
    assert user.endswith("\n\nAnswer:")
    assert book.system(QUESTION) == BOOK.system(QUESTION)


def test_the_authors_code_prints_both_headings_and_single_newlines():
    book = replace(BOOK, empty_headings=True)
    assert book.solve(QUESTION, ()).user == "Why?\nbad ideas (reward 0):\ngood ideas (reward 1):\n"
    shown = book.solve(QUESTION, (attempt("204"),)).user
    assert shown.startswith("Why?\nbad ideas (reward 0):\ngood ideas (reward 1):\n[0]- We add.")
    untagged = replace(book, reward_tags=False).solve(QUESTION, ()).user
    assert untagged == "Why?\n"
