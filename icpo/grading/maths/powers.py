"""Exact powers, roots, factorials and binomials, opaque otherwise."""

from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, isqrt, prod

from icpo.grading.maths.algebra import (
    MAX_BITS,
    MAX_TERMS,
    Monomial,
    OversizedError,
    Sum,
    add,
    collect,
    conjugate,
    divide,
    inverse,
    join,
    multiply,
    negate,
    num_bits,
    number,
    opaque,
    render,
    symbol,
)
from icpo.grading.maths.angles import euler
from icpo.grading.maths.numbers import real_value

_MAX_ROOT_BITS = 2000
_MAX_DEGREE = 100
_MAX_SHIFT = 5
SMALL_PRIMES = [p for p in range(2, 1000) if all(p % d for d in range(2, isqrt(p) + 1))]


def power(base: Sum, exponent: Sum) -> Sum:
    """A power, exact for whole exponents. Raises OversizedError."""
    n = exponent.constant
    if n is None:
        if base == symbol("e") and (turned := euler(exponent)) is not None:
            return turned
        return opaque("power", f"({render(base)})^{{{render(exponent)}}}", base, exponent)
    if n.denominator == 1:
        return _integer_power(base, n.numerator)
    return _integer_power(root(base, n.denominator), n.numerator)


def root(one: Sum, degree: int) -> Sum:
    """The principal root, or the real one of odd degree.

    Exact for rationals where it can be, else opaque. Of a product, the square root is taken factor by factor
    where that holds for positive symbols: sqrt(9 x / n) is 3 sqrt(x) / sqrt(n).
    """
    value = one.constant
    if value is not None and value < 0 and degree % 2:
        return negate(root(negate(one), degree))
    if value is not None and num_bits(value) <= _MAX_ROOT_BITS and degree <= _MAX_DEGREE:
        if degree == 2:
            scale = number(Fraction(1, value.denominator))
            radical = multiply(_radical(abs(value.numerator) * value.denominator), scale)
            return multiply(radical, symbol("i")) if value < 0 else radical
        exact = Fraction(
            _nearest_root(abs(value.numerator), degree), _nearest_root(value.denominator, degree)
        )
        if exact**degree == value:
            return number(exact)
    if value is None and degree == 2 and len(one.terms) == 1 and one.terms[0][1] > 0:
        return _root_of_product(*one.terms[0])
    return _opaque_root(one, degree)


def factorial_of(one: Sum) -> Sum:
    """A factorial, exact for numbers and n + 2, else opaque."""
    n = one.constant
    if n is None:
        return _shifted_factorial(one)
    if n.denominator != 1 or n < 0:
        return opaque("factorial", f"({render(one)})!", one)
    if n * max(n.numerator.bit_length() - 1, 1) > MAX_BITS * 2:
        raise OversizedError("a factorial too large to be written out")
    return number(factorial(n.numerator))


def double_factorial_of(one: Sum) -> Sum:
    """A double factorial, opaque for symbols. Raises OversizedError."""
    n = one.constant
    if n is None or n.denominator != 1 or n < 0:
        return opaque("double_factorial", f"({render(one)})!!", one)
    if n * max(n.numerator.bit_length() - 1, 1) > MAX_BITS * 4:
        raise OversizedError("a double factorial too large to be written out")
    return number(prod(range(n.numerator, 0, -2)))


def _shifted_factorial(one: Sum) -> Sum:
    shift = next((c for monomial, c in one.terms if not monomial), Fraction(0))
    if shift.denominator != 1 or abs(shift) > _MAX_SHIFT:
        return opaque("factorial", f"({render(one)})!", one)
    base = add(one, number(-shift))
    result = opaque("factorial", f"({render(base)})!", base)
    for step in range(1, shift.numerator + 1):
        result = multiply(result, add(base, number(step)))
    for step in range(0, shift.numerator, -1):
        result = divide(result, add(base, number(step)))
    return result


