"""LaTeX without typesetting to tokens: numbers, letters, commands, words and marks."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from icpo.grading.maths.algebra import OversizedError

MAX_DEPTH = 25

_TOKEN = re.compile(
    r"(?P<number>\d+\.(?=\\overline)|\d+(?:\.\d+)?|\.\d+|\.(?=\\overline\{\d))"
    r"|\\text\{(?P<text>[^{}]*)\}"
    r"|\\(?P<environment>begin|end)\s*\{(?P<name>[a-z]+)\*?\}"
    r"|\\mathbb\s*\{?\s*(?P<field>[A-Z])\s*\}?"
    r"|\\(?P<script>mathcal|mathfrak|mathscr)\s*\{?\s*(?P<styled>[A-Za-z])\s*\}?"
    r"|(?P<command>\\(?:[A-Za-z]+|[{}$\\]))"
    r"|(?P<word>[A-Za-z]{2,}(?:[-' ]+[A-Za-z]{2,})*)"
    r"|(?P<letter>[A-Za-z])"
    r"|(?P<mark>[^\s\\])"
)
_GROUPED = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])"
    r"|(?<![\w.,}] )(?<![\w.,}])[1-9]\d{0,2}(?: \d{3})+(?![\d ,./^])"
)
_BRACKET = re.compile(r"\\[{}]|[()\[\]]")
_NAMES = frozenset(
    ("sqrt", "pi", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
     "tanh", "log", "ln", "exp", "theta", "alpha", "beta", "lambda", "infty")
)  # fmt: skip
_RENAMED = {"infinity": r"\infty", "inf": r"\infty", "union": r"\cup"}
_CONNECTORS = frozenset({"and", "or"})
_SHORT_WORDS = frozenset(
    ("cm", "mm", "km", "kg", "ft", "mi", "mph", "deg", "hr", "min", "sec", "lb", "oz", "usd", "ml", "am",
     "pm", "sq", "yd", "hz", "khz", "kw", "mw", "kwh", "kj", "kpa", "mg", "lbs", "hrs", "mins", "secs")
)  # fmt: skip
# A few letters that are a word where they are the whole answer; elsewhere they are a product.
_WHOLE_WORDS = frozenset(
    ("no", "on", "up", "in", "to", "at", "by", "it", "is", "us", "we", "he", "go", "so", "do", "of", "if",
     "an", "as", "be", "me", "my", "ok", "hi", "or", "act", "and", "any", "arm", "art", "ash", "bad", "bag",
     "ban", "bar", "bat", "by", "can", "cap", "car", "cat", "cry", "day", "dry", "fan", "far", "fat", "fly",
     "gap", "gas", "had", "ham", "has", "hat", "jar", "law", "lay", "mad", "man", "map", "mat", "may", "nap",
     "pan", "pat", "pay", "rat", "raw", "ray", "sad", "sat", "saw", "say", "shy", "sky", "sly", "spy", "tap",
     "tar", "try", "van", "war", "was", "way", "why")
)  # fmt: skip
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_RUN = re.compile(r"[A-Za-z]{2,}")
_OPENING = frozenset({"(", "[", "{", r"\{", "begin"})
_CLOSING = frozenset({")", "]", "}", r"\}", "end"})


class UnreadableError(ValueError):
    """A text that is not an answer of a form known here."""


class Token(NamedTuple):
    """A token: number, command, letter, words, mark, text or environment."""

    kind: str
    text: str


def tokenise(text: str) -> list[Token]:
    """The tokens of a cleaned text. Raises UnreadableError, OversizedError."""
    if _RUN.fullmatch(text) and is_sequence(text):
        return [Token("words", text)]
    tokens: list[Token] = []
    for match in _TOKEN.finditer(_without_grouping(text)):
        kind = match.lastgroup
        if kind == "name":
            tokens.append(Token(match["environment"], match["name"]))
        elif kind == "field":
            tokens.append(Token("letter", rf"\mathbb{{{match['field']}}}"))
        elif kind == "styled":
            tokens.append(Token("letter", rf"\mathcal{{{match['styled']}}}"))
        elif kind == "text":
            tokens.append(_word_token("text", match["text"].strip(" .,:;")))
        elif kind == "word":
            tokens.extend(_read_words(match[0], follows_number=bool(tokens) and tokens[-1].kind == "number"))
        elif kind is not None:
            tokens.append(Token(kind, match[0]))
    _check_depth(tokens)
    return tokens


def is_sequence(letters: str) -> bool:
    """Whether letters are a sequence (HHT) or word, not a product."""
    if letters in _NAMES or letters.casefold() in _RENAMED:
        return False
    is_repeating = len(set(letters)) < len(letters)
    return letters.isupper() or is_repeating or is_short_word(letters)


def is_short_word(letters: str) -> bool:
    """Whether two or three letters are a word (no), whatever the case."""
    return letters.casefold() in _WHOLE_WORDS


def split(tokens: Sequence[Token], separators: Iterable[str]) -> list[list[Token]]:
    """The parts between separators outside all brackets."""
    parts: list[list[Token]] = [[]]
    wanted, depth = frozenset(separators), 0
    for token in tokens:
        depth += _depth_step(token)
        if depth == 0 and token.text in wanted and token.kind not in ("text", "words"):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def closing_index(tokens: Sequence[Token], opening: int) -> int | None:
    """Index of the bracket that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += _depth_step(tokens[i])
        if depth == 0:
            return i
    return None


