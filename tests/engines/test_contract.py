"""The transformers, API and vLLM engines do the same in the same situations (tests/engines/contract.py)."""

import pytest

from tests.engines import contract
from tests.engines.api import playing
from tests.engines.conftest import backbone_of, settings_of
from tests.engines.openai_server import Server

CONTEXT = 256


@pytest.fixture(scope="module")
def local_engine(llama_folder):
    engine = settings_of().start(backbone_of(llama_folder), max_context_tokens=CONTEXT)
    yield engine
    engine.close()


def model(handler, body):
    """A server with a context of 256 tokens, one a character of two; its texts run to their limit."""
    num_prompt = len(body["messages"][-1]["content"]) // 2
    if num_prompt + body["max_tokens"] > CONTEXT:
        message = f"maximum context length is {CONTEXT} tokens, your messages resulted in {num_prompt} tokens"
        handler.reply(400, {"error": {"message": message}})
        return
    size, num = body["max_tokens"], body.get("n", 1)
    usage = {"prompt_tokens": num_prompt, "completion_tokens": size * num}
    choices = [playing.choice("7" * size, "length") for _ in range(num)]
    handler.reply(200, {"choices": choices, "usage": usage})


@pytest.fixture(scope="module")
def api_engine():
    pytest.importorskip("openai")
    with Server(lambda body: model) as server:
        chosen = playing.settings(server.base_url, api_key_env=None, supports_extras=True)
        engine = chosen.start(playing.BACKBONE, max_context_tokens=CONTEXT)
        yield engine
        engine.close()


@pytest.mark.parametrize("situation", contract.SITUATIONS, ids=lambda situation: situation.__name__)
@pytest.mark.parametrize("engine_name", ["local_engine", "api_engine"])
def test_the_contract(engine_name, situation, request):
    situation(request.getfixturevalue(engine_name), CONTEXT)
