"""Spellings of gold answers as models write them: equal by construction, independent of icpo.grading.

A variant changes typesetting, puts a sign of equality or a label in front, or writes the same value in
another usual notation. None changes the value.
"""

import re
from collections.abc import Callable, Iterator

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FRACTION = re.compile(r"(-?)\\[dt]?frac\s*\{?(\d+?)\}?\s*\{?(\d+)\}?")
_RADICAL = re.compile(r"(-?\d*)\s*\\sqrt\{?(\d+)\}?")
_DEGREES = re.compile(r"(\d+)\^\\circ")
_MATRIX = re.compile(r"\\begin\{pmatrix\}(.*)\\end\{pmatrix\}")
_UNICODE = (
    (r"\pi", "π"), (r"\infty", "∞"), (r"\cup", "∪"), (r"\pm", "±"), (r"\le", "≤"), (r"\in", "∈"),
    (r"^\circ", "°"), (r"\sqrt", "√"), ("^2", "²"), ("^3", "³"), ("^4", "⁴"),
)  # fmt: skip
_WORD = re.compile(r"\\text\{([A-Za-z]+)\}")


def is_value(gold: str) -> bool:
    """Whether a gold is one number or expression, without relation, list, words or unit."""
    return not re.search(r"[=<>,_]|\\(?:text|mbox|in|pm|cup|begin|circ|\$|le|ge)|\\\$|%", gold)


def typeset(gold: str) -> Iterator[str]:
    r"""Fonts, delimiters, colours, sizes and spaces around the answer."""
    if _WORD.search(gold):
        return
    yield from (
        f"${gold}$",
        rf"\({gold}\)",
        rf"{{{gold}}}",
        rf"\displaystyle {gold}",
        rf"\color{{blue}}{{{gold}}}",
    )
    yield from (rf"\mathbf{{{gold}}}", rf"\boldsymbol{{{gold}}}", rf"\bf {gold}", rf"\underline{{{gold}}}")
    yield from (
        rf"\;{gold}\,",
        rf"{gold}.",
        rf"\textcolor{{red}}{{{gold}}}",
        rf"\large {gold}",
        rf"{gold} \quad",
    )
    yield from (rf"{gold}~\checkmark", rf"**{gold}**", rf"\mathrm{{{gold}}}", rf"\ {gold}")


def preceded(gold: str) -> Iterator[str]:
    """A sign of equality, of approximation or of consequence in front."""
    yield f"= {gold}"
    yield rf"\therefore {gold}"
    if is_value(gold):
        yield rf"\approx {gold}"


def labelled(gold: str) -> Iterator[str]:
    """A name in front: a letter, a sum, a call, a segment, an angle, words."""
    if is_value(gold) and re.search(r"\d", gold) and not re.search(r"(?<![\\A-Za-z])[A-Za-z]", gold):
        names = (
            "q",
            "a+b",
            "f(2)",
            "AC",
            r"\angle ABC",
            r"\frac{m}{n}",
            "S_{10}",
            "P(A)",
            r"\text{Area}",
            "[ABC]",
            "|AB|",
            "x + y",
        )
        yield from (f"{name} = {gold}" for name in names)
        yield f"m + n = {gold} "
    if _DEGREES.fullmatch(gold):
        yield from (rf"\angle ABC = {gold}", rf"m\angle A = {gold}", rf"\theta = {gold}")
    if _MATRIX.search(gold):
        yield from (rf"\mathbf{{v}} = {gold}", rf"\mathbf{{A}}^{{-1}} = {gold}")
    if gold.startswith("(") and gold.count(",") == 1 and r"\infty" not in gold:
        yield f"(a,b) = {gold}"


def numbers(gold: str) -> Iterator[str]:
    """A whole number or decimal with other zeros, separators, signs."""
    if not _NUMBER.fullmatch(gold):
        return
    sign, digits = ("-", gold[1:]) if gold.startswith("-") else ("", gold)
    whole = digits.partition(".")[0]
    yield rf"\text{{{gold}}}"
    yield f"{gold}0" if "." in gold else f"{gold}.0"
    if sign:
        yield from (f"\N{MINUS SIGN}{digits}", rf"-\,{digits}", f"-({digits})")
    else:
        yield rf"\left({gold}\right)"
    if len(whole) > 3 and "." not in gold:
        grouped = f"{int(whole):,}"
        yield from (sign + grouped, sign + grouped.replace(",", r"{,}"), sign + grouped.replace(",", r"\,"))
        yield sign + grouped.replace(",", " ")
        yield rf"\frac{{{sign}{grouped}}}{{1}}"
    if whole == digits and whole.strip("0") and whole.endswith("00"):
        yield f"{sign}{int(whole) // 100} x 10^2"
        yield rf"{sign}{int(whole) // 100} \times 10^{{2}}"


