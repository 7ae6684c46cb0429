"""Long decimals in place of the numbers they round."""

from decimal import Context, Decimal
from fractions import Fraction
from math import inf

from icpo.grading.maths.algebra import Sum, negate, symbol

_CONTEXT = Context(prec=60)
_CONSTANTS = {
    r"\pi": Decimal("3.14159265358979323846264338327950288419716939937510582097494"),
    "e": Decimal("2.71828182845904523536028747135266249775724709369995957496697"),
}
_MAX_POWER = 50
_INFINITE = {symbol(r"\infty"): inf, negate(symbol(r"\infty")): -inf}


def approximates(decimal: Sum, exact: Sum, num_digits: int) -> bool:
    """Whether `decimal` rounds or cuts off `exact`.

    With at least `num_digits` significant digits. Always False if `num_digits` is 0, or if `exact` has no
    real value.
    """
    written = decimal.constant
    num_places = _num_places(written) if written is not None else 0
    if not num_digits or not num_places or written is None:
        return False
    if len(str(abs(written.numerator * 10**num_places // written.denominator))) < num_digits:
        return False
    value = real_value(exact)
    return isinstance(value, Fraction) and abs(value - written) < Fraction(1, 10**num_places)


def _num_places(value: Fraction) -> int:
    """Digits behind the point; 0 if they never end, or are too many to be a decimal that somebody wrote."""
    rest, num_twos, num_fives = value.denominator, 0, 0
    while rest % 2 == 0 and num_twos < 40:
        rest, num_twos = rest // 2, num_twos + 1
    while rest % 5 == 0 and num_fives < 40:
        rest, num_fives = rest // 5, num_fives + 1
    return max(num_twos, num_fives) if rest == 1 and abs(value) < 10**20 else 0


def real_value(one: Sum) -> Fraction | float | None:
    """The value to fifty digits or an infinity, if real."""
    if (sign := _INFINITE.get(one)) is not None:
        return sign
    total = Fraction(0)
    for monomial, coefficient in one.terms:
        term = coefficient
        for generator, n in monomial:
            if generator.kind == "root":
                base = _CONTEXT.sqrt(Decimal(generator.name))
            elif generator.name in _CONSTANTS and abs(n) <= _MAX_POWER:
                base = _CONSTANTS[generator.name]
            else:
                return None
            term *= Fraction(base) ** n
        total += term
    return total
