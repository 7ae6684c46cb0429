"""Names of quantities before an equals sign: x, f(2), AC."""

import re
from collections.abc import Sequence
from fractions import Fraction

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import Sum
from icpo.grading.maths.derivatives import begins_with_derivative
from icpo.grading.maths.expressions import read_expression
from icpo.grading.maths.tokens import Token, UnreadableError, closing_index, split, squeeze

_COORDINATES = frozenset({"x", "y", "z"})
_NAMING = frozenset(
    {r"\angle", r"\measuredangle", r"\triangle", r"\int", r"\iint", r"\oint", r"\sum", r"\prod", r"\lim",
     r"\max", r"\min", r"\gcd", r"\det", r"\nabla", r"\partial"}
)  # fmt: skip
_RATIOS = frozenset({"call", "sin", "cos", "tan", "cot", "sec", "csc"})  # quantities in their own right
_MAX_CORNERS = 6
# In which names are written in a tuple.
_USUAL_ORDERS = tuple(
    names.split()
    for names in (
        "a b c d e f g", "h k", "i j k", "k l m n", "p q r s t", "u v w", "x y z", "A B C D E F G", "P Q R S",
        "X Y Z", r"\alpha \beta \gamma \delta", r"r \theta z", r"r \theta \phi", r"r \theta \varphi",
        r"\rho \theta z", r"\rho \theta \phi", r"\rho \theta \varphi", r"\lambda \mu \nu",
    )
)  # fmt: skip
_INDEXED = re.compile(r"(.+?)(?:_(\d+)|\((\d+)\))?")


def name_of(tokens: Sequence[Token]) -> str | None:
    """A side's label, whatever the other side holds.

    Words are the empty label. A symbol, a call such as f(2) or P(A), corners such as AC, |AC| or [ABC], an
    angle, a sum over a range, a tuple of symbols. None if it is none of these.
    """
    if not tokens:
        return None
    if tokens[0].kind in ("words", "text"):
        return ""
    text = squeeze(tokens)
    is_name = (
        any(token.text in _NAMING for token in tokens)
        or begins_with_derivative(text)
        or _is_call(tokens)
        or _are_corners(tokens)
        or _are_symbols(tokens)
    )
    return _symbol(tokens) or (text if is_name else None)


def usual_order(names: Sequence[str]) -> list[int] | None:
    """The indices of names in the order of a tuple: x before y, r before theta, a_2 before a_10.

    None if the names have no such order.
    """
    matches = [match for name in names if (match := _INDEXED.fullmatch(re.sub("[{}]", "", name)))]
    keys = [(match[1], int(match[2] or match[3] or 0)) for match in matches]
    bases = {base for base, _ in keys}
    numbers = {number for _, number in keys}
    orders = [list(bases)] if len(bases) == 1 else _USUAL_ORDERS if len(numbers) == 1 else ()
    order = next((order for order in orders if bases.issubset(order)), None)
    if len(keys) < len(names) or order is None:
        return None
    return sorted(range(len(keys)), key=lambda i: (order.index(keys[i][0]), keys[i][1]))


def expression_label(value: Sum) -> str | None:
    """The label that an expression is before a number.

    Such as a + b, m/n, x + y or cos A. Not x^2 + y^2, a curve, and not 2a, |a| or 1/x, which say what a or x
    is.
    """
    symbols = symbols_in(value)
    if len(symbols) == 1 and all(generator.kind not in _RATIOS for generator in value.generators):
        return None
    is_plain = not any(name.rstrip("'") in _COORDINATES for name in symbols)
    return algebra.render(value) if symbols and (is_plain or _is_combination(value)) else None


def _is_combination(value: Sum) -> bool:
    """Whether it adds or multiplies symbols as they are, such as x + y and xy."""
    return all(
        abs(coefficient) == 1 and monomial and all(g.kind == "symbol" and abs(n) == 1 for g, n in monomial)
        for monomial, coefficient in value.terms
    )


def symbols_in(value: Sum) -> set[str]:
    """The names of symbols and calls, without constants."""
    names: set[str] = set()
    for generator in value.generators:
        if generator.kind == "symbol" and generator.name not in algebra.CONSTANTS:
            names.add(generator.name)
        if generator.kind == "call":
            names.add(generator.name)
        for argument in generator.arguments:
            names |= symbols_in(argument)
    return names


def _symbol(tokens: Sequence[Token]) -> str | None:
    try:
        value = read_expression(tokens)
    except (UnreadableError, ArithmeticError):
        return None
    [*names] = value.generators
    is_name = (
        len(names) == 1
        and names[0].kind in ("symbol", "imaginary", "call")
        and names[0].name not in algebra.CONSTANTS
    )
    return names[0].name if is_name and value == Sum(((((names[0], 1),), Fraction(1)),)) else None


def _is_call(tokens: Sequence[Token]) -> bool:
    """Whether a letter, with index, primes and power, precedes one pair of round brackets."""
    if tokens[0].kind != "letter" and tokens[0].text not in (
        r"\phi",
        r"\varphi",
        r"\sigma",
        r"\mu",
        r"\zeta",
        r"\Gamma",
    ):
        return False
    opening = next((i for i, token in enumerate(tokens) if token.text == "("), None)
    if opening is None or closing_index(tokens, opening) != len(tokens) - 1:
        return False
    between, inner = tokens[1:opening], tokens[opening + 1 : -1]
    has_decoration_only = not between or between[0].text in ("'", "_", "^")
    is_variable = tokens[0].text in _COORDINATES
    return has_decoration_only and (
        len(inner) == 1 and inner[0].kind == "letter" if is_variable else bool(inner)
    )


def _are_corners(tokens: Sequence[Token]) -> bool:
    """Whether it is AC, |AC|, [ABC] or the like."""
    inner = tokens
    if len(tokens) > 2 and tokens[0].text + tokens[-1].text in ("||", "[]"):
        inner = tokens[1:-1]
    return 1 < len(inner) <= _MAX_CORNERS and all(t.kind == "letter" and t.text.isupper() for t in inner)


def _are_symbols(tokens: Sequence[Token]) -> bool:
    """Whether it is (x, y) or a : b."""
    if tokens[0].text == "(" and closing_index(tokens, 0) == len(tokens) - 1:
        parts = split(tokens[1:-1], {","})
    else:
        parts = split(tokens, {":"})
    return len(parts) > 1 and all(_symbol(part) is not None for part in parts)
