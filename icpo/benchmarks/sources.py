"""Sources of questions: file, Hugging Face hub, generator, or one text."""

import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Protocol

from icpo.benchmarks.columns import Columns, Item
from icpo.benchmarks.rows import SUFFIXES, read_rows
from icpo.errors import BenchmarkError
from icpo.types import validated


@dataclass(frozen=True, slots=True)
class Sourced:
    """All items of a source, in order, and their revision, if any."""

    items: list[Item]
    revision: str | None = None


class Source(Protocol):
    """A place that items are read from."""

    def read(self, name: str) -> Sourced:
        """All items; `name` is the benchmark's, for ids and messages."""


@validated
class FileSource:
    """A .jsonl, .csv or .parquet file, with columns found by usual names."""

    path: str
    columns: Columns | None = None

    def read(self, name: str) -> Sourced:
        """Items of the file."""
        rows = read_rows(Path(self.path))
        names = list(dict.fromkeys(key for row in rows for key in row))
        columns = self.columns or Columns("problem", "answer", None, None, (), 0)
        return Sourced(columns.fitted(names, self.path).items(rows, name))


@validated
class HubSource:
    """A dataset of the hub; `split_files` is a glob of its files."""

    repo: str
    revision: str | None
    split_files: str
    columns: Columns

    def read(self, name: str) -> Sourced:
        """Items of the split's files, with the commit as revision."""
        folder = self._download()
        files = sorted(
            path
            for path in folder.rglob("*")
            if path.suffix in SUFFIXES and fnmatch(path.relative_to(folder).as_posix(), self.split_files)
        )
        if not files:
            raise BenchmarkError(
                f"Dataset {self.repo} at {folder.name} has no data file like {self.split_files!r}. "
                "Set benchmark.source.split_files, or give the questions as benchmark.path=FILE."
            )
        rows = [row for file in files for row in read_rows(file)]
        names = list(dict.fromkeys(key for row in rows for key in row))
        columns = self.columns.fitted(names, self.repo)
        return Sourced(columns.items(rows, name), revision=folder.name)

    def _download(self) -> Path:
        """The snapshot's folder, named by its commit; from the hub's cache when the hub cannot be reached."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError

        try:
            return Path(
                snapshot_download(
                    self.repo, repo_type="dataset", revision=self.revision, allow_patterns=[self.split_files]
                )
            )
        except (OSError, HfHubHTTPError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BenchmarkError(
                f"Dataset {self.repo} could not be loaded from the Hugging Face hub ({reason}). "
                f"Download its file {self.split_files} elsewhere and give it, to this benchmark alone, as "
                f"benchmark.path=FILE (.jsonl, .csv or .parquet with the columns {self.columns.text!r} and "
                f"{self.columns.answer!r}); where the hub's cache (HF_HOME) already holds it, set "
                "HF_HUB_OFFLINE=1; a gated dataset needs HF_TOKEN."
            ) from None


@dataclass(frozen=True, slots=True)
class ArithmeticSource:
    """Generated word problems: a set of one split, the same everywhere."""

    split: str
    problem_set: str

    def read(self, name: str) -> Sourced:
        """The generated problems."""
        from icpo.benchmarks import arithmetic

        problems = arithmetic.questions(self.split, self.problem_set)
        return Sourced([Item(p.problem_id, p.text, str(p.answer)) for p in problems])


@dataclass(frozen=True, slots=True)
class WordsSource:
    """Word problems in everyday language of one level: l1, l2 or l3."""

    level: str

    def read(self, name: str) -> Sourced:
        """The generated problems."""
        from icpo.benchmarks.words import word_problems

        problems = word_problems(self.level)
        return Sourced([Item(p.problem_id, p.text, str(p.answer)) for p in problems])


@dataclass(frozen=True, slots=True)
class TextSource:
    """One question without a gold answer: a text, file or standard input."""

    path: str | None = None
    text: str | None = None

    def read(self, name: str) -> Sourced:
        """One item."""
        return Sourced([Item(f"{name}/0", self.question(), None)])

    def question(self) -> str:
        """The question. Raises BenchmarkError where there is none."""
        if (self.path is None) == (self.text is None):
            raise BenchmarkError(
                "Give a question: question='TEXT', or question_file=FILE ('-': standard input)."
            )
        try:
            if self.path is None:
                text = str(self.text)
            else:
                text = _standard_input() if self.path == "-" else Path(self.path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BenchmarkError(f"The question cannot be read from {self.path}: {error}.") from None
        if not text.strip():
            raise BenchmarkError(f"The question read from {self.path or 'question='} is empty.")
        return text.strip()


@cache
def _standard_input() -> str:
    return sys.stdin.read()
