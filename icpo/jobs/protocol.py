"""The Protocol value: sampling, budgets, prompts and grading that a cell is run under."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from icpo.grading import GradingRules
from icpo.types import Purpose, Sampling


@dataclass(frozen=True, slots=True)
class Protocol:
    """One conf/protocol/NAME.yaml; the budgets are the defaults that methods take from it."""

    name: str
    num_rounds: int
    num_candidates: int
    num_lookaheads: int
    num_finals: int
    sampling: Mapping[str, Sampling]
    max_context_tokens: int | None
    answer_line: str
    answer_as_float: bool
    idea_form: str
    answered_only: bool
    abstentions_vote: bool
    grading: GradingRules

    def __post_init__(self) -> None:
        missing = {"candidate", "summary", "lookahead", "final"} - set(self.sampling)
        unknown = set(self.sampling) - {purpose.value for purpose in Purpose}
        if missing or unknown:
            raise ValueError(
                f"sampling must name candidate, summary, lookahead and final; "
                f"missing {sorted(missing)}, unknown {sorted(unknown)}"
            )

    def sampling_by_purpose(self, max_answer_tokens: int | None = None) -> dict[Purpose, Sampling]:
        """Sampling of every purpose; one that is not named is drawn like a candidate.

        `max_answer_tokens` replaces the limit of candidates, look-aheads and finals.
        """
        found = {p: self.sampling.get(p.value, self.sampling["candidate"]) for p in Purpose}
        if max_answer_tokens is not None:
            for purpose in (Purpose.CANDIDATE, Purpose.LOOKAHEAD, Purpose.FINAL):
                found[purpose] = replace(found[purpose], max_tokens=max_answer_tokens)
        return found
