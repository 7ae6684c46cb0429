"""What could only fail after hours of training is refused before it starts; its curve has each step once."""

from dataclasses import replace

import pytest
from hydra.utils import instantiate

from icpo.lab.nano.job import append_scores
from tests.composing import composed


@pytest.fixture(scope="module")
def job():
    return instantiate(composed("+exp=train_nano").job, _convert_="all")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rehearsal_levels", ("l3", "l9"), "rehearsal_levels must be among l1, l2, l3, l4, l5, got l9"),
        ("num_questions", 301, r"num_questions must lie in \[1, 300\], got 301"),
    ],
)
def test_an_exam_that_cannot_be_held(job, field, value, message):
    with pytest.raises(ValueError, match=message):
        replace(job.exam, **{field: value})


@pytest.mark.parametrize(
    ("field", "value"), [("tokens_per_batch", 0), ("examples_per_chunk", -1), ("vocabulary_size", 3)]
)
def test_sizes_that_are_none(job, field, value):
    with pytest.raises(ValueError, match=f"{field} .*{value}"):
        replace(job, **{field: value})


def test_a_run_that_goes_on_from_its_checkpoint_leaves_no_step_twice(tmp_path):
    curve, told = tmp_path / "curve.csv", []

    def report(step, **scores):
        append_scores(curve, lambda scores, step: told.append((step, dict(scores))), scores, step)

    for step in (50, 100, 150, 200):
        report(step, loss=1 / step, speed=7)
    with curve.open("a", encoding="utf-8") as file:
        file.write("25")  # killed while it wrote; its checkpoint was made at step 100
    report(150, loss=0.5, speed=8)
    report(200, loss=0.25, speed=8)
    report(200, exam=0.75)
    report(200, exam=0.5)  # examined once more, without training
    assert curve.read_text(encoding="utf-8").splitlines() == [
        "step,name,value", "50,loss,0.02", "50,speed,7", "100,loss,0.01", "100,speed,7", "150,loss,0.5",
        "150,speed,8", "200,loss,0.25", "200,speed,8", "200,exam,0.5",
    ]  # fmt: skip
    assert len(told) == 8
