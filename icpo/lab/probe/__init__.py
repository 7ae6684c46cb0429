"""The probe: what one tagged attempt in the prompt does to a model's answers, against the theory's update."""

from icpo.lab.probe.job import Probe
from icpo.lab.probe.method import TaggedAttempts

__all__ = ["Probe", "TaggedAttempts"]
