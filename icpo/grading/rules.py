"""Settings of grading: what counts as an answer, and as equal."""

from typing import Annotated

from pydantic import AfterValidator, NonNegativeInt

from icpo.types import validated

PLACEHOLDERS = ("<number>", "<letter>", "<answer>", "number", "letter", "answer", "your answer", "...")


def _casefolded(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text.casefold() for text in texts)


@validated
class GradingRules:
    r"""What counts as an answer, and which differences of form are forgiven.

    The defaults are those of protocol `paper`: values decide, and every difference of form is forgiven.

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

    accept_marked_answer: bool = True
    accept_bare_answer: bool = True
    accept_unit_dropped: bool = True
    accept_percent_dropped: bool = True
    accept_base_dropped: bool = True
    accept_label_dropped: bool = True
    accept_lowercase_choice: bool = True
    rounded_decimal_digits: NonNegativeInt = 12
    plain_number_only: bool = False
    string_equality: bool = False
    zero_is_no_answer: bool = False
    vote_budget: NonNegativeInt = 32
    placeholders: Annotated[tuple[str, ...], AfterValidator(_casefolded)] = PLACEHOLDERS
