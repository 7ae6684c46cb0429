"""Statuses other than 200."""

from tests.engines.api.playing import RETRIED, Situation, error, ok, page, retry_after

SITUATIONS = [
    Situation(
        "a prompt refused by Azure's filter",
        [
            error(
                400,
                "The response was filtered due to the prompt triggering Azure OpenAI's content management "
                "policy.",
                innererror={"code": "ResponsibleAIPolicyViolation"},
            )
        ],
        (1, "blocked"),
    ),
    Situation(
        "a prompt refused by OpenRouter's moderation",
        [error(403, "Your chosen model requires moderation and your input was flagged")],
        (1, "blocked"),
    ),
    Situation("429, once", [error(429, "slow down"), ok()], RETRIED),
    Situation("429, quota used up", [error(429, "insufficient_quota: check your plan")], (1, "limits")),
    Situation("402, no credit", [error(402, "Insufficient credits")], (1, "limits")),
    Situation(
        "413 for tokens per minute, once",
        [error(413, "Request too large: tokens per minute (TPM): Limit 6000, Requested 8000"), ok()],
        RETRIED,
    ),
    Situation("401", [error(401, "bad key")], (1, "api_key_env")),
    Situation("404", [error(404, "no such model")], (1, "backbone.model_id")),
    Situation("500, once", [error(500, "oops"), ok()], RETRIED),
    Situation("503 every time", [error(503, "overloaded")], (3, r"failed 3 times .* status 503")),
    Situation(
        "Retry-After beyond what is waited for",
        [lambda handler, body: handler.reply(429, {}, {"Retry-After": "900"})],
        (1, "come back in 900 s"),
    ),
    Situation("Retry-After below zero, once", [retry_after("-5"), ok()], RETRIED),
    Situation("Retry-After that is not a number, once", [retry_after("nan"), ok()], RETRIED),
    Situation("Retry-After in the past, once", [retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), ok()], RETRIED),
    Situation("Retry-After of 400 digits", [retry_after("9" * 400)], (1, "come back in inf s")),
    Situation(
        "Retry-After in the year 9999",
        [retry_after("Fri, 31 Dec 9999 23:59:59 GMT")],
        (1, "more than engine.max_wait_seconds"),
    ),
    Situation("503 with a page of HTML, every time", [page(503)], (3, "status 503: <html> <h1>503")),
    Situation("401 with a page of HTML", [page(401)], (1, "<html> <h1>401.*api_key_env")),
    Situation("405", [error(405, "Method Not Allowed")], (1, "engine.base_url")),
]
