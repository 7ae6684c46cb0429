"""Conditions of the probe: attempts by kind and tag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from icpo.prompts import paper
from icpo.types import Attempt, History, Prompt, PromptBook, Question

MARK = "mark"  # a tag without a meaning
MARKED_IDEAS = "ideas (mark 7):"
BASE = "base"
PLAIN = "plain"
TAGS = {"1": 1, "0": 0, "none": None, MARK: None}


@dataclass(frozen=True, slots=True)
class Condition:
    """Attempts in a prompt, by kinds, with working or bare, one tag."""

    kinds: tuple[str, ...]
    with_working: bool
    tag: str

    @property
    def name(self) -> str:
        """For example `right/working/1` or `right+frequent_wrong/working/1`."""
        return f"{'+'.join(self.kinds)}/{'working' if self.with_working else 'bare'}/{self.tag}"

    def prompt(self, question: Question, attempts: Mapping[str, Attempt], book: PromptBook) -> Prompt:
        """The prompt of a method's candidates with these attempts for its history."""
        history: History = tuple(self._tagged(attempts[kind]) for kind in self.kinds)
        prompt = book.solve(question, history)
        if self.tag != MARK:
            return prompt
        return Prompt(prompt.system, prompt.user.replace(paper.UNTAGGED_IDEAS, MARKED_IDEAS))

    def _tagged(self, attempt: Attempt) -> Attempt:
        summary = attempt.summary if self.with_working else ""
        return replace(attempt, reward=TAGS[self.tag], summary=summary)


def _all(kinds: Sequence[tuple[str, ...]], with_working: bool, tags: Sequence[str]) -> tuple[Condition, ...]:
    return tuple(Condition(shown, with_working, tag) for shown in kinds for tag in tags)


RIGHT, FREQUENT, RARE, UNSEEN, FOREIGN = "right", "frequent_wrong", "rare_wrong", "unseen", "foreign"
MAIN = _all([(RIGHT,), (FREQUENT,)], True, ["1", "0", "none"])
FURTHER = (
    *_all([(RIGHT,), (FREQUENT,)], False, ["1", "0", "none"]),
    *_all([(RIGHT,), (FREQUENT,)], True, [MARK]),
    *_all([(RARE,), (FOREIGN,)], True, ["1", "0"]),
    *_all([(UNSEEN,)], False, ["1", "0"]),
    *_all([(RIGHT, FREQUENT), (FREQUENT, RIGHT), (RIGHT,) * 3, (FREQUENT,) * 3], True, ["1"]),
    *_all([(FREQUENT,) * 3], True, ["0"]),
)
