"""The claims on trained LSAs tell starts near the solution's form from unstructured ones."""

import torch

from icpo.lab.theory.policy_matching import start_claims


def test_each_kind_of_starts_is_judged_by_all_its_fits():
    finals = {
        "adam_near": torch.tensor([1e-14, 1e-6]),
        "adam_unstructured": torch.tensor([1e-14, 2e-3, float("nan")]),
        "lbfgs_unstructured": torch.tensor([1e-9, 1e-9]),
    }
    near, unstructured = start_claims(finals)
    assert near.holds
    assert near.evidence.endswith("at most 1e-06: 2 of 2 (adam)")
    assert not unstructured.holds
    assert unstructured.evidence.endswith("1 of 3 (adam), 2 of 2 (lbfgs)")
    assert unstructured.statement.endswith("from every unstructured start")


def test_one_start_that_stalls_is_enough_to_fail():
    near, _ = start_claims({"a_near": torch.tensor([1e-9]), "b_near": torch.tensor([1e-9, 2e-6])})
    assert not near.holds
