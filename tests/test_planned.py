import pytest

from icpo.errors import RecordsError
from icpo.planned import planned_cells

SWEEP = """
hydra:
  sweeper:
    params: {{benchmark: 'arith_l1,arith_l2', method: 'direct,me_icpo'}}
  overrides:
    task: {task}
"""


def write(run, *task):
    run.mkdir()
    (run / "multirun.yaml").write_text(SWEEP.format(task=list(task)))


def names(run):
    return [path.relative_to(run).name for path in planned_cells(run)]


def test_the_cells_of_a_sweep_are_the_product_of_its_axes(tmp_path):
    write(tmp_path / "run", "+exp=quickstart", "protocol=paper")
    cells = names(tmp_path / "run")
    starts = [
        "nano-arith_l1-direct",
        "nano-arith_l1-me_icpo",
        "nano-arith_l2-direct",
        "nano-arith_l2-me_icpo",
    ]
    assert len(cells) == 4
    assert all(cell.startswith(start) for cell, start in zip(cells, starts, strict=True))
    assert all(cell.endswith("-paper") for cell in cells)


def test_the_command_line_narrows_an_axis(tmp_path):
    write(tmp_path / "run", "+exp=quickstart", "benchmark=arith_l2", "method=direct")
    [cell] = names(tmp_path / "run")
    assert cell.startswith("nano-arith_l2-direct")


def test_a_run_that_was_no_sweep_has_no_plan(tmp_path):
    assert planned_cells(tmp_path) == []


def test_a_sweep_that_no_longer_composes_is_named(tmp_path):
    write(tmp_path / "run", "+exp=gone")
    with pytest.raises(RecordsError, match=r"multirun\.yaml cannot be expanded: .*exp/gone"):
        planned_cells(tmp_path / "run")
