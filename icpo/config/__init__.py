"""Where configurations lie, what is refused, what they build: with run.py the only code that knows Hydra."""

from icpo.config.checks import check_arguments, check_config
from icpo.config.choices import choices, help_text, presets_by_kind
from icpo.config.compose import compose
from icpo.config.launchers import CheckLauncher
from icpo.config.messages import HYDRA_ERRORS, one_line
from icpo.config.runs import SEEN_RUNS, SENT_AWAY, SeenRun, is_single, note_run, runs_here
from icpo.config.secrets import RefuseSecrets
from icpo.config.source import config_source, presets
from icpo.config.sweeper import ArmSweeper
from icpo.config.targets import sources
from icpo.config.values import build, config_digest, resolved

__all__ = [
    "HYDRA_ERRORS",
    "SEEN_RUNS",
    "SENT_AWAY",
    "ArmSweeper",
    "CheckLauncher",
    "RefuseSecrets",
    "SeenRun",
    "build",
    "check_arguments",
    "check_config",
    "choices",
    "compose",
    "config_digest",
    "config_source",
    "help_text",
    "is_single",
    "note_run",
    "one_line",
    "presets",
    "presets_by_kind",
    "resolved",
    "runs_here",
    "sources",
]
