"""A finished cell is given more questions, seeds and final samples: what was sampled stays as it is."""

from dataclasses import dataclass

import pytest

from icpo.config import build, config_digest, resolved
from icpo.errors import OtherResults
from icpo.evaluation.extending import missing_in
from icpo.evaluation.regrading import regrade_run
from icpo.report import run_frame, write_report
from icpo.report.dashboard import write_dashboard
from icpo.store import extents_of, load_results, load_scores, read_manifest, read_metrics, read_status
from icpo.store.health import verify
from icpo.types import Completion, FinishReason, Purpose
from tests.end_to_end.fakes import Blocks, Continuous, composed_for, questions_file, run

GOLDS = ("2", "3", "1", "2", "2", "3", "1", "1")
ENGINES = [Continuous, Blocks]


@dataclass(slots=True)
class ShapeDependent(Blocks):
    """Like a model on a CPU, whose bits depend on what else is in the batch."""

    identity: str = "fake bits"

    def answer(self, request):
        others = sum(len(one.prompt.user) for one in self.waiting.values())
        return [
            Completion(
                f"{others} {i} boxed{{{(others + request.seed + i) % 3 + 1}}}", 9, 4, FinishReason.STOP
            )
            for i in range(request.num_samples)
        ]


def by_key(cell):
    return {result.key: result for result in load_results(cell)}


def sampled(engine):
    return [(request.prompt.user, request.seed) for request in engine.requests]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("added", [["benchmark.limit=8"], ["benchmark.limit=6", "seeds=[2,0]"]])
def test_added_questions_and_seeds_alone_are_sampled_and_equal_one_larger_run(tmp_path, engine, added):
    questions = questions_file(tmp_path, GOLDS)
    cell, first = run(tmp_path / "run", questions, "benchmark.limit=4", engine=engine())
    before = by_key(cell)
    _, second = run(tmp_path / "run", questions, "benchmark.limit=4", *added, engine=engine())
    larger, whole = run(tmp_path / "larger", questions, "benchmark.limit=4", *added, engine=engine())
    assert by_key(cell) == by_key(larger) and before.items() <= by_key(cell).items()
    assert sorted(sampled(first) + sampled(second)) == sorted(sampled(whole))
    assert load_scores(cell) == load_scores(larger)
    metrics, expected = read_metrics(cell), read_metrics(larger)
    assert {**metrics, "wall_seconds": 0} == {**expected, "wall_seconds": 0}
    assert verify(cell).is_sound and read_status(cell)["questions_total"] == len(by_key(cell))
    assert len(extents_of(read_manifest(cell))[0].question_ids) == 4


@pytest.mark.parametrize("added", [["benchmark.limit=8"], ["seeds=[0,1]"]])
def test_batches_of_the_larger_run_are_those_of_the_extension(tmp_path, added):
    """Where what was there fills its blocks, even bits that depend on the batch are the same."""
    questions = questions_file(tmp_path, GOLDS)
    cell, _ = run(tmp_path / "run", questions, "benchmark.limit=4", engine=ShapeDependent())
    run(tmp_path / "run", questions, "benchmark.limit=4", *added, engine=ShapeDependent())
    larger, _ = run(tmp_path / "larger", questions, "benchmark.limit=4", *added, engine=ShapeDependent())
    assert by_key(cell) == by_key(larger)


class Failing(Exception):
    pass


@pytest.mark.parametrize("engine", [Continuous, Blocks, ShapeDependent])
@pytest.mark.parametrize(
    "added", [["benchmark.limit=7", "seeds=[0,1]"], ["budget.num_finals=9", "benchmark.limit=5"]]
)
@pytest.mark.parametrize("after", [1, 5])
def test_an_interrupted_extension_goes_on_and_ends_as_one_that_was_left_alone(
    tmp_path, engine, added, after, caplog
):
    questions = questions_file(tmp_path, GOLDS)

    class Breaking(engine):
        calls = 0

        def finished(self):
            Breaking.calls += 1
            if Breaking.calls > after:
                raise Failing
            return super().finished()

    for name in ("run", "alone"):
        cell, _ = run(tmp_path / name, questions, "benchmark.limit=3", engine=engine())
        before = by_key(cell)
        if name == "run":
            with pytest.raises(Failing):
                run(tmp_path / name, questions, *added, engine=Breaking())
            assert all(
                found.trace == before[key].trace for key, found in by_key(cell).items() if key in before
            )
            stored = read_metrics(cell)
            assert regrade_run(tmp_path, "run", write=True, say=print) == 0
            assert read_metrics(cell) == stored and read_status(cell)["state"] == "failed"
            write_dashboard(tmp_path, ["run"], max_questions=9)
            assert "no question pages" not in caplog.text
        run(tmp_path / name, questions, *added, engine=engine())
        assert verify(cell).is_sound
    assert by_key(tmp_path / "run" / cell.name) == by_key(cell)


