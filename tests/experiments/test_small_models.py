from types import SimpleNamespace

from icpo.types import GradedFinals, GradedRound, Outcome, QuestionScore
from tests.experiments.scripts import load

ENTROPY = {"method": "me_icpo", "reward": "majority", "selector": "entropy"}


def test_another_questions_ideas_are_not_taken_for_me_icpo():
    """Both have the majority's reward and the entropy selector."""
    script = load("small_models/make_table")
    assert script.rules_of(ENTROPY) == script.ME_ICPO["entropy"]
    assert script.rules_of({**ENTROPY, "method": "foreign"}) not in script.ME_ICPO.values()


def test_cells_stand_in_the_order_of_the_presets_arms():
    place, arms = load("small_models/make_table").place, ["base", "full"]
    cell = {"benchmark": "words_l1", "protocol": "small"}
    full, base, unknown = (place({**cell, "arm": arm}, arms) for arm in ("full", "base", "default"))
    assert base < full < unknown < place({**cell, "arm": "base", "benchmark": "words_l2"}, arms)


def test_right_tags_are_counted_in_the_first_round_among_candidates_that_answered():
    """One true and one false tag; the third candidate has none, and the second round does not count."""
    rounds = [SimpleNamespace(rewards=SimpleNamespace(tags=tags)) for tags in ((1, 0, None), (1, 1, 1))]
    result = SimpleNamespace(key=("q", 0), rounds=rounds)
    graded = (GradedRound((True, True, None)), GradedRound((True, True, True)))
    finals = ((2, GradedFinals((Outcome.CORRECT,), ("1",))),)
    scores = {("q", 0): QuestionScore("q", 0, "1", finals, graded)}
    assert load("small_models/make_table").tag_accuracy([result], scores) == {("q", 0): 0.5}
