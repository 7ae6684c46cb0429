"""Values at one fixed point: a quick and sure no for expressions that exact arithmetic cannot decide."""

import cmath
import math
from collections.abc import Callable
from zlib import crc32

from icpo.grading.algebra import Generator, Monomial, Sum

_RELATIVE_TOLERANCE = 1e-6
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


class _NoValueError(ArithmeticError):
    """There is no value at the point, or which one is a convention."""


def differ(a: Sum, b: Sum) -> bool:
    """Whether two sums have different values at a fixed point of positive numbers; False if unknown."""
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
    if (
        generator.kind in ("power", "nth_root", "log")
        and abs(arguments[0].imag) < 1e-12
        and arguments[0].real > 0
    ):
        base, other = arguments[0].real, arguments[1]
        match generator.kind:
            case "power":
                return cmath.exp(other * math.log(base))
            case "nth_root":
                return complex(base ** (1 / other.real))
            case "log":
                return math.log(base) / cmath.log(other)
    raise _NoValueError(generator.kind)
