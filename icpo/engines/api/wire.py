"""What goes over the wire to an OpenAI-compatible server; pure functions."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from icpo.backbones import Backbone, ChatTemplate
from icpo.engines.api.replies import Json
from icpo.engines.tokenizers import messages
from icpo.types import SampleRequest, Sampling

if TYPE_CHECKING:
    from icpo.engines.api.settings import OpenAISettings

EXTRAS = {"min_tokens": 0, "repetition_penalty": 1, "top_k": None, "min_p": None}  # with their neutral values


def address(base_url: str) -> str:
    """A server's name: host, port and path, without credentials."""
    parts = urlsplit(base_url)
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path.rstrip('/')}"


def is_web_address(base_url: str) -> bool:
    """Whether a URL has a host and a usable scheme."""
    parts = urlsplit(base_url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def needed_extras(sampling: Sampling) -> list[str]:
    """Settings in use that the plain API lacks."""
    return [name for name, neutral in EXTRAS.items() if getattr(sampling, name) != neutral]


def body(
    request: SampleRequest,
    backbone: Backbone,
    settings: "OpenAISettings",
    *,
    num_samples: int,
    first: int,
    max_tokens: int,
) -> Json:
    """One call for samples from `first` on, with `max_tokens` each."""
    is_chat = backbone.chat_template is ChatTemplate.OWN
    fields: Json = {"model": backbone.model_id, settings.max_tokens_field: max_tokens}
    if is_chat:
        fields["messages"] = messages(backbone, request.prompt)
    else:
        fields["prompt"] = request.prompt.raw
    fields |= sampling_fields(request.sampling, with_extras=settings.supports_extras)
    if num_samples > 1:
        fields["n"] = num_samples
    if settings.supports_seed:
        fields["seed"] = (request.seed + first) % 2**31
    if settings.stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    options: Json = dict(backbone.template_options) if is_chat else {}
    if options and settings.template_options_field:
        options = {settings.template_options_field: options}
    return fields | options


def sampling_fields(sampling: Sampling, *, with_extras: bool) -> Json:
    """Sampling fields of the API, without the number of tokens.

    Fields that are null are left out. With extras each of them is sent: a server would fill it from the
    model's own settings.
    """
    fields: Json = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.stop:
        fields["stop"] = list(sampling.stop)
    if with_extras:
        fields |= {"min_tokens": sampling.min_tokens, "repetition_penalty": sampling.repetition_penalty}
        fields |= {"top_k": sampling.top_k or -1, "min_p": sampling.min_p or 0.0}
    return {name: value for name, value in fields.items() if value is not None}


def prompt_text(fields: Json) -> str:
    """The text of a call's prompt, without its template."""
    if "prompt" in fields:
        return str(fields["prompt"])
    return "\n".join(message["content"] for message in fields["messages"])
