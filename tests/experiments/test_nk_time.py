import pandas as pd

from tests.experiments.scripts import load

SECONDS = {"sequential": lambda n: 2 + 3 * n + n * n / 2, "pipelined": lambda n: 4.0 * n}


def test_the_growth_of_measured_seconds_is_that_of_the_series_given():
    """The paper's own seconds and memory at k = 4 stand beside them."""
    script = load("nk_sweep/write_time")
    speeds = pd.DataFrame(
        {"schedule": name, "num_rounds": n, "seconds_per_question": seconds(n), "peak_cache_gb": n / 10}
        for name, seconds in SECONDS.items()
        for n in (1, 3, 5, 7)
    )
    assert "| 7 | 47.5 | 28.00 | 821 | 0.70 | 0.7 | 81.4 |" in script.time_table(speeds)
    growth = script.growth_table(speeds)
    assert "2.00 + 3.00 n +0.500 n^2" in growth
    assert "| pipelined | 1.00 |" in growth
    assert "| the paper's table | 0.73 |" in growth
