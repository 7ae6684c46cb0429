import csv
import json
import shutil
import subprocess
from itertools import product

import pytest

from icpo.cli.report import main
from icpo.errors import RecordsError
from icpo.report import write_report
from icpo.report.cells import load_cells
from icpo.store import note_planned
from tests.report.stored_runs import MadeUpCell, me_icpo
from tests.store.editing import rewrite_json

COLUMNS = [
    "backbone", "method", "reward", "selector", "protocol", "num_rounds", "num_candidates", "num_lookaheads",
    "benchmark", "metric", "k", "value", "low", "high", "std_over_seeds", "paper_value", "label",
    "cell", "arm", "title",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A base and an ME-ICPO cell on two levels."""
    outputs = tmp_path_factory.mktemp("made")
    for level in ("arith_l3", "arith_l4"):
        MadeUpCell(level, skill=0.3).write(outputs, "run")
        me_icpo(level, skill=0.8).write(outputs, "run")
    return outputs


@pytest.fixture
def run(made, tmp_path):
    """A copy to report, or to damage."""
    return shutil.copytree(made, tmp_path / "outputs")


def rows(outputs, name="table.csv"):
    with (outputs / "run/report" / name).open() as file:
        return list(csv.DictReader(file))


def stored(outputs, cell, name):
    return json.loads((outputs / "run" / cell / "metrics.json").read_text())[name]


def test_table_csv_has_the_columns_that_scripts_read_and_the_stored_values(run):
    write_report(run, "run")
    found = rows(run)
    assert list(found[0]) == COLUMNS
    [row] = [
        r for r in found if (r["method"], r["benchmark"], r["metric"]) == ("me_icpo", "arith_l3", "accuracy")
    ]
    value = stored(run, "nano-arith_l3-me_icpo-majority-entropy-n2-quick", "accuracy")
    assert {name: float(row[name]) for name in value} == pytest.approx(value)
    assert (row["reward"], row["selector"], row["num_rounds"], row["k"]) == ("majority", "entropy", "2", "4")
    assert row["paper_value"] == ""


def test_two_sizes_of_one_method_are_told_apart_by_label_and_cell(tmp_path):
    sizes = ("s16", "s128")
    folders = [
        MadeUpCell(method="self_consistency", prompt=size, extra={"label": f"self_consistency-{size}"}).write(
            tmp_path, "run"
        )
        for size in sizes
    ]
    write_report(tmp_path, "run")
    found = {(r["label"], r["cell"]) for r in rows(tmp_path)}
    assert found == {(f"self_consistency-{size}", f.name) for size, f in zip(sizes, folders, strict=True)}


def test_a_difference_is_the_difference_of_the_two_rows(run):
    write_report(run, "run")
    value = {(r["method"], r["benchmark"], r["metric"]): float(r["value"]) for r in rows(run)}
    for metric in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k"):
        expected = value["me_icpo", "arith_l3", metric] - value["direct", "arith_l3", metric]
        assert value["me_icpo-direct", "arith_l3", metric] == pytest.approx(expected)


def test_differences_csv_pools_the_levels(run):
    write_report(run, "run")
    found = {(r["benchmark"], r["metric"]): r for r in rows(run, "differences.csv")}
    each = [float(found[level, "mean_at_k"]["value"]) for level in ("arith_l3", "arith_l4")]
    pooled = found["arith_l3-l4", "mean_at_k"]
    assert float(pooled["value"]) == pytest.approx(sum(each) / 2)
    assert float(pooled["low"]) < float(pooled["value"]) < float(pooled["high"])
    assert found["arith_l3", "mean_over_majority"]["num_pairs"] == "12"


POOLED_TOKENS = ("arith_l3-l4", "tokens_per_question")


@pytest.mark.parametrize("seeds", [(0, 1), (2, 3)])
def test_a_pool_has_the_seeds_that_all_its_levels_have(tmp_path, seeds):
    for level, own, tokens in (("arith_l3", (0,), 100), ("arith_l4", seeds, 300)):
        extra = {"generated_tokens": tokens * 6 * len(own)}
        MadeUpCell(level, seeds=own, extra=extra).write(tmp_path, "run")
        me_icpo(level, seeds=own, extra=extra).write(tmp_path, "run")
    write_report(tmp_path, "run")
    pools = [r for r in rows(tmp_path) if r["benchmark"] == "arith_l3-l4" and r["metric"] == "mean_at_k"]
    assert [r["std_over_seeds"] for r in pools] == ([""] * 2 if 0 in seeds else [])
    tokens = [r["value"] for r in rows(tmp_path) if (r["benchmark"], r["metric"]) == POOLED_TOKENS]
    assert [float(value) for value in tokens] == ([200] * 2 if 0 in seeds else [])
    pairs = {r["num_pairs"] for r in rows(tmp_path, "differences.csv") if r["benchmark"] == "arith_l3-l4"}
    assert pairs == ({"12"} if 0 in seeds else set())


def test_pooled_differences_of_several_arms_are_told_apart(tmp_path):
    for benchmark in ("arith_l3", "arith_l4"):
        MadeUpCell(benchmark=benchmark, method="direct").write(tmp_path, "run")
        for selector in ("entropy", "random"):
            labelled = {"label": f"me_icpo-{selector}"}
            MadeUpCell(benchmark=benchmark, method="me_icpo", selector=selector, extra=labelled).write(
                tmp_path, "run"
            )
    write_report(tmp_path, "run")
    pooled = [r for r in rows(tmp_path, "differences.csv") if r["benchmark"] == "arith_l3-l4"]
    keys = [(r["label"], r["base_label"], r["metric"]) for r in pooled]
    assert len(set(keys)) == len(keys) and len({label for label, *_ in keys}) == 2


def test_the_same_results_give_the_same_bytes(run):
    paths = write_report(run, "run").paths
    first = {path.name: path.read_bytes() for path in paths}
    write_report(run, "run")
    assert {path.name: path.read_bytes() for path in paths} == first
    assert set(first) == {"table.md", "table.csv", "table.tex", "differences.csv", "scores.png", "scores.pdf"}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("metrics.json", "{"),
        ("metrics.json", '{"mean_at_k": {"value": "a lot"}}'),
        ("metrics.json", "[]"),
        ("scores.jsonl", '{"question_id": "q"}\n'),
        ("scores.jsonl", "no json\n"),
        ("status.json", "\x00"),
        ("status.json", '{"state": "done", "wall_seconds": ["1"]}'),
    ],
)
def test_an_unreadable_cell_is_named_and_the_others_stand(run, file, content):
    cell = "nano-arith_l3-direct-plain-quick"
    (run / "run" / cell / file).write_text(content)
    report = write_report(run, "run")
    assert [c.state for c in report.cells if c.folder.name == cell] == ["unreadable"]
    assert f"`{cell}` is unreadable" in (run / "run/report/table.md").read_text()
    assert {r["benchmark"] for r in rows(run) if r["method"] == "me_icpo-direct"} == {"arith_l4"}


def test_a_finished_cell_without_its_metrics_is_named(run):
    cell = run / "run/nano-arith_l3-direct-plain-quick"
    (cell / "metrics.json").unlink()
    write_report(run, "run")
    assert f"`{cell.name}` is unreadable: metrics.json is gone" in (run / "run/report/table.md").read_text()


def test_failed_and_unfinished_cells_are_named_with_their_reason(run):
    cell = run / "run/nano-arith_l3-direct-plain-quick"
    rewrite_json(cell / "status.json", lambda status: status | {"state": "failed", "reason": "GPU\nlost"})
    (cell / "metrics.json").unlink()
    write_report(run, "run")
    assert f"`{cell.name}` is failed: GPU lost" in (run / "run/report/table.md").read_text()


def test_a_cell_that_ended_before_it_began_is_named(run):
    (run / "run/nano-arith_l5-direct").mkdir()
    (run / "run/nano-arith_l5-direct/run.log").write_text("no such engine\n")
    (run / "run/nano-arith_l5-slip").mkdir()
    (run / "run/nano-arith_l5-slip/run.log").touch()
    write_report(run, "run")
    table = (run / "run/report/table.md").read_text()
    assert "`nano-arith_l5-direct` is not begun: see run.log" in table
    assert "nano-arith_l5-slip" not in table, "a slip on the command line leaves an empty log"


def test_a_cell_that_was_planned_alone_is_named(run):
    note_planned(run / "run", ["nano-arith_l5-direct", "nano-arith_l3-direct-plain-quick"])
    report = write_report(run, "run")
    assert "`nano-arith_l5-direct` is not begun: planned" in (run / "run/report/table.md").read_text()
    assert [cell.state for cell in report.cells if cell.state != "done"] == ["not begun"]


def test_a_run_of_failures_alone_still_has_a_report(run):
    for path in run.glob("run/*/metrics.json"):
        path.write_text("{")
    report = write_report(run, "run")
    assert rows(run) == [] and report.frame.empty
    assert not (run / "run/report/scores.png").exists()


def test_cells_on_other_questions_are_not_compared_and_it_is_said(tmp_path):
    MadeUpCell(seeds=(0,)).write(tmp_path, "run")
    me_icpo(seeds=(1,)).write(tmp_path, "run")
    report = write_report(tmp_path, "run")
    assert "in common" in report.notes[0]
    assert not [r for r in rows(tmp_path) if r["method"] == "me_icpo-direct"]


def test_cells_whose_questions_changed_between_them_are_not_compared_and_it_is_said(tmp_path):
    MadeUpCell(extra={"benchmark_digest": "before"}).write(tmp_path, "run")
    me_icpo(extra={"benchmark_digest": "after"}).write(tmp_path, "run")
    report = write_report(tmp_path, "run")
    assert "their arith_l1 is not the same" in report.notes[0]
    assert not report.frame["is_difference"].any()


def lines(report):
    """Line and base of each line of Mean@k."""
    found = report.frame[report.frame["metric"] == "mean_at_k"]
    return list(zip(found["line"], found["base_line"], strict=True))


def test_bases_with_other_prompts_are_lines_of_their_own(tmp_path):
    for prompt in ("plain", "empty_history"):
        MadeUpCell(prompt=prompt).write(tmp_path, "run")
    me_icpo().write(tmp_path, "run")
    assert lines(write_report(tmp_path, "run")) == [
        ("direct", ""), ("direct_empty_history", ""), ("me_icpo", ""), ("me_icpo", "direct"),
        ("me_icpo", "direct_empty_history"),
    ]  # fmt: skip
    assert {r["method"] for r in rows(tmp_path)} == {
        "direct", "direct_empty_history", "me_icpo", "me_icpo-direct", "me_icpo-direct_empty_history"
    }  # fmt: skip


@pytest.mark.parametrize("named", [True, False])
def test_an_ablation_is_compared_with_the_full_algorithm(tmp_path, named):
    for reward, arm in (("majority", "full"), ("none", "without_reward"), ("oracle", "oracle")):
        names = {"arm": arm, "title": arm} if named else {"label": arm}
        me_icpo(reward=reward, skill=0.3 if reward == "none" else 0.8, extra=names).write(tmp_path, "run")
    report = write_report(tmp_path, "run")
    assert lines(report) == [
        ("full", ""), ("oracle", ""), ("without_reward", ""), ("oracle", "full"), ("without_reward", "full")
    ]  # fmt: skip
    found = report.frame[report.frame["metric"] == "mean_at_k"]["value"].tolist()
    assert found[4] == pytest.approx(found[2] - found[0]) and found[4] < 0


def test_of_several_full_algorithms_the_arm_of_that_name_is_compared_with(tmp_path):
    for num_rounds, arm in ((2, "full"), (3, "longer")):
        me_icpo(num_rounds=num_rounds, extra={"arm": arm, "title": arm}).write(tmp_path, "run")
    assert ("longer", "full") in lines(write_report(tmp_path, "run"))


def swept_run(outputs, *settings):
    """A base and ME-ICPO on two levels, each with several values of a setting."""
    for i, setting in enumerate(settings):
        for level in ("arith_l3", "arith_l4"):
            for cell, arm in ((MadeUpCell(level), "base"), (me_icpo(level), "me_icpo")):
                tokens = 1200 * (i + 1) * (6 if arm == "me_icpo" else 1)
                cell.skill = 0.2 + 0.6 * i
                cell.extra = {"arm": arm, "title": arm, "generated_tokens": tokens}
                cell.write(outputs, "run").rename(outputs / "run" / f"nano-{level}-{arm}{setting}")


def test_a_setting_that_was_swept_makes_lines_of_their_own(tmp_path):
    swept_run(tmp_path, "", "-quick-temperature_0.9")
    report = write_report(tmp_path, "run")
    scores = {
        (r["benchmark"], r["title"]): float(r["value"])
        for r in rows(tmp_path)
        if r["metric"] == "mean_at_k" and "-direct" not in r["method"]
    }
    names = {"base", "me_icpo", "base, temperature_0.9", "me_icpo, temperature_0.9"}
    assert scores.keys() == set(product(("arith_l3", "arith_l4", "arith_l3-l4"), names))
    assert {pair for pair in lines(report) if pair[1]} == {
        ("me_icpo", "base"), ("me_icpo, temperature_0.9", "base, temperature_0.9")
    }  # fmt: skip
    for name in names:
        levels = [scores[level, name] for level in ("arith_l3", "arith_l4")]
        assert scores["arith_l3-l4", name] == pytest.approx(sum(levels) / 2)
    shown = (tmp_path / "run/report/table.md").read_text()
    rows_shown = [line.strip("| ").split(" | ") for line in shown.splitlines() if "| arith_l3 |" in line]
    assert {row[1]: row[-1] for row in rows_shown if row[1] in names and row[2] == "6"} == {
        name: "6.0" if "me_icpo" in name else "1.0" for name in names
    }


@pytest.mark.parametrize(
    ("ending", "swept"),
    [
        ("-quick", ""),
        ("-quick_1", "quick_1"),
        ("-a-quick", "a"),
        ("-x_-quick", "x_"),
        ("-quick-quick", "quick"),
    ],
)
def test_the_protocol_in_a_cell_s_name_is_no_value_that_was_swept(tmp_path, ending, swept):
    folder = MadeUpCell(extra={"arm": "base"}).write(tmp_path, "run")
    folder.rename(tmp_path / "run" / f"nano-arith_l1-base{ending}")
    assert {arm.key.swept for cell in load_cells(tmp_path, "run") for arm in cell.arms} == {swept}


def test_cells_of_one_line_are_named_and_pooled_once(tmp_path):
    for level in ("arith_l3", "arith_l4"):
        me_icpo(level, extra={"arm": "me_icpo"}).write(tmp_path, "run")
        for name in ("one", "two"):
            base = MadeUpCell(level, extra={"arm": "base"})
            base.write(tmp_path, "run").rename(tmp_path / "run" / f"{name}_{level}")
    report = write_report(tmp_path, "run")
    assert "one_arith_l3 and two_arith_l3 are one line of the tables" in report.notes[0]
    assert {r["benchmark"] for r in rows(tmp_path)} == {"arith_l3", "arith_l4", "arith_l3-l4"}
    shutil.rmtree(tmp_path / "run/two_arith_l4")
    shutil.rmtree(tmp_path / "run/one_arith_l4")
    write_report(tmp_path, "run")
    assert {r["benchmark"] for r in rows(tmp_path) if "me_icpo" not in r["arm"]} == {"arith_l3"}


def test_arms_without_a_base_of_their_setting_are_compared_with_the_one_there_is(tmp_path):
    swept_run(tmp_path, "", "-temperature_0.9")
    shutil.rmtree(tmp_path / "run/nano-arith_l3-base-temperature_0.9")
    found = write_report(tmp_path, "run").frame.query("benchmark == 'arith_l3' and is_difference")
    assert set(zip(found["line"], found["base_line"], strict=True)) == {
        ("me_icpo", "base"), ("me_icpo, temperature_0.9", "base")
    }  # fmt: skip


def test_a_sweep_without_a_base_is_compared_with_nothing(tmp_path):
    me_icpo(num_rounds=2, finals_after=(1, 2)).write(tmp_path, "run")
    assert not write_report(tmp_path, "run").frame["is_difference"].any()


def test_arm_and_title_are_those_of_the_cell_and_the_label_where_there_are_none(tmp_path):
    MadeUpCell(extra={"label": "direct-plain"}).write(tmp_path, "run")
    named = {"arm": "full", "title": "ME-ICPO", "label": "me_icpo-x"}
    me_icpo(extra=named).write(tmp_path, "run")
    lone = {"arm": "default", "title": None, "label": "direct-plain"}
    MadeUpCell("arith_l2", extra=lone).write(tmp_path, "run")
    write_report(tmp_path, "run")
    found = {(r["benchmark"], r["arm"], r["title"]) for r in rows(tmp_path)}
    assert found == {
        ("arith_l1", "direct-plain", "direct-plain"), ("arith_l1", "full", "ME-ICPO"),
        ("arith_l2", "default", "direct-plain"),
    }  # fmt: skip


def test_new_metrics_are_rows(run):
    write_report(run, "run")
    place = ("me_icpo", "arith_l3")
    found = {r["metric"]: r for r in rows(run) if (r["method"], r["benchmark"]) == place}
    assert float(found["tokens_per_question"]["value"]) == 400 and found["tokens_per_question"]["low"] == ""
    assert float(found["prompt_tokens_per_question"]["value"]) == 200
    share = float(found["mean_at_k"]["value"])
    read, right = (float(found[name]["value"]) for name in ("parsed_share", "mean_among_parsed"))
    assert share == pytest.approx(read * right)


def test_finals_after_several_rounds_are_lines_of_their_own(tmp_path):
    MadeUpCell().write(tmp_path, "run")
    folder = me_icpo(num_rounds=3, finals_after=(1, 3)).write(tmp_path, "run")
    write_report(tmp_path, "run")
    found = {
        r["num_rounds"]: float(r["value"])
        for r in rows(tmp_path)
        if r["metric"] == "mean_at_k" and "-direct" not in r["method"]
    }
    assert set(found) == {"0", "1", "3"} and found["1"] != found["3"]
    for num_rounds, part in stored(tmp_path, folder.name, "by_num_rounds").items():
        assert found[num_rounds] == pytest.approx(part["mean_at_k"]["value"])


def test_a_run_that_is_not_there_is_named_with_those_that_are(run):
    with pytest.raises(RecordsError, match=r"'rum'.*run"):
        write_report(run, "rum")


@pytest.mark.parametrize("name", ["", ".", "run/report"])
def test_a_folder_without_cells_is_no_run(run, name):
    write_report(run, "run")
    with pytest.raises(RecordsError, match="no run"):
        write_report(run, name)
    assert not (run / name / "report").exists()


def test_command_line(run, capsys, caplog):
    assert main(["run", "--outputs", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "me_icpo" in printed and "arith_l3-l4" in printed and "table.csv" in printed
    assert main(["nothing", "--outputs", str(run)]) == 2


def test_unread_verdicts_stand_beside_the_scores_where_a_model_judged_itself(tmp_path):
    MadeUpCell().write(tmp_path, "run")
    assert "verdicts" not in write_report(tmp_path, "run").paths[0].read_text()
    MadeUpCell("arith_l2", extra={"num_verdicts": 60, "num_unread_verdicts": 17}).write(tmp_path, "run")
    table = write_report(tmp_path, "run").paths[0].read_text()
    assert "| verdicts | unread verdicts |" in table
    assert "| 60 | 17 |" in table and "| 0 | 0 |" in table


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (Debian's texlive-latex-base)")
def test_the_latex_table_compiles_whatever_the_labels_are(tmp_path):
    """A base with an underscore in its prompt, and names full of characters that LaTeX obeys."""
    names = {"benchmark": "b_1%&#{}~^$\\x 👩 \x1b[2J é", "label": "a_b"}
    for cell in (
        MadeUpCell(extra=names),
        MadeUpCell(prompt="empty_history", extra=names),
        me_icpo(extra=names),
    ):
        cell.write(tmp_path, "run_%")
    write_report(tmp_path, "run_%")
    table = tmp_path / "run_%" / "report" / "table.tex"
    assert "empty\\_history" in table.read_text()
    page = tmp_path / "page.tex"
    page.write_text(
        "\\documentclass{article}\\IfFileExists{booktabs.sty}{\\usepackage{booktabs}}"
        "{\\let\\toprule\\hline\\let\\midrule\\hline\\let\\bottomrule\\hline}\\begin{document}\n"
        + table.read_text()
        + "\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", page.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
