"""Units of measure behind (or, for money, before) a value: which spellings are one unit."""

import re
from collections.abc import Sequence

from icpo.grading.maths.tokens import Token

CURRENCIES = {r"\$": "$", "€": "€", "£": "£", "¥": "¥"}
_SPELLINGS = {
    "°": "degree", "deg": "degree", "dollar": "$", "usd": "$", "euro": "€", "pound": "£", "cent": "¢",
    "%": "percent",
    "centimeter": "cm", "centimetre": "cm", "millimeter": "mm", "millimetre": "mm", "meter": "m", 
    "metre": "m",
    "kilometer": "km", "kilometre": "km", "inche": "inch", "in": "inch", "foot": "ft", "feet": "ft",
    "mile": "mi",
    "hour": "hr", "minute": "min", "second": "sec", "gram": "g", "kilogram": "kg", "unit": "",
}  # fmt: skip
_JOINED = {"degreecelsiu": "degreec", "degreecelsius": "degreec", "degreefahrenheit": "degreef"}
_POWERS = {"square": "^2", "sq": "^2", "cubic": "^3"}


def canonical_unit(tokens: Sequence[Token]) -> str:
    """One spelling for the unit that the tokens write: "cm^2" for both "square centimeters" and "cm^{2}"."""
    written = " ".join(
        token.text for token in tokens if token.text not in ("{", "}", "*", "(", ")")
    ).casefold()
    power = ""
    words: list[str] = []
    for word in re.findall(r"[^\W\d_]+|\d+|\S", written):
        if word in _POWERS:
            power = _POWERS[word]
        else:
            words.append(_singular(word))
    unit = _JOINED.get("".join(words), "".join(words)) + power
    return "" if unit in ("^2", "^3") else unit


def _singular(word: str) -> str:
    for form in (word, word.removesuffix("s")):
        if form in _SPELLINGS:
            return _SPELLINGS[form]
    return word.removesuffix("s") if len(word) > 3 else word
