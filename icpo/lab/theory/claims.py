"""Statements with a verdict that was computed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, its verdict and its numbers.

    `source` is a place or `ours`. An `identity` is true by algebra: its numbers check the code, and no
    outcome could have refuted it.
    """

    source: str
    statement: str
    holds: bool
    evidence: str
    identity: bool = False

    @property
    def verdict(self) -> str:
        """`holds`, `fails`, or `identity` where the statement is true by algebra."""
        return "fails" if not self.holds else "identity" if self.identity else "holds"

    def as_json(self) -> dict[str, str]:
        """The claim as metrics.json stores it."""
        return {
            "source": self.source,
            "statement": self.statement,
            "verdict": self.verdict,
            "evidence": self.evidence,
        }


def verdict(claims: Sequence[Claim]) -> str:
    """One verdict for several claims: `holds`, `fails` or `holds in part`.

    Raises:
        ValueError: no claim could fail.
    """
    tested = [claim.holds for claim in claims if not (claim.identity and claim.holds)]
    if not tested:
        raise ValueError("a verdict needs at least one claim that could fail, got none")
    if all(tested):
        return "holds"
    return "holds in part" if any(tested) else "fails"


def judge(claims: Sequence[Claim], sources: Collection[str]) -> dict[str, Any]:
    """Claims and verdict for metrics.json, judged on `sources`."""
    judged = [claim for claim in claims if claim.source in sources]
    return {"claims": [claim.as_json() for claim in claims], "verdict": verdict(judged)}
