"""Disks that refuse: full, read-only, closed to this user, and a limit on the size of files."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from icpo.errors import RecordsError
from icpo.store import JOURNAL_NAME, Journal
from tests.reliability import report_row
from tests.store.values import batches, completion, result
from tests.stored import read_results

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 256 KiB; skipped where this user may not mount one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def incompressible(num_bytes: int) -> str:
    return os.urandom(num_bytes // 2).hex()


def fill(records) -> list[str]:
    """Stores samples until the disk refuses; returns the keys that were taken."""
    kept = []
    with pytest.raises(RecordsError) as error:
        for i in range(1000):
            records.journal.put(f"k{i}", [[completion(incompressible(20_000))]])
            records.append(result(f"q{i}"))
            kept.append(f"k{i}")
    assert str(records.folder) in str(error.value)
    assert "kept" in str(error.value)
    return kept


def test_a_full_disk_stops_at_once_and_what_was_written_is_used_once_there_is_room(tiny_disk, reopen):
    cell = tiny_disk / "run" / "cell"
    records = reopen(cell)
    kept = fill(records)
    assert kept
    with pytest.raises(RecordsError, match="disk is full"):
        records.journal.put("more", [[completion(incompressible(200_000))]])
    records.close()
    subprocess.run(["mount", "-o", "remount,size=2m", str(tiny_disk)], check=True)
    with reopen(cell) as records:
        assert all(records.journal.get(key) is not None for key in kept)
        assert records.done() >= {(f"q{key[1:]}", 0) for key in kept}
        assert records.journal.num_torn == 0
        records.append(result("after"))
    assert read_results(cell)[-1]["question_id"] == "after"
    report_row("a disk that fills", f"{len(kept)} records before it was full", "each is used again")


def test_a_read_only_file_system_is_named(tiny_disk, reopen):
    with reopen(tiny_disk / "run" / "cell") as records:
        records.append(result("a"))
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(RecordsError, match="read-only"):
        reopen(tiny_disk / "run" / "cell")
    with pytest.raises(RecordsError, match="read-only"):
        reopen(tiny_disk / "new" / "cell")
    assert [row["question_id"] for row in read_results(tiny_disk / "run" / "cell")] == ["a"]
    report_row(
        "a read-only file system", "2 ways to open a cell", "a named error each; what is stored is read"
    )


def test_a_limit_on_file_size_takes_the_unfinished_record_back(tmp_path):
    path = tmp_path / JOURNAL_NAME
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.put("k0", batches("first"))
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, before[1]))
        try:
            with pytest.raises(RecordsError, match=f"Cannot write {path}.*ulimit"):
                journal.put("k1", [[completion(incompressible(20_000))]])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.stat().st_size == size
        journal.put("k1", batches("second"))
    with Journal(path) as journal:
        assert (journal.get("k1")[0][0].text, journal.num_torn) == ("second", 0)
    report_row("a limit on the size of files", "1 record", "taken back whole; the next one is stored")


SYNCED = """
import os, sys
from pathlib import Path
from icpo.store import CellRecords
from tests.store.values import result, score

def watched(fd):
    path = os.readlink(f"/proc/self/fd/{fd}")
    print(Path(path).name.removeprefix(".").split(".json")[0], os.fstat(fd).st_size, flush=True)
    fsync(fd)

fsync, os.fsync = os.fsync, watched
folder = Path(sys.argv[1])
with CellRecords(folder, config={}, config_digest="d") as records:
    records.append(result("a"))
    print("stored", (folder / "results.jsonl").stat().st_size)
    records.write_scores([score("a")])
    records.write_metrics({"mean": 1.0})
    for name in ("scores.jsonl", "metrics.json"):
        print("replaced", name.split(".json")[0], (folder / name).stat().st_size)
"""


def test_what_is_stored_is_on_the_disk_before_it_counts(tmp_path):
    """A result, and each file that takes another's place, is synced whole."""
    done = subprocess.run(
        [sys.executable, "-c", SYNCED, str(tmp_path / "cell")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = [line.split() for line in done.stdout.splitlines()]
    [[_, size]] = [words for words in said if words[0] == "stored"]
    stored_at = said.index(["stored", size])
    assert ["results", size] in said[:stored_at]
    assert [words[1:] for words in said if words[0] == "replaced"] == [
        words for words in said[stored_at:] if words[0] in ("scores", "metrics")
    ]


def test_a_folder_closed_to_this_user_is_named(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    code = (
        "import os, sys; from pathlib import Path; from icpo.store import CellRecords\n"
        "os.setuid(65534) if os.getuid() == 0 else None\n"
        "CellRecords(Path(sys.argv[1]) / 'cell', config={}, config_digest='d')"
    )
    closed.chmod(0o555)
    if os.getuid() == 0:
        for folder in (closed, *closed.parents):
            folder.chmod(folder.stat().st_mode | 0o055) if str(folder).startswith("/tmp/") else None
    failed = subprocess.run(
        [sys.executable, "-c", code, str(closed)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert "RecordsError: Cannot create" in failed.stderr
    assert "Permission denied: choose another outputs folder" in failed.stderr
    report_row("a folder closed to this user", "1", "a named error")


def test_an_outputs_path_that_is_a_file_is_named(tmp_path, reopen):
    (tmp_path / "outputs").write_text("a file")
    with pytest.raises(RecordsError, match=r"Cannot create .*outputs"):
        reopen(tmp_path / "outputs" / "run" / "cell")
