"""Where configurations lie, what is refused, what they build: with run.py the only code that knows Hydra."""

from icpo.configuration.checks import check_arguments, check_config
from icpo.configuration.source import config_source, presets
from icpo.configuration.sweeps import HYDRA_ERRORS, SEEN_RUNS, SENT_AWAY, RememberRun, SeenRun, runs_here
from icpo.configuration.values import build, config_digest, one_line, resolved

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
]
