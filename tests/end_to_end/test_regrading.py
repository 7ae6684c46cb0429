"""Stored texts graded again: nothing moves but what the rules, or a damaged score, make move."""

import json
from dataclasses import replace

import pytest

from icpo.cli.regrade import main
from icpo.types import Purpose
from tests.end_to_end import fakes


class Thinking(fakes.Blocks):
    """A model whose thoughts end in another box than its answer; one in four never stops thinking."""

    def generate(self, requests):
        return [
            [
                replace(c, text=f"maybe boxed{{9}} {'' if i % 4 == 3 else '</end>'} {c.text}")
                if r.purpose is Purpose.FINAL
                else c
                for i, c in enumerate(fakes.reply(r))
            ]
            for r in requests
        ]


@pytest.mark.parametrize(
    ("engine", "overrides"),
    [(fakes.Blocks, []), (Thinking, ["backbone.reasoning_end='</end>'"])],
    ids=["plain", "thinking"],
)
def test_what_was_stored_is_read_as_it_was_when_it_was_drawn(tmp_path, engine, overrides):
    cell, _ = fakes.run(
        tmp_path / "run", fakes.questions_file(tmp_path), "method=direct", *overrides, engine=engine()
    )
    before = (cell / "scores.jsonl").read_bytes()
    assert b'"correct"' in before and (engine is fakes.Blocks or b'"unparsed"' in before)
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 0
    assert (cell / "scores.jsonl").read_bytes() == before


def test_a_verdict_that_moved_is_said_and_written_when_asked(tmp_path, caplog):
    caplog.set_level("INFO", "icpo")
    cell, _ = fakes.run(tmp_path / "run", fakes.questions_file(tmp_path), "method=direct")
    right = (cell / "scores.jsonl").read_text()
    rows = [json.loads(line) for line in right.splitlines()]
    rows[0]["finals"][0][1]["outcomes"][0] = "timed_out"
    damaged = "".join(json.dumps(row) + "\n" for row in rows)
    (cell / "scores.jsonl").write_text(damaged)
    assert main(["run", "--outputs", str(tmp_path)]) == 1
    assert "final 0 after 0 rounds: timed_out" in caplog.text
    assert (cell / "scores.jsonl").read_text() == damaged
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 1
    assert [json.loads(line) for line in (cell / "scores.jsonl").read_text().splitlines()] == [
        json.loads(line) for line in right.splitlines()
    ]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda row: row["finals"][1][1]["labels"].__setitem__(0, "9"), "final 0 after 2 rounds: "),
        (lambda row: row["finals"][0][1]["outcomes"].__setitem__(1, "timed_out"), "final 1 after 1 rounds: "),
        (lambda row: row["rounds"][1]["correct"].__setitem__(2, "?"), "candidate 2 of round 2: ? -> "),
    ],
    ids=["class", "earlier finals", "candidate"],
)
def test_all_that_scores_say_can_move(tmp_path, caplog, damage, told):
    caplog.set_level("INFO", "icpo")
    cell, _ = fakes.run(
        tmp_path / "run",
        fakes.questions_file(tmp_path),
        *("method.num_rounds=2", "method.finals_after=[1,2]", "method.num_candidates=4"),
    )
    right, metrics = ((cell / name).read_text() for name in ("scores.jsonl", "metrics.json"))
    rows = [json.loads(line) for line in right.splitlines()]
    damage(rows[0])
    (cell / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (cell / "metrics.json").write_text(json.dumps(json.loads(metrics) | {"mean_at_k": None}))
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 1
    assert told in caplog.text and ": 1 of " in caplog.text
    assert (cell / "scores.jsonl").read_text() == right
    assert json.loads((cell / "metrics.json").read_text()) == json.loads(metrics)
