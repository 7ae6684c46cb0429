"""Configurations: where they are, what is refused, what they build."""

from icpo.config.callbacks import CheckCell, CheckLauncher, RefuseSecrets, check_job
from icpo.config.checks import check_arguments, check_config
from icpo.config.choices import choices, help_text, presets_by_kind
from icpo.config.messages import HYDRA_ERRORS, one_line
from icpo.config.quoting import with_quoted_question
from icpo.config.resolvers import question_kind, question_name
from icpo.config.source import compose, config_source, presets
from icpo.config.sweeper import ArmSweeper, folder_of
from icpo.config.targets import sources
from icpo.config.values import build, config_digest, resolved, stored, without
