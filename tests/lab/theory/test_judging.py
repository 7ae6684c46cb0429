import pytest

from icpo.lab.theory.claims import Claim, judge, verdict

YES, NO = Claim("Theorem 1", "a", True, "1"), Claim("ours", "b", False, "2")
IDENTITY = Claim("ours", "c", True, "3", identity=True)


def test_verdict_of_several_claims():
    assert verdict([YES, YES]) == "holds"
    assert verdict([YES, NO]) == "holds in part"
    assert verdict([NO]) == "fails"


def test_no_claims_no_verdict():
    with pytest.raises(ValueError, match="at least one"):
        verdict([])


def test_claim_as_stored():
    assert NO.as_json() == {"source": "ours", "statement": "b", "verdict": "fails", "evidence": "2"}


def test_identities_are_named_and_do_not_count():
    assert IDENTITY.as_json()["verdict"] == "identity"
    assert verdict([NO, IDENTITY]) == "fails"
    assert verdict([YES, IDENTITY]) == "holds"
    with pytest.raises(ValueError, match="could fail"):
        verdict([IDENTITY])


def test_an_identity_that_does_not_come_out_fails():
    broken = Claim("ours", "c", False, "3", identity=True)
    assert broken.verdict == "fails"
    assert verdict([YES, broken]) == "holds in part"


def test_only_the_named_sources_are_judged_and_all_claims_are_stored():
    judged = judge([YES, NO, IDENTITY], {"Theorem 1"})
    assert judged["verdict"] == "holds"
    assert [claim["verdict"] for claim in judged["claims"]] == ["holds", "fails", "identity"]
