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

from icpo.config import choices as config_choices
from icpo.report.cells import load_cell
from icpo.store.codec import encode_result, encode_score
from icpo.types import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    GradedFinals,
    Question,
    QuestionResult,
    QuestionScore,
    Rewards,
    Round,
    Step,
    Usage,
    Votes,
)
from tests.arms import arms_in
from tests.experiments.scripts import EXPERIMENTS, load

CONF = EXPERIMENTS.parent / "conf"


RULES = {"base": "plain", "authors": "authors", "full": "entropy", "without_entropy": "random"}
TITLES = {"full": "ME-ICPO", "without_entropy": "w/o entropy"}


def facts(arm):
    """What metrics.json says of an arm; one that is no rule of ME-ICPO and no prompt is a method."""
    rule = RULES.get(arm)
    method = "direct" if rule in ("plain", "authors") else arm if rule is None else "me_icpo"
    ours = method == "me_icpo"
    return {
        "arm": arm,
        "title": TITLES.get(arm, arm),
        "label": arm,
        "method": method,
        "prompt": rule if method == "direct" else None,
        "reward": "majority" if ours else None,
        "selector": rule if ours else None,
        **dict.fromkeys(("num_rounds", "num_candidates", "num_lookaheads"), 3 if ours else None),
    }


def finals(num_correct, k=4):
    outcomes = ["correct"] * num_correct + ["wrong"] * (k - num_correct)
    return GradedFinals(outcomes, ["7"] * num_correct + [str(i) for i in range(k - num_correct)])


def usage(final, search):
    by_purpose = {"final": final, "candidate": search}
    return Usage(generated_tokens=final + search, generated_by_purpose=by_purpose)


def write_cell(
    run, arm, numbers, *, benchmark="arith_l3", final=40, search=0, sets=(0,), traces=(), backbone="nano"
):
    """A cell in which question i had numbers[i] right answers of 4, in every set of final samples."""
    cell = run / f"{backbone}-{benchmark}-{arm}"
    cell.mkdir(parents=True)
    (cell / "manifest.json").write_text("{}")
    place = {"backbone": backbone, "benchmark": benchmark, "protocol": "small", "k": 4, "num_questions": 1}
    measured = {"mean_at_k": {"value": 0.0}, "seeds": [0]}
    (cell / "metrics.json").write_text(json.dumps({**place, **facts(arm), **measured}))
    scores, results = [], []
    answer = Candidate(Completion("", 0, 9, FinishReason.STOP, draw="abc/0/1"), "7")
    for i, number in enumerate(numbers):
        question = Question(f"{benchmark}-{i}", "?", AnswerKind.NUMBER)
        graded = tuple((n, finals(number)) for n in sets)
        scores.append(encode_score(QuestionScore(question.question_id, 0, "7", graded)))
        result = QuestionResult(
            question,
            0,
            traces[i] if traces else (Step("hint", (answer,)),),
            tuple((n, (answer,) * 4) for n in sets),
            usage(final * len(sets), search * sets[-1]),
            tuple(usage(final, search * n) for n in sets),
        )
        results.append(encode_result(result))
    for name, lines in (("scores", scores), ("results", results)):
        (cell / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cell / "journal.bin").write_bytes(b"icpo-journal 1\n")
    return cell


def round_of(kept_tag):
    """A round that kept the attempt tagged so; None: it kept nothing."""
    own = Candidate(Completion("", 0, 9, FinishReason.STOP), "7")
    attempts = tuple(Attempt(own, tag, "s") for tag in (1, 0))
    votes = Votes((("7", 2),), 0, ("7", "7"))
    kept = () if kept_tag is None else (1 - kept_tag,)
    return Round((own, own), votes, Rewards((1, 0), "7", 1), (0, 1), attempts, (), kept)


def arms_of(script, run):
    return [script.arm_of(load_cell(cell)) for cell in sorted(run.iterdir())]


@pytest.fixture
def script():
    return load("nano/make_tables")


def test_gains_are_paired_and_set_against_what_the_majority_gains(tmp_path, script):
    write_cell(tmp_path / "run", "base", [3, 2, 0])  # Mean 5/12; the majority is right twice
    write_cell(tmp_path / "run", "self_consistency", [4, 4, 0], final=0, search=400)
    write_cell(tmp_path / "run", "full", [4, 4, 1], search=100, sets=(0, 3))
    arms = arms_of(script, tmp_path / "run")
    rows = {(row["arm"], row["minus"]): row for row in script.gain_rows(arms)}
    sixteen = "self_consistency"
    assert set(rows) == {("ME-ICPO", "base"), (sixteen, "base"), ("ME-ICPO", sixteen)}
    ours = rows["ME-ICPO", "base"]
    assert ours["Mean@k"] == pytest.approx(9 / 12 - 5 / 12)
    assert ours["Maj@k - Mean@k of the base"] == pytest.approx(2 / 3 - 5 / 12)
    assert ours["beyond majority"] == pytest.approx(9 / 12 - 2 / 3)
    assert ours["Mean@k low"] <= ours["Mean@k"] <= ours["Mean@k high"]
    assert rows["ME-ICPO", sixteen]["Mean@k"] == pytest.approx(1 / 12)


def test_where_losers_were_kept_arms_are_compared_on_the_same_questions(tmp_path, script):
    write_cell(tmp_path / "run", "base", [3, 2, 0])
    write_cell(tmp_path / "run", "full", [4, 4, 1])
    traces = [tuple(map(round_of, (*tags, None))) for tags in ((1, 1), (0, 0), (0, 0))]
    write_cell(tmp_path / "run", "without_entropy", [4, 3, 2], traces=traces)
    none, two = script.loser_rows(arms_of(script, tmp_path / "run"))
    assert (none["ideas tagged 0"], none["pairs"], two["ideas tagged 0"], two["pairs"]) == (0, 1, 2, 2)
    assert (none["base"], none["ME-ICPO"], none["w/o entropy"]) == (3 / 4, 1.0, 1.0)
    assert (two["base"], two["ME-ICPO"], two["w/o entropy"]) == (2 / 8, 5 / 8, 5 / 8)


