import pytest

from icpo.evaluation import budget
from icpo.evaluation.budget import Draws, Need, Rates, need_of
from icpo.types import Purpose

MAX_TOKENS = dict.fromkeys(Purpose, 1000) | {Purpose.SUMMARY: 100}


def me_icpo(**changes):
    settings = dict(
        num_rounds=2,
        num_candidates=3,
        num_lookaheads=4,
        num_finals=5,
        finals_after=(2,),
        num_kept=1,
        num_instalments=1,
        question_tokens=50,
        max_tokens=MAX_TOKENS,
    )
    return budget.me_icpo_draws(**settings | changes)


def rates_of(**known):
    """Rates of which the others are unknown."""
    return Rates(**(dict.fromkeys(Rates.__slots__) | known))


def test_direct_is_one_request_for_its_finals():
    draws = budget.direct_draws(num_finals=16, question_tokens=50)
    assert need_of(draws, MAX_TOKENS, context_tokens=4096) == Need(1, 16, 50, 16_000)


def test_me_icpo_counts_every_draw_of_algorithm_1():
    need = need_of(me_icpo(), MAX_TOKENS, context_tokens=4096)
    assert need.num_requests == 2 * (1 + 3 + 3) + 1
    assert need.num_sequences == 2 * (3 + 3 + 3 * 4) + 5
    assert need.generated_tokens == 2 * (3 * 1000 + 3 * 100 + 12 * 1000) + 5 * 1000
    idea = 100 + budget.TAG_TOKENS
    rounds = sum(p + 3 * (1000 + budget.SUMMARY_PROMPT_TOKENS) + 3 * (p + idea) for p in (50, 50 + idea))
    assert need.prompt_tokens == rounds + 50 + 2 * idea


def test_selectors_that_draw_no_look_aheads_need_fewer():
    need = need_of(me_icpo(num_lookaheads=0), MAX_TOKENS, context_tokens=4096)
    assert need.num_requests == 2 * (1 + 3) + 1 and need.num_sequences == 2 * (3 + 3) + 5


def test_instalments_cost_requests_and_no_sequences():
    at_once = need_of(me_icpo(), MAX_TOKENS, context_tokens=4096)
    split = need_of(me_icpo(num_instalments=2), MAX_TOKENS, context_tokens=4096)
    assert split.num_requests == at_once.num_requests + 2 * 3
    assert (split.num_sequences, split.generated_tokens) == (at_once.num_sequences, at_once.generated_tokens)


def test_one_run_of_n_rounds_serves_every_smaller_n():
    alone = [
        need_of(me_icpo(num_rounds=n, finals_after=(n,)), MAX_TOKENS, context_tokens=4096) for n in (1, 2, 3)
    ]
    shared = need_of(me_icpo(num_rounds=3, finals_after=(1, 2, 3)), MAX_TOKENS, context_tokens=4096)
    assert shared.generated_tokens == alone[2].generated_tokens + 2 * 5 * 1000
    assert shared.generated_tokens < sum(need.generated_tokens for need in alone)


def test_no_prompt_and_no_sample_exceeds_the_context():
    need = need_of([Draws(Purpose.FINAL, 1, 2, 10_000)], MAX_TOKENS, context_tokens=300)
    assert need == Need(1, 2, 300, 600)


def test_without_n_each_sequence_pays_for_its_prompt():
    draws = budget.direct_draws(num_finals=16, question_tokens=50)
    need = need_of(draws, MAX_TOKENS, context_tokens=4096, supports_n=False)
    assert (need.num_requests, need.prompt_tokens, need.generated_tokens) == (16, 800, 16_000)


def test_needs_add_up_and_multiply():
    assert Need(1, 2, 3, 4).times(10) + Need(1, 1, 1, 1) == Need(11, 21, 31, 41)


def test_hours_and_dollars_follow_the_rates():
    need = Need(1, 1, 2_000_000, 7_200_000)
    rates = rates_of(num_gpus=2, tokens_per_second=1000.0, gpu_hour_price=3.0)
    assert rates.gpu_hours(need) == pytest.approx(4.0)
    assert rates.dollars(need) == pytest.approx(12.0)
    api = rates_of(num_gpus=1, tokens_per_second=1000.0, prompt_price=1.25, completion_price=10.0)
    assert api.gpu_hours(need) is None and api.dollars(need) == pytest.approx(2.5 + 72.0)
    assert rates_of().gpu_hours(need) is rates_of().dollars(need) is None


def test_a_description_says_what_is_known_and_nothing_else():
    need = Need(1234, 5678, 2_000_000, 7_200_000)
    assert budget.describe("cell", need, rates_of()) == (
        "cell: at most 1,234 requests, 5,678 sequences, 2.0M prompt tokens, 7.2M generated tokens"
    )
    text = budget.describe("cell", need, rates_of(num_gpus=2, tokens_per_second=1000.0, gpu_hour_price=3.0))
    assert text.endswith("4.0 GPU hours at 1,000 tokens/s on 2 GPUs, 12.00 dollars")
    text = budget.describe("cell", need, rates_of(num_gpus=1, tokens_per_second=1000.0))
    assert text.endswith("2.0 GPU hours at 1,000 tokens/s on 1 GPU")


def test_the_total_of_a_run_is_told_where_every_cell_s_is_known():
    need = Need(1, 2, 3_000_000, 3_600_000)
    one, two = (rates_of(num_gpus=n, tokens_per_second=1000.0, gpu_hour_price=2.0) for n in (1, 2))
    assert budget.describe_total([(need, one), (need, two)]) == (
        "all 2 cells: at most 2 requests, 4 sequences, 6.0M prompt tokens, 7.2M generated tokens, "
        "3.0 GPU hours, 6.00 dollars"
    )
    assert budget.describe_total([(need, one), (need, rates_of())]).endswith("7.2M generated tokens")
