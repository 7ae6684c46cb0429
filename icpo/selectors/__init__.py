"""Selectors: least entropy, by racing too, and controls."""

from icpo.selectors.controls import KeepAll, RandomPick
from icpo.selectors.entropy import Entropy
from icpo.selectors.racing import EntropyRacing

__all__ = ["Entropy", "EntropyRacing", "KeepAll", "RandomPick"]
