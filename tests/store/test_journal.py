import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.errors import RecordsError
from icpo.store import JOURNAL_NAME, Journal
from icpo.store.journal_file import JournalReader
from icpo.store.shared import SharedJournals
from icpo.types import Completion, FinishReason
from tests.reliability import report_row
from tests.store.values import HOSTILE, batches, completion, result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / JOURNAL_NAME


class Clock:
    """Seconds, moved by hand."""

    now = 0.0

    def __call__(self):
        return self.now


class SyncedJournal(Journal):
    """A journal that notes when it waited for the disk."""

    def sync(self):
        super().sync()
        self.num_syncs = getattr(self, "num_syncs", 0) + 1


def beside(*paths):
    """How a journal finds those of other cells."""
    return lambda: SharedJournals(paths)


def texts(found):
    return [[c.text for c in batch] for batch in found]


def test_what_is_put_is_found_by_the_next_session_field_by_field(path):
    stored = [[completion("a"), completion("b", FinishReason.LENGTH)], [], [completion("c")]]
    with Journal(path) as journal:
        put = journal.put("k", stored)
        assert journal.get("other") is None
    with Journal(path) as journal:
        assert journal.get("k") == put
        assert (journal.num_read, journal.num_written, journal.num_torn) == (1, 0, 0)
    assert [[c.draw for c in batch] for batch in put] == [["k/0/0", "k/0/1"], [], ["k/2/0"]]
    expected = Completion("b", 11, 1, FinishReason.LENGTH, 3, draw="k/0/1")
    assert put[0][1] == expected


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_comes_back_word_for_word(path, text):
    with Journal(path) as journal:
        journal.put("k", batches(text, "next"))
        journal.put("l", batches(text))
    with Journal(path) as journal:
        assert texts(journal.get("k")) == [[text, "next"]]
        assert texts(journal.get("l")) == [[text]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.text(), max_size=4), max_size=4))
def test_any_batches_come_back(tmp_path_factory, lists):
    path = tmp_path_factory.mktemp("journal") / JOURNAL_NAME
    with Journal(path) as journal:
        journal.put("k", [[completion(text) for text in batch] for batch in lists])
    with Journal(path) as journal:
        assert texts(journal.get("k")) == lists


def test_the_same_again_is_no_write_and_anything_else_is_refused(path):
    with Journal(path) as journal:
        first = journal.put("k", batches("a"))
        size = path.stat().st_size
        assert journal.put("k", batches("a")) == first
        with pytest.raises(RecordsError, match=r"key k\b"):
            journal.put("k", batches("b"))
        assert path.stat().st_size == size
        assert journal.num_written == 1


@pytest.mark.parametrize("key", ["", "a b", "a\n", "ключ", "x" * 201, '"'])
def test_a_key_that_is_no_digest_is_refused(path, key):
    with Journal(path) as journal, pytest.raises(ValueError, match="key"):
        journal.put(key, batches("a"))


def test_a_journal_cut_anywhere_keeps_every_record_before_the_cut_and_can_be_written_on(path, caplog):
    """Every length that a death in the middle of a write can leave."""
    with Journal(path) as journal:
        ends = []
        for key in ("k0", "k1", "k2"):
            journal.put(key, batches(key * 5))
            ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        caplog.clear()
        with caplog.at_level(logging.WARNING), Journal(path) as journal:
            kept = [key for key in ("k0", "k1", "k2") if journal.get(key) is not None]
            assert len(kept) == sum(end <= length for end in ends), length
            is_torn = length not in (0, 15, *ends)
            assert journal.num_torn == is_torn, length
            assert bool(caplog.records) == is_torn
            journal.put("new", batches("new"))
        with Journal(path) as journal:
            assert texts(journal.get("new")) == [["new"]]
            assert journal.num_torn == 0
    report_row("journal cut at every length", f"{len(whole) + 1} lengths", "every record before the cut kept")


def test_a_damaged_byte_before_the_end_is_a_named_error_wherever_it_is(path):
    with Journal(path) as journal:
        journal.put("k0", batches("first"))
        end = path.stat().st_size
        journal.put("k1", batches("second"))
    whole = path.read_bytes()
    for at in range(15, end):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :])
        with pytest.raises(RecordsError, match=r"byte 15.*icpo salvage"):
            Journal(path)
    assert path.read_bytes() != whole, "a damaged journal is left as it is"
    report_row(
        "journal with one byte changed", f"{end - 15} bytes before the last record", "a named error each"
    )


