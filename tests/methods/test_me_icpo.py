"""Algorithm 1, worked by hand."""

import tracemalloc
from math import log2

import pytest

from icpo.methods import MeIcpo
from icpo.prompts import Book
from icpo.rewards import Majority, NoReward
from icpo.selectors import Entropy, KeepAll, RandomPick
from icpo.types import Purpose, Selection
from tests.methods.hand import BOOK, QUESTION, TOO_LONG, boxed, budgeted, play, said, toolkit


def method(**changes):
    settings = {
        "name": "me_icpo",
        "label": "me_icpo",
        "num_rounds": 1,
        "num_candidates": 4,
        "num_lookaheads": 4,
        "num_finals": 2,
        "reward": Majority("majority", True),
        "selector": Entropy("entropy", False),
        "finals_after": None,
        "answered_only": True,
        "early_stop": None,
    }
    return MeIcpo(**budgeted(settings | changes))


def by_purpose(script):
    """Answers by purpose; look-aheads by the summary that stands last in the prompt."""

    def answer(request):
        if request.purpose is Purpose.SUMMARY:
            text = request.prompt.user.split("[Answer start]\n")[1].split("\n[Answer end]")[0]
            return [said(script["summary"][text])]
        if request.purpose is Purpose.LOOKAHEAD:
            found = [s for s in script["lookahead"] if s in request.prompt.user]
            return boxed(*script["lookahead"][found[-1]])
        return script[request.purpose.value]

    return answer


HAND = {
    "candidate": [
        said("way one: boxed{4}"),
        said("way two: boxed{4}"),
        said("way three: boxed{5}"),
        said("lost"),
    ],
    "summary": {"way one: boxed{4}": "ONE", "way two: boxed{4}": " TWO \n", "way three: boxed{5}": "THREE"},
    "lookahead": {"ONE": [4, 4, 5, 5], "TWO": [4, 4, 4, 5], "THREE": [5, 6, 7, 8]},
    "final": boxed(4, 5),
}


def test_one_round_by_hand():
    result, asked = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    [done] = result.trace
    assert done.votes.counts == (("4", 2), ("5", 1)) and done.votes.num_abstained == 1
    assert done.rewards.tags == (1, 1, 0, 0) and done.rewards.winner == "4"
    assert done.eligible == (0, 1, 2)
    assert [a.summary for a in done.attempts] == ["ONE", "TWO", "THREE"]
    assert [a.reward for a in done.attempts] == [1, 1, 0]
    three_quarters = -0.75 * log2(0.75) - 0.25 * log2(0.25)
    assert [x.entropy_bits for x in done.lookaheads] == pytest.approx([1.0, three_quarters, 2.0])
    assert done.kept == (1,)
    [[final_request]] = [stage for stage in asked if stage[0].purpose is Purpose.FINAL]
    assert (
        "good ideas (reward 1):\n\n[0]- TWO\n\nThus, the answer is \\(\\boxed{4}\\)"
        in final_request.prompt.user
    )
    assert "bad ideas" not in final_request.prompt.user
    assert [stage[0].purpose.value for stage in asked] == ["candidate", "summary", "lookahead", "final"]
    assert [r.num_samples for r in asked[2]] == [4, 4, 4]
    [(after, finals)] = result.finals
    assert after == 1 and [c.answer for c in finals] == ["4", "5"]


def test_a_bad_idea_can_be_the_least_uncertain_and_is_kept_as_bad():
    script = HAND | {"lookahead": {"ONE": [4, 4, 5, 5], "TWO": [4, 4, 4, 5], "THREE": [6, 6, 6, 6]}}
    result, asked = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    assert result.trace[0].kept == (2,)
    assert "bad ideas (reward 0):\n\n[0]- THREE" in asked[-1][0].prompt.user


def test_silence_never_wins():
    """One answer among three abstentions is 0 bits of answers plus 3/4 log2(4); all silent is 5 log2(4)."""
    silent = {"ONE": [None] * 4, "TWO": [4, 4, 5, 5], "THREE": [4, None, None, None]}
    result, _ = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(HAND | {"lookahead": silent}))
    [done] = result.trace
    assert [x.entropy_bits for x in done.lookaheads] == pytest.approx([10.0, 1.0, 1.5])
    assert done.kept == (1,)


def test_equal_entropies_keep_the_first():
    level = {"ONE": [4, 4, 4, 4], "TWO": [5, 5, 5, 5], "THREE": [6, 6, 6, 6]}
    result, _ = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(HAND | {"lookahead": level}))
    assert result.trace[0].kept == (0,)


