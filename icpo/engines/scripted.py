"""Engines that answer from a script: for tests, and for rehearsals without a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icpo.errors import EngineError
from icpo.types import Batches, Completion, FinishReason, SampleRequest

if TYPE_CHECKING:
    from icpo.backbones import Backbone

Script = Callable[[SampleRequest, int], str | Completion]
"""What sample i of a request says; a text ends by itself and counts its words as tokens."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """Settings of a scripted engine.

    `answers` maps a piece of a prompt to the texts given to it, in turn by seed and sample; the first piece
    that a prompt holds decides, and "" fits all. `block_questions` null gives a continuous engine.
    """

    name: str
    answers: Mapping[str, Sequence[str]]
    block_questions: int | None

    def __post_init__(self) -> None:
        if not all(self.answers.values()):
            raise ValueError("answers must give at least one text for each piece of a prompt")
        if self.block_questions is not None and self.block_questions < 1:
            raise ValueError(f"block_questions must be null or at least 1, got {self.block_questions}")

    def preflight(self) -> None:
        """Nothing is needed."""

    def start(self, backbone: "Backbone", *, max_context_tokens: int) -> "ScriptedEngine | ScriptedBlocks":
        """The engine; it has no model, so the backbone and its context are not looked at."""
        if self.block_questions is None:
            return ScriptedEngine(self._say)
        return ScriptedBlocks(self._say, block_questions=self.block_questions)

    def _say(self, request: SampleRequest, index: int) -> str:
        prompt = request.prompt.raw
        for piece, texts in self.answers.items():
            if piece in prompt:
                return texts[(request.seed + index) % len(texts)]
        raise EngineError(
            f"engine={self.name} has no answer for the prompt {prompt!r}. Add one to engine.answers."
        )


class _Scripted:
    """What was asked (`requests`) and how many draws were made (`num_draws`, failed ones too)."""

    def __init__(self, script: Script, fails_at: Sequence[int]) -> None:
        self._script, self._fails_at = script, frozenset(fails_at)
        self.requests: list[SampleRequest] = []
        self.num_draws = 0

    def close(self) -> None:
        """Nothing is held."""

    def _draw(self, requests: Sequence[SampleRequest]) -> Batches:
        number, self.num_draws = self.num_draws, self.num_draws + 1
        if number in self._fails_at:
            raise EngineError(f"scripted failure at draw {number}")
        self.requests += requests
        return [[self._say(request, i) for i in range(request.num_samples)] for request in requests]

    def _say(self, request: SampleRequest, index: int) -> Completion:
        said = self._script(request, index)
        if isinstance(said, Completion):
            return said
        return Completion(said, len(request.prompt.raw.split()), len(said.split()), FinishReason.STOP)


class ScriptedEngine(_Scripted):
    """A continuous engine; one request is one draw, and the draws numbered `fails_at`, from 0, fail."""

    identity = "scripted"

    def __init__(
        self, script: Script, *, fails_at: Sequence[int] = (), is_latest_first: bool = False
    ) -> None:
        """`is_latest_first` answers the latest request first, so that completions arrive in another order."""
        super().__init__(script, fails_at)
        self._place = -1 if is_latest_first else 0
        self._waiting: list[tuple[int, SampleRequest]] = []
        self.cancelled: list[int] = []

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request."""
        self._waiting.append((ticket, request))

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """The next request, answered. Raises EngineError at a scripted failure, or if nothing was asked."""
        if not self._waiting:
            raise EngineError("The scripted engine was asked for completions, but nothing is in flight.")
        ticket, request = self._waiting[self._place]
        [completions] = self._draw([request])
        self._waiting.pop(self._place)
        return [(ticket, completions)]

    def cancel(self, ticket: int) -> None:
        """Drops a request that was not answered yet."""
        self._waiting = [(t, request) for t, request in self._waiting if t != ticket]
        self.cancelled.append(ticket)


class ScriptedBlocks(_Scripted):
    """A block engine; one batch is one draw, and the draws numbered `fails_at`, from 0, fail."""

    identity = "scripted blocks"

    def __init__(self, script: Script, *, block_questions: int, fails_at: Sequence[int] = ()) -> None:
        super().__init__(script, fails_at)
        self.block_questions = block_questions

    def generate(self, requests: Sequence[SampleRequest]) -> Batches:
        """The completions of each request. Raises EngineError at a scripted failure."""
        return self._draw(requests)
