"""Samples a question without attempts, then under each condition."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import NonNegativeInt

from icpo.lab.probe.conditions import (
    BASE,
    FOREIGN,
    FREQUENT,
    FURTHER,
    MAIN,
    PLAIN,
    RARE,
    RIGHT,
    UNSEEN,
    Condition,
)
from icpo.methods.sampling import sample_summaries
from icpo.seeding import derive_seed
from icpo.types import (
    Attempt,
    Budget,
    Candidate,
    Completion,
    Computation,
    FinishReason,
    Prompt,
    Purpose,
    Question,
    QuestionResult,
    RewardSource,
    SampleRequest,
    Solving,
    Step,
    Toolkit,
    Votes,
    validated,
)

NUM_SCORED = 6


@validated
class TaggedAttempts:
    """Two halves of base samples, then each condition.

    One half chooses attempts, the other estimates. `budget.num_samples` are sampled in each half and under
    each condition; the conditions beyond the main ones are for the first `num_further` questions. With
    `score` the answers seen are scored under each prompt, after the words `score_after`. `reward` says which
    attempts are right, and must be the oracle.
    """

    name: str
    label: str
    budget: Budget
    num_further: NonNegativeInt
    score: bool
    score_after: str
    reward: RewardSource
    partners: tuple[tuple[str, Question], ...] = ()
    further: frozenset[str] = frozenset()

    def among(self, questions: Sequence[Question]) -> "TaggedAttempts":
        """The same method; each question's foreign attempt is the next one's."""
        following = [*questions[1:], *questions[:1]]
        partners = tuple((q.question_id, p) for q, p in zip(questions, following, strict=True))
        further = frozenset(q.question_id for q in questions[: self.num_further])
        return replace(self, partners=partners, further=further)

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Steps of the trace: base A and B, conditions, scores."""
        base = tools.prompts.solve(question, ())
        half_a, half_b = yield from self._halves(question, tools, seed)
        chosen = self._choose(question, tools, half_a, half_b, seed)
        is_further = question.question_id in self.further
        if is_further:
            chosen |= yield from self._foreign(question, tools, seed)
        else:
            chosen = {kind: chosen[kind] for kind in (RIGHT, FREQUENT) if kind in chosen}
        worked = [kind for kind in chosen if kind != UNSEEN]
        summaries = yield from sample_summaries(question, [chosen[kind] for kind in worked], tools)
        notes = dict(zip(worked, summaries, strict=True))
        attempts = {kind: Attempt(c, None, notes.get(kind, "")) for kind, c in chosen.items()}
        prompts = {
            condition.name: condition.prompt(question, attempts, tools.prompts)
            for condition in self._conditions(is_further)
            if all(kind in attempts for kind in condition.kinds)
        }
        if is_further:
            prompts[PLAIN] = tools.prompts.plain(question)
        sampled = yield from self._sample(question, tools, prompts, seed)
        scores: tuple[Step, ...] = ()
        if self.score:
            answers = _to_score(tools.votes((*half_a, *half_b), question.kind), chosen)
            scores = yield from self._score(tools, {BASE: base, **prompts}, answers)
        shown = tuple(Step(f"shown {kind}", (candidate,)) for kind, candidate in chosen.items())
        trace = (Step(f"{BASE} A", half_a), Step(f"{BASE} B", half_b), *shown, *sampled, *scores)
        return QuestionResult(question, seed, trace, ((0, half_b),), dropped_at_finals=(0,))

    def _conditions(self, is_further: bool) -> tuple[Condition, ...]:
        return (*MAIN, *FURTHER) if is_further else MAIN

    def _halves(
        self, question: Question, tools: Toolkit, seed: int
    ) -> Computation[tuple[tuple[Candidate, ...], tuple[Candidate, ...]]]:
        """Samples of the prompt without attempts that ME-ICPO's first round has, twice."""
        scope = derive_seed(seed, question.question_id)
        prompt = tools.prompts.solve(question, ())
        first, second = yield [
            tools.ask(Purpose.CANDIDATE, prompt, self.budget.num_samples, derive_seed(scope, "half", half))
            for half in range(2)
        ]
        return tools.candidates(first, question.kind), tools.candidates(second, question.kind)

    def _choose(
        self,
        question: Question,
        tools: Toolkit,
        half_a: Sequence[Candidate],
        half_b: Sequence[Candidate],
        seed: int,
    ) -> dict[str, Candidate]:
        """An attempt of each kind, from half A alone; `unseen` is a whole number that neither half has."""
        votes = tools.votes(half_a, question.kind)
        tags = self.reward.rewards(question, half_a, votes, seed=seed).tags
        first = {label: i for i, label in reversed(list(enumerate(votes.labels))) if label is not None}
        wrong = [first[label] for label, _ in votes.counts if tags[first[label]] == 0]
        found = {RIGHT: tags.index(1)} if 1 in tags else {}
        found |= {FREQUENT: wrong[0]} if wrong else {}
        found |= {RARE: wrong[-1]} if len(wrong) > 1 else {}
        chosen = {kind: half_a[i] for kind, i in found.items()}
        seen = {candidate.answer for candidate in (*half_a, *half_b)}
        for number in range(2, 1000):
            made_up = Candidate(Completion("", 0, 0, FinishReason.STOP), str(number))
            if str(number) not in seen and self._is_wrong(question, made_up, votes, seed):
                return {**chosen, UNSEEN: made_up}
        return chosen

    def _is_wrong(self, question: Question, candidate: Candidate, votes: Votes, seed: int) -> bool:
        return self.reward.rewards(question, [candidate], votes, seed=seed).tags == (0,)

    def _foreign(self, question: Question, tools: Toolkit, seed: int) -> Computation[dict[str, Candidate]]:
        """The partner's first attempt with an answer, from the samples that the partner's own probe has."""
        partner = dict(self.partners)[question.question_id]
        half, _ = yield from self._halves(partner, tools, seed)
        answered = [candidate for candidate in half if candidate.answer is not None]
        return {FOREIGN: answered[0]} if answered else {}

    def _sample(
        self, question: Question, tools: Toolkit, prompts: Mapping[str, Prompt], seed: int
    ) -> Computation[tuple[Step, ...]]:
        scope = derive_seed(seed, question.question_id)
        sampled = yield [
            tools.ask(Purpose.CANDIDATE, prompt, self.budget.num_samples, derive_seed(scope, name))
            for name, prompt in prompts.items()
        ]
        return tuple(
            Step(name, tools.candidates(completions, question.kind))
            for name, completions in zip(prompts, sampled, strict=True)
        )

    def _score(
        self, tools: Toolkit, prompts: Mapping[str, Prompt], answers: Sequence[str]
    ) -> Computation[tuple[Step, ...]]:
        """The log-probability of each answer, in nats, as the verdicts of a step."""
        if not answers:
            return ()
        sampling, texts = tools.sampling[Purpose.VALUE], tuple(f"{answer}}}" for answer in answers)
        sampled = yield [
            SampleRequest(Purpose.VALUE, prompt, sampling, len(texts), 0, texts, self.score_after)
            for prompt in prompts.values()
        ]
        return tuple(
            Step(
                f"scores {name}",
                tuple(Candidate(c, answer) for c, answer in zip(completions, answers, strict=True)),
                verdicts=tuple(completion.log_probability for completion in completions),
            )
            for name, completions in zip(prompts, sampled, strict=True)
        )


def _to_score(votes: Votes, chosen: Mapping[str, Candidate]) -> tuple[str, ...]:
    """The answers shown, then the most frequent others: at most `NUM_SCORED`."""
    shown = [c.answer for kind, c in chosen.items() if kind != FOREIGN and c.answer is not None]
    return tuple(dict.fromkeys([*shown, *(answer for answer, _ in votes.counts)]))[:NUM_SCORED]
