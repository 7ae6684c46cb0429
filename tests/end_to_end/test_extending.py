"""The example of docs/extending.md: the page quotes its files, and they run as the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import open_dict

from icpo.config import build, check_config, config_source
from icpo.evaluation.dry_run import cell_need
from icpo.report import question_frame
from icpo.store import read_metrics
from icpo.types import AnswerKind, Budget, Candidate, Lookahead, Purpose
from tests.arms import of_arm
from tests.end_to_end.fakes import Blocks, run_composed
from tests.methods.hand import QUESTION, boxed, play, said, tally, toolkit
from tests.stored import read_results

ROOT = Path(config_source()).parent
EXAMPLE = ROOT / "examples/extending"
PAGE = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
ARMS = ["base", "full", "shortest", "supported", "shortest_of_n", "tutor"]


@pytest.fixture(autouse=True)
def in_the_folder(monkeypatch):
    """As `python -m icpo.run` is started there; its package is forgotten afterwards."""
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.chdir(EXAMPLE)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_ext"]:
        del sys.modules[name]


def composed(*overrides):
    with initialize_config_dir(config_dir=config_source(), version_base="1.3"):
        config = compose("config", overrides=[f"hydra.searchpath=[file://{EXAMPLE}/conf]", *overrides])
    with open_dict(config):
        config.pop("hydra", None)
    check_config(config)
    return config


def mine(arm):
    """The overrides of an arm of the example's preset."""
    return of_arm("mine", arm, EXAMPLE / "conf")


def cell(outputs, *overrides):
    """One cell of the preset on a fake engine; its folder and the engine."""
    engine = Blocks()
    return run_composed(composed("+exp=mine", *overrides), outputs / "mine", engine), engine


