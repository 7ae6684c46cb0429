"""A fast sampler for nano in large batches: samples of a prompt share its prefill, rows that ended leave."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from icpo.lab.nano.tokenizer import END

TEMPERATURE, TOP_P = 0.6, 0.95  # of the attempts that histories in training are made of: the protocol's
COMPACT_EVERY_TOKENS = 8


def sampling_copy(model: Any) -> Any:
    """A copy of a model to sample from: in bfloat16 on a GPU, as it is on a CPU."""
    import torch

    copy = deepcopy(model).eval()
    return copy.to(torch.bfloat16) if copy.device.type == "cuda" else copy


@dataclass(frozen=True)
class Sampler:
    """Draws completions from a LlamaForCausalLM with the bare tokenizer of `tokenizers`.

    A batch holds at most `max_rows` sequences and `max_cells` padded tokens.
    """

    model: Any
    tokenizer: Any
    temperature: float
    top_p: float
    max_tokens: int
    max_rows: int
    max_cells: int = 2_000_000

    def sample(self, prompts: Sequence[str], num_samples: int, *, seed: int) -> list[list[str]]:
        """`num_samples` completions of each prompt, without the end mark; temperature 0 is greedy."""
        import torch

        generator = torch.Generator(device=self.model.device).manual_seed(seed)
        encoded = [e.ids for e in self.tokenizer.encode_batch(list(prompts), add_special_tokens=False)]
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        texts: dict[int, list[str]] = {}
        with torch.inference_mode():
            for group in self._groups(order, encoded, num_samples):
                rows = self._generate([encoded[i] for i in group], num_samples, generator)
                decoded = self.tokenizer.decode_batch(rows, skip_special_tokens=True)
                for j, i in enumerate(group):
                    texts[i] = decoded[j * num_samples : (j + 1) * num_samples]
        return [texts[i] for i in range(len(prompts))]

    def _groups(
        self, order: Sequence[int], encoded: list[list[int]], num_samples: int
    ) -> Iterator[list[int]]:
        group: list[int] = []
        for i in order:
            rows = (len(group) + 1) * num_samples
            if group and (
                rows > self.max_rows or rows * (len(encoded[i]) + self.max_tokens) > self.max_cells
            ):
                yield group
                group = []
            group.append(i)
        if group:
            yield group

    def _generate(self, prompts: list[list[int]], num_samples: int, generator: Any) -> list[list[int]]:
        """Token ids of the completions, cut before the end mark."""
        import torch

        from icpo.lab.nano.network import Cache, Network

        network, end, device = Network(self.model), self.tokenizer.token_to_id(END), self.model.device
        width = max(map(len, prompts))
        ids = torch.tensor([p + [0] * (width - len(p)) for p in prompts], device=device)
        lengths = torch.tensor([len(p) for p in prompts], device=device)
        cache = Cache([], [], width)
        hidden = network.hidden(ids, cache)[torch.arange(len(prompts), device=device), lengths - 1]
        hidden, lengths = (x.repeat_interleave(num_samples, 0) for x in (hidden, lengths))
        cache = cache.repeat(num_samples, self.max_tokens)
        slots = torch.arange(width + self.max_tokens, device=device)
        hides = (slots >= lengths[:, None]) & (slots < width)
        bias = torch.zeros(hides.shape, device=device).masked_fill(hides, -torch.inf)
        alive = torch.arange(len(lengths), device=device)
        written = torch.full((len(lengths), self.max_tokens), end, device=device)
        for t in range(self.max_tokens):
            token = self._choose(network.logits(hidden), generator)
            written[alive, t] = token
            if t % COMPACT_EVERY_TOKENS == COMPACT_EVERY_TOKENS - 1:
                kept = (written[alive, : t + 1] != end).all(1).nonzero().squeeze(1)
                if len(kept) == 0:
                    break
                alive, bias, lengths, token = alive[kept], bias[kept], lengths[kept], token[kept]
                cache = cache.select(kept)
            if t < self.max_tokens - 1:
                slot = width + t
                hidden = network.next_hidden(token, lengths + t, bias[:, : slot + 1], slot, cache)
        return [row[: row.index(end)] if end in row else row for row in written.tolist()]

    def _choose(self, logits: Any, generator: Any) -> Any:
        """One token a row: the best one, or a draw from the smallest set that holds `top_p` of the mass."""
        import torch

        if self.temperature == 0:
            return logits.argmax(-1)
        values, order = (logits / self.temperature).softmax(-1).sort(-1, descending=True)
        values = values.masked_fill(values.cumsum(-1) - values >= self.top_p, 0.0)
        return order.gather(1, torch.multinomial(values, 1, generator=generator)).squeeze(1)