def fractions(gold: str) -> Iterator[str]:
    """A fraction with a slash, in other commands, as a repeating decimal, a mixed or a vulgar fraction."""
    match = _FRACTION.fullmatch(gold)
    if not match:
        return
    sign, top, bottom = match[1], int(match[2]), int(match[3])
    yield from (
        rf"{sign}\dfrac{{{top}}}{{{bottom}}}",
        rf"{sign}\tfrac{{{top}}}{{{bottom}}}",
        f"{sign}{top}/{bottom}",
    )
    yield from (rf"{sign}{{{top} \over {bottom}}}", rf"\frac{{{sign}{top}}}{{{bottom}}}")
    yield rf"{sign}\frac{{{3 * top}}}{{{3 * bottom}}}"
    if top > bottom and top % bottom:
        yield rf"{sign}{top // bottom}\frac{{{top % bottom}}}{{{bottom}}}"
    vulgar = {(1, 2): "½", (1, 4): "¼", (3, 4): "¾", (1, 3): "⅓", (2, 3): "⅔", (1, 8): "⅛"}
    if top > bottom and (top % bottom, bottom) in vulgar:
        yield f"{sign}{top // bottom}{vulgar[top % bottom, bottom]}"
    elif (top, bottom) in vulgar:
        yield sign + vulgar[top, bottom]
    yield from (sign + spelling for spelling in _decimals(top, bottom))