def test_the_page_quotes_every_file_as_it_is():
    quoted = dict(re.findall(r"^`([\w/.]+)`\n```\w+\n(.*?)^```", PAGE, re.M | re.S))
    files = {*EXAMPLE.glob("my_ext/[!_]*.py"), *EXAMPLE.glob("conf/**/*.yaml")}
    assert quoted == {str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8") for path in files}


def test_files_and_pages_that_the_page_names_are_there():
    for link in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    for path in re.findall(r"`((?:icpo|conf)/[\w/]+\.\w+)`", PAGE):
        assert (ROOT / path).exists() or (EXAMPLE / path).exists(), path


def test_all_arms_run_and_stand_in_one_frame(tmp_path):
    for arm in ARMS:
        cell(tmp_path, "benchmark=my_words", *mine(arm))
    frame = question_frame("mine", outputs=tmp_path)
    assert frame.groupby("label", sort=False).size().to_dict() == dict.fromkeys(sorted(frame.label), 6)
    assert set(frame.label) == {
        "direct-plain",
        "me_icpo-majority-entropy-n2-k8-m8",
        "me_icpo-majority-shortest-n2-k8-m8",
        "me_icpo-supported2-entropy-n2-k8-m8",
        "me_icpo-tutor",
        "shortest_of_n-s4",
    }


@pytest.mark.parametrize(
    ("benchmark", "kind", "texts", "golds"),
    [
        ("my_words", "number", ["A store holds 52 bottles."], ["71", "12", "350", "376", "195", "62"]),
        ("my_table", "expression", ["Simplify $x + x$."], ["$2x$", r"\frac{1}{6}"]),
        ("my_choices", "choice", ["Which of these is a prime number?", "\nA. ", ". 7"], None),
    ],
)
def test_own_questions_are_read_as_the_page_says(benchmark, kind, texts, golds):
    loaded = build(composed("+exp=mine", f"benchmark={benchmark}").benchmark).load()
    assert all(question.kind is AnswerKind(kind) for question in loaded.questions)
    assert all(text in loaded.questions[0].text for text in texts)
    if golds is None:
        first = loaded.questions[0]
        assert f"\n{loaded.golds[first.question_id]}. 7" in first.text
    else:
        assert list(loaded.golds.values()) == golds


def test_the_other_prompts_are_asked(tmp_path):
    folder, engine = cell(tmp_path, "benchmark=my_words", *mine("tutor"), "benchmark.limit=1")
    asked = [request.prompt for request in engine.requests if request.purpose is not Purpose.SUMMARY]
    assert asked and all(prompt.system.startswith("You are a patient tutor.") for prompt in asked)
    assert read_metrics(folder)["label"] == "me_icpo-tutor"


def test_the_selector_keeps_the_attempt_with_the_shortest_lookaheads():
    from my_ext.selectors import Shortest

    def ask(wanted):
        yield from ()
        texts = {0: "a long one", 1: "short", 2: "long too"}
        return [
            Lookahead(i, tally([], None), (Candidate(said(texts[i]), None),) * n) for i, n in wanted.items()
        ]

    selector = Shortest("shortest")
    selection, _ = play(selector.select([None] * 3, ask, num_lookaheads=2, seed=0), None)
    assert selection.kept == (1,) and [len(x.candidates) for x in selection.lookaheads] == [2, 2, 2]
    nothing, _ = play(selector.select([], ask, num_lookaheads=2, seed=0), None)
    assert nothing.kept == ()


def test_the_reward_is_for_every_answer_with_enough_votes():
    from my_ext.rewards import Supported

    answers = ["4", "4", "5", "5", "6", None]
    given = Supported("supported2", True, 2).rewards(QUESTION, [None] * 6, tally(answers, None), seed=0)
    assert given.tags == (1, 1, 1, 1, 0, 0)


def test_the_method_answers_with_its_shortest_sample_and_has_a_dry_run(tmp_path):
    from my_ext.methods import ShortestOfN

    method = ShortestOfN("shortest_of_n", "shortest_of_n-s3", Budget(num_samples=3, num_finals=2))
    samples = [said("so short"), *boxed("4"), said("Surely, surely boxed{5}")]
    result, [requests] = play(method.solve(QUESTION, toolkit(), seed=0), lambda request: samples)
    assert [answer.answer for answer in result.finals[0][1]] == ["4", "4"]
    assert len({request.seed for request in requests}) == 2
    assert sum(request.num_samples for request in requests) == 2 * 3
    job = build(composed("+exp=mine", *mine("shortest_of_n"), "benchmark.limit=2").job)
    assert cell_need(job).num_sequences == 2 * job.method.budget.num_finals * job.method.budget.num_samples
    folder, _ = cell(tmp_path, "benchmark=my_words", *mine("shortest_of_n"))
    assert {len(row["trace"]) for row in read_results(folder)} == {16}


@pytest.mark.parametrize("overrides", [["backbone=my_folder"], ["backbone=my_server", "engine=my_server"]])
def test_own_backbones_build(overrides):
    job = build(composed("+exp=mine", *overrides).job)
    assert job.backbone.name == overrides[0].partition("=")[2]


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("outputs", "__pycache__"))
    installed = {**os.environ, "PYTHONPATH": str(ROOT)}
    [first, *_, last] = re.findall(r"```bash\n(.*?)```", PAGE, re.S)
    runs = re.findall(r"python -m (icpo\.run .*?) *(?:#.*)?$", first, re.M)
    assert len(runs) == 3
    runs[2] += f" backbone=my_folder backbone.model_id={ROOT}/icpo/backbones/nano benchmark.limit=2"
    reads = re.findall(r"^python -m (icpo\.(?!run)\S+ .*?) *#", last, re.M)
    assert len(reads) == 4
    for command in [*runs, *reads]:
        arguments = [sys.executable, "-m", *command.split()]
        done = subprocess.run(arguments, cwd=folder, env=installed, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr[-3000:]}"
    assert len(question_frame("mine", outputs=folder / "outputs")) == 2 * len(ARMS)