METHODS = ["direct", "me_icpo", "self_consistency", "best_of_n", "tot_self_eval", "mctsr"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
def test_final_samples_are_added_as_requests_of_their_own(tmp_path, engine, method):
    questions = questions_file(tmp_path, GOLDS[:3])
    cell, _ = run(tmp_path / "run", questions, f"method={method}", engine=engine())
    before = by_key(cell)
    _, more = run(tmp_path / "run", questions, f"method={method}", "budget.num_finals=7", engine=engine())
    _, none = run(tmp_path / "run", questions, f"method={method}", "budget.num_finals=7", engine=engine())
    assert more.requests and not none.requests
    for key, result in by_key(cell).items():
        [(_, had)], [(_, has)] = before[key].finals, result.finals
        assert len(had) == 4 and len(has) == 7 and has[:4] == had
        assert len({c.completion.draw for c in has}) == 7
        assert result.trace[: len(before[key].trace)] == before[key].trace
        assert result.usage.num_sequences > before[key].usage.num_sequences
    assert sum(result.usage.num_requests for result in by_key(cell).values()) == sum(
        result.usage.num_requests for result in before.values()
    ) + len(more.requests)
    assert read_metrics(cell)["k"] == 7 and verify(cell).is_sound
    assert [one.num_finals for one in extents_of(read_manifest(cell))] == [4, 7]


@pytest.mark.parametrize("engine", [*ENGINES, ShapeDependent])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kept", [0, 2])
def test_lost_results_of_an_extended_cell_are_made_again_from_the_journal(tmp_path, engine, method, kept):
    questions = questions_file(tmp_path, GOLDS[:5])
    for added in (["benchmark.limit=3"], ["budget.num_finals=6"], ["budget.num_finals=7", "seeds=[0,1]"]):
        cell, _ = run(tmp_path / "run", questions, f"method={method}", *added, engine=engine())
    before, path = by_key(cell), cell / "results.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    _, again = run(tmp_path / "run", questions, f"method={method}", *added, engine=engine())
    assert not again.requests and by_key(cell) == before
    assert verify(cell).is_sound and read_metrics(cell)["k"] == 7


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_never_sampled_is_sampled_when_lost_results_are_made_again(tmp_path, engine):
    """An extension was cut short, and results were lost besides."""
    questions = questions_file(tmp_path, GOLDS[:6])

    class Breaking(engine):
        def finished(self):
            if len(self.requests) > 3:
                raise Failing
            return super().finished()

    cell, _ = run(tmp_path / "run", questions, "method=direct", "benchmark.limit=4", engine=engine())
    before, breaking = by_key(cell), Breaking()
    with pytest.raises(Failing):
        run(tmp_path / "run", questions, "method=direct", "budget.num_finals=6", engine=breaking)
    (cell / "results.jsonl").unlink()
    _, last = run(tmp_path / "run", questions, "method=direct", "budget.num_finals=6", engine=engine())
    alone, _ = run(tmp_path / "alone", questions, "method=direct", "benchmark.limit=4", engine=engine())
    _, more = run(tmp_path / "alone", questions, "method=direct", "budget.num_finals=6", engine=engine())
    assert by_key(cell) == by_key(alone) and verify(cell).is_sound
    answered = [one for one in breaking.requests if one not in breaking.waiting.values()]
    assert len(last.requests) == len(more.requests) - len(answered)
    assert all(by_key(cell)[key].finals[0][1][:4] == one.finals[0][1] for key, one in before.items())


def test_final_samples_after_several_rounds_are_all_added_to(tmp_path):
    questions = questions_file(tmp_path, GOLDS[:2])
    overrides = ["budget.num_rounds=2", "method.finals_after=[0,1,2]"]
    cell, _ = run(tmp_path / "run", questions, *overrides)
    [before, *_] = load_results(cell)
    _, more = run(tmp_path / "run", questions, *overrides, "budget.num_finals=5")
    [result, *_] = load_results(cell)
    assert [len(found) for _, found in result.finals] == [5, 5, 5]
    assert {request.purpose for request in more.requests} == {Purpose.FINAL} and len(more.requests) == 6
    pairs = zip(before.usage_at_finals, result.usage_at_finals, strict=True)
    added = [after.num_sequences - before.num_sequences for before, after in pairs]
    assert added == [1, 1, 1]


def test_the_new_samples_have_the_history_of_the_old_ones(tmp_path):
    questions = questions_file(tmp_path, GOLDS[:1])
    _, first = run(tmp_path / "run", questions, engine=Continuous())
    _, more = run(tmp_path / "run", questions, "budget.num_finals=6", engine=Continuous())
    [old] = [request for request in first.requests if request.purpose is Purpose.FINAL]
    [new] = more.requests
    assert (new.prompt, new.num_samples) == (old.prompt, 2) and new.seed != old.seed


@pytest.mark.parametrize("method", ["majority_hint", "repeated_error", "foreign"])
def test_methods_that_cannot_add_final_samples_say_so_and_leave_the_cell_as_it_was(tmp_path, method):
    questions = questions_file(tmp_path, GOLDS[:3])
    cell, _ = run(tmp_path / "run", questions, f"method={method}")
    before = by_key(cell)
    with pytest.raises(OtherResults, match=r"budget\.num_finals=4.*run_name"):
        run(tmp_path / "run", questions, f"method={method}", "budget.num_finals=6")
    assert by_key(cell) == before and read_status(cell)["state"] == "done"
    run(tmp_path / "run", questions, f"method={method}", "seeds=[0,1]")
    assert len(by_key(cell)) == 6


@pytest.mark.parametrize(("limit", "other"), [("3", "benchmark.limit=4"), ("8", "benchmark.order_seed=1")])
def test_questions_are_not_added_or_reordered_where_each_was_shown_another(tmp_path, limit, other):
    questions, limited = questions_file(tmp_path, GOLDS), f"benchmark.limit={limit}"
    run(tmp_path / "run", questions, "method=foreign", limited)
    with pytest.raises(OtherResults, match=r"foreign.*run_name"):
        run(tmp_path / "run", questions, "method=foreign", limited, other, "seeds=[0,1]")


@pytest.mark.parametrize(
    "fewer", [["benchmark.limit=2"], ["benchmark.start=4"], ["seeds=[1]"], ["budget.num_finals=2"]]
)
def test_a_cell_never_shrinks(tmp_path, fewer, caplog):
    questions = questions_file(tmp_path, GOLDS[:5])
    cell, _ = run(tmp_path / "run", questions, "seeds=[0,1]")
    before, metrics = by_key(cell), read_metrics(cell)
    _, engine = run(tmp_path / "run", questions, "seeds=[0,1]", *fewer)
    assert not engine.requests and by_key(cell) == before
    assert {**read_metrics(cell), "wall_seconds": 0} == {**metrics, "wall_seconds": 0}
    assert "more than was asked for" in caplog.text
    assert len(read_manifest(cell)["extents"]) == 1


def test_an_unfinished_cell_ends_at_what_is_asked_for_last(tmp_path):
    questions = questions_file(tmp_path, GOLDS)

    class Breaking(Continuous):
        def finished(self):
            if len(self.requests) > 20:
                raise Failing
            return super().finished()

    with pytest.raises(Failing):
        run(tmp_path / "run", questions, "max_in_flight=1", engine=Breaking())
    cell, _ = run(tmp_path / "run", questions, "benchmark.limit=4", engine=Continuous())
    assert len(by_key(cell)) == 4 and read_status(cell)["state"] == "done"


def test_what_another_process_leaves_out_of_a_cell_is_named(tmp_path):
    questions = questions_file(tmp_path, GOLDS)

    def missing(*overrides, digest=None):
        config = composed_for(questions, *overrides)
        return missing_in(cell, build(config.job), digest or config_digest(resolved(config)))

    cell = tmp_path / "none"
    assert missing() == "all of it"
    cell, _ = run(tmp_path / "run", questions, "benchmark.limit=4", "seeds=[0,1]")
    for covered in (
        ["benchmark.limit=4"],
        ["benchmark.limit=3", "seeds=[1]"],
        ["seeds=[1,0]", "benchmark.limit=4", "budget.num_finals=2"],
    ):
        assert missing(*covered) == ""
    assert missing("benchmark.limit=6", "seeds=[0,2]", "budget.num_finals=9") == (
        "seeds [2], 2 questions, 9 final samples instead of 4"
    )
    assert missing("benchmark.limit=4", "benchmark.start=2") == "2 questions"
    assert missing("benchmark.limit=4", digest="another") == "its settings"


def test_a_report_of_an_extended_cell_has_its_questions(tmp_path):
    questions = questions_file(tmp_path, GOLDS)
    for limit in (3, 8):
        run(tmp_path / "run", questions, f"benchmark.limit={limit}")
    write_report(tmp_path, "run")
    frame = run_frame(tmp_path, "run")
    assert set(frame.num_questions) == {8}
