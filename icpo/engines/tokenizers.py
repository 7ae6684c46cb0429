"""Tokenizers: checks, prompts to tokens, and end-of-turn tokens."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icpo.engines.sources import Source
from icpo.errors import EngineError
from icpo.types import Prompt

if TYPE_CHECKING:
    from icpo.backbones import Backbone

log = logging.getLogger(__name__)

SENTENCE = "the sum of 12 and 30 is 42."
SYSTEM_SENTENCE = "reason step by step."
Message = dict[str, str]


def load_tokenizer(source: Source, backbone: "Backbone") -> Any:
    """The tokenizer of a backbone.

    Raises EngineError where none loads, where a sentence does not survive it, and where the chat template
    that the backbone asks for is missing or loses text.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source.folder)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"backbone={backbone.name}: no tokenizer could be loaded from {source.folder}: {error}"
        ) from error
    _check_sentence(tokenizer, backbone, source.folder)
    if backbone.chat_template.value == "own":
        _check_template(tokenizer, backbone)
    return tokenizer


def tokenize(tokenizer: Any, backbone: "Backbone", prompt: Prompt) -> tuple[int, ...]:
    """The tokens of a prompt, raw or in the chat template."""
    if backbone.chat_template.value == "none":
        return tuple(tokenizer(prompt.raw)["input_ids"])
    return tokenize_text(tokenizer, _rendered(tokenizer, backbone, prompt))


def tokenize_text(tokenizer: Any, text: str) -> tuple[int, ...]:
    """The tokens of a text that follows others."""
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def messages(backbone: "Backbone", prompt: Prompt) -> list[Message]:
    """The prompt as chat messages; an empty system text is left out.

    For a model without a system role the system text goes before the user's.
    """
    if not backbone.system_role:
        return [{"role": "user", "content": prompt.raw}]
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, {"role": "user", "content": prompt.user}]


def end_tokens(
    tokenizer: Any, backbone: "Backbone", generation_ends: int | Sequence[int] | None
) -> list[int]:
    """Ids that end an answer, sorted, from configuration and tokenizer.

    Warns where they differ, since one of the files may be wrong, and where there are none.
    """
    given = [generation_ends] if isinstance(generation_ends, int) else list(generation_ends or ())
    own = tokenizer.eos_token_id
    if not given and own is None:
        log.warning(
            "backbone=%s names no end-of-turn token: every answer runs to its limit. Set eos_token_id in its "
            "generation_config.json.",
            backbone.name,
        )
    elif given and own is not None and own not in given:
        log.warning(
            "backbone=%s: the tokenizer ends a turn with token %d, generation_config with %s; all of them "
            "end an answer.",
            backbone.name,
            own,
            given,
        )
    return sorted({*given, *([] if own is None else [own])})


def generation_ends(folder: Path) -> int | Sequence[int] | None:
    """End-of-turn ids of generation_config.json or config.json; None without them."""
    for name in ("generation_config.json", "config.json"):
        path = folder / name
        ends = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id") if path.is_file() else None
        if isinstance(ends, int | list):
            return ends
    return None


def _rendered(tokenizer: Any, backbone: "Backbone", prompt: Prompt) -> str:
    """The prompt in the chat template. Raises EngineError where the template refuses it."""
    from jinja2 import TemplateError

    try:
        return str(
            tokenizer.apply_chat_template(
                messages(backbone, prompt),
                tokenize=False,
                add_generation_prompt=True,
                **dict(backbone.template_options),
            )
        )
    except TemplateError as error:
        raise EngineError(
            f"backbone={backbone.name}: its chat template refuses the prompt: {error}. If it knows no system "
            "role, set backbone.system_role=false; the system text then goes before the user's."
        ) from error


def _check_sentence(tokenizer: Any, backbone: "Backbone", folder: Path) -> None:
    ids = tokenizer(SENTENCE, add_special_tokens=False)["input_ids"]
    back = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    if back.strip().lower() != SENTENCE:
        raise EngineError(
            f"backbone={backbone.name}: its tokenizer ({type(tokenizer).__name__}) turns {SENTENCE!r} into "
            f"{back!r}, so that its answers could not be read. Check tokenizer_class in "
            f"{folder / 'tokenizer_config.json'}."
        )


def _check_template(tokenizer: Any, backbone: "Backbone") -> None:
    if not tokenizer.chat_template:
        raise EngineError(
            f"backbone={backbone.name}: its tokenizer has no chat template. "
            "Set backbone.chat_template=none to send prompts raw."
        )
    text = _rendered(tokenizer, backbone, Prompt(SYSTEM_SENTENCE, SENTENCE))
    if SENTENCE not in text:
        raise EngineError(
            f"backbone={backbone.name}: the chat template of its tokenizer ({type(tokenizer).__name__}) "
            "drops the user's text. Give the model's own template, or set backbone.chat_template=none."
        )
    if SYSTEM_SENTENCE not in text:
        raise EngineError(
            f"backbone={backbone.name}: its chat template drops the system text. "
            "Set backbone.system_role=false; the system text then goes before the user's."
        )
    if backbone.reasoning_end is not None and text.rstrip().endswith(backbone.reasoning_end):
        raise EngineError(
            f"backbone={backbone.name}: its chat template closes the thoughts itself, so that "
            f"no answer would hold {backbone.reasoning_end!r} and none would be read. Set "
            "backbone.reasoning_end=null."
        )
    if "strftime_now" in str(tokenizer.chat_template) and "date_string" not in dict(
        backbone.template_options
    ):
        log.warning(
            "backbone=%s: its chat template inserts today's date, so that a run repeats on one day "
            "only. Pin it, e.g. with backbone.template_options.date_string='26 Jul 2024'.",
            backbone.name,
        )
