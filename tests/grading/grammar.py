"""Random answers: a grammar of LaTeX, and the same with noise."""

import random

_LEAVES = (
    "0", "1", "2", "7", "12", "025", "3.5", ".25", "142.0", "10,080", r"10,\!080", "100,200", "x", "y",
    "n", "i", "e", r"\pi", r"\infty", r"\theta", "x_1", "a_{n}", r"\text{cm}", r"\text{even}", "east",
    r"\text{ and }", "28\\%", r"90^\circ", r"\$5", "4343_6", r"\emptyset", r"\mathbb{R}", "C",
    r"\text{(B)}", "...", "", " ", "-", "\N{MINUS SIGN}3", "\N{SQUARE ROOT}2", "or", "<answer>", "9" * 40,
)  # fmt: skip
_UNARY = (
    r"\frac{1}{%s}", r"\sqrt{%s}", r"\sqrt[3]{%s}", r"-%s", r"(%s)", r"\left(%s\right)", r"[%s)",
    r"\{%s\}", r"%s!", r"|%s|", r"\sin %s", r"\log_2 %s", r"\log %s", r"\exp(%s)", r"\cos^{-1} %s",
    r"\ln(%s)", r"\pm %s", r"%s^2", r"\text{%s}", r"\boxed{%s}", r"x = %s", r"x < %s", r"%s \text{ cm}",
    r"$%s$", r"\overline{%s}", r"0.\overline{%s}", r"\lfloor %s \rfloor", r"{%s}", r"2^{%s}",
    r"\begin{pmatrix} %s \\ 1 \end{pmatrix}", r"\mathbf{%s}", r"%s_6", r"\int_0^1 %s dx",
    r"\sum_{k=1}^n %s",
)  # fmt: skip
_BINARY = (
    "%s + %s", "%s - %s", "%s%s", "%s * %s", r"%s \cdot %s", "%s/%s", r"\frac{%s}{%s}", r"\dfrac%s%s",
    "%s^%s", "%s^{%s}", "%s, %s", "(%s, %s)", "[%s, %s]", r"(%s, %s]", r"\{%s, %s\}", r"%s \cup %s",
    "%s = %s", r"%s \le %s", r"%s \pm %s", "%s:%s", r"%s \text{ or } %s", r"%s and %s", r"\binom{%s}{%s}",
    r"%s \in %s", r"\begin{pmatrix} %s & %s \end{pmatrix}", r"\{%s \mid %s\}", "%s;%s",
)  # fmt: skip
_NOISE = (
    "{",
    "}",
    "\\",
    "$",
    "^",
    "_",
    "\\frac",
    "\\\\",
    "\x00",
    "\u202e",
    "\U0001f600",
    "boxed{",
    "</think>",
    "%",
    "&",
    "(",
    "]",
    "!!",
)
_TEXTS = (
    r"So the answer is \boxed{%s}.",
    "boxed{%s}",
    "Answer: %s",
    "%s",
    r"\boxed{1}, \boxed{%s",
    "%s</think>%s",
    r"\boxed %s",
)


def answer(rng: random.Random, depth: int = 4) -> str:
    """An answer of the grammar, nested up to `depth`."""
    roll = rng.random()
    if depth == 0 or roll < 0.3:
        return rng.choice(_LEAVES)
    if roll < 0.6:
        return rng.choice(_UNARY).replace("%s", answer(rng, depth - 1), 1)
    form = rng.choice(_BINARY)
    return form.replace("%s", answer(rng, depth - 1), 1).replace("%s", answer(rng, depth - 1), 1)


def noisy_answer(rng: random.Random) -> str:
    """An answer with pieces cut out, put in or repeated."""
    text = answer(rng)
    for _ in range(rng.randrange(4)):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        put_in, cut_out = rng.choice(_NOISE), rng.random() < 0.5
        repeated = text[at:end] * rng.randrange(3)
        text = text[:at] + (repeated if cut_out else put_in) + text[end if cut_out else at :]
    return text


def completion(rng: random.Random) -> str:
    """A completion with an answer in it, every other one with noise."""
    return rng.choice(_TEXTS).replace("%s", noisy_answer(rng) if rng.random() < 0.5 else answer(rng))
