"""`icpo.run` counted at the engine: python -m tests.end_to_end.counted_run LEDGER RUN ARGS...

One JSON line in LEDGER when the engine is asked for a batch, or for a request where it knows no batches,
with whether the journals in the folder RUN hold it already, and one when it has answered.
"""

import json
import os
import sys
from pathlib import Path

from icpo.evaluation.engine_pool import EnginePool
from icpo.evaluation.journalled import batch_key, request_key
from icpo.store import JOURNAL_NAME
from icpo.store.journal_file import JournalReader
from icpo.types import Completion, Engine, SampleRequest


class Ledger:
    """Appends what the engine is asked and has answered; a line is written whole or not at all."""

    def __init__(self, path: Path, run: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._run = run

    def note(self, event: str, key: str) -> None:
        line = {"event": event, "key": key, "pid": os.getpid()}
        if event == "asked":
            line["known"] = any(key in stored_keys(path) for path in self._run.glob(f"*/{JOURNAL_NAME}"))
        os.write(self._file, json.dumps(line).encode() + b"\n")


def stored_keys(journal: Path) -> JournalReader:
    reader = JournalReader(journal)
    reader.refresh()
    reader.close()
    return reader


class CountedEngine:
    """An engine that notes its requests, or its batches where it completes in blocks."""

    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        self.identity, self.close, self.cancel = engine.identity, engine.close, engine.cancel
        self.block_questions = engine.block_questions
        self._engine, self._ledger = engine, ledger
        self._keys: dict[int, str] = {}

    def submit(self, ticket: int, request: SampleRequest) -> None:
        self._keys[ticket] = request_key(self.identity, request)
        if self.block_questions is None:
            self._ledger.note("asked", self._keys[ticket])
        self._engine.submit(ticket, request)

    def finished(self) -> list[tuple[int, list[Completion]]]:
        if self.block_questions is not None:
            batch = batch_key(self.identity, list(self._keys.values()))
            self._ledger.note("asked", batch)
        done = self._engine.finished()
        keys = [self._keys.pop(ticket) for ticket, _ in done]
        for key in keys if self.block_questions is None else [batch]:
            self._ledger.note("answered", key)
        return done


def main() -> None:
    ledger = Ledger(Path(sys.argv[1]), Path(sys.argv[2]))
    get = EnginePool.get

    def counted(self, *settings):
        engine = get(self, *settings)
        return CountedEngine(engine, ledger)

    EnginePool.get = counted
    sys.argv = ["icpo.run", *sys.argv[3:]]
    from icpo.cli.run import main as run

    run()


if __name__ == "__main__":
    main()
