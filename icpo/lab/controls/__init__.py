"""Controls that separate explanations of ME-ICPO, for experiments/controls."""

from icpo.lab.controls.methods import MajorityHint, RepeatedError
from icpo.lab.controls.rewards import Constant, Inverted, Shuffled

__all__ = ["Constant", "Inverted", "MajorityHint", "RepeatedError", "Shuffled"]
