"""Estimates and verdicts on policies whose update is known."""

import numpy as np
import pytest
from scipy.special import expit, logit

from icpo.lab.probe.estimands import mean_of, measure
from icpo.lab.probe.shifts import Count, Shift
from icpo.lab.probe.verdicts import holm, verdicts

SAMPLES = 400


def simulated(update, *, num_questions=80, seed=0):
    """Shifts of a policy: `update` gives the probability from that of the base and the tag."""
    rng = np.random.default_rng(seed)
    shifts = []
    for question in range(num_questions):
        for kind in ("right", "frequent_wrong"):
            p0 = rng.uniform(0.1, 0.7)
            base = counted(rng, p0)
            for tag in ("1", "0", "none"):
                p = update(p0, tag)
                scores = {"base_scored": logit(p0), "scored": logit(p), "others": rng.normal()}
                shifts.append(
                    Shift(f"q{question}", 0, f"{kind}/working/{tag}", kind, base, counted(rng, p), **scores)
                )
    return shifts


def counted(rng, p):
    hits = int(rng.binomial(SAMPLES, p))
    return Count(SAMPLES, SAMPLES, hits, hits)


def mirror_descent(p0, tag):
    return expit(logit(p0) + {"1": 1.5, "0": -1.0, "none": 0.0}[tag])


def copying(p0, tag):
    return 0.4 + 0.6 * p0


def holds(metrics):
    return {name: verdict["holds"] for name, verdict in metrics["verdicts"].items() if verdict}


def test_a_mirror_descent_policy_is_recognised():
    metrics = measure(simulated(mirror_descent))
    assert metrics["tag_effect_logit"]["value"] == pytest.approx(2.5, abs=0.1)
    assert metrics["priming_logit"]["low"] < 0 < metrics["priming_logit"]["high"]
    assert metrics["step_size"] == pytest.approx(1.5, abs=0.1) and metrics["theory_r2"] > 0.9
    assert metrics["slope_scored"]["value"] == pytest.approx(1)
    assert metrics["shift_right_tag1"]["low"] > 0 > metrics["shift_wrong_tag0"]["high"]
    found = holds(metrics)
    assert found["tag_matters"] and found["tag_0_never_raises"] and found["tag_0_below_no_tag"]
    assert found["right_and_wrong_alike"] and found["others_stay"]
    assert not found["mention_primes"] and not found["tag_0_does_nothing"]


def test_a_copying_policy_has_no_tag_effect_and_is_best_fitted_by_copying():
    metrics = measure(simulated(copying))
    assert abs(metrics["tag_effect_logit"]["value"]) < 0.1
    likelihoods = {name: fit["log_likelihood"] for name, fit in metrics["models"].items()}
    assert max(likelihoods, key=likelihoods.get) == "copying"
    found = holds(metrics)
    assert not found["tag_matters"] and found["mention_primes"] and not found["tag_0_never_raises"]
    assert not found["slope_is_1"]


def test_a_policy_that_ignores_its_prompt_passes_the_equivalence_test_alone():
    found = holds(measure(simulated(lambda p0, tag: p0)))
    assert found["tag_0_does_nothing"] and found["tag_0_never_raises"]
    assert not found["tag_matters"] and not found["mention_primes"]


def test_opposite_changes_of_right_and_wrong_attempts_do_not_pass_as_none():
    def tagged_0(shift):
        return {"value": shift, "low": shift - 0.02, "high": shift + 0.02, "p": 1e-9, "num_questions": 190}

    def found(right, wrong):
        return holds(
            {"verdicts": verdicts({"shift_right_tag0": tagged_0(right), "shift_wrong_tag0": tagged_0(wrong)})}
        )

    assert found(-0.10, +0.08) == {"tag_0_never_raises": False, "tag_0_does_nothing": False}
    assert found(+0.08, -0.10) == {"tag_0_never_raises": False, "tag_0_does_nothing": False}
    assert found(-0.22, -0.01) == {"tag_0_never_raises": True, "tag_0_does_nothing": False}
    assert found(-0.01, -0.02) == {"tag_0_never_raises": True, "tag_0_does_nothing": True}


def test_a_tag_of_0_that_was_measured_on_one_kind_alone_can_fail_but_not_hold():
    falls = {"value": -0.01, "low": -0.02, "high": 0.0, "p": 0.2, "num_questions": 190}
    rises = {"value": +0.30, "low": 0.28, "high": 0.32, "p": 1e-9, "num_questions": 190}
    for name in ("shift_right_tag0", "shift_wrong_tag0"):
        found = verdicts({name: falls})
        assert found["tag_0_never_raises"] is None and found["tag_0_does_nothing"] is None
        found = holds({"verdicts": verdicts({name: rises})})
        assert found == {"tag_0_never_raises": False, "tag_0_does_nothing": False}


def test_what_was_not_measured_is_null():
    metrics = measure([])
    assert metrics["tag_effect_logit"] is None and metrics["step_size"] is None and metrics["slope"] is None
    assert set(metrics["verdicts"].values()) == {None}


def test_questions_count_once_and_no_interval_has_width_zero():
    found = mean_of([("a", 1.0), ("a", 3.0), ("b", 0.0), ("c", float("nan"))])
    assert (found.value, found.num_questions) == (1.0, 2)
    assert mean_of([("a", 1.0)]) is None and mean_of([("a", 0.0), ("b", 0.0)]) is None


def test_holm_multiplies_the_smallest_most_and_never_falls():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
