"""The table of controls, on cells of every control run with an engine that has no model."""

import pandas as pd
import pytest

from icpo.metrics import GradedFinals, QuestionScore
from icpo.store import read_metrics
from icpo.types import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Step,
    Votes,
)
from tests.arms import arms_in, of_arm
from tests.end_to_end.fakes import questions_file, run
from tests.experiments.scripts import load
from tests.metrics.values import result, step
from tests.report.stored_runs import tally

ARMS = arms_in("controls")
LEVELS = ("arith_l3", "arith_l4")


@pytest.fixture(scope="module")
def script():
    return load("controls/make_table")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    questions = questions_file(outputs)
    for level in LEVELS:
        for arm in ARMS:
            settings = ("budget.num_rounds=2", *of_arm("controls", arm), f"benchmark.name={level}")
            run(outputs / "controls", questions, *settings)
    return outputs


@pytest.fixture(scope="module")
def rows(script, outputs):
    found = script.read_outcomes(outputs, "controls")
    return pd.DataFrame(map(script.flat, script.rows_of([*found, *script.pooled(found)])))


@pytest.mark.slow
def test_every_arm_of_the_preset_is_a_row_of_every_level_and_of_all_in_the_order_of_the_readme(script, rows):
    assert set(ARMS) == set(script.ORDER)
    for level in (*LEVELS, "all levels"):
        arms = rows[rows["level"] == level]["arm"]
        assert arms[~arms.isin(script.PARTS)].tolist() == list(script.ORDER)


@pytest.mark.slow
def test_differences_are_those_of_the_means_and_pools_weigh_questions_alike(rows):
    by = rows.set_index(["level", "arm"])
    for arm in ("majority_hint", "inverted", "one_round"):
        gained = by.loc[("arith_l3", arm), "mean"] - by.loc[("arith_l3", "full"), "mean"]
        assert by.loc[("arith_l3", arm), "minus_full"] == pytest.approx(gained)
        pooled = sum(by.loc[(level, arm), "minus_base"] for level in LEVELS) / 2
        assert by.loc[("all levels", arm), "minus_base"] == pytest.approx(pooled)
        assert by.loc[("all levels", arm), "pairs"] == 6
    assert pd.isna(by.loc[("arith_l3", "base"), "minus_base"])
    assert (rows["mean_low"] <= rows["mean"]).all() and (rows["mean"] <= rows["mean_high"]).all()


@pytest.mark.slow
def test_copying_tags_and_tokens_are_what_the_cells_measured(outputs, rows):
    cell = outputs / "controls/nano-arith_l3-full"
    stored = read_metrics(cell)
    full = rows.set_index(["level", "arm"]).loc[("arith_l3", "full")]
    assert full["copied"] == pytest.approx(stored["copy_rate"])
    assert full["true_tags"] == pytest.approx(stored["tag_accuracy"])
    assert full["tokens"] == stored["generated_tokens"] / 3


@pytest.mark.parametrize(
    ("method", "base", "share"),
    [
        ("majority_hint", ["7", "7", "12", None], 0.25),
        ("majority_hint", ["7", "12"], 0.75),  # tied: either may have been the hint
        ("repeated_error", ["7", "7", "12", None], 0.5),
        ("repeated_error", ["7", "7"], None),  # nothing to repeat
    ],
)
def test_a_hint_is_copied_by_the_finals_that_give_it(script, method, base, share):
    finals = GradedFinals(("wrong", "correct", "correct", "unparsed"), ("7", "12", "12", None))
    score = QuestionScore("q", 0, "12", ((1, finals),))
    assert script.copied_share(result("q", 0, step(base)), score, method, tally) == share


@pytest.mark.parametrize(
    ("base", "part"),
    [
        (["7", "7", "9", "12"], "a wrong answer"),
        (["7", "7", "12", None], "the right answer"),
        (["12", "12", "7"], "a wrong answer"),
        (["7", "7", None], "no idea"),
    ],
)
def test_repeated_errors_are_told_apart_by_what_the_runner_up_is(script, base, part):
    assert script.part_of(result("q", 0, step(base)), "12", tally) == f"repeated_error: {part}"


