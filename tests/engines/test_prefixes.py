from hypothesis import given
from hypothesis import strategies as st

from icpo.engines.local.prefixes import cluster

prompts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple), min_size=1, max_size=12)


@given(prompts)
def test_runs_cover_the_prompts_and_share_what_they_say(drawn):
    ordered = sorted(set(drawn))
    start = 0
    for size, shared in cluster(ordered):
        run = ordered[start : start + size]
        assert len({prompt[:shared] for prompt in run}) == 1
        assert all(shared < len(prompt) for prompt in run)
        start += size
    assert start == len(ordered)


def test_questions_stay_apart_when_they_share_less_than_half_of_their_prompts():
    system, first, second = (1,) * 10, (2,) * 30, (3,) * 30
    ordered = [system + first + (i,) for i in range(3)] + [system + second + (i,) for i in range(2)]
    assert cluster(ordered) == [(3, 40), (2, 40)]
    assert cluster([(*system, 2), (*system, 3)]) == [(2, 10)]
