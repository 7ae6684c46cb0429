"""An engine that answers from a script, without a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import PositiveInt

from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, SampleRequest, validated

if TYPE_CHECKING:
    from icpo.backbones import Backbone

Script = Callable[[SampleRequest, int], str | Completion]
"""What sample i of a request says; a text ends by itself and counts its words as tokens."""


@validated
class Scripted:
    """Settings of a scripted engine.

    `answers` maps a piece of a prompt to the texts given to it, in turn by seed and sample; the first piece
    that a prompt holds decides, and "" fits all. `block_questions` null completes request by request.
    """

    name: str
    answers: Mapping[str, Sequence[str]]
    block_questions: PositiveInt | None

    def __post_init__(self) -> None:
        if not all(self.answers.values()):
            raise ValueError("answers must give at least one text for each piece of a prompt")

    def preflight(self) -> None:
        """Nothing is needed."""

    def start(self, backbone: "Backbone", *, max_context_tokens: int) -> "ScriptedEngine":
        """The engine; it does not look at the backbone."""
        return ScriptedEngine(self._say, block_questions=self.block_questions)

    def _say(self, request: SampleRequest, index: int) -> str:
        prompt = request.prompt.raw
        for piece, texts in self.answers.items():
            if piece in prompt:
                return texts[(request.seed + index) % len(texts)]
        raise EngineError(
            f"engine={self.name} has no answer for the prompt {prompt!r}. Add one to engine.answers."
        )


class ScriptedEngine:
    """Completes one request at a time, or queued ones in blocks.

    What is completed at once is a batch, counted from 0. `requests` are those completed, `num_batches` counts
    batches, also those that failed.
    """

    def __init__(
        self,
        script: Script,
        *,
        block_questions: int | None = None,
        fails_at: Sequence[int] = (),
        is_latest_first: bool = False,
    ) -> None:
        """`fails_at` are the batches that fail; `is_latest_first` completes the latest request first."""
        self.identity = "scripted" if block_questions is None else "scripted blocks"
        self.block_questions = block_questions
        self._script, self._fails_at = script, frozenset(fails_at)
        self._place = -1 if is_latest_first else 0
        self._waiting: list[tuple[int, SampleRequest]] = []
        self.requests: list[SampleRequest] = []
        self.cancelled: list[int] = []
        self.num_batches = 0

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request."""
        self._waiting.append((ticket, request))

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """The next batch. Raises EngineError at a scripted failure."""
        if not self._waiting:
            raise EngineError("The scripted engine was asked for completions, but nothing is in flight.")
        number, self.num_batches = self.num_batches, self.num_batches + 1
        if number in self._fails_at:
            raise EngineError(f"scripted failure at batch {number}")
        batch = [self._waiting[self._place]] if self.block_questions is None else list(self._waiting)
        answered = [
            (ticket, [self._complete(request, i) for i in range(request.num_samples)])
            for ticket, request in batch
        ]
        self._waiting = [item for item in self._waiting if item not in batch]
        self.requests += [request for _, request in batch]
        return answered

    def cancel(self, ticket: int) -> None:
        """Drops a request that is still queued."""
        self._waiting = [(t, request) for t, request in self._waiting if t != ticket]
        self.cancelled.append(ticket)

    def close(self) -> None:
        """Nothing is held."""

    def _complete(self, request: SampleRequest, index: int) -> Completion:
        said = self._script(request, index)
        if isinstance(said, Completion):
            return said
        return Completion(said, len(request.prompt.raw.split()), len(said.split()), FinishReason.STOP)
