"""The tree of MCTSr: answers, rewards and UCT (Zhang et al. 2024)."""

from dataclasses import dataclass, field
from math import log, sqrt
from statistics import mean

from icpo.methods.judging import WORST, Verdicts
from icpo.types import Candidate

TINY = 1e-6
EXPLORATION = 1.4  # c of UCT, on the scale of rewards from -100 to 100
MAX_CHILDREN = 3  # refinements of an answer before a better one among them closes it
FULL_SCORE = 95.0  # a reward above this is lowered by SUPPRESSION
SUPPRESSION = 50.0


@dataclass(slots=True)
class Node:
    """One answer, its refinements' places, and its sampled rewards.

    `verdicts` are the model's as read; `rewards` are made of those that could be read.
    """

    candidate: Candidate
    parent: int | None
    children: list[int] = field(default_factory=list)
    verdicts: list[float | None] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    num_visits: int = 0

    @property
    def own_quality(self) -> float:
        """Q = (min + mean) / 2 of its rewards, else WORST."""
        return (min(self.rewards) + mean(self.rewards)) / 2 if self.rewards else WORST


@dataclass(slots=True)
class AnswerTree:
    """Grows by one answer a rollout; node 0 is the first answer.

    A reward above FULL_SCORE is lowered by SUPPRESSION. A node that has `max_children` refinements, one of
    them better than itself, is not refined again.
    """

    exploration: float = EXPLORATION
    max_children: int = MAX_CHILDREN
    nodes: list[Node] = field(default_factory=list)

    def add(self, candidate: Candidate, parent: int | None) -> int:
        """Add an answer and count the visits; return its place."""
        place = len(self.nodes)
        self.nodes.append(Node(candidate, parent))
        if parent is not None:
            self.nodes[parent].children.append(place)
        above: int | None = place
        while above is not None:
            self.nodes[above].num_visits += 1
            above = self.nodes[above].parent
        return place

    def reward(self, place: int, verdicts: Verdicts) -> None:
        """Add verdicts to a node; full scores are suppressed."""
        node = self.nodes[place]
        node.verdicts += verdicts
        read = [verdict for verdict in verdicts if verdict is not None]
        node.rewards += [r - SUPPRESSION if r > FULL_SCORE else r for r in read]

    def quality(self, place: int) -> float:
        """Q after back-propagation: mean of own and best child's."""
        node = self.nodes[place]
        if not node.children:
            return node.own_quality
        return (node.own_quality + max(map(self.quality, node.children))) / 2

    def uct(self, place: int) -> float:
        """Q plus c sqrt(ln(N(parent) + 1) / N).

        The first answer takes the place of its parent.
        """
        node = self.nodes[place]
        above = node if node.parent is None else self.nodes[node.parent]
        return self.quality(place) + self.exploration * sqrt(
            log(above.num_visits + 1) / (node.num_visits + TINY)
        )

    def select(self) -> int:
        """The node of highest UCT that may be refined."""
        return max((i for i in range(len(self.nodes)) if not self._is_fully_expanded(i)), key=self.uct)

    def best(self) -> int:
        """The answer of highest own Q, one that was read if possible."""
        answered = [i for i, node in enumerate(self.nodes) if node.candidate.answer is not None]
        return max(answered or range(len(self.nodes)), key=lambda i: self.nodes[i].own_quality)

    def _is_fully_expanded(self, place: int) -> bool:
        node = self.nodes[place]
        own = self.quality(place)
        return len(node.children) >= self.max_children and any(self.quality(i) > own for i in node.children)
