"""An answer's text to its form: lists, brackets, relations, units and words, with exact values inside."""

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
from icpo.grading.maths.intervals import REALS, above, below, difference, intersection, interval, union
from icpo.grading.maths.matrices import read_cases, read_matrix, read_scaled_matrix
from icpo.grading.maths.numerals import read_numeral
from icpo.grading.maths.quantities import read_quantity
from icpo.grading.maths.relations import inequality, labelled
from icpo.grading.maths.tokens import (
    Token,
    UnreadableError,
    are_words,
    closing_index,
    is_short_word,
    split,
    squeeze,
    tokenise,
)
from icpo.grading.maths.typesetting import clean

MAX_CHARACTERS = 1000
_PLAIN_NUMBER = re.compile(r"-?\d{1,100}(?:\.\d{1,100})?")
_INEQUALITIES = frozenset({"<", ">", r"\le", r"\ge", r"\ne"})
_RELATIONS = _INEQUALITIES | {"=", r"\in", r"\notin", r"\approx"}
_EMPTY_SET = unordered("set", ())
_ZERO = Answer("scalar", value=algebra.number(0))
_POSITIVE, _NEGATIVE = above(_ZERO, "("), below(_ZERO, ")")
_NAMED_SETS = {
    r"\emptyset": _EMPTY_SET,
    r"\mathbb{R}": REALS,
    **dict.fromkeys((rf"\mathbb{{R}}{sign}" for sign in ("^+", "^{+}", "_+", "_{+}", "_{>0}")), _POSITIVE),
    **dict.fromkeys((rf"\mathbb{{R}}{sign}" for sign in ("^-", "^{-}", "_-", "_{-}", "_{<0}")), _NEGATIVE),
}
_PHRASES = {
    **dict.fromkeys(("all real numbers", "all reals", "real numbers", "all real values"), REALS),
    **dict.fromkeys(
        ("no solution", "no solutions", "no real solutions", "no real solution", "empty set"), _EMPTY_SET
    ),
    **dict.fromkeys(("positive real numbers", "all positive real numbers", "positive reals"), _POSITIVE),
    **dict.fromkeys(("negative real numbers", "all negative real numbers", "negative reals"), _NEGATIVE),
    "dne": Answer("words", "does not exist"),
}
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\w\w)", re.IGNORECASE)
_INTRODUCTIONS = frozenset(
    {"is", "are", "equals", "answer", "about", "approximately", "approx", "exactly", "be"}
)
_OPTION = re.compile(r"(?:option|choice|answer)\s+(\(?[a-j]\)?)")


@lru_cache(maxsize=8192)
def read(text: str) -> Answer:
    """The form of an answer; never raises: no known form is `unread`, too large a one `oversized`."""
    if _PLAIN_NUMBER.fullmatch(text):
        return Answer("scalar", value=algebra.number(Fraction(text)), source=text)
    if len(text) > MAX_CHARACTERS:
        return Answer("oversized", text.strip(), source=text.strip())
    cleaned = clean(text) or text.strip()
    try:
        with algebra.limited_work():
            return replace(_read_elements(tokenise(cleaned)), source=cleaned)
    except (OversizedError, RecursionError):
        return Answer("oversized", _squeezed(cleaned), source=cleaned)
    except (UnreadableError, ZeroDivisionError):
        return Answer("unread", _squeezed(cleaned), source=cleaned)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _read_elements(tokens: Sequence[Token]) -> Answer:
    """One answer, or what commas, "and" or "or" make of several."""
    elements = _elements(tokens)
    if len(elements) == 1:
        return elements[0]
    connectors = {token.text for token in tokens if token.kind == "connector"}
    if len(connectors) < 2 and (joined := _joined(elements, *(connectors or {","}))) is not None:
        return joined
    labels = [one.mark for one in elements if one.shape == "labelled"]
    values = tuple(one.parts[0] if one.shape == "labelled" else one for one in elements)
    if len(labels) == len(elements) == len(set(labels)):
        ordered = sorted(zip(labels, values, strict=True), key=lambda one: one[0])
        return Answer("tuple", parts=tuple(value for _, value in ordered))
    return unordered("list", values)


