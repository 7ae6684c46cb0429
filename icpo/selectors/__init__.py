"""Selectors: one rule a file."""

from icpo.selectors.entropy import Entropy
from icpo.selectors.none import KeepAll
from icpo.selectors.racing import EntropyRacing
from icpo.selectors.random import RandomPick

__all__ = ["Entropy", "EntropyRacing", "KeepAll", "RandomPick"]
