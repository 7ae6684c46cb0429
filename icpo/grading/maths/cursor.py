"""A position in the tokens of an expression."""

from collections.abc import Sequence

from icpo.grading.maths.tokens import Token, UnreadableError, closing_index


class Cursor:
    """A cursor over tokens. Raises UnreadableError at the end."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self.at = 0
        self._num_split = 0

    @property
    def num_taken(self) -> int:
        """How many of the tokens given are passed."""
        return self.at - self._num_split

    @property
    def rest(self) -> bool:
        """Whether there is a next token."""
        return self.at < len(self._tokens)

    @property
    def peek(self) -> str:
        """The text of the next token, "" at the end."""
        return self._tokens[self.at].text if self.rest else ""

    def kind(self, ahead: int = 0) -> str:
        """The kind of a token ahead; "" beyond the end."""
        return self._tokens[self.at + ahead].kind if self.at + ahead < len(self._tokens) else ""

    def take(self) -> Token:
        """The next token, which is passed."""
        if not self.rest:
            raise UnreadableError("the expression ends too early")
        self.at += 1
        return self._tokens[self.at - 1]

    def accept(self, *texts: str) -> bool:
        """Pass the next token if it is one of these."""
        if self.peek in texts:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Passes the next token, which must be this one."""
        if not self.accept(text):
            raise UnreadableError(f"{text} expected")

    def group(self) -> list[Token]:
        """The next group with its brackets."""
        end = closing_index(self._tokens, self.at)
        if end is None:
            raise UnreadableError("a bracket is not closed")
        start, self.at = self.at, end + 1
        return list(self._tokens[start : self.at])

    def argument_tokens(self, *, whole_number: bool = False) -> list[Token]:
        """TeX's argument: a group or a token (digit, unless `whole_number`)."""
        if self.peek == "{":
            return self.group()[1:-1]
        token = self.take()
        if token.kind == "number" and not whole_number and len(token.text) > 1 and token.text.isdigit():
            digits = [Token("number", token.text[0]), Token("number", token.text[1:])]
            self._num_split += 1
            self._tokens = [*self._tokens[: self.at - 1], *digits, *self._tokens[self.at :]]
            return digits[:1]
        return [token]