def _joined(elements: Sequence[Answer], connector: str) -> Answer | None:
    """What "or" (the union) or "and" (what they share) makes of sets of one variable; None of other things.

    A comma means "and" if anything is shared (x > 0, x < 3), else "or" (x < 0, x > 3).
    """
    names = {one.mark if one.shape == "labelled" else "" for one in elements}
    sets = [one.parts[0] if one.shape == "labelled" else one for one in elements]
    if len(names) > 1 or any(one.shape not in ("interval", "union") for one in sets):
        return None
    if connector != "or" and names == {""}:
        return None
    joined: Answer | None = union(sets) if connector == "or" else intersection(sets)
    if joined == _EMPTY_SET:
        joined = union(sets) if connector == "," else None
    if joined is None:
        return None
    [name] = names
    return labelled(name, joined) if name else joined


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
        raise UnreadableError("nothing stands here")
    if are_words(tokens):
        return _read_words(tokens)
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
    if closing_index(tokens, 0) == len(tokens) - 1 and len(tokens) > 1:
        return _read_group(tokens)
    if _is_option(tokens):
        return labelled(squeeze(tokens[:3]), _read_one(tokens[3:]))
    if any(token.kind == "begin" for token in tokens):
        return read_scaled_matrix(tokens, _read_one)
    named = _NAMED_SETS.get(squeeze(tokens)) if tokens[0].text in (r"\emptyset", r"\mathbb{R}") else None
    return named or read_quantity(tokens)


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


def _read_words(tokens: Sequence[Token]) -> Answer:
    phrase = " ".join(" ".join(token.text for token in tokens).split()).strip(" .,:;!?'\"")
    if any(map(str.isdigit, phrase)):
        raise UnreadableError("digits among words")
    if option := _OPTION.fullmatch(phrase.casefold()):
        return Answer("words", option[1].upper())
    phrase = _ARTICLE.sub("", phrase, count=1) if _ARTICLE.match(phrase) else phrase
    lower = phrase.casefold()
    counted = _read_counted(lower.replace("-", " ").split())
    return counted or _PHRASES.get(lower) or Answer("words", phrase if is_spelling(phrase) else lower)


def _read_counted(words: Sequence[str]) -> Answer | None:
    """A number in words, alone or with its unit (two thirds, ten dollars); None if it is no such thing."""
    if (numeral := read_numeral(words)) is None:
        return None
    value, num_read = numeral
    if num_read == len(words):
        return Answer("scalar", value=algebra.number(value))
    try:
        return read_quantity([Token("number", str(value)), Token("words", " ".join(words[num_read:]))])
    except (UnreadableError, ValueError):
        return None


def is_spelling(phrase: str) -> bool:
    """Whether capitals count in it, as in Aa or HTh; not in words: plain, a title or all capitals."""
    if len(phrase) > 3 or not phrase.isalpha() or is_short_word(phrase):
        return False
    return len(phrase) < 3 or phrase not in (phrase.lower(), phrase.upper(), phrase.title())


def _is_option(tokens: Sequence[Token]) -> bool:
    """Whether the label of an option stands before a value: (D) 165."""
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
        return _EMPTY_SET
    bars = [i for i, token in enumerate(inner) if token.text == "|" and token.kind == "mark"]
    if len(split(inner, {":"})) == 2:
        head, condition = split(inner, {":"})
    elif len(bars) % 2:
        head, condition = list(inner[: bars[0]]), list(inner[bars[0] + 1 :])
    else:
        return unordered("set", tuple(_elements(inner)))
    return _built_set(_read_one(head), _read_elements(condition))


def _built_set(head: Answer, condition: Answer) -> Answer:
    """The solutions of the condition if it is one on x of {x : condition}, else a form of its own."""
    variable = head
    if head.shape == "labelled" and head.parts[0] == REALS:
        variable = Answer("scalar", value=algebra.symbol(head.mark))
    names_elements = (
        condition.shape == "labelled"
        and condition.parts[0].shape in ("interval", "union")
        and variable == Answer("scalar", value=algebra.symbol(condition.mark))
    )
    return condition.parts[0] if names_elements else Answer("builder", parts=(head, condition))
