"""A file of a measured cell that is gone is named in one line by every script that reads it."""

import shutil

import pytest

from tests.end_to_end.fakes import questions_file, run
from tests.experiments.scripts import EXPERIMENTS, load

SCRIPTS = sorted(f"{path.parent.name}/{path.stem}" for path in EXPERIMENTS.glob("*/make_*.py"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    for method in ("direct", "me_icpo"):
        run(outputs / "run", questions_file(outputs), f"method={method}", f"arm={method}")
    return outputs


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_ends_in_a_line(name):
    assert hasattr(load(name).main, "__wrapped__")


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("nano/make_tables", "scores"),
        ("nano/make_tables", "results"),
        ("nano/make_figures", "scores"),
        ("nano/make_figures", "results"),
        ("controls/make_table", "scores"),
        ("controls/make_table", "results"),
        ("racing/make_table", "scores"),
        ("racing/make_table", "results"),
        ("nk_sweep/make_table", "scores"),
    ],
)
def test_a_file_that_is_gone_is_named(name, gone, measured, tmp_path, monkeypatch):
    shutil.copytree(measured / "run", tmp_path / "run")
    for path in tmp_path.glob(f"run/*/{gone}.jsonl"):
        path.unlink()
    monkeypatch.setattr("sys.argv", [name, "run", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=rf"{gone}\.jsonl.* gone") as caught:
        load(name).main()
    assert "\n" not in str(caught.value)
