"""LaTeX or plain text to LaTeX without typesetting."""

import re

from icpo.grading.maths.unicode import to_latex

_TEXT_COMMANDS = (
    r"text|textbf|textit|textrm|textnormal|texttt|textsf|textsc|textup|emph|mbox|hbox|mathrm|mathbf|mathit"
    r"|mathsf|mathtt|mathnormal|bf|rm|it|operatorname\*?|boldsymbol|bm|pmb|underline"
)
_FUNCTION_NAMES = (
    r"sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|log|ln|lg|exp|gcd|lcm|max|min|det|lim"
)
_OPERATOR = re.compile(
    rf"\\(?:operatorname\*?|mathop)\s*\{{\s*(?:\\rm\s+|\\mathrm)?({_FUNCTION_NAMES})\s*\}}"
)
_WRAPPED = re.compile(rf"\\(?:{_TEXT_COMMANDS})\s*\{{([^{{}}]*)\}}")
_SINGLE_LETTER_UNIT = re.compile(r"(?<=[\d})])(?:\s|\\[,; ])*\Z")
_RAISED_UNIT = re.compile(r"[A-Za-z]+(?:\^\d)?(?:[ /][A-Za-z]+(?:\^\d)?)*")
_SHORT_UNIT = re.compile(r"[A-Za-z](?:/[A-Za-z])?")
_LETTERS = re.compile(r"[A-Za-z]+")
_CASES_ARRAY = re.compile(
    r"\\left\s*\\\{\s*\\begin\s*\{(?:array|aligned|matrix)\}(?:\s*\{[^{}]*\})?(.*?)"
    r"\\end\s*\{(?:array|aligned|matrix)\}\s*\\right\s*\.",
    re.DOTALL,
)
_QUOTED = re.compile(r"(?:\"|''|``)([^\"']*)(?:\"|'')")
_ONE_LINE = re.compile(
    r"\\begin\s*\{(?:aligned|align\*?|gathered|split|equation\*?)\}((?:[^&\\]|\\(?!\\|begin|end))*)\\end\s*\{[a-z]+\*?\}"
)
_DIGITS = r"(?:\{\s*(\d+)\s*\}|(\d))"
# Repeating decimals in all their notations; each becomes \overline over the digits that repeat.
_BAR = re.compile(rf"(?<=[\d.])\s*\\(?:bar|overline|overbar)\s*{_DIGITS}(?:\s*\\dots(?![A-Za-z]))?")
_DOT = re.compile(rf"(?<=[\d.])\\dot\s*{_DIGITS}(?:\s*(\d*)\s*\\dot\s*{_DIGITS})?")
_COMBINING_BAR = re.compile("(?<=[\\d.])((?:\\d\u0304)+)")
_COMBINING_DOT = re.compile("(?<=[\\d.])(\\d)\u0307(?:(\\d*)(\\d)\u0307)?")
_BRACKETED = re.compile(r"(?<![\w.\\}])(\d*\.\d*)\((\d+)\)(?!\s*[\w^!({\\])")
_WRITTEN_OUT = re.compile(
    r"(?<![\w.])(\d*\.\d*?)(?:(\d)\2{2,}|(?<=\.)(\d)\3|(\d{2,12}?)\4+)\s*\\dots(?![A-Za-z])"
)
_INTERVAL = re.compile(r"([\[\]])([^\[\](),;]*[,;][^\[\](),;]*)([\[\]])")
_DASH = re.compile(r"\s*(?:–|---?)\s*")
_AMOUNT = (
    r"(?:\\?[$€£¥₹]\s*)?-?(?:\\frac(?:\{\d+\}\{\d+\}|\d\d)|(?:\d+(?:\.\d+)?|\.\d+)(?:\^\{?\d+\}?|/\d+)?)"
    r"(?:\*10\^\{?-?\d+\}?)?(?:\s*(?:\\text\{[^{}\d]*\}|[%°]|[A-Za-z]{2,}))?"
)
# Amounts and no more, from the start, a comma or a word to the end, a comma or a unit.
_RANGE = re.compile(
    r"(?:^[\s{]*|[=,;:(\[]|\\\{|(?<![\\A-Za-z])[A-Za-z]{2,}\s|\\text\{[^{}]*\})\s*"
    rf"{_AMOUNT}(?:{_DASH.pattern}{_AMOUNT})+(?=\s*(?:[\s}}]*$|[,;:)\]]|\\\}}|\\text|[A-Za-z]{{2}}))"
)
_LEADING_SIGNS = re.compile(
    r"(?:(?:=|:|\\(?:approx|therefore|implies|Rightarrow|Longrightarrow|to|rightarrow)(?![A-Za-z]))\s*)+"
)
_TRAILING_SIGNS = re.compile(r"(?:\s|\\\\(?!\{)|\\(?:square|Box)(?![A-Za-z])|(?<!\.)[.,;:])+\Z")


def _rule(pattern: str, replacement: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern), replacement


