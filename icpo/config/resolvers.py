"""Resolvers: a name and a kind of answer for a user's question.

`${icpo.question_name:TEXT,FILE}` and `${icpo.question_kind:TEXT,FILE}`; one of the two arguments is null.
"""

import hashlib
import re

from omegaconf import OmegaConf

from icpo.benchmarks import TextSource
from icpo.errors import BenchmarkError
from icpo.types import AnswerKind

OPTIONS = re.compile(r"^\s*\(?A[).:].*^\s*\(?B[).:]", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"[$\\^]|\b(simplify|factor|expand|in terms of|expression)\b", re.IGNORECASE)


def question_name(text: str | None, path: str | None) -> str:
    """`question_` and a digest of the text, to name its cell."""
    read = _read(text, path)
    return f"question_{hashlib.blake2b(read.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"


def question_kind(text: str | None, path: str | None) -> str:
    """The kind of answer a question asks for, by its text."""
    read = _read(text, path)
    if OPTIONS.search(read):
        return AnswerKind.CHOICE.value
    kind = AnswerKind.EXPRESSION if FORMULA.search(read) else AnswerKind.NUMBER
    return kind.value


def _read(text: str | None, path: str | None) -> str:
    """The question; empty where it cannot be read, which reading the benchmark reports."""
    source = TextSource(path, text)
    try:
        return source.question()
    except BenchmarkError:
        return ""


OmegaConf.register_new_resolver("icpo.question_name", question_name, replace=True)
OmegaConf.register_new_resolver("icpo.question_kind", question_kind, replace=True)
