"""Answers without a text, held back until others have one."""

from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, visible

MAX_SILENT = 16  # requests in a row

Answers = list[tuple[int, list[Completion]]]


class Silence:
    """Holds silent answers back, and fails when all are silent.

    Silent is an answer whose thoughts nothing follows but spaces and invisible characters. One that reached
    its limit is held back too, until the server has sent a text.
    """

    def __init__(self, reasoning_end: str | None) -> None:
        self._reasoning_end = reasoning_end
        self._held: dict[int, list[Completion]] = {}
        self._num_spoken = self._num_in_a_row = 0

    def passed(self, ticket: int, completions: list[Completion]) -> Answers:
        """What may be handed out now that these came."""
        reasons = {completion.finish_reason for completion in completions}
        is_silent = reasons <= {FinishReason.STOP, FinishReason.LENGTH} and not any(
            character.isprintable() and not character.isspace()
            for completion in completions
            for character in visible(completion.text, self._reasoning_end)
        )
        if is_silent and not (self._num_spoken and FinishReason.LENGTH in reasons):
            self._num_in_a_row += 1
            self._held[ticket] = completions
            return []
        if not is_silent:
            self._num_spoken += 1
            self._num_in_a_row = 0
        return [*self._take(), (ticket, completions)]

    def released(self, num_thoughts_only: int) -> Answers:
        """What was held back, when nothing else is in flight.

        Raises EngineError where the server has sent no text for many requests, or never any and a silent
        answer ended by itself.
        """
        has_ended = any(
            completion.finish_reason is FinishReason.STOP
            for held in self._held.values()
            for completion in held
        )
        if self._held and (self._num_in_a_row >= MAX_SILENT or (has_ended and self._num_spoken == 0)):
            raise EngineError(self._message(num_thoughts_only))
        return self._take()

    def drop(self, ticket: int) -> None:
        """Forgets a cancelled request."""
        self._held.pop(ticket, None)

    def _take(self) -> Answers:
        held = list(self._held.items())
        self._held.clear()
        return held

    def _message(self, num_thoughts_only: int) -> str:
        thoughts = (
            f" ({num_thoughts_only} answers hold thoughts only: raise backbone.max_answer_tokens, or check "
            "the server's parser of reasoning)"
        )
        unread = f" after backbone.reasoning_end={self._reasoning_end!r}"
        return (
            f"The last {self._num_in_a_row} requests were answered without any text"
            f"{unread if self._reasoning_end else ''}{thoughts if num_thoughts_only else ''}. "
            "Nothing of it was stored. Check the model and the server's log."
        )
