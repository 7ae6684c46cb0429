"""The evaluation job: one backbone, benchmark, method and protocol, all its seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from icpo.backbones import Backbone, ChatTemplate
from icpo.benchmarks import Benchmark, LoadedBenchmark
from icpo.errors import BenchmarkError
from icpo.evaluation.blocked import BlockedQuestions
from icpo.evaluation.cell import Cell
from icpo.evaluation.engine_pool import POOL, EngineSettings, spent_between
from icpo.evaluation.journalled import JournalledEngine
from icpo.evaluation.live import Narrator
from icpo.evaluation.outcome import Outcomes
from icpo.evaluation.progress import stored_base_mean
from icpo.evaluation.protocol import Protocol
from icpo.evaluation.rates import Rates
from icpo.evaluation.weights import require_weights
from icpo.grading import Grader, require_workers
from icpo.methods import Run, drive
from icpo.methods.contracts import require_members, start
from icpo.prompts import Book
from icpo.rewards.oracle import IsRight, has_oracle, with_oracle
from icpo.store import read_metrics
from icpo.types import (
    Engine,
    Method,
    Purpose,
    Question,
    QuestionResult,
    Relating,
    RewardSource,
    Sampling,
    Selector,
    Toolkit,
)


@dataclass(frozen=True, slots=True)
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
    seeds: tuple[int, ...]
    max_in_flight: int
    rates: Rates
    question_tokens: int
    max_failed_share: float
    watch: bool
    arm: str = "default"
    title: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(self.seeds))
        require_members("method", self.method)
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must be different integers, at least one, got {list(self.seeds)}")
        for name in ("max_in_flight", "question_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for purpose, sampling in self.sampling().items():
            if sampling.min_room_tokens >= self.context_tokens:
                raise ValueError(
                    f"protocol.sampling.{purpose.value}.min_room_tokens={sampling.min_room_tokens} leaves no "
                    f"room for a prompt in backbone.max_context_tokens={self.context_tokens}"
                )
        if self.protocol.lookahead.forced_answer is not None:
            self._check_forced_answer()

    def _check_forced_answer(self) -> None:
        """Raises ValueError where the answer's opening words would not be what the model continues."""
        if self.backbone.chat_template is not ChatTemplate.NONE or self.backbone.reasoning_end is not None:
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

    def preflight(self) -> None:
        """Raises EngineError where this machine cannot run the engine at all."""
        self.engine.preflight()

    def sample(self, cell: Cell) -> Mapping[str, Any]:
        """Draws what is missing, grades everything and measures it.

        `engine_account` is what the engine did for this cell when something was last drawn.
        """
        loaded = self.benchmark.load()
        cell.records.resolve({"benchmark_digest": loaded.digest, "benchmark_revision": loaded.revision})
        require_weights(cell.records, self.engine, self.backbone)
        stored = read_metrics(cell.records.folder) or {}
        account: Mapping[str, Any] = stored.get("engine_account", {})
        with (
            Grader(self.protocol.grading) as grader,
            Outcomes(
                cell,
                loaded,
                len(self.seeds),
                grader,
                self.protocol.abstentions_vote,
                self._base_mean_at_k(cell),
            ) as outcomes,
        ):
            method = self.prepared_method(loaded.questions, self._is_right(loaded, grader))
            todo = [(q, seed) for seed in self.seeds for q in loaded.questions]
            blocked = BlockedQuestions(self.max_failed_share, len(todo), outcomes.results)
            if set(cell.records.done()) != {(q.question_id, seed) for q, seed in todo}:
                require_workers()
                engine = POOL.get(self.engine, self.backbone, self.context_tokens)
                before = POOL.accounting()
                for result in self._results(engine, method, todo, self.toolkit(grader), cell):
                    outcomes.add(result)
                    blocked.see(result)
                account = spent_between(before, POOL.accounting())
            blocked.check()
            measured = {**outcomes.measure(), "num_blocked": blocked.num_blocked}
            return {**self.facts(loaded), **measured, "engine_account": account}

    def _base_mean_at_k(self, cell: Cell) -> float | None:
        """The base's score on the same questions, if this run has it."""
        return stored_base_mean(
            cell.records.folder.parent,
            backbone=self.backbone.name,
            benchmark=self.benchmark.name,
            protocol=self.protocol.name,
        )

    def facts(self, loaded: LoadedBenchmark) -> dict[str, Any]:
        """What metrics.json says of the settings; None or 0 where the method has no such thing."""
        reward = getattr(self.method, "reward", None)
        selector = getattr(self.method, "selector", None)
        return {
            "arm": self.arm,
            "title": self.title,
            "backbone": self.backbone.name,
            "benchmark": self.benchmark.name,
            "method": self.method.name,
            "label": getattr(self.method, "label", self.method.name),
            "reward": None if reward is None else reward.name,
            "selector": None if selector is None else selector.name,
            "protocol": self.protocol.name,
            "prompt": getattr(self.method, "prompt", None),
            "num_rounds": getattr(self.method, "num_rounds", 0),
            "num_candidates": getattr(self.method, "num_candidates", 0),
            "num_lookaheads": getattr(self.method, "num_lookaheads", 0),
            "engine": self.engine.name,
            "benchmark_digest": loaded.digest,
            "benchmark_revision": loaded.revision,
        }

    def prepared_method(self, questions: Sequence[Question], is_right: IsRight) -> Method:
        """The method with what it must know of the cell: which answers are right, for an oracle alone."""
        method = with_oracle(self.method, is_right)
        return method.among(questions) if isinstance(method, Relating) else method

    def _is_right(self, loaded: LoadedBenchmark, grader: Grader) -> IsRight:
        """Whether an answer is right. Raises BenchmarkError where an oracle has a question without a gold."""
        golds = loaded.golds
        unknown = [q.question_id for q in loaded.questions if q.question_id not in golds]
        if unknown and has_oracle(self.method):
            raise BenchmarkError(
                f"reward=oracle needs gold answers, and {self.benchmark.name} has none for {unknown[0]!r}. "
                "Use reward=majority."
            )
        return lambda question, answer: bool(
            grader.judge(answer, golds[question.question_id], question.kind).correct
        )

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

    def _run(self, method: Method, question: Question, seed: int, tools: Toolkit) -> Run:
        """One question's run; when watched, the terminal shows what each stage brought."""
        observers = [Narrator(question, tools, Console().print)] if self.watch else []
        return start(method, question, tools, seed=seed, observers=observers)

    def _results(
        self, engine: Engine, method: Method, todo: list[tuple[Question, int]], tools: Toolkit, cell: Cell
    ) -> Iterator[QuestionResult]:
        """The results that are not stored yet.

        A block is run as a whole even if some of its questions are done: what a batch holds must be the same
        however often a run was interrupted.
        """
        cell.records.resolve({"engine_identity": engine.identity})
        cell.records.resolve({f"served at {one}": True for one in getattr(engine, "addresses", ())})
        done = cell.records.done()
        journalled = JournalledEngine(engine, cell.records.journal, cell.check)

        def is_done(question: Question, seed: int) -> bool:
            return (question.question_id, seed) in done

        if (size := engine.block_questions) is None:
            blocks = [[one for one in todo if not is_done(*one)]]
        else:
            blocks = [todo[i : i + size] for i in range(0, len(todo), size)]
        try:
            for block in blocks:
                if all(is_done(*one) for one in block):
                    continue
                runs = (self._run(method, question, seed, tools) for question, seed in block)
                for result in drive(runs, journalled, max_in_flight=size or self.max_in_flight):
                    if not is_done(result.question, result.seed):
                        yield result
        except BaseException:
            POOL.close()  # requests may still be in flight in it
            raise
