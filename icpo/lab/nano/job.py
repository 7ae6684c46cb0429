"""Makes nano: tokenizer, training, exam and acceptance test; writes a folder that loads as a backbone."""

import csv
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

from icpo.benchmarks.arithmetic import LEVELS, RULES, Rules
from icpo.benchmarks.arithmetic.splits import SET_SIZE
from icpo.evaluation.cell import Cell
from icpo.lab.nano.acceptance import acceptance_scores
from icpo.lab.nano.batches import BatchMaker, load_tokenizer
from icpo.lab.nano.evaluation import evaluate
from icpo.lab.nano.exam import direct_exam, reading_exam
from icpo.lab.nano.examples import (
    Mixture,
    PromptSet,
    Tags,
    Task,
    as_question,
    draw_example,
    draw_source,
)
from icpo.lab.nano.histories import Idea
from icpo.lab.nano.mistakes import AssumedMistakes
from icpo.lab.nano.model import save_model
from icpo.lab.nano.policy import FLAWLESS
from icpo.lab.nano.sampling import Sampler, engine_of
from icpo.lab.nano.solutions import right_solution
from icpo.lab.nano.tokenizer import build_tokenizer, fixed_phrases, save_tokenizer
from icpo.lab.nano.training import Log, Run, train, write_scores
from icpo.prompts import Book, IdeaForm
from icpo.prompts.verdicts import judge
from icpo.seeding import derive_seed
from icpo.store.storage import replace_file
from icpo.types import Budget

logger = logging.getLogger(__name__)

NUM_TOKENIZER_EXAMPLES = 8000
MIN_VOCABULARY = 512  # bytes and the prompts' fixed phrases stand in it in any case


@dataclass(frozen=True, slots=True)
class Exam:
    """What the model is examined on, all of the development split, and with which sampling.

    `rehearsal_levels` are the levels on which ME-ICPO is evaluated (n=2, k=m=8); none skips it.
    """

    num_questions: int
    temperature: float
    top_p: float
    rehearsal_levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.num_questions <= SET_SIZE:
            raise ValueError(f"num_questions must lie in [1, {SET_SIZE}], got {self.num_questions}")
        if unknown := [level for level in self.rehearsal_levels if level not in LEVELS]:
            raise ValueError(f"rehearsal_levels must be among {', '.join(LEVELS)}, got {', '.join(unknown)}")


