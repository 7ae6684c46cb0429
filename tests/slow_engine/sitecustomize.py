"""On PYTHONPATH: every batch takes ICPO_TEST_SECONDS_PER_BATCH longer, so that a test can step in."""

import os
import time

from icpo.evaluation.engine_pool import EnginePool

SECONDS = float(os.environ.get("ICPO_TEST_SECONDS_PER_BATCH", "0"))
get = EnginePool.get


def slowed(self, *settings):
    engine = get(self, *settings)
    generate = type(engine).generate

    def slowly(requests):
        time.sleep(SECONDS)
        return generate(engine, requests)

    engine.generate = slowly
    return engine


EnginePool.get = slowed