def _decimals(top: int, bottom: int) -> Iterator[str]:
    """The decimal of a fraction, with what repeats marked in each notation; none if it is long."""
    digits, rest, seen = "", top % bottom, {}
    while rest and rest not in seen and len(digits) < 12:
        seen[rest] = len(digits)
        digits += str(10 * rest // bottom)
        rest = 10 * rest % bottom
    if not rest:
        yield f"{top // bottom}.{digits or 0}"
    elif rest in seen:
        head, tail = f"{top // bottom}.{digits[: seen[rest]]}", digits[seen[rest] :]
        yield from (
            rf"{head}\overline{{{tail}}}",
            f"{head}({tail})",
            f"{head}{tail * 3}..." if len(tail) < 4 else f"{head}{tail * 2}...",
        )
        yield (
            rf"{head}\dot{{{tail}}}"
            if len(tail) == 1
            else rf"{head}\dot{{{tail[0]}}}{tail[1:-1]}\dot{{{tail[-1]}}}"
        )


def roots(gold: str) -> Iterator[str]:
    """A root with another sign, a product sign, as a power, or as the root of a product."""
    match = _RADICAL.fullmatch(gold)
    if not match or match[1] == "-":
        return
    factor, radicand = match[1], int(match[2])
    yield f"{factor}√{radicand}"
    yield f"{factor}({radicand})^{{1/2}}" if factor else f"{radicand}^{{1/2}}"
    if factor:
        yield from (rf"{factor}\cdot\sqrt{{{radicand}}}", rf"{factor}*sqrt({radicand})")
        if not factor.startswith("-"):
            yield rf"\sqrt{{{int(factor) ** 2 * radicand}}}"


def symbols(gold: str) -> Iterator[str]:
    """Unicode letters, signs and powers for commands."""
    text = gold
    for command, sign in _UNICODE:
        if command in text and not re.search(rf"{re.escape(command)}(?:[A-Za-z]|\{{)", text):
            text = text.replace(command, sign)
    if text != gold:
        yield text


def matrices(gold: str) -> Iterator[str]:
    """Other brackets, space between rows, an array, a common factor."""
    match = _MATRIX.fullmatch(gold)
    if not match:
        return
    body = match[1]
    yield gold.replace("pmatrix", "bmatrix")
    yield gold.replace(r"\\", r"\\[6pt]")
    yield rf"\left(\begin{{array}}{{c}}{body}\end{{array}}\right)"
    yield rf"\begin{{pmatrix}}{body}\\ \end{{pmatrix}}"
    yield re.sub(r"(-?)(\d+)/(\d+)", r"\1\\frac{\2}{\3}", gold)


def units(gold: str) -> Iterator[str]:
    """A unit in words or symbols, or left out."""
    if _DEGREES.fullmatch(gold):
        digits = gold[: gold.index("^")]
        yield from (
            rf"{digits}^{{\circ}}",
            f"{digits} degrees",
            rf"{digits}\text{{ degrees}}",
            digits,
            f"{digits}°",
            rf"{digits}\degree",
        )
    if gold.startswith(r"\$"):
        yield from (gold[2:], f"{gold[2:]} dollars", rf"{gold[2:]}\text{{ dollars}}", f"${gold}$")
    if match := re.fullmatch(r"(\d+)\s*\\mbox\{\s*(cm|inches)\s*\}\^2", gold):
        word = {"cm": "centimeters", "inches": "inches"}[match[2]]
        yield from (
            match[1],
            f"{match[1]} square {word}",
            rf"{match[1]}\text{{ sq. {match[2]}}}",
            rf"{match[1]}\,\text{{{match[2]}}}^2",
        )
    if match := re.fullmatch(r"([\d.]+) \\text\{ cents\}", gold):
        yield from (f"{match[1]}¢", f"{match[1]} cents", match[1])
    if match := re.fullmatch(r"(\d+)_\{?(\d)\}?", gold):
        word = {"5": "five", "6": "six", "8": "eight", "9": "nine"}.get(match[2], match[2])
        yield from (
            rf"{match[1]}_{{{match[2]}}}",
            rf"{match[1]}_{{\text{{{word}}}}}",
            f"{match[1]} base {match[2]}",
            f"{match[1]} in base {word}",
        )
    if _NUMBER.fullmatch(gold) and "." not in gold:
        yield from (
            rf"{gold}\text{{ units}}",
            rf"{gold} \text{{ square units}}",
            rf"{gold}\text{{ ways}}",
            rf"{gold} students",
        )


def words(gold: str) -> Iterator[str]:
    """A word bare, in capitals, in another font."""
    if match := _WORD.fullmatch(gold):
        word = match[1]
        yield from (
            word,
            rf"\textbf{{{word.upper()}}}",
            rf"\emph{{{word}}}",
            rf"\mathrm{{{word}}}",
            f"{word}.",
            f'"{word}"',
        )
    if match := re.fullmatch(r"\\text\{\(([A-E])\)\}", gold):
        letter = match[1]
        yield from (
            letter,
            f"({letter})",
            rf"\textbf{{({letter})}}",
            rf"\text{{Option {letter}}}",
            rf"\text{{{letter}}}",
            rf"\mathrm{{({letter})}}",
        )


def sets(gold: str) -> Iterator[str]:
    """Intervals and points in other brackets or as inequalities; lists with and, or, braces."""
    if match := re.fullmatch(r"\((-?\d+),(-?\d+|\\infty)\)", gold.replace(" ", "")):
        low, high = match[1], match[2]
        yield from (rf"\left({low}, {high}\right)", rf"\left( {low},\,{high} \right)")
        if high == r"\infty":
            yield from (f"x > {low}", rf"\{{x \mid x > {low}\}}", rf"x \in ({low}, \infty)", f"({low}, ∞)")
        else:
            yield rf"\langle {low}, {high} \rangle"
    if re.fullmatch(r"-?\d+(, ?-?\d+)+", gold) and not re.fullmatch(r"\d{1,3}(,\d{3})+", gold):
        elements = re.split(", ?", gold)
        yield from (
            r" \text{ and } ".join(elements),
            r" \text{ or } ".join(elements),
            rf"\{{{gold}\}}",
            f"({gold})",
        )
        yield from (
            ", ".join(f"x = {element}" for element in elements),
            r",\; ".join(elements),
            ", ".join(reversed(elements)),
        )
    if match := re.fullmatch(r"y = (.*)", gold):
        yield from (match[1], f"{match[1]} = y", f"y - ({match[1]}) = 0", gold.replace(" ", ""))


def polynomials(gold: str) -> Iterator[str]:
    r"""Products with \cdot or *, powers in braces, terms in the other order."""
    if not re.fullmatch(r"[\da-zR^+\- ()]+", gold) or not re.search("[a-zR]", gold):
        return
    yield re.sub(r"(\d)(?=[a-zR])", r"\1 \\cdot ", gold)
    yield re.sub(r"(\d)(?=[a-zR])", r"\1*", gold)
    yield re.sub(r"\^(\d)", r"^{\1}", gold)
    yield gold.replace(" ", "")
    if "(" not in gold and re.search(r"(?<=.)[+-]", gold):
        terms = re.findall(r"[+-]?[^+-]+", gold.replace(" ", ""))
        yield "".join(term if term[0] in "+-" else f"+{term}" for term in reversed(terms)).removeprefix("+")


ALL: tuple[Callable[[str], Iterator[str]], ...] = (
    typeset, preceded, labelled, numbers, fractions, roots, symbols, matrices, units, words, sets,
    polynomials,
)  # fmt: skip
