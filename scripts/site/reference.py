"""Parts of pages that are written from conf/, from the commands and from the experiments' pages."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from omegaconf import OmegaConf

from icpo.cli.main import COMMANDS
from icpo.config import choices, presets_by_kind
from icpo.config.source import conf_folder

ROOT = Path(__file__).parents[2]
WHAT = {
    "backbone": "the language model",
    "benchmark": "the questions and their gold answers",
    "budget": "how much is sampled: rounds, candidates, look-aheads, final samples",
    "engine": "what runs the model",
    "fit": "how a student of the theory is trained",
    "hydra/launcher": "where cells run",
    "job": "what a cell does; a preset chooses it",
    "method": "how a question is answered",
    "protocol": "sampling, prompts, grading; a protocol chooses its budget",
    "reward": "how a round's candidates are tagged",
    "selector": "which attempts of a round are kept",
    "teacher": "the policy optimisation that is imitated, in the theory",
    "tracking": "where progress is logged",
}
KINDS = {
    "paper": "of the paper",
    "nano": "on the embedded backbone",
    "theory": "of the theory",
    "other": "for your own questions, small models and speed",
}


def settings() -> str:
    """Every group of conf/ with its choices, and every file that holds a setting."""
    lines: list[str] = []
    known = choices()
    for group, what in sorted(WHAT.items()):
        lines += [f"## {group}", "", f"`{group}=NAME`: {what}.", "", "| name | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {_cell(line)} |" for name, line in known[group].items()]
        lines += ["", *_sources(conf_folder() / group)]
    lines += ["## What every run has", "", *_source(conf_folder() / "config.yaml")]
    lines += ["## What every evaluation has", "", *_source(conf_folder() / "exp/_evaluation.yaml")]
    return "\n".join(lines)


def presets() -> str:
    """The presets by kind, with their files."""
    lines: list[str] = []
    for kind, names in presets_by_kind().items():
        lines += [f"## Presets {KINDS[kind]}", "", "| preset | what it is |", "|---|---|"]
        lines += [f"| [`{name}`](#{name}) | {_cell(line)} |" for name, line in names.items()]
        lines += [""]
        for name in names:
            lines += [f"### {name} {{ #{name} }}", "", *_with_bases(conf_folder() / f"exp/{name}.yaml")]
    return "\n".join(lines)


def commands() -> str:
    """What each command says of itself."""
    lines = [
        "| command | what it does |",
        "|---|---|",
        *(f"| [`icpo {name}`](#{name}) | {_cell(text)} |" for name, (*_, text) in COMMANDS.items()),
        "",
    ]
    shown: dict[str, str] = {}
    for name in COMMANDS:
        text = _help(name)
        first = shown.setdefault(text, name)
        same = f"Its options are those of [`icpo {first}`](#{first})."
        body = ["```text", text, "```"] if first == name else [same]
        lines += [f"## icpo {name} {{ #{name} }}", "", *body, ""]
    return "\n".join(lines)


def experiments() -> str:
    """A table of the experiments: the title of each README and whom it is for."""
    lines = ["| folder | what it is | for whom |", "|---|---|---|"]
    for path in sorted((ROOT / "experiments").glob("*/README.md")):
        head, opening, *_ = path.read_text(encoding="utf-8").split("\n\n")
        title, readers = head.lstrip("# "), opening.replace("\n", " ").partition(". ")[0]
        link = f"[{path.parent.name}](../experiments/{path.parent.name}/README.md)"
        lines.append(f"| {link} | {_cell(title)} | {_cell(readers)} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _sources(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.yaml")):
        yield from _source(path)


def _source(path: Path) -> Iterator[str]:
    """A file of conf/, folded."""
    yield f'??? note "conf/{path.relative_to(conf_folder()).as_posix()}"'
    yield ""
    yield "    ```yaml"
    yield from (f"    {line}".rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    yield "    ```"
    yield ""


def _with_bases(preset: Path) -> Iterator[str]:
    """A preset's file, then those that it starts from, except what the page of settings has."""
    yield from _source(preset)
    defaults = OmegaConf.load(preset).get("defaults", [])
    for base in (one for one in defaults if isinstance(one, str) and one not in ("_self_", "_evaluation")):
        yield from _with_bases(preset.with_name(f"{base}.yaml"))


def _help(command: str) -> str:
    """What `icpo COMMAND --help` prints; of `run`, what comes before the lists and after them."""
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "icpo", command, "--help"],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    text = done.stdout.strip()
    return re.sub(r"\nPresets, paper.*\n\n", "\n", text, flags=re.S) if command == "run" else text


PARTS = {"settings": settings, "presets": presets, "commands": commands, "experiments": experiments}
