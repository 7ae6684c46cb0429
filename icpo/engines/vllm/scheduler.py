"""vLLM's scheduler, changed to start new samples together."""

from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler

from icpo.engines.vllm.arguments import BURST


class BurstScheduler(AsyncScheduler):  # type: ignore[misc]
    """Starts samples only when many places are free.

    Several then start in one step. With long-tailed answers one or two samples end at each step. Were each
    place filled at once, nearly every step would read a prompt, and such steps replay no CUDA graph made for
    decoding.
    """

    def schedule(self, *arguments: Any, **options: Any) -> Any:
        """The next step's work."""
        name = "max_num_active_reqs" if hasattr(self, "max_num_active_reqs") else "max_num_running_reqs"
        num_places, num_running = getattr(self, name), len(self.running)
        burst = min(self.vllm_config.additional_config.get(BURST, 1), num_places)
        if num_running > 0 and num_places - num_running < burst:
            setattr(self, name, num_running)
        try:
            return super().schedule(*arguments, **options)
        finally:
            setattr(self, name, num_places)
