"""The shipped tokenizer loads with AutoTokenizer, gives every prompt back exactly and keeps digits single."""

from random import Random

import pytest
from transformers import AutoTokenizer

from icpo.benchmarks.arithmetic import HELDOUT_SETS, LEVELS, RULES, questions
from icpo.lab.nano.examples import Mixture, Tags, Task, as_question, draw_example, draw_source
from icpo.lab.nano.histories import Idea, Update
from icpo.lab.nano.mistakes import AssumedMistakes
from icpo.lab.nano.policy import Policy
from icpo.lab.nano.solutions import right_solution
from icpo.prompts import Book, IdeaForm
from icpo.types import AnswerKind, Question

LINES = (r"Thus, the answer is \(\boxed{{answer}}\)", "Thus, the answer is boxed{{answer}}")
EVEN = Mixture({task: 1.0 for task in Task}, Tags.MAJORITY, Policy(0.2, 0.25, Update(2.0, 0.25)))


@pytest.fixture(scope="module")
def auto(nano_folder):
    return AutoTokenizer.from_pretrained(str(nano_folder))


def round_trip(auto, text):
    return auto.decode(auto(text)["input_ids"], skip_special_tokens=True)


@pytest.mark.parametrize("kind", AnswerKind)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("form", IdeaForm)
def test_every_template_comes_back(auto, prompts, kind, line, form):
    ideas = [
        Idea(right_solution(p.chain), tag).attempt
        for p, tag in zip(questions("dev", "l3", 3), (0, 1, None), strict=True)
    ]
    question = Question("q", 'What is "é" + 2½?\n\n  Two  spaces, a\ttab — and 12.5%.', kind)
    for tags in (True, False):
        book = Book(line, tags, tags, form)
        for prompt in (book.plain(question), book.solve(question, ()), book.solve(question, tuple(ideas))):
            assert round_trip(auto, prompt.raw) == prompt.raw
        summary = book.summary(question, ideas[0].candidate.completion.text)
        assert round_trip(auto, summary.raw) == summary.raw
    assert (
        round_trip(auto, prompts.judge(question, "boxed{3}").raw) == prompts.judge(question, "boxed{3}").raw
    )


@pytest.mark.parametrize("level", [*LEVELS, *HELDOUT_SETS])
def test_every_question_comes_back_and_is_short(auto, prompts, level):
    for problem in questions("test", level, 40):
        raw = prompts.tagged.plain(as_question(problem)).raw
        assert round_trip(auto, raw) == raw
        assert len(auto(raw)["input_ids"]) < 250


def test_every_example_comes_back(auto, prompts):
    rng = Random(0)
    for _ in range(100):
        example = draw_example(rng, draw_source(rng, RULES, AssumedMistakes()), EVEN, prompts)
        assert round_trip(auto, example.prompt) == example.prompt
        assert round_trip(auto, example.completion) == example.completion


def test_digits_are_single_and_fixed_text_is_short(auto, prompts):
    assert len(auto) <= 2048
    assert not [t for t in auto.get_vocab() if any(c.isdigit() for c in t) and 1 < len(t) < 20]
    system = prompts.tagged.system(Question("q", "", AnswerKind.NUMBER))
    assert len(auto(system)["input_ids"]) < 10
    assert auto("boxed{12}")["input_ids"] == [
        auto.convert_tokens_to_ids(t) for t in ("boxed{", "1", "2", "}")
    ]


def test_the_bare_tokenizer_agrees(auto, tokenizer, prompts):
    raw = prompts.tagged.plain(as_question(questions("dev", "l2", 1)[0])).raw
    assert tokenizer.encode(raw, add_special_tokens=False).ids == auto(raw)["input_ids"]
    assert tokenizer.token_to_id(auto.eos_token) == auto.eos_token_id
