"""Training learns, resumes to the same weights, and batches depend on the seed alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from icpo.benchmarks.arithmetic import RULES
from icpo.lab.nano.batches import BatchMaker, collate, encode
from icpo.lab.nano.examples import Example, Mixture, Tags, Task
from icpo.lab.nano.histories import Update
from icpo.lab.nano.model import Architecture, save_model
from icpo.lab.nano.policy import Policy
from icpo.lab.nano.training import Optimisation, Phase, Run, TrainingError, train

DIRECT = Mixture({Task.DIRECT: 1.0}, Tags.MAJORITY, Policy(0.2, 0.25, Update(2.0, 0.25)))
RUN = Run(
    architecture=Architecture(width=32, num_layers=1, num_heads=1, num_key_value_heads=1, hidden_width=32),
    phases=(Phase(num_steps=24, learning_rate=0.01, mixture=DIRECT, own_problems=0, own_share=0.0),),
    optimisation=Optimisation(
        warmup_steps=3, decay_share=0.4, weight_decay=0.05, betas=(0.9, 0.98), max_gradient_norm=1.0
    ),
    device="cpu",
    num_workers=0,
    checkpoint_every_steps=10,
    log_every_steps=1,
    max_tokens=8,
    max_rows=8,
    seed=0,
)


@pytest.fixture
def maker(nano_folder, prompts):
    return BatchMaker(
        nano_folder, DIRECT, prompts, RULES, seed=0, examples_per_chunk=64, tokens_per_batch=1024
    )


def weights(model):
    return torch.cat([p.flatten() for p in model.parameters()])


def test_loss_falls(maker, tmp_path):
    losses = []
    train(RUN, maker, tmp_path, lambda scores, step: losses.append(scores["train/loss"]))
    assert len(losses) == 24 and np.mean(losses[-4:]) < 0.7 * np.mean(losses[:4])


def test_a_resumed_run_ends_with_the_same_weights(maker, tmp_path):
    whole = train(RUN, maker, tmp_path / "whole", lambda scores, step: None)

    def stop(scores, step):
        if step == 17:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(RUN, maker, tmp_path / "cut", stop)
    steps = []
    resumed = train(RUN, maker, tmp_path / "cut", lambda scores, step: steps.append(step))
    assert steps[0] == 11, "goes on after the checkpoint of step 10"
    assert torch.equal(weights(whole.model), weights(resumed.model))


def test_contexts_with_tags_are_counted_across_phases_and_resumes(maker, tmp_path):
    mixed = replace(DIRECT, tasks={Task.DIRECT: 1.0, Task.TAGGED: 1.0, Task.FORCED: 1.0})
    phase = replace(RUN.phases[0], num_steps=12)
    run = replace(RUN, phases=(phase, replace(phase, mixture=mixed)))
    used = [batch for chunk in range(2) for batch in replace(maker, mixture=mixed).chunk(1_000_000 + chunk)]
    expected = sum(batch.num_tagged for batch in used[:12])
    rows = sum(batch.token_ids.shape[0] for batch in used[:12])
    assert rows / 2 < expected < rows

    base = train(
        replace(run, phases=(phase, replace(phase, num_steps=0))), maker, tmp_path, lambda s, t: None
    )
    assert base.num_tagged == 0, "a last phase of no steps leaves its model to others"

    def stop(scores, step):
        if step == 22:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(run, maker, tmp_path, stop)
    assert train(run, maker, tmp_path, lambda s, t: None).num_tagged == expected
    assert train(run, maker, tmp_path, lambda s, t: None).num_tagged == expected, "nothing left to train"


def test_a_checkpoint_of_an_older_version_is_refused(maker, tmp_path):
    torch.save({"model": {}, "optimiser": {}, "place": [1, 0, 0, 1]}, tmp_path / "checkpoint.pt")
    with pytest.raises(TrainingError, match="delete it"):
        train(RUN, maker, tmp_path, lambda scores, step: None)


def test_workers_make_the_same_batches(maker, tmp_path):
    one = train(RUN, maker, tmp_path / "one", lambda scores, step: None)
    many = train(replace(RUN, num_workers=2), maker, tmp_path / "many", lambda scores, step: None)
    assert torch.equal(weights(one.model), weights(many.model))


def test_a_phase_that_needs_own_mistakes_says_when_there_are_none(maker, tmp_path):
    phase = replace(RUN.phases[0], num_steps=1)
    run = replace(RUN, phases=(phase, replace(phase, own_problems=5, own_share=0.5)))
    with pytest.raises(TrainingError, match="more steps"):
        train(run, maker, tmp_path, lambda scores, step: None)


def test_rates_warm_up_hold_and_decay():
    phase = replace(RUN.phases[0], num_steps=100, learning_rate=1.0)
    rates = [RUN.optimisation.rate(phase, step) for step in range(100)]
    assert rates[0] == pytest.approx(1 / 3) and rates[10] == rates[59] == 1.0
    assert rates[80] == pytest.approx(0.5) and rates[99] == pytest.approx(0.05)


def test_only_completions_are_learned(tokenizer):
    rows = encode([Example(Task.DIRECT, "boxed{1}\n", "7"), Example(Task.DIRECT, "boxed{", "12")], tokenizer)
    batch = collate(rows)
    end = tokenizer.token_to_id("<|end|>")
    one, two, seven = (tokenizer.token_to_id(d) for d in "127")
    assert batch.token_ids.shape == (2, 16)
    assert batch.targets.tolist() == [seven, end, one, two, end]
    flat = batch.token_ids.flatten()
    assert flat[batch.positions + 1].tolist() == batch.targets.tolist()
    assert flat[batch.positions[0]] == tokenizer.encode("\n").ids[0], (
        "the first is predicted from the prompt's end"
    )


def test_batches_hold_their_budget_and_every_example(maker):
    batches = maker.chunk(3)
    assert sum(b.token_ids.shape[0] for b in batches) == 64
    assert all(b.token_ids.size <= 1024 and b.token_ids.shape[1] % 16 == 0 for b in batches)
    again = maker.chunk(3)
    assert all(np.array_equal(a.token_ids, b.token_ids) for a, b in zip(batches, again, strict=True))
    assert not np.array_equal(batches[0].token_ids, maker.chunk(4)[0].token_ids)


@pytest.mark.parametrize(
    "wrong",
    [
        {"device": "tpu"},
        {"phases": ()},
        {"num_workers": -1},
        {"checkpoint_every_steps": 0},
        {"log_every_steps": 0},
        {"max_tokens": 0},
        {"max_rows": 0},
    ],
)
def test_a_run_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(RUN, **wrong)


def test_no_gpu_is_an_error(maker, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingError, match=r"job\.training\.device=cpu"):
        train(replace(RUN, device="cuda"), maker, tmp_path, lambda scores, step: None)


def test_a_saved_model_loads(maker, tmp_path, nano_folder):
    from transformers import AutoModelForCausalLM

    run = replace(RUN, phases=(replace(RUN.phases[0], num_steps=1),))
    model = train(run, maker, tmp_path, lambda s, t: None).model
    save_model(model, tmp_path / "model")
    loaded = AutoModelForCausalLM.from_pretrained(str(tmp_path / "model"))
    assert loaded.config.model_type == "llama" and loaded.config.eos_token_id == model.config.eos_token_id
    assert torch.equal(weights(loaded), weights(model))
