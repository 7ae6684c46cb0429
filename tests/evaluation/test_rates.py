import pytest

from icpo.evaluation.rates import Need, Rates, describe, describe_total


def rates_of(**known):
    """Rates of which the others are unknown."""
    return Rates(**(dict.fromkeys(Rates.__slots__) | known))


def test_needs_add_up_and_multiply():
    assert Need(1, 2, 3, 4).times(10) + Need(1, 1, 1, 1) == Need(11, 21, 31, 41)


def test_the_greater_of_each_count_is_taken():
    assert Need(1, 9, 3, 8).or_more(Need(2, 4, 6, 8)) == Need(2, 9, 6, 8)


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
    assert describe("cell", need, rates_of()) == (
        "cell: at most 1,234 requests, 5,678 sequences, 2.0M prompt tokens, 7.2M generated tokens"
    )
    text = describe("cell", need, rates_of(num_gpus=2, tokens_per_second=1000.0, gpu_hour_price=3.0))
    assert text.endswith("4.0 GPU hours at 1,000 tokens/s on 2 GPUs, 12.00 dollars")
    text = describe("cell", need, rates_of(num_gpus=1, tokens_per_second=1000.0))
    assert text.endswith("2.0 GPU hours at 1,000 tokens/s on 1 GPU")


def test_the_total_of_a_run_is_told_where_every_cell_s_is_known():
    need = Need(1, 2, 3_000_000, 3_600_000)
    one, two = (rates_of(num_gpus=n, tokens_per_second=1000.0, gpu_hour_price=2.0) for n in (1, 2))
    assert describe_total([(need, one), (need, two)]) == (
        "all 2 cells: at most 2 requests, 4 sequences, 6.0M prompt tokens, 7.2M generated tokens, "
        "3.0 GPU hours, 6.00 dollars"
    )
    assert describe_total([(need, one), (need, rates_of())]).endswith("7.2M generated tokens")
