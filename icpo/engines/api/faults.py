"""Faults of a reply, and what an error says."""

from icpo.safe_text import shortened

STATUS_OF_WORD = {  # of an error without a number
    "rate_limit": 429,
    "quota": 402,
    "overloaded": 503,
    "unavailable": 503,
    "invalid_request": 400,
    "context_length": 400,
    "context_size": 400,
    "content_filter": 400,
    "authentication": 401,
    "permission": 403,
    "not_found": 404,
}
SHOWN_CHARACTERS = 120


class ReplyError(Exception):
    """A malformed reply; the next one may be well formed."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)


class ErrorInside(Exception):
    """An error inside a reply of status 200, or in a stream."""

    def __init__(self, error: object) -> None:
        super().__init__(first_words(error))
        self.status, self.error = error_status(error), error


class UnknownShape(Exception):
    """A choice of unknown shape; no retry changes that."""


def first_words(reply: object, num_characters: int = SHOWN_CHARACTERS) -> str:
    """The beginning of what a server sent, on one line."""
    return shortened(" ".join(str(reply).split()), num_characters)


def error_message(error: object) -> str:
    """What an error says, out of the objects around it."""
    for name in ("error", "message"):
        error = error.get(name) or error if isinstance(error, dict) else error
    return str(error or "no reason given").removesuffix(".")


def error_status(error: object) -> int:
    """The HTTP status of an error; 500, which is retried, where unknown."""
    named = [error.get(key) for key in ("code", "status", "type")] if isinstance(error, dict) else [error]
    for value in named:
        if str(value).isdigit() and 400 <= int(str(value)) < 600:
            return int(str(value))
    words = " ".join(map(str, named)).lower()
    return next((status for word, status in STATUS_OF_WORD.items() if word in words), 500)
