"""The paper's cost model: formulas, and their fit to costs."""
