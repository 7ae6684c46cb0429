"""Texts that math-verify may be asked about without misreading."""

import re

MAX_CHARACTERS = 300
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")
# What math-verify reads as it is meant; of a text with anything else it may skip a part.
_COMMANDS = frozenset(
    rf"\{name}"
    for name in (
        "frac", "sqrt", "int", "iint", "oint", "sum", "prod", "lim", "to", "infty", "pi", "sin", "cos",
        "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln",
        "exp", "binom", "max", "min", "gcd", "lfloor", "rfloor", "lceil", "rceil", "alpha", "beta", "gamma",
        "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "rho",
        "sigma", "tau", "phi", "varphi", "chi", "psi", "omega", "cdot", "rightarrow",
    )
)  # fmt: skip
_MARKS = frozenset("+-*/^_{}()[]|!. ")
_RANGE = re.compile(r"_\{[^{}]*\}")
_MISREAD = re.compile(r"!!|[\d)]\s*_|[-+*/^_]\s*\Z")  # double factorials, bases, half an expression
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")


def is_askable(text: str) -> bool:
    """Whether a clean text is one expression of known commands."""
    if len(text) > MAX_CHARACTERS or text.count("{") != text.count("}") or _MISREAD.search(text):
        return False
    if any(command not in _COMMANDS for command in _COMMAND.findall(text)) or _WORD.search(text):
        return False
    bare = _COMMAND.sub(" ", _RANGE.sub("", text))
    return any(map(str.isalnum, bare)) and all(c in _MARKS or (c.isascii() and c.isalnum()) for c in bare)
