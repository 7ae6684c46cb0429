"""protocol.lookahead: how look-aheads are asked for, and what cannot be combined with a forced answer."""

from types import SimpleNamespace

import pytest

from icpo.config import build
from icpo.errors import ConfigError
from icpo.evaluation.protocol import LookaheadRules
from icpo.types import Purpose
from tests.composing import composed

FORCED = "protocol.lookahead.forced_answer='So it is boxed{'"


def job(*overrides):
    return build(composed("+exp=quickstart", *overrides).job)


def test_it_is_off_by_default():
    made = job("method=me_icpo")
    assert made.prompts.forced_answer is None
    sampling = made.protocol.sampling_by_purpose()
    assert sampling[Purpose.LOOKAHEAD] == sampling[Purpose.CANDIDATE]


def test_a_forced_answer_samples_few_tokens_up_to_the_brace_whatever_a_model_may_think():
    made = job("method=me_icpo", FORCED)
    assert made.prompts.forced_answer == "So it is boxed{"
    sampling = made.protocol.sampling_by_purpose(max_answer_tokens=9000)
    assert sampling[Purpose.CANDIDATE].max_tokens == sampling[Purpose.FINAL].max_tokens == 9000
    lookahead = sampling[Purpose.LOOKAHEAD]
    assert (lookahead.max_tokens, lookahead.stop, lookahead.min_room_tokens) == (32, ("}",), 32)
    assert lookahead.temperature == sampling[Purpose.CANDIDATE].temperature


def test_look_aheads_made_short_stay_so_whatever_a_model_may_think():
    short = "protocol.sampling.lookahead."
    made = job("method=me_icpo", f"{short}max_tokens=50", f"{short}min_room_tokens=50")
    alone = made.protocol.sampling_by_purpose()
    assert (alone[Purpose.LOOKAHEAD].max_tokens, alone[Purpose.CANDIDATE].max_tokens) == (50, 160)
    assert alone[Purpose.LOOKAHEAD].top_p == 0.95
    thinking = made.protocol.sampling_by_purpose(max_answer_tokens=9000)
    limits = {purpose: one.max_tokens for purpose, one in thinking.items()}
    assert (limits[Purpose.LOOKAHEAD], limits[Purpose.SUMMARY]) == (50, 100)
    assert limits[Purpose.CANDIDATE] == limits[Purpose.FINAL] == limits[Purpose.REFINE] == 9000


def test_the_summary_of_a_model_that_thinks_has_room_for_thoughts():
    assert job("method=me_icpo").sampling()[Purpose.SUMMARY].max_tokens == 100
    thinking = job("method=me_icpo", "backbone=r1_llama8b").sampling()
    assert thinking[Purpose.SUMMARY].max_tokens == 100 + 4096
    assert thinking[Purpose.CANDIDATE].max_tokens == thinking[Purpose.LOOKAHEAD].max_tokens == 32768


@pytest.mark.parametrize(("backbone", "num"), [("nano", 0), ("r1_llama8b", 4096), ("gemini_pro", 4096)])
def test_methods_are_told_how_much_room_thoughts_need(backbone, num):
    made = job("method=best_of_n", f"backbone={backbone}")
    assert made.toolkit(SimpleNamespace(extract=None, tally=None)).thinking_tokens == num


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["backbone.chat_template=own"], "forced_answer.*chat_template=own.*backbone.chat_template=none"),
        (["backbone.reasoning_end='</think>'"], "forced_answer.*reasoning_end"),
        (["protocol.lookahead.answer_tokens=0"], "answer_tokens"),
    ],
)
def test_what_a_forced_answer_cannot_be_combined_with_is_named(overrides, message):
    with pytest.raises(ConfigError, match=message):
        job("method=me_icpo", FORCED, *overrides)


@pytest.mark.parametrize("words", ["The answer is ", "", "boxed{}"])
def test_the_opening_words_open_a_box(words):
    with pytest.raises(ValueError, match="forced_answer"):
        LookaheadRules(words, 32, ("}",))
