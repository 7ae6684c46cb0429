"""Each page names what the last line of its dry run says."""

import re

import pytest

from icpo.config import build
from icpo.evaluation.dry_run import needs_of
from tests.arms import planned
from tests.composing import composed
from tests.docs.pages import commands_in
from tests.experiments.scripts import EXPERIMENTS

PRICES = {
    "rates.prompt_price=P": "rates.prompt_price=1",
    "rates.completion_price=C": "rates.completion_price=1",
}
COMMANDS = [
    (page.parent.name, command)
    for page in sorted(EXPERIMENTS.glob("*/README.md"))
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    for command in commands_in(block)
    if "dry_run=true" in command
]


def last_line(command):
    """What the dry run of a command says of all its cells; a price is 1 dollar for a million tokens."""
    preset, *given = command.removeprefix("python -m icpo.run +exp=").split()
    overrides = [PRICES.get(one, one) for one in given if one != "dry_run=true"]
    cells = planned(preset, *overrides)
    jobs = {str(number): build(composed(*cell.overrides).job) for number, cell in enumerate(cells)}
    return list(needs_of(jobs))[-1]


def test_pages_of_seven_experiments_have_costs():
    assert {"main_table", "ablation", "nk_sweep", "backbones", "frontier", "gpqa", "harder"} <= {
        name for name, _ in COMMANDS
    }


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_a_page_names_the_cost_that_its_dry_run_prints(name, command):
    number = re.search(r"([\d,.]+) (?:GPU hours|dollars)$", last_line(command))[1]
    page = (EXPERIMENTS / name / "README.md").read_text(encoding="utf-8")
    assert number in re.findall(r"\d[\d,]*(?:\.\d+)?", page)
