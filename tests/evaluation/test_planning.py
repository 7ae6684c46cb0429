"""What a cell needs at most, for every method."""

from dataclasses import dataclass, replace

import pytest
from hydra import compose, initialize_config_dir

from icpo.config import build, config_source
from icpo.errors import BenchmarkError, ConfigError
from icpo.evaluation.planning import cell_need, missing_weights, plan_of


def job(*overrides):
    with initialize_config_dir(config_dir=config_source(), version_base="1.3"):
        return build(compose("config", overrides=["+exp=quickstart", "benchmark.limit=10", *overrides]).job)


@pytest.mark.parametrize(
    ("overrides", "num_sequences"),
    [
        (["method=direct"], 16),
        (["method=me_icpo"], 2 * (8 + 8 + 64) + 16),
        (["method=me_icpo", "selector=random"], 2 * (8 + 8) + 16),
        (["method=self_consistency", "budget.num_samples=4"], 16 * 4),
        (["method=majority_hint"], 16 + 16),
        (["method=repeated_error"], 16 + 1 + 16),
        (["method=foreign"], 2 * (8 + 8 + 64) + 16 + 16),
    ],
)
def test_sequences_of_a_question(overrides, num_sequences):
    made = job("seeds=[0,1]", *overrides)
    assert cell_need(made).num_sequences == 10 * 2 * num_sequences


def test_every_prompt_of_a_search_may_fill_the_context():
    need = cell_need(job("method=mctsr"))
    assert need.num_requests == need.num_sequences
    assert need.prompt_tokens == need.num_requests * 4096


@pytest.mark.parametrize("method", ["best_of_n", "tot_self_eval", "tot_majority"])
def test_the_rivals_have_a_plan_too(method):
    made = job(f"method={method}")
    need, rates = plan_of(made)
    assert need == cell_need(made) and need.num_sequences > 0 and rates == made.rates


def test_how_many_questions_must_be_known():
    with pytest.raises(ConfigError, match=r"how many questions arith_l1 has. Set benchmark.limit"):
        cell_need(job("benchmark.limit=null", "benchmark.expected_count=null"))


def test_the_rows_of_a_file_are_counted_where_nothing_else_tells(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f'{{"problem": "p", "answer": "{i}", "level": {i % 2}}}\n' for i in range(5)))
    own = [
        "benchmark=_file", "benchmark.name=own", "benchmark.kind=number", f"benchmark.path={path}",
        "benchmark.limit=null", "seeds=[0]", "method=direct",
    ]  # fmt: skip
    assert cell_need(job(*own)).num_sequences == 5 * 16
    assert cell_need(job(*own, "benchmark.level=1")).num_sequences == 2 * 16
    path.unlink()
    assert cell_need(job(*own, "benchmark.limit=3")).num_sequences == 3 * 16
    with pytest.raises(BenchmarkError, match=r"no file .*own\.jsonl"):
        cell_need(job(*own))


@dataclass(frozen=True)
class Unbounded:
    name = label = "mine"
    solve = None


def test_a_method_without_a_bound_is_told_what_to_add():
    with pytest.raises(ConfigError, match=r"method=mine draws. Give Unbounded a property `max_sequences`"):
        cell_need(replace(job(), method=Unbounded()))


def test_a_job_that_asks_no_model_has_no_need():
    with pytest.raises(ConfigError, match="this one asks none"):
        plan_of(object())


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_weights_that_are_not_here_are_missing_to_an_engine_that_loads_them(engine):
    gone = ["backbone.model_id=/no/such/folder", f"engine={engine}"]
    assert "there is no folder /no/such/folder" in missing_weights(job(*gone))
    assert missing_weights(job(f"engine={engine}")) is None
    assert missing_weights(job(gone[0], "engine=openai")) is None
    assert missing_weights(object()) is None
