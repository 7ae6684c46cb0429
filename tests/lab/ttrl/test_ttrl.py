"""TTRL: its rewards and costs by hand, its cell with a stand-in for the trainer, its training for real."""

import json
import shutil
from functools import partial

import pytest

from icpo.config import build, config_digest, resolved
from icpo.errors import ConfigError, EngineError, Interrupted
from icpo.evaluation.cell import run_cell
from icpo.evaluation.engine_pool import POOL
from icpo.evaluation.regrading import regrade_run
from icpo.lab.ttrl import job as ttrl
from icpo.lab.ttrl.settings import Grpo, TrainingCost, VoteReward, training_order
from icpo.rewards import Majority
from icpo.store import load_results, load_scores, read_metrics, read_status
from icpo.store.health import verify
from icpo.types import AnswerKind, Question
from tests.composing import composed
from tests.end_to_end.fakes import Blocks, questions_file
from tests.methods.hand import toolkit

QUESTIONS = [Question(name, f"What is {name}?", AnswerKind.NUMBER) for name in ("q0", "q1", "q2")]


def grpo(**changes):
    settings = {
        "num_steps": 4,
        "questions_per_step": 2,
        "num_votes": 4,
        "updates_per_step": 1,
        "learning_rate": 1e-3,
        "schedule": "constant",
        "warmup_steps": 0,
        "optimizer": "adamw_torch",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 12,
        "kl_weight": 0.0,
        "sequences_per_pass": 4,
        "save_every_steps": 2,
        "device": "cpu",
        "weights_dtype": "float32",
        "gradient_checkpointing": False,
        "use_vllm": False,
        "vllm_memory_share": 0.3,
    }
    return Grpo(**(settings | changes))


def vote_reward(seed=0):
    return VoteReward(Majority("majority", True), toolkit(), QUESTIONS, seed)


def test_each_question_votes_for_itself_and_silence_earns_nothing():
    texts = ["boxed{1}", "boxed{2}", "boxed{1}", "boxed{2}", "no idea", "boxed{2}", "no idea", "no idea"]
    ids = ["q0", "q1", "q0", "q1", "q0", "q0", "q2", "q2"]
    assert vote_reward()(texts, ids, 0) == [1, 1, 1, 1, 0, 0, 0, 0]
    assert vote_reward()(["boxed{5}", "boxed{6}", "boxed{6}"], ["q0"] * 3, 0) == [0, 1, 1]


def test_ties_are_broken_repeatably_and_anew_at_each_step():
    def winner(seed, step):
        return vote_reward(seed)(["boxed{1}", "boxed{2}"], ["q0", "q0"], step)

    first = [winner(0, step) for step in range(40)]
    assert first == [winner(0, step) for step in range(40)]
    assert 8 < sum(rewards == [1, 0] for rewards in first) < 32
    assert all(sum(rewards) == 1 for rewards in first)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"num_votes": 1}, "num_votes"),
        ({"num_steps": 0}, "num_steps"),
        ({"sequences_per_pass": 3}, "sequences_per_pass=3"),
        ({"updates_per_step": 4}, "updates_per_step=4"),
        ({"updates_per_step": 0}, "updates_per_step"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"device": "tpu"}, "device"),
        ({"use_vllm": True}, "use_vllm"),
    ],
)
def test_bad_settings_are_named(changes, word):
    with pytest.raises(ValueError, match=word):
        grpo(**changes)


def test_order_takes_every_question_as_often_and_none_twice_a_step():
    ids = [f"q{i}" for i in range(7)]
    settings = grpo(num_steps=35, questions_per_step=3, sequences_per_pass=12)
    order = training_order(ids, settings, seed=1)
    steps = [order[i : i + 3] for i in range(0, len(order), 3)]
    assert len(steps) == 35 and all(len(set(step)) == 3 for step in steps)
    assert max(order.count(q) for q in ids) <= 18 and min(order.count(q) for q in ids) >= 10
    assert order == training_order(ids, settings, seed=1) != training_order(ids, settings, seed=2)
    with pytest.raises(ConfigError, match=r"questions_per_step=3.* 2"):
        training_order(ids[:2], settings, seed=1)


