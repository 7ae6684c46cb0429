"""Refused questions: a few are counted, too many fail the cell."""

from collections.abc import Iterable

from icpo.errors import EngineError
from icpo.types import FinishReason, QuestionResult


class BlockedQuestions:
    """Counts the questions whose every final sample was blocked."""

    def __init__(self, max_share: float, num_total: int, stored: Iterable[QuestionResult]) -> None:
        """`stored` are the results of earlier sessions; at most `max_share` of `num_total` may be blocked."""
        self._max_share, self._num_total = max_share, num_total
        self.num_blocked = self._num_too_long = 0
        for result in stored:
            self._count(result)

    def see(self, result: QuestionResult) -> None:
        """Counts one more result. Raises EngineError as `check` does."""
        self._count(result)
        self.check()

    def _count(self, result: QuestionResult) -> None:
        reasons = {one.completion.finish_reason for _, finals in result.finals for one in finals}
        self.num_blocked += reasons == {FinishReason.CONTENT_FILTER}
        self._num_too_long += reasons == {FinishReason.PROMPT_TOO_LONG}

    def check(self) -> None:
        """Raises EngineError where too many are blocked or no prompt fitted."""
        if self.num_blocked > self._max_share * self._num_total:
            raise EngineError(
                f"{self.num_blocked} of {self._num_total} questions were refused by the provider's filter, "
                f"more than max_failed_share={self._max_share:g}. Use another server, or raise it; "
                "blocked questions count as not answered."
            )
        if 0 < self._num_total == self._num_too_long:
            raise EngineError(
                f"The prompts of all {self._num_total} questions are too long for the context: none was "
                "answered. Raise backbone.max_context_tokens, and the context that the server has."
            )
