"""From an answer's text to its form."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import OversizedError
from icpo.grading.maths.equations import read_relation
from icpo.grading.maths.expressions import read_expression
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.intervals import difference, interval, union
from icpo.grading.maths.matrices import read_cases, read_matrix, read_scaled_matrix
from icpo.grading.maths.numbers import approximates
from icpo.grading.maths.quantities import read_quantity
from icpo.grading.maths.relations import inequality, labelled, named_tuple
from icpo.grading.maths.sets import EMPTY_SET, NAMED_SETS, built_set, joined_sets
from icpo.grading.maths.tokens import (
    Token,
    UnreadableError,
    are_words,
    closing_index,
    split,
    squeeze,
    tokenise,
)
from icpo.grading.maths.typesetting import clean
from icpo.grading.maths.words import read_words

MAX_CHARACTERS = 1000
_PLAIN_NUMBER = re.compile(r"-?\d{1,100}(?:\.\d{1,100})?")
_GLOSSED = re.compile(
    r"(?P<value>[^()]*[^\s{])\s+(?:\\text\s*\{\s*)?"
    r"\(\s*(?P<gloss>-?\d*\.\d+|[A-Za-z]{3,}(?:[ -][A-Za-z]+)*)\s*\)\}?\s*"
)
_INEQUALITIES = frozenset({"<", ">", r"\le", r"\ge", r"\ne"})
_RELATIONS = _INEQUALITIES | {"=", r"\in", r"\notin", r"\approx"}
_INTRODUCTIONS = frozenset(
    {"is", "are", "equals", "answer", "about", "approximately", "approx", "exactly", "be"}
)


@lru_cache(maxsize=8192)
def read(text: str) -> Answer:
    """The form of an answer, `unread` or `oversized` if need be."""
    if _PLAIN_NUMBER.fullmatch(text):
        return Answer("scalar", value=algebra.number(Fraction(text)), source=text)
    if len(text) > MAX_CHARACTERS:
        return Answer("oversized", text.strip(), source=text.strip())
    if (gloss := _GLOSSED.fullmatch(text)) and _is_gloss(value := read(gloss["value"]), read(gloss["gloss"])):
        return replace(value, source=clean(gloss["value"]))
    cleaned = clean(text) or text.strip()
    try:
        with algebra.limited_work():
            return replace(_read_elements(tokenise(cleaned)), source=cleaned)
    except (OversizedError, RecursionError):
        return Answer("oversized", _squeezed(cleaned), source=cleaned)
    except (UnreadableError, ZeroDivisionError):
        return Answer("unread", _squeezed(cleaned), source=cleaned)


def _is_gloss(value: Answer, gloss: Answer) -> bool:
    """Whether a number in brackets says that before it once more: 1/2 (0.5), 11 (eleven)."""
    if value.shape != "scalar" or gloss.shape != "scalar" or gloss.mark not in ("", value.mark):
        return False
    assert value.value is not None and gloss.value is not None
    are_exact = value.value.is_complete and gloss.value.is_complete and value.value.is_closed
    return are_exact and (value.value == gloss.value or approximates(gloss.value, value.value, 2))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _read_elements(tokens: Sequence[Token]) -> Answer:
    """One answer, or what commas, "and" or "or" make of several."""
    elements = _elements(tokens)
    if len(elements) == 1:
        return elements[0]
    connectors = {token.text for token in tokens if token.kind == "connector"}
    if len(connectors) < 2 and (joined := joined_sets(elements, *(connectors or {","}))) is not None:
        return joined
    labels = [one.mark for one in elements if one.shape == "labelled"]
    values = tuple(one.parts[0] if one.shape == "labelled" else one for one in elements)
    if len(labels) == len(elements) == len(set(labels)):
        return named_tuple(labels, values)
    return unordered("list", values)


def _elements(tokens: Sequence[Token]) -> list[Answer]:
    elements: list[Answer] = []
    excluded: list[Token] = []  # of x != 1, 2 what comes before the 1
    for part in filter(None, split(tokens, {",", ";", "and", "or"})):
        texts = [token.text for token in part]
        if excluded and _RELATIONS.isdisjoint(texts):
            part = [*excluded, *part]
        excluded = part[: texts.index(r"\ne") + 1] if r"\ne" in texts else []
        has_signs = any(token.text in (r"\pm", r"\mp") for token in part)
        if has_signs and closing_index(part, 0) != len(part) - 1:
            both = (_read_one(_signed(part, plus="+")), _read_one(_signed(part, plus="-")))
            elements.extend(dict.fromkeys(both))
        else:
            elements.append(_read_one(part))
    if not elements:
        raise UnreadableError("no answer between commas")
    return elements


def _signed(tokens: Sequence[Token], *, plus: str) -> list[Token]:
    r"""The tokens with \pm read as `plus` and \mp as the other sign."""
    minus = "-" if plus == "+" else "+"
    sign = {r"\pm": Token("mark", plus), r"\mp": Token("mark", minus)}
    return [sign.get(token.text, token) for token in tokens]


def _read_one(tokens: Sequence[Token]) -> Answer:
    if not tokens:
        raise UnreadableError("an empty part")
    if are_words(tokens):
        return read_words(tokens)
    if tokens[0].kind in ("words", "text") and _INTRODUCTIONS.intersection(
        tokens[0].text.casefold().split()[-1:]
    ):
        return _read_elements(tokens[2:] if tokens[1].text == ":" else tokens[1:])
    relations = [token.text for token in _outside(tokens) if token.text in _RELATIONS]
    if relations and _INEQUALITIES.isdisjoint(relations):
        return read_relation(split(tokens, _RELATIONS), relations, _read_one)
    if len(pieces := split(tokens, {r"\cup"})) > 1:
        return union([_unlabelled(_read_one(piece)) for piece in pieces])
    if relations:
        return inequality(
            [read_expression(side) for side in split(tokens, _RELATIONS)], _only_inequalities(relations)
        )
    if len(pieces := split(tokens, {r"\setminus"})) == 2:
        return difference(*map(_read_one, pieces))
    if len(ratio := split(tokens, {":"})) > 1:
        if ratio[0] and are_words(ratio[0]):
            return labelled("", _read_one(tokens[len(ratio[0]) + 1 :]))
        return Answer("ratio", parts=tuple(map(read_quantity, ratio)))
    if len(ends := split(tokens, {"–"})) > 1:
        return Answer("range", parts=tuple(map(read_quantity, ends)))
    if closing_index(tokens, 0) == len(tokens) - 1 and len(tokens) > 1:
        return _read_group(tokens)
    if _is_option(tokens):
        return labelled(squeeze(tokens[:3]), _read_one(tokens[3:]))
    if any(token.kind == "begin" for token in tokens):
        return read_scaled_matrix(tokens, _read_one)
    named = NAMED_SETS.get(squeeze(tokens)) if tokens[0].text in (r"\emptyset", r"\mathbb{R}") else None
    return named or _as_time(read_quantity(tokens))


def _as_time(quantity: Answer) -> Answer:
    """5 PM as the time 5:00 PM: no number that could do without its PM."""
    if quantity.mark not in ("am", "pm") or quantity.shape != "scalar":
        return quantity
    minutes = Answer("scalar", quantity.mark, algebra.number(0))
    return Answer("ratio", parts=(replace(quantity, mark=""), minutes))


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """The tokens outside all brackets."""
    outside: list[Token] = []
    i = 0
    while i < len(tokens):
        end = closing_index(tokens, i)
        outside.extend([tokens[i]] if end == i else [])
        i = (len(tokens) if end is None else end) + 1
    return outside


def _unlabelled(one: Answer) -> Answer:
    return one.parts[0] if one.shape == "labelled" else one


def _only_inequalities(signs: list[str]) -> list[str]:
    if not _INEQUALITIES.issuperset(signs):
        raise UnreadableError("an equation among inequalities")
    return signs


def _is_option(tokens: Sequence[Token]) -> bool:
    """Whether a value begins with the label of an option: (D) 165."""
    return (
        len(tokens) > 3
        and [token.text for token in tokens[:3:2]] == ["(", ")"]
        and tokens[1].text in tuple("ABCDEFGHIJ")
        and (tokens[3].kind == "number" or tokens[3].text in (r"\frac", r"\sqrt", r"\$"))
    )


def _read_group(tokens: Sequence[Token]) -> Answer:
    opening, closing, inner = tokens[0], tokens[-1].text, tokens[1:-1]
    if opening.kind == "begin":
        return (
            read_cases(inner, _read_elements)
            if opening.text == "cases"
            else read_matrix(opening.text, inner, _read_one)
        )
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
        return EMPTY_SET
    bars = [i for i, token in enumerate(inner) if token.text == "|" and token.kind == "mark"]
    if len(split(inner, {":"})) == 2:
        head, condition = split(inner, {":"})
    elif len(bars) % 2:
        head, condition = list(inner[: bars[0]]), list(inner[bars[0] + 1 :])
    else:
        return unordered("set", tuple(_elements(inner)))
    return built_set(_read_one(head), _read_elements(condition))
