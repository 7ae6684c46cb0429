"""A benchmark: its questions, their kind of answer, and their digest."""

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import NonNegativeInt, PositiveInt

from icpo.benchmarks.columns import MAX_SHOWN_CHARACTERS, Item, note
from icpo.benchmarks.golds import final_answer, gold_fault
from icpo.benchmarks.sources import FileSource, HubSource, Source
from icpo.errors import BenchmarkError
from icpo.safe_text import shortened
from icpo.types import AnswerKind, Question
from icpo.types.validated import validated


@dataclass(frozen=True, slots=True)
class LoadedBenchmark:
    """Questions in the source's order, and their golds by question id.

    A question may have no gold. `digest` is of all (text, answer) pairs of the benchmark, also where only
    some were asked for. `revision` is the commit of the hub, None elsewhere. `num_added` of the questions
    were not selected.
    """

    questions: tuple[Question, ...]
    golds: Mapping[str, str]
    digest: str
    revision: str | None
    num_added: int = 0


@validated
class Benchmark:
    """Questions of one name.

    `path` names a file to read instead of the source, by its columns; `level` keeps the items of that
    level alone, `ids` those so named. `order_seed` shuffles what is left; of that, `start` leaves out the
    first so many and `limit` keeps the next so many. `expected_count` and `digest` are of all questions (of
    the level) and are checked where they are given; answers are checked of the kept questions alone.
    """

    name: str
    kind: AnswerKind
    source: Any
    expected_count: PositiveInt | None
    digest: str | None
    level: int | None
    path: str | None
    ids: tuple[str, ...] | None
    order_seed: int | None
    start: NonNegativeInt
    limit: PositiveInt | None

    def __post_init__(self) -> None:
        is_read_from_file = self.source is None and self.path is not None
        if not is_read_from_file and not callable(getattr(self.source, "read", None)):
            raise ValueError(
                "source needs a `_target_`, e.g. icpo.benchmarks.FileSource, or null beside a path, got "
                f"{self.source!r}. For a file of your own begin with defaults: [_file, _self_]"
            )

    def load(self, also: Collection[str] = ()) -> LoadedBenchmark:
        """The questions, and those whose ids `also` names, if there are such.

        Raises BenchmarkError when they cannot be read or are not the ones expected.
        """
        sourced = self._source().read(self.name)
        every = list(map(self._with_final_answer, sourced.items))
        items = self._of_level(every)
        digest = content_digest(items)
        self._check(items, digest)
        wanted = self._wanted(items)
        kept = self._with(wanted, also, items)
        self._check_golds(kept, every)
        questions = tuple(Question(item.item_id, item.text, self.kind) for item in kept)
        golds = {item.item_id: item.answer for item in kept if item.answer is not None}
        return LoadedBenchmark(questions, golds, digest, sourced.revision, len(kept) - len(wanted))

    @property
    def is_here(self) -> bool:
        """Whether the questions can be read without the network."""
        return self.path is not None or not isinstance(self.source, HubSource)

    def num_questions(self) -> int | None:
        """The largest number of questions: limit, expected count, or the file's.

        None where only the source itself would say. Raises BenchmarkError as `load` does.
        """
        total = len(self.ids) if self.ids is not None else self.expected_count
        if total is None and self.limit is None:
            is_file = self.path is not None or isinstance(self.source, FileSource)
            return len(self.load().questions) if is_file else None
        if total is None:
            return self.limit
        return max(min(total - self.start, self.limit or total), 0)

    def _source(self) -> Source:
        if self.path is None:
            source: Source = self.source
            return source
        columns = self.source.columns if isinstance(self.source, HubSource | FileSource) else None
        return FileSource(self.path, columns)

    def _with_final_answer(self, item: Item) -> Item:
        """The item with the answer alone, where the source stores it with its working."""
        if item.answer is None or self.kind is AnswerKind.CHOICE:
            return item
        return replace(item, answer=final_answer(item.answer))

    def _of_level(self, items: list[Item]) -> list[Item]:
        if self.level is None:
            return items
        if items and all(item.level is None for item in items):
            raise BenchmarkError(
                f"{self.name} takes the questions of level {self.level}, but {self.path or 'its source'} "
                "names no levels. Add a column 'level', or set benchmark.level=null."
            )
        return [item for item in items if item.level == self.level]

    def _wanted(self, items: list[Item]) -> list[Item]:
        """The items asked for, in the order asked for."""
        if self.ids is not None:
            known = {item.item_id for item in items}
            if unknown := [one for one in self.ids if one not in known]:
                near = get_close_matches(unknown[0], known, n=1)
                raise BenchmarkError(
                    f"{self.name} has no question {unknown[0]!r}, which benchmark.ids names."
                    + (f" Did you mean {near[0]!r}?" if near else "")
                )
            items = [item for item in items if item.item_id in self.ids]
        if self.order_seed is not None:
            items = random.Random(self.order_seed).sample(items, len(items))
        kept = items[self.start :][: self.limit]
        if not kept:
            raise BenchmarkError(
                f"benchmark.start={self.start} leaves none of {len(items)} questions. Lower it."
            )
        if self.path is not None and self.limit is not None and self.limit < len(items) - self.start:
            note(
                f"{self.path}: {len(kept)} of its {len(items)} questions (benchmark.limit={self.limit}); "
                "benchmark.limit=null takes all"
            )
        return kept

    def _with(self, kept: list[Item], also: Collection[str], items: list[Item]) -> list[Item]:
        """The items kept and those of `also`: in the source's order, or at the end where it is shuffled."""
        missing = set(also) - {item.item_id for item in kept}
        added = [item for item in items if item.item_id in missing]
        if not added or self.order_seed is not None:
            return kept + added
        chosen = {item.item_id for item in (*kept, *added)}
        return [item for item in items if item.item_id in chosen]

    def _check(self, items: list[Item], digest: str) -> None:
        origin = self.path or "its source"
        if not items:
            raise BenchmarkError(f"{self.name} has no questions in {origin}.")
        repeated = [item_id for item_id, n in Counter(item.item_id for item in items).items() if n > 1]
        if repeated:
            raise BenchmarkError(
                f"{self.name} has the question id {repeated[0]!r} more than once in {origin}. Give each "
                "question an id of its own, or drop the column of ids: then they are numbered."
            )
        if self.expected_count is not None and len(items) != self.expected_count:
            raise BenchmarkError(
                f"{self.name} must have {self.expected_count} questions, but {origin} has {len(items)}. "
                "Check the file or the revision; for questions of your own set benchmark.expected_count=null."
            )
        if self.digest is not None and digest != self.digest:
            raise BenchmarkError(
                f"{self.name} must have the content digest {self.digest}, but {origin} has {digest}. "
                "Its texts or answers changed: pin benchmark.source.revision, or accept them with "
                "benchmark.digest=null."
            )

    def _check_golds(self, kept: list[Item], items: list[Item]) -> None:
        """Raises BenchmarkError for an answer of the questions kept that does not read as of its kind."""
        rows = {id(item): row for row, item in enumerate(items, start=1)}
        for item in kept:
            row = rows[id(item)]
            if (fault := gold_fault(item, self.kind)) is not None:
                raise BenchmarkError(
                    f"{self.name} asks for answers of kind {self.kind.value}, but in "
                    f"{self.path or 'its source'}, row {row} ({item.item_id}), the answer "
                    f"{shortened(repr(item.answer), MAX_SHOWN_CHARACTERS)} {fault}."
                )


def content_digest(items: Iterable[Item]) -> str:
    """BLAKE2b digest (16 bytes, hex) of the (text, answer) pairs in order."""
    digest = hashlib.blake2b(digest_size=16)
    for item in items:
        for part in (item.text, item.answer or ""):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
