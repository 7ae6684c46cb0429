"""ME-ICPO on the development split with the model in memory: whether rounds help, while nano is made."""

from collections.abc import Sequence

from icpo.benchmarks.arithmetic import questions
from icpo.lab.nano.exam import majority_score, share_right, votes_of
from icpo.lab.nano.examples import PromptSet, as_question
from icpo.lab.nano.sampling import Sampler, sampling_of
from icpo.lab.nano.solutions import read_answer
from icpo.methods import MeIcpo, drive
from icpo.methods.contracts import start
from icpo.rewards import Majority
from icpo.seeding import derive_seed
from icpo.selectors import Entropy
from icpo.types import Budget, Purpose, Toolkit


def evaluate(
    sampler: Sampler,
    prompts: PromptSet,
    levels: Sequence[str],
    num_questions: int,
    budget: Budget,
    seed: int,
) -> dict[str, float]:
    """By level: Mean@k after all rounds (`mean`), Mean@k and Maj@k before them (`direct`, `majority`)."""
    method = MeIcpo(
        Majority("majority", True), Entropy("entropy", False), budget, finals_after=(0, budget.num_rounds)
    )
    sampling = dict.fromkeys(Purpose, sampling_of(sampler.temperature, sampler.top_p, sampler.max_tokens))
    sampling[Purpose.SUMMARY] = sampling_of(0.0, 1.0, sampler.max_tokens)
    tools = Toolkit(
        prompts.tagged,
        sampling,
        lambda text, kind: read_answer(text),
        lambda answers, kind: votes_of(answers),
    )
    scores: dict[str, float] = {}
    for level in levels:
        problems = {p.problem_id: p for p in questions("dev", level, num_questions)}
        scope = derive_seed(seed, level)
        runs = [start(method, as_question(p), tools, seed=scope) for p in problems.values()]
        results = list(drive(runs, sampler.engine, max_in_flight=len(runs)))
        asked = [problems[result.question.question_id] for result in results]
        direct, final = ([[c.answer for c in result.finals[i][1]] for result in results] for i in (0, -1))
        scores[f"rehearsal/{level}/direct"] = share_right(asked, direct)
        scores[f"rehearsal/{level}/majority"] = majority_score(asked, direct)
        scores[f"rehearsal/{level}/mean"] = share_right(asked, final)
    return scores
