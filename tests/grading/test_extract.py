"""What counts as the answer of a text."""

from dataclasses import replace

import pytest

from icpo.grading import Grader, GradingRules
from icpo.grading.extract import extract, reads_as_answer
from icpo.grading.turns import REASONING_TAGS
from icpo.types import AnswerKind

PAPER = GradingRules()
STRICT = replace(PAPER, accept_marked_answer=False, accept_bare_answer=False, accept_lowercase_choice=False)
NUMBER, CHOICE, EXPRESSION = AnswerKind.NUMBER, AnswerKind.CHOICE, AnswerKind.EXPRESSION


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{x = \boxed{5}}", "5"),
        (r"\box{7} but not \mbox{8}, \unboxed{9} or inboxed{3}", "7"),
        (r"\boxed{1} is the answer to the first part. Next, \boxed{2}", "2"),
        (r"$\boxed{0.5}$, or $\boxed{\frac12}$", "0.5"),
        (r"$x_1=\boxed{1}$, $x_2 = \boxed{2}$", "1, 2"),
        (r"\boxed{\text{a \} brace}}", r"\text{a \} brace}"),
        ("\\boxed{\n  12\n}", "12"),
        (r"\boxed{$5$}", "5"),
        (r"\boxed 5 apples", "5"),
        (r"\boxed{\langle 1, 2 \rangle}", r"\langle 1, 2 \rangle"),
        (r"\boxed{\langle \text{answer} \rangle}", None),
        (r"Put it in \boxed.", None),
        ("", None),
        ("</think>", None),
    ],
)
def test_boxes(text, answer):
    assert extract(text, EXPRESSION, STRICT) == answer


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        *((f"<{name}>", f"</{name}>") for name in (*REASONING_TAGS, "Thinking")),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ],
)
def test_reasoning_is_not_read_whatever_its_marks(opening, closing):
    for text, answer in (
        (rf"{opening}\boxed{{3}}{closing}It is \boxed{{4}}.", "4"),
        (rf"It is \boxed{{4}}.{opening}No, \boxed{{3}}{closing}", "4"),
        (rf"so \boxed{{3}}{closing}\boxed{{4}}", "4"),
        (rf"{opening}\boxed{{3}}{closing}", None),
        (rf"{opening}The answer is 3.", None),
        (rf"{opening}a{closing}\boxed{{4}}{opening}\boxed{{3}}", "4"),
        (rf"{opening}<think>\boxed{{2}}</think>\boxed{{3}}{closing}Answer: 4", "4"),
    ):
        assert extract(text, EXPRESSION, PAPER) == answer, text


@pytest.mark.parametrize(
    "mark",
    ["<|im_end|>\n<|im_start|>user\n", "<|eot_id|>", "<end_of_turn>\n<start_of_turn>user\n", "<|endoftext|>",
     "<|end|><|user|>", "</s>\n[INST]", "<|return|>",
     "<\uff5cend\u2581of\u2581sentence\uff5c><\uff5cUser\uff5c>"],
)  # fmt: skip
def test_further_turns_are_not_read(mark):
    for text in (r"\boxed{11}", "The answer is 11.", "11"):
        assert extract(rf"{text}{mark}\boxed{{4}} The answer is 4.", EXPRESSION, PAPER) == "11"
        assert extract(f"<|im_start|>assistant\n{text}{mark}", EXPRESSION, STRICT) == (
            "11" if "boxed" in text else None
        )
    assert extract(rf"<think>\boxed{{3}}{mark}\boxed{{4}}</think>", EXPRESSION, PAPER) is None


def test_struck_text_ends_no_turn():
    assert extract(r"<s>\boxed{4}</s> No, \boxed{11}", EXPRESSION, PAPER) == "11"


def test_other_tags_hold_no_reasoning():
    for name in ("answer", "thinker", "step", "rethink"):
        assert extract(rf"<{name}>\boxed{{4}}</{name}>", EXPRESSION, PAPER) == "4"


def test_an_older_box_is_not_credited_when_the_last_is_cut_off():
    assert extract(r"It is \boxed{3}. No, \boxed{\frac{1}{2", EXPRESSION, PAPER) is None
    assert extract(r"It is \boxed{A}. No, \boxed{\text{B", CHOICE, PAPER) is None


