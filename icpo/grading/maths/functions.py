"""Functions of exact values: exact where the value is known, else opaque."""

from fractions import Fraction

from icpo.grading.maths import algebra, angles, powers
from icpo.grading.maths.algebra import Generator, Sum

_E = Generator("symbol", "e")
_MAX_LOG_BITS = 400


def apply(name: str, base: Sum | None, argument: Sum) -> Sum:
    r"""A function of an argument, by name; `base` for logarithms.

    Raises ZeroDivisionError at a pole.
    """
    if name == "exp":
        return powers.power(algebra.symbol("e"), argument)
    if name in ("log", "ln", "lg"):
        return _logarithm("ln" if base is not None else name, base, argument)
    if base is not None:
        return algebra.opaque(
            name, rf"\{name}_{{{algebra.render(base)}}}({algebra.render(argument)})", argument, base
        )
    value = angles.apply(name, argument)
    return algebra.opaque(name, rf"\{name}({algebra.render(argument)})", argument) if value is None else value


def _logarithm(name: str, base: Sum | None, argument: Sum) -> Sum:
    """A logarithm: natural, of unknown base (log), or to a base as a quotient of natural ones."""
    if name == "lg":
        name, base = "ln", algebra.number(10)
    value = _expanded(name, argument)
    return value if base is None else algebra.divide(value, _expanded(name, base))


def _expanded(name: str, argument: Sum) -> Sum:
    """The logarithm of a product of whole numbers and powers of e as the sum of logarithms of primes."""
    if len(argument.terms) == 1:
        [(monomial, coefficient)] = argument.terms
        is_known = all(generator == _E and name == "ln" for generator, _ in monomial)
        if is_known and coefficient > 0 and algebra.num_bits(coefficient) <= _MAX_LOG_BITS:
            exponent = dict(monomial).get(_E, 0)
            return algebra.add(
                algebra.number(exponent),
                _of_whole(name, coefficient.numerator),
                algebra.negate(_of_whole(name, coefficient.denominator)),
            )
    return algebra.opaque(name, rf"\{name}({algebra.render(argument)})", argument)


def _of_whole(name: str, n: int) -> Sum:
    total = algebra.number(0)
    for p in powers.SMALL_PRIMES:
        exponent = 0
        while n % p == 0:
            n, exponent = n // p, exponent + 1
        if exponent:
            total = algebra.add(total, algebra.multiply(_of_prime(name, p), algebra.number(exponent)))
    return total if n == 1 else algebra.add(total, _of_prime(name, n))


def _of_prime(name: str, n: int) -> Sum:
    return algebra.opaque(name, rf"\{name}({n})", algebra.number(Fraction(n)))