def test_a_round_without_answers_keeps_nothing_and_goes_on():
    script = {"candidate": boxed(None, None, None, None), "final": boxed(4, 4)}
    result, asked = play(method(num_rounds=2).solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    assert [r.kept for r in result.trace] == [(), ()]
    assert [r.eligible for r in result.trace] == [(), ()]
    assert result.trace[0].rewards.winner is None and result.trace[0].rewards.tags == (0, 0, 0, 0)
    assert {stage[0].purpose.value for stage in asked} == {"candidate", "final"}


def test_without_reward_neither_tags_nor_the_sentence_about_them():
    book = Book(BOOK.answer_line, False, False, "full")
    plain = method(reward=NoReward("none", False))
    result, asked = play(plain.solve(QUESTION, toolkit(book), seed=0), by_purpose(HAND))
    assert {a.reward for a in result.trace[0].attempts} == {None}
    for prompt in (request.prompt for stage in asked for request in stage):
        assert "reward" not in prompt.raw
    assert "previous attempts:\n\n[0]- TWO" in asked[-1][0].prompt.user


@pytest.mark.parametrize("selector", [RandomPick("random", False), KeepAll("none")])
def test_other_selectors_draw_no_lookaheads(selector):
    result, asked = play(method(selector=selector).solve(QUESTION, toolkit(), seed=3), by_purpose(HAND))
    assert not [r for stage in asked for r in stage if r.purpose is Purpose.LOOKAHEAD]
    kept = result.trace[0].kept
    assert kept == (0, 1, 2) if selector.name == "none" else len(kept) == 1


def test_random_selection_is_uniform_over_eligible_attempts():
    picks = [
        play(
            method(selector=RandomPick("random", False)).solve(QUESTION, toolkit(), seed=s), by_purpose(HAND)
        )[0]
        .trace[0]
        .kept
        for s in range(300)
    ]
    counts = [picks.count((i,)) for i in range(3)]
    assert sum(counts) == 300 and min(counts) > 70


def test_the_oldest_ideas_leave_a_prompt_that_is_too_long_and_are_counted():
    def answer(request):
        num_ideas = request.prompt.user.count("]- ")
        if num_ideas > 3:
            return [TOO_LONG] * request.num_samples
        return by_purpose(HAND)(request)

    keep_all = method(selector=KeepAll("none"), num_rounds=2)
    result, asked = play(keep_all.solve(QUESTION, toolkit(), seed=0), answer)
    assert [r.num_dropped for r in result.trace] == [0, 0]
    assert len(result.trace[1].kept) == 3
    final_users = [s[0].prompt.user for s in asked if s[0].purpose is Purpose.FINAL]
    assert [u.count("]- ") for u in final_users] == [6, 5, 4, 3]
    assert [c.answer for c in result.finals[0][1]] == ["4", "5"]


def test_a_question_too_long_for_the_context_ends_truncated_not_in_a_loop():
    result, asked = play(method().solve(QUESTION, toolkit(), seed=0), lambda r: [TOO_LONG] * r.num_samples)
    assert all(c.completion == TOO_LONG and c.answer is None for c in result.finals[0][1])
    assert len(asked) == 2


def test_a_longer_run_holds_every_shorter_one():
    """Finals after t rounds are those of a run of t rounds: same prompts, same seeds."""

    def answer(request):
        if request.purpose is Purpose.SUMMARY:
            return [said(f"idea {len(request.prompt.user)} {request.seed}")]
        return [said(f"boxed{{{(request.seed + i) % 3}}}") for i in range(request.num_samples)]

    long, _ = play(method(num_rounds=3, finals_after=(0, 1, 2, 3)).solve(QUESTION, toolkit(), seed=5), answer)
    for t in range(4):
        short, _ = play(method(num_rounds=t).solve(QUESTION, toolkit(), seed=5), answer)
        assert dict(long.finals)[t] == short.finals[0][1]
        assert long.trace[:t] == short.trace


def test_seeds_of_samples_differ_by_seed_question_round_and_purpose():
    _, asked = play(method(num_rounds=2).solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    seeds = [r.seed for stage in asked for r in stage if r.purpose is not Purpose.SUMMARY]
    assert len(set(seeds)) == len(seeds)
    assert {r.seed for stage in asked for r in stage if r.purpose is Purpose.SUMMARY} == {0}, "greedy"
    _, other = play(method(num_rounds=2).solve(QUESTION, toolkit(), seed=1), by_purpose(HAND))
    assert not set(seeds) & {r.seed for stage in other for r in stage if r.purpose is not Purpose.SUMMARY}


def test_reasoning_is_neither_read_nor_summarised():
    thinking = HAND | {
        "candidate": [said("boxed{9} hm </think> way one: boxed{4}"), *[said("boxed{9} still thinking")] * 3],
        "summary": {"way one: boxed{4}": "ONE"},
        "lookahead": {"ONE": [4, 4, 4, 4]},
    }
    tools = toolkit(reasoning_end="</think>")
    script = by_purpose(thinking)

    def answer(request):
        return (
            [said(f"hm</think>{c.text}") for c in script(request)]
            if request.purpose is Purpose.SUMMARY
            else (script(request))
        )

    result, _ = play(method().solve(QUESTION, tools, seed=0), answer)
    assert [c.answer for c in result.trace[0].candidates] == ["4", None, None, None]
    assert [a.summary for a in result.trace[0].attempts] == ["ONE"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"num_candidates": 0}, "num_candidates"),
        ({"num_rounds": -1}, "num_rounds"),
        ({"finals_after": (2,)}, "finals_after"),
        ({"finals_after": ()}, "finals_after"),
        ({"num_lookaheads": 0}, "num_lookaheads"),
    ],
)
def test_settings_out_of_range_are_named(change, word):
    with pytest.raises(ValueError, match=word):
        method(**change)


