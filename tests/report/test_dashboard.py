import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

import pytest

from icpo.cli.dashboard import main
from icpo.errors import RecordsError
from icpo.prompts import Book
from icpo.report.dashboard import write_dashboard, write_watched
from icpo.report.dashboard.prompt_parts import book_of, plain_parts, solve_parts
from icpo.report.dashboard.story import story
from icpo.types import AnswerKind, Attempt, Candidate, Completion, FinishReason, Question
from tests.report.stored_runs import PROMPTS, MadeUpCell, me_icpo

QUESTION = Question("q1", "What is 6 * 2?\n\ngood ideas (reward 1):", AnswerKind.NUMBER)


def attempt(answer, reward, summary="Multiply."):
    return Attempt(Candidate(Completion("", 0, 0, FinishReason.STOP), answer), reward, summary)


def received(folder, name):
    text = (folder / "data" / f"{name}.js").read_text("ascii")
    assert text.startswith(f'icpo.receive("{name}",') and text.endswith(");\n")
    return json.loads(text.removeprefix(f'icpo.receive("{name}",').removesuffix(");\n"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    MadeUpCell("arith_l4", skill=0.3).write(folder, "run")
    me_icpo("arith_l4", skill=0.8).write(folder, "run")
    return folder


@pytest.fixture
def outputs(made, tmp_path):
    return shutil.copytree(made, tmp_path / "outputs")


@pytest.mark.parametrize("tagged", [True, False])
def test_parts_joined_are_the_prompt_and_hold_what_they_say(tagged):
    book = book_of({"prompts": PROMPTS | {"reward_tags": tagged}})
    history = (attempt("13", 0, "Guess."), attempt("12", 1), attempt("7", 0, "Guess again."))
    parts = solve_parts(book, QUESTION, history)
    prompt = book.solve(QUESTION, history)
    assert "".join(text for _, text in parts[1:]) == prompt.user.rstrip("\n")
    assert parts[0] == ("instructions", prompt.system)
    by_name = dict(parts)
    assert by_name["question"] == QUESTION.text
    if tagged:
        assert "Guess again." in by_name["bad ideas"] and "Multiply." in by_name["good ideas"]
        assert "Multiply." not in by_name["bad ideas"]
    else:
        assert list(by_name) == ["instructions", "question", "ideas"]


def test_parts_without_ideas():
    book = Book(PROMPTS["answer_line"], False, True, "full")
    assert [name for name, _ in plain_parts(book, QUESTION)] == ["instructions", "question"]
    assert [name for name, _ in solve_parts(book, QUESTION, ())] == ["instructions", "question"]


@pytest.mark.parametrize("job", [{}, {"prompts": None}, {"prompts": {"of_another_version": 1}}])
def test_a_job_without_prompts_has_no_book(job):
    assert book_of(job) is None


def test_watched_questions_have_an_address(outputs):
    assert write_watched(outputs, "run") == []
    cell = MadeUpCell(watch=True, num_questions=1)
    cell.write(outputs, "solved")
    [address] = write_watched(outputs, "solved")
    page, _, link = address.partition("#")
    assert Path(unquote(urlparse(page).path)).is_file()
    assert parse_qs(link) == {"cell": [f"solved/{cell.name}"], "question": ["arith_l1-0"]}


def test_search_baselines_tell_their_steps_and_ungraded_questions_their_answers():
    candidate = {"answer": "12", "draw": "k/0/0", "finish_reason": "stop", "num_completion_tokens": 3}
    step = {"type": "step", "name": "thought", "candidates": [candidate], "value": 0.5, "parent": None}
    row = {"question_id": "q1", "text": "?", "kind": "number", "seed": 0, "usage": {}}
    told = story(
        row | {"trace": [step], "finals": [[1, [candidate]]]}, None, {"k/0/0": "It is 12."}, None, None
    )
    assert told["rounds"] == [] and told["finals"][0]["candidates"][0]["outcome"] is None
    [shown] = told["steps"]
    assert (shown["name"], shown["value"], shown["candidates"][0]["text"]) == ("thought", 0.5, "It is 12.")


def test_the_prompt_of_finals_leaves_out_what_did_not_fit_also_where_that_is_not_known():
    candidate = {"answer": "12", "draw": "", "finish_reason": "stop", "num_completion_tokens": 3}
    rounds = [
        {
            "type": "round",
            "candidates": [candidate],
            "votes": {"counts": [["12", 1]], "num_abstained": 0, "labels": ["12"]},
            "rewards": {"tags": [1], "winner": "12", "num_tied": 1},
            "eligible": [0],
            "attempts": [{"reward": 1, "summary": summary}],
            "lookaheads": [],
            "kept": [0],
            "num_dropped": 0,
        }
        for summary in ("older", "newer")
    ]
    row = {"question_id": "q1", "text": "?", "kind": "number", "seed": 0, "usage": {}}
    row |= {"trace": rounds, "finals": [[2, [candidate]]]}

    def shown(row):
        return str(story(row, None, {}, Book(PROMPTS["answer_line"], False, True, "full"), None)["finals"])

    assert "older" in shown(row) and "newer" in shown(row)
    fitted = shown(row | {"dropped_at_finals": [1]})
    assert "older" not in fitted and "newer" in fitted


def test_index_holds_cells_tables_and_the_pair_to_compare(outputs):
    index = write_dashboard(outputs, ["run"], max_questions=9)
    data = received(index.parent, "index")
    base, icpo_cell = data["cells"]
    assert base["settings"]["is_base"] and not icpo_cell["settings"]["is_base"]
    stored = json.loads((outputs / "run" / icpo_cell["name"] / "metrics.json").read_text())
    assert icpo_cell["metrics"]["mean_at_k"][0] == pytest.approx(stored["mean_at_k"]["value"], abs=1e-6)
    [pair] = data["runs"][0]["differences"]
    assert (pair["a"], pair["b"]) == (icpo_cell["name"], base["name"])
    [section] = data["runs"][0]["sections"]
    assert [line["label"] for line in section["lines"]] == ["base", "w/ ME-ICPO", "difference"]


def test_question_tells_the_stored_story(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=9).parent
    cell = received(folder, "index")["cells"][1]
    row = received(folder, f"cells/{cell['id']}")["questions"][0]
    told = received(folder, f"questions/{cell['id']}/{row['file']}")["seeds"]["1"]
    lines = (outputs / "run" / cell["name"] / "results.jsonl").read_text().splitlines()
    stored = next(r for r in map(json.loads, lines) if (r["question_id"], r["seed"]) == (row["id"], 1))
    assert [round_["kept"] for round_ in told["rounds"]] == [round_["kept"] for round_ in stored["trace"]]
    assert all("boxed{" in c["text"] for c in told["rounds"][0]["candidates"] if c["answer"] is not None)
    # What round 1 kept stands in the prompt of round 2, under the list that its reward names.
    first = stored["trace"][0]
    kept = first["attempts"][first["kept"][0]]
    ideas = dict(told["rounds"][1]["prompt"])["good ideas" if kept["reward"] else "bad ideas"]
    assert kept["summary"] in ideas
    assert row["seeds"]["1"]["mean_at_k"] == sum(
        f["outcome"] == "correct" for f in told["finals"][0]["candidates"]
    ) / len(told["finals"][0]["candidates"])


def test_only_the_first_questions_get_pages_and_all_are_listed(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=2).parent
    rows = received(folder, "cells/c0")["questions"]
    assert [row.get("file") for row in rows] == ["q0", "q1", None, None, None, None]
    assert len(list((folder / "data/questions/c0").iterdir())) == 2


def test_a_broken_cell_is_listed_and_the_others_stand(outputs):
    (outputs / "run/nano-arith_l4-direct-plain-quick/results.jsonl").write_text("no json\n")
    (outputs / "run/nano-arith_l4-direct-plain-quick/metrics.json").write_text("{")
    base, icpo_cell = received(write_dashboard(outputs, ["run"], max_questions=9).parent, "index")["cells"]
    assert (base["state"], base["has_questions"]) == ("unreadable", False)
    assert (icpo_cell["state"], icpo_cell["has_questions"]) == ("done", True)


def test_lost_texts_leave_the_rest_of_the_story(outputs, caplog):
    for journal in outputs.glob("run/*/journal.bin"):
        journal.unlink()
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    told = received(folder, "questions/c1/q0")["seeds"]["0"]
    assert {c["text"] for c in told["finals"][0]["candidates"]} == {None}
    assert told["rounds"][0]["lookaheads"] and "show no completions" in caplog.text


def test_several_runs_share_pages_and_configuration_columns_are_those_that_differ(outputs):
    shutil.copytree(outputs / "run", outputs / "again")
    data = received(write_dashboard(outputs, ["run", "again"], max_questions=1).parent, "index")
    assert [run["name"] for run in data["runs"]] == ["run", "again"]
    assert data["cells"][0]["config"] == {}  # copies differ in nothing
    MadeUpCell("arith_l4", backbone="qwen7b").write(outputs, "other")
    data = received(write_dashboard(outputs, ["run", "other"], max_questions=1).parent, "index")
    assert data["cells"][-1]["config"] == {"run_name": "other", "job.backbone.name": "qwen7b"}


def test_pages_of_deleted_questions_do_not_stay(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=9).parent
    write_dashboard(outputs, ["run"], max_questions=1)
    assert len(list((folder / "data/questions/c0").iterdir())) == 1


def test_nothing_is_fetched_from_a_network(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    for page in (*folder.glob("*.html"), *folder.glob("*.css"), folder / "vendor/katex/katex.min.css"):
        assert "//" not in page.read_text("utf-8").replace("http://www.w3.org", "").replace(
            "https://katex.org", ""
        )
    assert all((folder / "vendor" / name / "LICENSE").is_file() for name in ("katex", "vega"))


def test_a_run_that_is_not_there(outputs, caplog):
    with pytest.raises(RecordsError, match="no run 'rum'"):
        write_dashboard(outputs, ["run", "rum"], max_questions=1)
    assert main(["rum", "--outputs", str(outputs)]) == 2
    assert main(["run", "--outputs", str(outputs)]) == 0


def test_every_page_has_the_one_head_and_all_that_it_loads(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    pages = {page.stem: page.read_text("utf-8") for page in folder.glob("*.html")}
    assert set(pages) == {"index", "compare", "curves", "costs", "cell", "question"}
    for name, text in pages.items():
        assert "$" not in text and "Content-Security-Policy" in text and f'src="{name}.js"' in text
        loaded = re.findall(r'(?:src|rel="stylesheet" href)="([^"]+)"', text)
        assert [source for source in loaded if not (folder / source).is_file()] == []
    heads = {
        re.sub(r"<title>.*|<link rel=.stylesheet.*", "", text.partition("<body>")[0]).strip()
        for text in pages.values()
    }
    assert len({re.sub(r"\s+", " ", head) for head in heads}) == 1
