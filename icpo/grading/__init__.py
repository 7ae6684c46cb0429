"""Grading and voting: from texts to answers, verdicts and classes."""

from icpo.grading.equivalence import Verdict
from icpo.grading.grader import Grader
from icpo.grading.rules import GradingRules
from icpo.grading.workers import GradingError, require_workers

__all__ = ["Grader", "GradingError", "GradingRules", "Verdict", "require_workers"]
