"""On PYTHONPATH: every batch takes ICPO_TEST_SECONDS_PER_BATCH longer, so that a test can step in."""

import os
import time

from icpo.evaluation.engine_pool import EnginePool

SECONDS = float(os.environ.get("ICPO_TEST_SECONDS_PER_BATCH", "0"))
get = EnginePool.get


def slowed(self, *settings):
    engine = get(self, *settings)
    finished = type(engine).finished

    def slowly():
        time.sleep(SECONDS)
        return finished(engine)

    engine.finished = slowly
    return engine


EnginePool.get = slowed
