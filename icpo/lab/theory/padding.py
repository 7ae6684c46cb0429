"""An LSA trained on K arms that plays more of them.

Shapes: K trained arms, D = K + 1.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from icpo.theory.lsa import Lsa


def zero_padded(lsa: Lsa, num_arms: int) -> Lsa:
    """Zero weights for the new arms."""
    return Lsa(
        _zero_padded(lsa.W_PV, num_arms), _zero_padded(lsa.W_KQ, num_arms), lsa.gamma, lsa.attends_query
    )


def permutation_averaged(lsa: Lsa, num_arms: int) -> Lsa:
    """The trained weights averaged over all orders of the arms.

    Written out for `num_arms` of them. Exact for a teacher that treats arms alike. W_PV's action block
    becomes a Diag plus a constant. Of W_KQ only its product with the query counts: its entries are rescaled
    so that more arms in the query leave that product alone.
    """
    K = lsa.W_PV.shape[0] - 1
    W11 = lsa.W_PV[:K, :K]
    off_diagonal = (W11.sum() - W11.trace()) / (K * (K - 1))
    eye = torch.eye(num_arms, dtype=W11.dtype, device=W11.device)
    block = (W11.trace() / K - off_diagonal) * eye + off_diagonal
    W_PV = _bordered(block, lsa.W_PV[:K, K].mean())
    query_image = lsa.W_KQ[:, :K].sum(-1)
    W_KQ = torch.zeros_like(W_PV)
    W_KQ[:num_arms, :num_arms] = query_image[:K].mean() / num_arms
    W_KQ[num_arms, :num_arms] = query_image[K] / num_arms
    return Lsa(W_PV, W_KQ, lsa.gamma, lsa.attends_query)


def _zero_padded(matrix_DD: Tensor, num_arms: int) -> Tensor:
    """Zero rows and columns between the action block and the reward entries."""
    K = matrix_DD.shape[0] - 1
    extra = num_arms - K
    if extra < 0:
        raise ValueError(f"an LSA of {K} arms cannot be padded to {num_arms}")
    rows = torch.cat([pad(matrix_DD[:K], (0, 0, 0, extra)), matrix_DD[K:]])
    return torch.cat([pad(rows[:, :K], (0, extra)), rows[:, K:]], 1)


def _bordered(block_KK: Tensor, right: Tensor) -> Tensor:
    K = len(block_KK)
    column = right.expand(K, 1)
    return torch.cat([torch.cat([block_KK, column], 1), torch.zeros_like(block_KK[:1]).new_zeros(1, K + 1)])
