"""`icpo.run` with every draw counted at the engine: python -m tests.end_to_end.counted_run LEDGER RUN ARGS...

One JSON line in LEDGER when the engine is asked for a draw, with whether the journals in the folder RUN hold
it already, and one when it has answered.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from icpo.evaluation.engine_pool import EnginePool
from icpo.evaluation.journalled import batch_key, request_key
from icpo.store import JOURNAL_NAME
from icpo.store.journal_file import JournalReader
from icpo.types import Batches, BlockEngine, Completion, Engine, SampleRequest


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


class CountedBlocks:
    """A block engine that notes its batches."""

    def __init__(self, engine: BlockEngine, ledger: Ledger) -> None:
        self.identity, self.block_questions, self.close = (
            engine.identity,
            engine.block_questions,
            engine.close,
        )
        self._engine, self._ledger = engine, ledger

    def generate(self, requests: Sequence[SampleRequest]) -> Batches:
        key = batch_key(self.identity, [request_key(self.identity, request) for request in requests])
        self._ledger.note("asked", key)
        batches = self._engine.generate(requests)
        self._ledger.note("answered", key)
        return batches


class CountedEngine:
    """A continuous engine that notes its requests."""

    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        self.identity, self.close, self.cancel = engine.identity, engine.close, engine.cancel
        self._engine, self._ledger = engine, ledger
        self._keys: dict[int, str] = {}

    def submit(self, ticket: int, request: SampleRequest) -> None:
        self._keys[ticket] = request_key(self.identity, request)
        self._ledger.note("asked", self._keys[ticket])
        self._engine.submit(ticket, request)

    def finished(self) -> list[tuple[int, list[Completion]]]:
        done = self._engine.finished()
        for ticket, _ in done:
            self._ledger.note("answered", self._keys.pop(ticket))
        return done


def main() -> None:
    ledger = Ledger(Path(sys.argv[1]), Path(sys.argv[2]))
    get = EnginePool.get

    def counted(self, *settings):
        engine = get(self, *settings)
        return (CountedEngine if isinstance(engine, Engine) else CountedBlocks)(engine, ledger)

    EnginePool.get = counted
    sys.argv = ["icpo.run", *sys.argv[3:]]
    from icpo.cli.run import main as run

    run()


if __name__ == "__main__":
    main()
