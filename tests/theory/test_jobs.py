"""Each preset composed as a user composes it, at tiny sizes: files, keys and verdicts."""

import csv

import pytest

from icpo.config import build
from icpo.errors import ConfigError
from tests.composing import composed as composed_of

SMALL = {
    "policy_matching": [
        "job.num_rounds=8", "job.num_train_tasks=40", "job.num_test_tasks=5", "job.bandit.num_arms=4",
        "job.compared_fits.levenberg_marquardt.start.num_starts=3",
        "job.with_query.start.num_starts=3",
        "job.without_query.start.num_starts=3", "~job.compared_fits.adam",
        "job.compared_fits.lbfgs.num_steps=200",
        "job.compared_fits.lbfgs.start.num_starts=2", "job.kl_fit.num_steps=20",
        "job.kl_fit.start.num_starts=2",
        "job.scales=[0.01,1.0]", "job.metric_arms=[3]", "job.num_metrics=2",
    ],
    "reward_shock": ["job.num_test_tasks=20", "job.num_draws=120", "job.num_train_tasks=50"],
    "kl_sandwich": [
        "job.num_arms=[2,3]", "job.gammas=[0.1,0.2]", "job.num_rounds=10", "job.num_tasks=20",
        "job.adversary_steps=100", "job.adversary_rounds=[2,20]",
    ],
    "finite_sample": [
        "job.num_repeats=5", "job.num_arms=[5]", "job.num_rounds=[5]", "job.gammas=[0.8]", "job.sigmas=[0.1]",
        "job.fixed_rounds=[5]", "job.max_trajectories=30", "job.num_test_tasks=4",
        "job.concentration_prefixes=[290,1160]", "job.population_tasks=2000",
    ],
    "convergence": ["job.num_tasks=3000", "job.num_starts=4", "job.num_records=10", "job.num_samples=2"],
    "bandit_regret": ["job.num_test_tasks=8", "job.horizons=[5,40]", "job.num_train_tasks=40",
        "job.rough_fit.start.num_starts=1",
    ],
}  # fmt: skip
FEW = {name: ["fit.start.num_starts=3"] for name in ("policy_matching", "reward_shock", "bandit_regret")}
FIGURES = {
    "policy_matching": "gap", "reward_shock": "drift", "kl_sandwich": "sandwich", "finite_sample": "recovery",
    "convergence": "convergence", "bandit_regret": "regret",
}  # fmt: skip
VERDICTS = {
    "policy_matching": "holds in part", "reward_shock": "holds", "kl_sandwich": "holds in part",
    "finite_sample": "holds", "convergence": "holds in part", "bandit_regret": "holds in part",
}  # fmt: skip
KEYS = {
    "policy_matching": {"closed_form_max_gap", "trained_final_gap", "verdict"},
    "reward_shock": {"bound_violations", "b_min", "b_max", "verdict"},
    "kl_sandwich": {"upper_violations", "lower_violations", "verdict"},
    "finite_sample": {"c_lambda", "verdict"},
    "convergence": {"mu_on_s", "mu_everywhere", "verdict"},
    "bandit_regret": {"regret", "verdict"},
}


def composed(name, *overrides):
    return composed_of(f"+exp={name}", *overrides)


@pytest.fixture(scope="module", params=SMALL)
def run(request, tmp_path_factory):
    cell = tmp_path_factory.mktemp(request.param)
    return (
        request.param,
        cell,
        build(composed(request.param, *SMALL[request.param], *FEW.get(request.param, ())).job).run(cell),
    )


def test_figure_curves_and_metrics_are_there(run):
    name, cell, metrics = run
    assert metrics.keys() >= KEYS[name]
    assert (cell / f"{FIGURES[name]}.png").read_bytes().startswith(b"\x89PNG")
    assert (cell / f"{FIGURES[name]}.pdf").read_bytes().startswith(b"%PDF")
    curves = list(cell.glob("*.csv"))
    assert curves
    for path in curves:
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


def test_verdict_at_small_sizes_is_that_of_the_papers_sizes(run):
    name, _, metrics = run
    assert metrics["verdict"] == VERDICTS[name]
    assert all(
        claim["verdict"] in ("holds", "fails", "identity") and claim["evidence"]
        for claim in metrics["claims"]
    )


@pytest.mark.parametrize("name", SMALL)
def test_presets_hold_no_language_model(name):
    config = composed(name)
    assert not {"backbone", "benchmark", "engine", "method"} & set(config)
    assert (config.run_name, config.cell) == (name, name)


@pytest.mark.parametrize("fit", ["closed_form", "levenberg_marquardt", "adam", "lbfgs"])
def test_fit_is_a_choice_on_the_command_line(fit):
    job = build(composed("policy_matching", f"fit={fit}", "teacher=random_spd").job)
    assert type(job.fit).__name__.lower() == fit.replace("_", "")
    assert job.teacher.metric == "random_spd"


def test_regret_needs_a_student_with_weights_to_extend(tmp_path):
    job = build(composed("bandit_regret", "fit=closed_form", *SMALL["bandit_regret"]).job)
    with pytest.raises(ConfigError, match=r"fit .*fit=adam"):
        job.run(tmp_path)
