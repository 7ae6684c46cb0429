"""Exact arithmetic on sums of products of generators.

These are rationals, roots, constants and symbols. A `Sum` is a normal form. Over independent generators
(roots of different primes, the imaginary unit, pi, e, symbols) two sums are the same if and only if their
values are. Anything else (a sine, a symbol in an exponent) enters as an opaque generator: then equal sums
still have equal values, but different ones may have too; see `is_complete`.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import gcd, lcm, prod

MAX_BITS = 200_000  # of a numerator or denominator: 2006! has 19,000
MAX_TERMS = 120
MAX_NAME_CHARACTERS = 2000
CONSTANTS = frozenset({r"\pi", "e", r"\infty"})
MAX_WORK = 200_000  # products of terms that one answer may cost: about a second
_MAX_CONJUGATES = 4
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")


class OversizedError(ArithmeticError):
    """A number too large to write out, as a power tower."""


class _Work(threading.local):
    """What is left of the work allowed to the answer that is being read."""

    left = float("inf")


_work = _Work()


@contextmanager
def limited_work() -> Iterator[None]:
    """Allow MAX_WORK inside; operations raise OversizedError beyond it."""
    before, _work.left = _work.left, MAX_WORK
    try:
        yield
    finally:
        _work.left = before


def _spend(work: float) -> None:
    _work.left -= work
    if _work.left < 0:
        raise OversizedError("an expression that takes too long to expand")


@dataclass(frozen=True, slots=True, order=True)
class Generator:
    """One indeterminate: a root, i, a symbol or an opaque operation."""

    kind: str
    name: str
    arguments: "tuple[Sum, ...]" = field(default=(), compare=False)

    @property
    def is_opaque(self) -> bool:
        """Whether it may depend on other generators."""
        return self.kind not in ("root", "imaginary", "symbol")


Monomial = tuple[tuple[Generator, int], ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sorted sum of coefficients times monomials; empty means 0."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @property
    def generators(self) -> set[Generator]:
        """All generators that occur."""
        return {generator for monomial, _ in self.terms for generator, _ in monomial}

    @property
    def constant(self) -> Fraction | None:
        """The value of a sum that is a rational number, else None."""
        if not self.terms:
            return Fraction(0)
        [(monomial, coefficient), *others] = self.terms
        return None if monomial or others else coefficient

    @property
    def is_complete(self) -> bool:
        """Whether a different complete sum has a different value."""
        return not any(generator.is_opaque for generator in self.generators)

    @property
    def is_closed(self) -> bool:
        """Whether it depends on no variable, not even inside an opaque operation."""
        return all(map(_is_closed, self.generators))

    @property
    def is_algebraic(self) -> bool:
        """Whether it is built from rationals, roots and the imaginary unit alone."""
        return all(generator.kind in ("root", "imaginary") for generator in self.generators)


def _is_closed(generator: Generator) -> bool:
    if generator.kind == "symbol":
        return generator.name in CONSTANTS
    return generator.kind != "call" and all(argument.is_closed for argument in generator.arguments)


def number(value: int | Fraction) -> Sum:
    """A rational number. Raises OversizedError beyond MAX_BITS."""
    return collect([((), Fraction(value))])


def symbol(name: str) -> Sum:
    """A variable or constant by its LaTeX name; `i` is imaginary."""
    return _single(Generator("imaginary" if name == "i" else "symbol", name))


def opaque(kind: str, name: str, *arguments: Sum) -> Sum:
    """A value known by its name alone. Raises OversizedError."""
    _spend(1 + len(name) / 20)
    if len(name) > MAX_NAME_CHARACTERS:
        raise OversizedError("an expression nested too deeply to be written out")
    return _single(Generator(kind, name, arguments))


def add(*sums: Sum) -> Sum:
    """The sum of sums."""
    return collect(chain.from_iterable(one.terms for one in sums))


def negate(one: Sum) -> Sum:
    """The sum times -1."""
    return Sum(tuple((monomial, -coefficient) for monomial, coefficient in one.terms))


def multiply(a: Sum, b: Sum) -> Sum:
    """The product, expanded. Raises OversizedError beyond the limits."""
    if len(a.terms) * len(b.terms) > MAX_TERMS**2:
        raise OversizedError("too many terms to expand")
    _spend(sum(_weight(c) for _, c in a.terms) * sum(_weight(c) for _, c in b.terms))
    products = []
    for left, p in a.terms:
        for right, q in b.terms:
            monomial, factor = join(left, right)
            products.append((monomial, p * q * factor))
    return collect(products)


def divide(a: Sum, b: Sum) -> Sum:
    """The quotient. Raises ZeroDivisionError if `b` is 0."""
    if len(a.terms) == len(b.terms) > 1 and (ratio := _ratio(a, b)) is not None:
        return number(ratio)
    return multiply(a, inverse(b))


def inverse(one: Sum) -> Sum:
    """1 / one, exact for terms and numbers with roots, else opaque."""
    if not one.terms:
        raise ZeroDivisionError("an answer divides by zero")
    [(monomial, coefficient), *others] = one.terms
    if not others:
        return _inverse_of_term(monomial, coefficient)
    if one.is_algebraic and len(one.generators) <= _MAX_CONJUGATES:
        conjugate = _conjugate(one, max(one.generators))
        return multiply(conjugate, inverse(multiply(one, conjugate)))
    monic = multiply(one, number(1 / coefficient))
    return multiply(opaque("inverse", rf"\frac{{1}}{{{render(monic)}}}", monic), number(1 / coefficient))


def _inverse_of_term(monomial: Monomial, coefficient: Fraction) -> Sum:
    """1 / term, where 1 / (1 / x) is x again."""
    kept = tuple((g, n) for g, n in monomial if g.kind != "inverse" or n < 0)
    joined, factor = join((), tuple((generator, -power) for generator, power in kept))
    result = collect([(joined, factor / coefficient)])
    for generator, n in monomial:
        for _ in range(n if generator.kind == "inverse" else 0):
            result = multiply(result, generator.arguments[0])
    return result


def scaled(one: Sum, *, keep_sign: bool) -> Sum:
    """The multiple with coprime whole coefficients; the first is positive unless `keep_sign`."""
    if not one.terms:
        return one
    coefficients = [coefficient for _, coefficient in _by_degree(one)]
    factor = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    return multiply(one, number(-factor if coefficients[0] < 0 and not keep_sign else factor))


def render(one: Sum) -> str:
    """The normal form in LaTeX; reading it gives the same sum."""
    text = "".join(_render_term(monomial, coefficient) for monomial, coefficient in _by_degree(one))
    return f"-{text[3:]}" if text.startswith(" - ") else text[3:] or "0"


def _by_degree(one: Sum) -> list[tuple[Monomial, Fraction]]:
    return sorted(one.terms, key=lambda term: (-sum(n for g, n in term[0] if g.kind == "symbol"), term[0]))


def _single(generator: Generator) -> Sum:
    return Sum(((((generator, 1),), Fraction(1)),))


def collect(terms: Iterable[tuple[Monomial, Fraction]]) -> Sum:
    """The sum of terms in any order. Raises OversizedError beyond the limits."""
    total: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    kept = sorted((monomial, coefficient) for monomial, coefficient in total.items() if coefficient)
    if len(kept) > MAX_TERMS or any(num_bits(coefficient) > MAX_BITS for _, coefficient in kept):
        raise OversizedError("a number or polynomial too large to be written out")
    return Sum(tuple(kept))


def num_bits(value: Fraction) -> int:
    """Bits of the longer of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def join(left: Monomial, right: Monomial) -> tuple[Monomial, Fraction]:
    """The product of two monomials, and the factor from squares."""
    powers: dict[Generator, int] = dict(left)
    for generator, n in right:
        powers[generator] = powers.get(generator, 0) + n
    factor = Fraction(1)
    for generator, n in powers.items():
        if generator.kind in ("root", "imaginary"):
            square = -1 if generator.kind == "imaginary" else int(generator.name)
            half, powers[generator] = divmod(n, 2)
            factor *= Fraction(square) ** half
    return tuple(sorted((generator, n) for generator, n in powers.items() if n)), factor


