"""The evaluation job: one backbone, benchmark, method and protocol, all its seeds."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import Field, PositiveInt
from rich.console import Console

from icpo.backbones import Backbone, ChatTemplate
from icpo.benchmarks import ArithmeticSource, Benchmark, LoadedBenchmark
from icpo.benchmarks.arithmetic.vocabulary import EXAMPLE, unknown_words
from icpo.engines.sources import check_folder
from icpo.errors import BenchmarkError
from icpo.evaluation.blocked import BlockedQuestions
from icpo.evaluation.cell import Cell
from icpo.evaluation.engine_pool import POOL, EngineSettings, require_weights
from icpo.evaluation.extending import (
    extended,
    extent_asked,
    extent_of,
    has_lost,
    repeat_lost,
    with_num_finals,
)
from icpo.evaluation.journalled import JournalledEngine
from icpo.evaluation.live import Narrator
from icpo.evaluation.outcome import Outcomes
from icpo.evaluation.progress import stored_base_mean
from icpo.evaluation.protocol import Protocol
from icpo.evaluation.rates import Rates
from icpo.evaluation.tasks import Task, Tasks
from icpo.grading import Grader, require_workers
from icpo.methods import Run, drive
from icpo.methods.contracts import start
from icpo.prompts import Book
from icpo.rewards.oracle import IsRight, has_oracle, with_oracle
from icpo.store import Extent, load_results, read_metrics
from icpo.types import (
    Engine,
    Extensible,
    Method,
    Purpose,
    Question,
    QuestionResult,
    Relating,
    RewardSource,
    Sampling,
    Selector,
    Toolkit,
    validated,
)

NANO = "icpo:nano"  # the embedded backbone

logger = logging.getLogger(__name__)


@cache
def warn_once(message: str) -> None:
    """Log a warning that the cells of a sweep share."""
    logger.warning("%s", message)


@validated
class Evaluation:
    """One cell of a table; conf/job/evaluation.yaml says where each part comes from."""

    backbone: Backbone
    engine: EngineSettings
    benchmark: Benchmark
    protocol: Protocol
    prompts: Book
    reward: RewardSource
    selector: Selector
    method: Method
    seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    max_in_flight: PositiveInt
    rates: Rates
    question_tokens: PositiveInt
    max_failed_share: float
    watch: bool
    arm: str = "default"
    title: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must be different integers, got {list(self.seeds)}")
        for purpose, sampling in self.sampling().items():
            if sampling.min_room_tokens >= self.context_tokens:
                raise ValueError(
                    f"protocol.sampling.{purpose.value}.min_room_tokens={sampling.min_room_tokens} leaves no "
                    f"room for a prompt in backbone.max_context_tokens={self.context_tokens}"
                )
        is_raw = self.backbone.chat_template is ChatTemplate.NONE and self.backbone.reasoning_end is None
        if self.protocol.lookahead.forced_answer is not None and not is_raw:
            raise ValueError(
                "protocol.lookahead.forced_answer ends a raw prompt with the answer's opening words, but "
                f"backbone={self.backbone.name} has chat_template={self.backbone.chat_template.value} and "
                f"reasoning_end={self.backbone.reasoning_end!r}: a chat model would begin a new turn. Set "
                "backbone.chat_template=none backbone.reasoning_end=null, or leave forced_answer null."
            )

    @property
    def context_tokens(self) -> int:
        """Prompt and completion together: the protocol's word, else the backbone's."""
        return self.protocol.max_context_tokens or self.backbone.max_context_tokens

    def sampling(self) -> dict[Purpose, Sampling]:
        """The protocol's sampling, with the limits that the backbone asks for."""
        return self.protocol.sampling_by_purpose(
            self.backbone.max_answer_tokens, self.backbone.thinking_tokens
        )

    def check(self, *, is_here: bool) -> None:
        """Raises IcpoError where questions, weights or the engine are missing."""
        if self.benchmark.is_here:
            loaded = self.benchmark.load()
            self._require_golds(loaded)
            self._warn_of_unknown_words(loaded.questions)
        if getattr(self.engine, "loads_weights", False):
            check_folder(self.backbone)
        if is_here:
            self.engine.preflight()

    def preflight(self) -> None:
        """Warn of short limits; raise EngineError where the engine cannot run."""
        if warning := self.cut_answers():
            warn_once(warning)
        self.engine.preflight()

    def _warn_of_unknown_words(self, questions: Sequence[Question]) -> None:
        """Log that nano, which knows the words of its word problems alone, is asked something else."""
        is_own = self.benchmark.path is None and isinstance(self.benchmark.source, ArithmeticSource)
        if is_own or self.backbone.model_id != NANO:
            return
        found = [words for question in questions if (words := unknown_words(question.text))]
        if found:
            warn_once(
                f"nano was trained on the project's word problems alone, and {len(found)} of "
                f"{len(questions)} questions of {self.benchmark.name} have words that no such problem has "
                f"({', '.join(found[0][:5])}): its answers mean little. It can be asked, for example: "
                f"{EXAMPLE} For other questions choose another backbone."
            )

    def cut_answers(self) -> str | None:
        """A warning where the protocol's limit is too short."""
        limit = self.sampling()[Purpose.FINAL].max_tokens
        if limit >= self.backbone.min_answer_tokens:
            return None
        return (
            f"Answers of {self.backbone.name} will be cut: protocol={self.protocol.name} ends them after "
            f"{limit} tokens, and backbone.min_answer_tokens is {self.backbone.min_answer_tokens}. Pass "
            "protocol=paper, or protocol.sampling.candidate.max_tokens=NUMBER with room in the context."
        )

    def asked(self) -> Extent:
        """The seeds, questions and final samples that are asked for."""
        return extent_asked(self.method, self.benchmark.load(), self.seeds)

    def sample(self, cell: Cell) -> Mapping[str, Any]:
        """Sample what is missing, grade everything and measure it.

        `engine_account` is what the engine did for this cell when something was last sampled.
        """
        records = cell.records
        loaded = self.benchmark.load(also={question_id for question_id, _ in records.done()})
        records.resolve({"benchmark_digest": loaded.digest, "benchmark_revision": loaded.revision})
        require_weights(records, self.engine, self.backbone)
        extent = extent_of(records, self.method, loaded, self.seeds)
        records.extend(extent)
        account = (read_metrics(records.folder) or {}).get("engine_account", {})
        with Grader(self.protocol.grading) as grader:
            prepared = self.prepared_method(loaded.questions, self._is_right(loaded, grader))
            method, tools = with_num_finals(prepared, extent.num_finals), self.toolkit(grader)
            if isinstance(method, Extensible) and has_lost(records):
                self._repeat_lost(cell, method, loaded, tools)
            if isinstance(method, Extensible) and records.final_counts - {extent.num_finals}:
                account = self._add_finals(cell, method, tools, extent.num_finals)
            tasks = Tasks(loaded.questions, extent.seeds, records.done(), records.extents)
            with self._outcomes(cell, loaded, len(tasks), grader) as outcomes:
                blocked = BlockedQuestions(self.max_failed_share, len(tasks), outcomes.results)
                if tasks.left:
                    require_workers()
                    with POOL.lent(self.engine, self.backbone, self.context_tokens) as (engine, spent):
                        journalled = self._journalled(cell, engine)
                        for result in self._results(method, tasks, tools, journalled):
                            outcomes.add(result, journalled.num_sampled_tokens)
                            blocked.see(result)
                        account = spent()
                blocked.check()
                measured = {**outcomes.measure(), "num_blocked": blocked.num_blocked}
                return {**self.facts(loaded), **measured, "engine_account": account}

    def _repeat_lost(self, cell: Cell, method: Extensible, loaded: LoadedBenchmark, tools: Toolkit) -> None:
        """Makes lost results again as they came about, as far as the journal goes."""
        with POOL.lent(self.engine, self.backbone, self.context_tokens) as (engine, _):
            journal = partial(self._journalled, cell, engine, samples=False)
            repeat_lost(method, cell.records, loaded.questions, tools, journal, engine.block_questions)

    def _add_finals(self, cell: Cell, method: Extensible, tools: Toolkit, num_finals: int) -> dict[str, Any]:
        """Gives each stored result the final samples that it lacks; what the engine did for that."""
        require_workers()
        logger.info("%s: adding final samples to stored results", cell.records.folder.name)
        with POOL.lent(self.engine, self.backbone, self.context_tokens) as (engine, spent):
            journalled, stored = self._journalled(cell, engine), load_results(cell.records.folder)
            results = extended(
                method, stored, num_finals, tools, journalled, max_in_flight=self.max_in_flight
            )
            cell.records.replace_results(results)
            return spent()

    def _journalled(self, cell: Cell, engine: Engine, *, samples: bool = True) -> JournalledEngine:
        """The engine behind the cell's journal; stored results must come from an engine of its identity."""
        cell.records.resolve({"engine_identity": engine.identity})
        cell.records.resolve({f"served at {one}": True for one in getattr(engine, "addresses", ())})
        return JournalledEngine(engine, cell.records.journal, cell.check, samples=samples)

    def _results(
        self, method: Method, tasks: Tasks, tools: Toolkit, engine: Engine
    ) -> Iterator[QuestionResult]:
        """The results that are not stored yet, as they finish."""
        size = engine.block_questions

        def run(task: Task) -> Run:
            observers = [Narrator(task.question, tools, Console().print)] if self.watch else []
            return start(method, task.question, tools, seed=task.seed, observers=observers)

        for block in tasks.blocks(size):
            for result in drive(map(run, block), engine, max_in_flight=size or self.max_in_flight):
                if not tasks.is_done(result.question, result.seed):
                    yield result

    def _outcomes(self, cell: Cell, loaded: LoadedBenchmark, num_total: int, grader: Grader) -> Outcomes:
        """Where results go; the base's score, if this run has it, is shown beside the running one."""
        base_mean_at_k = stored_base_mean(
            cell.records.folder.parent,
            backbone=self.backbone.name,
            benchmark=self.benchmark.name,
            protocol=self.protocol.name,
        )
        return Outcomes(cell, loaded, num_total, grader, self.protocol.abstentions_vote, base_mean_at_k)

    def prepared_method(self, questions: Sequence[Question], is_right: IsRight) -> Method:
        """The method, its oracle knowing which answers are right."""
        method = with_oracle(self.method, is_right)
        return method.among(questions) if isinstance(method, Relating) else method

    def _is_right(self, loaded: LoadedBenchmark, grader: Grader) -> IsRight:
        """Whether an answer is right. Raises BenchmarkError where an oracle has a question without a gold."""
        golds = loaded.golds
        self._require_golds(loaded)
        return lambda question, answer: bool(
            grader.judge(answer, golds[question.question_id], question.kind).correct
        )

    def _require_golds(self, loaded: LoadedBenchmark) -> None:
        """Raises BenchmarkError where an oracle has a question without a gold."""
        unknown = [q.question_id for q in loaded.questions if q.question_id not in loaded.golds]
        if unknown and has_oracle(self.method):
            raise BenchmarkError(
                f"reward=oracle needs gold answers, and {self.benchmark.name} has none for {unknown[0]!r}. "
                "Use reward=majority."
            )

    def facts(self, loaded: LoadedBenchmark) -> dict[str, Any]:
        """Settings for metrics.json; None or 0 where there is none."""
        method = self.method
        reward, selector = getattr(method, "reward", None), getattr(method, "selector", None)
        return {
            "arm": self.arm,
            "title": self.title,
            "backbone": self.backbone.name,
            "benchmark": self.benchmark.name,
            "method": method.name,
            "label": method.label,
            "reward": None if reward is None else reward.name,
            "selector": None if selector is None else selector.name,
            "protocol": self.protocol.name,
            "prompt": getattr(method, "prompt", None),
            "num_rounds": getattr(method, "num_rounds", 0),
            "num_candidates": getattr(method, "num_candidates", 0),
            "num_lookaheads": getattr(method, "num_lookaheads", 0),
            "engine": self.engine.name,
            "benchmark_digest": loaded.digest,
            "benchmark_revision": loaded.revision,
        }

    def toolkit(self, grader: Grader) -> Toolkit:
        """What the method works with."""
        return Toolkit(
            self.prompts,
            self.sampling(),
            grader.extract,
            grader.tally,
            self.backbone.reasoning_end,
            self.backbone.thinking_tokens,
        )
