"""Which teachers the paper's LSA can play, checked on random H of every kind. Paper, Theorem 2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.claims import Claim
from icpo.theory.realisability import Metric, candidate_lsa, is_realisable, query_bias, sample_metric
from icpo.theory.rollout import policy_gaps
from icpo.theory.teacher import Teacher

EXACT_GAP = 1e-11


@dataclass(slots=True)
class Kind:
    """What the candidate weights did for one kind of H, by H."""

    predicted: list[bool] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)


def check_metrics(
    penalty: float, step_size: float, gamma: float, num_arms: Sequence[int], num_metrics: int, seed: int
) -> dict[str, Kind]:
    """The candidate weights' policy gap and query bias for `num_metrics` H of each kind and size."""
    generator = seeded(seed, "cpu")
    kinds = {name: Kind() for name in get_args(Metric)}
    for K in num_arms:
        test = sample_draws(Bandit(K, 1.0, 0.5), 4, 10, generator)
        for name, kind in kinds.items():
            for _ in range(num_metrics):
                H = sample_metric(name, K, generator)
                lsa = candidate_lsa(H, penalty, step_size, gamma, attends_query=True)
                teacher = Teacher.of(H, penalty, step_size, gamma)
                kind.predicted.append(is_realisable(H, penalty))
                kind.gaps.append(policy_gaps(lsa, teacher, test).max().item())
                kind.biases.append(query_bias(lsa))
    return kinds


def realisability_claims(kinds: Mapping[str, Kind], num_arms: Sequence[int]) -> list[Claim]:
    """The paper's statement for every H, and the exact condition."""
    generic = kinds["generic"]
    special = [kind for name, kind in kinds.items() if name != "generic"]
    played = [gap <= EXACT_GAP for kind in special for gap in kind.gaps]
    off = [bias > 1e-6 for bias in generic.biases]
    worst = max(gap for kind in special for gap in kind.gaps)
    arms = ", ".join(map(str, num_arms))
    return [
        Claim(
            "Theorem 2, any H",
            "the paper's LSA realises the teacher of every positive definite H",
            not any(off),
            f"for {sum(off)} of {len(off)} random H, K in {{{arms}}}, the weights that the other equations "
            f"leave (unique up to scale) add a bias of at least {min(generic.biases):.1e} to the logits",
        ),
        Claim(
            "ours",
            "it does if and only if lambda = 0, or H1 is parallel to 1 or to one e_i",
            all(played)
            and all(off)
            and all(p for k in special for p in k.predicted)
            and not any(generic.predicted),
            f"explicit weights play {sum(played)} of {len(played)} such teachers, largest gap {worst:.1e}; "
            f"none of {len(off)} others is realised",
        ),
    ]


def as_json(kinds: Mapping[str, Kind]) -> dict[str, dict[str, float]]:
    """How many H of each kind, and the extremes over them, for metrics.json."""
    return {
        name: {
            "metrics": len(kind.gaps),
            "largest_gap": max(kind.gaps),
            "smallest_gap": min(kind.gaps),
            "smallest_bias": min(kind.biases),
            "largest_bias": max(kind.biases),
        }
        for name, kind in kinds.items()
    }
