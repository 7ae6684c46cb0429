"""A model's shape for timings: configuration and tokenizer."""

import json
from itertools import product
from pathlib import Path
from shutil import copyfile
from string import ascii_lowercase

from icpo.errors import ConfigError

SPACE = "Ġ"  # as byte-level tokenizers write it
END = "<|endoftext|>"  # inside the vocabulary: vLLM masks its place among the logits


def has_weights(folder: Path) -> bool:
    """Whether a folder holds a model's weights."""
    return any(folder.glob("*.safetensors"))


def write_shape(source: Path, folder: Path) -> None:
    """Copy config.json, and write a tokenizer of bytes and words.

    " ab" to " zz" are one token each. The other tokens, up to the size of the vocabulary, are read nowhere
    and written as words of their own. Raises ConfigError where the vocabulary is too small for that.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    copyfile(source / "config.json", folder / "config.json")
    size = json.loads((folder / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    pairs = [(first, second) for first, second in product(ascii_lowercase, repeat=2)]
    merges = [*pairs, *((SPACE, first + second) for first, second in pairs)]
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(left + right for left, right in merges)]
    if size <= len(tokens):
        raise ConfigError(
            f"{source} has a vocabulary of {size} tokens, but a shape for timings needs {len(tokens) + 1}. "
            "Choose a larger model as backbone."
        )
    tokens += [*(f"{SPACE}w{i}" for i in range(len(tokens), size - 1)), END]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END).save_pretrained(folder)
