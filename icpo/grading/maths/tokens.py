"""LaTeX, or plain text, to tokens: what is only typesetting goes, what is meant stays."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from icpo.grading.maths.algebra import OversizedError

MAX_DEPTH = 25

_UNICODE = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{MULTIPLICATION SIGN}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{BULLET OPERATOR}": "*",
        "\N{DIVISION SIGN}": "/",
        "\N{SQUARE ROOT}": r"\sqrt ",
        "\N{GREEK SMALL LETTER PI}": r"\pi ",
        "\N{INFINITY}": r"\infty ",
        "\N{LESS-THAN OR EQUAL TO}": r"\le ",
        "\N{GREATER-THAN OR EQUAL TO}": r"\ge ",
        "\N{NOT EQUAL TO}": r"\ne ",
        "\N{UNION}": r"\cup ",
        "\N{ELEMENT OF}": r"\in ",
        "\N{PLUS-MINUS SIGN}": r"\pm ",
        "\N{MINUS-OR-PLUS SIGN}": r"\mp ",
        "\N{ALMOST EQUAL TO}": r"\approx ",
        "\N{EMPTY SET}": r"\emptyset ",
        "\N{DOUBLE-STRUCK CAPITAL R}": r"\mathbb{R}",
        "\N{SUPERSCRIPT TWO}": "^2",
        "\N{SUPERSCRIPT THREE}": "^3",
        "\N{VULGAR FRACTION ONE HALF}": r"\frac12 ",
        "\N{GREEK SMALL LETTER THETA}": r"\theta ",
        "\N{GREEK SMALL LETTER ALPHA}": r"\alpha ",
        "\N{GREEK SMALL LETTER BETA}": r"\beta ",
        "\N{GREEK SMALL LETTER LAMDA}": r"\lambda ",
        "\N{HORIZONTAL ELLIPSIS}": r"\ldots ",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{PRIME}": "'",
        "\N{MASCULINE ORDINAL INDICATOR}": "°",
        "\N{FULLWIDTH LEFT PARENTHESIS}": "(",
        "\N{FULLWIDTH RIGHT PARENTHESIS}": ")",
        "\N{FULLWIDTH COMMA}": ",",
        "\N{FULLWIDTH COLON}": ":",
        "\N{FULLWIDTH PERCENT SIGN}": "%",
        "\N{NO-BREAK SPACE}": " ",
    }
)
_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|texttt|mbox|hbox|mathrm|mathbf|mathit|mathsf|bf|rm|operatorname\*?|boldsymbol)"
    r"\s*\{([^{}]*)\}"
)
_SINGLE_LETTER_UNIT = re.compile(r"(?<=[\d})])(?:\s|\\[,; ])*\Z")
_REWRITES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in [
        (r"\\(?:left|right)\s*\.", ""),
        (r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|,?middle)(?![A-Za-z])", ""),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
        (r"(?<!\\)\\[()\[\]]", " "),
        (r"(?<!\\)\$", " "),
        (r"(?<=\d)(?:\{,\}|,(?:\\!)+|(?:\\[,!;: ])+|,\\,)\s*(?=\d{3}(?!\d))", ""),
        (r"(?<!\\)\\[,;:!> ]|~|\\q?quad(?![A-Za-z])|\\hspace\*?\{[^{}]*\}", " "),
        (r"\\l?brace(?![A-Za-z])", r"\\{"),
        (r"\\rbrace(?![A-Za-z])", r"\\}"),
        (r"\\langle(?![A-Za-z])", "("),
        (r"\\rangle(?![A-Za-z])", ")"),
        (r"\\[lr]?vert(?![A-Za-z])|\\mid(?![A-Za-z])", "|"),
        (r"<=|\\leq(?:slant)?(?![A-Za-z])", r"\\le "),
        (r">=|\\geq(?:slant)?(?![A-Za-z])", r"\\ge "),
        (r"!=|\\neq(?![A-Za-z])", r"\\ne "),
        (r"\\lt(?![A-Za-z])", "<"),
        (r"\\gt(?![A-Za-z])", ">"),
        (r"\*\*(?=\s*[\d({-])", "^"),
        (r"\*\*", ""),
        (r"\\(?:cdot|times|ast)(?![A-Za-z])", "*"),
        (r"\\div(?![A-Za-z])", "/"),
        (r"\\(?:varnothing|O)(?![A-Za-z])", r"\\emptyset "),
        (r"\\(?:ldots|cdots)(?![A-Za-z])|\\dots[a-z]?(?![A-Za-z])|\.\.\.+", r"\\dots "),
        (r"\^\s*\{?\s*\\circ\s*\}?|\\degree(?![A-Za-z])|\\circ(?![A-Za-z])", "°"),
        (r"\\infin(?![A-Za-z])", r"\\infty "),
        (r"\\(?:overrightarrow|vec|hat|bar|tilde|mathcal|mathfrak)\s*\{\s*(\\?[A-Za-z]+)\s*\}", r"\1"),
        (r"\\%", "%"),
        (r"(?<=\d)[eE]([-+]?\d+)(?![\w.])", r"*10^{\1}"),
    ]
]
_TOKEN = re.compile(
    r"(?P<number>\d+\.(?=\\overline)|\d+(?:\.\d+)?|\.\d+)"
    r"|\\text\{(?P<text>[^{}]*)\}"
    r"|\\(?P<environment>begin|end)\s*\{(?P<name>[a-z]+)\*?\}"
    r"|\\mathbb\s*\{?\s*(?P<field>[A-Z])\s*\}?"
    r"|(?P<command>\\(?:[A-Za-z]+|[{}$\\]))"
    r"|(?P<word>[A-Za-z]{2,}(?:[-' ]+[A-Za-z]{2,})*)"
    r"|(?P<letter>[A-Za-z])"
    r"|(?P<mark>[^\s\\])"
)
_GROUPED = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])"
    r"|(?<![\w.,}] )(?<![\w.,}])[1-9]\d{0,2}(?: \d{3})+(?![\d ,./^])"
)
_NAMES = frozenset(
    ("sqrt", "pi", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
     "tanh", "log", "ln", "exp", "theta", "alpha", "beta", "lambda", "infty")
)  # fmt: skip
_RENAMED = {"infinity": r"\infty", "inf": r"\infty", "union": r"\cup"}
_CONNECTORS = frozenset({"and", "or"})
_SHORT_WORDS = frozenset(
    (
        "cm",
        "mm",
        "km",
        "kg",
        "ft",
        "mi",
        "mph",
        "deg",
        "hr",
        "min",
        "sec",
        "lb",
        "oz",
        "usd",
        "ml",
        "am",
        "pm",
    )
)
_OPENING = frozenset({"(", "[", "{", r"\{", "begin"})
_CLOSING = frozenset({")", "]", "}", r"\}", "end"})


class UnreadableError(ValueError):
    """A text that is not an answer of a form known here."""


class Token(NamedTuple):
    """A number, command, letter, mark, words, text, connector, or the begin or end of an environment."""

    kind: str
    text: str


def clean(answer: str) -> str:
    """The answer without typesetting: delimiters of maths, sizes, thousands separators, a final period."""
    text = answer.translate(_UNICODE).strip().strip("*") if answer.strip().strip("*") else answer
    text = _WRAPPED.sub(_unwrapped, text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return re.sub(r"\s+", " ", re.sub(r"(?<!\.)[.,;:]\s*$", "", text.strip())).strip()


def tokenise(text: str) -> list[Token]:
    """The tokens of a cleaned text. Raises UnreadableError or OversizedError for its brackets."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(_without_grouping(text)):
        kind = match.lastgroup
        if kind == "name":
            tokens.append(Token(match["environment"], match["name"]))
        elif kind == "field":
            tokens.append(Token("letter", rf"\mathbb{{{match[0].rstrip('}')[-1]}}}"))
        elif kind == "text":
            tokens.append(_word_token("text", match["text"].strip(" .,:;")))
        elif kind == "word":
            tokens.extend(_read_words(match[0], follows_number=bool(tokens) and tokens[-1].kind == "number"))
        elif kind is not None:
            tokens.append(Token(kind, match[0]))
    _check_depth(tokens)
    return tokens


