"""Writes a synthetic AIME cell at the paper's protocol; measures its size, time and memory of a resume.

Usage: python experiments/reliability/measure_journal.py [--questions 150] [--folder DIR]

Real texts of one question repeat each other and the question, so they pack better than these: word chains
over the language reference that comes with Python, four bytes to a token.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics  # type: ignore[import-untyped]

from icpo.store import JOURNAL_NAME, CellRecords, Journal, load_results
from icpo.types import (
    AnswerKind,
    Attempt,
    Batches,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Votes,
)

NUM_ROUNDS, NUM_CANDIDATES, NUM_LOOKAHEADS = 5, 16, 16  # the paper's protocol
SOLUTION_TOKENS, SUMMARY_TOKENS, BYTES_PER_TOKEN = 1170, 100, 4  # 1.6M tokens a question and seed
CONFIG = {"measured": "journal"}


def main() -> None:
    """Writes the cell, then resumes it in a fresh process, and prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=150, help="questions times seeds")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder, deleted)")
    parser.add_argument("--resume", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.resume:
        print(json.dumps(resume(arguments.folder)))
        return
    folder = arguments.folder or Path(tempfile.mkdtemp())
    cell = folder / "cell"
    written = write(cell, arguments.questions)
    command = [sys.executable, __file__, "--resume", "--folder", str(cell)]
    resumed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for name, value in (written | resumed).items():
        print(f"{name:32} {value:,}")
    if arguments.folder is None:
        shutil.rmtree(folder)


def write(cell: Path, num_questions: int) -> dict[str, float]:
    """Writes all questions but the last, whose draws are journalled and whose result is not."""
    texts = Texts()
    began = time.monotonic()
    with CellRecords(cell, config=CONFIG, config_digest="measured") as records:
        for q in range(num_questions):
            result = solve(records.journal, q, texts)
            if q < num_questions - 1:
                records.append(result)
    return {
        "questions_times_seeds": num_questions,
        "generated_tokens": texts.num_tokens,
        "text_megabytes": round(texts.num_bytes / 1e6),
        "journal_megabytes": round((cell / JOURNAL_NAME).stat().st_size / 1e6),
        "cell_megabytes": round(sum(path.stat().st_size for path in cell.iterdir()) / 1e6),
        "write_seconds": round(time.monotonic() - began, 1),
    }


def resume(cell: Path) -> dict[str, float]:
    """Opens the cell, replays the question that has no result yet from the journal, stores its result."""
    began = time.monotonic()
    with CellRecords(cell, config=CONFIG, config_digest="measured") as records:
        opened = time.monotonic()
        last = len(records.done())
        records.append(solve(records.journal, last, None))
        num_read = records.journal.num_read
    done = time.monotonic()
    load_results(cell)
    return {
        "records_replayed": num_read,
        "open_seconds": round(opened - began, 2),
        "resume_seconds": round(done - began, 2),
        "peak_memory_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }


class Texts:
    """Word chains, drawn once and shuffled: records are packed one by one, so repeats save nothing."""

    def __init__(self) -> None:
        self._random = random.Random(0)
        words = " ".join(topics.values()).split(" ")
        followers = defaultdict(list)
        for word, follower in pairwise(words):
            followers[word].append(follower)
        self._pool = ["".join(self._chain(words, followers)) for _ in range(2000)]
        self.num_tokens = self.num_bytes = 0

    def _chain(self, words: list[str], followers: dict[str, list[str]]) -> Iterator[str]:
        word, size = self._random.choice(words), 0
        while size < SOLUTION_TOKENS * BYTES_PER_TOKEN:
            yield word + " "
            size += len(word) + 1
            word = self._random.choice(followers[word] or words)

    def draw(self, num_samples: int, num_tokens: int) -> Batches:
        """One request's completions."""
        num_bytes = num_tokens * BYTES_PER_TOKEN
        texts = [text[:num_bytes] for text in self._random.sample(self._pool, num_samples)]
        self.num_tokens += num_samples * num_tokens
        self.num_bytes += sum(map(len, texts))
        return [[Completion(text, 400, num_tokens, FinishReason.STOP) for text in texts]]


def solve(journal: Journal, q: int, texts: Texts | None) -> QuestionResult:
    """One question as ME-ICPO would journal it: drawn from `texts`, or read where there are none."""

    def ask(name: str, num_samples: int, num_tokens: int) -> list[Completion]:
        key = f"{q:08d}{name:>024}".replace(" ", "0")
        known = journal.get(key) if texts is None else journal.put(key, texts.draw(num_samples, num_tokens))
        if known is None:
            raise LookupError(f"{key} is not in the journal")
        return known[0]

    rounds = []
    for t in range(NUM_ROUNDS):
        candidates = tuple(Candidate(c, "7") for c in ask(f"c{t}", NUM_CANDIDATES, SOLUTION_TOKENS))
        summaries = [ask(f"s{t}.{i}", 1, SUMMARY_TOKENS)[0].text for i in range(NUM_CANDIDATES)]
        for i in range(NUM_CANDIDATES):
            ask(f"l{t}.{i}", NUM_LOOKAHEADS, SOLUTION_TOKENS)
        votes = Votes((("7", NUM_CANDIDATES),), 0, ("7",) * NUM_CANDIDATES)
        rounds.append(
            Round(
                candidates,
                votes,
                Rewards((1,) * NUM_CANDIDATES, "7", 1),
                tuple(range(NUM_CANDIDATES)),
                tuple(Attempt(c, 1, s) for c, s in zip(candidates, summaries, strict=True)),
                tuple(Lookahead(i, votes) for i in range(NUM_CANDIDATES)),
                (0,),
            )
        )
    finals = tuple(Candidate(c, "7") for c in ask("final", NUM_CANDIDATES, SOLUTION_TOKENS))
    question = Question(f"aime/{q}", "How many?", AnswerKind.NUMBER)
    return QuestionResult(question, 0, tuple(rounds), ((NUM_ROUNDS, finals),))


if __name__ == "__main__":
    main()
