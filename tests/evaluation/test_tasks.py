"""Which tasks are left, and in which blocks."""

from icpo.evaluation.tasks import Tasks
from icpo.store import Extent
from icpo.types import AnswerKind, Question

QUESTIONS = [Question(f"q{i}", "?", AnswerKind.NUMBER) for i in range(3)]
DONE = {("q0", 0), ("q1", 0), ("q2", 1)}


def blocks(size, done=DONE):
    tasks = Tasks(QUESTIONS, (0, 1), done)
    return [[(task.question.question_id, task.seed) for task in block] for block in tasks.blocks(size)]


def test_all_questions_come_seed_by_seed():
    tasks = Tasks(QUESTIONS, (0, 1), DONE)
    assert [(task.question.question_id, task.seed) for task in tasks] == [
        ("q0", 0), ("q1", 0), ("q2", 0), ("q0", 1), ("q1", 1), ("q2", 1),
    ]  # fmt: skip
    assert len(tasks) == 6 and len(tasks.left) == 3
    assert not Tasks(QUESTIONS, (1,), {(f"q{i}", 1) for i in range(3)}).left


def test_without_blocks_only_what_is_left_is_solved():
    assert blocks(None) == [[("q2", 0), ("q0", 1), ("q1", 1)]]


def test_a_block_is_the_same_however_much_of_it_is_done_and_left_out_once_all_is():
    fresh = [[("q0", 0), ("q1", 0)], [("q2", 0)], [("q0", 1), ("q1", 1)], [("q2", 1)]]
    assert blocks(2, set()) == fresh
    assert blocks(2) == fresh[1:3]


def test_what_an_extension_adds_to_a_block_is_a_block_of_its_own_and_stays_it():
    first, larger = Extent((0,), ("q0",), 4), Extent((0, 1), ("q0", "q1", "q2"), 4)
    for done in ({("q0", 0)}, {("q0", 0), ("q1", 0)}):
        tasks = Tasks(QUESTIONS, (0, 1), done, (first, larger))
        cut = [[(task.question.question_id, task.seed) for task in block] for block in tasks.blocks(3)]
        assert cut == [[("q1", 0), ("q2", 0)], [("q0", 1), ("q1", 1), ("q2", 1)]]
