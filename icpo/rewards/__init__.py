"""Reward sources: the majority, the oracle and controls."""

from icpo.rewards.controls import Constant, Inverted, NoReward, Shuffled
from icpo.rewards.majority import Majority
from icpo.rewards.oracle import Oracle

__all__ = ["Constant", "Inverted", "Majority", "NoReward", "Oracle", "Shuffled"]
