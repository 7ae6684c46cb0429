"""MCTSr: Monte-Carlo tree self-refine (Zhang et al. 2024), without gold."""

from dataclasses import replace
from typing import Protocol

from pydantic import NonNegativeInt, PositiveInt

from icpo.methods.independent import Answering, Independent
from icpo.methods.judging import Judge, read_verdicts, sample_verdicts, verdict_request
from icpo.methods.mctsr_tree import AnswerTree
from icpo.seeding import derive_seed
from icpo.types import (
    Budget,
    Candidate,
    Computation,
    Prompt,
    PromptBook,
    Purpose,
    Question,
    Step,
    Toolkit,
    validated,
)


class RefinePrompts(Protocol):
    """How an answer is criticised and refined (icpo/prompts/mctsr.py)."""

    def critique(self, book: PromptBook, question: Question, solution: str) -> Prompt:
        """Asks what is wrong with a solution."""

    def refine(
        self, book: PromptBook, question: Question, solution: Candidate, critique: str, quality: float
    ) -> Prompt:
        """Request a better solution; `quality` is from -100 to 100."""


@validated
class Mctsr(Independent):
    """Answers that each come from a tree of refinements.

    Each of `num_finals` has a tree of its own, grown by `num_rollouts`. An answer's reward is sampled
    `num_rewards` times when it is written and again each time it is selected. The tree's answer is the one of
    highest Q.
    """

    name: str
    label: str
    num_rollouts: NonNegativeInt
    num_rewards: PositiveInt
    budget: Budget
    refining: RefinePrompts
    judge: Judge

    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One tree an answer."""
        tree = AnswerTree()
        plain = tools.prompts.plain(question)
        [first] = yield [tools.ask(Purpose.CANDIDATE, plain, 1, derive_seed(scope, "first"))]
        tree.add(tools.candidates(first, question.kind)[0], None)
        yield from self._value(question, tree, 0, tools, derive_seed(scope, "value"))
        critiques: list[Candidate] = []
        for rollout in range(self.num_rollouts):
            chosen = tree.select()
            critique = yield from self._refine(
                question, tree, chosen, tools, derive_seed(scope, "rollout", rollout)
            )
            critiques.append(critique)
        return _trace(tree, critiques), tree.nodes[tree.best()].candidate

    def _refine(
        self, question: Question, tree: AnswerTree, chosen: int, tools: Toolkit, scope: int
    ) -> Computation[Candidate]:
        """One rollout: rewards the chosen answer again, refines it, rewards what comes out; its critique."""
        node = tree.nodes[chosen]
        solution = tools.visible(node.candidate.completion.text)
        critique_prompt = self.refining.critique(tools.prompts, question, solution)
        verdicts, [critique] = yield [
            verdict_request(
                question, solution, self.judge, tools, self.num_rewards, derive_seed(scope, "again")
            ),
            tools.ask(Purpose.CRITIQUE, critique_prompt, 1, derive_seed(scope, "critique")),
        ]
        tree.reward(chosen, read_verdicts(self.judge, verdicts, tools))
        said = tools.visible(critique.text).strip()
        shown = replace(node.candidate, completion=replace(node.candidate.completion, text=solution))
        prompt = self.refining.refine(tools.prompts, question, shown, said, node.own_quality)
        [refined] = yield [tools.ask(Purpose.REFINE, prompt, 1, derive_seed(scope, "refine"))]
        place = tree.add(tools.candidates(refined, question.kind)[0], chosen)
        yield from self._value(question, tree, place, tools, derive_seed(scope, "value"))
        return Candidate(critique, None)

    def _value(
        self, question: Question, tree: AnswerTree, place: int, tools: Toolkit, scope: int
    ) -> Computation[None]:
        solution = tools.visible(tree.nodes[place].candidate.completion.text)
        [verdicts] = yield from sample_verdicts(
            question, [solution], self.judge, tools, self.num_rewards, scope
        )
        tree.reward(place, verdicts)


def _trace(tree: AnswerTree, critiques: list[Candidate]) -> list[Step]:
    """The first answer, then each rollout's critique and refinement; node j is at place 2j."""
    first, *refined = tree.nodes
    trace = [Step("answer", (first.candidate,), first.own_quality, verdicts=tuple(first.verdicts))]
    for critique, node in zip(critiques, refined, strict=True):
        trace.append(Step("critique", (critique,), None, 2 * (node.parent or 0)))
        verdicts = tuple(node.verdicts)
        trace.append(Step("refine", (node.candidate,), node.own_quality, len(trace) - 1, verdicts))
    return trace
