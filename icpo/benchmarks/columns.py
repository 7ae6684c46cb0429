"""From the columns of a row to an item."""

import logging
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import Field

from icpo.benchmarks.rows import Row
from icpo.errors import BenchmarkError
from icpo.grading.alternatives import joined
from icpo.prompts.options import LETTERS
from icpo.safe_text import shortened
from icpo.seeding import derive_seed
from icpo.types.validated import validated

log = logging.getLogger(__name__)
USUAL_NAMES = {
    "item_id": ("id", "question_id", "unique_id", "problem_id", "problem_idx", "Record ID"),
    "text": ("problem", "question", "Problem", "Question", "text", "prompt"),
    "answer": ("answer", "gold", "Answer", "final_answer", "expected_answer", "Correct Answer"),
    "level": ("level", "difficulty"),
}
USUAL_WRONG_ANSWERS = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
MAX_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its gold answer and level, None where unknown."""

    item_id: str
    text: str
    answer: str | None
    level: int | None = None


@validated
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
    wrong_answers: Annotated[tuple[str, ...], Field(max_length=len(LETTERS) - 1)]
    shuffle_seed: int

    def fitted(self, names: Sequence[str], source: str) -> "Columns":
        """These columns, with usual names that the file lacks replaced.

        Another usual name that the file has takes the place of a missing one. A name that is not usual was
        somebody's choice, and is never replaced. Where the usual wrong answers lack together with the right
        one, the options are in the text. Raises BenchmarkError naming `source` and its columns where a
        column is not there, or neither text nor answer is known.
        """
        text, answer = _found("text", self.text, names, source), _found("answer", self.answer, names, source)
        missing = [column for column in self.wrong_answers if column not in names]
        if missing and (self.answer in names or missing != list(USUAL_WRONG_ANSWERS)):
            raise _no_column(missing[0], "wrong_answers", names, source)
        if not names:
            raise BenchmarkError(f"{source} holds no questions. Give it at least one.")
        if text is None or answer is None:
            raise BenchmarkError(
                f"{source} has the columns {_listed(names)}; questions need one for the text "
                "(e.g. problem) and one for the answer (e.g. answer). Rename them, or name them with "
                "benchmark.source.columns.text and benchmark.source.columns.answer; the first line of a .csv "
                "file must name its columns."
            )
        return Columns(
            text,
            answer,
            _found("item_id", self.item_id, names, source),
            _found("level", self.level, names, source),
            () if missing else self.wrong_answers,
            self.shuffle_seed,
        )

    def items(self, rows: Iterable[Row], name: str) -> list[Item]:
        """One item per row; its id falls back to the row's number."""
        return [self._item(row, index, name) for index, row in enumerate(rows)]

    def _item(self, row: Row, index: int, name: str) -> Item:
        given = row.get(self.item_id) if self.item_id else None
        item_id = given if isinstance(given, str) and given else f"{name}/{_plain(given) or index}"
        where = f"{name}, row {index + 1} ({item_id})"
        text, answers = _plain(row.get(self.text)), _answers(row.get(self.answer))
        answer = joined(answers) if answers else None
        if self.wrong_answers and len(answers) > 1:
            raise BenchmarkError(
                f"{where} has {len(answers)} right answers, but the options made of "
                "benchmark.source.columns.wrong_answers have one. Keep one, or drop the row."
            )
        if not text or not answer:
            found = " and ".join(f"{one!r} ({_kind(row.get(one))})" for one in (self.text, self.answer))
            raise BenchmarkError(
                f"{where} needs a text and an answer as text or number, got columns {found}. Correct or "
                "drop it."
            )
        if self.wrong_answers:
            wrong = [_plain(row.get(column)) for column in self.wrong_answers]
            options = [answer, *(option for option in wrong if option)]
            if None in wrong:
                raise BenchmarkError(
                    f"{where} has no option in the column {self.wrong_answers[wrong.index(None)]!r}. "
                    "Fill it in, or drop the row."
                )
            text, answer = _with_options(text, options, derive_seed(self.shuffle_seed, item_id))
        return Item(item_id, text, answer, _level(row.get(self.level)) if self.level else None)


@cache
def note(message: str) -> None:
    """Log what each loading of a benchmark would say again."""
    log.info("%s", message)


def _found(meaning: str, column: str | None, names: Sequence[str], source: str) -> str | None:
    """The column of that meaning: the one named, or the first usual one; None if there is none."""
    if column in names:
        return column
    if column is not None and column not in USUAL_NAMES[meaning]:
        raise _no_column(column, meaning, names, source)
    usual = next((name for name in USUAL_NAMES[meaning] if name in names), None)
    if column and usual:
        note(f"{source}: its column {usual!r} is used for {column!r}, which it lacks")
    return usual


def _no_column(column: str, meaning: str, names: Sequence[str], source: str) -> BenchmarkError:
    unless = ", or none ([]) where the text holds the options" if meaning == "wrong_answers" else ""
    return BenchmarkError(
        f"{source} has no column {column!r}, which benchmark.source.columns.{meaning} names. "
        f"It has the columns {_listed(names)}. Name one of these{unless}."
    )


def _listed(names: Sequence[str]) -> str:
    """The names, long ones cut: a .csv file without a header has whole questions for names."""
    return ", ".join(shortened(name, MAX_SHOWN_CHARACTERS) for name in names) or "(none)"


def _kind(value: object) -> str:
    return "blank" if isinstance(value, str) and not value.strip() else type(value).__name__


def _plain(value: object) -> str | None:
    """Text and numbers as text; None for all else, also for the not-a-number of a missing cell."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return str(value)
    return None


def _answers(value: object) -> list[str]:
    """The answer, or the answers of a list, any of which is right; empty where one of them is no answer."""
    listed = value.tolist() if hasattr(value, "tolist") else value  # a column of lists in a .parquet file
    texts = [_plain(one) for one in listed] if isinstance(listed, list | tuple) else [_plain(listed)]
    return [] if None in texts else list(dict.fromkeys(text for text in texts if text))


def _level(value: object) -> int | None:
    """5, 5.0, "5" and "Level 5" are level 5."""
    digits = re.search(r"(?<!\d)\d{1,9}(?!\d)", _plain(value) or "")
    return int(digits.group()) if digits else None


def _with_options(text: str, options: list[str], seed: int) -> tuple[str, str]:
    """Text followed by lettered options in a seeded order, and the letter of the first one given."""
    order = list(range(len(options)))
    random.Random(seed).shuffle(order)
    lines = [f"{letter}. {options[i].strip()}" for letter, i in zip(LETTERS, order, strict=False)]
    return f"{text.strip()}\n\n" + "\n".join(lines), LETTERS[order.index(0)]
