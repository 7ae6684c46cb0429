"""Made-up runs as they are stored: written by the code that writes real ones, from a seeded generator."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from icpo.metrics import GradedFinals, GradedRound, QuestionScore, measure_cell
from icpo.store import CellRecords, load_results
from icpo.types import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Usage,
    Votes,
)

GOLD = "12"
WRONG = ("7", "13", "21")
PROMPTS = {
    "_target_": "icpo.prompts.Book",
    "answer_line": "Thus, the answer is \\(\\boxed{{answer}}\\)",
    "answer_as_float": False,
    "reward_tags": True,
    "idea_form": "full",
}


def tally(answers, kind=AnswerKind.NUMBER):
    counts = Counter(answer for answer in answers if answer is not None)
    return Votes(tuple(counts.most_common()), answers.count(None), tuple(answers))


@dataclass
class MadeUpCell:
    """One cell to store; `skill` is the chance that a final is right."""

    benchmark: str = "arith_l1"
    method: str = "direct"
    skill: float = 0.4
    backbone: str = "nano"
    protocol: str = "quick"
    prompt: str | None = "plain"
    reward: str | None = None
    selector: str | None = None
    num_questions: int = 6
    seeds: tuple[int, ...] = (0, 1)
    k: int = 4
    num_rounds: int = 0
    finals_after: tuple[int, ...] = ()
    question_text: str = "Ann has {i} apples and buys 12 more. How many apples has she?"
    watch: bool = False
    extra: dict = field(default_factory=dict)
    job: dict = field(default_factory=dict)
    config: dict = field(default_factory=dict)

    @property
    def name(self):
        rules = (
            f"-{self.reward}-{self.selector}-n{self.num_rounds}"
            if self.method == "me_icpo"
            else f"-{self.prompt}"
        )
        return f"{self.backbone}-{self.benchmark}-{self.method}{rules}-{self.protocol}"

    def write(self, outputs: Path, run_name: str) -> Path:
        folder = outputs / run_name / self.name
        job = {"backbone": {"name": self.backbone}, "prompts": PROMPTS, "watch": self.watch, **self.job}
        config = {"run_name": run_name, "job": job, **self.config}
        with CellRecords(folder, config=config, config_digest="d") as records:
            scores = []
            for i in range(self.num_questions):
                for seed in self.seeds:
                    result, score = _draw(self, i, seed, records.journal)
                    records.append(result)
                    scores.append(score)
            records.write_scores(scores)
            measured = measure_cell(scores, load_results(folder), tally=tally)
            records.write_metrics({**self.facts(), **measured, "wall_seconds": 12.5, **self.extra})
            records.mark("done")
        return folder

    def facts(self):
        names = ("backbone", "benchmark", "method", "reward", "selector", "protocol", "num_rounds")
        is_direct = self.method == "direct"
        return {name: getattr(self, name) for name in names} | {
            "prompt": self.prompt if is_direct else None,
            "num_candidates": 0 if is_direct else self.k,
            "num_lookaheads": 0 if is_direct else self.k,
            "engine": "scripted",
        }


def me_icpo(benchmark="arith_l1", skill=0.7, **more):
    settings = {"reward": "majority", "selector": "entropy", "num_rounds": 2} | more
    return MadeUpCell(benchmark=benchmark, method="me_icpo", skill=skill, **settings)


def _draw(cell, i, seed, journal):
    """One question of a made-up cell: its result with the texts journalled, and its score."""
    random = Random(f"{cell.name} {i} {seed}")
    drawer = _Drawer(journal, f"{cell.method}.{cell.benchmark}.{cell.backbone}.{i}.{seed}", random)
    skill = min(0.95, max(0.05, cell.skill + 0.3 * (Random(i).random() - 0.5)))
    rounds = tuple(_round(drawer, t, skill, cell.k) for t in range(cell.num_rounds))
    after = cell.finals_after or (cell.num_rounds,)
    finals = tuple((t, drawer.candidates(f"final{t}", skill, cell.k)) for t in after)
    question = Question(f"{cell.benchmark}-{i}", cell.question_text.replace("{i}", str(i)), AnswerKind.NUMBER)
    by_purpose = {"final": 40 * cell.k} | ({"candidate": 30 * cell.k * len(rounds)} if rounds else {})
    usage = Usage(2 + 3 * len(rounds), cell.k, 200, 0, sum(by_purpose.values()), by_purpose)
    score = QuestionScore(
        question.question_id,
        seed,
        GOLD,
        tuple((t, _grade(candidates)) for t, candidates in finals),
        tuple(GradedRound([_is_right(c) for c in r.candidates]) for r in rounds),
    )
    return QuestionResult(question, seed, rounds, finals, usage), score


class _Drawer:
    def __init__(self, journal, prefix, random):
        self.journal, self.prefix, self.random = journal, prefix, random

    def candidates(self, name, skill, k):
        completions = [self._completion(skill) for _ in range(k)]
        [drawn] = self.journal.put(f"{self.prefix}.{name}", [completions])
        answers = [c.text.rsplit("{", 1)[1].rstrip("}") if "boxed{" in c.text else None for c in drawn]
        return tuple(Candidate(c, answer) for c, answer in zip(drawn, answers, strict=True))

    def answer(self, skill):
        draw = self.random.random()
        return GOLD if draw < skill else None if draw > 0.97 else self.random.choice(WRONG)

    def _completion(self, skill):
        answer = self.answer(skill)
        text = f"I add, so $6 + 6 = {answer}$ & <b>done</b>.\nboxed{{{answer}}}" if answer else "I am lost."
        return Completion(text, 50, 40, FinishReason.STOP)


def _round(drawer, t, skill, k):
    candidates = drawer.candidates(f"round{t}", skill, k)
    votes = tally([c.answer for c in candidates])
    winner = votes.winners[0] if votes.winners else None
    tags = tuple(None if c.answer is None else int(c.answer == winner) for c in candidates)
    eligible = tuple(i for i, c in enumerate(candidates) if c.answer is not None)
    attempts = tuple(Attempt(candidates[i], tags[i], "Add <i>both</i> numbers, $a + b$.") for i in eligible)
    lookaheads = tuple(
        Lookahead(i, tally([drawer.answer(skill) for _ in range(k)])) for i in range(len(attempts))
    )
    kept = (min(range(len(attempts)), key=lambda i: lookaheads[i].entropy_bits),) if attempts else ()
    return Round(
        candidates, votes, Rewards(tags, winner, len(votes.winners)), eligible, attempts, lookaheads, kept, 0
    )


def _is_right(candidate):
    return None if candidate.answer is None else candidate.answer == GOLD


def _grade(candidates):
    outcomes = [
        "unparsed" if c.answer is None else "correct" if c.answer == GOLD else "wrong" for c in candidates
    ]
    return GradedFinals(outcomes, [c.answer for c in candidates])
