"""What metrics.json says of a cell's settings."""

from typing import TYPE_CHECKING, Any

from icpo.benchmarks import LoadedBenchmark

if TYPE_CHECKING:
    from icpo.evaluation.evaluation import Evaluation


def facts_of(job: "Evaluation", loaded: LoadedBenchmark) -> dict[str, Any]:
    """The facts; None or 0 where the method has no such thing."""
    method = job.method
    reward, selector = getattr(method, "reward", None), getattr(method, "selector", None)
    return {
        "arm": job.arm,
        "title": job.title,
        "backbone": job.backbone.name,
        "benchmark": job.benchmark.name,
        "method": method.name,
        "label": method.label,
        "reward": None if reward is None else reward.name,
        "selector": None if selector is None else selector.name,
        "protocol": job.protocol.name,
        "prompt": getattr(method, "prompt", None),
        "num_rounds": getattr(method, "num_rounds", 0),
        "num_candidates": getattr(method, "num_candidates", 0),
        "num_lookaheads": getattr(method, "num_lookaheads", 0),
        "engine": job.engine.name,
        "benchmark_digest": loaded.digest,
        "benchmark_revision": loaded.revision,
    }