def split(tokens: Sequence[Token], separators: Iterable[str]) -> list[list[Token]]:
    """The parts between separators that stand outside all brackets; as many as separators plus one."""
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
    """Index of the bracket that closes the one at `opening`, of whatever shape; None if there is none."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += _depth_step(tokens[i])
        if depth == 0:
            return i
    return None


def _unwrapped(match: re.Match[str]) -> str:
    r"""The content of a \text that holds a number or no word, else the \text under its one name."""
    content = match[1]
    letters = re.findall(r"[A-Za-z]+", content)
    if re.search(r"\d", content):
        return f" {content} "
    if any(len(run) > 1 for run in letters):
        return rf"\text{{{content}}}"
    is_unit = [*letters] not in ([], ["e"], ["i"]) and content.strip() in letters
    if is_unit and _SINGLE_LETTER_UNIT.search(match.string[: match.start()]):
        return rf"\text{{{content}}}"
    return f" {content} " if letters else content


def _without_grouping(text: str) -> str:
    """Drops separators of thousands outside brackets, where a comma does not part coordinates."""
    if not any(map(text.__contains__, ", ")):
        return text
    depths, depth = [], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        depths.append(depth)

    def joined(match: re.Match[str]) -> str:
        return match[0] if depths[match.start()] else re.sub("[, ]", "", match[0])

    return _GROUPED.sub(joined, text)


def _word_token(kind: str, content: str) -> Token:
    return Token("connector", content) if content.casefold() in _CONNECTORS else Token(kind, content)


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
