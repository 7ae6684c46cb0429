"""Whole cells on a fake engine: the label firewall, resume, sharing between cells, what is stored."""

import json
import logging

import pytest

from icpo.config import choices as config_choices
from icpo.errors import BenchmarkError, EngineError, RecordsError
from icpo.report import run_frame, write_report
from icpo.store import load_scores, read_metrics, read_status
from icpo.types import Completion, FinishReason
from tests.arms import of_arm
from tests.end_to_end.fakes import Blocks, Continuous, questions_file, run
from tests.stored import read_results

SENTINEL = "271828"


def choices(group):
    return sorted(config_choices()[group])


def results(cell):
    rows = read_results(cell)
    return sorted(rows, key=lambda row: (row["seed"], row["question_id"]))


def without_samples(rows):
    return json.loads(json.dumps(rows), object_hook=lambda d: {k: v for k, v in d.items() if k != "draw"})


@pytest.mark.parametrize("method", [name for name in choices("method") if name != "probe"])
@pytest.mark.parametrize("engine", [Blocks, Continuous])
def test_no_method_sees_a_gold_answer(tmp_path, method, engine):
    sealed, blind = tmp_path / "sealed", tmp_path / "blind"
    for folder in (sealed, blind):
        folder.mkdir()
    with_gold = questions_file(sealed, golds=(SENTINEL,) * 3)
    with_other = questions_file(blind, golds=("1",) * 3)
    cell, used = run(sealed / "out", with_gold, f"method={method}", engine=engine())
    other, _ = run(blind / "out", with_other, f"method={method}", engine=engine())
    assert used.requests
    assert not [r for r in used.requests if SENTINEL in r.prompt.raw]
    assert without_samples(results(cell)) == without_samples(results(other)), (
        "a gold answer changed what was sampled"
    )
    assert read_status(cell)["state"] == "done"


@pytest.mark.parametrize("reward", [r for r in choices("reward") if r != "oracle"])
@pytest.mark.parametrize("selector", choices("selector"))
def test_no_reward_but_the_oracle_sees_a_gold_answer(tmp_path, reward, selector):
    arms = [f"reward={reward}", f"selector={selector}"]
    found = []
    for name, golds in (("a", (SENTINEL,) * 3), ("b", ("1",) * 3)):
        folder = tmp_path / name
        folder.mkdir()
        cell, used = run(folder / "out", questions_file(folder, golds=golds), *arms)
        assert not [r for r in used.requests if SENTINEL in r.prompt.raw]
        found.append(without_samples(results(cell)))
    assert found[0] == found[1]


def test_the_oracle_does_see_it(tmp_path):
    tags = []
    for name, golds in (("a", ("1",) * 3), ("b", ("2",) * 3)):
        folder = tmp_path / name
        folder.mkdir()
        cell, _ = run(folder / "out", questions_file(folder, golds=golds), "reward=oracle")
        tags.append([row["trace"][0]["rewards"]["tags"] for row in results(cell)])
        for row in results(cell):
            [first, *_] = row["trace"]
            answers = [c["answer"] for c in first["candidates"]]
            assert first["rewards"]["tags"] == [int(a == golds[0]) for a in answers]
    assert tags[0] != tags[1]


def test_the_oracle_refuses_questions_without_a_gold(tmp_path):
    path = tmp_path / "question.txt"
    path.write_text("Why?")
    with pytest.raises(BenchmarkError, match="reward=oracle"):
        run(tmp_path / "out", path, "reward=oracle")


def test_a_question_of_ones_own_needs_no_gold(tmp_path):
    path = tmp_path / "question.txt"
    path.write_text("Why, $x$, {y}?")
    cell, used = run(tmp_path / "out", path)
    assert read_status(cell)["state"] == "done" and not load_scores(cell)
    assert len(results(cell)) == 1 and "Why, $x$, {y}?" in used.requests[0].prompt.user
    assert "mean_at_k" not in read_metrics(cell)


def test_what_is_stored_has_the_names_that_others_read(tmp_path):
    cell, _ = run(tmp_path / "run", questions_file(tmp_path))
    metrics = read_metrics(cell)
    names = [
        "backbone",
        "benchmark",
        "method",
        "reward",
        "selector",
        "protocol",
        "num_rounds",
        "num_candidates",
        "num_lookaheads",
        "num_questions",
        "seeds",
        "k",
        "mean_at_k",
        "accuracy",
        "majority_at_k",
        "pass_at_k",
        "num_answers",
        "num_unparsed",
        "num_truncated",
        "generated_tokens",
        "prompt_tokens",
        "wall_seconds",
        "copy_rate",
        "tag_accuracy",
    ]
    assert not set(names) - set(metrics)
    for name in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k"):
        assert set(metrics[name]) == {"value", "low", "high", "std_over_seeds"}
        assert 0 <= metrics[name]["low"] <= metrics[name]["value"] <= metrics[name]["high"] <= 1
    assert (metrics["method"], metrics["reward"], metrics["selector"]) == ("me_icpo", "majority", "entropy")
    assert metrics["num_questions"] == 3 and metrics["num_answers"] == 12
    scores = load_scores(cell)
    by_hand = [o == "correct" for s in scores for o in s.last.outcomes]
    assert metrics["mean_at_k"]["value"] == pytest.approx(sum(by_hand) / 12)
    first = [s.last.outcomes[0] == "correct" for s in scores]
    assert metrics["accuracy"]["value"] == pytest.approx(sum(first) / 3)


