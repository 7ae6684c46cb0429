"""The Backbone value: a model and how it is prompted."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from icpo.types.validated import validated

PACKAGED = "icpo:"


class ChatTemplate(str, Enum):
    """How prompts are sent: raw (`none`) or in the model's template (`own`)."""

    NONE = "none"
    OWN = "own"


def _pairs(options: Any) -> Any:
    """A mapping of options as pairs, which can be compared and hashed."""
    return (
        tuple((str(key), value) for key, value in options.items())
        if isinstance(options, Mapping)
        else options
    )


@validated
class Backbone:
    """A language model, as an engine loads or calls it.

    `model_id` is a hub id, a folder, or `icpo:NAME` for weights shipped in this package. `revision` is a
    commit; None takes what the hub serves, and the commit resolved goes into the manifest.
    `max_context_tokens` counts prompt and completion together. What precedes `reasoning_end` in a
    completion is not read. `template_options` go to the chat template (thinking switches); `gpu_memory_gb` is
    what weights and a useful cache need. For models whose thoughts count, `max_answer_tokens` replaces the
    protocol's limit of answers, and `thinking_tokens` are added to the limit of whatever is to be short: a
    summary, a verdict, a step of a tree. A run warns of a limit of answers below `min_answer_tokens`.
    Without `system_role` the system text goes before the user's.
    """

    name: str
    model_id: str
    revision: str | None
    max_context_tokens: Annotated[int, Field(ge=2)]
    dtype: Literal["auto", "float32", "bfloat16", "float16"]
    chat_template: ChatTemplate
    tensor_parallel: PositiveInt
    reasoning_end: str | None
    gpu_memory_gb: NonNegativeFloat
    template_options: Annotated[tuple[tuple[str, Any], ...], BeforeValidator(_pairs)]
    max_answer_tokens: PositiveInt | None
    thinking_tokens: NonNegativeInt
    system_role: bool
    min_answer_tokens: NonNegativeInt = 1024

    @property
    def location(self) -> str:
        """What a loader opens: the packaged folder's path or the model id."""
        if self.model_id.startswith(PACKAGED):
            return str(Path(__file__).parent / self.model_id.removeprefix(PACKAGED))
        return self.model_id

    @property
    def without_system_role(self) -> str:
        """Part of an engine's identity for models without a system role."""
        return "" if self.system_role else " system_role=false"

    @property
    def is_local(self) -> bool:
        """Whether the weights are in a folder of this machine."""
        return Path(self.location).is_dir()
