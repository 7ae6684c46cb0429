"""Replies of status 200 that hold an error, no answer, or one that is not finished."""

from tests.engines.api.playing import RETRIED, Situation, choice, ok

SITUATIONS = [
    Situation(
        "status 200 with choices null and an error 429 inside, once",
        [{"choices": None, "error": {"code": 429, "message": "Provider returned error"}}, ok()],
        RETRIED,
    ),
    Situation(
        "choices null and an error 429 inside, every time",
        [{"choices": None, "error": {"code": 429, "message": "Provider returned error"}}],
        (3, r"failed 3 times .* status 429"),
    ),
    Situation(
        "status 200, an error whose code is a word",
        [{"error": {"code": "rate_limit_exceeded", "message": "slow down"}}, ok()],
        RETRIED,
    ),
    Situation(
        "an error inside a choice",
        [ok({**choice("", "error"), "error": {"code": 502, "message": "upstream"}}), ok()],
        RETRIED,
    ),
    Situation(
        "status 200 with a refused key inside",
        [{"error": {"code": 401, "message": "No auth credentials found"}}],
        (1, "api_key_env"),
    ),
    Situation("no choices, once", [ok() | {"choices": []}, ok()], RETRIED),
    Situation("no choices, every time", [ok() | {"choices": []}], (3, r"failed 3 times .* no choices")),
    Situation(
        "no choices, blocked as Gemini says it",
        [{"choices": None, "promptFeedback": {"blockReason": "SAFETY"}}],
        (1, "blocked"),
    ),
    Situation(
        "no choices, blocked as Azure says it",
        [
            {
                "choices": [],
                "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}],
            }
        ],
        (1, "blocked"),
    ),
    Situation("finish reason error, once", [ok(choice("", "error")), ok()], RETRIED),
    Situation("finish reason null, once", [ok(choice("4", None)), ok()], RETRIED),
    Situation("finish reason null every time", [ok(choice("4", None))], (3, "unfinished answer")),
    Situation("finish reason abort, once", [ok(choice("4", "abort")), ok()], RETRIED),
    Situation("finish reason network_error, once", [ok(choice("4", "network_error")), ok()], RETRIED),
    Situation(
        "finish reason insufficient_system_resource, once",
        [ok(choice("4", "insufficient_system_resource")), ok()],
        RETRIED,
    ),
    Situation("finish reason sensitive", [ok(choice("", "sensitive"))], (1, "blocked")),
    Situation(
        "every answer is an invisible character",
        [ok(choice("\u200b"))],
        (1, "answered without any text"),
    ),
    Situation(
        "an error that is a string, every time",
        [{"error": "model is loading"}],
        (3, "status 500: model is loading"),
    ),
    Situation(
        "status 200 with a refusal in an unknown form",
        [{"detail": "Not authenticated"}],
        (3, "no choices: {'detail': 'Not authenticated'}"),
    ),
    Situation(
        "no choices, and feedback that names no filter",
        [{"choices": None, "promptFeedback": "SAFETY"}],
        (3, "no choices"),
    ),
    Situation(
        "choices that are not a list", [ok() | {"choices": {"0": choice()}}], (3, "no list of choices")
    ),
    Situation(
        "one choice of two that is not an object, once",
        [ok(choice(), "42"), ok(choice(), choice())],
        RETRIED,
        num_samples=2,
    ),
    Situation("more choices than asked", [ok(choice(), choice(), choice())], (1, "answered"), num_samples=2),
]
