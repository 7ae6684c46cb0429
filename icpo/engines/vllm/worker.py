"""What runs inside vLLM's engine core and worker processes on our behalf."""

import os
import select
import signal
import threading
from contextlib import suppress
from typing import Any

OWNER = "ICPO_ENGINE_OWNER"


def follow(owner: int) -> None:
    """Ends the engine core when the owning process ends.

    A run that was killed outright cannot end its engine, which would wait on and hold its GPU.
    """
    core = os.getppid()
    with suppress(ProcessLookupError):
        poll = select.poll()
        poll.register(os.pidfd_open(owner), select.POLLIN)
        poll.poll()
    if core != owner:
        os.kill(core, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


if OWNER in os.environ and int(os.environ[OWNER]) != os.getpid():
    threading.Thread(target=follow, args=(int(os.environ[OWNER]),), daemon=True).start()


def run_engine_core(*arguments: Any, **options: Any) -> None:
    """The engine core's main function, followed from its start."""
    from vllm.v1.engine.core import EngineCoreProc

    EngineCoreProc.run_engine_core(*arguments, **options)


class WorkerExtension:
    """Methods that vLLM adds to its workers, called with `collective_rpc` by name."""

    model_runner: Any

    def icpo_weight_bytes(self) -> int:
        """Size of this worker's share of the weights."""
        return sum(p.numel() * p.element_size() for p in self.model_runner.get_model().parameters())

    def icpo_randomise_weights(self, scale: float) -> None:
        """Replaces dummy weights: vLLM's are so small that every output is uniform."""
        import torch

        torch.manual_seed(0)
        with torch.no_grad():
            for name, weight in self.model_runner.get_model().named_parameters():
                if weight.dim() > 1:
                    weight.normal_(std=scale)
                else:
                    weight.fill_(1.0 if "norm" in name else 0.0)
