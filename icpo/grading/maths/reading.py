"""An answer's text to its form: lists, brackets, relations, units and words, with exact values inside."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import OversizedError
from icpo.grading.maths.expressions import read_expression, read_prefix
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.intervals import REALS, interval, reals_without, union
from icpo.grading.maths.labels import expression_label, name_of
from icpo.grading.maths.quantities import read_quantity
from icpo.grading.maths.relations import equation, inequality, intersection, labelled
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
MAX_MATRICES = 40  # environments that one answer may hold

_PLAIN_NUMBER = re.compile(r"-?\d{1,100}(?:\.\d{1,100})?")
_INEQUALITIES = frozenset({"<", ">", r"\le", r"\ge", r"\ne"})
_RELATIONS = _INEQUALITIES | {"=", r"\in", r"\notin", r"\approx"}
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "smallmatrix", "array"})
_EMPTY_SET = unordered("set", ())
_NAMED_SETS = {algebra.symbol(r"\emptyset"): _EMPTY_SET, algebra.symbol(r"\mathbb{R}"): REALS}
_PHRASES = {
    **dict.fromkeys(("all real numbers", "all reals", "real numbers", "all real values"), REALS),
    **dict.fromkeys(
        ("no solution", "no solutions", "no real solutions", "no real solution", "empty set"), _EMPTY_SET
    ),
}
_NUMERALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_INTRODUCTIONS = frozenset(
    {"is", "are", "equals", "answer", "about", "approximately", "approx", "exactly", "be"}
)
_CONDITIONAL = re.compile(r"(?:if|for|when|where|whenever|provided|otherwise|else|and|,|\s)+", re.IGNORECASE)
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
    if len(connectors) == 1 and (joined := _joined(elements, *connectors)) is not None:
        return joined
    labels = [one.mark for one in elements if one.shape == "labelled"]
    values = tuple(one.parts[0] if one.shape == "labelled" else one for one in elements)
    if len(labels) == len(elements) == len(set(labels)):
        ordered = sorted(zip(labels, values, strict=True), key=lambda one: one[0])
        return Answer("tuple", parts=tuple(value for _, value in ordered))
    return unordered("list", values)


def _joined(elements: Sequence[Answer], connector: str) -> Answer | None:
    """The union of sets that "or" joins, the intersection of two that "and" joins; None for other things."""
    names = {one.mark if one.shape == "labelled" else "" for one in elements}
    sets = [one.parts[0] if one.shape == "labelled" else one for one in elements]
    if len(names) > 1 or any(one.shape not in ("interval", "union") for one in sets):
        return None
    if connector == "or":
        joined: Answer | None = union(sets)
    else:
        joined = intersection(*sets) if len(sets) == 2 and names != {""} else None
    if joined is None:
        return None
    [name] = names
    return labelled(name, joined) if name else joined


def _elements(tokens: Sequence[Token]) -> list[Answer]:
    elements: list[Answer] = []
    for part in filter(None, split(tokens, {",", ";", "and", "or"})):
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
        return _read_elements(tokens[1:])
    relations = [token.text for token in _outside(tokens) if token.text in _RELATIONS]
    if relations and _INEQUALITIES.isdisjoint(relations):
        return _read_relation(split(tokens, _RELATIONS), relations)
    if len(pieces := split(tokens, {r"\cup"})) > 1:
        return union([_unlabelled(_read_one(piece)) for piece in pieces])
    if relations:
        return inequality(
            [read_expression(side) for side in split(tokens, _RELATIONS)], _only_inequalities(relations)
        )
    if len(pieces := split(tokens, {r"\setminus"})) == 2:
        return _read_difference(*map(_read_one, pieces))
    if len(ratio := split(tokens, {":"})) > 1:
        return Answer("ratio", parts=tuple(map(read_quantity, ratio)))
    if closing_index(tokens, 0) == len(tokens) - 1 and len(tokens) > 1:
        return _read_group(tokens)
    if _is_option(tokens):
        return labelled(squeeze(tokens[:3]), _read_one(tokens[3:]))
    if any(token.kind == "begin" for token in tokens):
        return _read_scaled_matrix(tokens)
    answer = read_quantity(tokens)
    return answer if answer.mark or answer.value is None else _NAMED_SETS.get(answer.value, answer)


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
    lower = phrase.casefold()
    if option := _OPTION.fullmatch(lower):
        return Answer("words", option[1].upper())
    if lower in _NUMERALS:
        return Answer("scalar", value=algebra.number(_NUMERALS.index(lower)))
    return _PHRASES.get(lower, Answer("words", phrase if is_spelling(phrase) else lower))


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
        return _read_cases(inner) if opening.text == "cases" else _read_matrix(opening.text, inner)
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


def _read_difference(whole: Answer, removed: Answer) -> Answer:
    without = reals_without(removed.parts) if whole == REALS and removed.shape == "set" else None
    if without is None:
        raise UnreadableError("a difference of sets that is no union of intervals")
    return without


def _read_cases(inner: Sequence[Token]) -> Answer:
    """A piecewise function, or a system whose rows are single equations."""
    rows = [split(row, {"&"}) for row in split(inner, {r"\\"}) if row]
    if all(len(row) == 1 for row in rows) and not any(are_words([t]) for row in rows for t in row[0]):
        return _read_elements([token for row in rows for token in (*row[0], Token("mark", ","))])
    return unordered("cases", tuple(map(_read_case, rows)))


def _read_case(cells: Sequence[list[Token]]) -> Answer:
    if len(cells) == 1:
        [line] = cells
        at = next(
            (i for i, token in enumerate(line) if token.kind in ("words", "text") or token.text == ","), 0
        )
        cells = [line[:at], line[at:]]
    if len(cells) != 2:
        raise UnreadableError("a case without a condition")
    value, condition = list(cells[0]), list(cells[1])
    while value and value[-1].text == ",":
        value.pop()
    while condition and (condition[0].text == "," or _is_conditional(condition[0])):
        condition.pop(0)
    while condition and condition[-1].text in (",", "."):
        condition.pop()
    given = _read_elements(condition) if condition else Answer("words", "otherwise")
    return Answer("row", parts=(_read_one(value), given))


def _is_conditional(token: Token) -> bool:
    return token.kind in ("words", "text", "connector") and _CONDITIONAL.fullmatch(token.text) is not None


def _read_matrix(environment: str, inner: Sequence[Token]) -> Answer:
    if environment not in _MATRICES:
        raise UnreadableError(f"{environment} is no matrix")
    if sum(token.kind == "begin" for token in inner) > 1:
        raise OversizedError("matrices nested in matrices")
    if environment == "array" and inner and inner[0].text == "{" and (end := closing_index(inner, 0)):
        inner = inner[end + 1 :]
    rows = [split(row, {"&"}) for row in split(inner, {r"\\"}) if row]
    return Answer("matrix", parts=tuple(Answer("row", parts=tuple(map(_read_one, row))) for row in rows))


def _read_scaled_matrix(tokens: Sequence[Token]) -> Answer:
    """A number times a matrix, or a matrix that is transposed."""
    at = next(i for i, token in enumerate(tokens) if token.kind == "begin")
    end = closing_index(tokens, at)
    assert end is not None, "brackets pair"
    matrix, behind = _read_group(tokens[at : end + 1]), squeeze(tokens[end + 1 :])
    if matrix.shape != "matrix" or behind not in ("", "^T", "^{T}", r"^\top", r"^{\top}"):
        raise UnreadableError("what is done with a matrix")
    rows = [row.parts for row in matrix.parts]
    if behind:
        if len({len(row) for row in rows}) != 1:
            raise UnreadableError("rows of different lengths")
        rows = list(zip(*rows, strict=True))
    before = [token for token in tokens[:at] if token.text != "*"] if at else []
    factor = algebra.number(-1) if squeeze(before) == "-" else algebra.number(1)
    if before and squeeze(before) != "-":
        factor = read_expression(before)
    return Answer(
        "matrix",
        parts=tuple(Answer("row", parts=tuple(_scaled(cell, factor) for cell in row)) for row in rows),
    )


def _scaled(cell: Answer, factor: algebra.Sum) -> Answer:
    if cell.value is None or cell.shape != "scalar":
        raise UnreadableError("an entry that is no number")
    return replace(cell, value=algebra.multiply(cell.value, factor), source="")


def _read_relation(sides: list[list[Token]], signs: list[str]) -> Answer:
    """A membership, an approximation, or an equation."""
    if r"\in" in signs or r"\notin" in signs:
        return _read_membership(sides, signs)
    if r"\approx" in signs:
        exact = sides[: signs.index(r"\approx") + 1]
        if len(exact) == 1:
            is_name = name_of(exact[0]) is not None
            return _read_equation(sides[:2]) if is_name else _read_one(exact[0])
        return _read_equation(exact)
    return _read_equation(sides)


def _read_membership(sides: list[list[Token]], signs: list[str]) -> Answer:
    name = name_of(sides[0])
    if len(signs) > 1 or name is None:
        raise UnreadableError("membership of what is no variable")
    members = _read_one(sides[1])
    if signs == [r"\notin"]:
        members = _read_difference(REALS, members)
    return labelled(name, members)


def _read_equation(sides: list[list[Token]]) -> Answer:
    first, last = sides[0], sides[-1]
    name = name_of(first)
    if name is None and len(sides) == 2 and (name := name_of(last)) is not None:
        first, last = last, first
    if name is not None:
        return _named(name, _read_one(last))
    if any(token.kind == "begin" for token in (*first, *last)):
        return _read_one(last)
    left, num_read = read_prefix(first)
    if num_read < len(first):
        raise UnreadableError("a side that is no expression")
    right = _read_one(last)
    if right.shape != "scalar" or right.value is None:
        label = expression_label(left)
        if label is None:
            raise UnreadableError("an equation of what is no number")
        return labelled(label, right)
    if left.is_closed and right.value.is_closed:
        return right
    if left.is_closed and len(sides) == 2 and not right.mark:
        left, right = right.value, Answer("scalar", value=left)
    assert right.value is not None
    line = equation(left, right.value)
    if right.value.is_closed and (label := expression_label(left)) is not None:
        return labelled(label, right, line.value)
    if len(sides) > 2 or right.mark:
        raise UnreadableError("an equation with a unit, or of more than two sides")
    return line


def _named(name: str, value: Answer) -> Answer:
    """A named value; x = x + 1 is an equation, since the value holds the name."""
    line: algebra.Sum | None = None
    is_symbol = name and "(" not in name and not name.isupper() and name.count("\\") <= 1
    if value.shape == "scalar" and value.value is not None and not value.mark and is_symbol:
        variable = algebra.symbol(name)
        if not variable.generators.isdisjoint(value.value.generators):
            return equation(variable, value.value)
        line = equation(variable, value.value).value
    return labelled(name, value, line)
