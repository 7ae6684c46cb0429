"""Rewritings of gold answers whose right verdict is known by construction, independent of icpo.grading."""

import re
from collections.abc import Callable, Iterator

Perturbed = Iterator[tuple[str, bool]]

_DIGIT = re.compile(r"\d")
_HAS_NO_SIGN = re.compile(r"^\\(?:text|begin|\{|left|\$)|=|\\pm|\\in")
_PAIRS = {"(": "[", "[": "(", ")": "]", "]": ")"}


def itself(gold: str) -> Perturbed:
    """The gold answer."""
    yield gold, True


def digit_changed(gold: str) -> Perturbed:
    """Each digit in turn raised by one: another value, except under a power of 1 or 0."""
    for match in _DIGIT.finditer(gold):
        changed = str((int(match[0]) + 1) % 10)
        yield gold[: match.start()] + changed + gold[match.end() :], False


def sign_flipped(gold: str) -> Perturbed:
    """The sign of the first number or term turned."""
    if not re.search("[1-9a-z]", gold):
        return
    if gold.startswith("-"):
        yield gold[1:], False
    elif re.match(r"[\d\\.a-z]", gold) and re.search(r"\d", gold) and not _HAS_NO_SIGN.search(gold):
        yield f"-{gold}", False
    for match in re.finditer(r"(?<=[(,\[] )-|(?<=[(,\[])-", gold):
        yield gold[: match.start()] + gold[match.end() :], False


def bracket_changed(gold: str) -> Perturbed:
    """One bracket of an interval, or both of a point or interval, turned into the other shape."""
    plain = gold.replace(r"\left", "").replace(r"\right", "")
    if not (plain[:1] in "([" and plain[-1:] in ")]" and "," in plain and r"\cup" not in plain):
        return
    is_infinite = (r"-\infty" in plain[:10], r"\infty" in plain[-10:])
    if not is_infinite[0]:
        yield _PAIRS[plain[0]] + plain[1:], False
    if not is_infinite[1]:
        yield plain[:-1] + _PAIRS[plain[-1]], False
    if not any(is_infinite):
        yield _PAIRS[plain[0]] + plain[1:-1] + _PAIRS[plain[-1]], False


def element_dropped(gold: str) -> Perturbed:
    """One element of a list, tuple or set left out."""
    plain = re.sub(r"\\left|\\right|\\!", "", gold)
    match = re.fullmatch(r"(\\\{|[(\[]|)([^()\[\]]+,[^()\[\]]+)(\\\}|[)\]]|)", plain)
    if not match or re.fullmatch(r"[\\$]*\d{1,3}(,\s*\d{3})+", plain):
        return
    elements = match[2].split(",")
    for i in range(len(elements)):
        yield match[1] + ",".join(elements[:i] + elements[i + 1 :]) + match[3], False


def order_swapped(gold: str) -> Perturbed:
    """The first two elements in the other order: the same list or set, another tuple."""
    match = re.fullmatch(r"(\\\{|\(|)([^()\[\],{}]+),([^()\[\],{}]+)((?:,[^()\[\]]+)?)(\\\}|\)|)", gold)
    if (
        match
        and r"\infty" not in gold
        and not re.fullmatch(r"\\?\$?\d{1,3}(,\s*\\?!?\s*\d{3})+", gold)
        and "\\!" not in gold
    ):
        yield f"{match[1]}{match[3].strip()}, {match[2].strip()}{match[4]}{match[5]}", match[1] != "("


def unit_added(gold: str) -> Perturbed:
    """A unit behind a plain number: forgiven under accept_unit_dropped."""
    if re.fullmatch(r"-?\d+(\.\d+)?|\\frac\{\d+\}\{\d+\}", gold):
        yield rf"{gold}\text{{ cm}}", True
        yield f"{gold} meters", True


def unit_changed(gold: str) -> Perturbed:
    """Another unit in the place of the gold's."""
    for written, other in (
        ("cm", "m"),
        ("inches", "feet"),
        ("cents", "dollars"),
        (r"\$", "€"),
        ("degrees", "radians"),
    ):
        if re.search(rf"{re.escape(written)}(?![a-z])", gold):
            yield gold.replace(written, other), False


