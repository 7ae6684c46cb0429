"""Speed of an engine under different schedules, beside its ceiling."""

import csv
import json
import logging
import random
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from icpo.backbones import Backbone
from icpo.engines.sources import locate
from icpo.engines.tokenizers import load_tokenizer
from icpo.engines.vllm.settings import Vllm
from icpo.errors import ConfigError
from icpo.evaluation.engine_pool import POOL, EngineSettings, accounting
from icpo.evaluation.journalled import JournalledEngine
from icpo.grading import Grader, GradingRules
from icpo.lab.throughput.schedules import Schedule, run_schedule
from icpo.lab.throughput.shape import has_weights, write_shape
from icpo.lab.throughput.work import Lengths, Words, Work, sampling_of
from icpo.methods import complete
from icpo.store import Journal
from icpo.types import AnswerKind, Engine, Prompt, Purpose, SampleRequest, validated

log = logging.getLogger(__name__)

CEILING_SAMPLES = 16  # of one prompt
CEILING_TOKENS = (100, 400)
READ_KIND = AnswerKind.NUMBER


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement: a schedule, a number of questions, and lengths.

    `num_rounds` of None is the work's own.
    """

    schedule: Schedule
    lengths: Lengths
    num_questions: int
    num_rounds: int | None = None

    @classmethod
    def parse(cls, text: str, lengths: Mapping[str, Lengths]) -> "Measurement":
        """Read SCHEDULE/LENGTHS/QUESTIONS[/ROUNDS], as in pipelined/fixed/16 or sequential/fixed/1/5."""
        parts = text.split("/")
        schedules = [schedule.value for schedule in Schedule]
        is_known = len(parts) in (3, 4) and parts[0] in schedules and parts[1] in lengths
        if not is_known or not all(part.isdigit() and int(part) for part in parts[2:]):
            raise ValueError(
                f"a measurement is SCHEDULE/LENGTHS/QUESTIONS, perhaps with /ROUNDS, with a schedule of "
                f"{', '.join(schedules)} and lengths of {', '.join(lengths)}, as in pipelined/fixed/16; got "
                f"{text!r}"
            )
        return cls(Schedule(parts[0]), lengths[parts[1]], *map(int, parts[2:]))


@dataclass(frozen=True, slots=True)
class Speed:
    """One line of throughput.csv.

    `away_share` is the share of the time that was spent outside the engine while it had requests, and
    `idle_share` the same weighted by the share of its places that were empty then: what it waited for us.
    `filled_share` is the share of places that held a sample, in the mean over steps: below 1 at the start and
    at the end, and wherever too little is in flight. `num_steps` counts the engine's steps,
    `num_reading_steps` those in which samples start, `num_shared_reading_steps` those of them in which others
    run on; a mean one of these takes `reading_step_ms`, a mean other step `decoding_step_ms`. Ratios are of
    generated tokens per second. What a server does not count is None.
    `weights_gb` and `peak_cache_gb` are the engine's: of the cache, the most in use at once.
    """

    schedule: str
    lengths: str
    num_questions: int
    num_rounds: int
    max_in_flight: int
    seconds_per_question: float
    tokens_per_second: float
    ratio_to_authors: float | None
    share_of_ceiling: float
    ceiling_tokens_per_second: float
    away_share: float | None
    idle_share: float | None
    filled_share: float | None
    decoding_step_ms: float | None
    reading_step_ms: float | None
    generated_tokens: int
    prompt_tokens: int
    cached_prompt_tokens: int | None
    num_preemptions: int | None
    num_steps: int | None
    num_reading_steps: int | None
    num_shared_reading_steps: int | None
    weights_gb: float | None
    peak_cache_gb: float | None


@validated
class Throughput:
    """Measures one engine: its ceiling, then each measurement.

    All in one start. `measurements` are written SCHEDULE/LENGTHS/QUESTIONS; at most `max_in_flight` questions
    run at once. `num_places` is how many samples run at once where the engine does not say, as of a server.
    """

    backbone: Backbone
    engine: EngineSettings
    work: Work
    lengths: tuple[Lengths, ...]
    measurements: tuple[str, ...]
    max_in_flight: PositiveInt
    num_places: PositiveInt
    grading: GradingRules
    max_context_tokens: PositiveInt

    def __post_init__(self) -> None:
        self.parsed()  # raises where one is misspelt

    def parsed(self) -> list[Measurement]:
        """The measurements, read."""
        by_name = {lengths.name: lengths for lengths in self.lengths}
        return [Measurement.parse(text, by_name) for text in self.measurements]

    def preflight(self) -> None:
        """Raises EngineError where this machine cannot run the engine at all."""
        self.engine.preflight()

    def run(self, cell: Path) -> Mapping[str, Any]:
        """Writes throughput.csv, throughput.png and .pdf, and engine.json into the cell's folder."""
        with tempfile.TemporaryDirectory() as folder, Grader(self.grading) as grader:
            settings, backbone = self.engine, self.backbone
            source = Path(backbone.location)
            if isinstance(settings, Vllm) and (source / "config.json").is_file() and not has_weights(source):
                write_shape(source, Path(folder))
                settings = replace(settings, options={**settings.options, "load_format": "dummy"})
                backbone = replace(backbone, model_id=folder)
            engine = POOL.get(settings, backbone, self.max_context_tokens)
            if engine.block_questions is not None:
                raise ConfigError(f"engine={settings.name} answers in blocks. Use engine=vllm.")
            words = Words.of(load_tokenizer(locate(backbone), backbone))
            speeds = list(self._speeds(engine, words, grader, cell, Path(folder)))
            account = accounting(engine)
        POOL.close()
        (cell / "engine.json").write_text(json.dumps(account, indent=2))
        _draw(cell, speeds)
        return {"speeds": [asdict(speed) for speed in speeds], "engine": account}

    def _speeds(
        self, engine: Engine, words: Words, grader: Grader, cell: Path, folder: Path
    ) -> Iterable[Speed]:
        """Each measurement's speed, logged and kept in throughput.csv as it is found."""
        ceiling = self._ceiling(engine, words)
        log.info("decode ceiling: %.0f tokens/s", ceiling)
        seeds, authors, speeds = count(), {}, []

        def read(texts: Sequence[str]) -> object:
            return grader.tally([grader.extract(text, READ_KIND) for text in texts], READ_KIND)

        for number, measurement in enumerate(self.parsed()):
            lengths = measurement.lengths
            work = replace(self.work, num_rounds=measurement.num_rounds or self.work.num_rounds)
            solvings = [
                work.solve(words, lengths, next(seeds), read) for _ in range(measurement.num_questions)
            ]
            journal = Journal(folder / f"{number}.journal")
            _forget_peaks(engine)
            before, start = accounting(engine), time.perf_counter()
            journalled = JournalledEngine(engine, journal, lambda: None)
            run_schedule(measurement.schedule, solvings, journalled, self.max_in_flight)
            seconds = time.perf_counter() - start
            journal.close()
            speed = self._speed(measurement, seconds, before, accounting(engine), ceiling)
            if measurement.schedule is Schedule.AUTHORS:
                authors[lengths.name] = speed.tokens_per_second
            if lengths.name in authors:
                speed = replace(speed, ratio_to_authors=speed.tokens_per_second / authors[lengths.name])
            log.info("%s", ", ".join(f"{key} {_short(value)}" for key, value in asdict(speed).items()))
            speeds.append(speed)
            _write_csv(cell / "throughput.csv", speeds)
            yield speed

    def _ceiling(self, engine: Engine, words: Words) -> float:
        """Tokens per second of pure decoding with as many samples as run at once, none of them waiting.

        The difference of a long and a short run, so that reading the prompts cancels out.
        """
        source = random.Random(0)
        num_prompts = max(self._places(accounting(engine)) // CEILING_SAMPLES, 1)
        seconds = []
        for num_tokens in (1, *CEILING_TOKENS):  # the first warms up
            sampling = sampling_of(self.work.temperature, self.work.top_p, num_tokens)
            requests = [
                SampleRequest(
                    Purpose.FINAL,
                    Prompt("", words.text(self.work.prompt_tokens, source)),
                    sampling,
                    CEILING_SAMPLES,
                    seed=1000 * i,
                )
                for i in range(num_prompts)
            ]
            start = time.perf_counter()
            complete(engine, requests)
            seconds.append(time.perf_counter() - start)
        short, long = CEILING_TOKENS
        return num_prompts * CEILING_SAMPLES * (long - short) / (seconds[2] - seconds[1])

    def _places(self, account: Mapping[str, Any]) -> int:
        return int(account.get("max_num_seqs", self.num_places))

    def _speed(
        self,
        measurement: Measurement,
        seconds: float,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        ceiling: float,
    ) -> Speed:
        """What was done between two states of the engine's accounting."""

        def spent(key: str) -> Any:
            return after.get(key, 0) - before.get(key, 0)

        def counted(key: str) -> int | None:
            return spent(key) if key in after else None

        def of_steps(value: float) -> float | None:
            return value if "num_steps" in after else None

        per_second = spent("generated_tokens") / seconds
        num_steps, num_shared = spent("num_steps"), spent("num_shared_reading_steps")
        num_decoding = num_steps - spent("num_reading_steps")
        filled = spent("generated_tokens") / (max(num_steps, 1) * self._places(after))
        return Speed(
            schedule=measurement.schedule.value,
            lengths=measurement.lengths.name,
            num_questions=measurement.num_questions,
            num_rounds=measurement.num_rounds or self.work.num_rounds,
            max_in_flight=min(self.max_in_flight, measurement.num_questions),
            seconds_per_question=seconds / measurement.num_questions,
            tokens_per_second=per_second,
            ratio_to_authors=None,
            share_of_ceiling=per_second / ceiling,
            ceiling_tokens_per_second=ceiling,
            away_share=of_steps(spent("away_seconds") / seconds),
            idle_share=of_steps(spent("idle_seconds") / seconds),
            filled_share=of_steps(filled),
            decoding_step_ms=of_steps(1000 * spent("decoding_seconds") / max(num_decoding, 1)),
            reading_step_ms=of_steps(1000 * spent("shared_reading_seconds") / max(num_shared, 1)),
            generated_tokens=spent("generated_tokens"),
            prompt_tokens=spent("prompt_tokens"),
            cached_prompt_tokens=counted("cached_prompt_tokens"),
            num_preemptions=counted("num_preemptions"),
            num_steps=counted("num_steps"),
            num_reading_steps=counted("num_reading_steps"),
            num_shared_reading_steps=counted("num_shared_reading_steps"),
            weights_gb=after.get("weights_gb"),
            peak_cache_gb=after.get("peak_cache_gb"),
        )


def _forget_peaks(engine: Any) -> None:
    """Reset the peak of the cache, where the engine keeps one."""
    getattr(engine, "forget_peaks", lambda: None)()


def _write_csv(path: Path, speeds: Sequence[Speed]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([field.name for field in fields(Speed)])
        writer.writerows([_short(value) for value in asdict(speed).values()] for speed in speeds)


def _short(value: Any) -> Any:
    """A number with the digits that a timing has."""
    if not isinstance(value, float):
        return value
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _draw(cell: Path, speeds: Sequence[Speed]) -> None:
    """Bars of tokens per second under the ceiling."""
    from icpo.lab.theory.artifacts import BLUE, GREY, figure

    with figure(cell, "throughput", width=4.8) as [axes]:
        labels = [f"{s.schedule}\n{s.lengths}, {s.num_questions} q." for s in speeds]
        bars = axes.bar(labels, [s.tokens_per_second for s in speeds], color=BLUE)
        axes.bar_label(bars, [f"{s.seconds_per_question:.3g} s/q." for s in speeds])
        for speed in speeds[:1]:
            axes.axhline(speed.ceiling_tokens_per_second, color=GREY, linestyle="--", label="decode ceiling")
        axes.set_ylabel("generated tokens per second")
        axes.legend()
