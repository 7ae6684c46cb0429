"""From graded answers to numbers with intervals. Pure functions."""

from icpo.metrics.cell import measure_cell
from icpo.metrics.compare import Comparison, compare, paired_difference, sign_test
from icpo.metrics.estimates import Estimate, estimate
from icpo.metrics.per_question import PER_QUESTION, accuracy, majority_at_k, mean_at_k, pass_at_k, summarise
from icpo.types import GradedFinals, GradedRound, Outcome, QuestionScore

__all__ = [
    "PER_QUESTION",
    "Comparison",
    "Estimate",
    "GradedFinals",
    "GradedRound",
    "Outcome",
    "QuestionScore",
    "accuracy",
    "compare",
    "estimate",
    "majority_at_k",
    "mean_at_k",
    "measure_cell",
    "paired_difference",
    "pass_at_k",
    "sign_test",
    "summarise",
]
