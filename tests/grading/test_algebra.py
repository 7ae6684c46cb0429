"""Exact arithmetic: values that are worked out by hand."""

from fractions import Fraction

import pytest

from icpo.grading.maths.algebra import (
    OversizedError,
    add,
    divide,
    inverse,
    multiply,
    negate,
    number,
    render,
    scaled,
    symbol,
)
from icpo.grading.maths.numbers import approximates, real_value
from icpo.grading.maths.powers import binomial, factorial_of, power, root

X, Y, IMAGINARY = symbol("x"), symbol("y"), symbol("i")


def sqrt(n):
    return root(number(n), 2)


def test_sums_and_products_have_one_form():
    assert multiply(add(X, Y), add(X, negate(Y))) == add(multiply(X, X), negate(multiply(Y, Y)))
    assert add(X, negate(X)) == number(0)
    assert render(power(add(X, number(1)), number(3))) == "x^{3} + 3x^{2} + 3x + 1"
    assert divide(multiply(number(6), X), multiply(number(4), X)) == number(Fraction(3, 2))


def test_roots_are_written_in_roots_of_primes():
    assert sqrt(12) == multiply(number(2), sqrt(3))
    assert multiply(sqrt(6), sqrt(10)) == multiply(number(2), sqrt(15))
    assert (
        render(sqrt(51)) == r"\sqrt{51}" and render(root(number(Fraction(3, 4)), 2)) == r"\frac{\sqrt{3}}{2}"
    )
    assert root(number(-4), 2) == multiply(number(2), IMAGINARY)
    assert multiply(IMAGINARY, IMAGINARY) == number(-1)
    assert root(number(27), 3) == number(3) and power(number(8), number(Fraction(2, 3))) == number(4)
    assert sqrt(10**12 + 39) != sqrt(10**12 + 61)


def test_denominators_become_rational():
    assert inverse(add(number(1), sqrt(2))) == add(sqrt(2), number(-1))
    assert inverse(add(number(2), IMAGINARY)) == add(
        number(Fraction(2, 5)), multiply(number(Fraction(-1, 5)), IMAGINARY)
    )
    one_over = inverse(add(sqrt(2), sqrt(3), sqrt(5)))
    assert multiply(one_over, add(sqrt(2), sqrt(3), sqrt(5))) == number(1)


def test_what_it_cannot_see_into_is_opaque():
    assert not inverse(add(X, number(1))).is_complete
    assert inverse(add(X, number(1))) == inverse(add(number(1), X))
    assert divide(add(X, number(1)), add(X, number(1))) == number(1)
    assert not power(number(2), X).is_complete
    assert add(sqrt(2), X, IMAGINARY).is_complete


def test_factorials_are_exact():
    assert divide(factorial_of(number(2006)), factorial_of(number(2004))) == number(2006 * 2005)
    assert binomial(number(5), number(2)) == number(10) and not binomial(X, number(2)).is_complete


@pytest.mark.parametrize(
    "work",
    [
        lambda: power(number(5), power(number(5), power(number(5), number(5)))),
        lambda: factorial_of(number(10**9)),
        lambda: power(sqrt(2), number(10**9)),
        lambda: binomial(number(10**9), number(5 * 10**8)),
        lambda: power(add(number(1), sqrt(2)), number(10**9)),
    ],
)
def test_what_is_too_large_is_refused_at_once(work):
    with pytest.raises(OversizedError):
        work()


def test_a_high_power_of_a_polynomial_is_not_expanded():
    assert power(add(X, number(1)), number(1000)) == power(add(number(1), X), number(1000))
    assert render(power(add(X, number(1)), number(1000))) == "(x + 1)^{1000}"


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        divide(X, add(X, negate(X)))


def test_multiples_of_an_equation_have_one_form():
    line = add(multiply(number(Fraction(-5, 3)), X), multiply(number(10), Y))
    assert render(scaled(line, keep_sign=False)) == "x - 6y"
    assert render(scaled(line, keep_sign=True)) == "-x + 6y"


def test_long_decimals_stand_for_what_they_round():
    decimal = number(Fraction("4.123105625617661"))
    assert approximates(decimal, sqrt(17), 12) and not approximates(decimal, sqrt(17), 0)
    assert not approximates(decimal, sqrt(18), 12)
    assert not approximates(number(Fraction("0.333333")), number(Fraction(1, 3)), 12)
    assert not approximates(number(Fraction(1, 3)), number(Fraction(1, 3)), 12)


def test_real_values():
    assert real_value(add(symbol(r"\pi"), negate(number(3)))) == pytest.approx(0.14159265358979)
    assert (
        real_value(symbol(r"\infty")) == float("inf")
        and real_value(IMAGINARY) is None
        and real_value(X) is None
    )
