"""Tokens to exact values: a recursive-descent reader of what answers write between commas and brackets."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from icpo.grading import algebra
from icpo.grading.algebra import Sum
from icpo.grading.tokens import Token, UnreadableError

_CONSTANTS = {r"\infty", r"\pi", r"\emptyset", r"\dots"}
_GREEK = frozenset(
    rf"\{name}"
    for name in "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma "
    "tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell hbar".split()
)
_FUNCTIONS = frozenset(
    rf"\{name}" for name in "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp".split()
)
_INVERSES = {r"\sin": r"\arcsin", r"\cos": r"\arccos", r"\tan": r"\arctan"}
_ROUNDED = {r"\lfloor": (r"\rfloor", "floor"), r"\lceil": (r"\rceil", "ceil")}


def read_expression(tokens: Sequence[Token]) -> Sum:
    """The value of an arithmetic expression.

    Raises UnreadableError if it is none, OversizedError if a number is too large, ZeroDivisionError for 1/0.
    """
    reader = _Reader(tokens)
    value = reader.sum()
    if reader.rest:
        raise UnreadableError(f"unexpected {reader.peek!r}")
    return value


class _Reader:
    """A position in the tokens, and one method for each rule of the grammar."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._num_open_bars = 0

    @property
    def rest(self) -> bool:
        return self._at < len(self._tokens)

    @property
    def peek(self) -> str:
        return self._tokens[self._at].text if self.rest else ""

    def _kind(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead].kind if self._at + ahead < len(self._tokens) else ""

    def _take(self) -> Token:
        if not self.rest:
            raise UnreadableError("the expression ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, *texts: str) -> bool:
        if self.peek in texts:
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise UnreadableError(f"{text} expected")

    def sum(self) -> Sum:
        """Terms joined by + and -."""
        total = self._term()
        while self.peek in ("+", "-"):
            is_minus = self._take().text == "-"
            term = self._term()
            total = algebra.add(total, algebra.negate(term) if is_minus else term)
        return total

    def _term(self) -> Sum:
        """Factors joined by *, / or nothing; a whole number before a proper fraction is a mixed number."""
        is_negative = False
        while self.peek in ("+", "-"):
            is_negative ^= self._take().text == "-"
        product = self._mixed_number() or self._factor()
        while True:
            if self._accept("*"):
                product = algebra.multiply(product, self._signed_factor())
            elif self._accept("/"):
                product = algebra.divide(product, self._signed_factor())
            elif self._starts_factor() and self._kind() != "number":
                product = algebra.multiply(product, self._factor())
            else:
                return algebra.negate(product) if is_negative else product

    def _signed_factor(self) -> Sum:
        if self._accept("-"):
            return algebra.negate(self._factor())
        return self._factor()

    def _mixed_number(self) -> Sum | None:
        r"""137 \frac{1}{2} or 3 1/2; None, and nothing taken, if that is not what stands here."""
        start = self._at
        if self._kind() == "number" and self.peek.isdigit():
            whole = int(self._take().text)
            fraction: Sum | None = None
            if self.peek == r"\frac":
                self._take()
                fraction = self._plain_fraction(self._argument_tokens(), self._argument_tokens())
            elif [self._kind(i) for i in range(3)] == ["number", "mark", "number"]:
                top, slash, bottom = (self._take() for _ in range(3))
                fraction = self._plain_fraction([top], [bottom]) if slash.text == "/" else None
            if fraction is not None:
                return algebra.add(algebra.number(whole), fraction)
        self._at = start
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
        if not self.rest or self._kind() in ("words", "text", "connector", "begin", "end"):
            return False
        if self.peek == "|":
            return self._num_open_bars == 0
        is_name = self._kind() in ("number", "letter", "command") and self.peek not in (
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
            if self._accept("^"):
                value = algebra.power(value, self._exponent())
            elif self._accept("!"):
                value = algebra.factorial_of(value)
            else:
                return value

    def _exponent(self) -> Sum:
        if self._accept("-"):
            return algebra.negate(self._exponent())
        value = self._primary()
        return algebra.power(value, self._exponent()) if self._accept("^") else value

    def _primary(self) -> Sum:
        token = self._take()
        if token.kind == "number":
            return self._number(token.text)
        if token.text in _BRACKETS:
            value = self.sum()
            self._expect(_BRACKETS[token.text])
            return value
        if token.text == "|":
            return self._absolute_value()
        if token.kind == "letter" or token.text in _GREEK:
            return self._named(token.text)
        if token.text in _CONSTANTS:
            return algebra.symbol(token.text)
        if token.text in _FUNCTIONS:
            return self._function(token.text)
        if token.text in _ROUNDED:
            return self._rounded(token.text)
        if token.text in _COMMANDS:
            return _COMMANDS[token.text](self)
        raise UnreadableError(f"unexpected {token.text!r}")

    def _number(self, digits: str) -> Sum:
        if "." in digits and self._accept(r"\overline"):
            repeated = "".join(token.text for token in self._argument_tokens())
            if not repeated.isdigit():
                raise UnreadableError("digits expected under the line")
            places = len(digits.partition(".")[2])
            tail = Fraction(int(repeated), (10 ** len(repeated) - 1) * 10**places)
            return algebra.number(Fraction(digits.rstrip(".")) + tail)
        return algebra.number(Fraction(digits))

    def _named(self, name: str) -> Sum:
        """A letter with its index and primes."""
        if self._accept("_"):
            index = "".join(token.text for token in self._argument_tokens(whole_number=True))
            name = f"{name}_{{{index}}}"
        while self._accept("'"):
            name += "'"
        return algebra.symbol(name)

    def _argument_tokens(self, *, whole_number: bool = False) -> list[Token]:
        """What TeX takes as an argument: a group, or one token (one digit, unless `whole_number`)."""
        if self.peek == "{":
            depth, taken = 0, []
            while True:
                token = self._take()
                depth += (token.text == "{") - (token.text == "}")
                taken.append(token)
                if depth == 0:
                    return taken[1:-1]
        token = self._take()
        if token.kind == "number" and not whole_number and len(token.text) > 1 and token.text.isdigit():
            self._tokens = [
                *self._tokens[: self._at - 1],
                Token("number", token.text[1:]),
                *self._tokens[self._at :],
            ]
            self._at -= 1
            return [Token("number", token.text[0])]
        return [token]

    def _argument(self) -> Sum:
        return read_expression(self._argument_tokens())

    def _fraction(self) -> Sum:
        top, bottom = self._argument(), self._argument()
        return algebra.divide(top, bottom)

    def _root(self) -> Sum:
        degree = 2
        if self._accept("["):
            index = self.sum().constant
            self._expect("]")
            if index is None or index.denominator != 1 or not 2 <= index <= 100:
                raise UnreadableError("a root of whole degree expected")
            degree = index.numerator
        if self.peek == "(":
            return algebra.root(self._primary(), degree)
        return algebra.root(read_expression(self._argument_tokens(whole_number=True)), degree)

    def _binomial(self) -> Sum:
        top, bottom = self._argument(), self._argument()
        return algebra.binomial(top, bottom)

    def _overline(self) -> Sum:
        name = "".join(token.text for token in self._argument_tokens())
        return algebra.symbol(rf"\overline{{{name}}}")

    def _absolute_value(self) -> Sum:
        self._num_open_bars += 1
        value = self.sum()
        self._expect("|")
        self._num_open_bars -= 1
        if value.constant is not None:
            return algebra.number(abs(value.constant))
        return algebra.opaque("abs", f"|{algebra.render(value)}|", value)

    def _rounded(self, opening: str) -> Sum:
        closing, kind = _ROUNDED[opening]
        value = self.sum()
        self._expect(closing)
        if value.constant is not None:
            floor = value.constant.numerator // value.constant.denominator
            return algebra.number(floor + (kind == "ceil" and value.constant.denominator != 1))
        return algebra.opaque(kind, f"{opening} {algebra.render(value)}{closing} ", value)

    def _function(self, name: str) -> Sum:
        r"""A function with its base, its power and what it is applied to, up to the next sign or function."""
        base: Sum | None = None
        exponent: Sum | None = None
        while self.peek in ("_", "^"):
            if self._take().text == "_":
                base = read_expression(self._argument_tokens(whole_number=True))
            else:
                exponent = read_expression(self._argument_tokens(whole_number=True))
        if exponent is not None and exponent.constant == -1 and name in _INVERSES:
            name, exponent = _INVERSES[name], None
        argument = self._primary() if self.peek in ("(", "[") else self._applied()
        value = _apply(name, base, argument)
        return value if exponent is None else algebra.power(value, exponent)

    def _applied(self) -> Sum:
        argument = self._factor()
        while self._starts_factor() and self.peek not in _FUNCTIONS and self._kind() != "number":
            argument = algebra.multiply(argument, self._factor())
        return argument


def _apply(name: str, base: Sum | None, argument: Sum) -> Sum:
    if name == r"\exp":
        return algebra.power(algebra.symbol("e"), argument)
    if base is not None:
        return algebra.opaque(
            "log", rf"{name}_{{{algebra.render(base)}}}({algebra.render(argument)})", argument, base
        )
    return algebra.opaque(name[1:], f"{name}({algebra.render(argument)})", argument)


_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_COMMANDS: dict[str, Callable[[_Reader], Sum]] = {
    r"\frac": _Reader._fraction,
    r"\sqrt": _Reader._root,
    r"\binom": _Reader._binomial,
    r"\overline": _Reader._overline,
}
