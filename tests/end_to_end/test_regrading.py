"""Stored texts graded again: nothing moves but what the rules, or a damaged score, make move."""

from dataclasses import replace

import pytest

from icpo.cli.regrade import main
from icpo.metrics import GradedFinals, GradedRound, Outcome
from icpo.store import CellRecords, load_scores, read_manifest, read_metrics
from icpo.store.json_files import replace_json
from icpo.types import Purpose
from tests.end_to_end import fakes


class Thinking(fakes.Blocks):
    """A model whose thoughts end in another box than its answer; one in four never stops thinking."""

    def answer(self, request):
        return [
            replace(c, text=f"maybe boxed{{9}} {'' if i % 4 == 3 else '</end>'} {c.text}")
            if request.purpose is Purpose.FINAL
            else c
            for i, c in enumerate(fakes.reply(request))
        ]


def replace_first_score(cell, change, metrics=None):
    """Stores the scores again with another first one, as rules that have changed since would have made it."""
    manifest, (first, *rest) = read_manifest(cell), load_scores(cell)
    with CellRecords(cell, config=manifest["config"], config_digest=manifest["config_digest"]) as records:
        records.write_scores([change(first), *rest])
        records.write_metrics(metrics or read_metrics(cell))


@pytest.mark.parametrize(
    ("engine", "overrides"),
    [(fakes.Blocks, []), (Thinking, ["backbone.reasoning_end='</end>'"])],
    ids=["plain", "thinking"],
)
def test_what_was_stored_is_read_as_it_was_when_it_was_sampled(tmp_path, engine, overrides):
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
    replace_first_score(cell, lambda score: with_outcome(score, 0, 0))
    other = (cell / "scores.jsonl").read_text()
    assert main(["run", "--outputs", str(tmp_path)]) == 1
    assert "final 0 after 0 rounds: timed_out" in caplog.text
    assert (cell / "scores.jsonl").read_text() == other
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 1
    assert (cell / "scores.jsonl").read_text() == right


def store_rules(cell, change):
    """Stores the manifest with other rules of grading, as another version would have written it."""
    manifest = read_manifest(cell)
    change(manifest["config"]["protocol"]["grading"])
    replace_json(cell / "manifest.json", manifest)


def test_rules_that_an_older_cell_lacks_are_named_with_what_is_assumed(tmp_path, caplog):
    caplog.set_level("INFO", "icpo")
    cell, _ = fakes.run(tmp_path / "run", fakes.questions_file(tmp_path), "method=direct")
    assert main(["run", "--outputs", str(tmp_path)]) == 0 and "assumed" not in caplog.text
    store_rules(cell, lambda rules: (rules.pop("vote_budget"), rules.pop("zero_is_no_answer")))
    assert main(["run", "--outputs", str(tmp_path)]) == 0
    assert f"{cell.name}: its protocol.grading lacks rules" in caplog.text
    assert "protocol=paper: zero_is_no_answer=False, vote_budget=32\n" in caplog.text


def test_stored_rules_are_kept_and_unknown_ones_refused(tmp_path, caplog):
    cell, _ = fakes.run(tmp_path / "run", fakes.questions_file(tmp_path), "method=direct")
    store_rules(cell, lambda rules: rules.update(accept_marked_answer=False, plain_number_only=True))
    assert main(["run", "--outputs", str(tmp_path)]) == 0
    store_rules(cell, lambda rules: rules.update(accept_typos=True))
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 2
    assert "accept_typos, which this version does not know" in caplog.text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda score: with_label(score, 1, "9"), "final 0 after 2 rounds: "),
        (lambda score: with_outcome(score, 0, 1), "final 1 after 1 rounds: "),
        (lambda score: with_other_candidate(score, 1, 2), "candidate 2 of round 2: "),
    ],
    ids=["class", "earlier finals", "candidate"],
)
def test_all_that_scores_say_can_move(tmp_path, caplog, change, told):
    caplog.set_level("INFO", "icpo")
    cell, _ = fakes.run(
        tmp_path / "run",
        fakes.questions_file(tmp_path),
        *("budget.num_rounds=2", "method.finals_after=[1,2]", "budget.num_candidates=4"),
    )
    right, metrics = (cell / "scores.jsonl").read_text(), read_metrics(cell)
    replace_first_score(cell, change, metrics | {"mean_at_k": None})
    assert main(["run", "--outputs", str(tmp_path), "--write"]) == 1
    assert told in caplog.text and ": 1 of " in caplog.text
    assert (cell / "scores.jsonl").read_text() == right
    assert read_metrics(cell) == metrics


def with_finals(score, at, change):
    finals = list(score.finals)
    finals[at] = (finals[at][0], change(finals[at][1]))
    return replace(score, finals=tuple(finals))


def with_outcome(score, at, final):
    def timed_out(finals):
        outcomes = [Outcome.TIMED_OUT if i == final else outcome for i, outcome in enumerate(finals.outcomes)]
        return GradedFinals(tuple(outcomes), finals.labels)

    return with_finals(score, at, timed_out)


def with_label(score, at, label):
    return with_finals(score, at, lambda finals: replace(finals, labels=(label, *finals.labels[1:])))


def with_other_candidate(score, at, candidate):
    rounds = list(score.rounds)
    correct = [not x if i == candidate else x for i, x in enumerate(rounds[at].correct)]
    rounds[at] = GradedRound(tuple(correct))
    return replace(score, rounds=tuple(rounds))
