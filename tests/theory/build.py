"""Small tensors and trajectories that the theory tests share."""

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.teacher import TeacherRecipe


def tensors(*shape, bound=5.0):
    """A hypothesis strategy of float64 tensors with entries in [-bound, bound]."""
    values = st.floats(-bound, bound, allow_nan=False, width=32)
    return arrays(np.float64, shape, elements=values).map(torch.from_numpy)


def teacher(num_arms, metric="identity", penalty=0.5, step_size=1.0, gamma=0.2, condition_number=10):
    return TeacherRecipe(metric, penalty, condition_number).build(num_arms, step_size, gamma, "cpu")


def draws(num_arms=4, num_tasks=20, num_rounds=8, seed=0, tau_w=1.0, sigma=0.5):
    return sample_draws(Bandit(num_arms, tau_w, sigma), num_tasks, num_rounds, seeded(seed, "cpu"))
