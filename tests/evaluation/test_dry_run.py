"""What a cell needs at most, for every method."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from icpo.config import build
from icpo.errors import BenchmarkError, ConfigError, EngineError
from icpo.evaluation.dry_run import cell_need, mark, needs_of, num_tokens, play
from icpo.evaluation.rates import Need
from icpo.grading import Grader
from icpo.methods import drive
from icpo.methods.contracts import start
from icpo.types import AnswerKind, Purpose, Question
from tests.composing import composed


def job(*overrides, preset="+exp=quickstart"):
    given = [preset] if preset else []
    return build(composed(*given, "benchmark.limit=10", *overrides).job)


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


def test_a_limit_above_the_benchmarks_size_counts_the_questions_there_are():
    aime = ("method=direct", "backbone=qwen7b", "benchmark=aime2024", "+exp=main_table")
    above, none = (job(*aime, f"benchmark.limit={limit}", preset=None) for limit in (60, "null"))
    assert cell_need(above).num_sequences == cell_need(none).num_sequences == 30 * len(none.seeds) * 16


def test_the_paper_s_budget_is_counted_by_hand():
    """n = 5 rounds of 1 + k + k requests and k + k + k m samples with k = m = 16; 16 final samples."""
    made = job("+exp=main_table", "method=me_icpo", "backbone=qwen7b", "benchmark=math_l2", preset=None)
    need = play(made, refuses=False).need
    assert (need.num_requests, need.num_sequences) == (5 * (1 + 16 + 16) + 1, 5 * (16 + 16 + 16 * 16) + 16)
    assert (need.num_requests, need.num_sequences) == (166, 1456)
    limits = {purpose: one.max_tokens for purpose, one in made.sampling().items()}
    long, short = limits[Purpose.CANDIDATE], limits[Purpose.SUMMARY]
    looks = 5 * 16 * 16 * limits[Purpose.LOOKAHEAD]
    assert need.generated_tokens == 5 * 16 * (long + short) + looks + 16 * limits[Purpose.FINAL]


def test_prompts_hold_the_attempts_kept_so_far():
    """With one more round the last prompt is longer by a whole summary and its answer."""
    shape = ("method=me_icpo", "selector=random")
    made = job(*shape)
    before, after = (play(job(*shape, f"budget.num_rounds={n}"), refuses=False).need for n in (1, 2))
    limits = made.sampling()
    summary = limits[Purpose.SUMMARY].max_tokens + made.protocol.lookahead.answer_tokens
    requests = 8 * limits[Purpose.CANDIDATE].max_tokens + 2 * made.question_tokens
    assert after.prompt_tokens - before.prompt_tokens > requests + summary


SMALL = [
    "budget.num_rounds=2",
    "budget.num_candidates=3",
    "budget.num_lookaheads=3",
    "budget.num_finals=2",
]
METHODS = [
    ["method=direct"],
    ["method=me_icpo"],
    ["method=me_icpo", "selector=none"],
    ["method=me_icpo", "selector=random", "reward=none"],
    ["method=me_icpo", "selector=entropy_racing", "reward=oracle"],
    ["method=majority_hint"],
    ["method=repeated_error"],
    ["method=foreign"],
    ["method=self_consistency", "budget.num_samples=3"],
    ["method=best_of_n", "budget.num_samples=3"],
    ["method=mctsr", "method.num_rollouts=2"],
    ["method=tot_self_eval", "method.depth=2"],
    ["method=tot_majority", "method.depth=2"],
]


@pytest.fixture(scope="module", params=[4096, 400])
def engine(request):
    """nano with so large a context."""
    made = job()
    engine = made.engine.start(made.backbone, max_context_tokens=request.param)
    yield request.param, engine
    engine.close()


@pytest.mark.parametrize("overrides", METHODS, ids=" ".join)
def test_a_real_run_needs_no_more_than_the_dry_run_says(overrides, engine):
    """With 400 tokens, histories do not fit: prompts are refused, and requested again without an attempt."""
    context_tokens, engine = engine
    made = job(*overrides, *SMALL, f"protocol.max_context_tokens={context_tokens}")
    questions = made.benchmark.load().questions[:2]
    with Grader(made.protocol.grading) as grader:
        tools = made.toolkit(grader)
        method = made.prepared_method(questions, lambda question, answer: len(answer) == 2)
        runs = [start(method, question, tools, seed=0) for question in questions]
        used = [result.usage for result in drive(runs, engine, max_in_flight=2)]
    most = play(made, refuses=False).need.or_more(play(made, refuses=True).need)
    for usage in used:
        assert usage.num_requests <= most.num_requests
        assert usage.num_sequences <= most.num_sequences
        assert 0 < usage.prompt_tokens <= most.prompt_tokens
        assert 0 < usage.generated_tokens <= most.generated_tokens


def test_without_n_each_sequence_pays_for_its_prompt():
    made = job("method=direct")
    need = play(made, refuses=False).need
    alone = play(replace(made, engine=WithoutN()), refuses=False).need
    assert alone == Need(16, 16, 16 * need.prompt_tokens, need.generated_tokens)


@dataclass(frozen=True)
class WithoutN:
    name = "server"
    samples_per_call = 1
    preflight = start = None


@pytest.mark.parametrize("method", ["best_of_n", "tot_self_eval", "tot_majority"])
def test_the_baselines_have_a_plan_too(method):
    need = cell_need(job(f"method={method}"))
    [line] = needs_of({"cell": job(f"method={method}")})
    assert need.num_sequences > 0 and f"cell: at most {need.num_requests:,} requests" in line


def test_a_quoted_answer_counts_as_long_as_it_may_be():
    needs = [cell_need(job("method=me_icpo", f"protocol.lookahead.answer_tokens={n}")) for n in (1, 50)]
    assert needs[1].prompt_tokens > needs[0].prompt_tokens


def test_how_many_questions_must_be_known():
    with pytest.raises(ConfigError, match=r"arith_l1.*benchmark\.limit"):
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
    assert cell_need(job(*own, "benchmark.limit=3")).num_sequences == 3 * 16
    path.unlink()
    with pytest.raises(BenchmarkError, match=r"own\.jsonl"):
        cell_need(job(*own))


def test_a_job_that_is_no_evaluation_has_no_estimate():
    with pytest.raises(ConfigError, match="no estimate for cell, a object; it covers job=evaluation"):
        list(needs_of({"cell": object()}))


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_weights_that_are_not_here_are_missing_to_an_engine_that_loads_them(engine):
    gone = ["backbone.model_id=/no/such/folder", f"engine={engine}"]
    said = list(needs_of({"one": job(*gone), "two": job(*gone)}))
    assert [line.partition(":")[0] for line in said] == ["one", "warning", "two", "all 2 cells"]
    assert "/no/such/folder" in said[1]
    for present in (job(f"engine={engine}"), job(gone[0], "engine=openai")):
        assert len(list(needs_of({"cell": present}))) == 1


def test_a_prompt_counts_no_less_than_its_words_and_a_quoted_sample_its_length():
    made = job("method=me_icpo")
    question = Question("q", "How many are 12 apples and 7 pears?", AnswerKind.NUMBER)
    for prompt in (made.prompts.plain(question), made.prompts.solve(question, ())):
        assert num_tokens(prompt) >= len(re.findall(r"\w+|[^\w\s]", prompt.raw))
    short, long = (num_tokens(made.prompts.summary(question, mark(3, n))) for n in (1, 501))
    assert long - short == 500


@pytest.mark.parametrize(
    ("settings", "warns"),
    [
        ([], False),
        (["backbone=qwen7b"], True),
        (["backbone=qwen7b", "protocol=paper"], False),
        (["backbone=qwen3_0_6b"], False),  # its own limit replaces the protocol's
        (["backbone=qwen7b", "backbone.min_answer_tokens=100"], False),
    ],
)
def test_a_limit_below_what_a_backbone_needs_is_warned_of_once(settings, warns, caplog):
    made = job(*settings)
    said = "\n".join(needs_of({"a": made, "b": made}))
    for _ in range(2):
        with suppress(EngineError):  # no GPU here
            made.preflight()
    logged = [record.getMessage() for record in caplog.records if "will be cut" in record.getMessage()]
    assert (said.count("qwen7b will be cut"), len(logged)) == (int(warns), int(warns))
    assert all("160 tokens" in one for one in logged)
