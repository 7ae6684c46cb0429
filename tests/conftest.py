"""Settings of the whole test run, made before anything imports torch."""

import gc
import os

# Threads that wait must sleep: spinning ones make a run many times slower beside any other busy process.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# An example's time says something of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish():
    """Spare the garbage collector the modules and tests, which stay: a fifth of the time went there."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