def test_many_rounds_cost_no_memory_before_they_are_played():
    tracemalloc.start()
    method(num_rounds=10**6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


def test_a_tag_belongs_to_its_candidate_though_one_before_it_abstains():
    """Tags are of all candidates; attempts are of those with an answer."""
    script = HAND | {"candidate": [HAND["candidate"][i] for i in (3, 2, 0, 1)]}
    result, _ = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    [done] = result.trace
    assert done.rewards.tags == (0, 0, 1, 1) and done.eligible == (1, 2, 3)
    assert [(a.summary, a.reward) for a in done.attempts] == [("THREE", 0), ("ONE", 1), ("TWO", 1)]


def test_what_is_kept_joins_the_history_s_end():
    """Line 7 appends: round 1 keeps ONE, round 2 TWO, and the prompt lists them in that order."""

    def answer(request):
        user = request.prompt.user
        if request.purpose is Purpose.LOOKAHEAD:
            best = "TWO" if user.count("]- ONE") else "ONE"
            return boxed(4, 4, 4, 4) if f"]- {best}" in user else boxed(1, 2, 3, 4)
        return by_purpose(HAND)(request)

    result, asked = play(method(num_rounds=2).solve(QUESTION, toolkit(), seed=0), answer)
    assert [[done.attempts[i].summary for i in done.kept] for done in result.trace] == [["ONE"], ["TWO"]]
    assert "[0]- ONE" in asked[-1][0].prompt.user and "[1]- TWO" in asked[-1][0].prompt.user


class First:
    """Keeps the first attempt, whatever it is."""

    name = "first"
    needs_lookaheads = False

    def select(self, attempts, ask, *, num_lookaheads, seed):
        return Selection((0,) if attempts else ())
        yield


def test_a_selected_attempt_without_an_answer_can_be_left_out_of_the_history():
    script = {**HAND, "candidate": [said("lost"), *boxed(4, 4, 5)]}
    script["summary"] = {"lost": "NONE", **{c.text: "SOME" for c in script["candidate"][1:]}}
    settings = {"selector": First(), "answered_only": False}
    [kept] = play(method(**settings).solve(QUESTION, toolkit(), seed=0), by_purpose(script))[0].trace
    assert kept.kept == (0,) and kept.attempts[0].candidate.answer is None
    dropping = method(**settings, kept_answered_only=True)
    result, asked = play(dropping.solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    assert result.trace[0].kept == () and "NONE" not in asked[-1][0].prompt.user


def test_an_only_attempt_can_be_kept_without_lookaheads():
    script = {**HAND, "candidate": [said("lost"), said("way one: boxed{4}"), said("lost"), said("lost")]}
    result, asked = play(method().solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    assert [stage[0].purpose for stage in asked][2] is Purpose.LOOKAHEAD
    skipping, fewer = play(method(skip_single=True).solve(QUESTION, toolkit(), seed=0), by_purpose(script))
    assert Purpose.LOOKAHEAD not in {request.purpose for stage in fewer for request in stage}
    assert skipping.trace[0].kept == result.trace[0].kept == (0,)
    several, _ = play(method(skip_single=True).solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    assert len(several.trace[0].lookaheads) == 3
