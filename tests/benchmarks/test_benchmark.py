import json
import logging
from dataclasses import replace

import pytest

from icpo.benchmarks import Benchmark, Columns, FileSource, HubSource, Item, Sourced, content_digest
from icpo.errors import BenchmarkError
from icpo.types import AnswerKind, Question


class FixedSource:
    def __init__(self, *items):
        self.items = items

    def read(self, name):
        return Sourced(list(self.items), revision="abc")


ITEMS = [Item(f"q{i}", f"text {i}", f"{i}0", level=1 + i % 2) for i in range(4)]
FOUR = Benchmark(
    name="four",
    kind="number",
    source=FixedSource(*ITEMS),
    expected_count=4,
    digest=content_digest(ITEMS),
    level=None,
    path=None,
    ids=None,
    order_seed=None,
    start=0,
    limit=None,
)


def test_questions_and_golds_are_apart():
    loaded = FOUR.load()
    assert loaded.questions[1] == Question("q1", "text 1", AnswerKind.NUMBER)
    assert loaded.golds == {"q0": "00", "q1": "10", "q2": "20", "q3": "30"}
    assert (loaded.digest, loaded.revision) == (FOUR.digest, "abc")
    assert "30" not in repr(loaded.questions)


def test_a_limit_that_cuts_a_file_is_said_once(tmp_path, caplog):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer\na,1\nb,2\nc,3\n")
    mine = replace(FOUR, source=None, path=str(path), expected_count=None, digest=None, limit=2)
    with caplog.at_level(logging.INFO):
        for limit in (2, 2, 3, None):
            replace(mine, limit=limit).load()
    said = [one.getMessage() for one in caplog.records if "benchmark.limit" in one.getMessage()]
    assert said == [f"{path}: 2 of its 3 questions (benchmark.limit=2); benchmark.limit=null takes all"]


def test_a_file_without_questions_and_a_blank_one_are_named(tmp_path):
    path = tmp_path / "mine.csv"
    mine = replace(FOUR, source=None, path=str(path), expected_count=None, digest=None)
    for text, said in (
        ("problem,answer\n", "holds no questions"),
        ("problem,answer\n ,3\n", "'problem' (blank)"),
    ):
        path.write_text(text)
        with pytest.raises(BenchmarkError) as refused:
            mine.load()
        assert said in str(refused.value)


def test_a_limit_takes_the_first_and_keeps_the_digest_of_all():
    loaded = replace(FOUR, limit=2).load()
    assert [q.question_id for q in loaded.questions] == list(loaded.golds) == ["q0", "q1"]
    assert loaded.digest == FOUR.digest


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"start": 1}, ["q1", "q2", "q3"]),
        ({"start": 1, "limit": 2}, ["q1", "q2"]),
        ({"ids": ("q3", "q1")}, ["q1", "q3"]),
        ({"order_seed": 2}, ["q0", "q3", "q2", "q1"]),
        ({"order_seed": 2, "start": 2, "limit": 5}, ["q2", "q1"]),
        ({"order_seed": 2, "ids": ("q2", "q3"), "limit": 1}, ["q2"]),
    ],
)
def test_questions_are_chosen_by_id_order_and_place(change, kept):
    chosen = replace(FOUR, **change)
    assert [q.question_id for q in chosen.load().questions] == kept
    assert chosen.load().digest == FOUR.digest
    assert chosen.num_questions() == len(kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": 4}, r"benchmark\.start=4"),
        ({"ids": ("q0", "q33")}, r"'q33'.*benchmark\.ids.*'q3'"),
    ],
)
def test_a_choice_that_leaves_nothing_or_names_the_unknown_is_refused(change, message):
    with pytest.raises(BenchmarkError, match=message):
        replace(FOUR, **change).load()


def test_golds_may_be_several_and_each_must_read_as_one():
    items = [Item("q0", "t", "4 <or> 2"), Item("q1", "t", "5 <or> apples")]
    whole = replace(FOUR, source=FixedSource(*items), expected_count=None, digest=None)
    assert replace(whole, limit=1).load().golds == {"q0": "4 <or> 2"}
    with pytest.raises(BenchmarkError, match=r"q1.*no number"):
        whole.load()


