"""Word problems in everyday language, for pretrained models: templates and numbers."""

from icpo.benchmarks.words.generator import LEVELS, Level, WordProblem, evaluate, word_problems

__all__ = ["LEVELS", "Level", "WordProblem", "evaluate", "word_problems"]
