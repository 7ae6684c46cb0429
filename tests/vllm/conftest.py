"""One engine inside the test process for most tests; vLLM allows no second."""

import os

import pytest

from icpo.backbones import Backbone, ChatTemplate
from icpo.engines.vllm.settings import Vllm
from icpo.types import Prompt, Purpose, SampleRequest
from tests.sampling import sampling_of

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")

CONTEXT_TOKENS = 512


def nano(**changes) -> Backbone:
    values = {
        "name": "nano",
        "model_id": "icpo:nano",
        "revision": None,
        "max_context_tokens": 4096,
        "dtype": "float32",
        "chat_template": ChatTemplate.NONE,
        "tensor_parallel": 1,
        "reasoning_end": None,
        "gpu_memory_gb": 1,
        "template_options": (),
        "max_answer_tokens": None,
        "thinking_tokens": 0,
        "system_role": True,
    }
    return Backbone(**{**values, **changes})


def settings_of(**changes) -> Vllm:
    values = {
        "name": "vllm",
        "max_num_seqs": 64,
        "admission_burst": 16,
        "max_num_batched_tokens": 4096,
        "gpu_memory_utilization": 0.5,
        "enforce_eager": True,
        "in_process": True,
        "batch_invariant": False,
        "trusted_code": (),
        "options": {},
    }
    return Vllm(**{**values, **changes})


def ask(text, num_samples=1, seed=1, purpose=Purpose.SUMMARY, **changes) -> SampleRequest:
    sampling = sampling_of(**{"temperature": 1.0, "top_p": 0.95, "max_tokens": 24, **changes})
    return SampleRequest(purpose, Prompt("", text), sampling, num_samples, seed)


def answers(engine, requests):
    """The completions of each request, all in flight together."""
    for ticket, request in enumerate(requests):
        engine.submit(ticket, request)
    done = {}
    while len(done) < len(requests):
        done.update(engine.finished())
    return [done[ticket] for ticket in range(len(requests))]


@pytest.fixture(scope="session")
def engine():
    started = settings_of().start(nano(), max_context_tokens=CONTEXT_TOKENS)
    yield started
    started.close()
