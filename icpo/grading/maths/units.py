"""Units of values: spellings of one unit, and words that are none."""

import re
from collections.abc import Sequence

from icpo.grading.maths.tokens import Token

CURRENCIES = {r"\$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹"}
MAGNITUDES = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7,
}  # fmt: skip
# Symbols, in which a small letter is not its capital: mW is not MW.
_SYMBOLS = frozenset(
    ("mm", "cm", "dm", "m", "km", "nm", "mg", "g", "kg", "Mg", "mL", "L", "ms", "ns", "Hz", "kHz", "MHz",
     "GHz", "N", "kN", "J", "mJ", "kJ", "MJ", "W", "mW", "kW", "MW", "GW", "kWh", "V", "mV", "kV", "A", "mA",
     "Pa",
     "kPa", "MPa", "eV", "keV", "MeV", "GeV", "mol", "rad", "ft", "mi", "lb", "oz", "yd", "C", "F", "K", "T")
)  # fmt: skip
_RENAMED = {
    "°": "degree", "°C": "degreec", "°F": "degreef", "%": "percent", "$": "$", "€": "€", "£": "£", "¥": "¥",
    "₹": "₹", "¢": "¢", "s": "sec", "l": "L", "ml": "mL", "h": "hr", "fps": "ft/sec", "kmh": "km/hr",
}  # fmt: skip
_WORDS = {
    word: unit
    for unit, words in {
        "degree": "deg degree", "degreec": "celsiu celsius degreec", "degreef": "fahrenheit degreef",
        "$": "dollar usd buck", "€": "euro eur", "₹": "rupee inr", "¢": "cent", "pound": "pound",
        "percent": "percent",
        "mm": "mm millimeter", "cm": "cm centimeter", "dm": "decimeter", "m": "meter", "km": "km kilometer",
        "nm": "nanometer", "inch": "in inch inche", "ft": "ft foot feet", "mi": "mi mile", "yd": "yd yard",
        "sec": "sec second", "min": "min minute", "hr": "hr hour", "ms": "millisecond", "mg": "milligram",
        "g": "gram", "kg": "kg kilogram", "oz": "oz ounce", "lb": "lb", "L": "liter", "mL": "ml milliliter",
        "W": "watt", "kW": "kilowatt", "MW": "megawatt", "mW": "milliwatt", "J": "joule", "kJ": "kilojoule",
        "N": "newton", "V": "volt", "A": "amp ampere", "Hz": "hertz", "Pa": "pascal", "K": "kelvin",
        "mol": "mole", "rad": "radian", "": "unit", "am": "am", "pm": "pm", "mi/hr": "mph", "km/hr": "kph",
    }.items()
    for word in words.split()
}  # fmt: skip
_IN_CAPITALS = frozenset(
    {"am", "pm", "cm", "mm", "km", "kg", "ft", "mph", "lb", "oz", "min", "sec", "hr", "usd", "eur", "inr"}
)
_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_BEHIND = {"squared": 2, "cubed": 3}
_SQUARES = frozenset(name + n for name in ("mm", "cm", "m", "km") for n in "23")  # 5 ft 2 is a height
_IRREGULAR = frozenset(
    ("people", "children", "men", "women", "mice", "fish", "sheep", "geese", "teeth", "dice",
     "vertices", "matrices", "indices", "criteria", "phenomena", "data")
)  # fmt: skip
# Words that change the number in front of them, or relate it to another.
_NO_NOUNS = frozenset(
    (
        "a", "about", "above", "again", "all", "almost", "also", "always", "an", "and", "any", "apart",
        "approximately", "are", "as", "at", "away", "bases", "below", "besides", "between", "billions",
        "both", "but", "by", "choose", "cosine", "cubed", "divided", "does", "dozens", "each", "eight",
        "either", "else", "equals", "even", "every", "exactly", "few", "fewer", "five", "for", "four",
        "from", "greater", "gross", "half", "halves", "has", "hence", "hundreds", "if", "in", "including",
        "infinite", "infinitely", "infinity", "into", "inverse", "is", "its", "less", "like", "millions",
        "minus", "mod", "modulo", "more", "most", "neither", "nine", "no", "none", "nor", "not", "of",
        "off", "mille", "on", "once", "one", "only", "or", "others", "out", "over", "per", "perhaps",
        "permille", "plus",
        "possibly", "quarter", "quarters", "r", "remainder", "same", "scores", "seven", "since", "six",
        "some", "squared", "ten", "tens", "than", "that", "the", "then", "these", "this", "thousands",
        "three", "thus", "to", "trillions", "twice", "two", "under", "unless", "up", "upon", "us", "versus",
        "via", "vs", "was", "were", "when", "where", "which", "while", "with", "without", "yes", "zero",
    )
)  # fmt: skip
_FRACTIONS = re.compile(
    r"(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|\w+tieth|hundredth"
    r"|thousandth|half|halve|quarter)s?"
)
_LARGE = re.compile(
    r"(?:m|b|tr|quadr|quint|sext|sept|oct|non|dec|z)illi(?:on|ard)(?:s|en|es|ths?)?|\w+ill(?:ones|ón)|mil|milles"
    r"|tausend|lacs?|myriads?|googols?|grosses|factorials?"
)
_PIECE = re.compile(r"°\s*[CF](?![A-Za-z])|[A-Za-z]+|\d+|\S")
_ONE_OF_SEVERAL = (("pound", "lb"), ("pound", "£"))


