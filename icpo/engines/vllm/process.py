"""vLLM's engine core and worker processes: brought up, watched and ended."""

import gc
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import wait
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icpo.engines.vllm.failures import failed_start
from icpo.engines.vllm.gpu_memory import GIGABYTE, used_gb
from icpo.engines.vllm.log import process_log
from icpo.engines.vllm.worker import run_engine_core
from icpo.errors import EngineError

if TYPE_CHECKING:
    from icpo.backbones import Backbone

log = logging.getLogger(__name__)

CLOSE_SECONDS = 60.0
FREED_SLACK_GB = 1.0
WATCH_SECONDS = 1.0
DUMMY_SCALE = 0.02

_in_process_started = False


class _Watch:
    """A stat logger of vLLM's: the peak of the cache, preemptions, steps and how long they took.

    A step reads if a sample starts in it, and is shared if others run on; it takes what passed at the engine
    core from one token of theirs to the next.
    """

    def __init__(self) -> None:
        self.peak_cache_use = 0.0
        self.num_preemptions = 0
        self.num_steps = self.num_reading_steps = self.num_shared_reading_steps = 0
        self.decoding_seconds = self.shared_reading_seconds = 0.0

    def record(self, scheduler_stats: Any = None, iteration_stats: Any = None, **_: Any) -> None:
        """Takes note of one step."""
        if scheduler_stats is not None:
            self.peak_cache_use = max(self.peak_cache_use, scheduler_stats.kv_cache_usage)
        if iteration_stats is None:
            return
        self.num_preemptions += iteration_stats.num_preempted_reqs
        self.num_steps += 1
        seconds = min(iteration_stats.inter_token_latencies_iter, default=0.0)
        if iteration_stats.num_prompt_tokens > 0:
            self.num_reading_steps += 1
            self.num_shared_reading_steps += seconds > 0
            self.shared_reading_seconds += seconds
        else:
            self.decoding_seconds += seconds

    def log(self) -> None:
        """Nothing is logged."""

    def log_engine_initialized(self) -> None:
        """Nothing is logged."""

    def record_sleep_state(self, *_: Any) -> None:
        """The engine never sleeps."""


