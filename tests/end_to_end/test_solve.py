"""One question of one's own: what it is called, what kind of answer it has, what nano is warned of."""

import logging

import pytest

from icpo.benchmarks.arithmetic import LEVELS, Split, questions
from icpo.benchmarks.arithmetic.vocabulary import EXAMPLE, unknown_words
from icpo.config import build, compose, question_kind, with_quoted_question
from icpo.store import load_results, read_status
from icpo.types import AnswerKind
from tests.end_to_end.fakes import Blocks, run_composed

GEMS = "Ben starts a game with 135 gems, then plays a times-4 card. How many gems does Ben have now?"
FRANCE = "What is the capital of France?"


def solve(folder, question):
    return run_composed(compose(["+exp=solve", "watch=false", question]), folder, Blocks())


def test_a_second_question_has_a_cell_of_its_own_and_the_same_one_goes_on(tmp_path):
    file = tmp_path / "q.txt"
    file.write_text(FRANCE)
    cells = [solve(tmp_path / "solve", one) for one in (f"question='{GEMS}'", f"question_file={file}")]
    assert cells[0] != cells[1] and solve(tmp_path / "solve", f"question='{GEMS}'") == cells[0]
    assert [load_results(cell)[0].question.text for cell in cells] == [GEMS, FRANCE]
    assert [read_status(cell)["num_sessions"] for cell in cells] == [2, 1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (GEMS, "number"),
        ("What is 12 times 4?", "number"),
        ("Simplify x + x.", "expression"),
        (r"What is $\frac{1}{2} + x$?", "expression"),
        ("Which is a prime number?\nA. 4\nB. 7", "choice"),
        ("Which is a prime number?\n(A) 4\n(B) 7", "choice"),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(text, kind):
    assert question_kind(text, None) == kind


def test_a_given_kind_is_taken():
    config = compose(["+exp=solve", f"question='{GEMS}'", "benchmark.kind=expression"])
    assert build(config.benchmark).load().questions[0].kind is AnswerKind.EXPRESSION


def test_a_question_on_the_command_line_needs_no_quotes_of_hydras():
    [_, question] = with_quoted_question(["+exp=solve", f'question={GEMS} It\'s #1 (a=b), "x"'])
    assert compose(["+exp=solve", question]).question == f'{GEMS} It\'s #1 (a=b), "x"'
    assert with_quoted_question(["question='a'", "run_name=a"]) == ["question='a'", "run_name=a"]


def test_word_problems_have_no_unknown_words():
    texts = [one.text for level in LEVELS for one in questions(Split.DEV, level)]
    assert not [words for text in [*texts, GEMS, EXAMPLE] if (words := unknown_words(text))]
    assert unknown_words(FRANCE)[-1] == "France"


@pytest.mark.parametrize(("question", "is_warned_of"), [(GEMS, False), (FRANCE, True)])
def test_what_nano_was_not_trained_for_is_warned_of_with_what_it_can_be_asked(caplog, question, is_warned_of):
    with caplog.at_level(logging.WARNING):
        build(compose(["+exp=solve", f"question='{question}'"]).job).check(is_here=False)
    assert ("It can be asked" in caplog.text and "France" in caplog.text) is is_warned_of
