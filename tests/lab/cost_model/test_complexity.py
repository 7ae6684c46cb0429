from dataclasses import replace

import pytest

from icpo.lab.cost_model import complexity
from icpo.lab.cost_model.complexity import QWEN_7B, ModelShape, Workload

UNIT = ModelShape(num_layers=1, width=1, num_parameters=10.0, key_width=1)
PAPER = Workload(
    num_rounds=5,
    num_candidates=16,
    num_lookaheads=16,
    prompt_tokens=300,
    answer_tokens=800,
    appended_tokens=800,
)


def test_primitive_costs_by_hand():
    shape = ModelShape(num_layers=2, width=3, num_parameters=0, key_width=3)
    assert complexity.forward_cost(shape, 5) == 2 * (25 * 3 + 5 * 9)
    assert complexity.decode_cost(shape, 5, 4) == 2 * ((20 + 16) * 3 + 4 * 9)
    assert complexity.score_cost(shape, 5, 4) == 2 * (9 * 3 + 9)


def test_one_round_by_hand():
    work = Workload(1, 2, 3, prompt_tokens=5, answer_tokens=4, appended_tokens=1)
    prefill, decode, score = 25 + 5, (20 + 16) + 4, 9 + 1
    assert complexity.me_icpo_time(UNIT, work, full_lookaheads=False) == prefill + 2 * decode + 2 * score
    scored = (36 + 6) + 3 * ((24 + 16) + 4)
    assert complexity.me_icpo_time(UNIT, work, full_lookaheads=True) == prefill + 2 * decode + 2 * scored


def test_second_round_reads_what_the_first_appended():
    work = Workload(2, 0, 0, prompt_tokens=5, answer_tokens=4, appended_tokens=2)
    assert complexity.me_icpo_time(UNIT, work, full_lookaheads=False) == (25 + 5) + (49 + 7)


@pytest.mark.parametrize(("k", "power"), [(1, 3.0), (10**7, 2.0)])
def test_the_exact_sum_grows_like_the_theorem_says_in_both_regimes(k, power):
    narrow = replace(QWEN_7B, width=1)  # the terms in L d alone, where the two regimes show
    low, high = (replace(PAPER, num_candidates=k, num_rounds=n, prompt_tokens=1) for n in (4000, 8000))
    growth = complexity.me_icpo_time(narrow, high, full_lookaheads=False) / complexity.me_icpo_time(
        narrow, low, full_lookaheads=False
    )
    assert growth == pytest.approx(2**power, rel=0.02)


def test_look_aheads_drawn_as_answers_cost_far_more_than_the_theorem_counts():
    priced = complexity.me_icpo_time(QWEN_7B, PAPER, full_lookaheads=False)
    drawn = complexity.me_icpo_time(QWEN_7B, PAPER, full_lookaheads=True)
    assert 10 < drawn / priced < 30


def test_ttrl_time_by_hand():
    work = Workload(3, 2, 0, prompt_tokens=5, answer_tokens=4, appended_tokens=4)
    by_hand = 3 * ((25 + 5) + 2 * ((20 + 16) + 4) + 7 * 2 * (1 + 2.5) * (81 + 9))
    assert complexity.ttrl_time(UNIT, work, num_steps=7, backward_ratio=2.5) == by_hand


def test_memory_by_hand():
    work = Workload(3, 2, 0, prompt_tokens=5, answer_tokens=4, appended_tokens=2)
    assert complexity.me_icpo_bytes(UNIT, work, num_concurrent=2) == 20 + 2 * 4 * 11
    assert complexity.ttrl_bytes(UNIT, work, batch=3) == 80 + 3 * 4 * 9


def test_time_threshold_is_where_the_leading_terms_cross():
    many = replace(PAPER, num_candidates=16)
    threshold = complexity.time_threshold(many, num_steps=1, backward_ratio=2.0)
    assert threshold == pytest.approx(3 * (1100 / 800) ** 2)
    few = replace(PAPER, num_candidates=4)
    assert complexity.time_threshold(few, num_steps=1, backward_ratio=2.0) == pytest.approx(
        1100 / 800 * 12**0.5
    )


def test_memory_threshold_is_where_the_memories_cross():
    threshold = complexity.memory_threshold(QWEN_7B, PAPER, batch=8, num_concurrent=16)
    at = replace(PAPER, num_rounds=threshold)
    ours = complexity.me_icpo_bytes(QWEN_7B, at, num_concurrent=16)
    assert ours == pytest.approx(complexity.ttrl_bytes(QWEN_7B, PAPER, batch=8))
