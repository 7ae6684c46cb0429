import csv
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from icpo.backbones import Backbone, ChatTemplate
from icpo.engines.scripted import ScriptedEngine
from icpo.engines.sources import locate
from icpo.engines.tokenizers import load_tokenizer
from icpo.errors import ConfigError
from icpo.grading import GradingRules
from icpo.lab.throughput.job import Throughput
from icpo.lab.throughput.schedules import Schedule, run_schedule
from icpo.lab.throughput.shape import write_shape
from icpo.lab.throughput.work import Lengths, Words, Work
from icpo.selectors import Entropy, EntropyRacing
from icpo.types import Completion, FinishReason, Purpose

FIXED = Lengths("fixed", 40, 0.0, 40)
TAILED = Lengths("long_tailed", 400, 0.8, 2000)
RACING = EntropyRacing("entropy_racing", (1, 3))
WORK = Work(
    selector=Entropy("entropy", largest=False),
    num_rounds=2,
    num_candidates=3,
    num_lookaheads=2,
    num_finals=4,
    prompt_tokens=10,
    history_tokens=0,
    summary_tokens=5,
    temperature=0.6,
    top_p=0.95,
)
WORDS = Words(("one", "two", "three"))


def say(request, index):
    return Completion("", 10, request.sampling.max_tokens, FinishReason.LENGTH)


class Watched(ScriptedEngine):
    """Counts tokens as vLLM's engine does, and notes how many requests were in flight at each submission."""

    def __init__(self):
        super().__init__(say)
        self.in_flight = []
        self.num_before = 0

    def submit(self, ticket, request):
        super().submit(ticket, request)
        self.in_flight.append((request.purpose, len(self._waiting)))

    def forget_peaks(self):
        self.num_before = len(self.requests)

    def accounting(self):
        generated = sum(r.sampling.max_tokens * r.num_samples for r in self.requests)
        return {
            "peak_cache_gb": len(self.requests) - self.num_before,
            "generated_tokens": generated,
            "max_num_seqs": 32,
            "num_steps": len(self.requests),
            "prompt_tokens": 10 * len(self.requests),
        }


def solvings(read=lambda texts: None, lengths=FIXED, num_questions=3):
    return [WORK.solve(WORDS, lengths, seed, read) for seed in range(num_questions)]


@pytest.mark.parametrize("lengths", [FIXED, TAILED])
def test_every_schedule_does_the_same_work(lengths):
    asked = {}
    for schedule in Schedule:
        engine = Watched()
        run_schedule(schedule, solvings(lengths=lengths), engine, 2)
        asked[schedule] = sorted(
            (r.purpose, r.prompt.user, r.sampling.max_tokens, r.num_samples, r.seed) for r in engine.requests
        )
    assert (
        asked[Schedule.AUTHORS]
        == asked[Schedule.LOCKSTEP]
        == asked[Schedule.PIPELINED]
        == asked[Schedule.SEQUENTIAL]
    )
    tokens = sum(limit * samples for _, _, limit, samples, _ in asked[Schedule.AUTHORS])
    if lengths is FIXED:
        assert tokens == 3 * (2 * (3 * 40 + 3 * 5 + 6 * 40) + 4 * 40)


def test_a_history_makes_every_later_prompt_longer():
    engine, work = Watched(), replace(WORK, history_tokens=7)
    run_schedule(Schedule.SEQUENTIAL, [work.solve(WORDS, FIXED, 0, lambda texts: None)], engine, 1)
    sizes = {
        purpose: [len(r.prompt.user.split()) for r in engine.requests if r.purpose is purpose]
        for purpose in (Purpose.CANDIDATE, Purpose.LOOKAHEAD, Purpose.FINAL)
    }
    assert sizes == {Purpose.CANDIDATE: [10, 17], Purpose.LOOKAHEAD: [17] * 3 + [24] * 3, Purpose.FINAL: [24]}


def test_the_schedules_differ_in_what_is_in_flight():
    most = {}
    for schedule in Schedule:
        engine = Watched()
        run_schedule(schedule, solvings(), engine, 2)
        most[schedule] = {
            purpose: max(n for p, n in engine.in_flight if p is purpose)
            for purpose in (Purpose.SUMMARY, Purpose.LOOKAHEAD, Purpose.FINAL)
        }
    assert most[Schedule.SEQUENTIAL] == {Purpose.SUMMARY: 3, Purpose.LOOKAHEAD: 3, Purpose.FINAL: 1}
    assert most[Schedule.AUTHORS] == {Purpose.SUMMARY: 1, Purpose.LOOKAHEAD: 3, Purpose.FINAL: 1}
    assert most[Schedule.LOCKSTEP] == {Purpose.SUMMARY: 9, Purpose.LOOKAHEAD: 9, Purpose.FINAL: 3}
    assert 1 < most[Schedule.PIPELINED][Purpose.SUMMARY] < 9


