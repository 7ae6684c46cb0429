from hypothesis import given
from hypothesis import strategies as st

from icpo.engines.vllm.admission import Admission
from icpo.types import Purpose
from tests.sampling import sampling_of

LONG = sampling_of(1, 1, max_tokens=100)


def admits(admission, ticket, num_prompt_tokens=20, num_samples=4, purpose=Purpose.FINAL, sampling=LONG):
    return admission.admits(ticket, purpose, num_prompt_tokens, sampling, num_samples)


def test_requests_are_admitted_until_their_limits_fill_the_cache():
    admission = Admission(capacity_tokens=900, max_sequences=100)
    assert [admits(admission, i) for i in range(3)] == [True, True, False]  # 420 tokens each
    admission.release(0)
    assert admits(admission, 2)


def test_short_completions_make_room_and_other_purposes_are_not_touched():
    admission = Admission(capacity_tokens=900, max_sequences=100)
    for _ in range(72):
        admission.learn(Purpose.FINAL, 10)
    assert admission.expected_tokens(Purpose.FINAL, LONG) == 19  # (72 * 10 + 8 * 100) / 80
    assert admission.expected_tokens(Purpose.SUMMARY, LONG) == 100
    assert sum(admits(admission, i) for i in range(20)) == 9  # 20 + 4 * 19 tokens each


def test_the_number_of_sequences_is_bounded_with_a_backlog():
    admission = Admission(capacity_tokens=10**9, max_sequences=16)
    assert sum(admits(admission, i) for i in range(20)) == 8  # 32 sequences


def test_what_is_alone_is_always_admitted():
    admission = Admission(capacity_tokens=10, max_sequences=1)
    assert admits(admission, 0)
    assert not admits(admission, 1)


def test_preemptions_shrink_what_is_admitted_down_to_half():
    admission = Admission(capacity_tokens=4200, max_sequences=1000)
    admission.preempted(2)
    assert sum(admits(admission, i) for i in range(20)) == 9
    admission.preempted(1000)
    assert not admits(admission, 20)
    for i in range(4):
        admission.release(i)
    assert not admits(admission, 20)
    admission.release(4)
    assert admits(admission, 20)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 9)), max_size=40))
def test_reservations_never_exceed_the_cache_unless_one_is_alone(sizes):
    admission = Admission(capacity_tokens=1000, max_sequences=20)
    held = [size for i, size in enumerate(sizes) if admits(admission, i, *size)]
    tokens = sum(prompt + samples * 100 for prompt, samples in held)
    assert len(held) <= 1 or (tokens <= 1000 and sum(n for _, n in held) <= 40)
