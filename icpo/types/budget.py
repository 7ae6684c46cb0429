"""How much a method may spend on a question."""

from pydantic import NonNegativeInt, PositiveInt

from icpo.types.validated import validated


@validated
class Budget:
    """How much to sample; each method reads what it uses.

    The defaults are the paper's.
    """

    num_rounds: NonNegativeInt = 5
    """n: rounds of ME-ICPO."""
    num_candidates: PositiveInt = 16
    """k: candidates of a round."""
    num_lookaheads: NonNegativeInt = 16
    """m: look-aheads of an attempt, at most."""
    num_finals: PositiveInt = 16
    """Answers that are scored: the k of Mean@k."""
    num_samples: PositiveInt = 16
    """Samples from which a vote, a judge or a control takes one answer."""
