"""Reports compare cells only with what they may be compared with."""

from icpo.report import write_report
from icpo.store.health import verify
from tests.report.stored_runs import MadeUpCell


def test_a_copied_or_renamed_cell_does_not_pass_as_another(tmp_path, monkeypatch):
    name = "nano-arith_l1-base-t_1"
    made = MadeUpCell(extra={"arm": "base"}, config={"cell": name}).write(tmp_path, "run")
    cell = made.rename(tmp_path / "run" / name)
    monkeypatch.chdir(cell)
    assert verify(cell).is_sound and verify(cell / "../." / name).is_sound
    assert write_report(tmp_path, "run").cells[0].state == "done"
    cell.rename(cell.with_name("nano-arith_l1-base"))
    [fault] = verify(cell.with_name("nano-arith_l1-base")).faults
    assert f"is the folder of cell '{name}'" in fault
    report = write_report(tmp_path, "run")
    assert report.cells[0].reason == fault and report.frame.empty
    assert fault in (tmp_path / "run/report/table.md").read_text()
