"""Environments: matrices, piecewise functions, systems of equations."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import OversizedError
from icpo.grading.maths.expressions import read_expression
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.tokens import Token, UnreadableError, are_words, closing_index, split, squeeze

Read = Callable[[Sequence[Token]], Answer]

_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "smallmatrix", "array"})
_FILLERS = frozenset({"if", "for", "when", "where", "whenever", "is", "an", "else", "otherwise"})
_CONDITIONAL = re.compile(r"(?:if|for|when|where|whenever|provided|otherwise|else|and|,|\s)+", re.IGNORECASE)


def read_cases(inner: Sequence[Token], read: Read) -> Answer:
    """A piecewise function, or a system whose rows are single equations."""
    rows = [split(row, {"&"}) for row in split(inner, {r"\\"}) if row]
    if all(len(row) == 1 for row in rows) and not any(are_words([t]) for row in rows for t in row[0]):
        return read([token for row in rows for token in (*row[0], Token("mark", ","))])
    return unordered("cases", tuple(_read_case(row, read) for row in rows))


def _read_case(cells: Sequence[list[Token]], read: Read) -> Answer:
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
    return Answer("row", parts=(read(value), _read_condition(condition, read)))


def _read_condition(tokens: Sequence[Token], read: Read) -> Answer:
    """A condition; one of letters and words is words: n even, with or without "if" and "is"."""
    kinds = {token.kind for token in tokens}
    if kinds <= {"letter", "words", "text", "connector"}:
        words = [word for token in tokens for word in token.text.split() if word.casefold() not in _FILLERS]
        return Answer("words", " ".join(words) or "otherwise")
    return read(tokens)


def _is_conditional(token: Token) -> bool:
    return token.kind in ("words", "text", "connector") and _CONDITIONAL.fullmatch(token.text) is not None


def read_matrix(environment: str, inner: Sequence[Token], read: Read) -> Answer:
    """A matrix. Raises UnreadableError for determinants, OversizedError for nesting."""
    if environment not in _MATRICES:
        raise UnreadableError(f"{environment} is no matrix")
    if sum(token.kind == "begin" for token in inner) > 1:
        raise OversizedError("matrices nested in matrices")
    if environment == "array" and inner and inner[0].text == "{" and (end := closing_index(inner, 0)):
        inner = inner[end + 1 :]
    rows = [split(row, {"&"}) for row in split(inner, {r"\\"}) if row]
    return Answer("matrix", parts=tuple(Answer("row", parts=tuple(map(read, row))) for row in rows))


def read_scaled_matrix(tokens: Sequence[Token], read: Read) -> Answer:
    """A number times a matrix, or a matrix that is transposed."""
    at = next(i for i, token in enumerate(tokens) if token.kind == "begin")
    end = closing_index(tokens, at)
    if end is None:
        raise UnreadableError("an environment that is not closed")
    matrix, behind = read(tokens[at : end + 1]), squeeze(tokens[end + 1 :])
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
