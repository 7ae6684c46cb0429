"""Values at one fixed point, for a quick and sure no."""

import cmath
import math
from collections.abc import Callable
from zlib import crc32

from icpo.grading.maths.algebra import Generator, Monomial, Sum

_RELATIVE_TOLERANCE = 1e-6
_MAX_CANCELLATION = 1e-3
_IMAGINARY_NOISE = 1e-12
_NO_VALUE = frozenset({r"\infty", r"\dots", r"\emptyset"})
_CONSTANTS = {r"\pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "inverse": lambda z: 1 / z,
    "abs": abs,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "cot": lambda z: 1 / cmath.tan(z),
    "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "ln": cmath.log,
}

# Functions whose value for other than positive numbers is a convention; \log without a base has none.
_OF_POSITIVE: dict[str, Callable[[float, complex], complex]] = {
    "power": lambda base, exponent: cmath.exp(exponent * math.log(base)),
    "nth_root": lambda base, degree: complex(base ** (1 / degree.real)),
}


class _NoValueError(ArithmeticError):
    """There is no value at the point, or which one is a convention."""


def differ(a: Sum, b: Sum) -> bool:
    """Whether two sums differ at a fixed positive point."""
    try:
        left, right = (
            [_term_value(m, float(c)) for m, c in a.terms],
            [_term_value(m, float(c)) for m, c in b.terms],
        )
    except (ArithmeticError, ValueError):
        return False
    scale = max(1.0, sum(map(abs, left)) + sum(map(abs, right)))
    gap = abs(sum(left) - sum(right))
    return math.isfinite(scale) and gap > _RELATIVE_TOLERANCE * scale


def value_of(one: Sum) -> complex | None:
    """The value at the point; None if undefined or cancelled."""
    try:
        terms = [_term_value(monomial, float(coefficient)) for monomial, coefficient in one.terms]
        total, size = sum(terms, 0j), sum(map(abs, terms))
    except (ArithmeticError, ValueError):
        return None
    is_sure = math.isfinite(size) and (not terms or abs(total) > _MAX_CANCELLATION * size)
    return total if is_sure else None


def _value(one: Sum) -> complex:
    return sum((_term_value(monomial, float(coefficient)) for monomial, coefficient in one.terms), 0j)


def _term_value(monomial: Monomial, coefficient: float) -> complex:
    product = complex(coefficient)
    for generator, n in monomial:
        product *= _generator_value(generator) ** n
    return product


def _generator_value(generator: Generator) -> complex:
    if generator.kind == "imaginary":
        return 1j
    if generator.kind == "root":
        return complex(math.sqrt(int(generator.name)))
    if generator.kind == "symbol":
        if generator.name in _NO_VALUE:
            raise _NoValueError(generator.name)
        return complex(_CONSTANTS.get(generator.name, 0.6 + crc32(generator.name.encode()) / 2**32))
    arguments = [_value(argument) for argument in generator.arguments]
    if generator.kind in _FUNCTIONS:
        return _FUNCTIONS[generator.kind](arguments[0])
    if generator.kind in _OF_POSITIVE and len(arguments) == 2:
        base, other = arguments
        if abs(base.imag) < _IMAGINARY_NOISE and base.real > 0:
            return _OF_POSITIVE[generator.kind](base.real, other)
    raise _NoValueError(generator.kind)
