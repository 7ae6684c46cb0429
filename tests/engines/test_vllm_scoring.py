"""What vLLM reads to score texts, and what is made of its log-probabilities; without vLLM."""

from dataclasses import dataclass

import pytest

from icpo.engines.vllm.scoring import scored_completion, scored_prompts
from icpo.errors import EngineError
from icpo.types import Completion, FinishReason


@dataclass(frozen=True)
class Logprob:
    logprob: float


PROMPT = [5, 6, 7, 8]
LOG_PROBS = [None, {6: Logprob(-9.0)}, {9: Logprob(-0.1), 7: Logprob(-2.0)}, {8: Logprob(-0.5)}]


def test_each_text_is_the_end_of_a_prompt_and_one_that_does_not_fit_leaves_none():
    assert scored_prompts([1, 2], [(3,), (), (3, 4)], 5) == [[1, 2, 3], [1, 2], [1, 2, 3, 4]]
    assert scored_prompts([1, 2], [(3,), (3, 4)], 4) == []


@pytest.mark.parametrize(("num_before", "total"), [(1, -11.5), (2, -2.5), (3, -0.5), (4, 0.0)])
def test_a_texts_own_tokens_are_summed(num_before, total):
    found = scored_completion("a text", num_before, PROMPT, LOG_PROBS)
    assert found == Completion("a text", num_before, 0, FinishReason.STOP, log_probability=total)


@pytest.mark.parametrize(
    "log_probs", [None, [], LOG_PROBS[:3], [*LOG_PROBS[:3], {1: Logprob(-0.5)}], [*LOG_PROBS[:3], None]]
)
def test_a_missing_log_probability_is_an_error_and_never_a_score(log_probs):
    with pytest.raises(EngineError, match="log-probabilit"):
        scored_completion("a text", 2, PROMPT, log_probs)