def _opaque_root(one: Sum, degree: int) -> Sum:
    index = "" if degree == 2 else f"[{degree}]"
    return opaque("nth_root", rf"\sqrt{index}{{{render(one)}}}", one, number(degree))


def _root_of_product(monomial: Monomial, coefficient: Fraction) -> Sum:
    above = Sum(((tuple((g, n) for g, n in monomial if n > 0), Fraction(1)),))
    below = Sum(((tuple((g, -n) for g, n in monomial if n < 0), Fraction(1)),))
    roots = [number(1) if one.constant is not None else _opaque_root(one, 2) for one in (above, below)]
    return multiply(multiply(root(number(coefficient), 2), roots[0]), inverse(roots[1]))


def binomial(n: Sum, k: Sum) -> Sum:
    """The binomial coefficient of natural numbers, opaque for anything else. Raises OversizedError."""
    top, bottom = n.constant, k.constant
    if top is None or bottom is None or {top.denominator, bottom.denominator} != {1} or min(top, bottom) < 0:
        return opaque("binomial", rf"\binom{{{render(n)}}}{{{render(k)}}}", n, k)
    if min(bottom, top - bottom) * top.numerator.bit_length() > MAX_BITS:
        raise OversizedError("a binomial coefficient too large to be written out")
    return number(comb(top.numerator, bottom.numerator))


def _integer_power(base: Sum, n: int) -> Sum:
    if n < 0:
        return _integer_power(inverse(base), -n)
    if n == 0 or base.constant == 1:
        return number(1)
    if _growth_bits(base) * n > MAX_BITS:
        raise OversizedError("a power too large to be written out")
    num_terms = len(base.terms)
    if num_terms > 1 and (
        n > MAX_TERMS or (not base.is_algebraic and comb(n + num_terms - 1, n) > MAX_TERMS)
    ):
        return opaque("power", f"({render(base)})^{{{n}}}", base, number(n))
    if len(base.terms) == 1:
        [(monomial, coefficient)] = base.terms
        joined, factor = join((), tuple((generator, m * n) for generator, m in monomial))
        return collect([(joined, coefficient**n * factor)])
    result = number(1)
    for bit in bin(n)[2:]:
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, base)
    return result


def _growth_bits(base: Sum) -> int:
    """Bits that a factor `base` adds to a product, at least; 0 if it is made of symbols alone."""
    coefficients = max((num_bits(coefficient) - 1 for _, coefficient in base.terms), default=0)
    return max([coefficients, *(int(g.name).bit_length() // 2 for g in base.generators if g.kind == "root")])


def absolute_value(one: Sum) -> Sum:
    """The modulus, exact where its square is rational, else opaque."""
    value = real_value(one)
    if value is not None:
        return negate(one) if value < 0 else one
    if one.is_algebraic:
        square = multiply(one, conjugate(one)).constant
        if square is not None:
            return root(number(square), 2)
    return opaque("abs", f"|{render(one)}|", one)


@lru_cache(maxsize=4096)
def _radical(n: int) -> Sum:
    """The square root of a natural number: an integer times roots of different primes."""
    outside, radical = 1, number(1)
    for p in SMALL_PRIMES:
        while n % (p * p) == 0 and n:
            n //= p * p
            outside *= p
        if n and n % p == 0:
            n //= p
            radical = multiply(radical, opaque("root", str(p)))
    if isqrt(n) ** 2 == n:
        return multiply(radical, number(outside * isqrt(n)))
    is_prime = n < SMALL_PRIMES[-1] ** 2
    rest = opaque("root", str(n)) if is_prime else _opaque_root(number(n), 2)
    return multiply(multiply(radical, rest), number(outside))


def _nearest_root(n: int, degree: int) -> int:
    """The least natural number whose power is not below `n`."""
    low, high = 0, 1 << (n.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < n else (low, middle)
    return low
