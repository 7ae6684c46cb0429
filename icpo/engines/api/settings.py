"""Engine `openai`: any server that speaks the OpenAI API (Gemini's endpoint, vLLM's server, OpenAI's own)."""

import os
from dataclasses import dataclass
from types import ModuleType

from icpo.backbones import Backbone
from icpo.backbones.backbone import PACKAGED
from icpo.engines.api import wire
from icpo.engines.api.engine import OpenAIEngine
from icpo.engines.api.spending import Spend
from icpo.errors import EngineError


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """How a server is reached; `start` opens it for a backbone.

    `api_key_env` names the environment variable that holds the key (None: the server wants none).
    `supports_n` and `supports_seed` tell whether a request may name them; without n, each sample is a call.
    `supports_extras` allows min_tokens and repetition_penalty, which vLLM's server adds to the API.
    `template_options_field` is where the backbone's template options go in a request (None: at its top).
    `max_tokens_field` is the API's name for the answer budget. Budgets (None: without limit) count this
    process; prices are in dollars per million tokens.
    """

    name: str
    base_url: str
    api_key_env: str | None
    max_concurrency: int
    timeout_seconds: float
    max_retries: int
    first_wait_seconds: float
    max_wait_seconds: float
    supports_n: bool
    supports_seed: bool
    supports_extras: bool
    template_options_field: str | None
    max_tokens_field: str
    max_requests: int | None
    max_tokens: int | None
    max_cost: float | None
    prompt_price: float | None
    completion_price: float | None

    def __post_init__(self) -> None:
        if not wire.is_web_address(self.base_url):
            raise ValueError(
                f"base_url must begin with http:// or https:// and name a host, got {self.base_url!r}. "
                "Write e.g. http://127.0.0.1:8000/v1"
            )
        for name in ("max_concurrency", "timeout_seconds", "first_wait_seconds", "max_wait_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.max_retries < 0:
            raise ValueError(f"max_retries must be at least 0, got {self.max_retries}")
        if self.max_cost is not None and (self.prompt_price is None or self.completion_price is None):
            raise ValueError("max_cost needs prompt_price and completion_price (dollars per million tokens)")

    def preflight(self) -> None:
        """Raises EngineError when the package or the key is missing; asks nothing of the server."""
        load_openai()
        self.key()

    def start(self, backbone: Backbone, *, max_context_tokens: int) -> OpenAIEngine:
        """An engine for `backbone`. Raises EngineError for weights of this package: no server has them."""
        if backbone.model_id.startswith(PACKAGED):
            raise EngineError(
                f"engine=openai asks a server for a model by its name, but backbone={backbone.name} "
                f"({backbone.model_id}) is a part of this package. Choose engine=transformers, or another "
                "backbone, or give the server's name of the model as backbone.model_id=NAME."
            )
        return OpenAIEngine(load_openai(), self, backbone, max_context_tokens)

    def key(self) -> str:
        """The key, from the environment alone. Raises EngineError when it is not there."""
        if self.api_key_env is None:
            return "none"  # the package insists on one
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise EngineError(
                f"engine=openai reads the key of {self.base_url} from the environment variable "
                f"{self.api_key_env}, which is not set. Export it, name another with "
                "engine.api_key_env=NAME, or set engine.api_key_env=null for a server that wants none."
            )
        return key

    def spend(self, num_prompt: int, num_completion: int) -> Spend:
        """One reply of so many tokens; free where no prices are given."""
        cost = (self.prompt_price or 0) * num_prompt + (self.completion_price or 0) * num_completion
        return Spend(1, num_prompt, num_completion, cost / 1e6)


def load_openai() -> ModuleType:
    """The `openai` module, imported here alone so that all else runs without it."""
    try:
        import openai
    except ImportError as error:
        raise EngineError(
            "engine=openai needs the openai package. Install it with pip install 'icpo[openai]'."
        ) from error
    return openai
