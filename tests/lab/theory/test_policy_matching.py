"""The claims on trained LSAs separate starts near the solution's form from unstructured ones, and losses."""

import torch

from icpo.lab.theory.policy_matching import BY_KL, NEAR, matching_claims, restarted
from icpo.theory.fits import Adam, Start

GAPS = {name: torch.zeros(1, 2, 3) for name in ("closed_form", "without_query")}
GOOD, STALLED = torch.tensor([1e-14, 1e-6]), torch.tensor([1e-14, 2e-3, float("nan")])


def claims(near, by_kl, unstructured):
    finals = {NEAR: {"adam": near, BY_KL: by_kl}, "0.1": {"adam": unstructured}}
    found = matching_claims(GAPS, finals)
    return {
        "near": next(c for c in found if c.source == "Figure 2 (top)"),
        "kl": next(c for c in found if "trained on the KL" in c.statement),
        "unstructured": next(c for c in found if "unstructured" in c.statement),
    }


def test_each_kind_of_starts_is_judged_by_all_its_fits():
    found = claims(GOOD, GOOD, STALLED)
    assert found["near"].holds
    assert found["near"].evidence.endswith("2 of 2 (adam)")
    assert not found["unstructured"].holds
    assert found["unstructured"].evidence == "scale 0.1: 1 of 3 (adam)"


def test_training_on_the_kl_is_judged_apart():
    found = claims(GOOD, STALLED, GOOD)
    assert found["near"].holds
    assert not found["kl"].holds
    assert found["unstructured"].holds


def test_a_restarted_fit_differs_in_its_starts_alone():
    fit = Adam(Start("near_query", 0.01, 3), True, 10, 0.1)
    assert restarted(fit, None) == fit
    assert restarted(fit, 0.5) == Adam(Start("unstructured", 0.5, 3), True, 10, 0.1)
