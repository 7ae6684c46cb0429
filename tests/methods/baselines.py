"""The baselines with small settings, and engines that never say anything useful."""

from collections.abc import Callable

from icpo.methods.best_of_n import BestOfN
from icpo.methods.mctsr import Mctsr
from icpo.methods.self_consistency import SelfConsistency
from icpo.methods.tot import TreeOfThoughts
from icpo.methods.tot_evaluation import ContinuationVote, SelfEvaluation
from icpo.prompts.mctsr import Refining
from icpo.prompts.tot import Thoughts
from icpo.prompts.verdicts import Verdict
from icpo.types import FinishReason
from tests.methods.hand import TOO_LONG, budgeted, said


def self_consistency(**changes):
    settings = {"name": "self_consistency", "label": "sc", "num_samples": 3, "num_finals": 2}
    return SelfConsistency(**budgeted(settings | changes))


def best_of_n(**changes):
    settings = {"name": "best_of_n", "label": "bon", "num_samples": 3, "num_verdicts": 2, "num_finals": 1}
    return BestOfN(**budgeted(settings | {"judge": Verdict("yes_no", 16)} | changes))


def tot(**changes):
    settings = {
        "name": "tot",
        "label": "tot",
        "depth": 2,
        "num_thoughts": 3,
        "num_kept": 2,
        "max_thought_tokens": 20,
        "separator": "\n",
        "num_finals": 1,
        "thoughts": Thoughts("continuation"),
        "evaluation": SelfEvaluation(Verdict("prospects", 16), 1),
    }
    return TreeOfThoughts(**budgeted(settings | changes))


def mctsr(**changes):
    settings = {
        "name": "mctsr",
        "label": "mctsr",
        "num_rollouts": 2,
        "num_rewards": 2,
        "num_finals": 1,
        "refining": Refining("asked"),
        "judge": Verdict("score", 64),
    }
    return Mctsr(**budgeted(settings | changes))


BASELINES = {
    "self_consistency": self_consistency(),
    "best_of_n": best_of_n(num_finals=2),
    "tot_self_eval": tot(num_finals=2),
    "tot_self_eval_instructed": tot(thoughts=Thoughts("instructed"), depth=3),
    "tot_majority": tot(evaluation=ContinuationVote(2), num_finals=2),
    "mctsr": mctsr(num_finals=2),
    "mctsr_ideas": mctsr(refining=Refining("ideas"), judge=Verdict("yes_no", 4), num_rollouts=5),
}


def constant(completion) -> Callable:
    return lambda request: [completion] * request.num_samples


USELESS = {
    "nonsense": constant(said("colourless green ideas {{{ boxed")),
    "empty": constant(said("")),
    "blank": constant(said("\n\n")),
    "truncated": constant(said("and so on and", FinishReason.LENGTH)),
    "too_long": constant(TOO_LONG),
    "filtered": constant(said("", FinishReason.CONTENT_FILTER)),
}
