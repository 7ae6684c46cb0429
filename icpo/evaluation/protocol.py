"""The Protocol value: a cell's sampling, prompts and grading."""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import PositiveInt

from icpo.grading import GradingRules
from icpo.types import Purpose, Sampling, validated


@validated
class LookaheadRules:
    """How look-aheads are sampled: whole solutions, or the answer alone.

    The latter is beyond the paper. `forced_answer` are the words that open the answer: they end the prompt,
    and a look-ahead samples what follows, at most `answer_tokens` tokens up to one of `answer_stop`. None
    asks for whole solutions.
    """

    forced_answer: str | None
    answer_tokens: PositiveInt
    answer_stop: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.forced_answer is not None and not self.forced_answer.endswith("boxed{"):
            raise ValueError(
                f"lookahead.forced_answer must be null or end in 'boxed{{', got {self.forced_answer!r}"
            )


@validated
class Protocol:
    """One conf/protocol/NAME.yaml."""

    name: str
    sampling: Mapping[str, Sampling]
    lookahead: LookaheadRules
    max_context_tokens: int | None
    answer_line: str
    answer_as_float: bool
    worked_example: str | None
    idea_form: str
    answered_only: bool
    kept_answered_only: bool
    skip_single: bool
    empty_headings: bool
    ignores_backbone_limit: bool
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

    def sampling_by_purpose(
        self, max_answer_tokens: int | None = None, thinking_tokens: int = 0
    ) -> dict[Purpose, Sampling]:
        """Sampling of every purpose; a candidate's where none is named.

        `max_answer_tokens` replaces the limit of all that may be as long as a candidate, unless the protocol
        `ignores_backbone_limit`; what has a limit of its own (look-aheads made short, look-aheads that sample
        the answer alone) keeps it.
        `thinking_tokens` are added to the limit of summaries.
        """
        candidate = self.sampling["candidate"]
        found = {p: self.sampling.get(p.value, candidate) for p in Purpose}
        if max_answer_tokens is not None and not self.ignores_backbone_limit:
            for purpose, one in found.items():
                if one.max_tokens == candidate.max_tokens and purpose is not Purpose.SUMMARY:
                    found[purpose] = replace(one, max_tokens=max_answer_tokens)
        summary = found[Purpose.SUMMARY]
        found[Purpose.SUMMARY] = replace(summary, max_tokens=summary.max_tokens + thinking_tokens)
        if self.lookahead.forced_answer is not None:
            short = found[Purpose.LOOKAHEAD].limited(self.lookahead.answer_tokens)
            stop = self.lookahead.answer_stop
            found[Purpose.LOOKAHEAD] = replace(short, min_tokens=min(short.min_tokens, 1), stop=stop)
        return found
