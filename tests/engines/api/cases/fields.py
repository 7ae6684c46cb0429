"""Fields that a model or a server does not take, and settings that leave them out."""

from tests.engines.api.playing import Situation, choice, error, ok

SITUATIONS = [
    Situation(
        "no usage, and a budget in dollars",
        [{"choices": [choice()]}],
        (1, "answered, unconfirmed_requests 1, self_counted_requests 1"),
        {"max_cost": 1.0, "prompt_price": 1.0, "completion_price": 1.0},
    ),
    Situation(
        "a model that takes no temperature",
        [error(400, "Unsupported value: 'temperature' does not support 0.6 with this model.")],
        (1, "temperature to null"),
    ),
    Situation(
        "the same with temperature and top_p null",
        [lambda h, b: h.reply(400, {}) if {"temperature", "top_p"} & b.keys() else h.reply(200, ok())],
        (1, "answered"),
        sampling={"temperature": None, "top_p": None},
    ),
    Situation(
        "a model that takes no max_tokens",
        [error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")],
        (1, "max_tokens_field=max_completion_tokens"),
    ),
    Situation(
        "a model without a system role",
        [error(400, "System role not supported")],
        (1, r"backbone\.system_role=false"),
    ),
    Situation(
        "the same with system_role=false",
        [lambda h, b: h.reply(200, ok()) if len(b["messages"]) == 1 else h.reply(400, {})],
        (1, "answered"),
        backbone={"system_role": False},
    ),
    Situation(
        "a model that is only streamed",
        [error(400, "This model only support stream mode, please enable the stream parameter")],
        (1, r"engine\.stream=true"),
    ),
    Situation(
        "no more than two samples a call",
        [lambda h, b: h.reply(200, ok(*[choice()] * b.get("n", 1)))],
        (3, "answered"),
        {"max_n": 2},
        num_samples=5,
    ),
    Situation(
        "min_tokens asked of a server that does not know it",
        [ok()],
        (0, "supports_extras=true"),
        sampling={"min_tokens": 3},
    ),
    Situation(
        "a limit of answers above the server's",
        [error(400, "max_tokens is too large: 20. This model supports at most 10 completion tokens.")],
        (1, "backbone.max_answer_tokens"),
    ),
    Situation(
        "a server that takes one sample a call",
        [error(422, "[{'loc': ['body', 'n'], 'msg': 'Input should be less than or equal to 1'}]")],
        (1, "engine.supports_n=false"),
    ),
]