def test_a_level_is_filtered_before_it_is_counted():
    loaded = replace(FOUR, level=2, expected_count=2, digest=None).load()
    assert [q.question_id for q in loaded.questions] == ["q1", "q3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expected_count": 5}, "four .*5 .*4.*expected_count=null"),
        (
            {"digest": "0" * 32},
            f"four .*{'0' * 32}.*{FOUR.digest}",
        ),
        ({"source": FixedSource()}, "four has no questions"),
        ({"level": 9, "expected_count": None}, "four has no questions"),
        (
            {"source": FixedSource(ITEMS[0], ITEMS[0]), "limit": 1},
            "'q0'",
        ),
        ({"source": FixedSource(Item("a", "t", "1")), "level": 1}, "benchmark.level=null"),
    ],
)
def test_what_is_not_expected_is_named_with_the_way_out(change, message):
    with pytest.raises(BenchmarkError, match=message):
        replace(FOUR, **change).load()


@pytest.mark.parametrize("choice", [{"limit": 3}, {"start": 1}, {"ids": ("q1",)}, {"order_seed": 2}])
@pytest.mark.parametrize(
    ("expected", "message"), [({"expected_count": 99}, "99"), ({"digest": "0" * 32}, "0000")]
)
def test_the_whole_is_checked_also_where_some_questions_are_kept(choice, expected, message):
    with pytest.raises(BenchmarkError, match=message):
        replace(FOUR, **expected, **choice).load()


def test_a_limit_above_the_count_counts_the_questions_there_are():
    assert replace(FOUR, limit=60).num_questions() == 4 == len(replace(FOUR, limit=60).load().questions)


def test_digest_sees_texts_and_answers_in_order_and_where_one_ends():
    changed = [
        [Item("q", "ab", "c")],
        [Item("q", "a", "bc")],
        [Item("q", "ab", "d")],
        [Item("q", "ab", "c"), Item("r", "x", "y")],
        [Item("r", "x", "y"), Item("q", "ab", "c")],
    ]
    assert len({content_digest(items) for items in changed}) == len(changed)
    assert content_digest([Item("q", "ab", "c", 1)]) == content_digest([Item("other", "ab", "c", 2)])


def test_a_file_stands_in_for_the_source(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps({"question": f"p{i}", "gold": i}) + "\n" for i in range(3)))
    with pytest.raises(BenchmarkError, match=r" 4 .*own\.jsonl has 3"):
        replace(FOUR, path=str(path)).load()
    loaded = replace(FOUR, path=str(path), expected_count=None, digest=None).load()
    assert loaded.golds == {"four/0": "0", "four/1": "1", "four/2": "2"}
    assert loaded.revision is None
    assert FileSource(str(path)).read("four").items[2] == Item("four/2", "p2", "2")


@pytest.mark.parametrize(
    "source",
    [
        FileSource("elsewhere.jsonl", Columns("mine", "right", None, None, (), 0)),
        HubSource("some/repo", None, "*", Columns("mine", "right", None, None, (), 0)),
    ],
)
def test_a_file_given_as_path_is_read_with_the_source_s_columns(tmp_path, source):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"problem": "p", "answer": "1", "mine": "m", "right": "2"}) + "\n")
    loaded = replace(FOUR, source=source, path=str(path), expected_count=None, digest=None).load()
    assert loaded.questions[0].text == "m" and loaded.golds == {"four/0": "2"}


def test_a_path_needs_no_source(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"problem": "p", "answer": "1"}')
    own = replace(FOUR, source=None, path=str(path), expected_count=None, digest=None)
    assert own.load().golds == {"four/0": "1"}


@pytest.mark.parametrize(
    ("source", "given"),
    [(FileSource, {"path": "own.jsonl"}), (HubSource, {"repo": "a/b", "revision": None, "split_files": "*"})],
)
def test_columns_without_their_class_are_refused(source, given):
    with pytest.raises(ValueError, match=r"columns\s.*Columns"):
        source(**given, columns={"text": "q"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limit": 0}, "limit"),
        ({"expected_count": 0}, "expected_count"),
        ({"kind": "wordy"}, "kind"),
        ({"start": -1}, "start"),
        ({"source": {"path": "own.jsonl"}}, r"source .*`_target_`.*_file"),
        ({"source": None}, r"source .*None"),
    ],
)
def test_bad_settings_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(FOUR, **change)
