import json
import logging
import subprocess
import sys

import pytest

from icpo.errors import Interrupted, RecordsError
from icpo.store import (
    RESULTS_NAME,
    CellRecords,
    load_results,
    load_scores,
    read_manifest,
    read_metrics,
    read_status,
    run_cells,
)
from tests.store.values import HOSTILE, batches, result, score
from tests.stored import read_results, read_texts


def test_a_line_says_all_of_a_result_but_the_texts(cell, reopen):
    with reopen() as records:
        sampled = records.journal.put("k", batches("so 7", "so 7"))
        records.append(result(samples=sampled))
    candidate = {"answer": "7", "draw": "k/0/0", "finish_reason": "stop", "num_completion_tokens": 4}
    candidates = [candidate, candidate | {"draw": "k/0/1"}]
    votes = {"counts": [["7", 1]], "num_abstained": 1, "labels": ["7", None]}
    assert read_results(cell) == [
        {
            "question_id": "q",
            "seed": 0,
            "kind": "number",
            "text": "How many?",
            "usage": {
                "num_requests": 4,
                "num_sequences": 5,
                "prompt_tokens": 6,
                "cached_prompt_tokens": 7,
                "generated_tokens": 8,
                "generated_by_purpose": {"candidate": 8},
                "truncated_by_purpose": {},
                "too_long_by_purpose": {},
            },
            "usage_at_finals": [],
            "dropped_at_finals": [2],
            "trace": [
                {
                    "type": "round",
                    "candidates": candidates,
                    "votes": votes,
                    "rewards": {"tags": [1, None], "winner": "7", "num_tied": 2},
                    "eligible": [0, 1],
                    "attempts": [{"reward": 1, "summary": "adds"}] * 2,
                    "lookaheads": [{"attempt": 0, "votes": votes, "entropy_bits": 0.5, "num_dropped": 3}],
                    "kept": [0],
                    "num_dropped": 1,
                },
                {
                    "type": "step",
                    "name": "thought",
                    "candidates": candidates[:1],
                    "value": 0.5,
                    "parent": 3,
                    "verdicts": [1.0, None],
                },
            ],
            "finals": [[1, candidates]],
        }
    ]
    assert read_texts(cell, ["k/0/1"]) == {"k/0/1": "so 7"}


def test_done_is_what_earlier_sessions_stored(reopen):
    with reopen() as records:
        assert records.done() == set()
        records.append(result("a", 0))
        records.append(result("a", 1))
        with pytest.raises(ValueError, match="'a' under seed 1"):
            records.append(result("a", 1))
    with reopen() as records:
        assert records.done() == {("a", 0), ("a", 1)}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_question_ids_and_texts_may_hold_anything_and_touch_no_path(cell, reopen, text):
    with reopen() as records:
        records.append(result(text, 0, text))
        records.append(result("next"))
    with reopen() as records:
        assert records.done() == {(text, 0), ("next", 0)}
    first = read_results(cell)[0]
    assert (first["question_id"], first["text"]) == (text, text)
    assert sorted(path.name for path in cell.iterdir()) == [
        "journal.bin", "manifest.json", "results.jsonl",
    ]  # fmt: skip
    assert [path.name for path in cell.parent.parent.iterdir()] == ["run"]


def test_results_cut_anywhere_keep_every_whole_line(cell, reopen, caplog):
    with reopen() as records:
        for name in "abc":
            records.append(result(name, text="t"))
    whole = (cell / RESULTS_NAME).read_bytes()
    for length in range(0, len(whole), 31):
        (cell / RESULTS_NAME).write_bytes(whole[:length])
        num_whole = whole[:length].count(b"\n")
        with caplog.at_level(logging.WARNING), reopen() as records:
            assert records.done() == {(name, 0) for name in "abc"[:num_whole]}
            records.append(result("new"))
        assert [row["question_id"] for row in read_results(cell)] == [*"abc"[:num_whole], "new"]
    assert "unfinished last line" in caplog.text


def test_a_damaged_line_before_the_end_is_a_named_error(cell, reopen):
    with reopen() as records:
        records.append(result("a"))
        records.append(result("b"))
    content = (cell / RESULTS_NAME).read_bytes()
    (cell / RESULTS_NAME).write_bytes(content.replace(b'"seed":0', b'"seed" 0', 1))
    with pytest.raises(RecordsError, match=r"results\.jsonl .*line 1\..*salvage"):
        reopen()


def test_arms_of_a_run_share_samples(cell, reopen):
    with reopen() as first:
        sampled = first.journal.put("k", batches("a"))
        with reopen(cell.with_name("arm")) as second:
            assert second.journal.get("k") == sampled
            assert second.journal.num_written == 0
    assert read_texts(cell.with_name("arm"), ["k/0/0"]) == {"k/0/0": "a"}
    assert run_cells(cell.parent.parent, "run") == [cell.with_name("arm"), cell]
    assert run_cells(cell.parent.parent, "absent") == []


def test_texts_that_nobody_holds_are_a_named_error(cell, reopen):
    with reopen():
        pass
    with pytest.raises(RecordsError, match="samples gone"):
        read_texts(cell, ["gone/0/0"])