def read_unit(tokens: Sequence[Token], *, is_one: bool) -> str | None:
    """One spelling for a unit.

    Such as "cm^2" for both "square centimeters" and "cm^{2}". Nouns of counted things are units too (a
    singular only of one thing); None for words that are no unit.
    """
    written = " ".join(token.text for token in tokens if token.text not in ("{", "}", "*", "(", ")"))
    pieces = _PIECE.findall(written.replace(r"\$", "$"))
    measured = _measured(pieces)
    return measured if measured is not None else _counted(pieces, is_one=is_one)


def may_be_one_unit(one: str, other: str) -> bool:
    """Whether two units are or may mean the same."""
    return one == other or (one, other) in _ONE_OF_SEVERAL or (other, one) in _ONE_OF_SEVERAL


def _measured(pieces: Sequence[str]) -> str | None:
    """The unit that known units, powers and "per" make; None if another word is among them."""
    above: dict[str, int] = {}
    sign, power, last = 1, 1, ""
    for i, piece in enumerate(pieces):
        lower = piece.casefold()
        if lower in ("per", "/") and i + 1 < len(pieces):
            sign = -1
        elif lower in _POWERS and i + 1 < len(pieces):
            power = _POWERS[lower]
        elif lower in _POWERS_BEHIND and last:
            above[last] *= _POWERS_BEHIND[lower]
        elif piece in ("^", "-") and last and i + 1 < len(pieces) and pieces[i - 1] != "-":
            continue
        elif piece.isdecimal() and last and (pieces[i - 1] in "^-" or last + piece in _SQUARES):
            above[last] *= -int(piece) if pieces[i - 1] == "-" else int(piece)
        elif piece == "." and last:
            continue
        elif (unit := _known(piece)) is not None:
            for name in filter(None, unit.split("/")[:1]):
                above[name] = above.get(name, 0) + sign * power
                last = name
            for name in unit.split("/")[1:]:
                above[name] = above.get(name, 0) - sign * power
            power = 1
        elif sign < 0 and _is_noun(lower):
            above[lower] = above.get(lower, 0) - 1
        elif piece != ".":
            return None
    return _joined(above)


def _is_noun(word: str) -> bool:
    """Whether a word may name a counted thing."""
    is_part = word in _NO_NOUNS or word in MAGNITUDES or _FRACTIONS.fullmatch(word) or _LARGE.fullmatch(word)
    return len(word) > 2 and word.isalpha() and not is_part


def _known(piece: str) -> str | None:
    """The unit that a symbol or word is; None if it is none."""
    piece = piece.replace(" ", "")
    if piece in _SYMBOLS:
        return piece
    if piece in _RENAMED:
        return _RENAMED[piece]
    lower = piece.casefold()
    british = lower.replace("metre", "meter").replace("litre", "liter")
    for form in (lower, british, british.removesuffix("s")):
        is_cased = piece.islower() or len(form) > 3 or form in _IN_CAPITALS
        if form in _WORDS and is_cased and piece not in ("Mm", "MM"):
            return _WORDS[form]
    return None


def _joined(units: dict[str, int]) -> str:
    degree = {"degreec", "degreef"} & units.keys()
    if degree and "degree" in units:
        units = {name: n for name, n in units.items() if name != "degree"}
    above = " ".join(_raised(name, n) for name, n in sorted(units.items()) if n > 0)
    below = "/".join(_raised(name, -n) for name, n in sorted(units.items()) if n < 0)
    return f"{above}/{below}" if below else above


def _raised(name: str, n: int) -> str:
    return name if n == 1 else f"{name}^{n}"


def _counted(pieces: Sequence[str], *, is_one: bool) -> str | None:
    """The counted things: up to four words, the last in the plural; None if another word is among them."""
    words = [piece.casefold() for piece in pieces if piece not in (".", "-", "'")]
    if not 0 < len(words) <= 4 or not all(map(_is_noun, words)):
        return None
    noun = words[-1]
    is_plural = (noun.endswith("s") and not noun.endswith(("ss", "us", "is"))) or noun in _IRREGULAR
    if not (is_plural or is_one) or noun.endswith(("ed", "ly", "ing")):
        return None
    return " ".join(words)
