"""Statements with a verdict that was computed."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, whether the numbers bear it out, and the numbers; `source` is a place or `ours`."""

    source: str
    statement: str
    holds: bool
    evidence: str

    def as_json(self) -> dict[str, str]:
        """The claim as metrics.json has it, `verdict` being `holds` or `fails`."""
        return {
            "source": self.source,
            "statement": self.statement,
            "verdict": "holds" if self.holds else "fails",
            "evidence": self.evidence,
        }


def verdict(claims: Sequence[Claim]) -> str:
    """One word for several claims: `holds` if all do, `fails` if none does, else `holds in part`."""
    if not claims:
        raise ValueError("a verdict needs at least one claim, got none")
    if all(claim.holds for claim in claims):
        return "holds"
    return "holds in part" if any(claim.holds for claim in claims) else "fails"
