import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

import pytest

from icpo.cli.dashboard import main
from icpo.errors import RecordsError
from icpo.prompts import Book
from icpo.report import write_report
from icpo.report.dashboard import write_dashboard, write_watched
from icpo.report.dashboard.prompt_parts import book_of, plain_parts, solve_parts
from icpo.report.dashboard.story import story
from icpo.report.frame import sections
from icpo.report.report import read_report
from icpo.report.tables import score_table
from icpo.store import load_results
from icpo.types import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Step,
    Votes,
)
from tests.report.stored_runs import PROMPTS, MadeUpCell, me_icpo
from tests.store.editing import rewrite_json

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
    assert write_watched(outputs, read_report(outputs, "run")) == []
    cell = MadeUpCell(watch=True, num_questions=1)
    cell.write(outputs, "solved")
    [address] = write_watched(outputs, read_report(outputs, "solved"))
    page, _, link = address.partition("#")
    assert Path(unquote(urlparse(page).path)).is_file()
    assert parse_qs(link) == {"cell": [f"solved/{cell.name}"], "question": ["arith_l1-0"]}


def candidate(answer="12", draw=""):
    return Candidate(Completion("", 0, 3, FinishReason.STOP, draw=draw), answer)


def result(trace, finals, **more):
    return QuestionResult(QUESTION, 0, tuple(trace), finals, **more)


def test_search_baselines_show_their_steps_and_ungraded_questions_their_answers():
    own = candidate(draw="k/0/0")
    found = story(
        result([Step("thought", (own,), 0.5)], ((1, (own,)),)), None, {"k/0/0": "It is 12."}, None, None
    )
    assert found["rounds"] == [] and found["finals"][0]["candidates"][0]["outcome"] is None
    assert found["finals"][0]["title"] == "1 final samples after 1 rounds."
    [shown] = found["steps"]
    assert (shown["name"], shown["value"], shown["candidates"][0]["text"]) == ("thought", 0.5, "It is 12.")


def round_of(summary, *, lookaheads=(), kept=(0,)):
    own = candidate()
    attempts = tuple(Attempt(own, 1, summary) for _ in range(2))
    votes, rewards = Votes((("12", 2),), 0, ("12", "12")), Rewards((1, 1), "12", 1)
    return Round((own, own), votes, rewards, (0, 1), attempts, lookaheads, kept)


def test_the_prompt_of_final_samples_leaves_out_what_did_not_fit_also_where_that_is_not_known():
    rounds, finals = [round_of("older"), round_of("newer")], ((2, (candidate(),)),)
    book = Book(PROMPTS["answer_line"], False, True, "full")

    def shown(**more):
        return str(story(result(rounds, finals, **more), None, {}, book, None)["finals"])

    assert "older" in shown() and "newer" in shown()
    fitted = shown(dropped_at_finals=(1,))
    assert "older" not in fitted and "newer" in fitted


@pytest.mark.parametrize(
    ("counts", "kept", "words"),
    [
        (((("12", 4),), (("12", 2), ("7", 2))), (0,), ["attempt 1", "0.00 bits", "the least of 2"]),
        (((("12", 4),), (("7", 4),)), (0,), ["2 attempts share that value"]),
        (((("12", 4),), (("12", 2), ("7", 2))), (1,), ["attempt 2", "not the attempt of least entropy"]),
        ((), (0, 1), ["attempt 1, attempt 2", "No look-ahead"]),
        ((), (), ["kept nothing"]),
    ],
)
def test_why_a_round_kept_an_attempt(counts, kept, words):
    lookaheads = tuple(Lookahead(i, Votes(votes, 0)) for i, votes in enumerate(counts))
    found = story(result([round_of("s", lookaheads=lookaheads, kept=kept)], ()), None, {}, None, None)
    assert [word for word in words if word not in found["rounds"][0]["why"]] == []


def flat_blocks(blocks):
    for block in blocks:
        yield block
        for _, _, own in block.get("options", ()):
            yield from flat_blocks(own)


def texts(block):
    return [[cell if isinstance(cell, str) else cell["t"] for cell in row] for row in block["rows"]]


