"""The probe: what one tagged attempt does to a model's answers."""

from icpo.lab.probe.job import Probe
from icpo.lab.probe.method import TaggedAttempts

__all__ = ["Probe", "TaggedAttempts"]
