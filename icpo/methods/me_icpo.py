"""ME-ICPO: minimum-entropy in-context policy optimization (paper, Algorithm 1)."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from icpo.methods.contracts import rewarded, selected
from icpo.methods.sampling import look_ahead, sample_candidates, sample_finals, sample_summaries
from icpo.seeding import derive_seed
from icpo.types import (
    AskLookahead,
    Attempt,
    Budget,
    Candidate,
    Computation,
    History,
    Question,
    QuestionResult,
    RewardSource,
    Round,
    Selecting,
    Selection,
    Selector,
    Solving,
    Toolkit,
    validated,
)

PAPER_BUDGET = Budget()


@validated
class MeIcpo:
    """ME-ICPO, Algorithm 1: n rounds of k candidates and a selection.

    The attempts that the selector keeps enter the history. Finals are sampled after each number of rounds in
    `finals_after` (None: after the last only; 0 is the empty history), so that one run serves every smaller
    n. `answered_only` keeps candidates without an answer from being summarised and kept.

    Beyond the paper and off by default: `early_stop` ends the rounds once so large a share of a round's
    candidates agree. As the authors' code does: `kept_answered_only` drops a selected attempt without an
    answer, and `skip_single` keeps a round's only attempt without look-aheads.
    """

    reward: RewardSource
    selector: Selector
    budget: Budget = PAPER_BUDGET
    finals_after: tuple[int, ...] | None = None
    answered_only: bool = True
    early_stop: Annotated[float, Field(gt=0, le=1)] | None = None
    kept_answered_only: bool = False
    skip_single: bool = False
    name: str = "me_icpo"
    label: str = "me_icpo"

    def __post_init__(self) -> None:
        if self.selector.needs_lookaheads and self.num_lookaheads < 1:
            raise ValueError(
                f"selector={self.selector.name} compares look-aheads and needs "
                f"budget.num_lookaheads of at least 1, got {self.num_lookaheads}"
            )
        if not self.final_rounds or not all(0 <= n <= self.num_rounds for n in self.final_rounds):
            raise ValueError(
                f"finals_after must be in [0, num_rounds={self.num_rounds}], got {list(self.final_rounds)}"
            )

    @property
    def final_rounds(self) -> tuple[int, ...]:
        """The numbers of rounds after which final samples are requested."""
        return (self.num_rounds,) if self.finals_after is None else self.finals_after

    @property
    def num_rounds(self) -> int:
        """The rounds of its budget, n."""
        return self.budget.num_rounds

    @property
    def num_candidates(self) -> int:
        """The candidates of a round, k."""
        return self.budget.num_candidates

    @property
    def num_lookaheads(self) -> int:
        """The look-aheads of an attempt, m."""
        return self.budget.num_lookaheads

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Algorithm 1 for one question: yields requests, receives completions."""
        scope = derive_seed(seed, question.question_id)
        history: History = ()
        rounds: list[Round] = []
        ends: list[tuple[int, tuple[Candidate, ...], int]] = []
        for t in range(self.num_rounds + 1):
            if t in self.final_rounds:
                found, num_dropped = yield from sample_finals(
                    question, history, tools, self.budget.num_finals, scope, t
                )
                ends.append((t, found, num_dropped))
            if t < self.num_rounds and not self._has_settled(rounds):
                done = yield from self._round(question, history, tools, derive_seed(scope, t))
                history = (*history, *(done.attempts[i] for i in done.kept))  # line 7
                rounds.append(done)
        finals = tuple((t, found) for t, found, _ in ends)
        dropped = tuple(num_dropped for *_, num_dropped in ends)
        return QuestionResult(question, seed, tuple(rounds), finals, dropped_at_finals=dropped)

    def add_finals(self, result: QuestionResult, tools: Toolkit, *, num_more: int) -> Solving:
        """The same result with further final samples after the same rounds."""
        scope = derive_seed(result.seed, result.question.question_id)
        ends: list[tuple[int, tuple[Candidate, ...]]] = []
        for t, found in result.finals:
            history = tuple(done.attempts[i] for done in result.rounds[:t] for i in done.kept)
            added, _ = yield from sample_finals(
                result.question, history, tools, num_more, scope, t, num_before=len(found)
            )
            ends.append((t, (*found, *added)))
        return replace(result, finals=tuple(ends))

    def _round(self, question: Question, history: History, tools: Toolkit, scope: int) -> Computation[Round]:
        """Lines 3 to 6; only eligible candidates are summarised, looked ahead of and kept."""
        candidates, num_dropped = yield from sample_candidates(  # line 3
            question, history, tools, self.num_candidates, scope
        )
        votes = tools.votes(candidates, question.kind)  # line 4
        rewards = rewarded(self.reward, question, candidates, votes, seed=derive_seed(scope, "vote"))
        eligible = tuple(
            i for i, c in enumerate(candidates) if c.answer is not None or not self.answered_only
        )
        summaries = yield from sample_summaries(question, [candidates[i] for i in eligible], tools)  # line 5
        attempts = tuple(
            Attempt(candidates[i], rewards.tags[i], summary)
            for i, summary in zip(eligible, summaries, strict=True)
        )
        selection = yield from self._select(  # line 6
            attempts, look_ahead(question, history, attempts, tools, scope), derive_seed(scope, "select")
        )
        return Round(
            candidates, votes, rewards, eligible, attempts, selection.lookaheads, selection.kept, num_dropped
        )

    def _select(self, attempts: tuple[Attempt, ...], ask: AskLookahead, seed: int) -> Selecting:
        """Line 6, and what the authors' code does around it."""
        if self.skip_single and len(attempts) == 1:
            selection = Selection((0,))
        else:
            selection = yield from selected(
                self.selector, attempts, ask, num_lookaheads=self.num_lookaheads, seed=seed
            )
        if not self.kept_answered_only:
            return selection
        kept = tuple(i for i in selection.kept if attempts[i].candidate.answer is not None)
        return replace(selection, kept=kept)

    def _has_settled(self, rounds: list[Round]) -> bool:
        """Whether the last round's candidates agree so much that further rounds are spared."""
        if self.early_stop is None or not rounds:
            return False
        votes = rounds[-1].votes
        return bool(votes.counts) and votes.counts[0][1] >= self.early_stop * self.num_candidates