def links_of(block):
    return [cell["h"] for row in block["rows"] for cell in row if isinstance(cell, dict) and "h" in cell]


def table_of(blocks, name):
    return next(block for block in flat_blocks(blocks) if block.get("id") == name)


def test_the_results_hold_the_report_s_numbers_in_its_rounding(outputs):
    index = write_dashboard(outputs, ["run"], max_questions=9)
    blocks = received(index.parent, "index")
    report = write_report(outputs, "run")
    [(*_, section)] = sections(report.frame)
    shown = [
        [cell.split(" [")[0].split(" ±")[0] for cell in row] for row in score_table(section, "mean_at_k").rows
    ]
    page = [[text.split(" ±")[0] for text in row] for row in texts(table_of(blocks, "scores"))]
    assert page == shown
    [[_, arms, _]] = texts(table_of(blocks, "gains"))
    assert arms == "me_icpo minus direct"
    links = links_of(table_of(blocks, "gains"))
    pair = parse_qs(links[0].partition("#")[2])["pair"][0]
    [[_, pairs]] = [(v, own) for v, _, own in table_of_choice(received(index.parent, "compare"), "of")]
    assert [value for value, *_ in pairs[0]["options"]] == [pair]


def test_a_place_of_the_heat_map_shows_all_of_its_cells(tmp_path):
    for k in (2, 4):
        for setting, skill in (("", 0.3), ("-temperature_0.9", 0.8)):
            cell = me_icpo("arith_l3", k=k, skill=skill, num_rounds=2, finals_after=(1, 2))
            cell.extra = {"arm": "me_icpo"}
            cell.write(tmp_path, "run").rename(tmp_path / f"run/nano-arith_l3-me_icpo-k{k}{setting}")
    folder = write_dashboard(tmp_path, ["run"], max_questions=9).parent
    block = next(b for b in flat_blocks(received(folder, "curves")) if b.get("id") == "heat-map")
    report = write_report(tmp_path, "run").frame.query("metric == 'mean_at_k' and not is_difference")
    places = {(row["n"], row["k"]): row for row in block["spec"]["data"]["values"]}
    assert len(places) == 4
    values_at = dict(iter(report.groupby(["num_rounds", "num_candidates"])["value"]))
    for place, row in places.items():
        values = values_at[place]
        assert len(values) == 2 and row["value"] == pytest.approx(100 * values.mean(), abs=0.1)
        assert sorted(row["shown"].split(" / ")) == sorted(f"{100 * value:.1f}" for value in values)


def test_cells_on_other_questions_of_one_name_get_no_pair(tmp_path):
    for digest, cell in (("one", MadeUpCell()), ("other", me_icpo())):
        cell.extra = {"benchmark_digest": digest}
        cell.write(tmp_path, "run")
    index = write_dashboard(tmp_path, ["run"], max_questions=9)
    assert not list(index.parent.rglob("pairs/*"))


def table_of_choice(blocks, name):
    return next(block for block in flat_blocks(blocks) if block.get("name") == name)["options"]


