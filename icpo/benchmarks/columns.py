"""What the columns of a row mean: row -> item with text, gold answer, id and level."""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from icpo.benchmarks.rows import Row
from icpo.errors import BenchmarkError
from icpo.seeding import derive_seed

SYNONYMS = {
    "item_id": ("id", "question_id", "unique_id", "problem_id", "problem_idx", "Record ID"),
    "text": ("problem", "question", "Problem", "Question", "text", "prompt"),
    "answer": ("answer", "gold", "Answer", "final_answer", "expected_answer", "Correct Answer"),
    "level": ("level", "difficulty"),
}
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its gold answer (None: nobody knows it) and its level (None: the source has none)."""

    item_id: str
    text: str
    answer: str | None
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of a source's columns.

    With `wrong_answers` the item is a multiple choice: its options are put in an order derived from
    `shuffle_seed` and the item's id, printed below the text as "A. ...", and the answer becomes the right
    option's letter.
    """

    text: str
    answer: str
    item_id: str | None
    level: str | None
    wrong_answers: tuple[str, ...]
    shuffle_seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "wrong_answers", tuple(self.wrong_answers))
        if len(self.wrong_answers) >= len(LETTERS):
            raise ValueError(f"wrong_answers must name fewer than {len(LETTERS)} columns")

    def fitted(self, names: Sequence[str], source: str) -> "Columns":
        """These columns where `names` has them all, else those found by their usual names.

        Raises BenchmarkError naming `source` and its columns when neither text nor answer can be told.
        """
        if {self.text, self.answer, *self.wrong_answers} <= set(names):
            return replace(
                self,
                item_id=self.item_id if self.item_id in names else _first("item_id", names),
                level=self.level if self.level in names else _first("level", names),
            )
        text, answer = _first("text", names), _first("answer", names)
        if text is None or answer is None:
            raise BenchmarkError(
                f"{source} has the columns {', '.join(names) or '(none)'}; questions need one for the text "
                "(e.g. problem) and one for the answer (e.g. answer). Rename them, or set "
                "benchmark.source.columns."
            )
        return Columns(text, answer, _first("item_id", names), _first("level", names), (), self.shuffle_seed)

    def items(self, rows: Iterable[Row], name: str) -> list[Item]:
        """One item per row; a row without an id gets `name`/index, one whose id is a number `name`/number."""
        return [self._item(row, index, name) for index, row in enumerate(rows)]

    def _item(self, row: Row, index: int, name: str) -> Item:
        where = f"Question {index} of {name}"
        given = row.get(self.item_id) if self.item_id else None
        item_id = given if isinstance(given, str) and given else f"{name}/{_plain(given) or index}"
        text, answer = _plain(row.get(self.text)), _plain(row.get(self.answer))
        if not text or not answer:
            raise BenchmarkError(
                f"{where} ({item_id}) needs a text and an answer as text or number, got columns "
                f"{self.text!r} ({type(row.get(self.text)).__name__}) and "
                f"{self.answer!r} ({type(row.get(self.answer)).__name__}). Mend or drop it."
            )
        if self.wrong_answers:
            options = [answer, *(_plain(row.get(column)) or "" for column in self.wrong_answers)]
            text, answer = _with_options(text, options, derive_seed(self.shuffle_seed, item_id))
        return Item(item_id, text, answer, _level(row.get(self.level)) if self.level else None)


def _first(meaning: str, names: Sequence[str]) -> str | None:
    return next((name for name in SYNONYMS[meaning] if name in names), None)


def _plain(value: object) -> str | None:
    """Text and numbers as text; None for all else, also for the not-a-number of a missing cell."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return str(value)
    return None


def _level(value: object) -> int | None:
    """5, 5.0, "5" and "Level 5" are level 5."""
    digits = re.search(r"\d+", _plain(value) or "")
    return int(digits.group()) if digits else None


def _with_options(text: str, options: list[str], seed: int) -> tuple[str, str]:
    """Text followed by lettered options in a seeded order, and the letter of the first one given."""
    order = list(range(len(options)))
    random.Random(seed).shuffle(order)
    lines = [f"{letter}. {options[i].strip()}" for letter, i in zip(LETTERS, order, strict=False)]
    return f"{text.strip()}\n\n" + "\n".join(lines), LETTERS[order.index(0)]
