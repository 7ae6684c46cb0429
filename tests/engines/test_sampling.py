import numpy as np
import pytest
import torch

from icpo.engines.local.sampling import Randomness, RowSettings, sample_tokens
from tests.sampling import sampling_of

NO_END = torch.tensor([], dtype=torch.long)


def settings(sampling, rows, prompt=(0,), vocabulary=4):
    return RowSettings.of([sampling] * rows, [prompt] * rows, vocabulary, torch.device("cpu"))


def frequencies(logits, sampling, rows=20_000, **options):
    numbers = torch.from_numpy(np.random.default_rng(0).random((rows, 2), dtype=np.float32))
    batch = torch.tensor(logits).expand(rows, -1)
    tokens = sample_tokens(batch, settings(sampling, rows, **options), numbers, 0, NO_END)
    return np.bincount(tokens.numpy(), minlength=len(logits)) / rows


@pytest.mark.parametrize(
    ("top_p", "wanted"),
    [
        (1.0, [0.1, 0.5, 0.15, 0.25]),
        (0.9, [0.0, 0.5 / 0.9, 0.15 / 0.9, 0.25 / 0.9]),  # 0.5 + 0.25 + 0.15 reach 0.9 exactly
        (0.76, [0.0, 0.5 / 0.9, 0.15 / 0.9, 0.25 / 0.9]),
        (0.7, [0.0, 2 / 3, 0.0, 1 / 3]),
        (0.1, [0.0, 1.0, 0.0, 0.0]),
    ],
)
def test_draws_follow_the_nucleus(top_p, wanted):
    logits = np.log([0.1, 0.5, 0.15, 0.25]).tolist()
    seen = frequencies(logits, sampling_of(1.0, top_p - 1e-6 if top_p < 1 else 1.0, max_tokens=1))
    np.testing.assert_allclose(seen, wanted, atol=0.01)


def test_temperature_sharpens_before_the_nucleus_is_taken():
    seen = frequencies(np.log([0.1, 0.5, 0.15, 0.25]).tolist(), sampling_of(0.5, 0.75, max_tokens=1))
    np.testing.assert_allclose(seen, [0, 0.8, 0, 0.2], atol=0.01)  # squares: 0.01, 0.25, 0.0225, 0.0625


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"top_k": 2}, [0, 2 / 3, 0, 1 / 3]),
        ({"top_k": 9}, [0.1, 0.5, 0.15, 0.25]),
        ({"min_p": 0.4}, [0, 2 / 3, 0, 1 / 3]),  # 0.4 of 0.5 is 0.2
        ({"min_p": 0.25, "top_k": 3, "top_p": 0.8}, [0, 2 / 3, 0, 1 / 3]),
        ({"temperature": None, "top_p": None}, [0.1, 0.5, 0.15, 0.25]),
    ],
)
def test_top_k_and_min_p_cut_before_the_nucleus(changes, wanted):
    sampling = sampling_of(**({"temperature": 1.0, "top_p": 1.0, "max_tokens": 1} | changes))
    seen = frequencies(np.log([0.1, 0.5, 0.15, 0.25]).tolist(), sampling)
    np.testing.assert_allclose(seen, wanted, atol=0.01)


def test_rows_keep_their_own_settings_in_one_batch():
    samplings = [sampling_of(0, 1, 1), sampling_of(1, 1, 1), sampling_of(1, 0.4, 1)]
    mixed = RowSettings.of(samplings, [(0,)] * 3, 2, torch.device("cpu"))
    logits = torch.tensor([0.4, 0.6]).log().expand(3, -1)
    assert sample_tokens(logits, mixed, torch.full((3, 2), 0.2), 0, NO_END).tolist() == [1, 0, 1]


def test_the_repetition_penalty_meets_prompt_and_drawn_tokens():
    rows = settings(sampling_of(0, 1, max_tokens=5, repetition_penalty=2.0), 1, prompt=(3,))
    logits = torch.tensor([[1.1, -0.5, 1.5, 2.0]])
    numbers = torch.zeros(1, 2)
    sampled = [int(sample_tokens(logits, rows, numbers, step, NO_END)) for step in range(3)]
    assert sampled == [2, 0, 3]  # 2.0 is halved from the start, then 1.5, then 1.1


def test_end_tokens_are_barred_below_min_tokens():
    rows = settings(sampling_of(0, 1, max_tokens=5, min_tokens=1), 1)
    logits, ends = torch.tensor([[0.0, 0.0, 1.0, 2.0]]), torch.tensor([3])
    assert [int(sample_tokens(logits, rows, torch.zeros(1, 2), step, ends)) for step in (0, 1)] == [2, 3]


def test_a_number_just_below_one_never_draws_what_cannot_be_drawn():
    rows = settings(sampling_of(1, 1, max_tokens=1), 1, vocabulary=3)
    logits = torch.tensor([[0.0, 0.0, -torch.inf]])
    number = torch.tensor([[np.nextafter(np.float32(1), np.float32(0))] * 2])
    assert int(sample_tokens(logits, rows, number, 0, NO_END)) == 1


def test_a_rows_numbers_depend_on_its_seed_alone():
    alone, among = Randomness([6]), Randomness([5, 6, 2**63 + 15])
    first, second = alone.block(np.array([0])), alone.block(np.array([0]))
    np.testing.assert_array_equal(among.block(np.arange(3))[:, 1:2], first)
    np.testing.assert_array_equal(among.block(np.array([1])), second)
    assert not np.array_equal(first, second)
    assert first.min() >= 0
    assert first.max() < 1
