"""An answer's text to its form: lists, brackets, relations, units and words, with exact values inside."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import OversizedError
from icpo.grading.maths.expressions import read_expression
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.intervals import REALS, interval, union
from icpo.grading.maths.relations import equation, inequality
from icpo.grading.maths.tokens import Token, UnreadableError, clean, closing_index, split, tokenise
from icpo.grading.maths.units import CURRENCIES, canonical_unit

MAX_CHARACTERS = 1000

_INEQUALITIES = frozenset({"<", ">", r"\le", r"\ge", r"\ne"})
_RELATIONS = _INEQUALITIES | {"=", r"\in", r"\approx"}
_EMPTY_SET = unordered("set", ())
_NAMED_SETS = {algebra.symbol(r"\emptyset"): _EMPTY_SET, algebra.symbol(r"\mathbb{R}"): REALS}
_PHRASES = {
    **dict.fromkeys(("all real numbers", "all reals", "real numbers", "all real values"), REALS),
    **dict.fromkeys(
        ("no solution", "no solutions", "no real solutions", "no real solution", "empty set"), _EMPTY_SET
    ),
}
_INTRODUCTIONS = frozenset(
    {"is", "are", "equals", "answer", "about", "approximately", "approx", "exactly", "be"}
)
_MAGNITUDES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_BASES = dict(
    zip(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        range(2, 13),
        strict=True,
    )
)


@lru_cache(maxsize=8192)
def read(text: str) -> Answer:
    """The form of an answer; never raises: no known form is `unread`, too large a one `oversized`."""
    if len(text) > MAX_CHARACTERS:
        return Answer("oversized", text.strip(), source=text.strip())
    cleaned = clean(text) or text.strip()
    try:
        return replace(_read_elements(tokenise(cleaned)), source=cleaned)
    except OversizedError:
        return Answer("oversized", _squeezed(cleaned), source=cleaned)
    except (UnreadableError, ZeroDivisionError):
        return Answer("unread", _squeezed(cleaned), source=cleaned)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _read_elements(tokens: Sequence[Token]) -> Answer:
    """One answer, or the list of those that commas, "and" or "or" part."""
    elements = _elements(tokens)
    if len(elements) == 1:
        return elements[0]
    if all(one.shape in ("interval", "union") for one in elements) and any(
        t == ("connector", "or") for t in tokens
    ):
        return union(elements)
    labels = [one.mark for one in elements if one.shape == "labelled"]
    values = tuple(one.parts[0] if one.shape == "labelled" else one for one in elements)
    if len(labels) == len(elements) == len(set(labels)):
        return Answer(
            "tuple", parts=tuple(value for _, value in sorted(zip(labels, values, strict=True), key=_label))
        )
    return unordered("list", values)


def _label(labelled: tuple[str, Answer]) -> str:
    return labelled[0]


def _elements(tokens: Sequence[Token]) -> list[Answer]:
    elements: list[Answer] = []
    for part in filter(None, split(tokens, {",", ";", "and", "or"})):
        is_set = part[0].text == r"\{" and closing_index(part, 0) == len(part) - 1
        if not is_set and any(token.text in (r"\pm", r"\mp") for token in part):
            signs = {
                _read_one(_signed(part, plus="+", minus="-")): 0,
                _read_one(_signed(part, plus="-", minus="+")): 0,
            }
            elements.extend(signs)
        else:
            elements.append(_read_one(part))
    if not elements:
        raise UnreadableError("no answer between commas")
    return elements


def _signed(tokens: Sequence[Token], *, plus: str, minus: str) -> list[Token]:
    r"""The tokens with \pm read as `plus` and \mp as `minus`."""
    sign = {r"\pm": Token("mark", plus), r"\mp": Token("mark", minus)}
    return [sign.get(token.text, token) for token in tokens]


def _read_one(tokens: Sequence[Token]) -> Answer:
    if not tokens:
        raise UnreadableError("nothing stands here")
    if all(token.kind in ("words", "text") for token in tokens):
        return _words(tokens)
    if tokens[0].kind in ("words", "text") and _INTRODUCTIONS.intersection(
        tokens[0].text.casefold().split()[-1:]
    ):
        return _read_elements(tokens[1:])
    relations = [token.text for token in _outside(tokens) if token.text in _RELATIONS]
    if relations and _INEQUALITIES.isdisjoint(relations):
        return _read_relation(split(tokens, _RELATIONS), relations)
    if len(pieces := split(tokens, {r"\cup"})) > 1:
        return union(list(map(_read_one, pieces)))
    if relations:
        return _read_relation(split(tokens, _RELATIONS), relations)
    if len(ratio := split(tokens, {":"})) > 1:
        return Answer("ratio", parts=tuple(map(_read_scalar, ratio)))
    if closing_index(tokens, 0) == len(tokens) - 1 and len(tokens) > 1:
        return _read_group(tokens)
    return _read_scalar(tokens)


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """The tokens outside all brackets."""
    outside: list[Token] = []
    i = 0
    while i < len(tokens):
        end = closing_index(tokens, i)
        outside.extend([tokens[i]] if end == i else [])
        i = (len(tokens) if end is None else end) + 1
    return outside


def _words(tokens: Sequence[Token]) -> Answer:
    phrase = " ".join(" ".join(token.text for token in tokens).casefold().split())
    return _PHRASES.get(phrase.strip(" .,:;!?'\""), Answer("words", phrase.strip(" .,:;!?'\"")))


def _read_group(tokens: Sequence[Token]) -> Answer:
    opening, closing, inner = tokens[0], tokens[-1].text, tokens[1:-1]
    if opening.kind == "begin":
        return _read_matrix(opening.text, inner)
    if opening.text == "{":
        return _read_elements(inner)
    if opening.text == r"\{":
        return _read_set(inner)
    parts = split(inner, {",", ";"})
    if len(parts) == 1 and opening.text + closing in ("()", "[]"):
        return _read_elements(inner)
    elements = tuple(map(_read_one, parts))
    is_range = len(elements) == 2 and all(element.shape == "scalar" for element in elements)
    if is_range and (opening.text + closing != "()" or any(element.is_infinite for element in elements)):
        return interval(elements[0], elements[1], opening.text + closing)
    if opening.text + closing not in ("()", "[]"):
        raise UnreadableError("brackets of two kinds around what is no interval")
    return Answer("tuple" if opening.text == "(" else "bracket", parts=elements)


def _read_set(inner: Sequence[Token]) -> Answer:
    if not inner:
        return _EMPTY_SET
    conditions = split(inner, {"|", ":"})
    if len(conditions) == 2:
        return _read_elements(conditions[1])
    return unordered("set", tuple(_elements(inner)))


def _read_matrix(environment: str, inner: Sequence[Token]) -> Answer:
    if environment not in ("pmatrix", "bmatrix", "matrix", "smallmatrix", "array"):
        raise UnreadableError(f"{environment} is no matrix")
    if environment == "array" and inner and (end := closing_index(inner, 0)):
        inner = inner[end + 1 :]
    rows = [split(row, {"&"}) for row in split(inner, {r"\\"}) if row]
    return Answer("matrix", parts=tuple(Answer("row", parts=tuple(map(_read_one, row))) for row in rows))


def _read_relation(sides: list[list[Token]], signs: list[str]) -> Answer:
    if r"\in" in signs:
        if len(signs) > 1:
            raise UnreadableError("more than membership")
        return _read_one(sides[1])
    if r"\approx" in signs:
        exact = sides[: signs.index(r"\approx") + 1]
        if len(exact) == 1:
            return _read_one(exact[0] if _label_of(exact[0]) is None else sides[1])
        return _read_relation(exact, signs[: len(exact) - 1])
    if "=" not in signs:
        return inequality([read_expression(side) for side in sides], signs)
    if set(signs) != {"="}:
        raise UnreadableError("an equation among inequalities")
    return _read_equation(sides)


def _read_equation(sides: list[list[Token]]) -> Answer:
    label, value = _label_of(sides[0]), sides[-1]
    if label is None and len(sides) == 2 and (label := _label_of(sides[1])) is not None:
        value = sides[0]
    if label is not None:
        return _read_labelled(label, value)
    left, right = read_expression(sides[0]), read_expression(sides[-1])
    if (
        any(g.kind == "symbol" for g in algebra.add(left, algebra.negate(right)).generators)
        and len(sides) == 2
    ):
        return equation(left, right)
    return Answer("scalar", value=right)


def _read_labelled(label: str, tokens: Sequence[Token]) -> Answer:
    value = _read_one(tokens)
    line: algebra.Sum | None = None
    if value.shape == "scalar" and value.value is not None and not value.mark and "(" not in label and label:
        variable = algebra.symbol(label)
        if not variable.generators.isdisjoint(value.value.generators):
            return equation(variable, value.value)
        line = equation(variable, value.value).value
    return Answer("labelled", label, line, (value,))


def _label_of(tokens: Sequence[Token]) -> str | None:
    """The name alone on a side: a symbol, f(x), or words (which give the empty label); else None."""
    if not tokens:
        return None
    if all(token.kind in ("words", "text") for token in tokens):
        return ""
    try:
        value = read_expression(tokens)
    except (UnreadableError, ArithmeticError):
        return None
    if (
        tokens[0].kind == "letter"
        and [token.text for token in tokens[1:2]] == ["("]
        and tokens[-1].text == ")"
    ):
        is_call = closing_index(tokens, 1) == len(tokens) - 1 and all(
            t.kind == "letter" or t.text in "()," for t in tokens
        )
        return "".join(token.text for token in tokens) if is_call else None
    [*names] = value.generators
    is_symbol = (
        len(names) == 1 and names[0].kind in ("symbol", "imaginary") and names[0].name not in ("e", r"\pi")
    )
    return names[0].name if is_symbol and value == algebra.symbol(names[0].name) else None


def _read_scalar(tokens: Sequence[Token]) -> Answer:
    """A number or expression with its unit, or digits with their base."""
    if (based := _read_based(tokens)) is not None:
        return based
    tokens, currency = _without_currency(tokens)
    end = next((i for i, token in enumerate(tokens) if i and _starts_unit(token)), len(tokens))
    value, unit = read_expression(tokens[:end]), list(tokens[end:])
    if unit and (magnitude := _MAGNITUDES.get(unit[0].text.casefold().split()[0])):
        value = algebra.multiply(value, algebra.number(magnitude))
        unit[0] = Token("words", unit[0].text.partition(" ")[2])
    if value in _NAMED_SETS and not unit:
        return _NAMED_SETS[value]
    return Answer("scalar", currency or canonical_unit(unit), value)


def _without_currency(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """The tokens without a sign of money in front (after a minus), and its unit ("" if there is none)."""
    for i, token in enumerate(tokens[:2]):
        if token.text in CURRENCIES and (i == 0 or tokens[0].text == "-"):
            return [*tokens[:i], *tokens[i + 1 :]], CURRENCIES[token.text]
    return tokens, ""


def _starts_unit(token: Token) -> bool:
    return token.kind in ("words", "text") or token.text in ("%", "°") or token.text in CURRENCIES


def _read_based(tokens: Sequence[Token]) -> Answer | None:
    """4343_6, 4343_{6}, 4343_{six} or 4343 base 6; None if it is no such thing."""
    texts = [token.text for token in tokens if token.text not in ("{", "}", "(", ")")]
    sign = "-" if texts[:1] == ["-"] else ""
    texts = texts[1:] if sign else texts
    if len(texts) < 3 or not texts[0].isdigit():
        return None
    at = next((i for i, text in enumerate(texts) if text.casefold() in ("_", "base")), 0)
    tail = [text.casefold() for text in texts[at + 1 :] if text.casefold() != "base"]
    digits = "".join(texts[:at])
    if not at or len(tail) != 1 or not digits.isalnum():
        return None
    base = _BASES.get(tail[0]) or (int(tail[0]) if tail[0].isdigit() and len(tail[0]) < 3 else None)
    return None if base is None else Answer("based", f"{sign}{digits.lstrip('0') or '0'}_{base}")
