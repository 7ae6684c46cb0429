"""Fits the paper's time model to a sweep's costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TIME_TERMS: Mapping[str, Callable[[float, float, float], float]] = {
    "n^3": lambda n, k, ml: n**3,
    "k n^2": lambda n, k, ml: k * n**2,
    "n^2": lambda n, k, ml: n**2,
    "k n": lambda n, k, ml: k * n,
    "k m l n": lambda n, k, ml: k * ml * n,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell of a sweep: n, k, look-ahead tokens m l, cost."""

    num_rounds: int
    num_candidates: int
    lookahead_tokens: float
    cost: float


@dataclass(frozen=True, slots=True)
class CostFit:
    """Non-negative coefficients by term, and the relative error.

    It is the root mean square of the relative errors. `inseparable` names the terms that the sweep cannot
    tell from those before them (k m l n from k n, where m l is the same in all cells): their part is in the
    others' coefficients.
    """

    coefficients: Mapping[str, float]
    relative_error: float
    inseparable: tuple[str, ...]

    def shares(self, cell: Measured) -> dict[str, float]:
        """The shares of the terms in a cell's fitted cost."""
        parts = {
            name: c * TIME_TERMS[name](cell.num_rounds, cell.num_candidates, cell.lookahead_tokens)
            for name, c in self.coefficients.items()
        }
        return {name: part / sum(parts.values()) for name, part in parts.items()}


def fit_costs(cells: Sequence[Measured]) -> CostFit:
    """Fit the time model by relative least squares, without negative coefficients.

    Exact: with so few terms the best non-negative solution is found among the least-squares solutions of all
    subsets. Raises ValueError for a cost that is not positive.
    """
    if any(cell.cost <= 0 for cell in cells):
        raise ValueError("costs must be positive to be fitted by relative error")
    columns, inseparable = _separable(cells)
    names = list(columns)
    best: tuple[float, dict[str, float]] = (float("inf"), {})
    for size in range(1, len(names) + 1):
        for subset in combinations(names, size):
            matrix = np.stack([columns[name] for name in subset], axis=1)
            solution = np.linalg.lstsq(matrix, np.ones(len(cells)), rcond=None)[0]
            error = float(np.sqrt(np.mean((matrix @ solution - 1) ** 2)))
            if (solution >= 0).all() and error < best[0] - 1e-12:
                best = error, dict(zip(subset, map(float, solution), strict=True))
    return CostFit({name: best[1].get(name, 0.0) for name in names}, best[0], inseparable)


def _separable(
    cells: Sequence[Measured],
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Each term over the cells' costs, without the terms that are combinations of earlier ones."""
    columns: dict[str, Array] = {}
    inseparable = []
    for name, term in TIME_TERMS.items():
        values = [term(c.num_rounds, c.num_candidates, c.lookahead_tokens) / c.cost for c in cells]
        column = np.array(values, dtype=np.float64)
        scaled = [c / max(float(np.linalg.norm(c)), 1e-300) for c in (*columns.values(), column)]
        if np.linalg.matrix_rank(np.stack(scaled), tol=1e-9) > len(columns):
            columns[name] = column
        else:
            inseparable.append(name)
    return columns, tuple(inseparable)


def growth_exponent(costs: Mapping[int, float]) -> float:
    """The p of cost ~ n^p. Raises ValueError without two n."""
    low, high = min(costs), max(costs)
    if low == high or low < 1 or min(costs[low], costs[high]) <= 0:
        raise ValueError(f"an exponent needs two different n from 1 and positive costs, got {dict(costs)}")
    return log(costs[high] / costs[low]) / log(high / low)
