"""Which teachers the paper's LSA can play (Theorem 2).

And the weights that play them. The LSA, whose query column is also key and value, realises the teacher of H
and lambda at all histories if and only if lambda = 0, or H1 is parallel to 1 or to one e_i. docs/theory.md,
section 2, has the proof. It is checked on random H of every kind. Shapes: K arms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor

from icpo.lab.theory.claims import Claim
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.lsa import Lsa, feature_operator
from icpo.theory.policies import project
from icpo.theory.rollout import policy_gaps
from icpo.theory.teacher import Teacher

Metric = Literal["equal_rows", "one_row", "generic"]
EXACT_GAP = 1e-11


def has_equal_rows(H_KK: Tensor, tolerance: float = 1e-9) -> bool:
    """Whether H1 is parallel to 1, which is to say that H^-1 1 is."""
    h_K = H_KK.sum(-1)
    return bool(project(h_K).abs().amax() <= tolerance * h_K.abs().amax())


def lone_row(H_KK: Tensor, tolerance: float = 1e-9) -> int | None:
    """The arm i with H1 parallel to e_i, that is H^-1 e_i parallel to 1, or None."""
    h_K = H_KK.sum(-1).abs()
    return int(h_K.argmax()) if int((h_K > tolerance * h_K.amax()).sum()) == 1 else None


def is_realisable(H_KK: Tensor, penalty: float, tolerance: float = 1e-9) -> bool:
    """Whether the paper's LSA can play this teacher at all histories."""
    return penalty == 0 or has_equal_rows(H_KK, tolerance) or lone_row(H_KK, tolerance) is not None


def candidate_lsa(H_KK: Tensor, penalty: float, step_size: float, gamma: float, attends_query: bool) -> Lsa:
    """The candidate LSA: W11 = c H^-1, w12 = 0.

    W_KQ q is (-lambda 1, 1). For K >= 3 it is the only candidate, up to scale. Where H1 is parallel to e_i,
    Proj H^-1 e_i vanishes: entry i is free, and (K-1) lambda makes their sum 0.
    """
    K, i = len(H_KK), lone_row(H_KK)
    image_D = torch.full((K + 1,), -penalty, dtype=H_KK.dtype)
    image_D[K] = 1
    if attends_query and i is not None:
        image_D[i] = (K - 1) * penalty
    W_PV, W_KQ = torch.zeros(2, K + 1, K + 1, dtype=H_KK.dtype)
    W_PV[:K, :K] = step_size * torch.linalg.inv(H_KK)
    W_KQ[:, :K] = image_D[:, None] / K
    return Lsa(W_PV, W_KQ, gamma, attends_query)


def query_bias(lsa: Lsa) -> float:
    """Norm of the logits that the query as key and value adds at t = 1; 0 for a teacher's own LSA."""
    K = lsa.W_PV.shape[-1] - 1
    return float(feature_operator(lsa.W_PV, lsa.W_KQ, lsa.attends_query)[:, 2 * K].norm())


def sample_metric(kind: Metric, num_arms: int, generator: torch.Generator) -> Tensor:
    """A random positive definite H, (K, K): H1 parallel to 1, to one e_i, or to neither (almost surely)."""
    K = num_arms
    normal = torch.randn(K, K, generator=generator, dtype=torch.float64)
    spd = normal @ normal.T / K + 0.1 * torch.eye(K, dtype=torch.float64)
    if kind == "equal_rows":
        return project(project(spd).T) + 1 / K
    if kind == "one_row":  # H^-1 = 11' + Diag(0, G): its first column is 1.
        spd[0] = spd[:, 0] = 0
        inverse: Tensor = torch.linalg.inv(spd + 1)
        return inverse
    return spd


@dataclass(slots=True)
class Kind:
    """What the candidate weights did for one kind of H, by H."""

    predicted: list[bool] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)


def check_metrics(
    penalty: float, step_size: float, gamma: float, num_arms: Sequence[int], num_metrics: int, seed: int
) -> dict[str, Kind]:
    """Policy gap and query bias for H of each kind and size."""
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
    """Numbers of H by kind, and extremes, for metrics.json."""
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
