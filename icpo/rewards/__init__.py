"""Reward sources: one rule a file."""

from icpo.rewards.controls import Constant, Inverted, Shuffled
from icpo.rewards.majority import Majority
from icpo.rewards.none import NoReward
from icpo.rewards.oracle import Oracle

__all__ = ["Constant", "Inverted", "Majority", "NoReward", "Oracle", "Shuffled"]
