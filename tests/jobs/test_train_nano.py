"""What could only fail after hours of training is refused before it starts."""

from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def job():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return instantiate(compose("config", overrides=["+exp=train_nano"]).job, _convert_="all")


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
    with pytest.raises(ValueError, match=f"{field} must be at least .*, got {value}"):
        replace(job, **{field: value})
