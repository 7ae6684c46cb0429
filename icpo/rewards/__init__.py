"""Reward sources: one rule a file."""

from icpo.rewards.majority import Majority
from icpo.rewards.none import NoReward
from icpo.rewards.oracle import Oracle

__all__ = ["Majority", "NoReward", "Oracle"]