def test_an_arm_has_one_colour_in_all_charts(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    scales = [
        dict(zip(found["scale"]["domain"], found["scale"]["range"], strict=True))
        for page in ("index", "curves")
        for block in flat_blocks(received(folder, page))
        if block["type"] == "chart"
        for found in colours_in(block["spec"])
    ]
    assert len(scales) > 5
    for line in ("direct", "me_icpo"):
        assert len({scale[line] for scale in scales if line in scale}) == 1
    assert scales[0]["direct"] != scales[0]["me_icpo"]


def colours_in(spec):
    if isinstance(spec, dict):
        if spec.get("field") == "line" and "range" in spec.get("scale", {}):
            yield spec
        spec = list(spec.values())
    for value in spec if isinstance(spec, list) else ():
        yield from colours_in(value)


def test_all_and_kept_attempts_have_legends_of_their_own(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    block = next(b for b in flat_blocks(received(folder, "curves")) if b.get("id") == "entropy-by-round")
    dash = block["spec"]["layer"][-2]["encoding"]["strokeDash"]
    assert dash["scale"]["domain"] == ["kept", "all"] and dash["legend"]["title"] == "attempts"


def test_question_shows_the_stored_story(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=9).parent
    cell = received(folder, "cells")[1]
    question = received(folder, f"questions/{cell['name']}")[0]
    shown = question["seeds"]["1"]
    stored = next(r for r in load_results(outputs / cell["path"]) if r.key == (question["id"], 1))
    assert [tuple(round_["kept"]) for round_ in shown["rounds"]] == [r.kept for r in stored.rounds]
    assert all("boxed{" in c["text"] for c in shown["rounds"][0]["candidates"] if c["label"] is not None)
    # What round 1 kept is in the prompt of round 2, under the list that its reward names.
    kept = stored.rounds[0].attempts[stored.rounds[0].kept[0]]
    assert kept.summary in dict(shown["rounds"][1]["prompt"])["good ideas" if kept.reward else "bad ideas"]
    row = texts(table_of(received(folder, f"cells/{cell['name']}"), "questions"))[0]
    assert row[0] == question["id"]


def test_a_cell_has_one_file_of_stories_of_its_first_questions_and_all_are_listed(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=2).parent
    rows = table_of(received(folder, "cells/c0"), "questions")["rows"]
    assert [isinstance(row[0], dict) for row in rows] == [True, True, False, False, False, False]
    assert len(received(folder, "questions/c0")) == 2
    assert sorted(path.name for path in (folder / "data/questions").iterdir()) == ["c0.js", "c1.js"]


def test_a_broken_cell_is_listed_and_the_others_are_shown(outputs):
    cell = outputs / "run/nano-arith_l4-direct-plain-quick"
    (cell / "results.jsonl").write_text("no json\n")
    (cell / "metrics.json").write_text("{")
    folder = write_dashboard(outputs, ["run"], max_questions=9).parent
    blocks = received(folder, "index")
    [problems] = [block for block in blocks if block["type"] == "warning"]
    assert cell.name in problems["lines"][0]
    assert [entry["path"] for entry in received(folder, "cells")] == [
        "run/nano-arith_l4-me_icpo-majority-entropy-n2-quick"
    ]
    assert len(table_of(blocks, "cells")["rows"]) == 1


def test_a_title_of_several_runs_is_named_with_its_run(outputs):
    MadeUpCell("arith_l4").write(outputs, "other")
    blocks = received(write_dashboard(outputs, ["run", "other"], max_questions=1).parent, "index")
    arms = {row[1] for name in ("first", "first-2") for row in texts(table_of(blocks, name))}
    assert arms == {"run: direct", "other: direct", "me_icpo"}


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
    assert main(["wandb", "--outputs", str(outputs)]) == 2
    assert main(["run", "--outputs", str(outputs)]) == 0


def test_every_page_has_the_one_head_and_all_that_it_loads(outputs):
    folder = write_dashboard(outputs, ["run"], max_questions=1).parent
    pages = {page.stem: page.read_text("utf-8") for page in folder.glob("*.html")}
    assert set(pages) == {"index", "compare", "curves", "costs", "cell", "question"}
    for name, text in pages.items():
        assert "$" not in text and "Content-Security-Policy" in text and f'data-page="{name}"' in text
        loaded = re.findall(r'(?:src|rel="stylesheet" href)="([^"]+)"', text)
        assert [source for source in loaded if not (folder / source).is_file()] == []
    heads = {
        re.sub(r"<title>.*|<link rel=.stylesheet.*", "", text.partition("<body")[0]).strip()
        for text in pages.values()
    }
    assert len({re.sub(r"\s+", " ", head) for head in heads}) == 1


def test_the_index_of_200_cells_takes_at_most_a_megabyte(tmp_path):
    template = MadeUpCell(num_questions=2, k=2).write(tmp_path, "many")
    for i in range(39):
        copy = shutil.copytree(template, template.with_name(f"cell{i}"))
        names = {"benchmark": f"arith_l{i % 8}", "protocol": f"p{i // 8}"}
        rewrite_json(copy / "metrics.json", lambda metrics, names=names: metrics | names)
    folder = write_dashboard(tmp_path, ["many"], max_questions=1).parent
    size = (folder / "data/index.js").stat().st_size
    assert len(received(folder, "cells")) == 40 and size < 40 * 1_000_000 / 200
