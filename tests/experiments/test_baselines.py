"""The cost table and the curve of the baselines, on made-up metrics."""

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from icpo.grading import GradingRules
from icpo.store.codec import encode_result
from icpo.types import (
    AnswerKind,
    Candidate,
    Completion,
    FinishReason,
    Question,
    QuestionResult,
    Step,
)
from tests.experiments.scripts import load

TOTALS = {"num_requests", "num_sequences", "prompt_tokens", "generated_tokens", "wall_seconds"}


def metrics(method, label, mean, benchmark="arith_l3", backbone="nano", k=4, **costs):
    estimate = {"value": mean, "low": mean - 0.1, "high": mean + 0.1, "std_over_seeds": None}
    return {
        "backbone": backbone, "benchmark": benchmark, "method": method, "label": label, "k": k,
        "mean_at_k": estimate, "accuracy": estimate, "num_questions": 5, "seeds": [0, 1],
        "generated_tokens": 1000, "generated_by_purpose": {}, "prompt_tokens": 50, "wall_seconds": 20.0,
    } | costs  # fmt: skip


def write(folder, *cells):
    for i, cell in enumerate(cells):
        (folder / f"cell{i}").mkdir(parents=True)
        (folder / f"cell{i}" / "metrics.json").write_text(json.dumps(cell))
        (folder / f"cell{i}" / "manifest.json").write_text("{}")
        write_scores(folder / f"cell{i}", {"q0": "rw"})
    return [folder / f"cell{i}" for i in range(len(cells))]


