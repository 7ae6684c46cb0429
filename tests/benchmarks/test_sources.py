import io
import json
import sys
from pathlib import Path

import pytest

from icpo.benchmarks import ArithmeticSource, Columns, HubSource, Item, TextSource
from icpo.errors import BenchmarkError

COLUMNS = Columns("problem", "answer", "unique_id", None, (), 0)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """The hub's cache as a download leaves it, with no hub to be reached."""
    from huggingface_hub import constants

    repo = tmp_path / "datasets--someone--maths"
    snapshot = repo / "snapshots" / COMMIT
    (snapshot / "data").mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs/main").write_text(COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return snapshot


def write(path: Path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_hub_reads_the_split_s_files_in_order_and_names_the_commit(hub_cache):
    write(hub_cache / "data/test-00001.jsonl", {"unique_id": "b", "problem": "p2", "answer": "2"})
    write(hub_cache / "data/test-00000.jsonl", {"unique_id": "a", "problem": "p1", "answer": "1"})
    write(hub_cache / "data/train-00000.jsonl", {"unique_id": "c", "problem": "p3", "answer": "3"})
    sourced = HubSource("someone/maths", None, "*test*", COLUMNS).read("maths")
    assert sourced.items == [Item("a", "p1", "1"), Item("b", "p2", "2")]
    assert sourced.revision == COMMIT


def test_hub_without_files_of_the_split_names_pattern_and_commit(hub_cache):
    write(hub_cache / "data/train-00000.jsonl", {"problem": "p", "answer": "1"})
    with pytest.raises(BenchmarkError, match=rf"{COMMIT} .*'\*test\*'"):
        HubSource("someone/maths", None, "*test*", COLUMNS).read("maths")


def test_a_hub_that_cannot_be_reached_names_the_ways_out(hub_cache):
    with pytest.raises(BenchmarkError) as caught:
        HubSource("someone/other", None, "*test*", COLUMNS).read("maths")
    ways_out = ("benchmark.path=FILE", "'problem' and 'answer'", "HF_HUB_OFFLINE=1", "HF_TOKEN")
    for part in ("someone/other", *ways_out):
        assert part in str(caught.value)


def test_a_text_is_one_question_without_gold(tmp_path, monkeypatch):
    path = tmp_path / "question.txt"
    path.write_text("\nWhat is 6 * 7?\n")
    assert TextSource(str(path)).read("question").items == [Item("question/0", "What is 6 * 7?", None)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("And 7 * 8?"))
    assert TextSource("-").read("question").items == [Item("question/0", "And 7 * 8?", None)]
    path.write_text(" \n")
    with pytest.raises(BenchmarkError, match="empty"):
        TextSource(str(path)).read("question")
    with pytest.raises(BenchmarkError, match=r"none\.txt"):
        TextSource(str(tmp_path / "none.txt")).read("question")


def test_arithmetic_gives_numbers_as_golds():
    items = ArithmeticSource(split="test", problem_set="l2").read("arith_l2").items
    assert len(items) == len({item.item_id for item in items}) >= 200
    assert all(item.answer.lstrip("-").isdecimal() and item.text for item in items)
