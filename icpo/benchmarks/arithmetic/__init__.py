"""Generated word problems: chained steps, exact whole answers, disjoint splits."""

from icpo.benchmarks.arithmetic.chains import RULES, Rules, draw_chain
from icpo.benchmarks.arithmetic.problem import Chain, Operation, Problem, Step
from icpo.benchmarks.arithmetic.splits import HELDOUT_SETS, LEVELS, Split, draw_problem, questions
