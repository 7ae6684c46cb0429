"""The cost model of the paper: its formulas, and their fit to measured costs."""
