import logging
import subprocess
import sys

import pytest

from icpo.errors import RecordsError
from icpo.store import JOURNAL_NAME, RESULTS_NAME, Journal
from icpo.store.repair import compact, salvage, verify
from tests.store.values import batches, result


@pytest.fixture
def filled(cell, reopen):
    """A cell with five records and two results, each with a draw."""
    with reopen() as records:
        for i in range(5):
            sampled = records.journal.put(f"k{i}", batches(f"text {i}", "more " * 500))
            if i < 2:
                records.append(result(f"q{i}", samples=sampled))
        records.mark("interrupted", questions_done=2)
    return cell


def damage(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def command(action, path):
    done = subprocess.run(
        [sys.executable, "-m", "icpo.records", action, str(path)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_a_sound_cell_is_said_to_be_sound(filled):
    health = verify(filled)
    assert health.is_sound
    assert (health.num_records, health.num_results) == (5, 2)
    assert command("verify", filled.parent)[0] == 0


@pytest.mark.parametrize("num_hit", [1, 2, 4])
def test_salvage_keeps_every_whole_record_and_the_cell_goes_on(filled, reopen, num_hit):
    path = filled / JOURNAL_NAME
    starts = [path.read_bytes().index(f"@k{i} ".encode()) for i in range(5)]
    for start in starts[:num_hit]:
        damage(path, start + 20)
    before = path.read_bytes()
    with pytest.raises(RecordsError, match="salvage"):
        reopen()
    code, said = command("verify", filled)
    assert (code, "DAMAGED" in said) == (1, True)
    health = salvage(filled)
    assert health.num_records == 5 - num_hit
    assert health.num_results == 2 - min(num_hit, 2), "results whose samples are gone are made again"
    assert health.is_sound
    assert path.with_name("journal.bin.damaged").read_bytes() == before
    with reopen() as records:
        assert [records.journal.get(f"k{i}") is not None for i in range(5)] == [
            i >= num_hit for i in range(5)
        ]
        records.journal.put("k0", batches("again"))


def test_salvage_of_a_destroyed_beginning_finds_the_rest(filled):
    path = filled / JOURNAL_NAME
    path.write_bytes(b"\0" * 10 + path.read_bytes()[10:])
    assert salvage(filled).num_records == 5


def test_salvage_is_not_fooled_by_texts_that_look_like_records(cell, reopen):
    fake = "@fake 5 0d4a1185\nhello\n@huge 999999999999 00000000\n"
    with reopen() as records:
        records.journal.put("k0", batches("x"))
        records.journal.put("k1", batches(fake))
    content = (cell / JOURNAL_NAME).read_bytes()
    (cell / JOURNAL_NAME).write_bytes(content[:15] + fake.encode() + content[15:])
    salvage(cell)
    with reopen() as records:
        assert records.journal.get("k0")
        assert records.journal.get("k1")[0][0].text == fake
        assert records.journal.get("fake") is None


def test_salvage_keeps_the_whole_lines_of_results(filled, reopen):
    path = filled / RESULTS_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"{broken\n" + lines[1] + b"[]\n" + b'{"no": "id"}\n')
    assert "results.jsonl: 3 lines damaged" in verify(filled).faults
    health = salvage(filled)
    assert (health.num_results, health.is_sound) == (1, True)
    with reopen() as records:
        assert records.done() == {("q1", 0)}


def test_a_sound_cell_is_not_changed_by_salvage(filled):
    before = {path.name: path.read_bytes() for path in filled.iterdir()}
    salvage(filled)
    assert {path.name: path.read_bytes() for path in filled.iterdir()} == before


def test_compact_keeps_every_text_in_less_room(cell, reopen):
    with reopen() as records:
        for i in range(3):
            long = batches(
                *(f"Let x be {n} times {i}, then x plus {n * n} is what was asked. " * 40 for n in range(40))
            )
            records.journal.put(f"k{i}", long)
        records.mark("interrupted")
    with Journal(cell / JOURNAL_NAME) as journal:
        before = [journal.get(f"k{i}") for i in range(3)]
    size = verify(cell).num_journal_bytes
    health = compact(cell)
    assert health.is_sound
    assert health.num_journal_bytes < size
    with Journal(cell / JOURNAL_NAME) as journal:
        assert [journal.get(f"k{i}") for i in range(3)] == before
        journal.put("new", batches("n"))


def test_compact_refuses_a_damaged_cell(filled):
    damage(filled / JOURNAL_NAME, 40)
    with pytest.raises(RecordsError, match="salvage"):
        compact(filled)


def test_nothing_is_changed_under_a_running_cell(filled, reopen):
    with reopen():
        for action in ("salvage", "compact"):
            code, said = command(action, filled)
            assert code == 2
            assert "is being written by process" in said
        assert command("verify", filled)[0] == 0


def test_samples_of_another_cell_are_not_missing(filled, reopen):
    with reopen(filled.with_name("arm")) as records:
        records.append(result("q", samples=records.journal.get("k0")))
        records.mark("interrupted")
    assert verify(filled.with_name("arm")).is_sound


def test_a_folder_without_a_cell_is_named(tmp_path, caplog):
    with caplog.at_level(logging.ERROR):
        code, said = command("verify", tmp_path)
    assert code == 2
    assert "holds neither journal.bin" in said
