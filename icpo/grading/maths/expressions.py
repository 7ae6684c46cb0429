"""From tokens to exact values, by recursive descent."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from icpo.grading.maths import algebra, angles, functions, powers
from icpo.grading.maths.algebra import OversizedError, Sum
from icpo.grading.maths.commands import ACCENTS, CONSTANTS, FUNCTIONS, GREEK, INVERSES
from icpo.grading.maths.cursor import Cursor
from icpo.grading.maths.derivatives import derivative_name
from icpo.grading.maths.tokens import Token, UnreadableError, split, squeeze

MAX_NESTING = 40  # of brackets, bars, arguments and exponents
_DEGREE = algebra.multiply(algebra.symbol(r"\pi"), algebra.number(Fraction(1, 180)))
_ROUNDED = {r"\lfloor": (r"\rfloor", "floor"), r"\lceil": (r"\rceil", "ceil")}


def read_expression(tokens: Sequence[Token], nesting: int = 0) -> Sum:
    """The value of an arithmetic expression.

    Raises UnreadableError if it is none, OversizedError if a number is too large or brackets nest too deeply,
    ZeroDivisionError for 1/0.
    """
    value, num_read = read_prefix(tokens, nesting)
    if num_read < len(tokens):
        raise UnreadableError(f"unexpected {tokens[num_read].text!r}")
    return value


def read_prefix(tokens: Sequence[Token], nesting: int = 0) -> tuple[Sum, int]:
    """The value and length of the longest expression at the start."""
    reader = _Reader(tokens, nesting)
    value = reader.sum()
    return value, reader.num_taken


class _Reader(Cursor):
    """One method for each rule of the grammar."""

    def __init__(self, tokens: Sequence[Token], nesting: int) -> None:
        super().__init__(tokens)
        self._num_open_bars = self._num_open_functions = 0
        self._nesting = nesting

    def sum(self) -> Sum:
        """Terms joined by + and -."""
        total = self._term()
        while self.peek in ("+", "-"):
            is_minus = self.take().text == "-"
            term = self._term()
            total = algebra.add(total, algebra.negate(term) if is_minus else term)
        return total

    def _term(self) -> Sum:
        """Factors joined by *, / or nothing; a whole number before a proper fraction is a mixed number."""
        is_negative = False
        while self.peek in ("+", "-"):
            is_negative ^= self.take().text == "-"
        if (product := self._mixed_number()) is None:
            product = self._factor()
        while True:
            if self.accept("*"):
                product = algebra.multiply(product, self._signed_factor())
            elif self.kind(1) not in ("words", "text") and self.accept("/"):
                product = algebra.divide(product, self._signed_factor())
            elif self._starts_factor() and self.kind() != "number":
                product = algebra.multiply(product, self._factor())
            else:
                return algebra.negate(product) if is_negative else product

    def _signed_factor(self) -> Sum:
        if self.accept("-"):
            return algebra.negate(self._factor())
        return self._factor()

    def _mixed_number(self) -> Sum | None:
        r"""137 \frac{1}{2} or 3 1/2; None, and nothing taken, for anything else."""
        start = self.at
        if self.kind() == "number" and self.peek.isdigit():
            whole = int(self.take().text)
            fraction: Sum | None = None
            if self.peek == r"\frac":
                self.take()
                fraction = self._plain_fraction(self.argument_tokens(), self.argument_tokens())
            elif [self.kind(i) for i in range(3)] == ["number", "mark", "number"]:
                top, slash, bottom = (self.take() for _ in range(3))
                fraction = self._plain_fraction([top], [bottom]) if slash.text == "/" else None
            if fraction is not None:
                return algebra.add(algebra.number(whole), fraction)
        self.at = start
        return None

    @staticmethod
    def _plain_fraction(top: Sequence[Token], bottom: Sequence[Token]) -> Sum | None:
        texts = [token.text for token in (*top, *bottom)]
        if (
            len(top) != 1
            or len(bottom) != 1
            or not all(map(str.isdigit, texts))
            or int(texts[0]) >= int(texts[1])
        ):
            return None
        return algebra.number(Fraction(int(texts[0]), int(texts[1])))

    def _starts_factor(self) -> bool:
        if (
            not self.rest
            or self.kind() in ("words", "text", "connector", "begin", "end")
            or self.peek == r"\$"
        ):
            return False
        if self.peek == "|":
            return self._num_open_bars == 0
        is_name = self.kind() in ("number", "letter", "command") and self.peek not in (
            r"\rfloor",
            r"\rceil",
            r"\}",
            r"\\",
        )
        return is_name or self.peek in ("(", "[", "{")

    def _factor(self) -> Sum:
        """A primary with its powers and factorials."""
        value = self._primary()
        while True:
            if self.accept("^"):
                value = powers.power(value, self._exponent())
            elif self.accept("!"):
                value = self._factorial(value)
            elif self._num_open_functions and self.accept("°"):
                value = algebra.multiply(value, _DEGREE)
            else:
                return value

    def _factorial(self, value: Sum) -> Sum:
        """n!, or the double factorial n!!."""
        if not self.accept("!"):
            return powers.factorial_of(value)
        if self.peek == "!":
            raise UnreadableError("three signs of a factorial")
        return powers.double_factorial_of(value)

    def _exponent(self) -> Sum:
        self._descend()
        if self.accept("-"):
            value = algebra.negate(self._exponent())
        else:
            value = self._primary()
            value = powers.power(value, self._exponent()) if self.accept("^") else value
        self._nesting -= 1
        return value

    def _descend(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise OversizedError("an expression nested too deeply")

    def _primary(self) -> Sum:
        self._descend()
        value = self._unnested_primary(self.take())
        self._nesting -= 1
        return value

    def _unnested_primary(self, token: Token) -> Sum:
        if token.kind == "number":
            return self._number(token.text)
        if token.text in _BRACKETS:
            value = self.sum()
            self.expect(_BRACKETS[token.text])
            return value
        if token.text == "|":
            return self._absolute_value()
        if token.kind == "letter" or token.text in GREEK:
            return self._named(token.text)
        if token.text in ACCENTS:
            return self._named(f"{ACCENTS[token.text]}{{{squeeze(self.argument_tokens())}}}")
        if token.text in CONSTANTS:
            return algebra.symbol(token.text)
        if token.text in FUNCTIONS:
            return self._function(token.text)
        if token.text in _ROUNDED:
            return self._rounded(token.text)
        if token.text in _COMMANDS:
            return _COMMANDS[token.text](self)
        raise UnreadableError(f"unexpected {token.text!r}")

    def _number(self, digits: str) -> Sum:
        if "." in digits and self.accept(r"\overline"):
            repeated = squeeze(self.argument_tokens())
            if not repeated.isdigit():
                raise UnreadableError("digits expected under the line")
            places = len(digits.partition(".")[2])
            tail = Fraction(int(repeated), (10 ** len(repeated) - 1) * 10**places)
            return algebra.number(Fraction(digits.rstrip(".") or 0) + tail)
        if digits == ".":
            raise UnreadableError("digits expected behind the point")
        return algebra.number(Fraction(digits))

    def _named(self, name: str) -> Sum:
        """A letter with its index and primes."""
        if self.accept("_"):
            index = squeeze(self.argument_tokens(whole_number=True))
            name = f"{name}_{{{index}}}"
        while self.accept("'"):
            name += "'"
        return self._call(name) if name[0] == "f" and self.peek == "(" else algebra.symbol(name)

    def _call(self, name: str) -> Sum:
        """The value f(x) of a function that is not known: f(2x) is not 2f(x), as a product would be."""
        inner = self.group()[1:-1]
        arguments = [read_expression(part, self._nesting) for part in split(inner, {","})]
        return algebra.opaque("call", f"{name}({', '.join(map(algebra.render, arguments))})", *arguments)

    def _argument(self) -> Sum:
        return read_expression(self.argument_tokens(), self._nesting)

    def _fraction(self) -> Sum:
        top, bottom = self.argument_tokens(), self.argument_tokens()
        if (name := derivative_name(top, bottom)) is not None:
            return algebra.opaque("call", name)
        return algebra.divide(read_expression(top, self._nesting), read_expression(bottom, self._nesting))

    def _root(self) -> Sum:
        degree = 2
        if self.accept("["):
            index = self.sum().constant
            self.expect("]")
            if index is None or index.denominator != 1 or not 2 <= index <= 100:
                raise UnreadableError("a root of whole degree expected")
            degree = index.numerator
        if self.peek == "(":
            return powers.root(self._primary(), degree)
        return powers.root(read_expression(self.argument_tokens(whole_number=True), self._nesting), degree)

    def _binomial(self) -> Sum:
        top, bottom = self._argument(), self._argument()
        return powers.binomial(top, bottom)

    def _absolute_value(self) -> Sum:
        self._num_open_bars += 1
        value = self.sum()
        self.expect("|")
        self._num_open_bars -= 1
        return powers.absolute_value(value)

    def _rounded(self, opening: str) -> Sum:
        closing, kind = _ROUNDED[opening]
        value = self.sum()
        self.expect(closing)
        if value.constant is not None:
            floor = value.constant.numerator // value.constant.denominator
            return algebra.number(floor + (kind == "ceil" and value.constant.denominator != 1))
        return algebra.opaque(kind, f"{opening} {algebra.render(value)}{closing} ", value)

    def _function(self, name: str) -> Sum:
        r"""A function with its base, its power and what it is applied to, up to the next sign or function."""
        base: Sum | None = None
        exponent: Sum | None = None
        while self.peek in ("_", "^"):
            if self.take().text == "_":
                base = read_expression(self.argument_tokens(whole_number=True), self._nesting)
            else:
                exponent = read_expression(self.argument_tokens(whole_number=True), self._nesting)
        if exponent is not None and exponent.constant == -1 and name in INVERSES:
            name, exponent = INVERSES[name], None
        self._num_open_functions += 1
        argument = self._primary() if self.peek in ("(", "[") else self._applied()
        self._num_open_functions -= 1
        if self.accept("°"):
            argument = algebra.multiply(argument, _DEGREE)
        value = functions.apply(name[1:], base, argument)
        return value if exponent is None else powers.power(value, exponent)

    def _applied(self) -> Sum:
        is_negative = self.accept("-")
        argument = self._factor()
        while self._starts_factor() and self.peek not in FUNCTIONS and self.kind() != "number":
            argument = algebra.multiply(argument, self._factor())
        if self.peek == "/" and self.kind(1) == "number" and angles.is_multiple_of_pi(argument):
            self.take()
            argument = algebra.divide(argument, self._factor())
        return algebra.negate(argument) if is_negative else argument


_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_COMMANDS: dict[str, Callable[[_Reader], Sum]] = {
    r"\frac": _Reader._fraction,
    r"\sqrt": _Reader._root,
    r"\binom": _Reader._binomial,
}
