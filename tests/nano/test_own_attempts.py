"""The model's own attempts: histories are made of them, targets chosen among its policy's samples."""

from dataclasses import dataclass, replace
from random import Random
from statistics import mean

from icpo.arithmetic import RULES, Split, questions
from icpo.nano.batches import BatchMaker
from icpo.nano.examples import Mixture, Tags, Task, draw_example
from icpo.nano.own_attempts import OwnAttempts
from icpo.nano.own_samples import Own, collect, draw_exercise
from icpo.nano.policy import Policy
from icpo.nano.workings import read_answer, read_working, right_working
from icpo.prompts import paper

PROBLEM = questions("dev", "l2", 1)[0]
RIGHT = right_working(PROBLEM.chain)
WRONG = replace(RIGHT, answer=RIGHT.answer + 10)
ATTEMPTS = OwnAttempts.of([PROBLEM], [[RIGHT.text] * 9 + [WRONG.text] * 7], [[RIGHT.text, WRONG.text] * 8])
TAGGED = Mixture({Task.TAGGED: 1.0}, Tags.MAJORITY, Policy(0.2, 4.0))


@dataclass(frozen=True)
class FixedSampler:
    """Stands for the model: notes at which temperature it was asked for what."""

    asked: list
    temperature: float = 0.6
    top_p: float = 0.95

    def sample(self, prompts, num_samples, *, seed):
        self.asked.append((self.temperature, self.top_p, len(prompts), num_samples))
        return [["1 + 1 = 2\nboxed{2}"] * num_samples for _ in prompts]


def test_a_file_keeps_problems_and_readable_texts(tmp_path):
    own = OwnAttempts.of(
        [PROBLEM, PROBLEM], [[RIGHT.text, "no idea"], ["none"]], [[WRONG.text], [WRONG.text]]
    )
    assert [(a.problem, a.attempts, a.policy_samples) for a in own.problems] == [
        (PROBLEM, (RIGHT.text,), (WRONG.text,))
    ]
    own.write(tmp_path / "own.jsonl")
    assert OwnAttempts.read(tmp_path / "own.jsonl") == own
    assert own.is_enough and not OwnAttempts([]).is_enough


def test_histories_hold_the_models_attempts_and_targets_avoid_what_is_tagged_0(prompts):
    rng, repeated = Random(0), []
    for _ in range(300):
        example = draw_example(rng, ATTEMPTS.source(rng), TAGGED, prompts)
        assert PROBLEM.text in example.prompt and read_working(example.completion) in (RIGHT, WRONG)
        if paper.GOOD_IDEAS not in example.prompt and f"boxed{{{RIGHT.answer}}}" not in example.prompt:
            repeated.append(read_answer(example.completion) == str(WRONG.answer))
    assert len(repeated) > 20 and mean(repeated) < 0.1, "half of the policy's samples are wrong"


def test_batches_are_made_of_them(nano_folder, prompts, tmp_path):
    ATTEMPTS.write(tmp_path / "own.jsonl")
    maker = BatchMaker(
        nano_folder, TAGGED, prompts, RULES, 0, 64, 1024, tmp_path / "own.jsonl", own_share=0.5
    )
    assert 10 < sum(PROBLEM.text in e.prompt for e in maker.examples(0)) < 54


def test_attempts_are_sampled_twice_on_training_problems(prompts):
    exercise = draw_exercise(prompts, RULES, 10, seed=3)
    assert all(Split.of(p.chain) is Split.TRAIN for p in exercise.problems)
    assert all(p.text in prompt for p, prompt in zip(exercise.problems, exercise.asked, strict=True))
    asked = []
    own = collect(Own.ATTEMPTS, FixedSampler(asked), exercise, seed=3)
    assert asked == [(0.6, 0.95, 10, 16), (1.0, 1.0, 10, 16)]
    assert [a.problem for a in own.problems] == list(exercise.problems)
