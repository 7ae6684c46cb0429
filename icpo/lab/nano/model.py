"""nano's architecture: a small LlamaForCausalLM with few key-value heads, cheap to sample from on a CPU."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icpo.lab.nano.tokenizer import END, PAD

MAX_CONTEXT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of the model; the head size is `width / num_heads` and must be 32 or 64, which vLLM takes."""

    width: int
    num_layers: int
    num_heads: int
    num_key_value_heads: int
    hidden_width: int

    def __post_init__(self) -> None:
        if self.width % self.num_heads or self.width // self.num_heads not in (32, 64):
            raise ValueError(f"width / num_heads must be 32 or 64, got {self.width} / {self.num_heads}")

    def build(self, tokenizer: Any, seed: int) -> Any:
        """A LlamaForCausalLM with random weights from `seed`; output and input embeddings are tied."""
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=self.width,
            intermediate_size=self.hidden_width,
            num_hidden_layers=self.num_layers,
            num_attention_heads=self.num_heads,
            num_key_value_heads=self.num_key_value_heads,
            head_dim=self.width // self.num_heads,
            max_position_embeddings=MAX_CONTEXT_TOKENS,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.token_to_id(END),
            pad_token_id=tokenizer.token_to_id(PAD),
            attn_implementation="sdpa",
        )
        return LlamaForCausalLM(config)


def save_model(model: Any, folder: Path) -> None:
    """Writes weights in float32, config and generation config, as AutoModel and vLLM read them."""
    model.float().save_pretrained(str(folder))
    (folder / "model.safetensors").chmod(0o644)