def unit_dropped(gold: str) -> Perturbed:
    """The gold without its unit: forgiven under accept_unit_dropped."""
    plain = re.sub(r"\\(?:mbox|text)\{\s*[a-z]+\s*\}(\^\d)?|\^\\circ|\\\$", "", gold).strip()
    if plain not in (gold, ""):
        yield plain, True


def base_changed(gold: str) -> Perturbed:
    """Another base: another number."""
    if match := re.fullmatch(r"(\d+)_\{?(\d+)\}?", gold):
        yield f"{match[1]}_{int(match[2]) + 1}", False
        yield rf"{match[1]}_{{{match[2]}}}", True
        yield match[1], True


def fraction_rewritten(gold: str) -> Perturbed:
    r"""A fraction as \dfrac, with a slash, doubled above and below, and upside down."""
    match = re.fullmatch(r"(-?)\\d?frac\s*\{?(\d+?)\}?\s*\{?(\d+)\}?", gold)
    if match and match[2] != match[3]:
        sign, top, bottom = match[1], int(match[2]), int(match[3])
        yield rf"{sign}\dfrac{{{top}}}{{{bottom}}}", True
        yield f"{sign}{top}/{bottom}", True
        yield rf"{sign}\frac{{{2 * top}}}{{{2 * bottom}}}", True
        yield rf"{sign}\frac{{{bottom}}}{{{top}}}", False
        yield rf"{sign}\frac{{{top}{bottom}}}{{1}}", False


def integer_rewritten(gold: str) -> Perturbed:
    r"""A whole number with leading zeros, as a float, in \text, with thousands separators, doubled over 2."""
    if match := re.fullmatch(r"(-?)(\d+)(\.0)?", gold):
        sign, digits = match[1], match[2]
        yield f"{sign}00{digits}", True
        yield f"{sign}{digits}.0", True
        yield f"{sign}{digits}.5", False
        yield rf"\text{{{sign}{digits}}}", True
        yield f"{sign}{int(digits):,}", True
        yield rf"{sign}\frac{{{2 * int(digits)}}}{{2}}", True
        if int(digits):
            yield f"{sign}{digits}0", False


def terms_reordered(gold: str) -> Perturbed:
    """The terms of a polynomial in the other order."""
    if (
        re.fullmatch(r"[\da-z^+\- \\]+", gold)
        and re.search(r"[a-z]", gold)
        and re.search(r"(?<=.)[+-]", gold)
        and "\\" not in gold
    ):
        terms = re.findall(r"[+-]?[^+-]+", gold.replace(" ", ""))
        turned = "".join(term if term[0] in "+-" else f"+{term}" for term in reversed(terms))
        yield turned.removeprefix("+"), True


def label_added(gold: str) -> Perturbed:
    """A label in front of a value: forgiven under accept_label_dropped."""
    if re.fullmatch(r"-?\d+|-?\\frac\{\d+\}\{\d+\}|-?\d*\\sqrt\{\d+\}", gold):
        yield f"q = {gold}", True


def words_rewritten(gold: str) -> Perturbed:
    """A word bare, in other capitals, with two letters swapped, and another word."""
    if match := re.fullmatch(r"\\text\{([a-zA-Z]{3,})\}", gold):
        word = match[1]
        yield word, True
        yield rf"\textbf{{{word.upper()}}}", True
        yield word[1] + word[0] + word[2:], False
        yield rf"\text{{not {word}}}", False


def choice_rewritten(gold: str) -> Perturbed:
    """A letter in wrappers, with the option's text, and every other letter."""
    if gold in ("A", "B", "C", "D"):
        for template in (
            r"\text{%s}",
            "(%s)",
            r"\textbf{(%s)} 42",
            "%s.",
            "%s: the third one",
            r"\mathrm{%s}",
        ):
            yield template % gold, True
        for other in "ABCD":
            yield other, other == gold


ALL: tuple[Callable[[str], Perturbed], ...] = (
    itself,
    digit_changed,
    sign_flipped,
    bracket_changed,
    element_dropped,
    order_swapped,
    unit_added,
    unit_changed,
    unit_dropped,
    base_changed,
    fraction_rewritten,
    integer_rewritten,
    terms_reordered,
    label_added,
    words_rewritten,
    choice_rewritten,
)
