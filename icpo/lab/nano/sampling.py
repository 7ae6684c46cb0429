"""nano in memory as an engine, and samples of many prompts from it."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icpo.lab.nano.model import MAX_CONTEXT_TOKENS
from icpo.lab.nano.tokenizer import END
from icpo.methods import complete
from icpo.seeding import derive_seed
from icpo.types import Engine, Prompt, Purpose, SampleRequest, Sampling

if TYPE_CHECKING:
    from icpo.engines.local.transformers import TransformersEngine

TEMPERATURE, TOP_P = 0.6, 0.95  # of the attempts that histories in training are made of: the protocol's


def engine_of(model: Any, tokenizer: Any, *, max_rows: int) -> "TransformersEngine":
    """An engine on a copy of a LlamaForCausalLM, in bfloat16 on a GPU.

    `tokenizer` is the bare one of `tokenizers`. The copy does not follow the model when it is trained on. A
    batch holds at most `max_rows` samples.
    """
    import torch

    from icpo.engines.local.endings import Endings
    from icpo.engines.local.llama import Llama
    from icpo.engines.local.transformers import TransformersEngine

    def encode(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text, add_special_tokens=False).ids)

    copy = deepcopy(model).eval()
    if copy.device.type == "cuda":
        copy = copy.to(torch.bfloat16)
    with torch.no_grad():
        llama = Llama(copy)
    endings = Endings([tokenizer.token_to_id(END)], tokenizer.decode, copy.config.vocab_size)
    return TransformersEngine(
        llama,
        endings,
        lambda prompt: encode(prompt.raw),
        encode,
        identity="nano in memory",
        block_questions=max_rows,
        max_batch_rows=max_rows,
        max_context_tokens=MAX_CONTEXT_TOKENS,
    )


def sampling_of(temperature: float, top_p: float, max_tokens: int) -> Sampling:
    """Sampling without restrictions but these."""
    return Sampling(
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        min_tokens=0,
        repetition_penalty=1.0,
        stop=(),
        min_room_tokens=1,
        top_k=None,
        min_p=None,
    )


@dataclass(frozen=True, slots=True)
class Sampler:
    """Texts of an engine."""

    engine: Engine
    temperature: float
    top_p: float
    max_tokens: int

    def sample(self, prompts: Sequence[str], num_samples: int, *, seed: int) -> list[list[str]]:
        """`num_samples` completions of each prompt; temperature 0 is greedy."""
        sampling = sampling_of(self.temperature, self.top_p, self.max_tokens)
        requests = [
            SampleRequest(Purpose.CANDIDATE, Prompt("", text), sampling, num_samples, derive_seed(seed, i))
            for i, text in enumerate(prompts)
        ]
        return [[one.text for one in batch] for batch in complete(self.engine, requests)]
