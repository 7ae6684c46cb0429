"""The Backbone value: which model is asked, and how it is spoken to."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

PACKAGED = "icpo:"


class ChatTemplate(str, Enum):
    """`none` sends prompts raw, as the paper does with base models; `own` applies the model's template."""

    NONE = "none"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Backbone:
    """A language model as an engine is told of it.

    `model_id` is a hub id, a folder, or `icpo:NAME` for weights shipped in this package. `revision` is a
    commit; None takes what the hub serves, and the commit resolved goes into the manifest.
    `max_context_tokens` counts prompt and completion together. What stands before `reasoning_end` in a
    completion is not read. `template_options` go to the chat template (thinking switches); `gpu_memory_gb` is
    what weights and a useful cache need. For models whose thoughts count, `max_answer_tokens` replaces the
    protocol's limit of answers, and `thinking_tokens` are added to the limit of whatever is to be short: a
    summary, a verdict, a step of a tree.
    """

    name: str
    model_id: str
    revision: str | None
    max_context_tokens: int
    dtype: str
    chat_template: ChatTemplate
    tensor_parallel: int
    reasoning_end: str | None
    gpu_memory_gb: float
    template_options: tuple[tuple[str, Any], ...]
    max_answer_tokens: int | None
    thinking_tokens: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "chat_template", ChatTemplate(self.chat_template))
        options = self.template_options
        pairs = options.items() if isinstance(options, dict) else options
        object.__setattr__(self, "template_options", tuple((str(k), v) for k, v in pairs))
        if self.max_context_tokens < 2:
            raise ValueError(f"max_context_tokens must be at least 2, got {self.max_context_tokens}")
        if self.thinking_tokens < 0:
            raise ValueError(f"thinking_tokens must be at least 0, got {self.thinking_tokens}")
        if self.max_answer_tokens is not None and self.max_answer_tokens < 1:
            raise ValueError(f"max_answer_tokens must be null or at least 1, got {self.max_answer_tokens}")
        if self.tensor_parallel < 1:
            raise ValueError(f"tensor_parallel must be at least 1, got {self.tensor_parallel}")
        if self.dtype not in ("auto", "float32", "bfloat16", "float16"):
            raise ValueError(f"dtype must be auto, float32, bfloat16 or float16, got {self.dtype!r}")

    @property
    def location(self) -> str:
        """What a loader is given: the packaged folder's path, or the model id as it stands."""
        if self.model_id.startswith(PACKAGED):
            return str(Path(__file__).parent / self.model_id.removeprefix(PACKAGED))
        return self.model_id

    @property
    def is_local(self) -> bool:
        """Whether the weights lie in a folder of this machine."""
        return Path(self.location).is_dir()
