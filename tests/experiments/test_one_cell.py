"""Tables with one place for each arm refuse two cells for it, and name both."""

import pytest

from tests.experiments.scripts import load
from tests.report.stored_runs import MadeUpCell, me_icpo

SCRIPTS = ("small_models/make_table", "baselines/make_table", "nk_sweep/make_table")


def swept(outputs, *names):
    for name in names:
        cells = {"base": MadeUpCell(extra={"label": "direct", "arm": "base"}),
                 "full": me_icpo(extra={"label": "me_icpo", "arm": "full"})}  # fmt: skip
        folder = cells[name.partition("-")[0]].write(outputs, "run")
        folder.rename(outputs / "run" / name)
    return outputs


def refused(name, outputs, monkeypatch):
    monkeypatch.setattr("sys.argv", [name, "run", "--outputs", str(outputs)])
    with pytest.raises(SystemExit) as caught:
        load(name).main()
    return str(caught.value)


@pytest.mark.parametrize("name", SCRIPTS)
def test_two_cells_of_one_arm_are_refused_by_name(name, tmp_path, monkeypatch):
    outputs = swept(tmp_path, "base", "full-t_0.1", "full-t_1.2")
    said = refused(name, outputs, monkeypatch)
    assert "run/full-t_0.1 and " in said and "run/full-t_1.2 are both" in said and "\n" not in said


@pytest.mark.parametrize("name", ["small_models/make_table", "baselines/make_table"])
def test_two_bases_are_refused_by_name(name, tmp_path, monkeypatch):
    said = refused(name, swept(tmp_path, "base-t_0.1", "base-t_1.2", "full"), monkeypatch)
    assert "base-t_0.1 and " in said and "base-t_1.2 are both" in said


def test_the_small_models_table_needs_a_base_and_no_other_arm(tmp_path, monkeypatch):
    assert "holds no base for" in refused(SCRIPTS[0], swept(tmp_path, "full"), monkeypatch)
    swept(tmp_path, "base")
    (tmp_path / "run/full").rename(tmp_path / "full")
    load(SCRIPTS[0]).main()
    assert "## " in (tmp_path / "run/report/form.md").read_text()
    assert (tmp_path / "run/report/ideas.md").read_text() == ""


def test_damaged_metrics_make_no_table_of_the_small_model(tmp_path, monkeypatch):
    path = swept(tmp_path, "base", "full") / "run/full/metrics.json"
    path.write_text(path.read_text().replace('"value": 0.', '"value": 1.', 1))
    assert "metrics.json is damaged" in refused("small_models/make_table", tmp_path, monkeypatch)
