"""What went wrong inside vLLM, and how to fix it."""

from typing import TYPE_CHECKING

from icpo.engines.vllm.log import VllmLog
from icpo.errors import EngineError

if TYPE_CHECKING:
    from icpo.backbones import Backbone

OUT_OF_MEMORY = (
    "out of memory",
    "no available memory for the cache blocks",
    "kv cache is needed, which is larger than",
    "is less than desired gpu memory utilization",
)
UNSUPPORTED = (
    "are not supported for now",
    "is not supported by vllm",
    "has no vllm implementation",
    "does not recognize this architecture",
)
TOO_LONG = ("is greater than the derived max_model_len",)
FOREIGN_CODE = ("trust_remote_code", "trust-remote-code")


def failed_start(
    error: BaseException, backbone: "Backbone", max_context_tokens: int, log: VllmLog
) -> EngineError:
    """Why the engine did not start, by its log."""
    said = str(error)

    def found(marks: tuple[str, ...]) -> str | None:
        own = next((line for line in said.splitlines() if any(m in line.lower() for m in marks)), None)
        return own or log.find(*marks)

    if line := found(OUT_OF_MEMORY):
        return EngineError(
            f"backbone={backbone.name} does not fit: with a context of {max_context_tokens} tokens on "
            f"{backbone.tensor_parallel} GPU(s) it is planned for {backbone.gpu_memory_gb:g} GB. "
            "Use a larger GPU, raise backbone.tensor_parallel, lower the context, or end what else uses it. "
            f"vLLM said: {line.strip()}"
        )
    if line := found(TOO_LONG):
        return EngineError(
            f"backbone={backbone.name} was not made for a context of {max_context_tokens} tokens. "
            f"Lower backbone.max_context_tokens or protocol.max_context_tokens. vLLM said: {line.strip()}"
        )
    if line := found(UNSUPPORTED):
        return EngineError(
            f"backbone={backbone.name}: this vLLM does not know its architecture. Upgrade vllm, or use "
            f"engine=transformers. vLLM said: {line.strip()}"
        )
    if line := found(FOREIGN_CODE):
        return EngineError(
            f"backbone={backbone.name} brings code of its own, which is not run unless asked for by name: "
            f"engine.trusted_code=[{backbone.model_id}]. vLLM said: {line.strip()}"
        )
    return EngineError(
        f"engine=vllm did not start with backbone={backbone.name}: {said or type(error).__name__}\n"
        f"{log.tail()}"
    )


def died(error: BaseException, log: VllmLog) -> EngineError:
    """The engine's process ended while requests were in flight."""
    return EngineError(
        "vLLM's engine died; what was finished is stored, and the same command goes on from there. "
        f"({type(error).__name__}: {error})\n{log.tail()}"
    )