_REWRITES = [
    _rule(r"\{\s*\\rm\s+d\s*\}", " d "),
    _rule(r"\\(?:tag|label|phantom|[hv]phantom)\*?\s*\{[^{}]*\}", ""),
    _rule(r"\\(?:text)?color(?:box)?\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}", ""),
    _rule(r"\\(?:checkmark|blacksquare|qed(?:symbol)?|hline)(?![A-Za-z])", ""),
    _rule(
        r"\\(?:tiny|scriptsize|footnotesize|small|normalsize|large|Large|LARGE|huge|Huge|(?:display|text|script)style"
        r"|bf|rm|it|tt|sf|em|bfseries|itshape|boldmath|limits|strut|mathstrut)(?![A-Za-z])",
        "",
    ),
    _rule(r"\\(?:left|right|[,]?middle)\s*\.", ""),
    _rule(r"\\(?:left|right|[bB]igg?[lrm]?|,?middle)(?![A-Za-z])", ""),
    _rule(
        rf"\\(?:text(?!\{{[^{{}}]*\}})|(?!text(?![A-Za-z]))(?:{_TEXT_COMMANDS})|boxed|fbox|math(?:ord|bin|rel|op))"
        r"(?![A-Za-z])(?=\s*[{\\A-Za-z\d])",
        "",
    ),
    _rule(r"\\\\\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in|mu)\s*\]", r"\\\\ "),
    _rule(r"\\(?:[dtcs]|nice|x)frac(?![A-Za-z])", r"\\frac"),
    _rule(r"\{([^{}]*)\\over(?![A-Za-z])([^{}]*)\}", r"\\frac{\1}{\2}"),
    _rule(r"^((?:[^{}]*=)?)([^{}=]*)\\over(?![A-Za-z])([^{}=]*)$", r"\1\\frac{\2}{\3}"),
    _rule(r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
    _rule(r"\\Pr(?![A-Za-z])", "P"),
    _rule(r"(?<!\\)\\[()\[\]]", " "),
    _rule(r"(?<!\\)\$", " "),
    _rule(r"(?<=\d)(?:\{,\}|,(?:\\!)+|(?:\\[,!;: ])+|,\\,)\s*(?=\d{3}(?!\d))", ""),
    _rule(
        r"(?<!\\)\\[,;:!> ]|~|\\(?:q?quad|enspace|thinspace)(?![A-Za-z])|\\[hv]space\*?\{[^{}]*\}", " "
    ),
    _rule(r"\\l?brace(?![A-Za-z])", r"\\{"),
    _rule(r"\\rbrace(?![A-Za-z])", r"\\}"),
    _rule(r"\\l(?:angle|paren)(?![A-Za-z])", "("),
    _rule(r"\\r(?:angle|paren)(?![A-Za-z])", ")"),
    _rule(r"\\lbrack(?![A-Za-z])", "["),
    _rule(r"\\rbrack(?![A-Za-z])", "]"),
    _rule(r"\\[lr]?vert(?![A-Za-z])|\\mid(?![A-Za-z])", "|"),
    _rule(r"\\not\s*\\in(?![A-Za-z])", r"\\notin "),
    _rule(r"\\not\s*(?:=|\\eq(?![A-Za-z]))", r"\\ne "),
    _rule(r"\\not\s*<|\\nless(?![A-Za-z])|\\not\s*\\lt(?![A-Za-z])", r"\\ge "),
    _rule(r"\\not\s*>|\\ngtr(?![A-Za-z])|\\not\s*\\gt(?![A-Za-z])", r"\\le "),
    _rule(r"<=|\\(?:leq(?:slant|q)?|leqslant)(?![A-Za-z])", r"\\le "),
    _rule(r">=|\\geq(?:slant|q)?(?![A-Za-z])", r"\\ge "),
    _rule(r"!=|\\neq(?![A-Za-z])", r"\\ne "),
    _rule(r"\\lt(?![A-Za-z])", "<"),
    _rule(r"\\gt(?![A-Za-z])", ">"),
    _rule(r"\\(?:simeq|doteq|approxeq)(?![A-Za-z])", r"\\approx "),
    _rule(r"\\colon(?![A-Za-z])", ":"),
    _rule(r"\\backslash(?![A-Za-z])", r"\\setminus "),
    _rule(r"\*\*(?=\s*[\d({-])", "^"),
    _rule(r"\*\*", ""),
    _rule(r"\\(?:cdot|times|ast)(?![A-Za-z])", "*"),
    _rule(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)", "*"),
    _rule(r"\\div(?![A-Za-z])", "/"),
    _rule(r"\\(?:varnothing|O)(?![A-Za-z])", r"\\emptyset "),
    _rule(r"\\(?:ldots|cdots|dotso)(?![A-Za-z])|\\dots[a-z]?(?![A-Za-z])|\.\.\.+", r"\\dots "),
    _rule(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|\\circ(?![A-Za-z])", "°"),
    _rule(r"\^\s*(?:\{\s*\\prime\s*\}|\\prime(?![A-Za-z]))", "'"),
    _rule(r"\\infin(?![A-Za-z])", r"\\infty "),
    _rule(r"\\%", "%"),
    _rule(r"(?<=\d)[eE]([-+]?\d+)(?![\w.])", r"*10^{\1}"),
    _rule(r"\b([apAP])\.\s?[mM]\.?(?![A-Za-z])", r"\1m"),
    _rule(r"\bUSD\s*(?=\d)", r"\\$"),
    _rule(r"(?<=\d)\s*(?:\\text\{\s*to\s*\}|\bto\b)\s*(?=\d)", ":"),
    _rule(r"(?<=[\d}])\s*\((?:\\text\{)?\s*([A-Za-z]{4,}(?: [A-Za-z]+)*)\s*\}?\)$", r"\\text{ \1}"),
    _rule(r"(?<=[\d}])\s*\\text\{\s*\(([A-Za-z]{3,}(?: [A-Za-z]+)*)\)\s*\}$", r"\\text{ \1}"),
    _rule(r"\\text\{([A-Za-z ]+):\s*\}", r"\\text{\1}:"),
    _rule(r"\b(hundred|thousand|million) and (?=[a-z]{3,})", r"\1 "),
    _rule(r"\\(?:overarc|wideparen)(?![A-Za-z])", r"\\widehat"),
    _rule(
        r"(?<![A-Za-z\\])(d(?:\^(?:\{\d\}|\d))? ?(?:[A-Za-z]|\\[A-Za-z]+)?) ?/ ?"
        r"(d ?(?:[A-Za-z]|\\[A-Za-z]+)(?:\^(?:\{\d\}|\d))?)(?![A-Za-z])",
        r"\\frac{\1}{\2}",
    ),
    _rule(r"\bper cent(?![A-Za-z])", "percent"),
]  # fmt: skip


def clean(answer: str) -> str:
    """The answer without delimiters, fonts, colours, sizes and grouping."""
    text = to_latex(answer).strip()
    text = text.strip("*`").strip() or text
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1]
    if aligned := _ONE_LINE.fullmatch(text):
        text = aligned[1]
    if "\\" in text:
        text = _CASES_ARRAY.sub(r"\\begin{cases}\1\\end{cases}", text)
        text = _OPERATOR.sub(r"\\\1 ", text)
        text = _WRAPPED.sub(_unwrapped, text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    text = _INTERVAL.sub(_with_round_brackets, text) if "[" in text or "]" in text else text
    text = _TRAILING_SIGNS.sub("", text.strip())
    if leading := _LEADING_SIGNS.match(text):
        text = text[leading.end() :] or text
    if "–" in text or "--" in text:
        text = _RANGE.sub(lambda m: _DASH.sub("\0", m[0]), text).replace("–", "-").replace("\0", "–")
    return re.sub(r"\s+", " ", _with_repetends(text)).strip()


def _with_round_brackets(match: re.Match[str]) -> str:
    """An interval as the French write it, ]0, 1[ for the open one, with round brackets."""
    opening, ends, closing = match.groups()
    return ("[" if opening == "[" else "(") + ends + ("]" if closing == "]" else ")")


def _unwrapped(match: re.Match[str]) -> str:
    r"""The content of a \text that holds a number, a command or no word, else the \text itself."""
    content = match[1]
    letters = _LETTERS.findall(content)
    is_behind_number = _SINGLE_LETTER_UNIT.search(match.string[: match.start()]) is not None
    if is_behind_number and "^" in content and _RAISED_UNIT.fullmatch(content.strip()):
        return rf"\text{{{content}}}"
    if "\\" in content or any(map(str.isdigit, content)):
        return f" {content} "
    if any(len(run) > 1 for run in letters):
        return rf"\text{{{content}}}"
    is_unit = letters not in ([], ["e"], ["i"]) and _SHORT_UNIT.fullmatch(content.strip())
    if is_unit and is_behind_number:
        return rf"\text{{{content}}}"
    return f" {content} " if letters else content


def _with_repetends(text: str) -> str:
    text = re.sub("([A-Za-z])\u0304", r"\\overline{\1}", text) if "\u0304" in text else text
    if "." not in text:
        return text
    text = _COMBINING_BAR.sub(lambda m: _overline(m[1].replace("\u0304", "")), text)
    text = _COMBINING_DOT.sub(_overline_groups, text)
    text = _DOT.sub(_overline_groups, text)
    text = _BAR.sub(_overline_groups, text)
    text = _BRACKETED.sub(lambda m: m[1] + _overline(m[2]), text)
    return _WRITTEN_OUT.sub(lambda m: m[1] + _overline(m[2] or m[3] or m[4]), text)


def _overline_groups(match: re.Match[str]) -> str:
    return _overline("".join(filter(None, match.groups())))


def _overline(digits: str) -> str:
    return rf"\overline{{{digits}}}"
