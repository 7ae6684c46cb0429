"""Exact values of trigonometric functions at named angles, both ways."""

from fractions import Fraction

from icpo.grading.maths.algebra import Generator, Sum, add, divide, multiply, negate, number, symbol

PI = symbol(r"\pi")
_PI = Generator("symbol", r"\pi")
_IMAGINARY = Generator("imaginary", "i")


def _radical(n: int) -> Sum:
    return Sum(((((Generator("root", str(n)), 1),), Fraction(1)),))


def _over(n: int, *terms: Sum) -> Sum:
    return multiply(add(*terms), number(Fraction(1, n)))


_R2, _R3, _R5 = (_radical(n) for n in (2, 3, 5))
_R6 = multiply(_R2, _R3)
# Cosines of the angles from 0 to a quarter turn, in units of pi.
_COSINES = {
    Fraction(0): number(1),
    Fraction(1, 12): _over(4, _R6, _R2),
    Fraction(1, 6): _over(2, _R3),
    Fraction(1, 5): _over(4, _R5, number(1)),
    Fraction(1, 4): _over(2, _R2),
    Fraction(1, 3): _over(2, number(1)),
    Fraction(2, 5): _over(4, _R5, number(-1)),
    Fraction(5, 12): _over(4, _R6, negate(_R2)),
    Fraction(1, 2): number(0),
}


def apply(name: str, argument: Sum) -> Sum | None:
    """A trigonometric function at a named angle, else None."""
    if name in _INVERSES:
        return _INVERSES[name].get(argument)
    turn = _multiple_of(argument, _PI)
    if turn is None or name not in _RATIOS:
        return None
    values = cosine(turn), cosine(turn - Fraction(1, 2))
    top, bottom = (number(1) if kind is None else values[kind] for kind in _RATIOS[name])
    return None if top is None or bottom is None else divide(top, bottom)


def cosine(turn: Fraction) -> Sum | None:
    """The cosine of `turn` times pi, if it is known."""
    turn = abs(turn) % 2
    turn = 2 - turn if turn > 1 else turn
    if turn > Fraction(1, 2):
        value = _COSINES.get(1 - turn)
        return None if value is None else negate(value)
    return _COSINES.get(turn)


def is_multiple_of_pi(argument: Sum) -> bool:
    """Whether a sum is a nonzero rational multiple of pi."""
    return bool(argument.terms) and _multiple_of(argument, _PI) is not None


def euler(exponent: Sum) -> Sum | None:
    """The power e^(i x) at a named angle x, else None."""
    [*terms] = exponent.terms
    if len(terms) != 1 or dict(terms[0][0]) != {_IMAGINARY: 1, _PI: 1}:
        return None
    real, imaginary = cosine(terms[0][1]), cosine(terms[0][1] - Fraction(1, 2))
    return None if real is None or imaginary is None else add(real, multiply(imaginary, symbol("i")))


def _multiple_of(argument: Sum, unit: Generator) -> Fraction | None:
    """The rational number of `unit` that a sum is; None if it is none."""
    if not argument.terms:
        return Fraction(0)
    [(monomial, coefficient), *others] = argument.terms
    return coefficient if not others and monomial == ((unit, 1),) else None


# Top and bottom: 0 is the cosine, 1 the sine, None is 1.
_RATIOS: dict[str, tuple[int | None, int | None]] = {
    "cos": (0, None), "sin": (1, None), "tan": (1, 0), "cot": (0, 1), "sec": (None, 0), "csc": (None, 1),
}  # fmt: skip


def _angles(name: str, low: Fraction, high: Fraction) -> dict[Sum, Sum]:
    """From the values of a function to the angles between `low` and `high` times pi."""
    found = {}
    for step in range(-60, 61):
        turn = Fraction(step, 60)
        if low <= turn <= high and (cosine(turn) is not None or cosine(turn - Fraction(1, 2)) is not None):
            angle = multiply(PI, number(turn))
            try:
                value = apply(name, angle)
            except ZeroDivisionError:
                continue
            if value is not None:
                found[value] = angle
    return found


_INVERSES: dict[str, dict[Sum, Sum]] = {}
_INVERSES.update(
    arccos=_angles("cos", Fraction(0), Fraction(1)),
    arcsin=_angles("sin", Fraction(-1, 2), Fraction(1, 2)),
    arctan=_angles("tan", Fraction(-1, 2), Fraction(1, 2)),
)
