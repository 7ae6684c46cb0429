"""Presets by kind, and each group's choices, with their descriptions."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore

from icpo.config.source import conf_folder, files_below

TABLE = "_choices.yaml"  # several choices of a group in one file, by name
COMMENT = re.compile(r"^# (.*(?:\n# .*)*)\n(\w+):", re.M)
KINDS = ("paper", "nano", "theory", "other")
OTHER = ("nk_time", "small_models", "solve", "throughput")  # on neither the paper's models nor nano alone


def register_tables() -> None:
    """Gives Hydra the choices that are not files of their own."""
    store = ConfigStore.instance()
    for table in sorted(conf_folder().glob(f"*/{TABLE}")):
        for name, node in read_table(table).items():
            store.store(group=table.parent.name, name=name, node=node, provider="icpo")


def read_table(path: Path) -> dict[str, Any]:
    """The nodes of a file that holds several choices."""
    nodes: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return nodes


def choices(folders: Sequence[Path] = ()) -> dict[str, dict[str, str]]:
    """Each group's choices with a line about each, `folders` included."""
    found: dict[str, dict[str, str]] = {}
    for folder in (conf_folder(), *folders):
        for path in sorted(files_below(folder, "*/**/*.yaml")):
            group = path.parent.relative_to(folder).as_posix()
            found.setdefault(group, {}).update(_described(path))
    return {group: dict(sorted(names.items())) for group, names in sorted(found.items())}


def presets_by_kind() -> dict[str, dict[str, str]]:
    """The presets of conf/ by kind: the paper's models, nano, theory, others."""
    grouped: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for name, line in choices()["exp"].items():
        grouped[_kind(conf_folder() / f"exp/{name}.yaml")][name] = line
    return grouped


def help_text(folders: Sequence[Path] = ()) -> str:
    """What `--help` prints: usage, presets and choices."""
    width = max(len(name) for names in choices(folders).values() for name in names)
    lines = [HEADER]
    for kind, presets in presets_by_kind().items():
        lines += ["", f"Presets, {kind} (+exp=NAME)", *_rows(presets, width)]
    known = {name for presets in presets_by_kind().values() for name in presets}
    for group, names in choices(folders).items():
        if group == "exp":
            own = {name: line for name, line in names.items() if name not in known}
            lines += ["", "Presets of your own (+exp=NAME)", *_rows(own, width)] if own else []
        elif group not in ("job", "hydra/launcher"):
            lines += ["", f"{group}=NAME", *_rows(names, width)]
    return "\n".join([*lines, "", FOOTER])


def _rows(names: dict[str, str], width: int) -> Iterator[str]:
    for name, line in names.items():
        yield f"  {name:{width}}  {line}".rstrip()


def _described(path: Path) -> Iterator[tuple[str, str]]:
    """The choices that a file holds, with their comments' first lines; none that begin with an underscore."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.name == TABLE:
        names = [(match[2], match[1].partition("\n")[0]) for match in COMMENT.finditer(text)]
    else:
        comments = [
            line[2:] for line in text.splitlines() if line.startswith("# ") and "@package" not in line
        ]
        names = [(path.stem, comments[0] if comments else "")]
    return ((name, line) for name, line in names if not name.startswith("_"))


def _kind(preset: Path) -> str:
    """Which of KINDS a preset is, by what it is based on."""
    if preset.stem in OTHER:
        return "other"
    head = preset.read_text(encoding="utf-8").partition("run_name")[0]
    return next((kind for kind in ("theory", "paper") if f"_{kind}" in head), "nano")


HEADER = """\
ICPO: in-context policy optimization, its theory and its test-time scaling experiments.

python -m icpo.run +exp=PRESET [arm=NAME,...] [GROUP=CHOICE ...] [KEY=VALUE ...]"""

FOOTER = """\
A preset compares arms (conf/exp/PRESET.yaml): arm=NAME,... runs some of them. Several values of any setting,
separated by commas, are swept.

YAML files of your own: --config-dir FOLDER (before +exp=...), with groups as in conf/. Classes of your own:
a package on PYTHONPATH, let in by +allow_targets=[PACKAGE] (or the full name of a class).

Examples:
  python -m icpo.run +exp=quickstart
  python -m icpo.run +exp=main_table backbone=qwen7b benchmark=aime2024,amc arm=me_icpo
  python -m icpo.run +exp=main_table backbone=qwen7b hydra/launcher=slurm
  python -m icpo.run --config-dir my_conf +exp=quickstart selector=mine '+allow_targets=[my_ext]'
  python -m icpo.run +exp=ablation budget=small budget.num_rounds=1,2
  python -m icpo.run +exp=ablation --cfg job       (prints the configuration, runs nothing)"""

register_tables()
