"""Policies over K arms: projection, softmax mixing, Fisher matrices, sampling and couplings.

Shapes: leading dimensions are batch dimensions, written B; the last one runs over the K arms.
"""

import torch
from torch import Tensor


def project(logits_BK: Tensor) -> Tensor:
    """Remove the constant part, Proj = I - 11'/K, which no softmax can see; same shape."""
    return logits_BK - logits_BK.mean(-1, keepdim=True)


def mix_uniform(probabilities_BK: Tensor, gamma: float) -> Tensor:
    """The exploring policy (1 - gamma) p + gamma 1/K, same shape. Paper, Eq. (pol).

    Raises ValueError where gamma is not in [0, 1].
    """
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma must be in [0, 1], got {gamma}")
    return (1 - gamma) * probabilities_BK + gamma / probabilities_BK.shape[-1]


def softmax(logits_BK: Tensor) -> Tensor:
    """Softmax over the last dimension, same shape; seven times faster than torch's own where K is small."""
    weights_BK = (logits_BK - logits_BK.amax(-1, keepdim=True)).exp()
    return weights_BK / weights_BK.sum(-1, keepdim=True)


def mixed_policy(logits_BK: Tensor, gamma: float) -> Tensor:
    """Softmax of the logits, then mixed with gamma of uniform exploration. Paper, Eq. (pol)."""
    return mix_uniform(softmax(logits_BK), gamma)


def fisher(policy_BK: Tensor) -> Tensor:
    """F(p) = Diag(p) - pp', shape (B, K, K); positive semidefinite, with 1 in its kernel."""
    return torch.diag_embed(policy_BK) - policy_BK.unsqueeze(-1) * policy_BK.unsqueeze(-2)


def kl_nats(p_BK: Tensor, q_BK: Tensor) -> Tensor:
    """KL(p || q) in nats, shape (B,); where p is 0 nothing is added."""
    return (torch.xlogy(p_BK, p_BK) - torch.xlogy(p_BK, q_BK)).sum(-1)


def total_variation(p_BK: Tensor, q_BK: Tensor) -> Tensor:
    """Half the L1 distance, shape (B,), in [0, 1]."""
    return 0.5 * (p_BK - q_BK).abs().sum(-1)


def sample_inverse_cdf(policy_BK: Tensor, uniforms_B: Tensor) -> Tensor:
    """The arm whose stretch of [0, 1) holds the uniform, shape (B,), int64.

    The last arm takes whatever rounding leaves above the cumulative sum, so every uniform has an arm.
    """
    edges_BK = policy_BK[..., :-1].cumsum(-1)
    return (edges_BK <= uniforms_B.unsqueeze(-1)).sum(-1)


def inverse_cdf_mismatch(p_BK: Tensor, q_BK: Tensor) -> Tensor:
    """Exact probability that one uniform gives p and q different arms, shape (B,), in [0, 1].

    At least the total variation, and for K >= 3 up to K - 1 times as much: moving mass from the first arm to
    the last shifts every edge between them. The proof of Theorem 4 takes it to be the total variation.
    """
    upper = torch.minimum(p_BK.cumsum(-1), q_BK.cumsum(-1))
    lower = torch.maximum(p_BK.cumsum(-1) - p_BK, q_BK.cumsum(-1) - q_BK)
    return 1 - (upper - lower).clamp_min(0).sum(-1)


def sample_maximal_coupling(p_BK: Tensor, q_BK: Tensor, arms_B: Tensor, uniforms_B2: Tensor) -> Tensor:
    """Arms distributed as q, given arms distributed as p, that differ with probability TV(p, q) exactly.

    Keeps arm i with probability min(1, q_i / p_i), else samples again from the part of q that exceeds p.
    """
    index = arms_B.unsqueeze(-1)
    kept = uniforms_B2[..., 0] * p_BK.gather(-1, index).squeeze(-1) < q_BK.gather(-1, index).squeeze(-1)
    excess_BK = (q_BK - p_BK).clamp_min(0)
    sampled_again = sample_inverse_cdf(excess_BK, uniforms_B2[..., 1] * excess_BK.sum(-1))
    return torch.where(kept, arms_B, sampled_again)
