"""`make table` makes what the run's preset has of its own, after the report of every run."""

import runpy
import subprocess

import pytest

from tests.experiments.scripts import EXPERIMENTS, load
from tests.report.stored_runs import MadeUpCell, me_icpo

ROOT = EXPERIMENTS.parent


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return load("report")


def stored(outputs, preset):
    """A run of a preset under a name of its own."""
    for cell in (MadeUpCell("aime2024", backbone="qwen7b"), me_icpo("aime2024", backbone="qwen7b")):
        hydra = cell.write(outputs, "run") / ".hydra"
        hydra.mkdir()
        (hydra / "hydra.yaml").write_text(f"hydra: {{runtime: {{choices: {{exp: {preset}}}}}}}\n")
    return outputs


def call(script, outputs, monkeypatch, **options):
    monkeypatch.setattr("sys.argv", ["report.py", "run", "--outputs", str(outputs)])
    return script.main(**options)


def test_a_preset_s_own_tables_and_figures_are_made(script, tmp_path, monkeypatch):
    assert call(script, stored(tmp_path, "backbones"), monkeypatch) == 0
    made = {path.name for path in (tmp_path / "run/report").iterdir()}
    assert {"table.md", "scores.png", "backbones_vs_paper.tex", "backbones.png"} <= made


def test_a_preset_without_scripts_has_the_report_that_every_run_has(script, tmp_path, monkeypatch):
    assert call(script, stored(tmp_path, "quickstart"), monkeypatch) == 0
    assert not list((tmp_path / "run/report").glob("*_vs_paper*"))
    assert (tmp_path / "run/report/table.md").is_file()


def test_cells_that_do_not_tell_their_preset_do_not_keep_the_others_from_theirs(
    script, tmp_path, monkeypatch, caplog
):
    base, ours = sorted(stored(tmp_path, "backbones").glob("run/*/.hydra/hydra.yaml"))
    base.write_text("hydra: [")
    assert call(script, tmp_path, monkeypatch) == 0
    assert (tmp_path / "run/report/backbones.png").is_file()
    assert f"{base} is damaged" in caplog.text
    ours.write_text("")
    assert call(script, tmp_path, monkeypatch) == 0


def test_a_script_that_fails_makes_the_command_fail(script, tmp_path, monkeypatch):
    failing = tmp_path / "scripts/quickstart/make_table.py"
    failing.parent.mkdir(parents=True)
    failing.write_text("raise SystemExit(2)")
    assert call(script, stored(tmp_path, "quickstart"), monkeypatch, scripts=tmp_path / "scripts") == 2


def test_a_run_that_is_not_there_makes_the_command_fail(script, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["report.py", "nothing", "--outputs", str(tmp_path)])
    assert script.main() == 2


def test_tables_come_before_the_figures_that_read_them(script):
    first, *others = [path.name for path in script.scripts_of("baselines")]
    assert first == "make_table.py" and others == ["make_curve.py", "make_matched.py", "make_verdicts.py"]
    assert script.scripts_of("no_such_preset") == []


@pytest.mark.parametrize("preset", sorted(path.stem for path in (ROOT / "conf/exp").glob("[!_]*.yaml")))
def test_scripts_of_a_preset_take_a_run_and_its_folder(script, preset, tmp_path, monkeypatch):
    """They end with a line about the run, which is not there; a wrong command line ends with status 2."""
    for path in script.scripts_of(preset):
        monkeypatch.setattr("sys.argv", [str(path), "no_such_run", "--outputs", str(tmp_path)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(path), run_name="__main__")
        assert isinstance(ended.value.code, str), path


def test_make_passes_the_run(tmp_path):
    said = subprocess.run(
        ["make", "-n", "figures", "RUN=my_run"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "experiments/report.py my_run" in said.stdout
