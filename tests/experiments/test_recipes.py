"""The recipes of nano: every command that is printed composes, and doses differ in their contexts alone."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from icpo.config import config_source

ROOT = Path(__file__).parents[2]


def printed(*words):
    command = ["bash", ROOT / "experiments" / "nano" / "recipes.sh", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def composed(line):
    overrides = [
        word for word in shlex.split(line)[3:] if "=" in word and not word.startswith(("from", "mkdir"))
    ]
    with initialize_config_dir(config_dir=config_source(), version_base="1.3"):
        return compose("config", overrides=[o for o in overrides if not o.startswith("arm=")])


@pytest.fixture(scope="module")
def shipped():
    return third_phase(composed("python3 -c x +exp=train_nano"))


def third_phase(config):
    return OmegaConf.to_container(config.job.training.phases[2])


def test_the_base_ends_before_the_third_phase():
    [line] = printed("base", "out", "job.training.device=cpu")
    job = composed(line).job
    assert [phase.num_steps for phase in job.training.phases] == [3200, 700, 0]
    assert (job.training.device, job.training.num_workers) == ("cpu", 14)


def test_a_full_dose_is_the_shipped_recipe(shipped):
    [line] = printed("train", "out", "dose_1")
    assert third_phase(composed(line)) == shipped
    assert "cp -r out/train/base/{model,checkpoint.pt} out/train/dose_1" in line


@pytest.mark.parametrize(("model", "dose"), [("dose_1_4", 1 / 4), ("dose_1_64", 1 / 64), ("dose_0", 0)])
def test_doses_share_contexts_out_anew(model, dose, shipped):
    [line] = printed("train", "out", model)
    phase = third_phase(composed(line))
    tasks, full = phase["mixture"].pop("tasks"), shipped["mixture"]["tasks"]
    assert sum(tasks.values()) == pytest.approx(sum(full.values()))
    assert [tasks[t] for t in ("tagged", "forced")] == pytest.approx(
        [dose * full[t] for t in ("tagged", "forced")]
    )
    assert all(tasks[t] == full[t] for t in ("untagged", "summary", "judge"))
    assert {**phase, "mixture": {**phase["mixture"], "tasks": full}} == shipped


def test_each_model_is_trained_and_measured_under_its_own_name():
    assert len(printed("train", "out")) == 11 and len(printed("measure", "out")) == 22
    trained, measured = (printed(stage, "a folder", "coin", "dose_0") for stage in ("train", "measure"))
    assert [composed(line).cell for line in trained] == ["coin", "dose_0"]
    backbones = [composed(line).backbone for line in measured]
    assert [b.name for b in backbones] == ["coin", "dose_0"] * 2
    assert {b.model_id for b in backbones} == {f"a folder/train/{name}/model" for name in ("coin", "dose_0")}


def test_a_model_that_is_none_is_named():
    with pytest.raises(subprocess.CalledProcessError) as failed:
        printed("train", "out", "dose_9")
    assert "dose_9" in failed.value.stderr


def test_a_recipe_of_many_contexts_has_eight_in_ten_with_tags(shipped):
    [line] = printed("train", "out", "coin_more")
    mixture = third_phase(composed(line))["mixture"]
    assert mixture["tasks"]["tagged"] == 0.8 and sum(mixture["tasks"].values()) == pytest.approx(1)
    assert mixture["coin_share"] == 1 and mixture["policy"]["update"]["step_size"] == 4
    assert mixture["tasks"].keys() == shipped["mixture"]["tasks"].keys()
