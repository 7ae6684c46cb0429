"""Answer questions, run presets and read stored runs from Python."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

from icpo.config import build, compose
from icpo.errors import ConfigError, EngineError, IcpoError
from icpo.evaluation.evaluation import Evaluation
from icpo.evaluation.journalled import JournalledEngine
from icpo.grading import Grader
from icpo.methods import drive
from icpo.methods.contracts import start
from icpo.methods.self_consistency import elect
from icpo.seeding import derive_seed
from icpo.store import Journal
from icpo.types import AnswerKind, Engine, Method, Question, QuestionResult, Round, Step, Toolkit, Usage

if TYPE_CHECKING:
    import pandas as pd

INTERRUPTED = 130
EMBEDDED = ("nano", "nano_plain", "nano_shuffled")  # what protocol=quick is for


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method answers to one question.

    `text` is the majority of the final samples, None where none of them could be read; a tie is broken at
    random, by seed. `share` is the part of all final samples that gave it, in [0, 1]. `rounds` is the trace:
    a `Round` of ME-ICPO, a `Step` of a search. `usage` counts requests and tokens. `result` holds everything
    that was sampled.
    """

    text: str | None
    share: float
    rounds: tuple[Round | Step, ...]
    usage: Usage
    result: QuestionResult


class Solver:
    """A method on a backbone, ready to answer questions.

    The engine starts with the first question. Use it as a context manager, or call `close` when done: it
    holds the model and the grader's workers. nano runs `protocol=quick`; every other model the paper's
    protocol and budget (1,456 sequences a question), unless `overrides` say otherwise.

    Args:
        method: a choice of `conf/method`, or a method object such as `MeIcpo(reward, selector)`.
        backbone: a choice of `conf/backbone`, a model's folder, a hub id (OWNER/NAME), or the address of a
            server of the OpenAI API (http://HOST:PORT/v1), whose first model is taken.
        overrides: settings as on the command line, such as `["budget.num_rounds=3", "selector=random"]`.

    Raises:
        ConfigError: a name, a setting or a value is wrong.
    """

    def __init__(
        self, method: "str | Method" = "me_icpo", *, backbone: str = "nano", overrides: Sequence[str] = ()
    ) -> None:
        chosen = [f"method={method}"] if isinstance(method, str) else []
        settings = ["+exp=solve", "question=unused", "tracking=none", *_backbone_overrides(backbone)]
        job = build(compose([*settings, *chosen, *overrides]).job)
        if not isinstance(job, Evaluation):
            raise ConfigError(
                f"A Solver answers questions; job={type(job).__name__} does not. Leave job= out."
            )
        self._job = job
        self._method: Method = job.method if isinstance(method, str) else method
        self._open = ExitStack()

    def __call__(self, text: str, *, kind: str = "number", seed: int = 0) -> Answer:
        """The answer to one question.

        Args:
            text: the question.
            kind: what its answer is: number, expression or choice (options as (A) ... in the text).
            seed: names the sampling; the same question, settings and seed give the same answer on a CPU.

        Raises:
            EngineError: the model cannot be loaded, or the server fails.
        """
        return self.map([text], kind=kind, seed=seed)[0]

    def map(self, questions: Sequence[str], *, kind: str = "number", seed: int = 0) -> list[Answer]:
        """The answers to many questions, in order, on one engine."""
        asked = [_question(text, kind) for text in questions]
        unique = {question.question_id: question for question in asked}
        results = {
            result.question.question_id: result for result in self._results(list(unique.values()), seed)
        }
        return [self._answer(results[question.question_id]) for question in asked]

    def close(self) -> None:
        """Free the model; a later question loads it again."""
        self._open.close()
        for name in ("_engine", "_tools"):
            self.__dict__.pop(name, None)

    def __enter__(self) -> "Solver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _engine(self) -> Engine:
        job = self._job
        job.preflight()
        engine = job.engine.start(job.backbone, max_context_tokens=job.context_tokens)
        self._open.callback(engine.close)
        folder = Path(self._open.enter_context(TemporaryDirectory(prefix="icpo-")))
        journal = Journal(folder / "journal.bin")
        self._open.callback(journal.close)
        return JournalledEngine(engine, journal, lambda: None)

    @cached_property
    def _tools(self) -> Toolkit:
        return self._job.toolkit(self._open.enter_context(Grader(self._job.protocol.grading)))

    def _results(self, questions: Sequence[Question], seed: int) -> list[QuestionResult]:
        size = self._engine.block_questions
        blocks = [questions[i : i + size] for i in range(0, len(questions), size)] if size else [questions]
        results: list[QuestionResult] = []
        for block in blocks:
            runs = (start(self._method, question, self._tools, seed=seed) for question in block)
            results += drive(runs, self._engine, max_in_flight=size or self._job.max_in_flight)
        return results

    def _answer(self, result: QuestionResult) -> Answer:
        _, finals = result.finals[-1]
        votes = self._tools.votes(finals, result.question.kind)
        if not votes.winners:
            return Answer(None, 0.0, result.trace, result.usage, result)
        elected = elect(finals, votes, seed=derive_seed(result.seed, result.question.question_id, "tie"))
        return Answer(elected.answer, votes.counts[0][1] / len(finals), result.trace, result.usage, result)


