"""Settings of `openai`: any server that speaks the OpenAI API."""

import os
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from icpo.backbones import Backbone
from icpo.backbones.backbone import PACKAGED
from icpo.engines.api import wire
from icpo.engines.api.engine import OpenAIEngine
from icpo.engines.api.spending import Spend
from icpo.errors import EngineError
from icpo.types.validated import validated

SECRET_HEADER = re.compile(r"(?i)key|token|secret|auth|password|cookie")


@validated
class OpenAISettings:
    """How a server is reached; `start` opens it for a backbone.

    `base_url` is one address, or several of servers of the same model. `api_key_env` names the environment
    variable that holds the key (None: the server wants none); a header whose value begins with $ is read from
    the environment too. `supports_n` and `supports_seed` say whether a request may name them; without n, each
    sample is a call, and with `max_n` a request for more samples is split. `supports_extras` allows
    min_tokens, repetition_penalty, top_k and min_p, which vLLM's server adds to the API.
    `template_options_field` is where the backbone's template options go in a request (None: at its top).
    Budgets (None: without limit) count this process; prices are in dollars per million tokens.
    """

    name: str
    base_url: str | Annotated[tuple[str, ...], Field(min_length=1)]
    api_key_env: str | None
    headers: Mapping[str, str]
    max_concurrency: PositiveInt
    requests_per_minute: PositiveFloat | None
    timeout_seconds: PositiveFloat
    max_retries: NonNegativeInt
    first_wait_seconds: PositiveFloat
    max_wait_seconds: PositiveFloat
    supports_n: bool
    max_n: PositiveInt | None
    supports_seed: bool
    supports_extras: bool
    stream: bool
    template_options_field: str | None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"]
    max_requests: PositiveInt | None
    max_tokens: PositiveInt | None
    max_cost: PositiveFloat | None
    prompt_price: NonNegativeFloat | None
    completion_price: NonNegativeFloat | None

    def __post_init__(self) -> None:
        for url in self.urls:
            if not wire.is_web_address(url):
                raise ValueError(
                    f"base_url must begin with http:// or https:// and name a host, got {url!r}. "
                    "Write e.g. http://127.0.0.1:8000/v1"
                )
        for name, value in self.headers.items():
            if SECRET_HEADER.search(name) and not value.startswith("$"):
                raise ValueError(
                    f"headers: {name} looks like a secret, and settings are stored. Put its value into an "
                    f"environment variable, and write engine.headers.{name}='$VARIABLE'."
                )
        if self.max_cost is not None and (self.prompt_price is None or self.completion_price is None):
            raise ValueError("max_cost needs prompt_price and completion_price (dollars per million tokens)")

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses."""
        return (self.base_url,) if isinstance(self.base_url, str) else self.base_url

    @property
    def samples_per_call(self) -> int | None:
        """The most samples of one call; None without a limit."""
        return self.max_n if self.supports_n else 1

    def preflight(self) -> None:
        """Raises EngineError without the package, key or support for proxies."""
        self.client(load_openai(), self.urls[0])

    def start(self, backbone: Backbone, *, max_context_tokens: int) -> OpenAIEngine:
        """An engine for `backbone`. Raises EngineError for packaged weights."""
        if backbone.model_id.startswith(PACKAGED):
            raise EngineError(
                f"engine=openai asks a server for a model by its name, but backbone={backbone.name} "
                f"({backbone.model_id}) is a part of this package. Choose engine=transformers, or another "
                "backbone, or give the server's name of the model as backbone.model_id=NAME."
            )
        return OpenAIEngine(load_openai(), self, backbone, max_context_tokens)

    def client(self, openai: ModuleType, url: str) -> Any:
        """A client for one address. Raises EngineError for an unusable proxy."""
        try:
            return openai.AsyncOpenAI(
                api_key=self.key(),
                base_url=url,
                timeout=self.timeout_seconds,
                max_retries=0,
                default_headers=self.environment_headers(),
            )
        except ImportError as error:  # httpx says so of socks5:// in ALL_PROXY and the like
            raise EngineError(
                "engine=openai would go through the SOCKS proxy that ALL_PROXY or HTTPS_PROXY names, which "
                "needs one more package: pip install socksio. Or unset the variable."
            ) from error

    def key(self) -> str:
        """The key from the environment. Raises EngineError without one."""
        if self.api_key_env is None:
            return "none"  # the package insists on one
        return _from_environment(self.api_key_env, f"the key of {self.urls[0]}", "engine.api_key_env")

    def environment_headers(self) -> dict[str, str]:
        """The headers, with `$NAME` read from the environment."""
        return {
            name: _from_environment(value[1:], f"the header {name}", f"engine.headers.{name}")
            if value.startswith("$")
            else value
            for name, value in self.headers.items()
        }

    def secrets(self) -> list[str]:
        """Secrets: the key, and headers read from the environment."""
        headers = self.environment_headers()
        hidden = [headers[name] for name, value in self.headers.items() if value.startswith("$")]
        return hidden + ([] if self.api_key_env is None else [self.key()])

    def spend(self, num_prompt: int, num_completion: int) -> Spend:
        """One reply of so many tokens; free where no prices are given."""
        cost = (self.prompt_price or 0) * num_prompt + (self.completion_price or 0) * num_completion
        return Spend(1, num_prompt, num_completion, cost / 1e6)


def _from_environment(variable: str, what: str, setting: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise EngineError(
            f"engine=openai reads {what} from the environment variable {variable}, which is not set. "
            f"Export it, name another with {setting}=NAME, or set {setting}=null for a server without."
        )
    return value


def load_openai() -> ModuleType:
    """The `openai` module, imported only when it is needed."""
    try:
        import openai
    except ImportError as error:
        raise EngineError(
            "engine=openai needs the openai package. Install it with pip install 'icpo[openai]'."
        ) from error
    return openai