def test_the_share_stands_where_the_majority_surely_gains(tmp_path, script):
    write_cell(tmp_path / "run", "base", [3] * 40)
    write_cell(tmp_path / "run", "full", [4] * 40)
    [row] = script.gain_rows(arms_of(script, tmp_path / "run"))
    assert row["share"] == 1
    write_cell(tmp_path / "even", "base", [0, 4])
    write_cell(tmp_path / "even", "full", [4, 4])
    [row] = script.gain_rows(arms_of(script, tmp_path / "even"))
    assert row["share"] != row["share"]


def test_one_answer_pays_for_the_whole_search_or_for_its_own_samples(tmp_path, script):
    shared = script.arm_of(load_cell(write_cell(tmp_path / "run", "full", [1], search=100, sets=(0, 3))))
    assert (shared.tokens(), shared.tokens_of_one_answer()) == (340, 310)
    cell = write_cell(tmp_path / "run", "self_consistency", [1], final=0, search=400, sets=(1,))
    apart = script.arm_of(load_cell(cell))
    assert (apart.tokens(), apart.tokens_of_one_answer()) == (400, 100)


def test_pools_hold_arms_that_have_all_of_their_benchmarks(tmp_path, script, monkeypatch, capsys):
    for level in (2, 3, 4, 5):
        write_cell(tmp_path / "run", "base", [level - 1], benchmark=f"arith_l{level}")
    write_cell(tmp_path / "run", "authors", [4], benchmark="arith_l5")
    monkeypatch.setattr("sys.argv", ["make_tables.py", "run", "--outputs", str(tmp_path)])
    script.main()
    lines = (tmp_path / "run/report/scores.md").read_text().splitlines()[2:]
    found = {tuple(line.split("|")[i].strip() for i in (2, 3, 4, 5)) for line in lines}
    assert ("levels 2-5", "base", "4", "62.5 [5.3, 100.0]") in found
    assert {arm for place, arm, *_ in found if place.startswith("levels")} == {"base"}
    header, _, *means = (tmp_path / "run/report/means.md").read_text().splitlines()
    assert header == "| Mean@k (%) | l2 | l3 | l4 | l5 | levels 2-5 | levels 3-5 |"
    assert [line.split(" | ")[0] for line in means] == ["| base", "| authors"]
    assert means[1].split("|")[2].strip() == "" and "100.0 [" in means[1]
    assert "levels 3-5" in capsys.readouterr().out


def test_what_is_packed_makes_the_same_tables(tmp_path, script):
    cell = write_cell(tmp_path / "outputs/run", "base", [3, 2])
    (cell / ".hydra").mkdir()
    (cell / ".hydra/hydra.yaml").write_text("hydra: {}\n")
    content = load("nano/pack").packed(cell)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    there = tmp_path / "there/run" / cell.name
    assert {path.name for path in there.iterdir()} == {path.name for path in cell.iterdir()} - {"journal.bin"}
    assert (there / ".hydra/hydra.yaml").read_text() == "hydra: {}\n"
    assert list(script.score_rows([script.arm_of(load_cell(there))])) == list(
        script.score_rows([script.arm_of(load_cell(cell))])
    )
    assert "abc/0/1" not in (there / "results.jsonl").read_text()


def test_parts_of_an_earlier_packing_go_and_a_run_without_cells_is_told(tmp_path):
    write_cell(tmp_path / "outputs/run", "base", [3, 2])
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
    with pytest.raises(SystemExit, match="NAME=FILE"):
        load("nano/acceptance_table").main([f"nano={file}"])


def test_the_gate_s_table_has_a_line_a_context(capsys):
    load("nano/acceptance_table").main([f"nano={EXPERIMENTS}/nano/results/nano_scores.json"])
    assert capsys.readouterr().out.count("| nano |") == 6


def test_each_cell_stands_in_one_command_and_each_choice_exists():
    script = EXPERIMENTS / "nano/commands.sh"
    done = subprocess.run(["bash", script, "benchmark.limit=2"], capture_output=True, text=True, check=True)
    cells, known = [], config_choices()
    for line in done.stdout.splitlines():
        assert line.endswith(" benchmark.limit=2")
        given = dict(word.split("=", 1) for word in shlex.split(line)[3:])
        assert (CONF / f"exp/{given['+exp']}.yaml").is_file()
        axes = [
            given.get(key, "").split(",") for key in ("backbone", "benchmark", "arm", "budget.num_candidates")
        ]
        assert set(axes[2]) <= {"", *arms_in(given["+exp"])}
        for group, choices in zip(("backbone", "benchmark"), axes, strict=False):
            assert {choice for choice in choices if choice} <= known[group].keys()
        cells += product([given.get("run_name", given["+exp"])], *axes)
    assert len(cells) == len(set(cells)) > 200


def test_a_command_runs_and_says_how_it_ended(tmp_path):
    listed = subprocess.run(
        ["bash", EXPERIMENTS / "nano/commands.sh", "nano_paper", "dry_run=true", f"output_root={tmp_path}"],
        capture_output=True,
        text=True,
        check=True,
    )
    command = listed.stdout.splitlines()[0].replace("python3", shlex.quote(sys.executable), 1)
    environment = {**os.environ, "PYTHONPATH": str(EXPERIMENTS.parent)}
    for more, status in (("", 0), (" engine.device=abacus", 2)):
        done = subprocess.run(["bash", "-c", command + more], env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
