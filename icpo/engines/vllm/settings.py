"""Settings of the vLLM engine, and how it is brought up."""

import importlib
import importlib.util
import os
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, PositiveInt

from icpo.engines.sources import locate
from icpo.engines.tokenizers import load_tokenizer
from icpo.engines.vllm.arguments import engine_arguments, is_cpu_build
from icpo.errors import EngineError
from icpo.types.validated import validated

if TYPE_CHECKING:
    from icpo.backbones import Backbone
    from icpo.engines.vllm.engine import VllmEngine

THROUGHPUT_OPTIONS = ("compilation_config", "async_scheduling", "load_format")


@validated
class Vllm:
    """Settings of the vLLM engine.

    `admission_burst` above 1 starts new samples only when so many can start together, since steps that read
    prompts are slower than others. `max_num_batched_tokens` bounds the tokens of one step.
    `in_process` runs the engine core in this process, which tests want: one engine, then no other.
    `batch_invariant` asks for kernels whose results do not depend on the batch, at about twice the time.
    Models in `trusted_code` may run their own code.
    `options` are further arguments of vLLM's EngineArgs, by name.
    """

    name: str
    max_num_seqs: PositiveInt
    admission_burst: PositiveInt
    max_num_batched_tokens: PositiveInt
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)]
    enforce_eager: bool
    in_process: bool
    batch_invariant: bool
    trusted_code: tuple[str, ...]
    options: Mapping[str, Any]
    loads_weights: ClassVar[bool] = True
    """A backbone's folder is read: a cell then belongs to its contents."""

    def preflight(self) -> None:
        """Raises EngineError if vLLM, or the GPU it needs, is missing."""
        if importlib.util.find_spec("vllm") is None:
            raise EngineError(
                "engine=vllm needs the vllm package. Install it with pip install 'icpo[vllm]' on a GPU "
                "machine, or choose engine=transformers or engine=openai."
            )
        import torch

        if not is_cpu_build() and not torch.cuda.is_available():
            raise EngineError(
                "engine=vllm sees no GPU here. Run it on a GPU machine, choose engine=transformers, "
                "or make an environment with vLLM for CPUs (make venv-vllm)."
            )

    def start(self, backbone: "Backbone", *, max_context_tokens: int) -> "VllmEngine":
        """Loads the backbone; prompt and completion together have at most `max_context_tokens`."""
        self.preflight()
        _check_devices(backbone)
        source = locate(backbone)
        tokenizer = load_tokenizer(source, backbone)
        vllm = self._load()
        from icpo.engines.vllm.engine import VllmEngine

        arguments = engine_arguments(self, source.folder, backbone, max_context_tokens)
        return VllmEngine(self, backbone, source, tokenizer, vllm, arguments, max_context_tokens)

    def identity(self, version: str, revision: str, backbone: "Backbone", max_context_tokens: int) -> str:
        """All that determines a completion's distribution, except its request."""
        kept = {k: v for k, v in sorted(self.options.items()) if k not in THROUGHPUT_OPTIONS}
        return (
            f"vllm-{version} {revision} {backbone.dtype} context={max_context_tokens} "
            f"template={backbone.chat_template.value}{dict(backbone.template_options) or ''}"
            f"{backbone.without_system_role} "
            f"batch_invariant={self.batch_invariant} {kept or ''}".rstrip()
        )

    def _load(self) -> ModuleType:
        """The vllm module, its environment variables set by these settings."""
        from icpo.engines.vllm.log import process_log
        from icpo.engines.vllm.worker import OWNER

        process_log()
        os.environ[OWNER] = str(os.getpid())
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0" if self.in_process else "1"
        os.environ["VLLM_BATCH_INVARIANT"] = "1" if self.batch_invariant else "0"
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        importlib.import_module("vllm.envs").disable_envs_cache()  # else an earlier engine's variables stay
        return importlib.import_module("vllm")


def _check_devices(backbone: "Backbone") -> None:
    import torch

    if not is_cpu_build() and torch.cuda.device_count() < backbone.tensor_parallel:
        raise EngineError(
            f"backbone.tensor_parallel={backbone.tensor_parallel}, but this process sees "
            f"{torch.cuda.device_count()} GPU(s). Lower it, or show more (CUDA_VISIBLE_DEVICES)."
        )
