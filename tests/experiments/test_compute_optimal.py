"""The frontier of cost and accuracy."""

from tests.experiments.scripts import load
from tests.report.stored_runs import me_icpo

JOB = {"backbone": {"model_id": "icpo:nano", "revision": None}}


def test_a_point_is_on_the_frontier_if_no_cheaper_one_is_better():
    script = load("nk_sweep/compute_optimal")
    points = [
        script.Point(1, 4, m, {("q", 0): v}, m, 1, m) for m, v in ((1, 0.5), (2, 0.4), (3, 0.6), (4, 0.6))
    ]
    assert [p.m for p in script.frontier(points)] == [1, 3]


def test_a_cell_costs_its_prompts_and_one_answer(tmp_path):
    script = load("nk_sweep/compute_optimal")
    [point] = script.points_of(me_icpo(job=JOB).write(tmp_path, "sweep"))
    assert point.n == 2 and point.flops > 2 * 2_644_992 * (point.tokens + point.prompts)
