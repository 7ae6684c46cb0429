"""From question and history to a prompt, by the paper's example."""

from collections.abc import Mapping
from enum import Enum

from icpo.prompts import paper
from icpo.prompts.options import FOUR, letters
from icpo.types import AnswerKind, Attempt, Completion, FinishReason, History, Prompt, Question, validated


class IdeaForm(str, Enum):
    """How much of an attempt a prompt shows; `full` is the paper's."""

    FULL = "full"
    ANSWER_ONLY = "answer_only"
    NO_ANSWER = "no_answer"


@validated
class Book:
    """The prompts of a protocol.

    `answer_line` is appended to each idea, with {answer} filled in; `answer_as_float` writes whole numbers as
    the authors' code does (204.0). `reward_tags` splits ideas by reward and has the system prompt say so;
    `empty_headings` writes both headings even over empty lists and joins all by single newlines, as the
    authors' code does. `idea_form` drops a part of each idea.

    Beyond the paper: `forced_answer` ends the prompt of a look-ahead with the answer's opening words, up to
    its `boxed{`; `worked_example` is a question with its solution that comes before every question, for
    models that follow an example and not an instruction, and the prompt then ends in "Answer:".
    """

    answer_line: str
    answer_as_float: bool
    reward_tags: bool
    idea_form: IdeaForm
    empty_headings: bool = False
    forced_answer: str | None = None  # runs stored before it existed were sampled without
    worked_example: str | None = None

    def __post_init__(self) -> None:
        if "{answer}" not in self.answer_line:
            raise ValueError(f"answer_line must contain {{answer}}, got {self.answer_line!r}")

    def plain(self, question: Question) -> Prompt:
        """Question and output format, without ideas."""
        system = f"{paper.OPENING}\n\n{_lettered(paper.FORMAT, question)}"
        return Prompt(system, self._user([question.text]))

    def solve(self, question: Question, history: History) -> Prompt:
        """The question with the history's ideas: bad ones, then good ones."""
        parts = [question.text]
        if self.reward_tags:
            parts += self._ideas(paper.BAD_IDEAS, [a for a in history if a.reward == 0], self.empty_headings)
            parts += self._ideas(paper.GOOD_IDEAS, [a for a in history if a.reward == 1], self.empty_headings)
            parts += self._ideas(paper.UNTAGGED_IDEAS, [a for a in history if a.reward is None])
        else:
            parts += self._ideas(paper.UNTAGGED_IDEAS, list(history))
        return Prompt(self.system(question), self._user(parts))

    def look_ahead(self, question: Question, history: History) -> Prompt:
        """The prompt of a look-ahead, with a forced answer's opening words."""
        prompt = self.solve(question, history)
        if self.forced_answer is None:
            return prompt
        return Prompt(prompt.system, prompt.user + self.forced_answer)

    def looked_ahead(self, completion: Completion) -> str:
        """A look-ahead's text; a forced answer gets its box.

        A completion cut by its limit leaves the box open, so half an answer is none.
        """
        if self.forced_answer is None:
            return completion.text
        closing = "}" if completion.finish_reason is FinishReason.STOP else ""
        return f"{self.forced_answer}{completion.text}{closing}"

    def system(self, question: Question) -> str:
        """The system prompt that promises ideas."""
        ideas = paper.IDEAS[question.kind]
        if not self.reward_tags:
            ideas = ideas.replace(paper.TAG_CLAUSE, "")
        return f"{paper.OPENING}\n\n{ideas}\n\n{_lettered(paper.FORMAT, question)}"

    def summary(self, question: Question, text: str) -> Prompt:
        """A prompt for a summary of a candidate's text alone."""
        return Prompt("", _lettered(paper.SUMMARY, question).replace("{text}", text.strip()))

    def idea(self, attempt: Attempt) -> str:
        """One attempt in a list of ideas: summary, answer, or both."""
        if attempt.candidate.answer is None:
            return attempt.summary
        answer_line = self.answer_line.replace("{answer}", self._answer(attempt.candidate.answer))
        if self.idea_form is IdeaForm.NO_ANSWER:
            return attempt.summary
        if self.idea_form is IdeaForm.ANSWER_ONLY or not attempt.summary:
            return answer_line
        return f"{attempt.summary}\n\n{answer_line}"

    def _user(self, parts: list[str]) -> str:
        """The question and its ideas; with a worked example, in the example's form."""
        text = ("\n" if self.empty_headings else "\n\n").join(parts)
        if self.worked_example is None:
            return f"{text}\n"
        return f"{self.worked_example.strip()}\n\nQuestion: {text}\n\nAnswer:"

    def _ideas(self, title: str, attempts: list[Attempt], even_if_empty: bool = False) -> list[str]:
        if not attempts and not even_if_empty:
            return []
        return [title, *(f"[{i}]- {self.idea(a)}" for i, a in enumerate(attempts))]

    def _answer(self, answer: str) -> str:
        if self.answer_as_float and answer.lstrip("-").isdecimal():
            return f"{answer}.0"
        return answer


def _lettered(templates: Mapping[AnswerKind, str], question: Question) -> str:
    """The template for a question's kind; of a choice, with the letters of its own options."""
    template = templates[question.kind]
    if question.kind is not AnswerKind.CHOICE:
        return template
    return template.replace(", ".join(FOUR), ", ".join(letters(question.text)))
