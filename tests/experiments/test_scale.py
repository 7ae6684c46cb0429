"""Exponents of seconds that are known."""

import pytest

from tests.experiments.scripts import load


def test_an_exponent_is_of_the_seconds_beyond_an_empty_command():
    scale = load("throughput/scale")
    seconds = {"linear": (9.0, 1.8, 10.8), "square": (9.0, 1.8, 100.8), "faster than empty": (0.4, 0.4, 0.9)}
    spent = [
        scale.Spent(part, size, cpu, wall_seconds=0, peak_mb=0)
        for part, row in seconds.items()
        for size, cpu in zip((1, 10, 100), row, strict=True)
    ]
    assert scale.exponents(spent[::-1], empty_seconds=0.8) == pytest.approx({"linear": 1, "square": 2})
