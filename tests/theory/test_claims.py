import pytest

from icpo.theory.claims import Claim, verdict

YES, NO = Claim("Theorem 1", "a", True, "1"), Claim("ours", "b", False, "2")


def test_verdict_of_several_claims():
    assert verdict([YES, YES]) == "holds"
    assert verdict([YES, NO]) == "holds in part"
    assert verdict([NO]) == "fails"


def test_no_claims_no_verdict():
    with pytest.raises(ValueError, match="at least one"):
        verdict([])


def test_claim_as_stored():
    assert NO.as_json() == {"source": "ours", "statement": "b", "verdict": "fails", "evidence": "2"}