def test_the_report_has_the_columns_that_others_read(tmp_path):
    questions = questions_file(tmp_path)
    run(tmp_path / "run", questions)
    run(tmp_path / "run", questions, "method=direct")
    write_report(tmp_path, "run")
    lines = (tmp_path / "run/report/table.csv").read_text().splitlines()
    assert lines[0] == (
        "backbone,method,reward,selector,protocol,num_rounds,num_candidates,num_lookaheads,benchmark,metric,k,"
        "value,low,high,std_over_seeds,paper_value,label,cell,arm,title"
    )
    methods = {line.split(",")[1] for line in lines[1:]}
    assert methods == {"direct", "me_icpo", "me_icpo-direct"}
    assert {line.split(",")[9] for line in lines[1:]} >= {
        "tokens_per_question",
        "prompt_tokens_per_question",
        "parsed_share",
        "mean_among_parsed",
        "mean_at_k",
        "accuracy",
        "majority_at_k",
        "pass_at_k",
    }


@pytest.mark.parametrize("engine", [Blocks, Continuous])
def test_a_finished_cell_is_not_sampled_again(tmp_path, engine):
    questions = questions_file(tmp_path)
    cell, first = run(tmp_path / "run", questions, engine=engine())
    stored = results(cell)
    _, second = run(tmp_path / "run", questions, engine=engine())
    assert first.requests and not second.requests
    assert results(cell) == stored


class Failing(Exception):
    pass


@pytest.mark.parametrize("engine", [Blocks, Continuous])
@pytest.mark.parametrize("after", [1, 5, 9])
def test_an_interrupted_cell_goes_on_and_ends_with_the_same_results(tmp_path, engine, after):
    questions = questions_file(tmp_path)
    whole, used = run(tmp_path / "whole", questions, engine=engine())
    broken = engine()
    calls = 0

    class Breaking(engine):
        def __getattribute__(self, name):
            nonlocal calls
            if name == "finished":
                calls += 1
                if calls > after:
                    raise Failing
            return super().__getattribute__(name)

    broken = Breaking()
    with pytest.raises(Failing):
        run(tmp_path / "broken", questions, engine=broken)
    cell, rest = run(tmp_path / "broken", questions, engine=engine())
    assert results(cell) == results(whole)
    assert read_metrics(cell)["mean_at_k"] == read_metrics(whole)["mean_at_k"]
    if engine is Blocks:
        assert len(broken.requests) + len(rest.requests) == len(used.requests), "a batch was sampled twice"
    assert read_status(cell)["num_sessions"] == 2


def test_arms_share_the_samples_that_they_have_in_common(tmp_path):
    """The first round's candidates and their summaries are the same for every selector."""
    questions = questions_file(tmp_path)
    _, first = run(tmp_path / "run", questions, "budget.num_rounds=1", "selector=random", engine=Continuous())
    _, second = run(
        tmp_path / "run", questions, "budget.num_rounds=1", "selector=entropy", engine=Continuous()
    )
    sampled = {(r.prompt, r.seed, r.num_samples) for r in first.requests}
    again = [r for r in second.requests if (r.prompt, r.seed, r.num_samples) in sampled]
    assert not again
    assert {r.purpose.value for r in first.requests} >= {"candidate", "summary", "final"}
    assert {r.purpose.value for r in second.requests} <= {"lookahead", "final"}


def test_the_pace_leaves_out_what_another_cell_had_sampled(tmp_path, caplog):
    questions = questions_file(tmp_path)
    with caplog.at_level(logging.INFO):
        for arm in ("one", "other"):
            run(tmp_path / "run", questions, "method=direct", f"arm={arm}", engine=Continuous())
    sampled, taken = (text for text in caplog.messages if "tokens/s" in text)
    assert ", 0 tokens/s" in taken and ", 0 tokens/s" not in sampled


def test_other_settings_in_the_same_folder_are_refused_by_name(tmp_path):
    questions = questions_file(tmp_path)
    run(tmp_path / "run", questions)
    with pytest.raises(
        RecordsError, match=r"(?s)protocol.sampling.candidate.temperature.*0.6.*0.9.*run_name"
    ):
        run(tmp_path / "run", questions, "protocol.sampling.candidate.temperature=0.9")


def test_changed_questions_are_refused(tmp_path):
    run(tmp_path / "run", questions_file(tmp_path))
    with pytest.raises(RecordsError, match="benchmark_digest"):
        run(tmp_path / "run", questions_file(tmp_path, golds=("2", "3", "2")))


def test_rounds_kept_apart_serve_every_smaller_n(tmp_path):
    questions = questions_file(tmp_path)
    long, _ = run(tmp_path / "long", questions, "budget.num_rounds=3", "method.finals_after=[1,2,3]")
    by_rounds = read_metrics(long)["by_num_rounds"]
    for n in (1, 2, 3):
        short, _ = run(tmp_path / "short", questions, f"budget.num_rounds={n}")
        assert by_rounds[str(n)]["mean_at_k"] == read_metrics(short)["mean_at_k"]


def test_arms_that_differ_in_a_label_alone_have_lines_of_their_own(tmp_path):
    questions = questions_file(tmp_path)
    for arm in ("full", "answer_only", "base"):
        run(tmp_path / "run", questions, *of_arm("controls", arm))
    write_report(tmp_path, "run")
    frame = run_frame(tmp_path, "run")
    assert list(dict.fromkeys(frame[~frame["is_difference"]]["line"])) == ["base", "ME-ICPO", "answers alone"]


def test_a_question_that_does_not_fit_the_context_is_told(tmp_path, caplog):
    class TooShort(Blocks):
        def answer(self, request):
            return [Completion("", 9000, 0, FinishReason.PROMPT_TOO_LONG)] * request.num_samples

    with pytest.raises(EngineError, match="max_context_tokens"):
        run(tmp_path / "out", questions_file(tmp_path, golds=("2",)), engine=TooShort())
    assert "'q0': samples whose prompt did not fit into the context" in caplog.text
