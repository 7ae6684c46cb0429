"""Where configurations lie, what is refused, what they build: with run.py the only code that knows Hydra."""

from icpo.configuration.checks import check_arguments, check_config
from icpo.configuration.messages import HYDRA_ERRORS, one_line
from icpo.configuration.source import config_source, presets
from icpo.configuration.sweeps import SEEN_RUNS, SENT_AWAY, RememberRun, SeenRun, runs_here
from icpo.configuration.targets import sources
from icpo.configuration.values import build, config_digest, resolved

__all__ = [
    "HYDRA_ERRORS",
    "SEEN_RUNS",
    "SENT_AWAY",
    "RememberRun",
    "SeenRun",
    "build",
    "check_arguments",
    "check_config",
    "config_digest",
    "config_source",
    "one_line",
    "presets",
    "resolved",
    "runs_here",
    "sources",
]