class VllmProcess:
    """A running LLMEngine and what is known of it."""

    def __init__(
        self, vllm: ModuleType, arguments: Mapping[str, Any], backbone: "Backbone", *, in_process: bool
    ) -> None:
        if in_process:
            _claim_this_process()
        elif os.environ.get("VLLM_WORKER_MULTIPROC_METHOD") == "spawn":
            _let_core_follow()
        from vllm.engine.arg_utils import EngineArgs
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError
        from vllm.v1.engine.llm_engine import LLMEngine

        self._num_gpus, self._version = backbone.tensor_parallel, vllm.__version__
        self._free_level_gb = used_gb(self._num_gpus)
        self._watch, self._num_seen_preemptions = _Watch(), 0
        self.deadly = (EngineDeadError, EngineGenerateError, RuntimeError)
        before = multiprocessing.active_children()
        try:
            engine_arguments = EngineArgs(**arguments)
        except TypeError as error:
            raise EngineError(
                f"engine.options names what vLLM {self._version} does not know: {error}. "
                f"Given: {', '.join(arguments)}."
            ) from error
        own_errors = (vllm.exceptions.VLLMError,) if hasattr(vllm.exceptions, "VLLMError") else ()
        try:
            self.engine = LLMEngine.from_engine_args(engine_arguments, stat_loggers=[lambda *_: self._watch])
        except (RuntimeError, ValueError, OSError, *own_errors) as error:
            raise failed_start(error, backbone, arguments["max_model_len"], process_log()) from error
        self._children = [p for p in multiprocessing.active_children() if p not in before]
        self._is_closing = False
        if not in_process:
            threading.Thread(target=self._watch_children, args=(EngineDeadError(),), daemon=True).start()
        cache = self.engine.vllm_config.cache_config
        self._block_tokens, self._num_blocks = cache.block_size, cache.num_gpu_blocks
        if arguments.get("load_format") == "dummy":
            self.engine.collective_rpc("icpo_randomise_weights", args=(DUMMY_SCALE,))
        self._weight_gb = sum(self.engine.collective_rpc("icpo_weight_bytes")) / GIGABYTE
        self._peak_gb, self._watched_at = used_gb(self._num_gpus), time.monotonic()

    @property
    def num_cache_tokens(self) -> int:
        """How many tokens the cache holds."""
        return int(self._block_tokens * self._num_blocks)

    def step(self) -> list[Any]:
        """Waits for vLLM's next step; what it reports."""
        if self._peak_gb is not None and time.monotonic() - self._watched_at > WATCH_SECONDS:
            self._peak_gb = max(self._peak_gb, used_gb(self._num_gpus) or 0)
            self._watched_at = time.monotonic()
        outputs: list[Any] = self.engine.step()
        return outputs

    def new_preemptions(self) -> int:
        """How many samples were preempted since the last call."""
        new = self._watch.num_preemptions - self._num_seen_preemptions
        self._num_seen_preemptions += new
        return new

    def accounting(self) -> dict[str, Any]:
        """What it runs on and the most memory it had."""
        from vllm.platforms import current_platform

        config = self.engine.vllm_config
        model, parallel = config.model_config, config.parallel_config
        bytes_of_token = (
            2
            * model.get_num_layers(parallel)
            * model.get_num_kv_heads(parallel)
            * model.get_head_size()
            * model.dtype.itemsize
            * parallel.tensor_parallel_size
        )
        peak_blocks = round(self._watch.peak_cache_use * self._num_blocks)
        return {
            "engine": f"vllm {self._version}",
            "dtype": str(model.dtype).removeprefix("torch."),
            "card": current_platform.get_device_name(),
            "num_gpus": self._num_gpus,
            "weights_gb": self._weight_gb,
            "cache_blocks": self._num_blocks,
            "cache_block_tokens": self._block_tokens,
            "peak_cache_blocks": peak_blocks,
            "peak_cache_gb": peak_blocks * self._block_tokens * bytes_of_token / GIGABYTE,
            "peak_devices_gb": self._peak_gb,
            **{name: value for name, value in vars(self._watch).items() if name != "peak_cache_use"},
        }

    def forget_peaks(self) -> None:
        """Reset the peak of the cache."""
        self._watch.peak_cache_use = 0.0

    def _watch_children(self, news: Exception) -> None:
        """Wakes up who waits for an engine whose process was killed: vLLM itself would wait forever."""
        wait([process.sentinel for process in self._children])
        if not self._is_closing:
            self.engine.engine_core.outputs_queue.put_nowait(news)

    def close(self) -> None:
        """Ends the processes and waits until the GPUs' memory is free again."""
        self._is_closing = True
        self.engine.engine_core.shutdown()
        gc.collect()
        for process in self._children:
            process.join(CLOSE_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()
        deadline = time.monotonic() + CLOSE_SECONDS
        while self._free_level_gb is not None:
            held_gb = (used_gb(self._num_gpus) or 0) - self._free_level_gb
            if held_gb <= FREED_SLACK_GB:
                return
            if time.monotonic() > deadline:
                log.warning("%.1f GB more GPU memory is in use than before the engine started", held_gb)
                return
            time.sleep(0.5)


def _let_core_follow() -> None:
    """Has the spawned engine core begin in our module, whose import makes it end with this process."""
    from vllm.v1.engine.core import EngineCoreProc

    EngineCoreProc.run_engine_core = staticmethod(run_engine_core)


def _claim_this_process() -> None:
    """Refuses a second engine: what vLLM sets up in a process cannot be set up again."""
    global _in_process_started
    if _in_process_started:
        raise EngineError(
            "engine.in_process=true allows one engine in a process, and one was started already. "
            "Set engine.in_process=false to go from one backbone to the next."
        )
    _in_process_started = True
