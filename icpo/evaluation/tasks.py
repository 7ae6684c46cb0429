"""Tasks of a cell: questions under seeds, in blocks."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from icpo.store import Extent
from icpo.types import Question


@dataclass(frozen=True, slots=True)
class Task:
    """One question under one seed."""

    question: Question
    seed: int


@dataclass(frozen=True, slots=True)
class Tasks:
    """All questions under all seeds; `done` are those stored.

    `extents` are what the cell was to cover from time to time.
    """

    questions: Sequence[Question]
    seeds: Sequence[int]
    done: Collection[tuple[str, int]]
    extents: Sequence[Extent] = ()

    def __iter__(self) -> Iterator[Task]:
        return (Task(question, seed) for seed in self.seeds for question in self.questions)

    def __len__(self) -> int:
        return len(self.questions) * len(self.seeds)

    def is_done(self, question: Question, seed: int) -> bool:
        """Whether the result is stored."""
        return (question.question_id, seed) in self.done

    @property
    def left(self) -> list[Task]:
        """The tasks whose results are missing."""
        return [task for task in self if not self.is_done(task.question, task.seed)]

    def blocks(self, size: int | None) -> Iterator[list[Task]]:
        """The tasks left, in blocks of `size` questions, or in one.

        Blocks of a given size are cut from the questions of one seed and hold also those of them that are
        done: what a batch holds must be the same however often a run was interrupted. Where an extension
        fills up a block, what it adds is a block of its own.
        """
        if size is None:
            yield self.left
            return
        covered = {
            seed: [set(one.question_ids) if seed in one.seeds else set() for one in self.extents]
            for seed in self.seeds
        }
        for seed, start in product(self.seeds, range(0, len(self.questions), size)):
            parts = defaultdict(list)
            for question in self.questions[start : start + size]:
                covering = (i for i, ids in enumerate(covered[seed]) if question.question_id in ids)
                parts[next(covering, len(self.extents))].append(Task(question, seed))
            for _, block in sorted(parts.items()):
                if not all(self.is_done(task.question, task.seed) for task in block):
                    yield block