def test_what_is_read_is_as_much_as_answers_are_sampled():
    counts = []
    run_schedule(
        Schedule.AUTHORS, solvings(lambda texts: counts.append(len(texts)), num_questions=1), Watched(), 1
    )
    assert counts == [3, 6, 3, 6, 4]


def lookaheads_by_prompt(selector, lengths):
    """The lengths of each prompt's look-aheads, in the order they were asked: one question, one round."""
    engine, asked = Watched(), {}
    work = replace(
        WORK, selector=selector, num_rounds=1, num_candidates=4, num_lookaheads=4, prompt_tokens=90
    )
    run_schedule(Schedule.PIPELINED, [work.solve(WORDS, lengths, 0, lambda texts: None)], engine, 1)
    for request in engine.requests:
        if request.purpose is Purpose.LOOKAHEAD:
            asked.setdefault(request.prompt.user, []).extend(
                [request.sampling.max_tokens] * request.num_samples
            )
    return asked


@pytest.mark.parametrize("lengths", [FIXED, TAILED])
def test_a_race_asks_for_fewer_of_the_same_lookaheads(lengths):
    """Halving of 4 attempts: one look-ahead of each, then three more of two."""
    uniform = lookaheads_by_prompt(WORK.selector, lengths)
    raced = lookaheads_by_prompt(RACING, lengths)
    assert [len(sizes) for sizes in uniform.values()] == [4, 4, 4, 4]
    assert sorted(len(sizes) for sizes in raced.values()) == [1, 1, 4, 4]
    assert all(uniform[prompt][: len(sizes)] == sizes for prompt, sizes in raced.items())


def test_the_answers_that_a_race_is_told_tell_attempts_apart():
    """Attempts agree with themselves to different degrees; which is kept is no matter of order."""
    told = []

    class Watching(Entropy):
        def select(self, attempts, ask, **given):
            selection = yield from super().select(attempts, ask, **given)
            told.append((selection.kept[0], [round(x.entropy_bits, 6) for x in selection.lookaheads]))
            return selection

    work = replace(WORK, selector=Watching("entropy", largest=False), num_candidates=8, num_lookaheads=16)
    run_schedule(
        Schedule.LOCKSTEP, [work.solve(WORDS, FIXED, s, lambda _: None) for s in range(5)], Watched(), 1
    )
    assert len(told) == 10 and len({kept for kept, _ in told}) > 2
    assert all(len(set(bits)) > 4 for _, bits in told)