def test_each_part_of_an_arm_is_a_row_behind_it_over_its_own_questions(script):
    keys = [(("arith_l3", question), 0) for question in "abc"]
    wrong, right, _ = script.PARTS
    values = dict(zip(keys, (0.0, 0.5, 1.0), strict=True))
    whole = script.Outcome(
        "arith_l3", "repeated_error", "nano", 2, values, {keys[0]: 1.0}, {}, values,
        parts=dict(zip(keys, (wrong, wrong, right), strict=True)),
    )  # fmt: skip
    base = script.Outcome("arith_l3", "base", "nano", 2, dict.fromkeys(keys, 0.25), {}, {}, values)
    rows = [script.flat(row) for row in script.rows_of(script.with_parts([whole, base]))]
    shown = [(row["arm"], row["pairs"], row["mean"], row["minus_base"], row["copied"]) for row in rows]
    assert shown[1:] == [
        ("repeated_error", 3, 0.5, 0.25, 1.0),
        (wrong, 2, 0.25, 0.0, 1.0),
        (right, 1, 1.0, 0.75, None),
    ]


@pytest.mark.slow
def test_tables_are_written_for_readers_for_latex_and_for_scripts(script, outputs, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["make_table.py", "--outputs", str(outputs)])
    script.main()
    report = outputs / "controls/report"
    assert (report / "controls.md").read_text() in capsys.readouterr().out
    assert (report / "controls.md").read_text().count("| majority_hint |") == 3
    assert (report / "controls.tex").read_text().count(r"\begin{tabular}") == 3
    arms = pd.read_csv(report / "controls.csv")["arm"]
    assert (~arms.isin(script.PARTS)).sum() == 3 * len(ARMS)


def test_a_run_without_cells_says_what_to_run(script, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_table.py", "nothing", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"none.*\+exp=controls"):
        script.main()


@pytest.mark.parametrize(
    ("answers", "without", "right"),
    [
        (["7", "7", "8"], (), 1.0),
        (["7", "7", "8"], ("7",), 0.0),
        (["7", "8", "8", None, None, None], ("8",), 1.0),
        (["7", "8"], (), 0.5),
        ([None], (), 0.0),
        (["8"], ("8", None), 0.0),
    ],
)
def test_a_vote_leaves_out_what_it_is_told_to(answers, without, right):
    assert load("controls/beyond_the_vote").share_right(answers, "7", without) == right


def test_ideas_are_counted_by_their_tags():
    silent, seven = (Candidate(Completion("", 1, 1, FinishReason.STOP), answer) for answer in (None, "7"))

    def row(*tags):
        hint = Step("hint", (seven,))
        return QuestionResult(
            Question("q", "", AnswerKind.NUMBER), 0, (hint, *map(a_round, tags)), ((len(tags), (seven,)),)
        )

    def a_round(tag):
        attempts = (Attempt(seven, tag, ""),) if tag is not None else ()
        kept = tuple(range(len(attempts)))
        return Round((silent, seven), Votes((), 0), Rewards((0, tag)), (1,), attempts, (), kept)

    rows = dict(enumerate([row(0, 1), row(0, 0), row(1, 0), row(None, 1), row(None)]))
    script = load("controls/beyond_the_vote")
    assert list(script.counts({"arm": rows})) == [["arm", "4", "2", "1"]]
    assert script.kept(row(1)) == [Attempt(seven, 1, "")]


@pytest.mark.slow
def test_the_arm_is_set_against_votes_with_and_without_its_tags(outputs, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["beyond_the_vote.py", "--outputs", str(outputs)])
    load("controls/beyond_the_vote").main()
    shown = capsys.readouterr().out
    assert "| inverted |" in shown and "| Maj@k, minus a vote of 16 answers | +" in shown
    assert "241" not in shown, "no such vote was stored"


def test_a_missing_run_of_controls_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["beyond_the_vote.py", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"exp=controls"):
        load("controls/beyond_the_vote").main()
