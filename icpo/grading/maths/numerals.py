"""Numbers in words: seventeen, one hundred five, two thirds."""

from collections.abc import Sequence
from fractions import Fraction

_SMALL = dict(
    zero=0, one=1, two=2, three=3, four=4, five=5, six=6, seven=7, eight=8, nine=9, ten=10, eleven=11,
    twelve=12, thirteen=13, fourteen=14, fifteen=15, sixteen=16, seventeen=17, eighteen=18, nineteen=19,
)  # fmt: skip
_TENS = dict(twenty=20, thirty=30, forty=40, fifty=50, sixty=60, seventy=70, eighty=80, ninety=90)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = dict(
    third=3, quarter=4, fourth=4, fifth=5, sixth=6, seventh=7, eighth=8, ninth=9, tenth=10, eleventh=11,
    twelfth=12, twentieth=20, hundredth=100, thousandth=1000,
)  # fmt: skip
_PARTS = {"half": 2, "halves": 2, **_ORDINALS, **{f"{word}s": n for word, n in _ORDINALS.items()}}


def read_numeral(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """The number that words begin with, and their count, or None."""
    if words and words[0] == "half":
        return Fraction(1, 2), 1
    whole, num_read = _read_whole(words)
    if not num_read:
        return None
    if num_read < len(words) and (parts := _PARTS.get(words[num_read])):
        return Fraction(whole, parts), num_read + 1
    return Fraction(whole), num_read


def _read_whole(words: Sequence[str]) -> tuple[int, int]:
    """A whole number as sums of hundreds, tens and units times thousands; 0 words if there is none."""
    total = group = num_read = 0
    room = 1000  # what may follow is smaller than the word before it
    for i, word in enumerate(words):
        if word in _SMALL and room > _SMALL[word] and (room > 10 or word != "zero"):
            group, room = group + _SMALL[word], 0
        elif word in _TENS and room >= 100:
            group, room = group + _TENS[word], 10
        elif word == "hundred" and 0 < group < 100:
            group, room = 100 * group, 100
        elif word in _SCALES and group:
            total, group, room = total + group * _SCALES[word], 0, 1000
        else:
            break
        num_read = i + 1
    return total + group, num_read
