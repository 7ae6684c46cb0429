"""Targets follow the policy, ideas are tagged as the mixture says, and nothing of dev or test can occur."""

import hashlib
import re
from random import Random

import pytest

from icpo.benchmarks.arithmetic import RULES, Split
from icpo.lab.nano.examples import Mixture, Tags, Task, draw_example, draw_source
from icpo.lab.nano.histories import Update
from icpo.lab.nano.mistakes import AssumedMistakes
from icpo.lab.nano.policy import FLAWLESS, Policy
from icpo.lab.nano.solutions import read_solution
from icpo.prompts import paper


def examples(task, prompts, count=200, tags=Tags.MAJORITY, policy=FLAWLESS, coin_share=0.0):
    yield from drawn(Mixture({task: 1.0}, tags, policy, coin_share), prompts, count)


def drawn(mixture, prompts, count):
    rng = Random(3)
    for _ in range(count):
        source = draw_source(rng, RULES, AssumedMistakes())
        yield source, draw_example(rng, source, mixture, prompts)


@pytest.mark.parametrize("task", [Task.DIRECT, Task.UNTAGGED])
def test_solutions_of_a_flawless_policy_are_right(task, prompts):
    for source, example in examples(task, prompts):
        assert Split.of(source.problem.chain) is Split.TRAIN
        assert read_solution(example.completion).answer == int(source.problem.answer)
        assert source.problem.text in example.prompt


def test_ideas_stand_where_they_should(prompts):
    tagged = [e.prompt for _, e in examples(Task.TAGGED, prompts)]
    assert all(paper.GOOD_IDEAS in p or paper.BAD_IDEAS in p for p in tagged)
    assert any(paper.GOOD_IDEAS in p and paper.BAD_IDEAS in p for p in tagged)
    untagged = [e.prompt for _, e in examples(Task.UNTAGGED, prompts)]
    assert all(paper.UNTAGGED_IDEAS in p and "[0]- from" in p for p in untagged)
    assert any(paper.TAG_CLAUSE in p for p in untagged) and any(paper.TAG_CLAUSE not in p for p in untagged)
    direct = {e.prompt.replace(s.problem.text, "") for s, e in examples(Task.DIRECT, prompts)}
    assert len(direct) == 3, "plain, and an empty history with and without the sentence about tags"


def test_some_contexts_show_a_part_of_each_idea(prompts):
    shown = [e.prompt for _, e in examples(Task.TAGGED, prompts)]
    ideas = [p.split("]- ")[1] for p in shown]
    forms = (
        ["from" in i and "Thus" in i for i in ideas],
        ["from" not in i for i in ideas],
        ["Thus" not in i for i in ideas],
    )
    full, answers_only, without_answer = (sum(form) / len(ideas) for form in forms)
    assert full > 0.75 and answers_only > 0.02 and without_answer > 0.02


def test_forced_answers_are_answers_alone(prompts):
    for source, example in examples(Task.FORCED, prompts, count=100):
        assert example.prompt.endswith("\nboxed{") and re.fullmatch(r"\d+}", example.completion)
        assert source.problem.text in example.prompt


def test_summaries_are_of_the_candidate(prompts):
    for _, example in examples(Task.SUMMARY, prompts):
        shown = example.prompt.split("[Answer start]\n")[1].split("\n[Answer end]")[0]
        assert example.completion == read_solution(shown).summary


def test_judgements_are_right_and_both_occur(prompts):
    verdicts = set()
    for source, example in examples(Task.JUDGE, prompts):
        shown = example.prompt.split("[Answer start]\n")[1].split("\n[Answer end]")[0]
        is_right = read_solution(shown).answer == int(source.problem.answer)
        assert example.completion == ("yes" if is_right else "no")
        verdicts.add(example.completion)
    assert verdicts == {"yes", "no"}


def test_majority_tags_tell_and_random_tags_do_not(prompts):
    def right_share(title, tags, coin_share):
        hits = [
            f"boxed{{{s.problem.answer}}}" in idea
            for s, e in examples(Task.TAGGED, prompts, 600, tags, coin_share=coin_share)
            if title in e.prompt
            for idea in e.prompt.split(title)[1].partition(paper.GOOD_IDEAS)[0].split("]- ")[1:]
        ]
        return sum(hits) / len(hits)

    def told(tags, coin_share=0.0):
        good, bad = (right_share(title, tags, coin_share) for title in (paper.GOOD_IDEAS, paper.BAD_IDEAS))
        return good - bad

    assert told(Tags.MAJORITY) > 0.3
    assert abs(told(Tags.RANDOM)) < 0.1
    assert abs(told(Tags.MAJORITY, coin_share=1.0)) < 0.1
    assert 0.1 < told(Tags.MAJORITY, coin_share=0.5) < told(Tags.MAJORITY)


@pytest.mark.parametrize(("tags", "follows"), [(Tags.MAJORITY, True), (Tags.RANDOM, False)])
def test_targets_avoid_right_answers_that_a_coin_tags_0(tags, follows, prompts):
    policy = Policy(0.2, 0.25, Update(2.0, 0.25))

    def right_share(title):
        found = [
            read_solution(e.completion).answer == int(s.problem.answer)
            for s, e in examples(Task.TAGGED, prompts, 1000, tags, policy, coin_share=1.0)
            if e.prompt.count("]- ") == 1 and f"boxed{{{s.problem.answer}}}" in e.prompt and title in e.prompt
        ]
        assert len(found) > 25
        return sum(found) / len(found)

    difference = right_share(paper.GOOD_IDEAS) - right_share(paper.BAD_IDEAS)
    assert difference > 0.4 if follows else abs(difference) < 0.2


def test_without_a_coin_examples_are_those_of_the_shipped_recipe(prompts):
    mixture = Mixture({task: 1.0 for task in Task}, Tags.MAJORITY, Policy(0.17, 0.25, Update(2.0, 0.25)))
    text = "".join(f"{e.prompt}\0{e.completion}\0" for _, e in drawn(mixture, prompts, 200))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "7caa55851f1535ae30b5b3b4c92a366b112ac06a432cd336bf6d90cda22ec8bd"


@pytest.mark.parametrize("tags", Tags)
def test_targets_follow_the_majority_whatever_tags_are_shown(tags, prompts):
    def copied_share(step_size):
        policy = Policy(0.3, 0.0, Update(step_size, 0.0))
        drawn = [e for _, e in examples(Task.TAGGED, prompts, 300, tags, policy)]
        return sum(f"boxed{{{read_solution(e.completion).answer}}}" in e.prompt for e in drawn) / len(drawn)

    assert copied_share(4.0) > copied_share(0.0) + 0.1


def test_a_mixture_needs_weights():
    with pytest.raises(ValueError, match="weights"):
        Mixture({Task.DIRECT: 0.0}, Tags.MAJORITY, FLAWLESS)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_coin_tags_a_share_of_the_contexts(share):
    with pytest.raises(ValueError, match="coin_share"):
        Mixture({Task.TAGGED: 1.0}, Tags.MAJORITY, FLAWLESS, coin_share=share)
