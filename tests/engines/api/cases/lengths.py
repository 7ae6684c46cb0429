"""Prompts that leave too little room, in the words of many servers."""

from tests.engines.api.playing import Situation, choice, ok

LEAST = "answered with 4 tokens"


def length(server, message, calls, outcome="answered with 10 tokens", status=400, **more):
    """A refusal for length, repeated until no more than 10 tokens are asked for."""

    def reply(handler, body):
        asked = body["max_tokens"]
        if asked <= 10 and "too long" not in outcome:
            handler.reply(200, ok(choice("x" * asked)))
        else:
            handler.reply(status, {"error": {"message": message, "code": status, **more}})

    return Situation(f"prompt and limit exceed the context: {server}", [reply], (calls, outcome))


SITUATIONS = [
    length(
        "OpenAI",
        "This model's maximum context length is 100 tokens. However, your messages resulted in 90 tokens.",
        2,
    ),
    length(
        "vLLM",
        "This model's maximum context length is 100 tokens. However, you requested 20 output tokens "
        "and your prompt contains 90 input tokens, for a total of 110 tokens.",
        2,
    ),
    length(
        "vLLM that counts no further",
        "This model's maximum context length is 100 tokens. However, you "
        "requested 20 output tokens and your prompt contains at least 81 input tokens",
        2,
        LEAST,
    ),
    length(
        "SGLang",
        "Requested token count exceeds the model's maximum context length of 100 tokens. You "
        "requested a total of 110 tokens: 90 tokens from the input messages and 20 tokens for the "
        "completion.",
        2,
    ),
    length(
        "SGLang, no room left",
        "The input (120 tokens) is longer than the model's context length (100 tokens).",
        1,
        "prompt too long",
    ),
    length(
        "llama.cpp",
        "the request exceeds the available context size. try increasing the context size",
        2,
        type="exceed_context_size_error",
        n_prompt_tokens=90,
        n_ctx=100,
    ),
    length(
        "llama.cpp with status 500",
        "the request exceeds the available context size",
        2,
        status=500,
        type="exceed_context_size_error",
        n_prompt_tokens=90,
        n_ctx=100,
    ),
    length(
        "llama.cpp without numbers",
        "the request exceeds the available context size, try increasing it",
        2,
        LEAST,
    ),
    length(
        "TGI",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 100. Given: 90 `inputs` "
        "tokens and 20 `max_new_tokens`",
        2,
        status=422,
    ),
    length(
        "OpenRouter, with an estimate",
        "This endpoint's maximum context length is 100 tokens. However, you "
        "requested about 110 tokens (90 of text input, 20 in the output).",
        2,
        LEAST,
    ),
    length("Ollama", "prompt too long; exceeded max context length by 4 tokens", 2, LEAST),
    length(
        "LM Studio",
        "Trying to keep the first 90 tokens when context the overflows. However, the model is "
        "loaded with context length of only 100 tokens",
        2,
    ),
    length(
        "Gemini",
        "The input token count (1200) exceeds the maximum number of tokens allowed (100).",
        1,
        "prompt too long",
    ),
    length("Mistral", "Prompt contains 90 tokens, too large for model with 100 maximum context length", 2),
    length(
        "a server that names nothing",
        "Please reduce the length: context_length_exceeded",
        2,
        "prompt too long",
    ),
]
