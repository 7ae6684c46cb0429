"""Sampling for tests: only what a test is about stands in it."""

from icpo.types import Sampling

PLAIN = {
    "min_tokens": 0,
    "repetition_penalty": 1.0,
    "stop": (),
    "min_room_tokens": 1,
    "top_k": None,
    "min_p": None,
}


def sampling_of(temperature=0.6, top_p=0.95, max_tokens=20, **changes) -> Sampling:
    return Sampling(temperature, top_p, max_tokens, **(PLAIN | changes))