@dataclass(frozen=True)
class Run:
    """The tables of a stored run; no engine is needed."""

    folder: Path

    @cached_property
    def scores(self) -> "pd.DataFrame":
        """One row per arm, backbone, benchmark and metric, as in table.csv.

        Columns `value`, `low` and `high` are in [0, 1].
        """
        from icpo.report.frame import run_frame

        return run_frame(self.folder.parent, self.folder.name)

    @cached_property
    def questions(self) -> "pd.DataFrame":
        """One row per question, arm and seed: scores, costs, settings that vary."""
        from icpo.report import question_frame

        return question_frame(self.folder.name, outputs=self.folder.parent)


def evaluate(preset: str, *overrides: str) -> "pd.DataFrame":
    """Run a preset as `icpo run` does; return a row per question.

    Progress goes to standard error. A run that was interrupted continues with the same call.

    Raises:
        ConfigError: a setting is wrong; the line above names it.
        IcpoError: a cell failed; what was finished is stored and `load_run` reads it.
    """
    named = [one for one in overrides if one.startswith(("run_name=", "output_root="))]
    config = compose([f"+exp={preset}", *named])
    command = [sys.executable, "-m", "icpo.run", f"+exp={preset}", *overrides]
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status == 2:
        raise ConfigError(f"{preset} did not start; the line above says why.")
    if status:
        raise IcpoError(f"Not every cell of {config.run_name} is done; the lines above say why.")
    return load_run(str(config.run_name), outputs=str(config.output_root)).questions


def load_run(run_name: str, *, outputs: str | Path = "outputs") -> Run:
    """A run that is stored under OUTPUTS/RUN_NAME.

    Raises:
        ConfigError: there is no such folder.
    """
    folder = Path(outputs) / run_name
    if not folder.is_dir():
        known = sorted(path.name for path in Path(outputs).glob("*/") if not path.name.startswith("."))
        raise ConfigError(f"There is no run {folder}. Runs there: {', '.join(known) or 'none'}.")
    return Run(folder)


def _question(text: str, kind: str) -> Question:
    """A question whose id follows from its text, so that its samples do not depend on its neighbours."""
    try:
        answer_kind = AnswerKind(kind)
    except ValueError:
        kinds = ", ".join(one.value for one in AnswerKind)
        raise ConfigError(f"kind must be one of {kinds}, got {kind!r}.") from None
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Question(digest, text, answer_kind)


def _backbone_overrides(backbone: str) -> list[str]:
    """The settings that choose a backbone by name, folder, hub id or server."""
    if backbone.startswith(("http://", "https://")):
        model = _first_model(backbone)
        return ["engine=openai", f"engine.base_url='{backbone}'", *_own_model(model), "backbone.name=served"]
    if "/" in backbone or "\\" in backbone or Path(backbone).is_dir():
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in Path(backbone).name)
        return [*_own_model(backbone), f"backbone.name='{name}'"]
    return [f"backbone={backbone}", *([] if backbone in EMBEDDED else ["protocol=paper"])]


def _own_model(model_id: str) -> list[str]:
    """A model that conf/backbone does not name: in its own chat template, in a context of 4,096 tokens."""
    quoted = model_id.replace("\\", "\\\\").replace("'", "\\'")
    return [
        "backbone=_backbone",
        f"backbone.model_id='{quoted}'",
        "backbone.max_context_tokens=4096",
        "backbone.chat_template=own",
        "backbone.gpu_memory_gb=0",
        "protocol=paper",
    ]


def _first_model(address: str) -> str:
    """The first model that a server lists."""
    try:
        with urlopen(f"{address.rstrip('/')}/models", timeout=10) as reply:
            listed: Any = json.load(reply)
        return str(listed["data"][0]["id"])
    except (URLError, OSError, ValueError, LookupError, TypeError) as error:
        raise EngineError(
            f"{address} does not list its models ({error}). Check the address, which usually ends in /v1, or "
            "name the model: overrides=['backbone.model_id=NAME']."
        ) from None
