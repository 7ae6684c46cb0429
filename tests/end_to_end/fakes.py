"""An engine without a model, and cells run on it: everything else is the real thing."""

import json
import os
import pickle
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

from icpo.config import build, config_digest, resolved
from icpo.evaluation.cell import run_cell
from icpo.evaluation.engine_pool import POOL
from icpo.types import Completion, FinishReason, Purpose
from tests.composing import composed


def reply(request):
    """Completions by seed and sample: answers 1 to 3, now and then none, scores and verdicts where asked."""
    completions = []
    for i in range(request.num_samples):
        draw = (request.seed + 7 * i) % 11
        text = (
            "I cannot tell."
            if draw == 0
            else f"We add, so {draw}. yes, score {draw}. boxed{{{draw % 3 + 1}}}"
        )
        if request.purpose is Purpose.SUMMARY:
            text = f"A summary of length {len(request.prompt.user)}."
        completions.append(Completion(text, len(request.prompt.raw) // 4, len(text) // 4, FinishReason.STOP))
    return completions


@dataclass(slots=True)
class Continuous:
    identity: str = "fake continuous"
    block_questions: int | None = None
    requests: list = field(default_factory=list)
    waiting: dict = field(default_factory=dict)

    def submit(self, ticket, request):
        self.requests.append(request)
        self.waiting[ticket] = request

    def answer(self, request):
        return reply(request)

    def finished(self):
        ticket = max(self.waiting)
        return [(ticket, self.answer(self.waiting.pop(ticket)))]

    def cancel(self, ticket):
        self.waiting.pop(ticket, None)

    def close(self):
        pass


@dataclass(slots=True)
class Blocks(Continuous):
    identity: str = "fake blocks"
    block_questions: int | None = 2

    def submit(self, ticket, request):
        self.waiting[ticket] = request

    def finished(self):
        self.requests += self.waiting.values()
        done = [(ticket, self.answer(request)) for ticket, request in self.waiting.items()]
        self.waiting.clear()
        return done


@dataclass(frozen=True, slots=True)
class Settings:
    """Engine settings whose engine is given."""

    engine: object
    name: str = "fake"

    def preflight(self):
        pass

    def start(self, backbone, *, max_context_tokens):
        return self.engine

    def __eq__(self, other):
        return isinstance(other, Settings) and self.engine is other.engine

    def __hash__(self):
        return id(self.engine)


def questions_file(folder, golds=("2", "3", "1"), text="How many are {i} apples and {i} pears?"):
    path = folder / "questions.jsonl"
    rows = [{"id": f"q{i}", "problem": text.format(i=i), "answer": gold} for i, gold in enumerate(golds)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _source(questions):
    if questions.suffix == ".txt":
        return ["benchmark=questions_file", f"+question_file={questions}"]
    return ["benchmark=aime2024", f"benchmark.path={questions}", "benchmark.expected_count=null"]


def run(folder, questions, *overrides, engine=None):
    """Runs one cell of quickstart on a fake engine; returns its folder and the engine."""
    engine = engine or Blocks()
    if questions.suffix == ".txt":
        return run_composed(composed_for(questions, *overrides), folder, engine), engine
    values, job, tracker = pickle.loads(_built(overrides))
    for group in (values, values["job"]):
        group["benchmark"]["path"] = str(questions)
    job = replace(job, benchmark=replace(job.benchmark, path=str(questions)))
    return _run_built(values, job, tracker, folder, engine), engine


@cache
def _built(overrides):
    """A cell's settings as values, its job and its tracker, for any file of questions; pickled."""
    config = composed_for(Path("questions.jsonl"), *overrides)
    return pickle.dumps((resolved(config), build(config.job), build(config.tracking)))


def composed_for(questions, *overrides):
    """A small cell of quickstart."""
    overrides = [
        "+exp=quickstart",
        *_source(questions),
        "benchmark.limit=null",
        "tracking=none",
        "budget.num_candidates=3",
        "budget.num_lookaheads=3",
        "budget.num_finals=4",
        *overrides,
    ]
    config = composed(*overrides)
    if config.arm == "default":  # a sweep names it after its arm
        config.cell = f"{config.cell}-{config.method.label}"
    return config


def run_composed(config, folder, engine):
    """Runs a composed cell on a fake engine, in a folder of its name, which is returned."""
    return _run_built(resolved(config), build(config.job), build(config.tracking), folder, engine)


def _run_built(values, job, tracker, folder, engine):
    job, cell = replace(job, engine=Settings(engine)), folder / values["cell"]
    try:
        with patch("os.fsync", os.fstat):  # tests do not outlive the machine; a closed file is still an error
            run_cell(job, tracker=tracker, folder=cell, values=values, digest=config_digest(values))
    finally:
        POOL.close()
    return cell
