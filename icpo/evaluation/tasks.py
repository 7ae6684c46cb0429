"""What a cell has to solve: questions under seeds, and the blocks that share batches."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from icpo.types import Question


@dataclass(frozen=True, slots=True)
class Task:
    """One question under one seed."""

    question: Question
    seed: int


@dataclass(frozen=True, slots=True)
class Tasks:
    """All questions under all seeds; `done` are those stored, as pairs (question id, seed)."""

    questions: Sequence[Question]
    seeds: Sequence[int]
    done: Collection[tuple[str, int]]

    def __iter__(self) -> Iterator[Task]:
        return (Task(question, seed) for seed in self.seeds for question in self.questions)

    def __len__(self) -> int:
        return len(self.questions) * len(self.seeds)

    def is_done(self, question: Question, seed: int) -> bool:
        """Whether the result is stored."""
        return (question.question_id, seed) in self.done

    @property
    def are_left(self) -> bool:
        """Whether any result is missing."""
        return not all(self.is_done(task.question, task.seed) for task in self)

    def blocks(self, size: int | None) -> Iterator[list[Task]]:
        """What is left, in blocks of `size` questions that share batches; None: in a single block.

        A block of a given size is cut from all tasks and holds also those of it that are done: what a batch
        holds must be the same however often a run was interrupted.
        """
        tasks = list(self)
        if size is None:
            yield [task for task in tasks if not self.is_done(task.question, task.seed)]
            return
        for start in range(0, len(tasks), size):
            block = tasks[start : start + size]
            if not all(self.is_done(task.question, task.seed) for task in block):
                yield block
