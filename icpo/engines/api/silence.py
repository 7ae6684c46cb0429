"""Answers without a text, held back until others have one: a server that only sends nothing is broken."""

from collections.abc import Sequence

from icpo.errors import EngineError
from icpo.types import Completion, FinishReason

MAX_SILENT = 16  # requests in a row


class Silence:
    """Holds silent answers back; a model may say nothing now and then, but not always."""

    def __init__(self) -> None:
        self._held: dict[int, list[Completion]] = {}
        self._num_spoken = self._num_in_a_row = 0

    def passed(self, ticket: int, completions: list[Completion]) -> list[tuple[int, list[Completion]]]:
        """What may be handed out now that these came."""
        if all(map(_is_silent, completions)):
            self._num_in_a_row += 1
            self._held[ticket] = completions
            return []
        self._num_spoken += 1
        self._num_in_a_row = 0
        return [*self._take(), (ticket, completions)]

    def released(self, num_thoughts_only: int) -> list[tuple[int, list[Completion]]]:
        """What was held back, when nothing else is in flight.

        Raises EngineError where the server has never sent a text, or none for many requests.
        """
        if self._held and (self._num_spoken == 0 or self._num_in_a_row >= MAX_SILENT):
            raise EngineError(
                f"The last {self._num_in_a_row} requests were answered without any text"
                + (
                    f" ({num_thoughts_only} answers hold thoughts only: raise backbone.max_answer_tokens, or "
                    "check the server's parser of reasoning)"
                    if num_thoughts_only
                    else ""
                )
                + ". Nothing of it was stored. Check the model and the server's log."
            )
        return self._take()

    def drop(self, ticket: int) -> None:
        """Forgets a cancelled request."""
        self._held.pop(ticket, None)

    def _take(self) -> list[tuple[int, list[Completion]]]:
        held: Sequence[tuple[int, list[Completion]]] = list(self._held.items())
        self._held.clear()
        return list(held)


def _is_silent(completion: Completion) -> bool:
    return not completion.text.strip() and completion.finish_reason is FinishReason.STOP
