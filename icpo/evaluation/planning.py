"""What a cell needs at most, before anything is drawn: the dry run."""

from icpo.engines.local.transformers import Transformers
from icpo.engines.sources import absence
from icpo.engines.vllm.settings import Vllm
from icpo.errors import ConfigError
from icpo.evaluation.budget import Draws, Need, Rates, direct_draws, me_icpo_draws, need_of
from icpo.evaluation.evaluation import Evaluation
from icpo.methods import Direct, MeIcpo
from icpo.selectors import EntropyRacing, KeepAll
from icpo.types import Bounded, Purpose


def cell_need(job: Evaluation) -> Need:
    """The need of all questions and seeds.

    Raises ConfigError where draws are not known beforehand, BenchmarkError for a file that cannot be counted.
    """
    num_questions = job.benchmark.num_questions()
    if num_questions is None:
        raise ConfigError(
            f"dry_run cannot tell how many questions {job.benchmark.name} has. Set benchmark.limit or "
            "benchmark.expected_count."
        )
    limits = _limits(job)
    one = need_of(
        _draws(job, limits),
        limits,
        context_tokens=job.context_tokens,
        supports_n=getattr(job.engine, "supports_n", True),
    )
    return one.times(num_questions * len(job.seeds))


def _limits(job: Evaluation) -> dict[Purpose, int]:
    return {purpose: one.max_tokens for purpose, one in job.sampling().items()}


def _draws(job: Evaluation, max_tokens: dict[Purpose, int]) -> list[Draws]:
    method = job.method
    question_tokens = job.question_tokens
    if isinstance(method, Direct):
        return direct_draws(num_finals=method.budget.num_finals, question_tokens=question_tokens)
    if isinstance(method, MeIcpo):
        selector = method.selector
        stages = selector.stages(method.num_lookaheads) if isinstance(selector, EntropyRacing) else (1,)
        return me_icpo_draws(
            num_rounds=method.num_rounds,
            num_candidates=method.num_candidates,
            num_lookaheads=method.num_lookaheads if selector.needs_lookaheads else 0,
            num_finals=method.budget.num_finals,
            finals_after=method.finals_after or (),
            num_kept=method.num_candidates if isinstance(selector, KeepAll) else 1,
            num_instalments=len(stages),
            question_tokens=question_tokens,
            max_tokens=max_tokens,
        )
    if not isinstance(method, Bounded):
        raise ConfigError(
            f"dry_run cannot tell what method={method.name} draws. Give {type(method).__name__} a property "
            "`max_sequences`: the most completions that a question may take."
        )
    # A search draws as it goes: no more than that each completion is a request with a prompt that fits.
    return [Draws(Purpose.CANDIDATE, method.max_sequences, method.max_sequences, job.context_tokens)]


def plan_of(job: object) -> tuple[Need, Rates]:
    """What a cell needs, and its rates. Raises ConfigError for jobs that ask no language model."""
    if not isinstance(job, Evaluation):
        raise ConfigError("dry_run speaks of presets that ask a language model; this one asks none.")
    return cell_need(job), job.rates


def missing_weights(job: object) -> str | None:
    """What a dry run warns of: weights that are not here and that the engine would load; else None."""
    if isinstance(job, Evaluation) and isinstance(job.engine, Transformers | Vllm):
        return absence(job.backbone)
    return None
