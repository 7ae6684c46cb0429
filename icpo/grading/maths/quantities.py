"""Numbers with units, digits with a base, quantities side by side."""

from collections.abc import Sequence
from itertools import pairwise

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import Sum
from icpo.grading.maths.expressions import read_expression, read_prefix
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.numerals import read_numeral
from icpo.grading.maths.powers import power
from icpo.grading.maths.tokens import Token, UnreadableError, are_words
from icpo.grading.maths.units import CURRENCIES, MAGNITUDES, read_unit


def read_quantity(tokens: Sequence[Token]) -> Answer:
    """A quantity: number with unit, or digits with base."""
    if (based := _read_based(tokens)) is not None:
        return based
    if (compound := _read_compound(tokens)) is not None:
        return compound
    tokens, currency = _without_currency(tokens)
    value, num_read = read_prefix(tokens)
    unit = list(tokens[num_read:])
    if unit and unit[0].kind in ("words", "text"):
        first, _, rest = unit[0].text.partition(" ")
        if magnitude := MAGNITUDES.get(first.casefold().rstrip(".")):
            value = algebra.multiply(value, algebra.number(magnitude))
            unit = [Token("words", rest), *unit[1:]] if rest else unit[1:]
    if not unit:
        return Answer("scalar", currency, value)
    name = read_unit(unit, is_one=value.constant == 1)
    if name is None or (currency and not name.startswith("/")):
        raise UnreadableError("words behind a number that are no unit")
    return Answer("scalar", currency + name, value)


def unit_as_symbols(unit: str) -> Sum | None:
    """A unit as a product of letters, m/s; None for longer names."""
    above, *below = unit.split("/")
    product = algebra.number(1)
    for name, sign in [*((one, 1) for one in above.split()), *((one, -1) for one in below)]:
        base, _, n = name.partition("^")
        letter = {"sec": "s", "hr": "h"}.get(base, base)
        if len(letter) > 1 or not letter.isalpha():
            return None
        product = algebra.multiply(product, power(algebra.symbol(letter), algebra.number(sign * int(n or 1))))
    return product


def _read_compound(tokens: Sequence[Token]) -> Answer | None:
    """5 ft 6 in, 1 hour 30 minutes; None if it is no such thing."""
    starts = [
        i
        for i, token in enumerate(tokens)
        if token.kind == "number" and (i == 0 or are_words(tokens[i - 1 : i]) or tokens[i - 1].text == "°")
    ]
    if len(starts) < 2 or starts[0] != 0:
        return None
    parts = []
    for start, end in pairwise([*starts, len(tokens)]):
        unit = read_unit(tokens[start + 1 : end], is_one=True)
        if not unit:
            return None
        parts.append(Answer("scalar", unit, read_expression(tokens[start : start + 1])))
    return Answer("compound", parts=tuple(parts))


def _without_currency(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """The tokens without a sign of money in front (after a minus), and its unit ("" if there is none)."""
    for i, token in enumerate(tokens[:2]):
        if token.text in CURRENCIES and (i == 0 or tokens[0].text == "-"):
            return [*tokens[:i], *tokens[i + 1 :]], CURRENCIES[token.text]
    return tokens, ""


def _read_based(tokens: Sequence[Token]) -> Answer | None:
    """4343_6, (4343)_{six} or 4343 in base 6; None if it is no such thing."""
    texts = [token.text.casefold() for token in tokens if token.text not in ("{", "}", "(", ")")]
    sign = "-" if texts[:1] == ["-"] else ""
    texts = " ".join(texts[1:] if sign else texts).replace("in base", "base").split()
    if len(texts) < 3 or not texts[0].isdigit():
        return None
    at = next((i for i, text in enumerate(texts) if text in ("_", "base")), 0)
    tail = [text for text in texts[at + 1 :] if text != "base"]
    digits = "".join(texts[:at]).upper()
    if not at or len(tail) != 1 or not digits.isalnum():
        return None
    numeral = read_numeral(tail)
    base = str(numeral[0]) if numeral else tail[0]
    is_base = base.isdecimal() and len(base) < 3
    return Answer("based", f"{sign}{digits.lstrip('0') or '0'}_{base}") if is_base else None
