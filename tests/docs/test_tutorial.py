"""Every block of the tutorial runs, in order, as the notebook of the site (two questions per arm)."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

import icpo

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"


@pytest.fixture
def maker():
    pytest.importorskip("nbformat", reason="pip install -e '.[docs]'")
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "scripts/site/notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_block_of_the_page_is_a_cell(maker):
    text = PAGE.read_text(encoding="utf-8")
    cells = maker.notebook(text).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert len(code) == sum(text.count(f"```{language}\n") for language in ("bash", "python", "yaml"))
    assert sum(source.startswith("%%writefile ") for source in code) == 3
    assert "```" not in "".join(code)


@pytest.mark.slow
def test_the_notebook_runs_from_the_question_to_the_conclusion(maker, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="pip install -e '.[docs]'")
    command = tmp_path / "bin/icpo"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m icpo "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "work"
    folder.mkdir()
    text = PAGE.read_text(encoding="utf-8").replace("benchmark: {limit: 30}", "benchmark: {limit: 2}")
    assert text.count("{limit: 2}") == 1
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(maker.notebook(text), timeout=600, resources=resources).execute()
    run = icpo.load_run("brief", outputs=folder / "outputs")
    assert set(run.questions["arm"]) == {"base", "entropy", "brief", "brief_of_32", "votes"}
    assert (folder / "outputs/brief/dashboard/index.html").is_file()
