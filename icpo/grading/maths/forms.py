"""The form of an answer: its kind, parts and exact value."""

import re
from dataclasses import dataclass, field
from typing import Literal

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import Sum
from icpo.grading.maths.tokens import is_sequence

# In the order in which equivalence asks: of two shapes, the rules of the earlier one decide.
Shape = Literal[
    "oversized",  # `mark` is the text; too long to be read or too large to be written out
    "labelled",  # x = 5: the part is the value, `mark` the label, `value` the equation if it is one
    "words",  # `mark` is the phrase, in small letters
    "unread",  # `mark` is the text; math-verify may know it
    "builder",  # {head : condition} whose condition does not name its elements
    "cases",  # a piecewise function: rows of value and condition
    "compound",  # quantities side by side: 5 ft 6 in
    "list",  # elements without brackets, order free
    "set",
    "union",
    "interval",  # two ends; `mark` is its brackets
    "tuple",  # round brackets, order kept; of two scalars also an open interval
    "bracket",  # square brackets around three or more elements
    "ratio",  # parts of 3:4:5, or of a time
    "range",  # amounts joined by a dash; which numbers it holds is not said
    "matrix",  # parts are rows
    "row",
    "equation",  # `value` is 0, scaled so that equal lines are equal
    "inequality",  # `value` compared with 0 by `mark`
    "scalar",  # a number or expression; `mark` is its unit
    "based",  # digits in a base, "4343_6"; `mark` is "digits_base"
]

MAX_NORMAL_FORM_CHARACTERS = 1000
_ROWS = r" \\ "
_SEPARATORS = {"union": r" \cup ", "ratio": ":", "range": "–", "row": " & ", "compound": " "}
_OPTIONS = frozenset(f"({letter})" for letter in "ABCDEFGHIJ")
_ANY_LABEL = r"\text{value}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A form with its parts; equal forms have equal values."""

    shape: Shape
    mark: str = ""
    value: Sum | None = None
    parts: "tuple[Answer, ...]" = ()
    given: "tuple[Answer, ...]" = field(default=(), compare=False)
    source: str = field(default="", compare=False)

    @property
    def is_infinite(self) -> bool:
        """Whether it is plus or minus infinity."""
        return self.value is not None and any(
            generator.name == r"\infty" for generator in self.value.generators
        )

    @property
    def names(self) -> list[str]:
        """The names that a label gives to each element of a tuple or ratio: a, b of (a,b) = (1,2)."""
        is_named = self.shape == "labelled" and self.parts[0].shape in ("tuple", "ratio")
        names = re.split("[,:]", self.mark.removeprefix("(").removesuffix(")"))
        return names if is_named and len(names) == len(self.parts[0].parts) else []


def unordered(shape: Shape, parts: "tuple[Answer, ...]") -> Answer:
    """A list, set or union with sorted parts.

    In sets and unions each part occurs once; `given` keeps them as written. The union of one thing with
    itself is that thing.
    """
    once = tuple(dict.fromkeys(parts)) if shape in ("set", "union") else parts
    if shape == "union" and len(once) == 1:
        return once[0]
    return Answer(shape, parts=tuple(sorted(once, key=_render)), given=parts)


def normal_form(answer: Answer) -> str:
    """One LaTeX text for all answers of a value."""
    text = _render(answer)
    is_writable = len(text) <= MAX_NORMAL_FORM_CHARACTERS and "0x" not in text
    return text if is_writable else answer.source or answer.mark


def _render(answer: Answer) -> str:
    parts = [_render(part) for part in answer.parts]
    inner = ", ".join(parts)
    match answer.shape:
        case "scalar" | "equation" | "inequality" if answer.value is not None:
            return _render_value(answer.shape, answer.mark, algebra.render(answer.value))
        case "words":
            return rf"\text{{{answer.mark}}}"
        case "tuple":
            return f"({inner})"
        case "bracket":
            return f"[{inner}]"
        case "set":
            return rf"\{{{inner}\}}"
        case "interval":
            return f"{answer.mark[0]}{inner}{answer.mark[1]}"
        case "labelled" if answer.names and answer.parts[0].shape == "tuple":
            values = map(_render, answer.parts[0].parts)
            return ", ".join(f"{name} = {value}" for name, value in zip(answer.names, values, strict=True))
        case "labelled":
            sign = r"\in" if answer.parts[0].shape in ("interval", "union") else "="
            return (
                f"{answer.mark} {inner}"
                if answer.mark in _OPTIONS
                else f"{answer.mark or _ANY_LABEL} {sign} {inner}"
            )
        case "builder":
            return rf"\{{{' : '.join(parts)}\}}"
        case "matrix":
            return rf"\begin{{pmatrix}} {_ROWS.join(parts)} \end{{pmatrix}}"
        case "cases":
            return rf"\begin{{cases}} {_ROWS.join(parts)} \end{{cases}}"
        case "list":
            return inner
    return _SEPARATORS[answer.shape].join(parts) if answer.shape in _SEPARATORS else answer.mark


def _render_value(shape: str, mark: str, value: str) -> str:
    if shape == "equation":
        return f"{value} = 0"
    if shape == "inequality":
        return f"{value} {mark} 0"
    if value.isalpha() and is_sequence(value):
        value = r" \cdot ".join(value)  # a product, not the word that its letters spell
    currency, per, divisor = mark.partition("/")
    if currency in ("$", "€", "£", "¥", "₹"):
        return (
            ("\\" if currency == "$" else "") + currency + value + (rf"\text{{ /{divisor}}}" if per else "")
        )
    affix = {"": "", "percent": r"\%", "degree": r"^\circ", "¢": r"\text{ cents}"}
    return value + affix.get(mark, rf"\text{{ {mark}}}")
