"""nano's tables, packing and list of commands, on made-up cells."""

import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
from itertools import product

import pytest

from tests.experiments.scripts import EXPERIMENTS, load

CONF = EXPERIMENTS.parent / "conf"


def finals(num_correct, k=4):
    outcomes = ["correct"] * num_correct + ["wrong"] * (k - num_correct)
    return {"outcomes": outcomes, "labels": ["7"] * num_correct + [str(i) for i in range(k - num_correct)]}


def usage(final, search):
    return {"generated_tokens": final + search, "generated_by_purpose": {"final": final, "candidate": search}}


def write_cell(run, label, numbers, *, benchmark="arith_l3", final=40, search=0, sets=(0,)):
    """A cell in which question i had numbers[i] right answers of 4, in every set of finals."""
    cell = run / f"nano-{benchmark}-{label}"
    cell.mkdir(parents=True)
    (cell / "manifest.json").write_text("{}")
    (cell / "metrics.json").write_text(
        json.dumps({"backbone": "nano", "benchmark": benchmark, "label": label, "mean_at_k": {}})
    )
    scores, results = [], []
    for i, number in enumerate(numbers):
        key = {"question_id": f"{benchmark}-{i}", "seed": 0}
        scores.append({**key, "gold": "7", "finals": [[n, finals(number)] for n in sets], "rounds": []})
        candidate = {"answer": "7", "draw": "abc/0/1"}
        results.append(
            {
                **key,
                "usage": usage(final * len(sets), search * sets[-1]),
                "usage_at_finals": [usage(final, search * n) for n in sets],
                "trace": [{"candidates": [dict(candidate)]}],
                "finals": [[n, [dict(candidate)] * 4] for n in sets],
            }
        )
    for name, lines in (("scores", scores), ("results", results)):
        (cell / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cell / "journal.bin").write_bytes(b"icpo-journal 1\n")
    return cell


@pytest.fixture
def script():
    return load("nano/make_tables")


def test_gains_are_paired_and_set_against_what_the_majority_gains(tmp_path, script):
    write_cell(tmp_path / "run", "direct-plain", [3, 2, 0])  # Mean 5/12; the majority is right twice
    write_cell(tmp_path / "run", "self_consistency-s16", [4, 4, 0], final=0, search=400)
    write_cell(tmp_path / "run", "me_icpo-majority-entropy-n3", [4, 4, 1], search=100, sets=(0, 3))
    arms = [script.arm_of(cell) for cell in sorted((tmp_path / "run").iterdir())]
    rows = {(row["arm"], row["minus"]): row for row in script.gain_rows(arms)}
    sixteen = "self-consistency, 16 samples an answer"
    assert set(rows) == {("ME-ICPO", "base"), (sixteen, "base"), ("ME-ICPO", sixteen)}
    ours = rows["ME-ICPO", "base"]
    assert ours["Mean@k"] == pytest.approx(9 / 12 - 5 / 12)
    assert ours["Maj@k - Mean@k of the base"] == pytest.approx(2 / 3 - 5 / 12)
    assert ours["beyond majority"] == pytest.approx(9 / 12 - 2 / 3)
    assert ours["Mean@k low"] <= ours["Mean@k"] <= ours["Mean@k high"]
    assert rows["ME-ICPO", sixteen]["Mean@k"] == pytest.approx(1 / 12)


def test_where_losers_were_kept_arms_are_compared_on_the_same_questions(tmp_path, script):
    write_cell(tmp_path / "run", "direct-plain", [3, 2, 0])
    write_cell(tmp_path / "run", "me_icpo-majority-entropy-n3", [4, 4, 1])
    at_random = write_cell(tmp_path / "run", "me_icpo-majority-random-n3", [4, 3, 2])
    rows = [json.loads(line) for line in (at_random / "results.jsonl").read_text().splitlines()]
    for row, tags in zip(rows, ([1, 1], [0, 0], [0, 0]), strict=True):
        attempts = [{"reward": 1}, {"reward": 0}]
        kept = [[1 - tag] for tag in tags] + [[]]
        row["trace"] = [{"type": "hint"}] + [{"type": "round", "attempts": attempts, "kept": k} for k in kept]
    (at_random / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    none, two = script.loser_rows([script.arm_of(cell) for cell in sorted((tmp_path / "run").iterdir())])
    assert (none["ideas tagged 0"], none["pairs"], two["ideas tagged 0"], two["pairs"]) == (0, 1, 2, 2)
    assert (none["base"], none["ME-ICPO"], none["ME-ICPO, w/o entropy"]) == (3 / 4, 1.0, 1.0)
    assert (two["base"], two["ME-ICPO"], two["ME-ICPO, w/o entropy"]) == (2 / 8, 5 / 8, 5 / 8)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("me_icpo-none-random-n3-k8-m8", "ME-ICPO, w/o reward, w/o entropy"),
        ("me_icpo-majority-entropy-n3-k8-m8", "ME-ICPO"),
        ("direct-empty_history", "base, empty history"),
        ("best_of_n-s16", "best_of_n-s16"),
    ],
)
def test_arms_have_names(script, label, name):
    assert script.named(label) == name


def test_the_share_stands_where_the_majority_surely_gains(tmp_path, script):
    write_cell(tmp_path / "run", "direct-plain", [3] * 40)
    write_cell(tmp_path / "run", "me_icpo-majority-entropy-n3", [4] * 40)
    [row] = script.gain_rows([script.arm_of(cell) for cell in sorted((tmp_path / "run").iterdir())])
    assert row["share"] == 1
    write_cell(tmp_path / "even", "direct-plain", [0, 4])
    write_cell(tmp_path / "even", "me_icpo-majority-entropy-n3", [4, 4])
    [row] = script.gain_rows([script.arm_of(cell) for cell in sorted((tmp_path / "even").iterdir())])
    assert row["share"] != row["share"]


