"""Settings out of range are refused when the job is built, with the key, before anything is computed."""

import pytest

from icpo.config import build
from icpo.errors import ConfigError
from tests.theory.test_jobs import composed


@pytest.mark.parametrize(
    ("name", "override", "key"),
    [
        ("policy_matching", "job.num_train_tasks=0", "num_train_tasks"),
        ("policy_matching", "job.num_rounds=1", "num_rounds"),
        ("policy_matching", "job.gamma=1.5", "gamma"),
        ("policy_matching", "teacher.scale=0", "scale"),
        ("reward_shock", "job.num_draws=some", "num_draws"),
        ("kl_sandwich", "job.gammas=[0.0]", "gammas"),
        ("finite_sample", "job.delta=0", "delta"),
        ("convergence", "job.num_samples=0", "num_samples"),
        ("bandit_regret", "job.horizons=[0]", "horizons"),
    ],
)
def test_a_setting_out_of_range_is_named(name, override, key):
    with pytest.raises(ConfigError, match=key):
        build(composed(name, override).job)
