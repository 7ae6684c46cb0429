"""However a configuration is broken, it builds or ends in one clear line, never in a traceback."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from hypothesis import HealthCheck, Phase, given, seed, settings
from omegaconf.errors import OmegaConfBaseException

from icpo.config import build, check_arguments, check_config, config_digest, resolved
from icpo.errors import ConfigError
from tests.faults.broken_configs import CONF, breakages
from tests.reliability import report_row

ROOT = Path(__file__).parents[2]
outcomes: Counter[str] = Counter()
thorough = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


def outcome(overrides: list[str]) -> str:
    """What becomes of a command line: `built`, or who refused it. Any other exception is a failure."""
    try:
        check_arguments(overrides)
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            config = compose("config", overrides=overrides)
    except ConfigError as error:
        return refused("us", error)
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        return refused("Hydra", error)
    try:
        check_config(config)
        values = resolved(config)
        build(config.job)
        build(config.tracking)
        config_digest(values)
    except ConfigError as error:
        return refused("us", error)
    return "built"


def refused(by: str, error: Exception) -> str:
    message = str(error)
    assert message.strip()
    assert "Traceback" not in message
    if by == "us":
        assert len(message.splitlines()) == 1, message
    return f"refused by {by}"


@settings(thorough, max_examples=10)
@given(breakages())
def test_broken_configs_build_or_end_in_one_clear_line(overrides):
    outcome(overrides)


@pytest.mark.slow
def test_six_hundred_broken_configs():
    @seed(20260)
    @settings(thorough, max_examples=600)
    @given(breakages())
    def run(overrides):
        outcomes[outcome(overrides)] += 1

    run()
    report_row(
        "broken configurations, in one process",
        f"{outcomes.total()} random ones",
        f"tracebacks 0; {', '.join(f'{kind} {number}' for kind, number in sorted(outcomes.items()))}",
    )
    assert outcomes.total() >= 600
    assert all(outcomes[kind] > 20 for kind in ("built", "refused by us", "refused by Hydra")), outcomes


@pytest.mark.slow
def test_thirty_broken_configs_as_a_user_meets_them(tmp_path):
    """One command each: it answers within three seconds of processor time, without a traceback."""
    commands: list[list[str]] = []

    @seed(31)
    @settings(thorough, max_examples=200)
    @given(breakages())
    def collect(overrides):
        if outcome(overrides) != "built" and not any("\0" in override for override in overrides):
            commands.append(overrides)

    collect()
    assert len(commands) >= 30
    for overrides in commands[:30]:
        began = os.times()
        done = subprocess.run(
            [sys.executable, "-m", "icpo.run", *overrides, "hydra.mode=RUN", f"output_root={tmp_path}"],
            cwd=ROOT, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        seconds = os.times().children_user - began.children_user
        assert done.returncode != 0, (overrides, done.stdout)
        assert "Traceback" not in done.stdout + done.stderr, (overrides, done.stderr)
        assert done.stderr.strip()
        assert seconds < 3, (overrides, seconds)
    report_row("broken configurations, as commands", "30", "one message each, within 3 s of processor time")