def test_one_answer_pays_for_the_whole_search_or_for_its_own_draws(tmp_path, script):
    shared = script.arm_of(write_cell(tmp_path / "run", "me_icpo-x", [1], search=100, sets=(0, 3)))
    assert (shared.tokens(), shared.tokens_of_one_answer()) == (340, 310)
    apart = script.arm_of(
        write_cell(tmp_path / "run", "self_consistency-s9", [1], final=0, search=400, sets=(1,))
    )
    assert (apart.tokens(), apart.tokens_of_one_answer()) == (400, 100)


def test_pools_hold_arms_that_have_all_of_their_benchmarks(tmp_path, script, monkeypatch, capsys):
    for level in (2, 3, 4, 5):
        write_cell(tmp_path / "run", "direct-plain", [level - 1], benchmark=f"arith_l{level}")
    write_cell(tmp_path / "run", "direct-authors", [4], benchmark="arith_l5")
    monkeypatch.setattr("sys.argv", ["make_tables.py", "run", "--outputs", str(tmp_path)])
    script.main()
    lines = (tmp_path / "run/report/scores.md").read_text().splitlines()[2:]
    found = {tuple(line.split("|")[i].strip() for i in (2, 3, 4, 5)) for line in lines}
    assert ("levels 2-5", "base", "4", "62.5 [5.3, 100.0]") in found
    assert {arm for place, arm, *_ in found if place.startswith("levels")} == {"base"}
    header, _, *means = (tmp_path / "run/report/means.md").read_text().splitlines()
    assert header == "| Mean@k (%) | l2 | l3 | l4 | l5 | levels 2-5 | levels 3-5 |"
    assert [line.split(" | ")[0] for line in means] == ["| base", "| base, authors"]
    assert means[1].split("|")[2].strip() == "" and "100.0 [" in means[1]
    assert "levels 3-5" in capsys.readouterr().out


def test_what_is_packed_makes_the_same_tables(tmp_path, script):
    cell = write_cell(tmp_path / "outputs/run", "direct-plain", [3, 2])
    (cell / ".hydra").mkdir()
    (cell / ".hydra/hydra.yaml").write_text("hydra: {}\n")
    content = load("nano/pack").packed(cell)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    there = tmp_path / "there/run" / cell.name
    assert {path.name for path in there.iterdir()} == {path.name for path in cell.iterdir()} - {"journal.bin"}
    assert (there / ".hydra/hydra.yaml").read_text() == "hydra: {}\n"
    assert list(script.score_rows([script.arm_of(there)])) == list(script.score_rows([script.arm_of(cell)]))
    assert "abc/0/1" not in (there / "results.jsonl").read_text()


def test_parts_of_an_earlier_packing_go_and_a_run_without_cells_is_told(tmp_path):
    write_cell(tmp_path / "outputs/run", "direct-plain", [3, 2])
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed/cells_07").write_bytes(b"older")
    command = [sys.executable, EXPERIMENTS / "nano/pack.py", "packed", "run", "ran"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(EXPERIMENTS.parent)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, "No cell of ran under outputs.\n")
    assert [path.name for path in (tmp_path / "packed").iterdir()] == ["cells_00"]


@pytest.mark.parametrize("scores", [None, "{}", "no json"])
def test_the_gate_s_table_says_which_file_is_no_scores(tmp_path, scores):
    file = tmp_path / "scores.json"
    if scores is not None:
        file.write_text(scores)
    with pytest.raises(SystemExit, match="is no NAME=FILE with the scores"):
        load("nano/gate_table").main([f"nano={file}"])


def test_the_gate_s_table_has_a_line_a_context(capsys):
    load("nano/gate_table").main([f"nano={EXPERIMENTS}/nano/results/nano_scores.json"])
    assert capsys.readouterr().out.count("| nano |") == 6


def test_each_cell_stands_in_one_command_and_each_choice_exists():
    script = EXPERIMENTS / "nano/commands.sh"
    done = subprocess.run(["bash", script, "benchmark.limit=2"], capture_output=True, text=True, check=True)
    cells = []
    for line in done.stdout.splitlines():
        assert line.endswith(" benchmark.limit=2")
        given = dict(word.split("=", 1) for word in shlex.split(line)[3:])
        assert (CONF / f"exp/{given['+exp']}.yaml").is_file()
        axes = [
            given.get(key, "").split(",")
            for key in ("backbone", "benchmark", "variant", "method.num_candidates")
        ]
        for group, choices in zip(("backbone", "benchmark", "variant"), axes, strict=False):
            assert all((CONF / group / f"{choice}.yaml").is_file() for choice in choices if choice)
        cells += product([given.get("run_name", given["+exp"])], *axes)
    assert len(cells) == len(set(cells)) > 200


def test_a_command_runs_and_says_how_it_ended(tmp_path):
    listed = subprocess.run(
        ["bash", EXPERIMENTS / "nano/commands.sh", "nano_paper", "dry_run=true", f"output_root={tmp_path}"],
        capture_output=True,
        text=True,
        check=True,
    )
    command = listed.stdout.splitlines()[0].replace("python3", sys.executable, 1)
    environment = {**os.environ, "PYTHONPATH": str(EXPERIMENTS.parent)}
    for more, status in (("", 0), (" engine.device=abacus", 1)):
        done = subprocess.run(["bash", "-c", command + more], env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