def test_another_configuration_is_refused_and_both_values_are_named(cell, reopen):
    with reopen():
        pass
    with pytest.raises(RecordsError) as error:
        CellRecords(cell, config={"method": {"num_rounds": 3}, "new": [1]}, config_digest="d2")
    assert "method.num_rounds: 2 stored, 3 now" in str(error.value)
    assert "new: 'absent' stored, [1] now" in str(error.value)
    assert "run_name" in str(error.value)
    assert read_manifest(cell)["config"] == {"method": {"num_rounds": 2}}


def test_the_manifest_names_code_packages_and_machine_and_is_written_once(cell, reopen):
    with reopen():
        pass
    manifest = (cell / "manifest.json").read_bytes()
    with reopen():
        pass
    assert (cell / "manifest.json").read_bytes() == manifest
    row = json.loads(manifest)
    assert {
        "format",
        "crc32",
        "config_digest",
        "config",
        "code",
        "packages",
        "python",
        "platform",
        "started",
    } == row.keys()
    assert row["python"] == sys.version.split()[0]
    assert "torch" in row["packages"]


def test_scores_metrics_and_status_are_replaced_whole(cell, reopen):
    with reopen() as records:
        records.write_scores([score("a"), score("b\n")])
        records.write_scores([score("b\n")])
        records.write_metrics({"mean": 0.5})
        records.mark("running", questions_done=1, questions_total=3)
        records.mark("done", questions_done=3)
    assert load_scores(cell) == (score("b\n"),)
    assert read_metrics(cell) == {"mean": 0.5}
    status = read_status(cell)
    assert (status["state"], status["questions_done"], status["questions_total"]) == ("done", 3, 3)
    assert not [path for path in cell.iterdir() if path.name.startswith(".")]
    assert read_metrics(cell.with_name("absent")) is None
    assert read_results(cell.with_name("absent")) == []


@pytest.mark.parametrize(("read", "name"), [(load_results, "results.jsonl"), (load_scores, "scores.jsonl")])
@pytest.mark.parametrize("num_left", [1, 0, None])
def test_lines_that_are_gone_from_a_measured_cell_are_missed(cell, reopen, read, name, num_left):
    with reopen() as records:
        for one in "ab":
            records.append(result(one))
        records.write_scores(map(score, "ab"))
        records.write_metrics({"mean_at_k": {}, "num_questions": 2, "seeds": [0]})
    assert len(read(cell)) == 2
    lines = (cell / name).read_bytes().splitlines(keepends=True)
    if num_left is None:
        (cell / name).unlink()
    else:
        (cell / name).write_bytes(b"".join(lines[:num_left]))
    with pytest.raises(RecordsError, match=rf"{name}: {2 - (num_left or 0)} lines"):
        read(cell)
    with reopen() as records:  # the same command
        assert len(records.done()) == (2 if read is load_scores else num_left or 0)
        assert (read_metrics(cell) is None) == (read is load_results)
        records.write_metrics({"max_error": 0})  # of a job that has no such file
    assert len(read(cell)) == (num_left or 0)


def test_drafts_of_writers_that_died_are_deleted(cell, reopen):
    with reopen() as records:
        records.mark("running")
    (cell / ".status.json.0123abcd.draft").write_text("{")
    with reopen():
        pass
    assert not list(cell.glob(".*"))


def test_an_error_that_ends_a_cell_stands_in_its_status(cell, reopen):
    with pytest.raises(RuntimeError), reopen() as records:
        records.mark("running", questions_done=2)
        raise RuntimeError("the engine died")
    status = read_status(cell)
    assert (status["state"], status["reason"]) == ("failed", "RuntimeError: the engine died")
    assert status["questions_done"] == 2
    with reopen() as records:
        records.mark("running")
    assert read_status(cell)["num_sessions"] == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Interrupted("Stopped by SIGINT; what was finished is kept."), "Stopped by SIGINT;"),
        (KeyboardInterrupt(), "Stopped at once. Run the same command to go on."),
    ],
)
def test_a_cell_that_was_told_to_stop_is_interrupted(cell, reopen, error, reason):
    with pytest.raises(type(error)), reopen() as records:
        records.mark("running", questions_done=2)
        raise error
    status = read_status(cell)
    assert status["state"] == "interrupted" and status["reason"].startswith(reason)
    assert status["questions_done"] == 2 and status["finished"]


def test_two_processes_cannot_write_one_cell(cell, reopen):
    with reopen() as records:
        records.append(result("a"))
        code = (
            "import sys; from pathlib import Path; from icpo.store import CellRecords\n"
            "CellRecords(Path(sys.argv[1]), config={'method': {'num_rounds': 2}}, config_digest='d1')"
        )
        second = subprocess.run([sys.executable, "-c", code, str(cell)], capture_output=True, text=True)
        assert second.returncode == 1
        assert "is being written by process" in second.stderr
        records.append(result("b"))
    assert [row["question_id"] for row in read_results(cell)] == ["a", "b"]