def test_a_record_damaged_while_the_journal_is_open_is_an_error_not_a_miss(path):
    with Journal(path) as journal:
        journal.put("k0", batches("first"))
        content = bytearray(path.read_bytes())
        content[-5] ^= 1
        path.write_bytes(content)
        with pytest.raises(RecordsError, match="damaged"):
            journal.get("k0")


def test_a_foreign_file_is_never_written_to(path):
    path.write_bytes(b"somebody's thesis")
    with pytest.raises(RecordsError, match="no journal"):
        Journal(path)
    assert path.read_bytes() == b"somebody's thesis"


def test_a_sibling_answers_and_is_not_written_to(path, tmp_path):
    other = tmp_path / "other.bin"
    with Journal(other) as journal:
        sampled = journal.put("shared", batches("a"))
    before = other.read_bytes()
    with Journal(path, siblings=beside(other, tmp_path / "absent.bin")) as journal:
        assert journal.get("shared") == sampled
        assert journal.get("unknown") is None
        assert (journal.num_read, journal.num_written) == (1, 0)
        journal.put("own", batches("b"))
    assert other.read_bytes() == before


def test_a_sibling_that_grows_is_looked_at_again(path, tmp_path):
    other = tmp_path / "other.bin"
    clock = Clock()
    with Journal(path, siblings=beside(other), clock=clock) as journal, Journal(other) as sibling:
        assert journal.get("later") is None
        sibling.put("later", batches("a"))
        clock.now += 11
        assert texts(journal.get("later")) == [["a"]]


def test_a_sibling_caught_in_the_middle_of_a_write_is_read_later(path, tmp_path):
    other = tmp_path / "other.bin"
    with Journal(other) as sibling:
        sibling.put("k0", batches("first"))
        sibling.put("k1", batches("second"))
    whole = other.read_bytes()
    other.write_bytes(whole[:-7])
    clock = Clock()
    with Journal(path, siblings=beside(other), clock=clock) as journal:
        assert journal.get("k1") is None
        other.write_bytes(whole)
        clock.now += 11
        assert texts(journal.get("k1")) == [["second"]]


def test_a_damaged_sibling_costs_a_draw_and_is_reported(path, tmp_path, caplog):
    other = tmp_path / "other.bin"
    with Journal(other) as sibling:
        sibling.put("k0", batches("first"))
    content = bytearray(other.read_bytes())
    content[-5] ^= 1
    other.write_bytes(content)
    with caplog.at_level(logging.WARNING), Journal(path, siblings=beside(other)) as journal:
        assert journal.get("k0") is None
    assert "damaged" in caplog.text


def test_the_index_holds_no_texts(path):
    with Journal(path) as journal:
        journal.put("k", batches("unmistakable" * 100))
    reader = JournalReader(path)
    reader.refresh()
    assert len(reader) == 1
    assert "unmistakable" not in repr(vars(reader))
    reader.close()


def test_records_go_to_the_disk_every_five_seconds_and_not_at_each_record(path):
    clock = Clock()
    with SyncedJournal(path, clock=clock) as journal:
        journal.num_syncs = 0
        for i, (now, num_syncs) in enumerate([(1, 0), (4.9, 0), (5.1, 1), (6, 1), (10, 1), (10.2, 2)]):
            clock.now = now
            journal.put(f"k{i}", batches("a"))
            assert journal.num_syncs == num_syncs, now
    assert journal.num_syncs == 3, "closing syncs"


def test_a_result_goes_to_the_disk_after_the_records_that_it_uses(cell, reopen):
    """At the moment of the journal's sync nothing of the result may have been written."""
    sizes = []

    class Watched:
        def __init__(self, journal):
            self.journal = journal

        def __getattr__(self, name):
            return getattr(self.journal, name)

        def __len__(self):
            return len(self.journal)

        def sync(self):
            sizes.append((cell / "results.jsonl").stat().st_size)
            self.journal.sync()

    with reopen() as records:
        records.journal = Watched(records.journal)
        for i in range(2):
            sampled = records.journal.put(f"k{i}", batches("a", "b"))
            before = (cell / "results.jsonl").stat().st_size
            sizes.clear()
            records.append(result(f"q{i}", samples=sampled))
            assert sizes == [before]


def test_a_record_whose_key_became_another_is_damaged(path):
    """The payload alone is whole: only a checksum that covers the key finds it."""
    with Journal(path) as journal:
        journal.put("k0", batches("a"))
        journal.put("k1", batches("b"))
    path.write_bytes(path.read_bytes().replace(b"@k0 ", b"@k9 "))
    with pytest.raises(RecordsError, match="byte 15"):
        Journal(path)
    reader = JournalReader(path)
    reader.refresh()
    with pytest.raises(RecordsError, match="damaged"):
        reader.get("k9")
    reader.close()
