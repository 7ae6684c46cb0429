"""Tree of Thoughts: breadth-first search over steps (Yao et al. 2023)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field, PositiveInt

from icpo.methods.independent import Answering, Independent
from icpo.methods.judging import shortened
from icpo.methods.tot_evaluation import Evaluation, State, ThoughtPrompts, continued
from icpo.seeding import derive_seed
from icpo.types import (
    Budget,
    Candidate,
    Completion,
    Computation,
    FinishReason,
    Purpose,
    Question,
    Step,
    Toolkit,
    validated,
)


@validated
class TreeOfThoughts(Independent):
    """Each of `num_finals` answers comes from a tree of its own.

    At each of `depth` levels `num_thoughts` next steps are sampled for each state kept; the `num_kept` best
    of the new states and the leaves survive. A thought ends at `separator` or after `max_thought_tokens`.
    What is unfinished after the last level is written to its end; the best leaf that has an answer is the
    tree's.
    """

    name: str
    label: str
    depth: PositiveInt
    num_thoughts: PositiveInt
    num_kept: PositiveInt
    max_thought_tokens: PositiveInt
    separator: Annotated[str, Field(min_length=1)]
    budget: Budget
    thoughts: ThoughtPrompts
    evaluation: Evaluation

    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One tree an answer."""
        trace: list[Step] = []
        kept = [State("")]
        for level in range(self.depth):
            if all(state.is_leaf for state in kept):
                break
            grown = yield from self._grow(question, kept, tools, derive_seed(scope, level))
            leaves = [state for state in kept if state.is_leaf]
            kept = yield from self._keep(question, leaves + grown, tools, scope, trace)
        finished = yield from self._finish(question, kept, tools, scope)
        ranked = yield from self._keep(question, finished, tools, scope, trace)
        best = next((state for state in ranked if state.answer is not None), ranked[0])
        return trace, best.samples[0]

    def _grow(
        self, question: Question, kept: Sequence[State], tools: Toolkit, scope: int
    ) -> Computation[list[State]]:
        """The different states one thought further; blank thoughts lead to one only if all are blank."""
        parents = [state for state in kept if not state.is_leaf]
        sampled = yield [
            shortened(
                tools.ask(
                    Purpose.THOUGHT,
                    self.thoughts.next_step(tools.prompts, question, state.text),
                    self.num_thoughts,
                    derive_seed(scope, "thought", state.text),
                ),
                self.max_thought_tokens + tools.thinking_tokens,
                () if tools.reasoning_end else (self.separator,),  # reasoning has line breaks of its own
            )
            for state in parents
        ]
        grown: dict[str, State] = {}
        for parent, completions in zip(parents, sampled, strict=True):
            for completion in completions:
                child = self._child(question, parent, completion, tools)
                known = grown.get(child.text, replace(child, samples=()))
                grown[child.text] = replace(known, samples=known.samples + child.samples)
        parent_texts = {state.text for state in parents}
        return [s for s in grown.values() if s.text not in parent_texts] or list(grown.values())

    def _child(self, question: Question, parent: State, completion: Completion, tools: Toolkit) -> State:
        thought = tools.visible(completion.text)
        if tools.reasoning_end:
            thought, ended, _ = thought.lstrip().partition(self.separator)
            thought += ended
        if completion.finish_reason is not FinishReason.LENGTH:  # one cut short goes on where it stopped
            thought = thought.rstrip() + self.separator
        is_blank = not thought.strip()
        text = parent.text if is_blank else parent.text + thought
        is_finished = self.thoughts.is_finished(text)
        answer = tools.read(text, question.kind) if is_finished else None
        return State(text, (Candidate(completion, answer),), is_finished or is_blank, parent.step)

    def _keep(
        self, question: Question, states: Sequence[State], tools: Toolkit, scope: int, trace: list[Step]
    ) -> Computation[list[State]]:
        """The best states, best first, equals in order; new ones are noted in the trace with their value."""
        new = [i for i, state in enumerate(states) if state.replies is None]
        asked = yield from self.evaluation.ask(
            question, [states[i] for i in new], self.thoughts, tools, scope
        )
        heard = [state.replies or () for state in states]
        for i, replies in zip(new, asked, strict=True):
            heard[i] = replies
        values = self.evaluation.values(question, heard, tools)
        valued = []
        for i, (state, replies, value) in enumerate(zip(states, heard, values, strict=True)):
            step = state.step
            if i in new:
                step = len(trace)
                said = self.evaluation.verdicts(replies)
                trace.append(Step("thought", state.samples, value, state.parent, said))
            valued.append((value, replace(state, replies=replies, step=step)))
        valued.sort(key=lambda pair: pair[0], reverse=True)
        return [state for _, state in valued[: self.num_kept]]

    def _finish(
        self, question: Question, kept: Sequence[State], tools: Toolkit, scope: int
    ) -> Computation[list[State]]:
        """The same states, each written to its end where it was not."""
        unfinished = [state for state in kept if not self.thoughts.is_finished(state.text)]
        if not unfinished:
            return list(kept)
        sampled = yield [
            tools.ask(
                Purpose.FINAL,
                self.thoughts.rest(tools.prompts, question, state.text),
                1,
                derive_seed(scope, "rest", state.text),
            )
            for state in unfinished
        ]
        ends = {}
        for state, [completion] in zip(unfinished, sampled, strict=True):
            text = state.text + tools.visible(completion.text)
            last = continued(question, state.text, completion, tools)
            ends[state.text] = State(text, (last,), True, state.step)
        return [ends.get(state.text, state) for state in kept]
