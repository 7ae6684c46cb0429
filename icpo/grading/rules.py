"""Settings of grading: what counts as an answer, and as equal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_VOTE_BUDGET = 32


@dataclass(frozen=True, slots=True)
class GradingRules:
    r"""What counts as an answer, and which differences of form are forgiven.

    A protocol's YAML gives every field, so none has a default here.

    Attributes:
        accept_marked_answer: Without a box, "Answer: 5", "the answer is 5" or "#### 5" gives the answer.
        accept_bare_answer: A text that is one short line and no prose is itself the answer.
        accept_unit_dropped: "90" equals "90^\circ", "5" equals "5 cm" (never "5 cm" and "5 m").
        accept_percent_dropped: "28" equals "28\%". That "0.28" does is arithmetic and always holds.
        accept_base_dropped: "4343" equals "4343_6".
        accept_label_dropped: "5" equals "x = 5", "[0,1]" equals "x \in [0,1]".
        accept_lowercase_choice: A boxed "c" is the choice C.
        rounded_decimal_digits: A decimal of at least so many significant digits equals the number it rounds
            ("0.0833333333333333" and "1/12"); 0 compares decimals exactly, whatever their length.
        plain_number_only: Of kind number, only a plain decimal is an answer (the authors' code).
        string_equality: Of kind expression, answers are equal if their texts are (the authors' code).
        zero_is_no_answer: Of kind number, an answer of 0 is an abstention (the authors' code).
        vote_budget: Pairs of different answers that math-verify may be asked about in one vote; those beyond
            it count as different, and the score says how many there were.
        placeholders: Contents of a box that echo the prompt; such a box holds no answer.
    """

    accept_marked_answer: bool
    accept_bare_answer: bool
    accept_unit_dropped: bool
    accept_percent_dropped: bool
    accept_base_dropped: bool
    accept_label_dropped: bool
    accept_lowercase_choice: bool
    rounded_decimal_digits: int
    plain_number_only: bool
    string_equality: bool
    zero_is_no_answer: bool
    vote_budget: int
    placeholders: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "placeholders", tuple(text.casefold() for text in self.placeholders))
        if self.rounded_decimal_digits < 0:
            raise ValueError(f"rounded_decimal_digits must be at least 0, got {self.rounded_decimal_digits}")
        if self.vote_budget < 0:
            raise ValueError(f"vote_budget must be at least 0, got {self.vote_budget}")

    @classmethod
    def stored(cls, settings: Mapping[str, Any]) -> "GradingRules":
        """The rules of a stored configuration's node `protocol.grading`; older ones lack the newer rules."""
        given = {name: value for name, value in settings.items() if name != "_target_"}
        return cls(**{"vote_budget": _VOTE_BUDGET, "zero_is_no_answer": False, **given})

    @classmethod
    def paper(cls) -> "GradingRules":
        """The rules of protocol `paper`, and of the command line."""
        return cls(
            accept_marked_answer=True,
            accept_bare_answer=True,
            accept_unit_dropped=True,
            accept_percent_dropped=True,
            accept_base_dropped=True,
            accept_label_dropped=True,
            accept_lowercase_choice=True,
            rounded_decimal_digits=12,
            plain_number_only=False,
            string_equality=False,
            zero_is_no_answer=False,
            vote_budget=_VOTE_BUDGET,
            placeholders=(
                "<number>",
                "<letter>",
                "<answer>",
                "number",
                "letter",
                "answer",
                "your answer",
                "...",
            ),
        )
