"""A relation of a test's own for votes: a function decides what is equal."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field


@dataclass
class Relation:
    """Answers that `are_close` holds equal; those of `dear` can only be compared at a cost."""

    are_close: Callable[[str, str], bool]
    representative: Callable[[str], str] = str
    dear: frozenset[str] = frozenset()
    asked: list[tuple[str, str]] = field(default_factory=list)

    def value_of(self, answer: str) -> Hashable:
        return answer

    def surface_of(self, answer: str) -> Hashable:
        return None

    def representative_of(self, answer: str) -> str:
        return self.representative(answer)

    def keys_of(self, answer: str) -> frozenset[Hashable] | None:
        return None

    def are_equal(self, one: str, other: str) -> bool | None:
        return None if self.dear & {one, other} else self.are_close(one, other)

    def are_equal_at_any_cost(self, one: str, other: str) -> bool | None:
        self.asked.append((one, other))
        return self.are_close(one, other)
