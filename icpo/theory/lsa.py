"""One layer of linear self-attention, its query-column closed form and its two-channel reduction.

Shapes: leading S for independent starts is allowed everywhere; B tasks, K arms, D = K + 1 token size, L
tokens, F = 2K + 2 features (see `History.features_BF`).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from icpo.theory.bandit import History
from icpo.theory.policies import mixed_policy, project
from icpo.theory.rollout import uniform_policy


def lsa_layer(E_BDL: Tensor, W_PV: Tensor, W_KQ: Tensor, rho: float) -> Tensor:
    """E + W_PV E (E' W_KQ E / rho), every token attending to every other. Paper, Eq. (lsa)."""
    return E_BDL + W_PV @ E_BDL @ (E_BDL.mT @ W_KQ @ E_BDL / rho)


def prompt(arms_Bt: Tensor, rewards_Bt: Tensor, num_arms: int) -> Tensor:
    """The tokens (x_s, r_s) of t rounds and the query (1, 0) behind them, shape (B, K+1, t+1)."""
    x_BKt = torch.nn.functional.one_hot(arms_Bt, num_arms).to(rewards_Bt.dtype).mT
    tokens = torch.cat([x_BKt, rewards_Bt.unsqueeze(-2)], -2)
    query = torch.ones_like(tokens[..., :1])
    query[..., -1, :] = 0
    return torch.cat([tokens, query], -1)


@dataclass(frozen=True, slots=True)
class Lsa:
    """A one-layer LSA that plays a bandit: the student of the paper.

    `attends_query` says whether the query column serves as key and value, as in the paper, or only asks.
    Attending to it adds (1/t) W11 11' phi1 to the logits, which no teacher with U1 not parallel to 1 has.
    """

    W_PV: Tensor
    W_KQ: Tensor
    gamma: float
    attends_query: bool

    def logits(self, history: History) -> Tensor:
        """Next logits q_x + (1/t) R G_t W_KQ q, shape (B, K). Paper, Lemma (query-column closed form).

        Raises ValueError before the first round.
        """
        if history.t < 1:
            raise ValueError(
                "an LSA divides by the number of finished rounds t, which must be at least 1, got 0"
            )
        K = self.W_PV.shape[-1] - 1
        v = self.W_KQ[:, :K].sum(-1)  # W_KQ q with q = (1, 0)
        phi1, phi2 = v[:K], v[K]
        actions_BK = history.counts_BK * phi1 + history.rewards_BK * phi2
        if self.attends_query:
            actions_BK = actions_BK + phi1.sum()
        reward_B1 = (history.rewards_BK @ phi1 + history.squares_B * phi2).unsqueeze(-1)
        attended_BD = torch.cat([actions_BK, reward_B1], -1)  # G_t v
        return 1 + attended_BD @ self.W_PV[:K].T / history.t

    def policy(self, history: History) -> Tensor:
        """The mixed policy after the history, shape (B, K); uniform before the first round."""
        return uniform_policy(history) if history.t == 0 else mixed_policy(self.logits(history), self.gamma)


@dataclass(frozen=True, slots=True)
class TwoChannel:
    """The student of the proofs: logits W_n n_t/t + W_g g_t/t with a free `operator_KZ` = [W_n W_g]."""

    operator_KZ: Tensor
    gamma: float

    def logits(self, history: History) -> Tensor:
        """Projected next logits, shape (B, K). Paper, Eq. (twoch-project-exact)."""
        return history.features_BF[..., : self.operator_KZ.shape[-1]] @ self.operator_KZ.T

    def policy(self, history: History) -> Tensor:
        """The mixed policy after the history, shape (B, K); uniform before the first round."""
        return uniform_policy(history) if history.t == 0 else mixed_policy(self.logits(history), self.gamma)


def feature_operator(W_PV: Tensor, W_KQ: Tensor, attends_query: bool) -> Tensor:
    """The LSA as a map from features to projected logits, shape (S, K, 2K+2).

    Columns: Proj of W11 Diag(phi1), of phi2 W11 + w12 phi1', of (1'phi1) W11 1 (0 unless the query is
    attended) and of phi2 w12, where (phi1, phi2) = W_KQ q. The paper's Lemma (two-channel) keeps the first
    two and drops w12; the third vanishes under Proj only if W11 1 is parallel to 1.
    """
    K = W_PV.shape[-1] - 1
    W11, w12 = W_PV[..., :K, :K], W_PV[..., :K, K:]
    v = W_KQ[..., :K].sum(-1)
    phi1, phi2 = v[..., None, :K], v[..., None, K:]
    bias = W11.sum(-1, keepdim=True) * phi1.sum(-1, keepdim=True) * float(attends_query)
    columns = [W11 * phi1, W11 * phi2 + w12 * phi1, bias, w12 * phi2]
    return project(torch.cat(columns, -1).mT).mT