def test_without_a_box_the_rules_decide():
    for text in ("The answer is 5.", "5", "#### 5"):
        assert extract(text, EXPRESSION, PAPER) == "5"
        assert extract(text, EXPRESSION, STRICT) is None
    assert extract("The answer is 5.", EXPRESSION, replace(STRICT, accept_marked_answer=True)) == "5"
    assert extract("5", EXPRESSION, replace(STRICT, accept_bare_answer=True)) == "5"


def test_a_marked_answer_of_prose_is_an_abstention_and_not_the_text_before_it():
    assert extract("7\nThe answer is that we cannot know it.", EXPRESSION, PAPER) is None


@pytest.mark.parametrize(
    ("text", "is_answer"),
    [
        (r"\frac{3}{4}", True),
        ("east", True),
        ("no real solutions", True),
        ("5 square inches", True),
        ("We get 5", False),
        ("this many words make prose", False),
        ("5\n6", False),
        ("x" * 300, False),
        ("", False),
    ],
)
def test_what_reads_as_an_answer_by_itself(text, is_answer):
    assert reads_as_answer(text) is is_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"\boxed{204.0}", "204.0"),
        (r"\boxed{-3}", "-3"),
        (r"\boxed{\frac{1}{2}}", None),
        (r"\boxed{1,024}", None),
    ],
)
def test_plain_numbers_only_as_the_authors_code_reads_them(text, answer):
    authors = replace(PAPER, plain_number_only=True)
    assert extract(text, NUMBER, authors) == answer
    assert extract(r"\boxed{\frac{1}{2}}", EXPRESSION, authors) == r"\frac{1}{2}"


@pytest.mark.parametrize(
    ("text", "answer"), [(r"\boxed{0}", None), (r"\boxed{0.0}", None), (r"\boxed{10}", "10")]
)
def test_an_answer_of_zero_is_none_to_the_authors_code(text, answer):
    with Grader(replace(PAPER, zero_is_no_answer=True)) as grader:
        assert grader.extract(text, NUMBER) == answer
        assert grader.extract(r"\boxed{0}", EXPRESSION) == "0"
    with Grader(PAPER) as grader:
        assert grader.extract(r"\boxed{0}", NUMBER) == "0"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (r"\boxed{C}", "C"),
        ("boxed{c}", "C"),
        (r"\boxed{\text{(C)}}", "C"),
        (r"\boxed{C. Warm gas}", "C"),
        (r"\boxed{C} because $\boxed{E}=mc^2$. Answer: B", "E"),
        ("The correct option is (b)", "B"),
        ("Answer: d", "D"),
        ("Thus option C is correct.", "C"),
        ("Correct choice: C", "C"),
        (r"\boxed{C \text{ (the third)}}", "C"),
        (r"\boxed{A \text{ and } C}", None),
        (r"\boxed{CO_2}", None),
        ("The answer is a mystery.", None),
        ("The correct option is (B)", "B"),
        ("Answer: **D**", "D"),
        ("answer: D\nAnswer: A", "A"),
        ("The answer is A because it rains.", "A"),
        ("The answer is A long story.", None),
        (r"\boxed{42} so the answer is $\text{B}$", "B"),
        (r"\boxed{x^2}", None),
        (r"\boxed{A} is wrong, \boxed{17}", "A"),
        ("C", "C"),
        ("C) both of them", "C"),
        ("Cats", None),
        (r"\boxed{<letter>}", None),
        (r"\boxed{K}", None),
    ],
)
def test_choices(text, letter):
    assert extract(text, CHOICE, PAPER) == letter


def test_small_letters_are_a_named_leniency():
    strict = replace(PAPER, accept_lowercase_choice=False)
    for text in ("boxed{c}", "Answer: c", "The answer is (c)", "c"):
        assert extract(text, CHOICE, strict) is None
        assert extract(text, CHOICE, PAPER) == "C"


def test_placeholders_are_the_protocols():
    assert extract("boxed{N}", EXPRESSION, PAPER) == "N"
    assert extract("boxed{N}", EXPRESSION, replace(PAPER, placeholders=("n",))) is None


@pytest.mark.parametrize(
    ("repeated", "end", "answer"),
    [("boxed{", "", None), (r"\boxed{1} and ", "", "1"), ("{", r"\boxed{1}", "1"), ("answer is ", "", None)],
)
def test_long_hostile_texts_are_read_to_their_end(repeated, end, answer):
    """Such a text must not end a run; quadratic reading would show here as minutes."""
    for kind in AnswerKind:
        assert extract(repeated * 40_000 + end, kind, PAPER) == (None if kind is CHOICE else answer)
