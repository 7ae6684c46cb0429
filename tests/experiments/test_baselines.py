"""The cost table and the curve of the rivals, on made-up metrics."""

import json

import pandas as pd
import pytest

from tests.experiments.scripts import load


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
    return [folder / f"cell{i}" for i in range(len(cells))]


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
    assert costs.loc["sc", "seconds_per_question"] == 2.0


def test_rivals_stand_beside_me_icpo_at_no_more_tokens(tmp_path, script):
    def ours(label, mean, tokens):
        return metrics(
            "me_icpo", label, mean, generated_tokens=tokens, generated_by_purpose={"candidate": tokens}
        )

    def rival(label, tokens):
        return metrics("mctsr", label, 0.3, generated_tokens=4 * tokens)

    cells = write(
        tmp_path, ours("small", 0.5, 100), ours("large", 0.6, 900), rival("dear", 901), rival("mid", 500),
        rival("cheap", 99),
    )  # fmt: skip
    [_, table] = script.sections(script.read_costs(cells))
    found = {
        line.split("|")[1].strip(): line.split("|")[-2].strip() for line in table.splitlines()[2:] if line
    }
    assert found == {
        "cheap": "dearer", "small": "", "mid": "50.0 (10 tokens)", "large": "", "dear": "60.0 (90 tokens)",
    }  # fmt: skip


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
    figure = load("baselines/make_curve").draw(script.read_costs(cells), "answer")
    left, right = figure.axes
    assert left.get_title() == "arith_l3" and right.get_title() == "arith_l4"
    curves = {c.get_label(): c.lines[0].get_xydata().tolist() for c in left.containers}
    assert curves["self-consistency"] == [[2.5, 5.0], [10.0, 20.0], [40.0, 80.0]]
    assert set(curves) == {"base", "self-consistency"}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["base", "self-consistency"]


def test_a_run_without_cells_is_named(tmp_path, script, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_table.py", "nothing", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"in nothing. Run python -m icpo.run \+exp=baselines first"):
        script.main()


def test_command_writes_what_the_curve_reads(tmp_path, script, monkeypatch, capsys):
    [cell] = write(tmp_path / "baselines", metrics("direct", "base", 0.2))
    (cell / "manifest.json").write_text("{}")
    monkeypatch.setattr("sys.argv", ["make_table.py", "baselines", "--outputs", str(tmp_path)])
    script.main()
    costs = pd.read_csv(tmp_path / "baselines/report/costs.csv")
    assert costs["label"].tolist() == ["base"] and "| base | 20.0 [10.0, 30.0] |" in capsys.readouterr().out
