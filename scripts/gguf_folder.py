"""Convert a GGUF file of a Llama model with a GPT-2 tokenizer into a Hugging Face folder.

Usage: python gguf_folder.py FILE.gguf FOLDER    (needs gguf, tokenizers and safetensors)
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

CONTROL_TOKEN = 3  # token_type of GGUF
NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ENDS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}


def main(source: str, target: str) -> None:
    """Write configuration, tokenizer and weights (float16) of the file `source` into the folder `target`."""
    reader = GGUFReader(source)
    values = {name: field.contents() for name, field in reader.fields.items()}
    if values["general.architecture"] != "llama" or values["tokenizer.ggml.model"] != "gpt2":
        sys.exit(
            f"{source} has architecture {values['general.architecture']} and tokenizer "
            f"{values['tokenizer.ggml.model']}; only llama with gpt2 can be converted."
        )
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    config = model_config(values)
    weights = {hf_name(t.name): tensor(t, config) for t in reader.tensors}
    config["tie_word_embeddings"] = "lm_head.weight" not in weights
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", {k: config[k] for k in ("bos_token_id", "eos_token_id")})
    make_tokenizer(values).save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", tokenizer_config(values))


def model_config(values: dict[str, Any]) -> dict[str, Any]:
    """The keys of config.json that a Llama model needs."""
    heads = values["llama.attention.head_count"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": values["llama.vocab_size"],
        "hidden_size": values["llama.embedding_length"],
        "intermediate_size": values["llama.feed_forward_length"],
        "num_hidden_layers": values["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": values["llama.attention.head_count_kv"],
        "head_dim": values["llama.embedding_length"] // heads,
        "max_position_embeddings": values["llama.context_length"],
        "rms_norm_eps": round(values["llama.attention.layer_norm_rms_epsilon"], 9),
        "rope_theta": values["llama.rope.freq_base"],
        "hidden_act": "silu",
        "bos_token_id": values["tokenizer.ggml.bos_token_id"],
        "eos_token_id": values["tokenizer.ggml.eos_token_id"],
        "torch_dtype": "bfloat16",
    }


def hf_name(name: str) -> str:
    """The Hugging Face name of a tensor: blk.3.attn_q is model.layers.3.self_attn.q_proj."""
    parts = name.removesuffix(".weight").split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{NAMES[parts[2]]}.weight"
    return f"{ENDS[parts[0]]}.weight"


def tensor(stored: Any, config: dict[str, Any]) -> NDArray[np.float16]:
    """The dequantised weights, shape (out, in); rows of q and k in the order of Hugging Face."""
    weights = dequantize(stored.data, stored.tensor_type).reshape(stored.shape[::-1].tolist())
    if stored.name.endswith(("attn_q.weight", "attn_k.weight")):
        kind = "num_attention_heads" if "attn_q" in stored.name else "num_key_value_heads"
        weights = halves_of_heads(weights, config[kind])
    return np.ascontiguousarray(weights.astype(np.float16))


def halves_of_heads(weights: NDArray[Any], num_heads: int) -> NDArray[Any]:
    """Undo GGUF's order: it interleaves the two halves of each head, which rotary embeddings pair."""
    rows, columns = weights.shape
    pairs = weights.reshape(num_heads, rows // num_heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def make_tokenizer(values: dict[str, Any]) -> Tokenizer:
    """Byte-level BPE that splits numbers into digits, as the pre-tokenizer `smollm` does."""
    if values["tokenizer.ggml.pre"] != "smollm":
        sys.exit(f"pre-tokenizer {values['tokenizer.ggml.pre']}: only smollm can be converted.")
    tokens = values["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in values["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    types = values["tokenizer.ggml.token_type"]
    special = [t for t, kind in zip(tokens, types, strict=True) if kind == CONTROL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in special])
    return tokenizer


def tokenizer_config(values: dict[str, Any]) -> dict[str, Any]:
    """The keys of tokenizer_config.json; another class than this one drops spaces when it decodes."""
    tokens = values["tokenizer.ggml.tokens"]
    named = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": values["llama.context_length"],
        "chat_template": values["tokenizer.chat_template"],
        **{f"{key}_token": tokens[values[f"tokenizer.ggml.{name}_token_id"]] for key, name in named.items()},
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write readable JSON."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