def write_scores(cell, answers):
    """Scores of seed 0 (r is a right answer, w a wrong one) and the totals of as many questions."""
    outcomes = {"r": "correct", "w": "wrong"}
    lines = [
        {"question_id": question, "seed": 0, "gold": "8", "rounds": [],
         "finals": [[0, {"outcomes": [outcomes[c] for c in said], "labels": list(said)}]]}
        for question, said in answers.items()
    ]  # fmt: skip
    (cell / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = cell / "metrics.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    if "num_questions" not in stored:
        return
    before = stored["num_questions"] * len(stored["seeds"])
    stored |= {"num_questions": len(answers), "seeds": [0]}
    for name in TOTALS & stored.keys():
        stored[name] *= len(answers) / before
    by_purpose = stored["generated_by_purpose"]
    stored["generated_by_purpose"] = {k: n * len(answers) / before for k, n in by_purpose.items()}
    (cell / "metrics.json").write_text(json.dumps(stored))


@pytest.fixture
def script():
    return load("baselines/make_table")


def test_a_search_that_all_answers_share_is_charged_whole_and_one_run_for_each_is_not(tmp_path, script):
    by_purpose = {"candidate": 600, "final": 400}
    cells = write(
        tmp_path,
        metrics("me_icpo", "ours", 0.5, generated_by_purpose=by_purpose),
        metrics("self_consistency", "sc", 0.4, generated_by_purpose={"candidate": 1000}),
        metrics("tot_majority", "tot", 0.4, generated_by_purpose=by_purpose),
        metrics("ttrl", "ttrl", 0.4, generated_by_purpose={"training": 800, "final": 200}),
    )
    costs = script.read_costs(cells).set_index("label")
    assert costs["tokens_per_question"].to_dict() == dict.fromkeys(("ours", "sc", "tot", "ttrl"), 100)
    assert costs.loc["ours", "tokens_per_answer"] == 60 + 40 / 4
    assert costs.loc["sc", "tokens_per_answer"] == costs.loc["tot", "tokens_per_answer"] == 25
    assert costs.loc["ttrl", "tokens_per_answer"] == 80 + 20 / 4
    assert costs.loc["ours", "tokens_all_answers"] == 60 + 16 * 40 / 4
    assert costs.loc["sc", "tokens_all_answers"] == 16 * 25
    assert costs.loc["sc", "seconds_per_question"] == 2.0


def test_base_is_compared_with_by_question_and_seed(tmp_path, script):
    base, ours = metrics("direct", "base", 0.5), metrics("me_icpo", "ours", 0.75)
    cells = write(tmp_path, base, ours)
    write_scores(cells[0], {"q0": "rw", "q1": "rw"})
    write_scores(cells[1], {"q0": "rr", "q1": "rw"})
    costs = script.read_costs(cells).set_index("label")
    assert costs.loc["ours", "minus_base"] == 0.25 and pd.isna(costs.loc["base", "minus_base"])
    [_, table] = script.sections(costs.reset_index())
    assert "| +25.0 [-100.0, +100.0] |" in table and "s/question" in table
    [_, table] = script.sections(costs.reset_index(), script.SHOWN.keys() - {"seconds_per_question"})
    assert "s/question" not in table and "tokens, 16 answers" in table


def test_paper_numbers_stand_beside_its_own_backbone_alone(tmp_path, script):
    levels = [metrics("ttrl", "ttrl", i / 10, f"math_l{i}", "qwen7b") for i in range(1, 6)]
    cells = write(tmp_path, metrics("ttrl", "ttrl", 0.3, "aime2024", "qwen7b"), *levels)
    text = "\n".join(script.sections(script.read_costs(cells)))
    assert "| 27.2 | 30.0 | 1253 |" in text
    average = text.split("math_avg")[1]
    assert "| ttrl | 30.0 |" in average and "| 46.83 | 45.11 |  |" in average
    nano = write(tmp_path / "nano", metrics("ttrl", "ttrl", 0.3, "aime2024", "nano"))
    assert "paper" not in "\n".join(script.sections(script.read_costs(nano)))


def test_curve_has_a_panel_a_benchmark_and_a_curve_a_method(tmp_path, script):
    cells = write(
        tmp_path,
        *(
            metrics("self_consistency", f"sc{n}", n / 20, benchmark, generated_tokens=100 * n)
            for benchmark in ("arith_l3", "arith_l4")
            for n in (4, 1, 16)
        ),
        metrics("direct", "base", 0.2),
    )
    figure = load("baselines/make_curve").draw(script.read_costs(cells))
    left, right, below, _ = figure.axes
    assert left.get_title() == "arith_l3" and right.get_title() == "arith_l4"
    one, sixteen = (
        {c.get_label(): c.lines[0].get_xydata().tolist() for c in axes.containers} for axes in (left, below)
    )
    assert one["self-consistency"] == [[2.5, 5.0], [10.0, 20.0], [40.0, 80.0]]
    assert sixteen["self-consistency"] == [[40.0, 5.0], [160.0, 20.0], [640.0, 80.0]]
    assert set(one) == {"base", "self-consistency"}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["self-consistency", "base"]


def test_a_run_without_cells_is_named(tmp_path, script, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_table.py", "nothing", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"\+exp=baselines"):
        script.main()


def test_command_writes_what_the_figures_read_and_later_runs_replace_cells(
    tmp_path, script, monkeypatch, capsys
):
    write(tmp_path / "baselines", metrics("direct", "base", 0.2), metrics("mctsr", "old", 0.3))
    write(tmp_path / "again", metrics("direct", "base", 0.4), {})  # the second is not measured yet
    monkeypatch.setattr("sys.argv", ["make_table.py", "baselines", "again", "--outputs", str(tmp_path)])
    script.main()
    costs = pd.read_csv(tmp_path / "baselines/report/costs.csv").set_index("label")
    assert costs["cell"].to_dict() == {"base": "again/cell0", "old": "baselines/cell1"}
    assert "| base | 40.0 [30.0, 50.0] |" in capsys.readouterr().out


def arm(method, label, right, tokens, benchmark):
    """A cell of one answer a question, `right` of four questions right; tokens are a question's."""
    by_purpose = {"candidate": 10 * tokens}
    cell = metrics(
        method,
        label,
        right / 4,
        benchmark,
        k=1,
        generated_tokens=10 * tokens,
        generated_by_purpose=by_purpose,
    )
    return cell, {f"q{i}": "r" if i < right else "w" for i in range(4)}


LEVELS = ("arith_l3", "arith_l4")


@pytest.fixture
def match(tmp_path, script, monkeypatch):
    """Writes arms, then runs make_table.py and make_matched.py: the rows and the text of the second."""

    def run(arms, *options, model_id=None):
        manifest = {"config": {"job": {"backbone": {"model_id": model_id}}}}
        for cell, (_, answers) in zip(write(tmp_path / "run", *(m for m, _ in arms)), arms, strict=True):
            write_scores(cell, answers)
            (cell / "manifest.json").write_text(json.dumps(manifest))
        monkeypatch.setattr("sys.argv", ["make_table.py", "run", "--outputs", str(tmp_path)])
        script.main()
        monkeypatch.setattr("sys.argv", ["make_matched.py", "run", "--outputs", str(tmp_path), *options])
        load("baselines/make_matched").main()
        stem = tmp_path / "run/report" / "_".join(["matched", *options[1:]])
        return pd.read_csv(f"{stem}.csv"), Path(f"{stem}.md").read_text()

    return run


@pytest.fixture
def matched(match):
    """The rows and the text for arms on two benchmarks."""
    arms = [
        (arm("me_icpo", "small", 2, 100, b), arm("me_icpo", "large", 4, 900, b), arm("mctsr", "r2", 1, 90, b),
         arm("mctsr", "r4", 3, 100, b), arm("mctsr", "r8", 2, 800, b), arm("tot_majority", "b2", 1, 901, b))
        for b in LEVELS
    ]  # fmt: skip
    return match([pair for level in arms for pair in level])


def test_each_arm_of_me_icpo_meets_the_best_of_a_baseline_at_no_more_tokens(matched):
    rows, text = matched
    one = rows[(rows["counted"] == "tokens_per_answer") & (rows["benchmark"] == "arith_l3")]
    found = {(r["me_icpo"], r["baseline"]): (r["arm"], r["difference"]) for r in one.to_dict("records")}
    assert found["small", "mctsr"] == ("r4", -0.25) and found["large", "mctsr"] == ("r4", 0.25)
    assert pd.isna(found["large", "tot_majority"][0])
    assert "| tot_majority | costs more | costs more |" in text


def test_searches_shared_by_16_answers_are_charged_once_and_benchmarks_are_pooled(matched):
    rows, _ = matched
    sixteen = rows[(rows["counted"] == "tokens_all_answers") & (rows["benchmark"] == "arith_l3+arith_l4")]
    found = {(r["me_icpo"], r["baseline"]): r["arm"] for r in sixteen.to_dict("records")}
    assert pd.isna(found["small", "mctsr"]) and pd.isna(found["large", "mctsr"])  # 16 x 90 tokens
    assert set(sixteen["me_icpo_cost"]) == {100, 900}
    one = rows[rows["counted"] == "tokens_per_answer"].set_index("benchmark")
    pooled = one.loc["arith_l3+arith_l4"].iloc[0]
    assert pooled["difference"] == -0.25 and pooled["low"] < -0.25 < pooled["high"]


def test_a_pool_compares_the_arms_that_have_all_of_its_benchmarks_and_names_the_others(match):
    three = (*LEVELS, "arith_l5")
    arms = [
        *(arm("me_icpo", "small", 2, 100, b) for b in three),
        *(arm("me_icpo", "large", 4, 900, b) for b in LEVELS),
        *(arm("mctsr", "r2", 1, 80, b) for b in three),
        *(arm("mctsr", "r4", 3, 90, b) for b in LEVELS),
    ]
    rows, text = match(arms)
    rows = rows[rows["counted"] == "tokens_per_answer"]
    found = {(r["benchmark"], r["me_icpo"]): r for r in rows.to_dict("records")}
    pools = {key for key in found if "+" in key[0]}
    assert pools == {("+".join(three), "small"), ("+".join(LEVELS), "small"), ("+".join(LEVELS), "large")}
    whole, part = found["+".join(three), "small"], found["+".join(LEVELS), "small"]
    assert (whole["arm"], whole["difference"], whole["left_out"]) == ("r2", 0.25, "r4 large")
    assert (part["arm"], part["difference"]) == ("r4", -0.25) and pd.isna(part["left_out"])
    assert "arith_l3+arith_l4+arith_l5: ME-ICPO minus baseline" in text
    assert "Left out, not measured on all of it: r4, large.\n" in text


def test_another_method_meets_all_others(match):
    arms = [arm("ttrl", "ttrl", 3, 100, "arith_l3"), arm("me_icpo", "small", 1, 100, "arith_l3")]
    rows, text = match(arms, "--of", "ttrl")
    row = rows.iloc[0]
    assert (row["ttrl"], row["baseline"], row["difference"]) == ("ttrl", "me_icpo", 0.5)
    assert "TTRL minus baseline" in text


def test_matched_without_a_table_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_matched.py", "nothing", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"make_table.py"):
        load("baselines/make_matched").main()


def test_verdicts_on_right_and_wrong_samples_are_told_apart(tmp_path):
    [cell] = write(tmp_path / "run", metrics("best_of_n", "bon", 0.5))
    rules = {"_target_": "icpo.grading.GradingRules", **asdict(GradingRules())}
    (cell / "manifest.json").write_text(json.dumps({"config": {"protocol": {"grading": rules}}}))

    def step(answer, *verdicts):
        candidate = Candidate(Completion("", 1, 1, FinishReason.STOP), answer)
        value = sum(verdicts) / len(verdicts) if verdicts else None
        return Step("sample", (candidate,), value, verdicts=tuple(map(float, verdicts)))

    def line(question_id, *steps):
        question = Question(question_id, "", AnswerKind.NUMBER)
        return encode_result(QuestionResult(question, 0, steps, ((0, steps[0].candidates),)))

    trace = [
        step("8.0", 100, 100),
        step("8", -100),
        step("9", 100),
        step("7", -100),
        step("6", -100),
        step(None),
    ]
    rows = (line("q0", *trace), line("q1", step("7", -100)))
    write_scores(cell, {"q0": "rw", "q1": "rw"})
    (cell / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [told] = load("baselines/make_verdicts").rows_of(tmp_path, "run")
    assert told["samples judged"] == "6"
    assert told["right ones called right"] == "50.0%" and told["wrong ones called right"] == "25.0%"
    assert told["left out, none called right"] == "1 of 2"
    assert told["right among those called right, minus among all"].startswith("+10.0")


def test_me_icpo_with_racing_does_not_meet_me_icpo(match):
    arms = [arm(method, method, 2, 100, "arith_l3") for method in ("me_icpo", "me_icpo_racing", "mctsr")]
    rows, text = match(arms, "--of", "me_icpo_racing")
    assert set(rows["baseline"]) == {"mctsr"} and "ME-ICPO with racing minus baseline" in text


def test_flops_count_the_prompts_of_each_answers_own_search_and_shared_ones_once(tmp_path, script):
    shared = metrics(
        "me_icpo", "ours", 0.5, generated_by_purpose={"candidate": 600, "final": 400},
        num_requests=20, num_sequences=80,
    )  # fmt: skip
    apart = metrics("mctsr", "mctsr", 0.5, num_requests=40, num_sequences=80)
    cells = write(tmp_path, shared, apart, metrics("ttrl", "ttrl", 0.5, num_requests=1, num_sequences=1))
    job = {"backbone": {"model_id": "icpo:nano", "revision": None}}
    for cell in cells:
        (cell / "manifest.json").write_text(json.dumps({"config": {"job": job}}))
    costs = script.read_costs(cells).set_index("label")
    parameters, position = 2 * 2_644_992, 4 * 4 * 256
    # Ten questions and seeds: 5 prompt tokens in 2 requests, 100 tokens in 8 sequences of 4 answers.
    one = (5 + 60 + 10) * parameters
    attended = 2 * 2.5 * 3.5 / 2 + 70 * (2.5 + (70 / 5 + 1) / 2)
    assert costs.loc["ours", "flops_per_answer"] == pytest.approx(one + attended * position)
    # Each of 4 answers: a quarter of 5 prompt tokens in 4 requests and of 100 tokens in 8 sequences.
    attended = 1.25 * (1.25 + 1) / 2 + 25 * (1.25 + (12.5 + 1) / 2)
    assert costs.loc["mctsr", "flops_per_answer"] == pytest.approx(26.25 * parameters + attended * position)
    assert costs.loc["mctsr", "flops_all_answers"] == pytest.approx(
        16 * costs.loc["mctsr", "flops_per_answer"]
    )
    assert pd.isna(costs.loc["ttrl", "flops_per_answer"])
    assert costs.loc["ours", "prompt_per_generated"] == 0.05
    [_, table] = script.sections(costs.reset_index())
    assert "GFLOPs, one answer" in table


def test_equal_cost_is_equal_flops_too(match):
    """A baseline of few tokens and long prompts costs less by tokens and more by FLOPs."""
    ours, right = arm("me_icpo", "ours", 2, 100, "arith_l3")
    baseline, wrong = arm("mctsr", "r2", 1, 90, "arith_l3")
    size = {"num_requests": 10, "num_sequences": 10}
    rows, text = match(
        [(ours | size, right), (baseline | size | {"prompt_tokens": 5000}, wrong)], model_id="icpo:nano"
    )
    found = rows.set_index("counted")["arm"]
    assert found["tokens_per_answer"] == "r2" and pd.isna(found["flops_per_answer"])
    assert "GFLOPs" in text
