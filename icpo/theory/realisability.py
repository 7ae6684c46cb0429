"""Which teachers the paper's LSA can play, and the weights that play them.

The LSA, whose query column is also key and value, realises the teacher of H and lambda at all histories if
and only if lambda = 0, or H1 is parallel to 1 or to one e_i. docs/theory.md, section 2, has the proof.
Shapes: K arms.
"""

from typing import Literal

import torch
from torch import Tensor

from icpo.theory.lsa import Lsa, feature_operator
from icpo.theory.policies import project

Metric = Literal["equal_rows", "one_row", "generic"]


def has_equal_rows(H_KK: Tensor, tolerance: float = 1e-9) -> bool:
    """Whether H1 is parallel to 1, which is to say that H^-1 1 is."""
    h_K = H_KK.sum(-1)
    return bool(project(h_K).abs().amax() <= tolerance * h_K.abs().amax())


def lone_row(H_KK: Tensor, tolerance: float = 1e-9) -> int | None:
    """The arm i with H1 parallel to e_i, which is to say H^-1 e_i parallel to 1; None if there is none."""
    h_K = H_KK.sum(-1).abs()
    return int(h_K.argmax()) if int((h_K > tolerance * h_K.amax()).sum()) == 1 else None


def is_realisable(H_KK: Tensor, penalty: float, tolerance: float = 1e-9) -> bool:
    """Whether the paper's LSA can play the teacher of H and lambda at all histories."""
    return penalty == 0 or has_equal_rows(H_KK, tolerance) or lone_row(H_KK, tolerance) is not None


def candidate_lsa(H_KK: Tensor, penalty: float, step_size: float, gamma: float, attends_query: bool) -> Lsa:
    """W11 = c H^-1, w12 = 0 and W_KQ q = (-lambda 1, 1): for K >= 3 the only candidate, up to scale.

    Where H1 is parallel to e_i, Proj H^-1 e_i vanishes: entry i is free, and (K-1) lambda makes their sum 0.
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