def are_words(tokens: Iterable[Token]) -> bool:
    """Whether all tokens are words."""
    return all(token.kind in ("words", "text") for token in tokens)


def squeeze(tokens: Iterable[Token]) -> str:
    """The texts of tokens joined, with spaces after commands."""
    text = ""
    for token in tokens:
        is_command = text[-1:].isalpha() and _ENDS_IN_COMMAND.search(text) and token.text[:1].isalpha()
        text += f" {token.text}" if is_command else token.text
    return text


def _without_grouping(text: str) -> str:
    """Drops separators of thousands outside brackets, where a comma does not part coordinates."""
    if not any(map(text.__contains__, ", ")):
        return text
    steps = {match.end() - 1: 1 if match[0][-1] in "([{" else -1 for match in _BRACKET.finditer(text)}
    depths, depth = [], 0
    for i in range(len(text)):
        depth += steps.get(i, 0)
        depths.append(depth)

    def joined(match: re.Match[str]) -> str:
        return match[0] if depths[match.start()] else re.sub("[, ]", "", match[0])

    return _GROUPED.sub(joined, text)


def _word_token(kind: str, content: str) -> Token:
    return (
        Token("connector", content.casefold()) if content.casefold() in _CONNECTORS else Token(kind, content)
    )


def _read_words(run: str, *, follows_number: bool) -> list[Token]:
    """Names of functions, connectors, words, and else the letters of a product."""
    tokens: list[Token] = []
    words = re.findall(r"[A-Za-z]+(?:['-][A-Za-z]+)*", run)
    is_phrase = len(words) > 1 and any(_is_word(word.casefold()) for word in words)
    for word in words:
        lower = word.casefold()
        if lower in _CONNECTORS:
            tokens.append(Token("connector", lower))
        elif lower in _RENAMED or word in _NAMES:
            tokens.append(Token("command", _RENAMED.get(lower, "\\" + lower)))
        elif is_phrase or _is_word(lower) or (follows_number and lower == "in"):
            before = f"{tokens.pop().text} " if tokens and tokens[-1].kind == "words" else ""
            tokens.append(Token("words", before + word))
        else:
            tokens.extend(Token("letter", letter) for letter in word if letter.isalpha())
    return tokens


def _is_word(lower: str) -> bool:
    return len(lower) > 3 or lower in _SHORT_WORDS or (len(lower) == 3 and not set("eiou").isdisjoint(lower))


def _depth_step(token: Token) -> int:
    key = token.kind if token.kind in ("begin", "end") else token.text
    if token.kind in ("text", "words"):
        return 0
    return (key in _OPENING) - (key in _CLOSING)


def _check_depth(tokens: Iterable[Token]) -> None:
    depth = 0
    for token in tokens:
        depth += _depth_step(token)
        if depth < 0:
            raise UnreadableError("a bracket closes that was not opened")
        if depth > MAX_DEPTH:
            raise OversizedError("brackets nest too deeply")
    if depth:
        raise UnreadableError("a bracket is not closed")
