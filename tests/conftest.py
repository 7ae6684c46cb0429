"""Settings of the whole test run, made before anything imports torch."""

import os

# Threads that wait must sleep: spinning ones make a run many times slower beside any other busy process.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# An example's time says something of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
