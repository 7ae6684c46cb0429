"""Reward sources: the majority, the oracle, and none."""

from icpo.rewards.majority import Majority
from icpo.rewards.none import NoReward
from icpo.rewards.oracle import Oracle

__all__ = ["Majority", "NoReward", "Oracle"]