CURVE = [
    {"step": 1.0, "generated_tokens": 80.0, "processed_tokens": 280.0, "seconds": 1.5},
    {"step": 2.0, "generated_tokens": 40.0, "processed_tokens": 240.0, "seconds": 2.0},
]


def test_cost_counts_a_prompt_once_a_question_and_step():
    assert TrainingCost.of(CURVE, grpo()) == TrainingCost(
        num_steps=2,
        num_requests=4,
        num_sequences=16,
        generated_tokens=120,
        prompt_tokens=100,
        processed_tokens=520,
        seconds=3.5,
    )


class Trainer:
    """Stands in for trl: writes a model folder per seed and says what it was given."""

    def __init__(self, stops_at_seed=None):
        self.trained, self.prompts, self.stops_at_seed = [], None, stops_at_seed

    def train(self, backbone, grpo, prompts, reward, model_folder, *, seed, log, is_stopped):
        if model_folder.is_dir():
            return CURVE
        if self.stops_at_seed == len(self.trained):
            raise Interrupted("stopped")
        model_folder.mkdir(parents=True)
        self.trained.append(model_folder)
        self.prompts = prompts
        log(1, {"training/reward": 1.0})
        return CURVE


class Loader:
    """Engine settings that note which weights they were asked to load."""

    name = "fake"

    def __init__(self):
        self.loaded = []

    def preflight(self):
        pass

    def start(self, backbone, *, max_context_tokens):
        self.loaded.append(backbone.model_id)
        return Blocks(identity=backbone.model_id)


def run(folder, trainer, loader, *overrides):
    (folder / "in").mkdir(exist_ok=True)
    source = questions_file(folder / "in")
    config = composed(
        "+exp=ttrl",
        "benchmark=aime2024",
        f"benchmark.path={source}",
        "benchmark.expected_count=null",
        "benchmark.limit=null",
        "tracking=none",
        "budget.num_finals=4",
        "seeds=[3,5]",
        *overrides,
    )
    values = resolved(config)
    job = build(config.job)
    job = ttrl.Ttrl(job.label, ttrl.replace(job.evaluation, engine=loader), job.grpo, trainer)
    cell = folder / values["cell"]
    try:
        run_cell(
            job, tracker=build(config.tracking), folder=cell, values=values, digest=config_digest(values)
        )
    finally:
        POOL.close()
    return cell


def test_a_cell_evaluates_before_and_after_and_charges_the_training(tmp_path):
    trainer, loader = Trainer(), Loader()
    cell = run(tmp_path, trainer, loader)
    base, *trained = loader.loaded
    assert base == "icpo:nano" and trained == [str(folder) for folder in trainer.trained]
    assert set(trainer.prompts) == {"q0", "q1", "q2"}
    assert all("boxed{" in prompt.system for prompt in trainer.prompts.values())
    metrics = read_metrics(cell)
    after = [read_metrics(cell / f"after_{seed}") for seed in (3, 5)]
    assert metrics["method"] == "ttrl" and metrics["seeds"] == [3, 5] and metrics["num_questions"] == 3
    assert metrics["training"]["generated_tokens"] == 240
    assert metrics["generated_tokens"] == sum(m["generated_tokens"] for m in after) + 240
    assert metrics["generated_by_purpose"]["training"] == 240
    assert metrics["before"]["mean_at_k"] == read_metrics(cell / "before")["mean_at_k"]
    assert metrics["mean_at_k"]["value"] == pytest.approx(sum(m["mean_at_k"]["value"] for m in after) / 2)
    assert len(load_scores(cell)) == 6 and read_status(cell)["state"] == "done"


def test_a_done_cell_whose_results_are_in_folders_below_it_is_whole_and_goes_on_so(tmp_path, caplog):
    cell = run(tmp_path, Trainer(), Loader())
    assert verify(cell).is_sound and not load_results(cell)
    assert regrade_run(cell.parent.parent, cell.parent.name, write=False, say=print) == 0
    scores = load_scores(cell)
    run(tmp_path, Trainer(), Loader())
    assert load_scores(cell) == scores and "gone" not in caplog.text


