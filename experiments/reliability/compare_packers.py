"""zlib beside zstandard, with and without a trained dictionary, on journals: bytes and CPU seconds.

Usage: pip install zstandard; python experiments/reliability/compare_packers.py RUN_FOLDER...

Reads the journals below the folders. Half of the records train the dictionary (110 kB), half are packed.
"""

import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import zstandard

from icpo.store import JOURNAL_NAME
from icpo.store.journal_file import read_payload, records_of
from icpo.store.packing import unpack

LEVELS = (1, 3, 9, 19)
DICTIONARY_BYTES = 110_000


def payloads(journal: Path) -> list[bytes]:
    """The unpacked records of a journal."""
    with journal.open("rb") as file:
        file.readline()
        records = list(records_of(file, file.tell(), checked=False))
        found = [read_payload(file, record) for record in records]
    return [unpack(payload) for payload in found if payload is not None]


def measure(name: str, pack: Callable[[bytes], bytes], records: list[bytes]) -> None:
    """Print what a packer makes of the records."""
    start = time.process_time()
    size = sum(len(pack(record)) for record in records)
    seconds = time.process_time() - start
    print(f"{name:28} {size:12,} bytes {seconds:8.3f} s")


def main() -> None:
    """Compare the packers on all journals below the folders given."""
    journals = [path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob(JOURNAL_NAME))]
    records = [payload for journal in journals for payload in payloads(journal)]
    train, test = records[::2], records[1::2]
    print(f"{len(test):,} records, {sum(map(len, test)):,} bytes of JSON")
    dictionary = zstandard.train_dictionary(DICTIONARY_BYTES, train)
    measure("zlib 6", lambda record: zlib.compress(record, 6), test)
    for level in LEVELS:
        measure(f"zstandard {level}", zstandard.ZstdCompressor(level).compress, test)
        with_dictionary = zstandard.ZstdCompressor(level, dict_data=dictionary)
        measure(f"zstandard {level} with dictionary", with_dictionary.compress, test)


if __name__ == "__main__":
    main()
