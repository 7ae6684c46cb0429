"""Disks that refuse: full, read-only, closed to this user, and a limit on the size of files."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from icpo.errors import RecordsError
from icpo.store import JOURNAL_NAME, Journal
from tests.store.values import batches, completion, result
from tests.stored import read_results


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
    """Stores draws until the disk refuses; returns the keys that were taken."""
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
    with pytest.raises(RecordsError, match="disk is full: free some space"):
        records.journal.put("more", [[completion(incompressible(200_000))]])
    records.close()
    subprocess.run(["mount", "-o", "remount,size=2m", str(tiny_disk)], check=True)
    with reopen(cell) as records:
        assert all(records.journal.get(key) is not None for key in kept)
        assert records.done() >= {(f"q{key[1:]}", 0) for key in kept}
        assert records.journal.num_torn == 0
        records.append(result("after"))
    assert read_results(cell)[-1]["question_id"] == "after"


def test_a_read_only_file_system_is_named(tiny_disk, reopen):
    with reopen(tiny_disk / "run" / "cell") as records:
        records.append(result("a"))
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(RecordsError, match="read-only: choose another outputs folder"):
        reopen(tiny_disk / "run" / "cell")
    with pytest.raises(RecordsError, match="read-only"):
        reopen(tiny_disk / "new" / "cell")
    assert [row["question_id"] for row in read_results(tiny_disk / "run" / "cell")] == ["a"]


def test_a_limit_on_file_size_takes_the_unfinished_record_back(tmp_path):
    path = tmp_path / JOURNAL_NAME
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.open(path) as journal:
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
    with Journal.open(path) as journal:
        assert (journal.get("k1")[0][0].text, journal.num_torn) == ("second", 0)


def test_a_folder_closed_to_this_user_is_named(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    code = (
        "import os, sys; from pathlib import Path; from icpo.store import CellRecords\n"
        "os.setuid(65534) if os.getuid() == 0 else None\n"
        "CellRecords.open(Path(sys.argv[1]) / 'cell', config={}, config_digest='d')"
    )
    closed.chmod(0o555)
    if os.getuid() == 0:
        for folder in (closed, *closed.parents):
            folder.chmod(folder.stat().st_mode | 0o055) if str(folder).startswith("/tmp/") else None
    failed = subprocess.run(
        [sys.executable, "-c", code, str(closed)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert "RecordsError: Cannot create" in failed.stderr
    assert "Permission denied: choose another outputs folder" in failed.stderr


def test_an_outputs_path_that_is_a_file_is_named(tmp_path, reopen):
    (tmp_path / "outputs").write_text("a file")
    with pytest.raises(RecordsError, match=r"Cannot create .*outputs"):
        reopen(tmp_path / "outputs" / "run" / "cell")