def test_a_stopped_cell_goes_on_where_it_was(tmp_path):
    with pytest.raises(Interrupted):
        run(tmp_path, Trainer(stops_at_seed=1), Loader())
    trainer, loader = Trainer(), Loader()
    cell = run(tmp_path, trainer, loader)
    assert [folder.parent.name for folder in trainer.trained] == ["training_5"]
    assert loader.loaded == [str(trainer.trained[0])]  # neither the base nor the first model again
    assert read_status(cell)["state"] == "done"


def test_other_rewards_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="reward=oracle"):
        run(tmp_path, Trainer(), Loader(), "reward=oracle")


def test_a_missing_trl_is_named(monkeypatch):
    def fail(name):
        raise ImportError(f"No module named {name}")

    monkeypatch.setattr(ttrl.importlib, "import_module", fail)
    with pytest.raises(EngineError, match=r"icpo\[ttrl\]"):
        ttrl.load_trainer()


@pytest.fixture
def tiny(tmp_path):
    """A backbone of a few hundred weights that speaks in boxed digits."""
    pytest.importorskip("trl", reason="training wants trl: pip install 'icpo[ttrl]'")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    words = ["<pad>", "<end>", "<unk>", *(f"boxed{{{digit}}}" for digit in range(4))]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<end>", unk_token="<unk>"
    )
    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, eos_token_id=1, pad_token_id=0, bos_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(str(tmp_path / "tiny"))
    tokenizer.save_pretrained(str(tmp_path / "tiny"))
    node = composed("+exp=ttrl").backbone
    node.model_id = str(tmp_path / "tiny")
    return build(node)


def train_model(backbone, folder, stop_after=None, **changes):
    from icpo.lab.ttrl import trainer as ttrl_trainer
    from icpo.prompts import Book

    book = Book(r"\(\boxed{{answer}}\)", False, True, "full")
    logged = []
    curve = ttrl_trainer.train(
        backbone,
        grpo(**changes),
        {question.question_id: book.plain(question) for question in QUESTIONS},
        vote_reward(),
        folder / "model",
        seed=7,
        log=lambda step, values: logged.append((step, values)),
        is_stopped=lambda: stop_after is not None and len(logged) >= stop_after,
    )
    return curve, logged


def weights(folder):
    from safetensors.torch import load_file

    return load_file(str(folder / "model" / "model.safetensors"))


@pytest.mark.slow
@pytest.mark.parametrize("updates_per_step", [1, 2])
def test_a_training_that_was_stopped_ends_as_one_that_was_not(tiny, tmp_path, updates_per_step):
    train = partial(
        train_model,
        updates_per_step=updates_per_step,
        kl_weight=0.001,
        schedule="cosine",
        sequences_per_pass=2,
    )
    straight, logged = train(tiny, tmp_path / "straight")
    assert [step for step, _ in logged] == [1, 2, 3, 4]
    assert not (tmp_path / "straight" / "checkpoints").exists()

    train(tiny, tmp_path / "stopped", stop_after=1, save_every_steps=10)
    assert not (tmp_path / "stopped" / "model").exists()
    checkpoints = tmp_path / "stopped" / "checkpoints"
    last = checkpoints / f"checkpoint-{2 * updates_per_step}"
    broken = checkpoints / f"checkpoint-{2 * updates_per_step + 1}"
    shutil.copytree(last, broken)
    (broken / "whole").unlink()  # as a kill in the middle of writing leaves it
    (broken / "trainer_state.json").write_text("{")
    resumed, logged = train(tiny, tmp_path / "stopped")
    assert [step for step, _ in logged] == [3, 4]

    def drawn(curve):
        return [{k: v for k, v in line.items() if k != "seconds"} for line in curve]

    assert drawn(resumed) == drawn(straight)
    one, other = weights(tmp_path / "straight"), weights(tmp_path / "stopped")
    assert all((one[name] == other[name]).all() for name in one)
    again, logged = train(tiny, tmp_path / "stopped")
    assert again == resumed and not logged


@pytest.mark.slow
def test_training_makes_votes_unanimous(tiny, tmp_path):
    curve, _ = train_model(tiny, tmp_path / "long", num_steps=25, learning_rate=0.02, num_votes=8)
    rewards = [line["reward"] for line in curve]
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.2
    stored = json.loads((tmp_path / "long" / "curve.json").read_text())
    assert stored == curve and stored[0]["generated_tokens"] <= 16 * 12