def test_long_tailed_lengths_have_the_mean_and_the_cap_they_say():
    source = random.Random(0)
    sampled = [TAILED.draw(source) for _ in range(20_000)]
    assert 380 < sum(sampled) / len(sampled) < 405  # the cap takes a little off the mean of 400
    assert max(sampled) == 2000
    assert sorted(sampled)[len(sampled) // 2] == pytest.approx(400 * 2.718281828 ** (-0.32), rel=0.05)


def test_joined_texts_have_the_tokens_of_both(nano_tokenizer):
    words = Words.of(nano_tokenizer, wanted=50)
    source = random.Random(0)
    text = words.text(30, source) + words.text(12, source)
    assert len(nano_tokenizer(text)["input_ids"]) == 42


@pytest.fixture(scope="module")
def nano_tokenizer():
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(nano().location)


def nano() -> Backbone:
    return Backbone(
        name="nano",
        model_id="icpo:nano",
        revision=None,
        max_context_tokens=4096,
        dtype="float32",
        chat_template=ChatTemplate.NONE,
        tensor_parallel=1,
        reasoning_end=None,
        gpu_memory_gb=1,
        template_options=(),
        max_answer_tokens=None,
        thinking_tokens=0,
        system_role=True,
    )


@dataclass(frozen=True)
class Settings:
    engine: object
    name: str = "watched"

    def preflight(self):
        """Nothing is needed."""

    def start(self, backbone, *, max_context_tokens):
        return self.engine


def job(engine, measurements=("authors/fixed/1", "pipelined/fixed/2")):
    rules = GradingRules()
    return Throughput(nano(), Settings(engine), WORK, (FIXED, TAILED), measurements, 2, 48, rules, 4096)


def test_the_job_writes_one_line_a_measurement_with_its_ratios(tmp_path):
    values = job(Watched()).run(tmp_path)
    with (tmp_path / "throughput.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["schedule"] for row in rows] == ["authors", "pipelined"]
    assert [int(row["generated_tokens"]) for row in rows] == [910, 1820]
    first, second = values["speeds"]
    assert first["ratio_to_authors"] == 1
    ratio = second["tokens_per_second"] / first["tokens_per_second"]
    assert second["ratio_to_authors"] == pytest.approx(ratio)
    share = second["tokens_per_second"] / second["ceiling_tokens_per_second"]
    assert second["share_of_ceiling"] == pytest.approx(share)
    assert (tmp_path / "throughput.png").stat().st_size > 1000
    assert (tmp_path / "engine.json").is_file()


def test_rounds_are_measured_apart_and_peaks_begin_anew(tmp_path):
    engine = Watched()
    values = job(engine, ("sequential/fixed/1/1", "sequential/fixed/1/3")).run(tmp_path)
    assert [speed["num_rounds"] for speed in values["speeds"]] == [1, 3]
    assert [speed["peak_cache_gb"] for speed in values["speeds"]] == [1 + 3 + 3 + 1, 3 * (1 + 3 + 3) + 1]
    one, three = (speed["generated_tokens"] for speed in values["speeds"])
    assert (one, three) == (375 + 160, 3 * 375 + 160)


class Served(Watched):
    """A server: it charges tokens, but says nothing of steps and places."""

    def accounting(self):
        account = super().accounting()
        return {key: account[key] for key in ("generated_tokens", "prompt_tokens")}


def test_a_server_is_measured_without_what_it_does_not_say(tmp_path):
    """Its ceiling is measured with the places of the configuration, 48 here, and 16 samples a prompt."""
    engine = Served()
    [speed] = job(engine, ("pipelined/fixed/2",)).run(tmp_path)["speeds"]
    assert [r.num_samples for r in engine.requests[:9]] == [16] * 9  # three times three prompts
    assert speed["generated_tokens"] == 1820 and speed["tokens_per_second"] > 0
    assert speed["filled_share"] is None and speed["idle_share"] is None
    counts = ("num_steps", "num_reading_steps", "num_preemptions", "cached_prompt_tokens")
    assert [speed[count] for count in counts] == [None] * 4, "not counted, so not 0"
    [local] = job(Watched(), ("pipelined/fixed/2",)).run(tmp_path)["speeds"]
    assert local["filled_share"] > 0


@pytest.mark.parametrize(
    "text", ["pipelined/fixed/1/0", "pipelined/fixed", "fast/fixed/1", "pipelined/odd/1", "pipelined/fixed/x"]
)
def test_a_measurement_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match=r"SCHEDULE/LENGTHS/QUESTIONS.*pipelined/fixed/16"):
        job(Watched(), (text,))


def test_an_engine_of_blocks_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="engine=vllm"):
        job(ScriptedEngine(say, block_questions=1)).run(tmp_path)


def test_a_shape_has_a_tokenizer_that_an_engine_takes(tmp_path):
    """Each word is one token, and each token of the model, which are chosen at random, has a text."""
    shape = replace(nano(), model_id=str(tmp_path))
    write_shape(Path(replace(nano(), model_id="icpo:dummy_qwen7b").location), tmp_path)
    tokenizer = load_tokenizer(locate(shape), shape)
    words = Words.of(tokenizer)
    assert len(words.words) == 500
    assert len(tokenizer(words.text(40, random.Random(0)))["input_ids"]) == 40
    size = json.loads((tmp_path / "config.json").read_text())["vocab_size"]
    assert all(tokenizer.decode([token]) for token in (0, 300, 1000, 100_000, size - 2))
    assert tokenizer.eos_token_id == size - 1 and len(tokenizer) == size


@pytest.mark.parametrize("size", [860, 1608, 1609])
def test_a_shape_needs_a_vocabulary_for_its_words(tmp_path, size):
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": size}))
    if size == 1609:
        write_shape(tmp_path, tmp_path / "shape")
        return
    with pytest.raises(ConfigError, match=f"vocabulary of {size} tokens, but a shape for timings needs 1609"):
        write_shape(tmp_path, tmp_path / "shape")
