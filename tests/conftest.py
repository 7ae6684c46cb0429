"""Settings of the whole test run, made before anything imports torch."""

import gc
import os
import sys

# Threads that wait must sleep: spinning ones make a run many times slower beside any other busy process.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# Bytecode is kept even where the environment says not to, as in many containers: what pytest rewrites and
# what the tests start, some hundred processes, would be compiled again each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# An example's time says something of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


gc.disable()  # until all is collected: modules and tests stay


def pytest_collection_finish():
    """Spare the garbage collector the modules and tests: a fifth of the time went there."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 50, 100)