@dataclass(frozen=True, slots=True)
class TrainNano:
    """Trains one variant of nano; `run` returns the scores and leaves the model in CELL/model."""

    tagged: Book
    untagged: Book
    vocabulary_size: int
    examples_per_chunk: int
    tokens_per_batch: int
    training: Run
    exam: Exam

    def __post_init__(self) -> None:
        for name in ("examples_per_chunk", "tokens_per_batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.vocabulary_size < MIN_VOCABULARY:
            raise ValueError(f"vocabulary_size must be at least {MIN_VOCABULARY}, got {self.vocabulary_size}")

    def sample(self, cell: Cell) -> Mapping[str, object]:
        """Trains (or goes on) in the cell's folder; its curve and scores go to the tracking run too."""

        def log(scores: Mapping[str, float], step: int) -> None:
            cell.check()
            cell.tracking.log(step, scores)

        return self.make(cell.records.folder, log)

    def make(self, cell: Path, log: Log) -> Mapping[str, object]:
        """Train (or go on training) in `cell`; return scores of exam, acceptance test and ME-ICPO.

        Writes model/ (weights, config, tokenizer), curve.csv and scores.json.
        """
        started = time.monotonic()
        prompts = prompt_set(self.tagged, self.untagged)
        folder = cell / "model"
        if not (folder / "tokenizer.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            tokenizer = make_tokenizer(prompts, RULES, self.vocabulary_size, self.training.seed)
            save_tokenizer(tokenizer, folder)
        maker = BatchMaker(
            tokenizer_folder=folder,
            mixture=self.training.phases[0].mixture,
            prompts=prompts,
            rules=RULES,
            seed=self.training.seed,
            examples_per_chunk=self.examples_per_chunk,
            tokens_per_batch=self.tokens_per_batch,
        )
        report = partial(append_scores, cell / "curve.csv", log)
        model, num_tagged = train(self.training, maker, cell, report)
        tokenizer = load_tokenizer(folder)
        save_model(model, folder)
        trained_seconds = time.monotonic() - started
        scores = self._examine(model, tokenizer, prompts)
        report(scores, self.training.num_steps)
        write_scores(scores, cell / "scores.json")
        return {
            **scores,
            "num_parameters": model.num_parameters(),
            "num_tagged_examples": num_tagged,
            "training_seconds": trained_seconds,
            "wall_seconds": time.monotonic() - started,
        }

    def _examine(self, model: Any, tokenizer: Any, prompts: PromptSet) -> dict[str, float]:
        exam, run, seed = self.exam, self.training, derive_seed(self.training.seed, "exam")
        engine = engine_of(model, tokenizer, max_rows=run.max_rows)
        sampler = Sampler(engine, exam.temperature, exam.top_p, run.max_tokens)
        scores = direct_exam(sampler, prompts, exam.num_questions, seed)
        scores |= reading_exam(sampler, prompts, exam.num_questions, seed)
        update = run.phases[-1].mixture.policy.update
        scores |= acceptance_scores(sampler, prompts, exam.num_questions, update, seed)
        if exam.rehearsal_levels:
            budget = Budget(num_rounds=2, num_candidates=8, num_lookaheads=8, num_finals=16)
            scores |= evaluate(sampler, prompts, exam.rehearsal_levels, exam.num_questions, budget, seed)
        return scores


def prompt_set(tagged: Book, untagged: Book) -> PromptSet:
    """The prompts of two books, with what the controls and forced answers make of the first."""
    partial = tuple(replace(tagged, idea_form=form) for form in (IdeaForm.ANSWER_ONLY, IdeaForm.NO_ANSWER))
    return PromptSet(tagged, untagged, partial, replace(tagged, forced_answer="boxed{"), judge)


def make_tokenizer(prompts: PromptSet, rules: Rules, vocabulary_size: int, seed: int) -> Any:
    """The tokenizer for these prompts, trained on completions and questions of the training split."""
    rng = Random(derive_seed(seed, "tokenizer"))
    tasks = {Task.SUMMARY: 1.0, Task.DIRECT: 1.0, Task.TAGGED: 0.3, Task.JUDGE: 0.3}
    mixture = Mixture(tasks, Tags.MAJORITY, FLAWLESS)
    sources = [draw_source(rng, rules, AssumedMistakes()) for _ in range(NUM_TOKENIZER_EXAMPLES)]
    question = as_question(sources[0].problem)
    idea = Idea(right_solution(sources[0].problem.chain), 1).attempt
    ideas = [Idea(right_solution(sources[0].problem.chain), tag).attempt for tag in (0, 1, None)]
    fillings = (question.text, idea.candidate.completion.text, idea.summary, idea.candidate.answer or "")
    phrases = fixed_phrases(
        (
            prompts.tagged.plain(question),
            prompts.tagged.solve(question, tuple(ideas)),
            prompts.untagged.solve(question, tuple(ideas)),
            prompts.tagged.summary(question, idea.candidate.completion.text),
            prompts.judge(question, idea.candidate.completion.text),
        ),
        fillings,
    )
    examples = [draw_example(rng, source, mixture, prompts) for source in sources]
    texts = (text for e in examples for text in _without(f"{e.prompt}\n{e.completion}", phrases))
    return build_tokenizer(texts, phrases, vocabulary_size)


def _without(text: str, phrases: tuple[str, ...]) -> list[str]:
    for phrase in phrases:
        text = text.replace(phrase, "\0")
    return [part for part in text.split("\0") if part]


def append_scores(path: Path, log: Log, scores: Mapping[str, float], step: int) -> None:
    """Adds to the curve and logs to the tracking run.

    What a killed run wrote after the checkpoint from which this one goes on is written anew, not twice.
    """
    log(scores, step)
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines() if path.exists() else ())
    earlier = [row for row in rows if len(row) == 3 and row[0].isdigit()]  # no heading, no torn line
    kept = [row for row in earlier if int(row[0]) < step or (int(row[0]) == step and row[1] not in scores)]
    curve = StringIO()
    writer = csv.writer(curve)
    writer.writerows((("step", "name", "value"), *kept))
    writer.writerows((step, name, f"{value:.6g}") for name, value in scores.items())
    replace_file(path, [curve.getvalue().encode()])
    if "train/loss" in scores:
        logger.info("step %d: loss %.4f", step, scores["train/loss"])
