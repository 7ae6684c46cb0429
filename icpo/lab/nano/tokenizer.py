"""Builds nano's tokenizer: byte-level BPE, single digits, one token for each paragraph of the prompts."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from icpo.types import Prompt

END = "<|end|>"
PAD = "<|pad|>"
MIN_PHRASE_CHARACTERS = 8
# A word takes the mark before it, and the blank or brace before a number: ", times " and "boxed{" are one.
WORDS = r"\d|[,.]? ?[A-Za-z]+(?:[ {](?=\d))?| ?[^A-Za-z\d\s]+(?: (?=\d))?|\n+|\s"


def fixed_phrases(prompts: Iterable[Prompt], fillings: Sequence[str]) -> tuple[str, ...]:
    """The paragraphs that stand in every prompt, whatever is filled in.

    `fillings` are the texts that were filled in, which end a paragraph as a blank line does. Paragraphs of
    fewer than eight characters are left to the BPE.
    """
    phrases: dict[str, None] = {}
    for prompt in prompts:
        text = prompt.raw
        for filling in fillings:
            text = text.replace(filling, "\n\n")
        phrases.update((p, None) for p in text.split("\n\n") if len(p) >= MIN_PHRASE_CHARACTERS)
    return tuple(phrases)


def build_tokenizer(texts: Iterable[str], phrases: Sequence[str], vocabulary_size: int) -> Any:
    """A PreTrainedTokenizerFast of at most `vocabulary_size` tokens, trained on `texts`."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size - len(phrases),
        special_tokens=[PAD, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(p, normalized=False) for p in phrases])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        model_max_length=4096,
        clean_up_tokenization_spaces=False,
    )


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Writes the files that `AutoTokenizer.from_pretrained(folder)` reads, in transformers 4 and 5."""
    tokenizer.save_pretrained(str(folder))
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    kept = ("clean_up_tokenization_spaces", "eos_token", "model_max_length", "pad_token")
    config = {key: config[key] for key in kept} | {"tokenizer_class": "PreTrainedTokenizerFast"}
    file.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
