"""From graded answers to numbers with intervals. Pure functions."""

from icpo.metrics.cell import measure_cell
from icpo.metrics.compare import Comparison, compare, paired_difference, sign_test
from icpo.metrics.estimates import Estimate, estimate
from icpo.metrics.per_question import PER_QUESTION, accuracy, majority_at_k, mean_at_k, pass_at_k, summarise
from icpo.types import GradedFinals, GradedRound, Outcome, QuestionScore
