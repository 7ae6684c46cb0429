"""Unicode to LaTeX: signs, letters, digits and fractions."""

import re
import unicodedata
from functools import lru_cache

_SIGNS = {
    "−": "-", "—": "–", "‐": "-", "‑": "-", "×": "*", "·": "*", "∙": "*", "⋅": "*", "÷": "/",
    "∕": "/", "⁄": "/", "√": r"\sqrt ", "∛": r"\sqrt[3]", "∞": r"\infty ", "≤": r"\le ", "⩽": r"\le ",
    "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≃": r"\approx ", "∪": r"\cup ",
    "∩": r"\cap ", "∈": r"\in ", "∉": r"\notin ", "∖": r"\setminus ", "±": r"\pm ", "∓": r"\mp ",
    "∅": r"\emptyset ", "⌀": r"\emptyset ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "…": r"\ldots ", "⋯": r"\ldots ", "’": "'", "‘": "'", "′": "'",
    "″": "''", "“": '"', "”": '"', "º": "°", "˚": "°", "∠": r"\angle ", "△": r"\triangle ", "⟨": "(",
    "〈": "(", "⟩": ")", "〉": ")", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "∣": "|", "→": r"\to ", "⇒": r"\Rightarrow ", "∴": r"\therefore ", "∑": r"\sum ", "∏": r"\prod ",
    "∫": r"\int ", "ℓ": r"\ell ", "ħ": r"\hbar ", "✓": "", "✔": "", "✅": "", "■": "", "∎": "",
    "\ufe0f": "", "\u200b": "", "\ufeff": "", "\u2061": "", "\u2062": "*", "\u0305": "\u0304",
}  # fmt: skip
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙᵢ", "0123456789+-()ni", strict=True))
_RUNS = re.compile(f"(?P<raised>[{''.join(_RAISED)}]+)|(?P<lowered>[{''.join(_LOWERED)}]+)")
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)\Z")
_SPELT = {"lamda": "lambda"}


def to_latex(text: str) -> str:
    """The text with characters as LaTeX names; ASCII stays."""
    if text.isascii():
        return text
    text = _RUNS.sub(_script, text)
    return text if text.isascii() else "".join(map(_latex, text))


def _script(match: re.Match[str]) -> str:
    if raised := match["raised"]:
        return "^{" + "".join(_RAISED[character] for character in raised) + "}"
    return "_{" + "".join(_LOWERED[character] for character in match["lowered"]) + "}"


@lru_cache(maxsize=1024)
def _latex(character: str) -> str:
    if character.isascii():
        return character
    if character in _SIGNS:
        return _SIGNS[character]
    plain = unicodedata.normalize("NFKC", character)
    if "\N{FRACTION SLASH}" in plain:
        top, bottom = plain.split("\N{FRACTION SLASH}")
        return rf"\frac{{{top}}}{{{bottom}}} "
    if letter := _GREEK.match(unicodedata.name(plain, "") if len(plain) == 1 else ""):
        name = _SPELT.get(letter[2].casefold(), letter[2].casefold())
        return rf"\{name if letter[1] == 'SMALL' else name.title()} "
    return plain if plain.isascii() or not character.isalpha() else character
