import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.theory.bandit import History
from icpo.theory.lsa import Lsa, TwoChannel, feature_operator, lsa_layer, prompt
from icpo.theory.policies import project
from tests.theory.build import tensors

K = 4


def history_of(arms, rewards):
    history = History.empty(torch.zeros(len(arms), K))
    for t in range(arms.shape[1]):
        history = history.then(arms[:, t], rewards[:, t])
    return history


ARMS = st.lists(st.integers(0, K - 1), min_size=1, max_size=6)
MATRICES = tensors(2, K + 1, K + 1)


@settings(deadline=None)
@given(ARMS, MATRICES, st.data())
def test_query_column_of_the_whole_layer_is_the_closed_form(arms, matrices, data):
    rewards = data.draw(tensors(1, len(arms)))
    arms = torch.tensor([arms])
    whole = lsa_layer(prompt(arms, rewards, K), *matrices, rho=arms.shape[1])[:, :K, -1]
    closed = Lsa(*matrices, gamma=0.2, attends_query=True).logits(history_of(arms, rewards))
    torch.testing.assert_close(closed, whole, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(ARMS, MATRICES, st.data())
def test_without_the_query_as_key_and_value_only_past_tokens_count(arms, matrices, data):
    rewards = data.draw(tensors(1, len(arms)))
    arms = torch.tensor([arms])
    W_PV, W_KQ = matrices
    tokens = prompt(arms, rewards, K)
    past, query = tokens[..., :-1], tokens[..., -1:]
    by_hand = (query + W_PV @ past @ (past.mT @ W_KQ @ query) / arms.shape[1])[:, :K, 0]
    closed = Lsa(W_PV, W_KQ, gamma=0.2, attends_query=False).logits(history_of(arms, rewards))
    torch.testing.assert_close(closed, by_hand, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(ARMS, MATRICES, st.booleans(), st.data())
def test_feature_operator_gives_the_projected_logits(arms, matrices, attends, data):
    history = history_of(torch.tensor([arms]), data.draw(tensors(1, len(arms))))
    operator = feature_operator(*matrices, attends)
    lsa = Lsa(*matrices, gamma=0.2, attends_query=attends)
    torch.testing.assert_close(
        history.features_BF @ operator.T, project(lsa.logits(history)), rtol=1e-9, atol=1e-9
    )


@settings(deadline=None)
@given(ARMS, MATRICES, st.data())
def test_two_channel_equality_under_the_normal_form_and_its_hidden_condition(arms, matrices, data):
    """Besides the lemma's normal form (w12 parallel to 1) W11 1 must be parallel to 1."""
    history = history_of(torch.tensor([arms]), data.draw(tensors(1, len(arms))))
    W_PV, W_KQ = matrices.clone()
    W_PV[:K, K] = 0.7
    W_PV[:K, :K] += (1 - W_PV[:K, :K].sum(1, keepdim=True)) / K
    v = W_KQ[:, :K].sum(1)
    two_channel = project(torch.cat([W_PV[:K, :K] * v[:K], W_PV[:K, :K] * v[K]], 1).T).T
    lsa = Lsa(W_PV, W_KQ, gamma=0.2, attends_query=True)
    torch.testing.assert_close(
        project(lsa.logits(history)), TwoChannel(two_channel, 0.2).logits(history), rtol=1e-8, atol=1e-8
    )


def test_two_channel_equality_fails_without_the_hidden_condition():
    W_PV, W_KQ = torch.zeros(K + 1, K + 1), torch.zeros(K + 1, K + 1)
    W_PV[0, 0] = 1.0
    W_KQ[:K, :K] = torch.eye(K)
    history = history_of(torch.tensor([[1]]), torch.tensor([[0.0]]))
    lsa = Lsa(W_PV, W_KQ, gamma=0.2, attends_query=True)
    two_channel = TwoChannel(feature_operator(W_PV, W_KQ, True)[:, : 2 * K], 0.2)
    bias = project(lsa.logits(history)) - two_channel.logits(history)
    assert bias[0].tolist() == pytest.approx([K * 0.75, -K * 0.25, -K * 0.25, -K * 0.25])


@given(MATRICES)
def test_the_two_channels_share_their_matrix(matrices):
    """W_n Diag(1/phi1) = W_g / phi2: W_n and W_g cannot be chosen freely. Here w12 = 0."""
    W_PV, W_KQ = matrices.clone()
    W_PV[:K, K] = 0
    v = W_KQ[:, :K].sum(1)
    operator = feature_operator(W_PV, W_KQ, attends_query=False)
    torch.testing.assert_close(operator[:, :K] * v[K], operator[:, K : 2 * K] * v[:K], rtol=1e-9, atol=1e-9)


def test_starts_are_independent_in_a_batch():
    generator = torch.Generator().manual_seed(0)
    W_PV, W_KQ = torch.randn(2, 3, K + 1, K + 1, generator=generator)
    together = feature_operator(W_PV, W_KQ, True)
    assert together.shape == (3, K, 2 * K + 2)
    torch.testing.assert_close(together[1], feature_operator(W_PV[1], W_KQ[1], True))


def test_no_round_gives_no_logits_and_the_uniform_policy():
    lsa = Lsa(torch.eye(K + 1), torch.eye(K + 1), 0.2, True)
    empty = History.empty(torch.zeros(1, K))
    assert lsa.policy(empty).tolist() == [[0.25] * K]
    with pytest.raises(ValueError, match="at least 1"):
        lsa.logits(empty)
