"""Section 3 of the paper as code: bandits, the teacher, linear self-attention and what is claimed of them.

Only torch and numpy are imported here. Everything is float64 and batched over tasks. Shape letters: B tasks,
K arms, N rounds of a trajectory, M training prefixes, F features of a history, S starts, T test rounds.
"""
