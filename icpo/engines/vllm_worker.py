"""What runs inside vLLM's worker processes on our behalf."""

from typing import Any


class WorkerExtension:
    """Methods that vLLM adds to its workers, called with `collective_rpc` by name."""

    model_runner: Any

    def icpo_weight_bytes(self) -> int:
        """Size of this worker's share of the weights."""
        return sum(p.numel() * p.element_size() for p in self.model_runner.get_model().parameters())

    def icpo_randomise_weights(self, scale: float) -> None:
        """Draws dummy weights anew: vLLM's are so small that every output is uniform."""
        import torch

        torch.manual_seed(0)
        with torch.no_grad():
            for name, weight in self.model_runner.get_model().named_parameters():
                if weight.dim() > 1:
                    weight.normal_(std=scale)
                else:
                    weight.fill_(1.0 if "norm" in name else 0.0)
