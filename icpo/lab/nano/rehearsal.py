"""A rehearsal of ME-ICPO on the development split in large batches: a check of training, not a result.

The real runs go through icpo.methods and an engine; this one only tells, within seconds, whether rounds help.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from icpo.benchmarks.arithmetic import Problem, questions
from icpo.lab.nano.exam import NUM_SAMPLES, answers_after, majority_score, share_right, votes_of
from icpo.lab.nano.examples import PromptSet, as_question
from icpo.lab.nano.sampling import Sampler
from icpo.lab.nano.workings import read_answer
from icpo.seeding import derive_seed
from icpo.types import Attempt, Candidate, Completion, FinishReason, History, Lookahead


def rehearse(
    sampler: Sampler,
    prompts: PromptSet,
    levels: Sequence[str],
    num_questions: int,
    *,
    num_rounds: int,
    num_candidates: int,
    num_lookaheads: int,
    seed: int,
) -> dict[str, float]:
    """By level: Mean@16 after all rounds (`mean`), and direct's Mean@16 and Maj@16 (`direct`, `majority`)."""
    scores: dict[str, float] = {}
    for level in levels:
        problems = questions("dev", level, num_questions)
        histories: list[History] = [() for _ in problems]
        scope = derive_seed(seed, level, "direct")
        finals = answers_after(sampler, prompts, problems, histories, NUM_SAMPLES, scope)
        scores[f"rehearsal/{level}/direct"] = share_right(problems, finals)
        scores[f"rehearsal/{level}/majority"] = majority_score(problems, finals)
        for t in range(num_rounds):
            scope = derive_seed(seed, level, t)
            histories = _round(sampler, prompts, problems, histories, num_candidates, num_lookaheads, scope)
        scope = derive_seed(seed, level, "final")
        finals = answers_after(sampler, prompts, problems, histories, NUM_SAMPLES, scope)
        scores[f"rehearsal/{level}/mean"] = share_right(problems, finals)
    return scores


def _round(
    sampler: Sampler,
    prompts: PromptSet,
    problems: Sequence[Problem],
    histories: Sequence[History],
    num_candidates: int,
    num_lookaheads: int,
    seed: int,
) -> list[History]:
    asked = [prompts.tagged.solve(as_question(p), h).raw for p, h in zip(problems, histories, strict=True)]
    texts = sampler.sample(asked, num_candidates, seed=derive_seed(seed, "candidates"))
    rng = Random(derive_seed(seed, "ties"))
    attempts = [_attempts(row, rng) for row in texts]
    flat = [(i, a) for i, row in enumerate(attempts) for a in row]
    summaries = replace(sampler, temperature=0.0).sample(
        [prompts.tagged.summary(as_question(problems[i]), a.candidate.completion.text).raw for i, a in flat],
        1,
        seed=0,
    )
    told = [(i, replace(a, summary=s)) for (i, a), [s] in zip(flat, summaries, strict=True)]
    looks = answers_after(
        sampler,
        prompts,
        [problems[i] for i, _ in told],
        [(*histories[i], a) for i, a in told],
        num_lookaheads,
        derive_seed(seed, "lookaheads"),
    )
    best: dict[int, tuple[float, Attempt]] = {}
    for (i, attempt), answers in zip(told, looks, strict=True):
        entropy = Lookahead(0, votes_of(answers)).entropy_bits
        if i not in best or entropy < best[i][0]:
            best[i] = (entropy, attempt)
    return [(*h, best[i][1]) if i in best else h for i, h in enumerate(histories)]


def _attempts(texts: Sequence[str], rng: Random) -> list[Attempt]:
    answers = [read_answer(t) for t in texts]
    winners = votes_of(answers).winners
    winner = rng.choice(winners) if winners else None
    return [
        Attempt(Candidate(Completion(t, 0, 0, FinishReason.STOP), a), int(a == winner), "")
        for t, a in zip(texts, answers, strict=True)
        if a is not None
    ]
