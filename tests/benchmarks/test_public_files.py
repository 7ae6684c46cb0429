"""The public benchmarks from files: every gold can be read and graded, and runs on them leave none out."""

import subprocess
import sys

import pytest

from icpo.grading import Grader, GradingRules
from icpo.grading.choices import choice_in
from icpo.grading.maths.reading import read
from icpo.store import load_scores, read_metrics, read_status
from icpo.types import AnswerKind
from tests.benchmarks.test_configs import COUNTS, MATH_LEVELS, build
from tests.composing import CONF
from tests.public_files import FILES, needs_files

pytestmark = needs_files
FILE_OF = {"aime2024": "aime2024", "amc": "amc", "math500": "math500", "gpqa": "gpqa_diamond"}
TINY = (
    "budget.num_rounds=1", "budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=2",
    "protocol.sampling.candidate.max_tokens=24", "protocol.sampling.candidate.min_room_tokens=24",
    "protocol.sampling.summary.max_tokens=16", "protocol.sampling.summary.min_room_tokens=16",
)  # fmt: skip


def shapes(answer):
    """Of an answer and of all in it."""
    yield answer.shape
    for part in answer.parts:
        yield from shapes(part)


def is_parsed(gold, kind):
    if kind is AnswerKind.CHOICE:
        return choice_in(gold, lowercase=False) in tuple("ABCD")
    return not {"unread", "oversized"} & set(shapes(read(gold)))


@pytest.mark.parametrize("name", FILE_OF)
def test_every_gold_is_parsed_and_a_box_with_it_is_right(name):
    benchmark = build(f"benchmark={name}", f"benchmark.path={FILES / FILE_OF[name]}.jsonl")
    golds = benchmark.load().golds
    assert len(golds) == COUNTS[name]
    assert [gold for gold in golds.values() if not is_parsed(gold, benchmark.kind)] == []
    with Grader(GradingRules()) as grader:
        for question_id, gold in golds.items():
            answer = grader.extract(f"Thus, the answer is \\(\\boxed{{{gold}}}\\).", benchmark.kind)
            assert grader.judge(answer, gold, benchmark.kind).correct, (question_id, gold, answer)


@pytest.mark.parametrize(("gold", "kind"), [("{", AnswerKind.EXPRESSION), ("E", AnswerKind.CHOICE)])
def test_an_unparsed_gold_would_be_noticed(gold, kind):
    assert not is_parsed(gold, kind)


@pytest.mark.slow
@pytest.mark.parametrize("names", [["aime2024"], ["amc"], list(MATH_LEVELS), ["gpqa"]], ids=",".join)
def test_a_run_on_nano_grades_every_question_of_a_file(tmp_path, names):
    file = FILES / f"{FILE_OF.get(names[0], 'math500')}.jsonl"
    command = [
        sys.executable, "-m", "icpo.run", "+exp=main_table", "backbone=nano", "engine=transformers",
        "tracking=none", f"output_root={tmp_path}", f"benchmark={','.join(names)}", f"benchmark.path={file}",
        "benchmark.limit=3", "seeds=[0]", *TINY,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=CONF.parent, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    cells = sorted(path.parent for path in (tmp_path / "main_table").glob("*/metrics.json"))
    assert len(cells) == 2 * len(names)
    for cell in cells:
        metrics = read_metrics(cell)
        kind = build(f"benchmark={metrics['benchmark']}").kind
        golds = [score.gold for score in load_scores(cell)]
        assert read_status(cell)["state"] == "done" and metrics["num_questions"] == len(golds) == 3
        assert all(is_parsed(gold, kind) for gold in golds)