def _weight(value: Fraction) -> float:
    """1 for a number of few digits; the cost of arithmetic with long ones grows with their square."""
    return 1 + num_bits(value) / 1000


def _ratio(a: Sum, b: Sum) -> Fraction | None:
    ratio = a.terms[0][1] / b.terms[0][1]
    is_multiple = all(m == n and p == ratio * q for (m, p), (n, q) in zip(a.terms, b.terms, strict=True))
    return ratio if is_multiple else None


def conjugate(one: Sum) -> Sum:
    """The complex conjugate of a sum of numbers and roots."""
    return Sum(tuple((m, -c if any(g.kind == "imaginary" for g, _ in m) else c) for m, c in one.terms))


def _conjugate(one: Sum, generator: Generator) -> Sum:
    return Sum(tuple((m, -c if generator in dict(m) else c) for m, c in one.terms))


def _render_term(monomial: Monomial, coefficient: Fraction) -> str:
    """Sign and absolute value; negative powers are below the line."""
    radicand = prod(int(generator.name) for generator, _ in monomial if generator.kind == "root")
    others = [(generator, n) for generator, n in monomial if generator.kind != "root"]
    size = abs(coefficient)
    above = [_digits(size.numerator)] if size.numerator != 1 else []
    above += [rf"\sqrt{{{radicand}}}"] if radicand != 1 else []
    above += [_render_power(generator, n) for generator, n in others if n > 0]
    below = [_digits(size.denominator)] if size.denominator != 1 else []
    below += [_render_power(generator, -n) for generator, n in others if n < 0]
    text = _juxtapose(above) or "1"
    return (" - " if coefficient < 0 else " + ") + (
        rf"\frac{{{text}}}{{{_juxtapose(below)}}}" if below else text
    )


def _juxtapose(factors: list[str]) -> str:
    """The factors one after another, with a space where a command would swallow a letter."""
    text = ""
    for factor in factors:
        text += (" " if _ENDS_IN_COMMAND.search(text) and factor[0].isalpha() else "") + factor
    return text


def _render_power(generator: Generator, n: int) -> str:
    name = f"({generator.name})" if generator.is_opaque and n != 1 else generator.name
    return name if n == 1 else f"{name}^{{{_digits(n)}}}"


def _digits(n: int) -> str:
    """Decimal digits; hexadecimal for numbers too long for Python to write out in decimal."""
    return str(n) if n.bit_length() < 10_000 else f"0x{n:x}"
