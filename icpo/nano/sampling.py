"""A fast sampler for nano in large left-padded batches: samples of one prompt share its prefill."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from icpo.nano.tokenizer import END

COMPACT_EVERY_TOKENS = 8


@dataclass(frozen=True)
class Sampler:
    """Draws completions from a model with the bare tokenizer of `tokenizers`; a batch holds at most `max_rows` sequences and `max_cells` padded tokens."""

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

        device = next(self.model.parameters()).device
        generator = torch.Generator(device=device).manual_seed(seed)
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

    def _groups(self, order: Sequence[int], encoded: list[list[int]], num_samples: int) -> Iterator[list[int]]:
        group: list[int] = []
        for i in order:
            rows = (len(group) + 1) * num_samples
            if group and (rows > self.max_rows or rows * (len(encoded[i]) + self.max_tokens) > self.max_cells):
                yield group
                group = []
            group.append(i)
        if group:
            yield group

    def _generate(self, prompts: list[list[int]], num_samples: int, generator: Any) -> list[list[int]]:
        """Token ids of the completions, cut before the end mark; rows that ended leave the batch."""
        import torch
        from transformers import DynamicCache

        end = self.tokenizer.token_to_id(END)
        device = generator.device
        width = max(map(len, prompts))
        ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts], device=device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
        cache = DynamicCache()
        logits = self._logits(ids, mask, (mask.cumsum(1) - 1).clamp(min=0), cache)
        cache.batch_repeat_interleave(num_samples)
        logits, mask = (x.repeat_interleave(num_samples, 0) for x in (logits, mask))
        position = mask.sum(1, keepdim=True)
        alive = torch.arange(len(mask), device=device)
        written = torch.full((len(mask), self.max_tokens), end, device=device)
        for t in range(self.max_tokens):
            token = self._choose(logits, generator)
            written[alive, t] = token
            if t % COMPACT_EVERY_TOKENS == COMPACT_EVERY_TOKENS - 1:
                kept = (written[alive, : t + 1] != end).all(1).nonzero().squeeze(1)
                if len(kept) == 0:
                    break
                if len(kept) < len(alive):
                    cache.batch_select_indices(kept)
                    alive, mask, position, token = alive[kept], mask[kept], position[kept], token[kept]
            if t == self.max_tokens - 1:
                break
            mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
            logits = self._logits(token[:, None], mask, position, cache)
            position = position + 1
        return [row[: row.index(end)] if end in row else row for row in written.tolist()]

    def _logits(self, ids: Any, mask: Any, position: Any, cache: Any) -> Any:
        """Logits of the next token, shape (rows, vocabulary), in float32."""
        output = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=position,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[:, -1].float()

    def _choose(self, logits: Any, generator: Any) -> Any:
        """One token a row: the best one, or a draw from the smallest set that holds `top_p` of the mass."""
        import torch

        if self.temperature == 0:
            return logits.argmax(-1)
        values, order = (logits / self.temperature).softmax(-1).sort(-1, descending=True)
        values = values.masked_fill(values.cumsum(-1) - values >= self.top_p, 0.0)
        return order.gather(1, torch.multinomial(values, 1, generator=generator)).squeeze(1)
